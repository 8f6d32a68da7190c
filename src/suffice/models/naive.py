"""NaiveModel: p(y) Π p(x_d | y), each input with a distribution of its own given the class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.data.block import code_dtype
from suffice.data.labelled import LabelledTable
from suffice.data.matrix import matrix_of
from suffice.data.schema import Schema
from suffice.data.sparse_matrix import sparse_part
from suffice.data.variable import Variable
from suffice.errors import Made, ModelError, Remedy, UnknownNameError, listing, made, suggestion
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.class_model import ClassModel, Posteriors
from suffice.models.class_scoring import DiagonalScores, TableScores
from suffice.models.cpds import CPD, NodeFamily, kind_named
from suffice.models.cpds.linear_gaussian import LinearGaussianCPD
from suffice.models.cpds.tabular import TabularCPD
from suffice.models.naive_scores import BitScores, CountScores, codes_of, normal_form, table_form
from suffice.models.prediction import Prediction
from suffice.structures.dag import DAG
from suffice.structures.naive import Naive
from suffice.text import html_text, plain_tables, plural
from suffice.types import Array, Bools, Columns, Floats, Ints, Json

SHOWN_TABLES = 20
MORE = "model.cpd(name) shows one"

if TYPE_CHECKING:
    from suffice.models.softmax_model import SoftmaxModel
    from suffice.types import Entry

NEAR_ONE = 1e-9


@dataclass(frozen=True, eq=False)
class NaiveModel(ClassModel, Posteriors, Prediction):
    """Naive Bayes with its parameters.

    Attributes
    ----------
    structure : Naive
    target : Variable
        The class.
    inputs : tuple of Variable
    class_prior : array, shape (n_classes,)
    cpds : tuple of TabularCPD or LinearGaussianCPD
        p(x | y) of every input, in their order, columns of counts left out. Rows of NaN are unknown.
    counts : TabularCPD or None
        p(column | y) of the columns of counts: which of them a draw falls into.

    Notes
    -----
    A missing input is left out, which is to sum or integrate over it exactly. Counts must be complete in every row, as
    in training. Where `query` is given only some of them, they are judged given their total.

    Without a prior a state that was never seen with a class has the probability zero there. An input that cannot occur
    under any class has no posterior: `query` and `map` say so by an error, `log_posteriors_of` by NaN and `query_rows`
    by NaN and an evidence of −inf; nothing is smoothed unasked. A class that never occurred has unknown parameters, and
    with the probability zero it is never chosen.

    The likelihood of counts is that of the draws in some order: the multinomial coefficient, which depends on no
    parameter and on no class, is left out.

    Examples
    --------
    >>> import suffice as sf
    >>> data = {"free": ["no", "yes", "yes", "no"], "win": ["no", "no", "yes", "no"], "spam": [0, 1, 1, 0]}
    >>> model = sf.fit(Naive("spam", ["free", "win"]), data, prior=sf.Dirichlet(1.0)).model
    >>> print(model.query("spam", {"free": "yes", "win": "no"}))
    spam       p
    ----  ------
    0     0.3333
    1     0.6667
    >>> print(model.weights)
                spam
    term                0          1
    ----------  ---------  ---------
    free=no     -0.287682   -1.38629
    free=yes     -1.38629  -0.287682
    win=no      -0.287682  -0.693147
    win=yes      -1.38629  -0.693147
    (constant)  -0.693147  -0.693147
    """

    structure: Naive
    target: Variable
    inputs: tuple[Variable, ...]
    class_prior: Floats = field(repr=False)
    cpds: tuple[Any, ...] = field(repr=False)
    counts: TabularCPD | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        prior = np.array(self.class_prior, np.float64)
        if prior.shape != (self.target.n_states,) or not (prior >= 0).all() or not abs(prior.sum() - 1) <= NEAR_ONE:
            raise ModelError(
                f"The 'class_prior' of a naive Bayes model must be a probability for each of the classes "
                f"{listing(self.target.labels)}, which sum to one. Got {prior.tolist()} instead."
            )
        prior.flags.writeable = False
        object.__setattr__(self, "class_prior", prior)
        together = frozenset(self.count_columns)
        singles = [variable for variable in self.inputs if variable.name not in together]
        if [cpd.family for cpd in self.cpds] != [NodeFamily(variable, (self.target,)) for variable in singles]:
            raise ModelError(
                f"A naive Bayes model needs p(x | {self.target.name}) of every input, in their order. It has "
                f"{listing([cpd.family.scope for cpd in self.cpds])} for the inputs {listing(self.variables[:-1], 12)}."
            )

        if any(isinstance(cpd, LinearGaussianCPD) and cpd.degenerate for cpd in self.cpds):
            raise ModelError("The variances of a naive Bayes model must be above zero. Correct them.")

    # What it says ---------------------------------------------------------------------------------------------

    @cached_property
    def _by_name(self) -> dict[str, Any]:
        found: dict[str, Any] = {cpd.family.child.name: cpd for cpd in self.cpds}
        if self.counts is not None:
            found |= dict.fromkeys([*self.count_columns, self.counts.family.child.name], self.counts)
        found[self.target.name] = TabularCPD(NodeFamily(self.target), self.class_prior)
        return found

    @cached_property
    def count_columns(self) -> tuple[str, ...]:
        """The columns of counts."""
        return () if self.counts is None else tuple(str(label) for label in self.counts.family.child.labels)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the distributions: the class, the inputs, and that of all counts together."""
        together = () if self.counts is None else (self.counts.family.child.name,)
        return (self.target.name, *(cpd.family.child.name for cpd in self.cpds), *together)

    def cpd(self, name: str) -> Any:
        """Return p(x | y) of an input, or p(y); columns of counts share p(column | y)."""
        if not isinstance(name, str) or name not in self._by_name:
            raise UnknownNameError(
                f"There is no distribution of {name!r}. There are those of {listing(self.parts, 12)}."
                + suggestion(name, self._by_name)
            )
        return self._by_name[name]

    @cached_property
    def unknown(self) -> Bools:
        """The classes of which some parameters are unknown, because the data had no such case; shape (n_classes,)."""
        found = np.zeros(self.target.n_states, np.bool_)
        for cpd in (*self.cpds, *([] if self.counts is None else [self.counts])):
            found |= cpd.unknown if isinstance(cpd, LinearGaussianCPD) else np.isnan(cpd.values).any(axis=1)
        return found

    def __repr__(self) -> str:
        return f"NaiveModel({self.target.name} -> {plural(len(self.inputs), 'input')})"

    def __str__(self) -> str:
        return plain_tables((str(self._by_name[name]) for name in self.parts), len(self.parts), MORE)

    def _repr_html_(self) -> str:
        shown = [self._by_name[name]._repr_html_() for name in self.parts[:SHOWN_TABLES]]
        more = len(self.parts) - len(shown)
        return "".join([*shown, html_text(f"… {plural(more, 'more table')}; {MORE}") if more else ""])

    # What it computes -----------------------------------------------------------------------------------------

    @cached_property
    def _tables(self) -> tuple[tuple[str, ...], TableScores] | None:
        """The discrete inputs, and their scores."""
        tables = [cpd for cpd in self.cpds if isinstance(cpd, TabularCPD)]
        names = tuple(cpd.family.child.name for cpd in tables)
        return (names, table_form([cpd.values for cpd in tables])) if tables else None

    @cached_property
    def _bits(self) -> BitScores:
        """The scores of discrete inputs with two states each, for sparse matrices of codes."""
        return BitScores.of([cpd.values for cpd in self.cpds if isinstance(cpd, TabularCPD)])

    @cached_property
    def normals(self) -> tuple[tuple[str, ...], Floats, Floats]:
        """The normal inputs, their means and their variances, shape (n_classes, n_normals)."""
        normals = [cpd for cpd in self.cpds if isinstance(cpd, LinearGaussianCPD)]
        nothing = [np.zeros((self.target.n_states, 0))]
        mean = np.concatenate([*nothing, *(cpd.intercept[:, None] for cpd in normals)], axis=1)
        variance = np.concatenate([*nothing, *(cpd.variance[:, None] for cpd in normals)], axis=1)
        return tuple(cpd.family.child.name for cpd in normals), mean, variance

    @cached_property
    def _normals(self) -> DiagonalScores | None:
        names, mean, variance = self.normals
        return normal_form(mean, variance) if names else None

    @cached_property
    def _counts(self) -> CountScores | None:
        if self.counts is None:
            return None
        with np.errstate(divide="ignore"):
            return CountScores(self.count_columns, np.log(self.counts.values))

    @cached_property
    def _never(self) -> Bools:
        """The classes that never occurred; shape (n_classes,)."""
        never: Bools = self.unknown & (self.class_prior == 0)
        return never

    def log_likelihoods_of(self, columns: Columns, n_rows: int) -> Floats:
        """Return log p(x | y) of every row and class, missing inputs left out; shape (n_rows, K)."""
        parts = []
        if self._tables is not None:
            names, tables = self._tables
            stored = sparse_part(columns, names)
            scores_of_codes = tables.scores(codes_of(columns, names)) if stored is None else self._bits.scores(stored)
            parts.append(scores_of_codes)
        if self._normals is not None:
            with np.errstate(over="ignore"):  # a number that far off has the density zero
                parts.append(self._normals.scores(matrix_of(columns, self.normals[0], n_rows)))
        if self._counts is not None:
            parts.append(self._counts.scores(columns, n_rows))
        scores = parts[0]
        for part in parts[1:]:
            scores += part
        scores[:, self._never] = -np.inf
        return scores

    def _evidence(self, held: Mapping[str, Any]) -> dict[str, Array]:
        """Return the inputs of one case, counts that are not given left out."""
        absent = set(self.count_columns) - set(held)
        return {name: column for name, column in super()._evidence(held).items() if name not in absent}

    def refuse(self, columns: Columns, n_rows: int, start: int) -> None:
        """Refuse counts that are missing or negative, the first row being row ``start`` of a table."""
        if self._counts is not None:
            self._counts.refuse(columns, n_rows, start)

    def with_class_priors(self, class_prior: Any) -> Self:
        """Return the same model with other class probabilities: ``"uniform"`` or a mapping from classes to π."""
        found = super().with_class_priors(class_prior)
        bare = self.unknown & (found.class_prior > 0) & (self.class_prior == 0)
        if bare.any():
            normal = [isinstance(cpd, LinearGaussianCPD) for cpd in self.cpds] + [False] * (self.counts is not None)
            raise ModelError(
                f"The class {self.target.labels[int(np.argmax(bare))]!r} never occurred, so its parameters are unknown "
                "and its probability must be zero. Fit with ",
                Remedy("prior", prior_of(counted=not all(normal), normal=any(normal))),
                ".",
            )
        return found

    def draw_inputs(self, classes: Ints, stream: np.random.Generator) -> dict[str, Array]:
        """Draw inputs of given classes: a column of codes or numbers each."""
        if self.counts is not None:
            raise ModelError(
                f"The columns {listing(self.count_columns)} are counts of draws, and the model does not say how many "
                "draws a row has, so it cannot be sampled. Draw from cpd('column') as many as you want."
            )
        columns: dict[str, Array] = {self.target.name: classes.astype(code_dtype(self.target.n_states))}
        drawn = {cpd.family.child.name: cpd.sample(columns, stream.random(len(classes))) for cpd in self.cpds}
        return {variable.name: drawn[variable.name] for variable in self.inputs}

    # Other forms ----------------------------------------------------------------------------------------------

    @cached_property
    def network(self) -> BayesianNetwork:
        """The same distribution as a Bayesian network, in which the class is the parent of every input."""
        if self.counts is not None:
            raise ModelError(
                f"The columns {listing(self.count_columns)} are counts of draws, for which a network has no node. "
                "Ask the model itself: query, query_rows, map."
            )
        parents = {self.target.name: [], **{variable.name: [self.target.name] for variable in self.inputs}}
        return BayesianNetwork(DAG(parents), {node: self._by_name[node] for node in parents})

    @property
    def weights(self) -> LabelledTable:
        """The log-linear weights β of every term and class: log p(y, x) = Σ β · term.

        For a state log p(state | y), for a normal column those of x and x², for a count log p(column | y), and last the
        constant: log p(y), less what normalises normal columns.
        """
        from suffice.models.naive_weights import weight_table

        return weight_table(self)

    def to_softmax(self) -> SoftmaxModel:
        """Return p(y | x) as a softmax of a linear function of terms of x: states, x and x², counts.

        The squares of columns whose variance is the same in all classes cancel, and are left out.
        """
        from suffice.models.naive_weights import softmax_form

        return softmax_form(self)

    # Files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Return the model as JSON-able data."""
        return {
            "type": "NaiveModel",
            "structure": self.structure.to_dict(),
            "schema": self.schema.to_dict(),
            "class_prior": self.class_prior,
            "cpds": [{"kind": cpd.kind, **cpd.to_dict()} for cpd in self.cpds],
            "counts": None if self.counts is None else self.counts.to_dict(),
        }

    @classmethod
    def from_dict(cls, entry: Entry) -> NaiveModel:
        """Rebuild the model from `to_dict`'s data."""
        structure, schema = Naive.from_dict(entry["structure"]), Schema.from_dict(entry["schema"])
        target, inputs = schema[structure.target], tuple(schema[name] for name in structure.inputs)
        together = frozenset(structure.multinomial)
        singles = [variable for variable in inputs if variable.name not in together]
        cpds: list[CPD] = []
        for variable, cpd in zip(singles, entry["cpds"], strict=True):
            cpds.append(kind_named(cpd["kind"]).cpd_type.from_dict(NodeFamily(variable, (target,)), cpd))
        counts = entry["counts"] and TabularCPD.from_dict(count_family(structure, schema), entry["counts"])
        return cls(structure, target, inputs, np.array(entry["class_prior"], np.float64), tuple(cpds), counts)


def count_family(structure: Naive, schema: Schema) -> NodeFamily:
    """Return the family of p(column | y): the column that a draw falls into, given the class."""
    return NodeFamily(Variable(structure.column_name, structure.multinomial, True), (schema[structure.target],))


def prior_of(*, counted: bool, normal: bool) -> Made | list[Made]:
    """Return the priors that states and counts, and normal columns, may have.

    >>> prior_of(counted=True, normal=False)
    sf.Dirichlet(1.0)
    """
    found = [made("Dirichlet", 1.0)] * counted + [made("NormalInverseGamma", 2, 1.0)] * normal
    return found[0] if len(found) == 1 else found
