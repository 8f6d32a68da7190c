"""The graphical lasso, column by column: each is a lasso regression on the others, by coordinate descent.

======  =========================================================
S, A    covariance matrix and penalties, d × d; A is zero on the diagonal
W       the model's covariance matrix, whose diagonal is that of S
B       row j: coefficients of the regression of column j on the others, zero at j
======  =========================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.kernels.jit import kernel


@kernel
def _regress(s: Any, penalty: Any, w: Any, own: Any, fitted: Any, j: int, tol: float, most: int) -> None:
    """Minimise ½ βᵀ W β − βᵀ s_j + Σ A_ij |β_i| over β with β_j = 0, from where it is; ``fitted`` becomes W β."""
    d = len(s)
    for i in range(d):
        fitted[i] = 0.0
    for t in range(d):
        if own[t] != 0.0:
            for i in range(d):
                fitted[i] += own[t] * w[t, i]
    for _ in range(most):
        largest = 0.0
        for i in range(d):
            if i == j:
                continue
            aim = s[i, j] - fitted[i] + w[i, i] * own[i]
            value = max(abs(aim) - penalty[i, j], 0.0) / w[i, i]
            change = (value if aim > 0 else -value) - own[i]
            if change != 0.0:
                own[i] += change
                for t in range(d):
                    fitted[t] += change * w[i, t]
                largest = max(largest, abs(change) * w[i, i])
        if largest <= tol:
            return


@kernel
def sweep_columns(s: Any, penalty: Any, w: Any, b: Any, sweeps: int, most: int, tol: float) -> float:
    """Regress every column on the others until W moves by at most ``tol``; return by how much it moved last.

    W and B are changed in place. ``most`` limits the passes of one regression.
    """
    d = len(s)
    fitted = np.empty(d)
    moved = 0.0
    for _ in range(sweeps):
        moved = 0.0
        for j in range(d):
            _regress(s, penalty, w, b[j], fitted, j, tol, most)
            for i in range(d):
                if i != j:
                    moved = max(moved, abs(w[i, j] - fitted[i]))
                    w[i, j] = w[j, i] = fitted[i]
        if moved <= tol:
            break
    return moved
