"""``python -m tests.audit --fits 500 --perturbations 3000 --seed 0``: a table of all families, and what was wrong.

A fit is refused if its search converged and its certificate says no, and unfinished if it says itself that its search
did not converge. The criterion is that no fit is refused, and no change that costs more than it may is certified.
"""

from __future__ import annotations

import argparse
import sys
import warnings

from tests.audit.families import FAMILIES
from tests.audit.family import Tally, audit_family

from suffice.text import plain_table

HEADER = ["family", "fits", "refused", "unfinished", "changes", "costly", "certified"]


def main() -> int:
    """Audit all families; the exit code says whether something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=__doc__)
    parser.add_argument("--fits", type=int, default=500, help="correct fits in all")
    parser.add_argument("--perturbations", type=int, default=3000, help="changed fits in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", help="only families whose name contains this")
    asked = parser.parse_args()
    chosen = [family for family in FAMILIES if asked.family is None or asked.family in family.name]
    each = -(-asked.fits // len(chosen))
    changes = -(-asked.perturbations // (each * len(chosen)))
    found: dict[str, Tally] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for family in chosen:
            found[family.name] = audit_family(family, each, changes, asked.seed)
            print(f"{len(found)} of {len(chosen)}: {family.name}", file=sys.stderr, flush=True)
    rows = [[name, *(f"{n}" for n in _numbers(tally))] for name, tally in found.items()]
    rows.append(["all", *(f"{sum(column)}" for column in zip(*map(_numbers, found.values()), strict=True))])
    print(plain_table(HEADER, rows, "<>>>>>>"))
    faults = [fault for tally in found.values() for fault in tally.faults]
    remarks = [remark for tally in found.values() for remark in tally.remarks]
    print("\n".join(["", *faults, *remarks]))
    return 1 if faults else 0


def _numbers(tally: Tally) -> tuple[int, ...]:
    return tally.fits, tally.refused, tally.unfinished, tally.tried, tally.costly, tally.certified


if __name__ == "__main__":
    sys.exit(main())
