"""ClassGaussianModel: classes whose inputs are normal, or Student's t where the parameters were integrated out.

Parameters    π(y), and of every class a mean and a covariance in the form of its kind     class_prior, means, spread
Asking        p(y | x); inputs that are missing are integrated out exactly                 `ClassModel`
Sampling      a class, and then its inputs                                                 `draw_inputs`
Forms         a softmax of linear or quadratic terms; Fisher's directions                  `to_softmax`, `discriminants`
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.labelled import LabelledTable
from suffice.data.matrix import matrix_of
from suffice.data.schema import Schema
from suffice.data.variable import Variable
from suffice.errors import DataError, ModelError, Passed, is_number, require_choice, shown
from suffice.models.class_gaussian_scores import Densities, Scorer, scores_with_gaps
from suffice.models.class_model import RULES, ClassModel, Posteriors, log_normalised
from suffice.models.class_scoring import LinearScores
from suffice.models.joint_normal import JointNormal
from suffice.models.multivariate_t import MultivariateT
from suffice.models.prediction import Prediction
from suffice.structures.class_gaussian import ClassGaussian
from suffice.text import html_table, number, plain_table, plural
from suffice.types import Array, Bools, Columns, Floats, Ints, Json

if TYPE_CHECKING:
    from suffice.models.class_gaussian_forms import Discriminants
    from suffice.models.softmax_model import SoftmaxModel
    from suffice.types import Entry

NEAR_ONE = 1e-6
SHOWN_INPUTS, WIDEST = 8, 100
"""Inputs that are shown, and characters of a line."""


@dataclass(frozen=True, eq=False)
class ClassGaussianModel(ClassModel, Posteriors, Prediction):
    """p(y) p(x | y) with normal inputs.

    Attributes
    ----------
    structure : ClassGaussian
        What was known before the data; it says which form ``spread`` has.
    target : Variable
    inputs : tuple of Variable
    class_prior : array, shape (K,)
        π(y).
    means : array, shape (K, d)
        NaN of a class without rows, which is unknown and has no probability.
    spread : array
        Covariances: shape (K, d, d) for full and sparse ones, (1, d, d) tied, (K, d) or (1, d) diagonal, (K, 1) or
        (1, 1) spherical. With ``dof`` these are scales, of every class. NaN of unknown classes, unless tied.
    n : float
        Total weight of the rows that were learnt from.
    precisions : array, shape (K, d, d), or None
        The inverses of sparse covariances, with exact zeros.
    dof : array, shape (K,), or None
        Degrees of freedom of Student's t.
    shrinkage : array, shape (K,) or (1,), or None
        ρ of every covariance.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"y": ["a"] * 3 + ["b"] * 3, "x": [1.0, 2, 3, 5, 6, 7]}
    >>> model = sf.fit(ClassGaussian("y", ["x"], covariance="tied"), data).model
    >>> print(model.query("y", given={"x": 4.5}))
    y       p
    -  ------
    a  0.0474
    b  0.9526
    >>> print(model)
    y    p  mean of x   sd of x
    -  ---  ---------  --------
    a  0.5          2  0.816497
    b  0.5          6  0.816497
    normal inputs, covariance tied
    """

    structure: ClassGaussian
    target: Variable
    inputs: tuple[Variable, ...]
    class_prior: Floats
    means: Floats = field(repr=False)
    spread: Floats = field(repr=False)
    n: float
    precisions: Floats | None = field(default=None, repr=False)
    dof: Floats | None = field(default=None, repr=False)
    shrinkage: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        k, d = self.target.n_states, len(self.inputs)
        shared = 1 if self.structure.is_tied and not self.structure.bayes else k
        form = {"matrix": (d, d), "diagonal": (d,), "spherical": (1,)}[self.structure.form]
        self._keep("class_prior", self.class_prior, (k,))
        self._keep("means", self.means, (k, d))
        self._keep("spread", self.spread, (shared, *form))
        if self.precisions is not None:
            self._keep("precisions", self.precisions, (k, d, d))
        if self.dof is not None:
            self._keep("dof", self.dof, (k,))
        if self.shrinkage is not None:
            self._keep("shrinkage", self.shrinkage, (shared,))
        self._check()

    def _keep(self, name: str, given: Floats, shape: tuple[int, ...]) -> None:
        array = np.array(given, np.float64, order="C")
        if array.shape != shape:
            raise ModelError(f"The {name!r} of this classifier must have the shape {shape}. Got {array.shape} instead.")
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    def _check(self) -> None:
        if not (self.class_prior >= 0).all() or abs(float(self.class_prior.sum()) - 1) > NEAR_ONE:
            raise ModelError(
                f"The class probabilities {self.class_prior.tolist()} are not a distribution: they must not be "
                "negative and must sum to 1."
            )
        if not is_number(self.n) or not 0 < self.n < float("inf"):
            raise ModelError(f"The number of rows 'n' must be positive. Got {shown(self.n)} instead.")
        known = ~self.unknown
        if (self.dof is None) == self.structure.bayes or (self.dof is not None and not (self.dof[known] > 0).all()):
            raise ModelError(
                "The degrees of freedom are for classifiers with ",
                Passed("bayes", True),
                f", and positive there. Got {self.dof}.",
            )
        if (self.class_prior[~known] > 0).any():
            label = self.target.labels[int(np.argmax(~known & (self.class_prior > 0)))]
            raise ModelError(
                f"Class {label!r} of {self.target.name!r} had no rows, so that its inputs are unknown and it cannot "
                "have a probability. Give it none, or fit with rows of it."
            )
        spread = self.spread if len(self.spread) < len(known) else self.spread[known]
        try:
            proper = np.isfinite(self.means[known]).all() and np.isfinite(spread).all()
            if self.structure.form == "matrix":
                np.linalg.cholesky(spread)
            elif not (spread > 0).all():
                proper = np.False_
        except np.linalg.LinAlgError:
            proper = np.False_
        if not proper:
            raise ModelError(
                "The means of a classifier's inputs must be finite, and their covariances positive definite. Got "
                f"{shown(self.spread.tolist())} as covariances."
            )

    # What it says ---------------------------------------------------------------------------------------------

    @cached_property
    def unknown(self) -> Bools:
        """The classes that had no rows; shape (K,)."""
        return np.asarray(np.isnan(self.means).all(axis=1))

    def _known(self, label: Any) -> int:
        """Return the code of a class that had rows."""
        code = self.target.code(label)
        if self.unknown[code]:
            raise ModelError(
                f"Class {label!r} of {self.target.name!r} had no rows, so that the distribution of its inputs is "
                "unknown. Ask for another class."
            )
        return code

    @property
    def mean(self) -> LabelledTable:
        """The means of the inputs by class, as a labelled table."""
        return LabelledTable((self.target, Variable("input", self.variables[:-1])), self.means, "mean")

    def _matrix(self, code: int) -> Floats:
        """Return the covariance or scale matrix of a class; shape (d, d)."""
        mine = self.spread[code if len(self.spread) > 1 else 0]
        return mine if mine.ndim == 2 else np.diag(np.broadcast_to(mine, len(self.inputs)))

    def covariance(self, label: Any) -> Floats:
        """Return the covariance matrix of the inputs in a class, in their order; shape (d, d).

        That of Student's t exists for more than two degrees of freedom.
        """
        code = self._known(label)
        if self.dof is None:
            return np.array(self._matrix(code))
        if not self.dof[code] > 2:
            raise ModelError(
                f"Student's t of class {label!r} has {self.dof[code]:g} degrees of freedom, and no covariance matrix "
                "unless there are more than 2. Use model.spread, or collect more rows."
            )
        return np.asarray(self._matrix(code) * self.dof[code] / (self.dof[code] - 2), np.float64)

    def precision(self, label: Any) -> Floats:
        """Return the inverse of the covariance matrix of a class, with exact zeros where it is sparse; shape (d, d)."""
        if self.precisions is not None:
            return np.array(self.precisions[self._known(label)])
        names, centre = self.variables[:-1], np.zeros(len(self.inputs))
        return np.array(JointNormal(names, centre, covariance=self.covariance(label)).precision)

    def given(self, label: Any) -> JointNormal | MultivariateT:
        """Return the distribution of the inputs in a class; under ``bayes=True`` not for diagonal forms."""
        code, names = self._known(label), self.variables[:-1]
        if self.dof is None:
            if self.precisions is not None:
                return JointNormal(names, self.means[code], precision=self.precisions[code])
            return JointNormal(names, self.means[code], covariance=self._matrix(code))
        if self.structure.form == "diagonal" and len(names) > 1:
            raise ModelError(
                "With diagonal covariances and ",
                Passed("bayes", True),
                " every input has a Student's t of its own, and they have no "
                "joint one. Use model.means, model.spread and model.dof.",
            )
        return MultivariateT(names, self.means[code], self._matrix(code), float(self.dof[code]))

    @cached_property
    def discriminants(self) -> Discriminants:
        """Fisher's directions, for one covariance matrix of all classes (linear discriminant analysis)."""
        from suffice.models.class_gaussian_forms import discriminants

        return discriminants(self)

    # What it computes -----------------------------------------------------------------------------------------

    @cached_property
    def _densities(self) -> Densities:
        """The densities of the classes that are known."""
        known = ~self.unknown
        spread = self.spread if len(self.spread) < len(known) else self.spread[known]
        return Densities(self.structure.form, self.means[known], spread, None if self.dof is None else self.dof[known])

    @cached_property
    def _scorer(self) -> Scorer:
        return self._densities.scorer()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_scorer"}

    @cached_property
    def _linear(self) -> LinearScores | None:
        """The scores less what all classes share, where that makes them linear."""
        return self._densities.linear() if self.structure.is_tied and self.dof is None else None

    def log_likelihoods_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(x | y) of every row and class, missing inputs integrated out; shape (n_rows, K).

        −inf throughout where a class is unknown.
        """
        return self._scored(self._scorer, columns, n_rows)

    def refuse(self, columns: Columns, n_rows: int, start: int) -> None:
        """Refuse rows that `log_likelihoods_of` refuses, the first of them being row ``start`` of a table."""
        self._scored(self._scorer, columns, n_rows, start)

    def _scored(self, scorer: Scorer, columns: Columns, n_rows: int, start: int = 0) -> Floats:
        x = matrix_of(columns, self.variables[:-1], n_rows)
        with np.errstate(invalid="ignore", over="ignore"):
            found = scorer(x)
            if not np.isfinite(found.sum()):  # which takes far less time than a look at every row
                odd = np.flatnonzero(~np.isfinite(found.sum(axis=1)))
                rows = np.asarray(x[odd], np.float64)
                self._require_finite(rows, odd + start)
                found[odd] = scores_with_gaps(self._densities, rows)
        if not self.unknown.any():
            return found
        of_all = np.full((n_rows, self.target.n_states), -np.inf)
        of_all[:, ~self.unknown] = found
        return of_all

    def _require_finite(self, rows: Floats, places: NDArray[np.intp]) -> None:
        infinite = np.argwhere(np.isinf(rows))
        if len(infinite):
            row, column = infinite[0]
            raise DataError(
                f"Column {self.inputs[column].name!r}, row {places[row] + 1}: {rows[row, column]} is no number that a "
                "normal distribution can have. Correct it, or make it missing."
            )

    def scores_of(self, columns: Columns, n_rows: int, rule: str = "map") -> Floats:
        """Return scores of which the largest wins: log p(y, x) or log p(x | y), less what all classes share."""
        require_choice("rule", rule, RULES)
        if self._linear is None:
            return super().scores_of(columns, n_rows, rule)
        scores = self._scored(self._linear.scores, columns, n_rows)
        return scores if rule == "ml" else scores + self.log_prior

    def log_posteriors_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(y | x) of every row; shape (n_rows, K)."""
        return log_normalised(self.scores_of(columns, n_rows))

    def draw_inputs(self, classes: Ints, stream: np.random.Generator) -> dict[str, Array]:
        """Draw inputs of given classes."""
        n, d = len(classes), len(self.inputs)
        found = stream.standard_normal((n, d))
        for code in np.unique(classes).tolist():
            mine = classes == code
            found[mine] = self._drawn_of(code, found[mine], stream)
        return dict(zip(self.variables[:-1], np.ascontiguousarray(found.T), strict=True))

    def _drawn_of(self, code: int, normal: Floats, stream: np.random.Generator) -> Floats:
        matrix = self._matrix(code)
        roots = np.sqrt(np.diag(matrix))
        rows = normal @ np.linalg.cholesky(matrix / roots[:, None] / roots).T * roots
        if self.dof is not None:
            own = len(self.inputs) if self.structure.form == "diagonal" else 1
            rows = rows / np.sqrt(stream.chisquare(self.dof[code], (len(rows), own)) / self.dof[code])
        return np.asarray(self.means[code] + rows, np.float64)

    def to_softmax(self) -> SoftmaxModel:
        """Return p(y | x) as a softmax: linear in x where classes share their covariance, else quadratic."""
        from suffice.models.class_gaussian_forms import to_softmax

        return to_softmax(self)

    # Rendering and files --------------------------------------------------------------------------------------

    @property
    def parts(self) -> tuple[str, ...]:
        """What the log-likelihood consists of."""
        return ("classes", "inputs")

    @cached_property
    def _n_shown(self) -> int:
        """How many inputs a table has room for."""
        for n_shown in range(min(SHOWN_INPUTS, len(self.inputs)), 1, -1):
            if len(plain_table(*self._cells_of(n_shown)).partition("\n")[0]) <= WIDEST:
                return n_shown
        return 1

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        return self._cells_of(self._n_shown)

    def _cells_of(self, n_shown: int) -> tuple[list[str], list[list[str]], str]:
        names = self.variables[:-1][:n_shown]
        few = n_shown == len(self.inputs) <= SHOWN_INPUTS // 2
        header = [self.target.name, "p", *(f"mean of {name}" for name in names)]
        rows = []
        what = "sd" if self.dof is None else "scale"
        for code, label in enumerate(self.target.labels):
            numbers = self.means[code, : len(names)].tolist()
            numbers += np.sqrt(np.diag(self._matrix(code))).tolist() if few else []
            shown_as = [number(None if np.isnan(value) else value) for value in numbers]
            rows.append([str(label), number(float(self.class_prior[code])), *shown_as])
        header += [f"{what} of {name}" for name in names] if few else []
        return header, rows, "<" + ">" * (len(header) - 1)

    @property
    def _caption(self) -> str:
        rest = len(self.inputs) - self._n_shown
        more = f"; {plural(rest, 'further input')} not shown" if rest > 0 else ""
        kind = "normal inputs" if self.dof is None else "inputs of Student's t"
        return f"{kind}, covariance {self.structure.covariance.replace('_', ' ')}{more}"

    def __repr__(self) -> str:
        k = self.target.n_states
        sizes = f"{k} {'class' if k == 1 else 'classes'}, {plural(len(self.inputs), 'input')}"
        return f"ClassGaussianModel({self.target.name!r}, {sizes}, {self.structure.covariance})"

    def __str__(self) -> str:
        return f"{plain_table(*self._cells())}\n{self._caption}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=self._caption)

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {
            "type": "ClassGaussianModel",
            "structure": self.structure.to_dict(),
            "schema": self.schema.to_dict(),
            "class_prior": self.class_prior,
            "means": self.means,
            "spread": self.spread,
            "n": self.n,
            "precisions": self.precisions,
            "dof": self.dof,
            "shrinkage": self.shrinkage,
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> ClassGaussianModel:
        """Rebuild the model from `to_dict`'s data."""
        *inputs, target = Schema.from_dict(entry["schema"]).variables
        arrays = ("class_prior", "means", "spread", "n", "precisions", "dof", "shrinkage")
        return cls(
            ClassGaussian.from_dict(entry["structure"]), target, tuple(inputs), *(entry[name] for name in arrays)
        )
