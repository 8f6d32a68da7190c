"""W1b: 100,000 rows of three large networks in memory, all conditional probability tables by maximum likelihood."""

from __future__ import annotations

import samples
from common import Context, Entry, race, ratio_table
from networks import START_LIST, described

TITLE = "W1b: 100,000 rows of ANDES (223 nodes), LINK (724) and MUNIN (1041) in memory → all CPTs"
SEED = 3
N_ROWS = 100_000
SMOOTHING = 1e-12
"""pyAgrum needs a prior where configurations have no data; this one is far below the agreement asked for."""


def run(context: Context) -> str:
    """Race all contestants on every network, and return a section in Markdown."""
    n_rows = N_ROWS // 100 if context.quick else N_ROWS
    parts = [one(context, network, n_rows) for network in ("andes", "link", "munin")]
    remark = f"Sampled with seed {SEED}, {n_rows:,} rows. pyAgrum refuses rows without data, so it has a smoothing of "
    return "\n\n".join([*parts, f"{remark}{SMOOTHING:g}."])


def one(context: Context, network: str, n_rows: int) -> str:
    """Race all contestants on one network."""
    request = {**samples.made(context, network, n_rows, SEED, "frame"), "repeats": 5, "budget": 15}
    sizes = {node: len(entry["states"]) for node, entry in described(request).items()}
    pyagrum = Entry("pyAgrum (pandas)", "pyagrum", options={"smoothing": SMOOTHING, "repeats": 0})
    outcomes = race(context, "networks.py", [*START_LIST, pyagrum], request)
    return f"### {network.upper()}\n\n{ratio_table(outcomes, sizes)}"
