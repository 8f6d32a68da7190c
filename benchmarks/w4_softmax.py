"""W4: softmax (multinomial logistic) regression from an array to fitted weights, at equal gradient, against sklearn.

Two dense jobs without a penalty, 100,000 rows × 50 columns × 10 classes: columns that five factors make strongly
correlated, and columns that are independent. One sparse job under L2, 10,000 texts × 100,000 words × 20 classes.
"""

from __future__ import annotations

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
    measured_table,
    race,
    say,
)

TITLE = "W4: softmax regression, 100,000 × 50 × 10 without a penalty, and 10,000 × 100,000 × 20 sparse under L2"
SEED = 4
N_ROWS, N_COLUMNS, N_CLASSES = 100_000, 50, 10
FACTORS, NOISE, WEIGHT = 5, 0.3, 0.3
TEXTS, WORDS, TOPICS, LENGTH, TOPICAL = 10_000, 100_000, 20, 80, 0.15
GRADIENT = 1e-6
"""The largest derivative of the mean log-likelihood, or of that with the penalty, that a fit may leave."""
SAME = 1e-8
"""How far the objectives of fits may be apart, in nats a row."""
JOBS = {
    "correlated": f"columns of {FACTORS} common factors plus {NOISE:g} times independent noise",
    "independent": "independent columns",
    "sparse": f"{LENGTH} words a text, log counts scaled to length one, penalty ½ ‖w‖²",
}

OURS = Entry("suffice `sf.SoftmaxRegression`", "suffice", "ours")
LBFGS = Entry("suffice `sf.SoftmaxRegression(method='lbfgs')`", "suffice", "ours", {"method": "lbfgs"})
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
PEERS = tuple(
    Entry(
        f"sklearn `LogisticRegression(solver='{solver}')`",
        "sklearn",
        options={"solver": solver, "environment": ONE_THREAD, "repeats": 2},
    )
    for solver in ("newton-cg", "lbfgs", "newton-cholesky")
)


def run(context: Context) -> str:
    """Race on the three jobs, and return a section in Markdown."""
    parts = [
        f"Dense rows: normal(0, 1) columns, classes from a softmax with weights normal(0, {WEIGHT}), seed {SEED}. "
        f"Sparse rows: words by Zipf's law, {100 * TOPICAL:.0f} % of them moved by the class. All search until the "
        f"largest derivative of the mean log-likelihood is at most {GRADIENT:g} (sklearn's `tol` means that, too); "
        "`gradient` is what the weights left, and `objective` the mean of −log p with the penalty, both computed by "
        "this benchmark after the clock stopped. Ours hold the certificate, which makes a pass of its own. sklearn has "
        "one thread, which costs it the least CPU time; `newton-cholesky` writes a Hessian out and is left out of the "
        "sparse job."
    ]
    for job, words in JOBS.items():
        say(f" {words}")
        request = request_of(context, job)
        entries = [OURS, LBFGS, *(PEERS if job != "sparse" else PEERS[:2])]
        outcomes = race(context, Path(__file__).name, entries, request)
        parts += [
            f"### {words[0].upper()}{words[1:]}",
            measured_table(outcomes, ["gradient", "objective"], judged(outcomes)),
        ]
        parts.append(best_peer(outcomes))
    return "\n\n".join(filter(None, parts))


def request_of(context: Context, job: str) -> dict[str, Any]:
    """Return what contestants are asked, and make the rows where they do not exist yet."""
    shrink = 20 if context.quick else 1
    path = context.work / f"softmax-{job}-{shrink}-seed{SEED}.npz"
    if not path.exists():
        subprocess.run(
            [context.python, str(HERE / Path(__file__).name), "make", job, str(shrink), str(path)], check=True
        )
    return {"rows": str(path), "job": job, "repeats": 2 if context.quick else 7, "budget": 60}


def judged(outcomes: Sequence[Outcome]) -> Any:
    """Return the function that writes gradient and objective, and what is wrong with them."""
    told = [outcome.measured["answer"]["objective"][0] for outcome in outcomes if outcome.measured is not None]
    least = min(told, default=0.0)

    def cells(outcome: Outcome) -> list[str]:
        assert outcome.measured is not None
        answer = outcome.measured["answer"]
        gradient, objective = answer["gradient"][0], answer["objective"][0]
        return [
            f"{gradient:.1e}" + (", TOO LARGE" if gradient > 1.01 * GRADIENT else ""),
            f"{objective:.9f}" + (", DIFFERS" if objective - least > SAME else ""),
        ]

    return cells


def best_peer(outcomes: Sequence[Outcome]) -> str:
    """Say how many times our CPU time the fastest peer needs."""
    ours = outcomes[0].measured
    peers = [o for o in outcomes if o.entry.contestant == "sklearn" and o.measured is not None]
    if ours is None or not peers:
        return ""
    best = min(peers, key=lambda outcome: outcome.measured["cpu"])  # type: ignore[index]
    assert best.measured is not None
    return f"The fastest peer, {best.entry.title}, needs {best.measured['cpu'] / ours['cpu']:.1f} times our CPU time."


