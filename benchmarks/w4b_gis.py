"""W4b: a conditional max-ent classifier, p(class given 20 binary features), fitted to 2,000 rows by iterative scaling.

NLTK's features are binary, one a name, value and class. Rows that tell the value of every name give 120 of them; rows
that name only what is present give 60, and no intercept. Ours are built to be exactly these. NLTK scales by
C = 21 = 20 names + 1, we by the largest sum that occurs; its correction feature is the same for all classes of a row
and changes no probability.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import (
    HERE,
    Answer,
    Contestant,
    Context,
    Entry,
    Outcome,
    contestant_main,
    race,
    row_of,
    say,
    seconds,
    whole,
)

TITLE = "W4b: conditional max-ent by iterative scaling, 2,000 rows × 20 binary features × 3 classes"
SEED = 44
N_ROWS, N_FEATURES = 2_000, 20
STATES, CLASSES = ("no", "yes"), ("a", "b", "c")
WEIGHT, INTERCEPT = 0.7, 0.3
STEPS = 100
TOLERANCE = 1e-6
"""How far the probabilities of fits that claim the optimum may be apart."""
FORMS = {
    "values": "every name with its value, 120 features",
    "present": "only the names that are present, 60 features",
}

OURS = Entry("suffice `sf.fit(method='gis', tol=1e-3)`", "suffice", "ours", {"method": "gis", "tol": 1e-3})
OTHERS = (
    Entry(f"suffice `sf.fit(method='gis', max_iter={STEPS})`", "suffice", "ours", {"method": "gis", "steps": STEPS}),
    Entry("suffice `sf.fit(method='gis')`, tol=1e-8", "suffice", "ours", {"method": "gis"}),
    Entry("suffice `sf.fit`, L-BFGS, tol=1e-8", "suffice", "ours", {"method": "lbfgs"}),
    Entry("suffice `sf.fit(method='newton')`, tol=1e-8", "suffice", "ours", {"method": "newton"}),
)
NLTK = Entry(f"NLTK `MaxentClassifier`, GIS, max_iter={STEPS}", "nltk", options={"steps": STEPS, "repeats": 2})


def run(context: Context) -> str:
    """Race on both forms of the rows, and return a section in Markdown."""
    n_rows = N_ROWS // 10 if context.quick else N_ROWS
    parts = [
        f"{n_rows:,} rows from a multinomial logistic model: weights normal(0, {WEIGHT}), intercepts "
        f"normal(0, {INTERCEPT}), each feature present with a probability between 0.2 and 0.8, seed {SEED}. Times "
        "count from a frame of categoricals (NLTK: from its list of dictionaries) to the fitted model. `gap` is how "
        "many nats the mean conditional log-likelihood of a row is short of its maximum: both are computed by this "
        "benchmark, the first from a contestant's weights or probabilities, the second by Newton's method in a few "
        "lines of NumPy. Ours hold the counting of distinct rows, the proof which weights are determined, and the "
        f"certificate of a match of expectations within the tolerance; after {STEPS} steps there is none, and it is "
        "looked into whether the estimate exists. `p` is how far the probabilities of all rows and classes are from "
        "those of the maximum."
    ]
    for form, words in FORMS.items():
        say(f" {words}")
        request = {**request_of(context, n_rows), "form": form}
        outcomes = race(context, Path(__file__).name, [OURS, *OTHERS, NLTK], request)
        parts += [f"### {words[0].upper()}{words[1:]}", gap_table(outcomes), times_ours(outcomes)]
    return "\n\n".join(filter(None, parts))


def request_of(context: Context, n_rows: int) -> dict[str, Any]:
    """Return what contestants are asked, and make the rows where they do not exist yet."""
    path = context.work / f"classes-{n_rows}-{N_FEATURES}-seed{SEED}.json"
    if not path.exists():
        subprocess.run([context.python, str(HERE / Path(__file__).name), "make", str(n_rows), str(path)], check=True)
    return {"rows": str(path), "repeats": 3 if context.quick else 15, "budget": 20}


def gap_table(outcomes: Sequence[Outcome]) -> str:
    """Return the measurements as a Markdown table; ratios are multiples of the first contestant's figures."""
    head = ("", "CPU", "× CPU", "wall", "× wall", "first call CPU", "peak MiB", "steps", "gap", "p")
    lines = [row_of(head), row_of(["---"] * len(head))]
    base, limit = outcomes[0].measured, gap_of(outcomes[-1])
    for outcome in outcomes:
        found = outcome.measured
        if found is None:
            lines.append(row_of([outcome.entry.title, *["–"] * (len(head) - 2), outcome.trouble]))
            continue
        cells = [outcome.entry.title]
        for key in ("cpu", "wall"):
            cells += [seconds(found[key]), "–" if base is None else f"{found[key] / base[key]:.2f}"]
        gap, apart = gap_of(outcome), found["answer"]["apart"][0]
        claims = outcome.entry.where == "ours" and not {"tol", "steps"} & set(outcome.entry.options)
        lines.append(
            row_of(
                [
                    *cells,
                    seconds(found["first_cpu"]),
                    whole(found["peak"]),
                    whole(found["answer"]["steps"][0]),
                    f"{gap:.1e}" + (", TOO LARGE" if outcome.entry.where == "ours" and gap > limit else ""),
                    f"{apart:.1e}" + (", DIFFERS" if claims and apart > TOLERANCE else ""),
                ]
            )
        )
    return "\n".join(lines)


