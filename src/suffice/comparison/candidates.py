"""Candidates: the models that are compared, each with its own settings, on the same rows of the same variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from suffice.data.block import Block, Table
from suffice.data.schema import Schema
from suffice.errors import ArgumentError, Remedy, SufficeError, Text, listing, made, require_mapping, shown, suggestion
from suffice.families.choice import choose, methods_for
from suffice.learn.method import Method, Problem, Solution
from suffice.opening import EM, source_over
from suffice.priors.binding import one_prior
from suffice.progress import Watch
from suffice.result.fit import Fit
from suffice.result.goodness import INEXACT
from suffice.settings import one_blas_thread
from suffice.solving import checked_settings, finish
from suffice.stats.needs import Count, Need
from suffice.stats.source import BlockSource, Source
from suffice.stats.statistics import Statistics
from suffice.structures.structure import Structure

OWN = (
    *("prior", "point", "method", "unseen_parents", "fixed", "init", "tol", "max_iter", "seed", "restarts"),
    "options",
)
"""What a model may set for itself; how the table is read is the same for all."""
EXAMPLE = "{'chain': sf.DAG('A -> B'), 'free': sf.DAG('A; B')}"


Keywords: TypeAlias = "Mapping[str, Any]"
"""Keywords of `suffice.fit`, of many types."""
View: TypeAlias = "tuple[tuple[tuple[str, int], ...], Callable[[Block], None] | None]"
"""The latent variables that a source adds, and how it checks rows."""


@dataclass(frozen=True, eq=False)
class GivenModel:
    """One of the models as it was given.

    Attributes
    ----------
    name : str
    structure : Structure
    settings : dict
        Keywords of `suffice.fit`.
    fit : Fit or None
        Where a fit was given: what comes out must agree with it.
    """

    name: str
    structure: Structure
    settings: Keywords
    fit: Fit | None = None

    @property
    def outputs(self) -> frozenset[str]:
        """The variables whose probability the model gives."""
        return frozenset(self.structure.columns).difference(self.structure.given)


def entries_of(models: object, common: Keywords) -> list[GivenModel]:
    """Read ``{"name": structure, fit or {"structure": …, "prior": …}}``."""
    given = require_mapping("models", models, EXAMPLE)
    if not given:
        raise ArgumentError(f"The 'models' argument must hold at least one model, such as {EXAMPLE}. It is empty.")
    return [_entry(name, model, common) for name, model in given.items()]


def _entry(name: object, model: Structure | Fit | Mapping[str, Any], common: Keywords) -> GivenModel:
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"The name of a model must be text, and not empty. Got {shown(name)} instead.")
    settings, given = dict(common), model
    if isinstance(model, Mapping):
        own = dict(model)
        if "structure" not in own:
            raise ArgumentError(
                f"The model {name!r} has no 'structure'. Write {{'structure': sf.DAG('A -> B'), 'prior': sf.BDeu(1)}}."
            )
        given = own.pop("structure")
        for setting in own:
            if setting not in OWN:
                raise ArgumentError(
                    f"The model {name!r} has no setting {setting!r}. Its own settings may be {listing(OWN, 12)}; how "
                    f"the table is read is said once, for all models.{suggestion(setting, OWN)}"
                )
        settings |= own
    fit = given if isinstance(given, Fit) else None
    structure: Any = given if fit is None else fit.structure  # what is no structure is refused below
    if fit is not None:
        settings |= {
            "prior": fit.prior,
            "point": fit.point if fit.prior is not None else None,
            "method": fit.method,
        }
    try:
        methods_for(structure)
    except ArgumentError as error:
        raise ArgumentError(f"The model {name!r} is neither a structure nor a fit. ", error.message) from None
    return GivenModel(name, structure, settings, fit)


def require_comparable(entries: list[GivenModel]) -> None:
    """Refuse models of other variables: the likelihood of one thing says nothing about that of another."""
    first = entries[0]
    for other in entries[1:]:
        if other.outputs != first.outputs:
            mine, theirs = sorted(first.outputs - other.outputs), sorted(other.outputs - first.outputs)
            said = [
                f"{listing(names)} {'is' if len(names) == 1 else 'are'} in {name!r} only"
                for names, name in ((mine, first.name), (theirs, other.name))
                if names
            ]
            raise ArgumentError(
                f"The models {first.name!r} and {other.name!r} are of different variables: {'; '.join(said)}. "
                "Likelihoods can be compared where they are of the same variables. Add those that a model lacks, if "
                "need be as nodes or cliques by themselves."
            )


def require_probabilities(candidates: list[Candidate], schema: Schema) -> None:
    """Refuse models that count the states of a variable of which others have a density."""
    for candidate in candidates:
        counted = (name for need in candidate.needs if isinstance(need, Count) for name in need.scope)
        for name in counted:
            if name in schema and not schema[name].is_discrete:
                others = [other.name for other in candidates if name in other.structure.continuous]
                because = f", since {listing(others)} {'has' if len(others) == 1 else 'have'} a density of it"
                raise ArgumentError(
                    f"The model {candidate.name!r} counts the states of {name!r}, which is continuous here"
                    f"{because if others else ''}. Densities and probabilities cannot be compared: make the variable "
                    "discrete for all models, ",
                    Remedy("schema", {name: made("categorical")}),
                    ", or continuous for all.",
                )


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model whose method is chosen, and whose settings are checked.

    Attributes
    ----------
    entry : GivenModel
    method_name : str
    method : Method
    settings : dict
        As `suffice.solving.checked_settings` returns them.
    missing : str
        The policy for gaps.
    needs : tuple of Need
    """

    entry: GivenModel
    method_name: str
    method: Method[Structure]
    settings: Keywords
    missing: str
    needs: tuple[Need, ...]

    @classmethod
    def of(cls, entry: GivenModel, schema: Schema, missing: str) -> Candidate:
        """Choose the method, and check everything that does not depend on the rows."""
        structure, settings = entry.structure, dict(entry.settings)
        settings["prior"] = one_prior(settings["prior"])
        wanted, prior, point = settings.pop("method"), settings["prior"], settings["point"]
        over = Schema(tuple(schema[name] for name in structure.columns))
        known = source_over(structure, _Known(over), Watch(), missing).schema
        try:
            name, method = choose(structure, wanted, known, prior=prior, point=point, gaps=missing == EM)
            if name in INEXACT:
                raise ArgumentError(
                    f"The method {name!r} knows no likelihood that could be compared. Use an exact method, such as "
                    "'auto'."
                )
            checked = checked_settings(structure, name, method, checkpoint=None, certify="statistics", **settings)
            return cls(entry, name, method, checked, missing, method.needs(structure, known))
        except SufficeError as error:
            raise about(error, f"Model {entry.name!r}") from None

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.entry.name

    @property
    def structure(self) -> Structure:
        """What is known before the data."""
        return self.entry.structure

    @property
    def observed(self) -> bool:
        """Whether rows lack values that are summed out."""
        return self.method.incomplete

    @property
    def view(self) -> View:
        """What the model's source does to a table; models with the same view share one."""
        return self.structure.latent, self.structure.check_rows if self.structure.checks_rows else None

    def over(self, table: Table, watch: Watch | None = None) -> BlockSource:
        """Return the model's source over a table."""
        return source_over(self.structure, table, watch or Watch(), self.missing)

    def statistics(self, shared: Statistics) -> Statistics:
        """Return the model's own part of what was collected for several."""
        names = [*self.structure.columns, *dict(self.structure.latent)]
        return replace(shared, schema=shared.schema.select(names), items_={need: shared[need] for need in self.needs})

    def fitted(self, shared: Statistics, source: Source, watch: Watch) -> Fit:
        """Fit all rows, with a certificate."""
        settings, statistics = dict(self.settings), self.statistics(shared)
        try:
            fit = finish(self.structure, statistics, source, self.method_name, self.method, watch, settings)
        except SufficeError as error:
            raise about(error, f"Model {self.name!r}") from None
        given = self.entry.fit
        if given is not None and not _agree(given, fit):
            raise ArgumentError(
                f"The fit {self.name!r} is not of these rows, or has settings that a fit does not keep: its "
                f"log-likelihood is {given.log_likelihood:.10g}, and {fit.log_likelihood:.10g} when fitted here. "
                "Pass its structure, with its settings: {'structure': …, 'fixed': …}."
            )
        return fit

    def trained(self, shared: Statistics, source: Source, where: str) -> Solution:
        """Fit the other folds, without a certificate.

        Parent configurations that only the held-out fold has are unknown (NaN) for now: they matter only if such a
        row is to be scored.
        """
        settings = {name: value for name, value in self.settings.items() if name != "certify"}
        if settings["unseen_parents"] == "error":
            settings["unseen_parents"] = "nan"
        problem = Problem(self.structure, self.statistics(shared), source=source, **settings)
        try:
            with one_blas_thread():
                return self.method.solve(problem)
        except SufficeError as error:
            end = Text("Use fewer folds or a prior, or leave cross-validation out by ", Remedy("folds", None), ".")
            raise about(error, f"Model {self.name!r}, {where}", end) from None


def about(error: SufficeError, where: str, end: str = "") -> SufficeError:
    """Return the same error, which says of which model it is."""
    return type(error)(Text(f"{where}: ", error.message, f"{' ' * bool(end)}{end}"))


def _agree(given: Fit, found: Fit) -> bool:
    near = abs(given.log_likelihood - found.log_likelihood) <= 1e-6 * (1 + abs(found.log_likelihood))
    return given.n == found.n and (near or given.log_likelihood == found.log_likelihood)


@dataclass(frozen=True)
class _Known:
    """A table of which nothing but the schema is asked."""

    schema: Schema
