"""EM on published networks with missing values: every fit is certified, or says what the data do not determine.

``python -m tests.audit.em`` prints one line per network and share of missing values. Rows are drawn by
``model.sample(1000, seed=3)``, and a value is missing where ``np.random.default_rng(5).random(shape) < share``. CPU
seconds are those of one fit with its certificate, after a first fit of the same rows has compiled the kernels.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import suffice as sf

NETWORKS = ("insurance", "hailfinder", "win95pts", "sachs")
SHARES = (0.1, 0.3, 0.5)
ROWS, ROW_SEED, MISSING_SEED, FIT_SEED = 1000, 3, 5, 0
DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[3] / "shared" / "data"))
HEAD = "network     missing  CPU seconds  steps  log-likelihood  certified  undetermined  named parameters"


class Outcome(NamedTuple):
    """What came of one fit."""

    network: str
    share: float
    seconds: float
    fit: sf.Fit

    @property
    def named(self) -> tuple[str, ...]:
        """The parameters that the data are said not to determine."""
        return self.fit.certificate.undetermined

    @property
    def is_settled(self) -> bool:
        """Whether the fit is certified, or names what keeps it from being so."""
        return self.fit.certificate.ok or bool(self.named)

    def __str__(self) -> str:
        certificate = self.fit.certificate
        undetermined = "yes" if self.named else "no"
        return (
            f"{self.network:<11} {self.share:7.0%}  {self.seconds:11.2f}  {len(self.fit.trace):5}  "
            f"{self.fit.log_likelihood:14.6f}  {'yes' if certificate.ok else 'no':<9}  {undetermined:<12}  "
            f"{len(self.named):16}"
        )


def incomplete_rows(
    model: sf.BayesianNetwork, share: float, row_seed: int, missing_seed: int
) -> dict[str, list[object]]:
    """Draw rows from a network, and remove a share of their values."""
    rows = model.sample(ROWS, seed=row_seed)
    names = list(rows)
    gone = np.random.default_rng(missing_seed).random((ROWS, len(names))) < share
    return {
        name: [None if lost else value for value, lost in zip(rows[name], gone[:, at].tolist(), strict=True)]
        for at, name in enumerate(names)
    }


def fit(model: sf.BayesianNetwork, rows: dict[str, list[object]]) -> sf.Fit:
    """Learn the network again from incomplete rows."""
    schema = {variable.name: list(variable.labels) for variable in model.schema.variables}
    return sf.fit(model.dag, rows, schema=schema, missing="em", unseen_parents="uniform", seed=FIT_SEED)


def audit(
    networks: tuple[str, ...] = NETWORKS, shares: tuple[float, ...] = SHARES, row_seed: int = ROW_SEED
) -> Iterator[Outcome]:
    """Fit every network at every share of missing values."""
    for name in networks:
        model = sf.read(DATA / "networks_bif" / f"{name}.bif.gz")
        for share in shares:
            rows = incomplete_rows(model, share, row_seed, MISSING_SEED)
            fit(model, rows)
            before = time.process_time()
            found = fit(model, rows)
            yield Outcome(name, share, time.process_time() - before, found)


def main() -> int:
    """Print the table; the status is one if a fit is neither certified nor names what is undetermined."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES)
    parser.add_argument("--row-seed", type=int, default=ROW_SEED)
    parser.add_argument("--names", action="store_true", help="list the undetermined parameters")
    told = parser.parse_args()
    print(HEAD)
    failed = 0
    for outcome in audit(tuple(told.networks), tuple(told.shares), told.row_seed):
        print(outcome, flush=True)
        if told.names:
            print(*(f"    {name}" for name in outcome.named), sep="\n")
        failed += not outcome.is_settled
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