def gap_of(outcome: Outcome) -> float:
    """Return how far a contestant is from the maximum; not a number where it failed."""
    return math.nan if outcome.measured is None else float(outcome.measured["answer"]["gap"][0])


def times_ours(outcomes: Sequence[Outcome]) -> str:
    """Say how many times the CPU time of each of ours NLTK needs."""
    peer = outcomes[-1].measured
    if peer is None:
        return ""
    said = [
        f"{peer['cpu'] / outcome.measured['cpu']:.0f} times that of {outcome.entry.title}"
        for outcome in outcomes[:-1]
        if outcome.measured is not None
    ]
    return f"NLTK's CPU time is {'; '.join(said)}."


# Making rows, in this library's environment -------------------------------------------------------------------


def make(n_rows: int, target: str) -> None:
    """Draw the rows, find the probabilities at the maximum of both models, and write all of them."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    present = rng.random((n_rows, N_FEATURES)) < rng.uniform(0.2, 0.8, N_FEATURES)
    weights = rng.normal(0, WEIGHT, (N_FEATURES, len(CLASSES)))
    scores = present @ weights + rng.normal(0, INTERCEPT, len(CLASSES))
    classes = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    inputs = {"values": np.column_stack([np.ones(n_rows), present]), "present": present.astype(np.float64)}
    written = {
        "present": present.astype(int).tolist(),
        "classes": classes.tolist(),
        "best": {form: maximum(matrix, classes).tolist() for form, matrix in inputs.items()},
    }
    Path(target).write_text(json.dumps(written))


def maximum(matrix: Any, classes: Any) -> Any:
    """Return the fitted probabilities of a multinomial logistic regression, by Newton's method."""
    import numpy as np

    n, k = matrix.shape
    observed = np.eye(len(CLASSES))[classes]
    weights = np.zeros((k, len(CLASSES) - 1))
    for _ in range(50):
        scores = np.column_stack([np.zeros(n), matrix @ weights])
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        slope = matrix.T @ (observed - p)[:, 1:]
        if np.abs(slope).max() < 1e-10 * n:
            return p
        blocks = [
            [matrix.T @ (matrix * (p[:, a] * ((a == b) - p[:, b]))[:, None]) for b in range(1, len(CLASSES))]
            for a in range(1, len(CLASSES))
        ]
        step = np.linalg.solve(np.block(blocks), slope.T.reshape(-1))
        weights += step.reshape(len(CLASSES) - 1, k).T
    raise RuntimeError("Newton's method did not reach the maximum.")


