"""The pictures of the estimators' pages: `FIGURES` names them, and each function draws one and returns its axes.

The site draws them when it is built, from the same public calls that the pages show.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf
import suffice.examples
from suffice import report
from suffice.report.canvas import COLUMN, colour, entitle, plain

BERKELEY = Path(suffice.examples.__file__).parent / "berkeley.csv"
YES_NO = ["yes", "no"]
WIDE = 5.0
"""The width of pictures that have more to show than one column holds, in inches."""


def estimates() -> Any:
    """Draw three estimates of a coin's probability as tosses come in."""
    tosses = ["tails", "heads", "heads", "heads", "tails", "heads", "heads", "tails", "heads", "heads"] * 4
    choices = {
        "maximum likelihood": {},
        "posterior mode": {"prior": sf.Dirichlet(3.0), "point": "map"},
        "posterior mean": {"prior": sf.Dirichlet(3.0)},
    }
    _, ax = plt.subplots(figsize=(WIDE, 2.4), layout="constrained")
    for number, (name, choice) in enumerate(choices.items()):
        found = []
        for n in range(1, len(tosses) + 1):
            fit = sf.fit(sf.Categorical("side"), {"side": tosses[:n]}, schema={"side": ["heads", "tails"]}, **choice)
            found.append(fit.model.query("side")[{"side": "heads"}])
        ax.plot(range(1, len(tosses) + 1), found, color=colour(number), label=name, lw=1.4)
    ax.axhline(0.7, color="#666666", lw=0.8, ls=":")
    ax.set_ylim(-0.03, 1.0)
    entitle(ax, True, x="tosses", y="p(heads)")
    ax.legend(frameon=False, fontsize=8)
    plain(ax, "y")
    return ax


def admissions_graph() -> Any:
    """Draw the Berkeley network with the strengths of its arrows."""
    return report.graph_plot(sf.fit(sf.DAG("Gender -> Dept -> Admit"), BERKELEY, weights="Freq"))


def admissions_bars() -> Any:
    """Draw the admissions of every department with their credible intervals."""
    fit = sf.fit(sf.DAG("Gender -> Dept -> Admit"), BERKELEY, weights="Freq", prior=sf.BDeu(10))
    return report.cpt_bars(fit, "Admit")


def plants() -> Any:
    """Draw two regressions of one node, one for each state of its discrete parent."""
    rng = np.random.default_rng(1)
    variety, light = np.repeat(["dwarf", "giant"], 25), rng.uniform(5, 13, 50)
    height = np.where(variety == "dwarf", 10 + 1.8 * light, 7 + 5.1 * light) + rng.normal(0, 3, 50)
    fit = sf.fit(sf.DAG("variety -> height <- light"), {"variety": variety, "light": light, "height": height})
    cpd = fit.model.cpd("height")
    _, ax = plt.subplots(figsize=(COLUMN, 2.6), layout="constrained")
    ends = np.array([5.0, 13.0])
    for row, name in enumerate(["dwarf", "giant"]):
        own, line = variety == name, cpd.intercept[row] + cpd.coefficients[row, 0] * ends
        sd = np.sqrt(cpd.variance[row])
        ax.scatter(light[own], height[own], s=10, color=colour(row), label=name)
        ax.plot(ends, line, color=colour(row))
        ax.fill_between(ends, line - 2 * sd, line + 2 * sd, color=colour(row), alpha=0.15, lw=0)
    entitle(ax, True, x="light", y="height")
    ax.legend(frameon=False, fontsize=8)
    plain(ax)
    return ax


def trial_posterior() -> Any:
    """Draw what few patients say of a new drug, and more of an old one."""
    trial = {"drug": ["old"] * 12 + ["new"] * 5, "cured": (["yes"] * 7 + ["no"] * 5) + ["yes"] * 5}
    return report.posterior_plot(sf.fit(sf.DAG("drug -> cured"), trial, prior=sf.Jeffreys()), "cured", state="yes")


def hypotheses() -> Any:
    """Draw the posterior of four hypotheses as numbers are seen."""
    sets = {
        "even": range(2, 101, 2),
        "multiples of four": range(4, 101, 4),
        "powers of two": [2, 4, 8, 16, 32, 64],
        "powers of two but 32": [2, 4, 8, 16, 64],
    }
    prior = {"even": 0.5, "multiples of four": 0.3, "powers of two": 0.19, "powers of two but 32": 0.01}
    space, seen = sf.Hypotheses(sets, over="number"), [16, 8, 64, 2]
    shares = [[prior[name] for name in sets]]
    for n in range(1, len(seen) + 1):
        posterior = sf.fit(space, {"number": seen[:n]}, prior=prior).posterior
        shares.append([posterior[name] for name in sets])
    _, ax = plt.subplots(figsize=(WIDE, 2.4), layout="constrained")
    for number, (name, values) in enumerate(zip(sets, zip(*shares, strict=True), strict=True)):
        ax.plot(range(len(shares)), values, "o-", ms=4, color=colour(number), label=name)
    ax.set_xticks(range(len(shares)), ["prior", *(f"{number}" for number in seen)])
    ax.set_ylim(-0.03, 1.0)
    entitle(ax, True, x="numbers seen, one after the other", y="p(h | data)")
    ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    plain(ax, "y")
    return ax


def _seniors() -> Any:
    return sf.Contingency(
        [[[911, 538], [44, 456]], [[3, 43], [2, 279]]], {"alcohol": YES_NO, "cigarette": YES_NO, "marijuana": YES_NO}
    )


