"""W1: ALARM, 1,000,000 rows × 37 in memory, all conditional probability tables by maximum likelihood."""

from __future__ import annotations

import samples
from common import Context, Entry, race, ratio_table
from networks import START_LIST, described

TITLE = "W1: ALARM, 1,000,000 rows × 37 categoricals in memory → all CPTs"
SEED = 1
N_ROWS = 1_000_000


def run(context: Context) -> str:
    """Race all contestants, and return a section in Markdown."""
    n_rows = N_ROWS // 100 if context.quick else N_ROWS
    request = {**samples.made(context, "alarm", n_rows, SEED, "frame"), "repeats": 7, "budget": 30}
    sizes = {node: len(entry["states"]) for node, entry in described(request).items()}
    outcomes = race(context, "networks.py", [*START_LIST, Entry("pyAgrum (pandas)", "pyagrum")], request)
    return f"{ratio_table(outcomes, sizes)}\n\nSampled with seed {SEED}, {n_rows:,} rows."