# Contestants --------------------------------------------------------------------------------------------------


@dataclass
class Held:
    """The rows as they were drawn, the probabilities at the maximum, and the rows in the form that a library reads."""

    present: list[list[int]]
    classes: list[int]
    best: list[list[float]]
    request: Mapping[str, Any]
    own: Any = None


def loaded(request: Mapping[str, Any]) -> Held:
    """Read the rows."""
    read = json.loads(Path(request["rows"]).read_text())
    return Held(read["present"], read["classes"], read["best"][request["form"]], request)


def told(held: Held, probabilities: Sequence[Sequence[float]], steps: int) -> Answer:
    """Return how far the probabilities are from the maximum, in nats a row and at most."""
    own, best = (
        math.fsum(math.log(row[code]) for row, code in zip(table, held.classes, strict=True)) / len(held.classes)
        for table in (probabilities, held.best)
    )
    pairs = zip(probabilities, held.best, strict=True)
    apart = max(abs(p - q) for mine, theirs in pairs for p, q in zip(mine, theirs, strict=True))
    return {"gap": [max(best - own, 0.0)], "apart": [apart], "steps": [float(steps)]}


class Suffice:
    """Our library, from a frame of categoricals."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Make the frame."""
        import pandas as pd

        held = loaded(request)
        columns = {
            f"x{j}": pd.Categorical.from_codes([row[j] for row in held.present], list(STATES))
            for j in range(N_FEATURES)
        }
        held.own = pd.DataFrame({**columns, "y": pd.Categorical.from_codes(held.classes, list(CLASSES))})
        return held

    def fit(self, held: Held) -> Any:
        """Fit, and certify."""
        import suffice as sf

        names = [f"x{j}" for j in range(N_FEATURES)]
        if held.request["form"] == "values":
            features: list[Any] = [sf.indicators(name, "y") for name in names]
        else:
            features = [sf.product(sf.indicator({name: STATES[1]}), sf.indicators("y")) for name in names]
        structure = sf.Features(features, given=names)
        asked = held.request
        return sf.fit(
            structure,
            held.own,
            method=asked["method"],
            tol=asked.get("tol", 1e-8),
            max_iter=asked.get("steps", 10**5),
        )

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Compute the probabilities from the weights, without the library."""
        import numpy as np

        assert fitted.certificate.ok == ("steps" not in held.request)
        weights = fitted.model.weights.to_numpy().reshape(N_FEATURES, -1, len(CLASSES))
        present = np.array(held.present, float)
        scores = present @ weights[:, -1]
        if held.request["form"] == "values":
            scores += (1 - present) @ weights[:, 0]
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return told(held, p.tolist(), len(fitted.trace))


class Nltk:
    """NLTK's classifier, from its list of pairs of a dictionary and a class."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Make the dictionaries."""
        import nltk.classify  # noqa: F401

        held, every = loaded(request), request["form"] == "values"
        held.own = [
            ({f"x{j}": STATES[value] for j, value in enumerate(row) if every or value}, CLASSES[code])
            for row, code in zip(held.present, held.classes, strict=True)
        ]
        return held

    def fit(self, held: Held) -> Any:
        """Fit."""
        from nltk.classify import MaxentClassifier

        return MaxentClassifier.train(held.own, algorithm="GIS", trace=0, max_iter=held.request["steps"])

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Ask for the probabilities."""
        n_weights = N_FEATURES * len(CLASSES) * (2 if held.request["form"] == "values" else 1)
        assert len(fitted.weights()) == n_weights + 1  # and the correction feature
        asked = [fitted.prob_classify(row) for row, _ in held.own]
        return told(held, [[each.prob(label) for label in CLASSES] for each in asked], held.request["steps"])


CONTESTANTS: dict[str, Contestant] = {"suffice": Suffice(), "nltk": Nltk()}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), sys.argv[3])
    else:
        contestant_main(CONTESTANTS)
