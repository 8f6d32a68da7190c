"""The pictures of the page on plots: `FIGURES` names them, and each function draws one and returns its axes.

The site draws them when it is built. ``python docs/figures.py FOLDER`` writes them there, as SVG.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_predict

import suffice as sf
import suffice.examples
from suffice import report

BERKELEY = Path(suffice.examples.__file__).parent / "berkeley.csv"
HAIR = np.array([[68, 20, 15, 5], [119, 84, 54, 29], [26, 17, 14, 14], [7, 94, 10, 16]])
"""R. D. Snee (1974), "Graphical display of two-way contingency tables": hair and eyes of 592 students."""
COLOURS = {"hair": ["black", "brown", "red", "blond"], "eye": ["brown", "blue", "hazel", "green"]}
SENTENCES = (
    "the/D old/A dog/N barks/V", "a/D cat/N sleeps/V", "the/D cat/N sees/V a/D small/A dog/N", "dogs/N bark/V",
    "the/D small/A old/A cat/N sees/V dogs/N", "a/D dog/N sees/V the/D cat/N", "cats/N sleep/V", "old/A dogs/N sleep/V",
)  # fmt: skip


@cache
def admissions(**settings: Any) -> Any:
    """Fit admissions at Berkeley by gender and department."""
    return sf.fit(sf.DAG("Gender -> Dept -> Admit; Gender -> Admit"), BERKELEY, weights="Freq", **settings)


def graph() -> Any:
    """Draw the network with the strengths of its edges."""
    return report.graph_plot(admissions())


def heat_map() -> Any:
    """Draw a conditional table as a map of colours."""
    return report.cpt_heatmap(admissions(), "Admit")


def bars() -> Any:
    """Draw a conditional table as bars with credible intervals."""
    return report.cpt_bars(admissions(prior=sf.BDeu(10)), "Dept")


def densities() -> Any:
    """Draw what is known of the chance of admission in every department."""
    fit = sf.fit(sf.DAG("Dept -> Admit"), BERKELEY, weights="Freq", prior=sf.BDeu(10))
    return report.posterior_plot(fit, "Admit", state="Admitted")


def convergence() -> Any:
    """Draw the searches for a latent class behind the table."""
    dag = sf.DAG("Class -> Gender; Class -> Dept; Class -> Admit", latent={"Class": 2})
    fit = sf.fit(dag, BERKELEY, weights="Freq", restarts=8, seed=0, max_iter=2000)
    return report.convergence_plot(fit)


def moments() -> Any:
    """Draw the margins of the data against those of a model without the edge from gender to department."""
    return report.moments_plot(sf.fit(sf.DAG("Gender -> Admit <- Dept"), BERKELEY, weights="Freq"))


def mosaic() -> Any:
    """Draw hair and eyes under independence."""
    return report.mosaic_plot(sf.fit(sf.Cliques("hair + eye"), sf.Contingency(HAIR, COLOURS)))


def weights() -> Any:
    """Draw the weights of features of hair and eyes."""
    features = [sf.indicators("hair"), sf.indicators("eye"), sf.indicator(hair="blond", eye="blue")]
    features += [sf.indicator(hair="black", eye="brown"), sf.indicator(hair="red", eye="green")]
    fit = sf.fit(sf.Features(features), sf.Contingency(HAIR, COLOURS), prior=sf.Gaussian(2.0))
    return report.weights_plot(fit)


def learning() -> Any:
    """Draw the errors of two classifiers of irises that learn from more and more flowers."""
    rows, kinds = load_iris(return_X_y=True)
    sizes, stream = (9, 15, 24, 45, 90), np.random.default_rng(0)
    makers: dict[str, Callable[[], Any]] = {"naive Bayes": _naive, "Gaussian Bayes": _tied}
    errors = {name: np.zeros((len(sizes), 12)) for name in makers}
    for split in range(12):
        order = np.concatenate([stream.permutation(np.flatnonzero(kinds == k)) for k in range(3)])
        order = order.reshape(3, -1).T.reshape(-1)  # the kinds in turn
        for name, make in makers.items():
            for i, size in enumerate(sizes):
                learnt = make().fit(rows[order[:size]], kinds[order[:size]])
                errors[name][i, split] = np.mean(learnt.predict(rows[order[90:]]) != kinds[order[90:]])
    return report.learning_curves_plot(sizes, errors, score="error on other rows")


def _naive() -> Any:
    return sf.NaiveBayes(kinds="tied_gaussian")


def _tied() -> Any:
    return sf.GaussianBayes(covariance="tied", shrinkage="oas")


def confusion() -> Any:
    """Draw which irises are taken for which."""
    iris = load_iris()
    kinds = iris.target_names[iris.target]
    return report.confusion_plot(kinds, cross_val_predict(sf.NaiveBayes(), iris.data[:, :2], kinds, cv=10))


def surface() -> Any:
    """Draw where each kind of iris is the most likely one."""
    iris = load_iris(as_frame=True)
    rows, kinds = iris.data[["petal length (cm)", "petal width (cm)"]], iris.target_names[iris.target]
    return report.decision_surface(sf.GaussianBayes().fit(rows, kinds), rows, kinds)


def transitions() -> Any:
    """Draw the weights of transitions between kinds of words."""
    pairs = [[tuple(token.split("/")) for token in sentence.split()] for sentence in SENTENCES]
    words = [[{"word": word} for word, _ in sentence] for sentence in pairs]
    crf = sf.ChainCRF().fit(words, [[kind for _, kind in sentence] for sentence in pairs])
    return report.transitions_plot(crf)


FIGURES: dict[str, Callable[[], Any]] = {
    "graph_plot": graph,
    "cpt_heatmap": heat_map,
    "cpt_bars": bars,
    "posterior_plot": densities,
    "convergence_plot": convergence,
    "moments_plot": moments,
    "mosaic_plot": mosaic,
    "weights_plot": weights,
    "learning_curves_plot": learning,
    "confusion_plot": confusion,
    "decision_surface": surface,
    "transitions_plot": transitions,
}
"""Every picture of the page, by the name of its plot."""


def main(folder: str) -> None:
    """Write every picture into a folder."""
    import matplotlib.pyplot as plt

    for name, draw in FIGURES.items():
        draw().figure.savefig(Path(folder) / f"{name}.svg")
        plt.close("all")


if __name__ == "__main__":
    main(sys.argv[1])
