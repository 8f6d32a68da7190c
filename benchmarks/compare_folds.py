"""Ten-fold cross-validation by `sf.compare`, against the loop that it replaces: fit nine folds, score the tenth.

Both are this library, on the same folds. The loop is what one would write: ten times `sf.fit` on the other rows of the
frame and `model.log_prob` on the fold, and once a fit of all rows for the criteria.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import samples
from common import Answer, Context, Entry, Outcome, contestant_main, measured_table, race, say

TITLE = "Cross-validation: ten folds by `sf.compare` and by a loop over `sf.fit`"
SEED = 11
N_ROWS = 1_000_000
N_FOLDS = 10
AGREEMENT = 1e-9
"""How far the cross-validated log-likelihoods may be apart, relative to their size."""
RACES = {
    "alarm": "ALARM, 37 categoricals, one network of tables, prior sf.BDeu(1)",
    "pair": "ALARM, the same network beside one without its edges",
    "normal": "20 continuous columns, a network of regressions",
    "cliques": "ALARM's first 12 columns, a chain of cliques, prior sf.BDeu(1)",
}
ENTRIES = (Entry("`sf.compare`", "compare", "ours"), Entry("a loop over `sf.fit`", "loop", "ours"))


def run(context: Context) -> str:
    """Race on every kind of model, and return a section in Markdown."""
    parts = [
        f"Rows from seed {SEED}; folds are the same for both. Times count from a pandas frame to the log-likelihood of "
        "all rows, the criteria, the certificate, and the cross-validated log-likelihood of every fold."
    ]
    n_rows = N_ROWS // 100 if context.quick else N_ROWS
    request = {**samples.made(context, "alarm", n_rows, SEED, "frame"), "n_rows": n_rows, "repeats": 3, "budget": 60}
    for kind, words in RACES.items():
        say(f" {words}")
        outcomes = race(context, "compare_folds.py", ENTRIES, {**request, "kind": kind})
        table = measured_table(outcomes, ["answer"], lambda outcome, all_=outcomes: [agreement(all_[0], outcome)])
        parts += [f"### {words}, {n_rows:,} rows", table]
    return "\n\n".join(parts)


def agreement(reference: Outcome, other: Outcome) -> str:
    """Say how far the sums over folds are apart."""
    if reference is other or reference.measured is None or other.measured is None:
        return "reference"
    mine, theirs = reference.measured["answer"], other.measured["answer"]
    gap = max(abs(a - b) / abs(a) for name in mine for a, b in zip(mine[name], theirs[name], strict=True))
    return f"{'agrees' if gap <= AGREEMENT else 'DIFFERS'} (largest relative gap {gap:.1e})"


# Contestants --------------------------------------------------------------------------------------------------


@dataclass
class Held:
    """What the user holds: a frame, the structures, and what is said about them."""

    frame: Any
    models: dict[str, Any]
    options: dict[str, Any]
    folds: Any


def prepared(request: Mapping[str, Any]) -> Held:
    """Load or draw the rows, and find out which row is in which fold."""
    import numpy as np
    from networks import described
    from pyarrow import feather

    import suffice as sf
    from suffice.comparison.folds import FoldedTable
    from suffice.data.table import open_table

    n = request["n_rows"]
    options: dict[str, Any] = {}
    if request["kind"] == "normal":
        frame, models = _regressions(n)
    else:
        frame, nodes = feather.read_feather(request["rows"]), described(request)
        options["prior"] = sf.BDeu(1)
        whole = sf.DAG({node: entry["parents"] for node, entry in nodes.items()})
        models = {"network": whole}
        if request["kind"] == "pair":
            models["free"] = sf.DAG(list(nodes))
        if request["kind"] == "cliques":
            names = list(nodes)[:12]
            models = {"cliques": sf.Cliques(list(zip(names, names[1:], names[2:], strict=False)))}
    rows = {"row": np.arange(float(n))}
    folds = np.zeros(n, np.int8)
    for block in FoldedTable(open_table(rows, ["row"]), N_FOLDS, 0).blocks():
        folds[block.columns["row"].astype(np.int64)] = block.fold
    return Held(frame, models, options, folds)


def _regressions(n: int) -> tuple[Any, dict[str, Any]]:
    import numpy as np
    import pandas as pd

    import suffice as sf

    rng = np.random.default_rng(SEED)
    values, parents = rng.normal(size=(20, n)), {}
    for place in range(20):
        above = sorted(rng.choice(place, min(place, 2), replace=False).tolist())
        parents[f"x{place}"] = [f"x{other}" for other in above]
        for other in above:
            values[place] += 0.5 * values[other]
    return pd.DataFrame({f"x{place}": values[place] for place in range(20)}), {"network": sf.DAG(parents)}


class Compare:
    """One call."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the frame and build the structures."""
        return prepared(request)

    def fit(self, held: Held) -> Any:
        """Compare the models."""
        import suffice as sf

        return sf.compare(held.models, held.frame, folds=N_FOLDS, **held.options)

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the log-likelihoods of the folds."""
        return {name: list(fitted[name].cross_validation.folds) for name in held.models}


class Loop(Compare):
    """Fit and score, fold by fold."""

    def fit(self, held: Held) -> Any:
        """Fit all rows, and then ten times nine folds."""
        import suffice as sf

        found: Answer = {}
        for name, structure in held.models.items():
            sf.fit(structure, held.frame, **held.options)
            found[name] = []
            for fold in range(N_FOLDS):
                inside = held.folds == fold
                model = sf.fit(structure, held.frame[~inside], **held.options).model
                found[name].append(float(model.log_prob(held.frame[inside]).sum()))
        return found

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the log-likelihoods of the folds."""
        found: Answer = fitted
        return found


if __name__ == "__main__":
    contestant_main({"compare": Compare(), "loop": Loop()})
