"""Errors of Gibbs sampling."""

from __future__ import annotations

import numpy as np
from tests.error_catalogue import NOTHING, A, M, entry

import suffice as sf
from suffice.inference.chains import effective_size
from suffice.inference.gibbs import Gibbs
from suffice.inference.product import Factor
from suffice.inference.reachable import require_reachable

# Gibbs sampling -----------------------------------------------------------------------------------------------

entry("burning in exact draws", A, lambda w: w.network().sample(3, burn_in=5), "'burn_in' argument", "Gibbs sampling",
      "method='gibbs'")  # fmt: skip
entry("method of sampling", A, lambda w: w.network().sample(3, method="gibs"), "'method' argument",
      "['exact', 'gibbs']", "Got 'gibs' instead")  # fmt: skip
entry("thinning by nothing", A, lambda w: w.network().sample(3, method="gibbs", thin=0), "'thin' argument",
      "at least 1", "Got 0 instead")  # fmt: skip
entry("Gibbs sampling given nothing", M, lambda w: w.network().sample(3, method="gibbs", given=NOTHING),
      "No state of positive probability was found", "method='exact'", "with a prior")  # fmt: skip
entry("Gibbs sampling of unknown rows", M, lambda w: w.hidden().sample(3, method="gibbs"), "'B'", "NaN",
      "unseen_parents='uniform'")  # fmt: skip
entry("chains that do not fit", M, lambda w: w.network().sample(3, method="gibbs", chains=10**12),
      "1,000,000,000,000 chains would need 20 TB", "Use fewer chains", "sf.config(memory=…)")  # fmt: skip
entry("parameters of other tables", A, lambda w: Gibbs((2, 3), [(0, 1)], np.zeros(5)), "'theta' argument",
      "6 cells of all tables", "shape (5,)")  # fmt: skip
entry("states of other variables", A, lambda w: Gibbs((2,), [], np.zeros(0)).run(np.zeros((1, 2), np.uint8), 1, 0),
      "'states' argument", "uint8", "start(n_chains, key)")  # fmt: skip
entry("diagnosing three draws", A, lambda w: effective_size([[1.0, 2.0, 3.0]]), "'values' argument",
      "at least 4 draws", "shape (1, 3)")  # fmt: skip

SAME = {"A": [0, 0, 1], "B": [0, 0, 1]}
EQUAL = [Factor((v, v + 1), np.eye(2)) for v in range(19)]

entry("Gibbs sampling across zeros", M, lambda w: sf.fit(sf.Ising("A:B"), SAME).model.sample(3, method="gibbs"),
      "'A', 'B' would have to change together", "method='exact'", "with a prior")  # fmt: skip
entry("Gibbs sampling among many zeros", M, lambda w: require_reachable(EQUAL, [f"x{v}" for v in range(20)]),
      "could not be decided", "'x0', 'x1', 'x2', 'x3' and 16 more", "method='exact'")  # fmt: skip