def seniors_mosaic() -> Any:
    """Draw what a model without the pair alcohol and marijuana leaves unexplained."""
    return report.mosaic_plot(sf.fit(sf.Cliques("alcohol:cigarette + cigarette:marijuana"), _seniors()))


def garden_weights() -> Any:
    """Draw the couplings and fields of the flower beds, with their intervals."""
    edges = [("a1", "a2"), ("a2", "a3"), ("b1", "b2"), ("b2", "b3"), ("a1", "b1"), ("a2", "b2"), ("a3", "b3")]
    beds = {name: ["well", "ill"] for edge in edges for name in edge}
    spread = [(edge, [[1.5, 1.0], [1.0, 1.5]]) for edge in edges] + [((bed,), [2.0, 1.0]) for bed in beds]
    seasons = sf.MarkovNetwork(spread, schema=beds).sample(500, seed=3)
    return report.weights_plot(sf.fit(sf.Ising(edges), seasons))


def loaded_dice() -> Any:
    """Draw dice of greatest entropy with a given mean of their points."""
    die, faces = sf.Features([sf.product("points")]), {"points": [1, 2, 3, 4, 5, 6]}
    _, ax = plt.subplots(figsize=(WIDE, 2.2), layout="constrained")
    for number, mean in enumerate([2.5, 3.5, 4.5]):
        p = sf.maxent(die, [mean], over=faces).model.query("points").values
        ax.bar(np.arange(1, 7) + 0.27 * (number - 1), p, 0.25, color=colour(number), label=f"mean {mean}")
    entitle(ax, True, x="points", y="p")
    ax.legend(frameon=False, fontsize=8, ncols=3)
    plain(ax, "y")
    return ax


def triples() -> Any:
    """Draw weights of a few triples of letters."""
    from suffice.examples import spelling

    counts = spelling.trigram_counts(spelling.common_words())
    also = ["ing", "ion", "the", "ess", "qua", "str"]
    fit = sf.fit(spelling.trigram_features(counts, also=also), counts)
    _, ax = plt.subplots(figsize=(COLUMN, 1.9), layout="constrained")
    order = sorted(also, key=lambda triple: fit.model.weights[triple])
    ax.barh(order, [fit.model.weights[triple] for triple in order], color=colour(0), height=0.6)
    entitle(ax, True, x="weight: log of how much likelier than its letters")
    ax.axvline(0, color="#222222", lw=0.8)
    plain(ax, "x")
    return ax


def iris_surface() -> Any:
    """Draw three kinds of iris by the size of their petals."""
    from sklearn.datasets import load_iris

    flowers = load_iris(as_frame=True)
    inputs = flowers.data.rename(columns=lambda name: name.removesuffix(" (cm)"))[["petal length", "petal width"]]
    species = flowers.target.map(dict(enumerate(flowers.target_names)))
    return sf.GaussianBayes().fit(inputs, species).decision_surface(inputs, species)


def rain_transitions() -> Any:
    """Draw what follows what in the daily rain of Alofi."""
    amounts, counts = ["0", "1-5", "6+"], [[362, 126, 60], [136, 90, 68], [50, 79, 124]]
    pairs = [[today, tomorrow] for today in amounts for tomorrow in amounts]
    fit = sf.fit(sf.MarkovChain(1, variable="rain"), pairs, weights=np.ravel(counts))
    return report.transitions_plot(fit.model)


def tag_transitions() -> Any:
    """Draw which tag a conditional random field wants after which."""
    lines = [
        "The/B-NP old/I-NP ferry/I-NP left/B-VP the/B-NP harbour/I-NP at/O noon/B-NP",
        "She/B-NP reads/B-VP long/B-NP letters/I-NP in/O the/B-NP garden/I-NP",
        "Rain/B-NP has/B-VP ruined/I-VP the/B-NP picnic/I-NP",
        "They/B-NP will/B-VP paint/I-VP the/B-NP fence/I-NP and/O the/B-NP gate/I-NP",
    ]
    tokens = [[token.split("/") for token in line.split()] for line in lines]
    words = [[{"word": word.lower(), "ending": word[-2:]} for word, _ in line] for line in tokens]
    crf = sf.ChainCRF(c2=0.1).fit(words, [[tag for _, tag in line] for line in tokens])
    return report.transitions_plot(crf)


def em_steps() -> Any:
    """Draw the observed likelihood of a latent class, step by step."""
    rng = np.random.default_rng(2)
    group = rng.random(300) < 0.4
    items = {f"item {i}": np.where(rng.random(300) < np.where(group, 0.8, 0.25), "yes", "no") for i in range(1, 6)}
    fit = sf.fit(sf.DAG([("group", name) for name in items], latent={"group": 2}), items, seed=1, restarts=4)
    return report.convergence_plot(fit)


FIGURES: dict[str, Callable[[], Any]] = {
    "admissions_bars": admissions_bars,
    "admissions_graph": admissions_graph,
    "em_steps": em_steps,
    "estimates": estimates,
    "garden_weights": garden_weights,
    "hypotheses": hypotheses,
    "iris_surface": iris_surface,
    "loaded_dice": loaded_dice,
    "plants": plants,
    "rain_transitions": rain_transitions,
    "seniors_mosaic": seniors_mosaic,
    "tag_transitions": tag_transitions,
    "trial_posterior": trial_posterior,
    "triples": triples,
}