# Making rows, in this library's environment -------------------------------------------------------------------


def make(job: str, shrink: int, target: str) -> None:
    """Draw the rows of a job and write them."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    if job == "sparse":
        np.savez(target, **texts(rng, shrink))
        return
    n = N_ROWS // shrink
    x = rng.normal(size=(n, N_COLUMNS))
    if job == "correlated":
        x = NOISE * x + rng.normal(size=(n, FACTORS)) @ rng.normal(size=(FACTORS, N_COLUMNS))
    scores = x @ rng.normal(0, WEIGHT, (N_COLUMNS, N_CLASSES))
    np.savez(target, x=x, y=(scores + rng.gumbel(size=scores.shape)).argmax(axis=1))


def texts(rng: Any, shrink: int) -> dict[str, Any]:
    """Return texts as the parts of a sparse matrix, with their topics."""
    import numpy as np
    from scipy.sparse import csr_array

    n, n_words = TEXTS // shrink, WORDS // shrink
    often = 1 / np.arange(1, n_words + 1)
    words = rng.choice(n_words, size=(n, LENGTH), p=often / often.sum())
    y = rng.integers(0, TOPICS, n)
    moved = (7 * words + 3737 * y[:, None]) % n_words
    words = np.where(rng.random(words.shape) < TOPICAL, moved, words)
    x = csr_array((np.ones(words.size), words.reshape(-1), np.arange(0, words.size + 1, LENGTH)), shape=(n, n_words))
    x.sum_duplicates()
    x.data = np.log1p(x.data)
    x.data /= np.repeat(np.sqrt(x.multiply(x).sum(axis=1)), np.diff(x.indptr))
    return {"data": x.data, "indices": x.indices, "indptr": x.indptr, "y": y, "n_words": np.array(n_words)}


# Contestants --------------------------------------------------------------------------------------------------


@dataclass
class Held:
    """Rows and classes, and what is asked."""

    x: Any
    y: Any
    request: Mapping[str, Any]


def loaded(request: Mapping[str, Any]) -> Held:
    """Read the rows."""
    import numpy as np
    from scipy.sparse import csr_matrix

    with np.load(request["rows"]) as read:
        if request["job"] != "sparse":
            return Held(read["x"], read["y"], request)
        shape = (len(read["y"]), int(read["n_words"]))
        return Held(csr_matrix((read["data"], read["indices"], read["indptr"]), shape=shape), read["y"], request)


def told(held: Held, weights: Any, intercept: Any, steps: float) -> Answer:
    """Return the objective and its largest derivative, from weights of shape (classes, columns)."""
    import numpy as np

    x, y, n = held.x, held.y, len(held.y)
    scores = x @ weights.T + intercept
    top = scores.max(axis=1, keepdims=True)
    p = np.exp(scores - top)
    totals = p.sum(axis=1, keepdims=True)
    value = float((top + np.log(totals))[:, 0].mean() - scores[np.arange(n), y].mean())
    p /= totals
    p[np.arange(n), y] -= 1
    slopes = np.asarray(x.T @ p).T
    if held.request["job"] == "sparse":
        slopes = slopes + weights
        value += 0.5 * float((weights**2).sum()) / n
    largest = max(np.abs(slopes).max(), np.abs(p.sum(axis=0)).max()) / n
    return {"gradient": [float(largest)], "objective": [value], "steps": [steps]}


class Suffice:
    """Our shell, from an array."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Read the rows."""
        import suffice.sklearn  # noqa: F401

        return loaded(request)

    def fit(self, held: Held) -> Any:
        """Fit, and certify. The tolerance is in units of the columns' spread, which the gradient is not."""
        import suffice as sf

        penalty = "l2" if held.request["job"] == "sparse" else None
        tol = GRADIENT / 2 if held.request["job"] == "correlated" else GRADIENT
        method = held.request.get("method", "auto")
        return sf.SoftmaxRegression(penalty, tol=tol, method=method).fit(held.x, held.y)

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return what the weights left."""
        assert fitted.fit_.certificate.ok
        return told(held, fitted.coef_, fitted.intercept_, float(fitted.n_iter_))


class Sklearn:
    """scikit-learn's classifier; C is infinite for none, and one for the penalty ½ ‖w‖²."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Read the rows."""
        import sklearn.linear_model  # noqa: F401

        return loaded(request)

    def fit(self, held: Held) -> Any:
        """Fit."""
        from sklearn.linear_model import LogisticRegression

        strength = 1.0 if held.request["job"] == "sparse" else float("inf")
        solver = held.request["solver"]
        return LogisticRegression(C=strength, solver=solver, tol=GRADIENT, max_iter=5000).fit(held.x, held.y)

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return what the weights left."""
        return told(held, fitted.coef_, fitted.intercept_, float(fitted.n_iter_[0]))


CONTESTANTS: dict[str, Contestant] = {"suffice": Suffice(), "sklearn": Sklearn()}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        contestant_main(CONTESTANTS)
