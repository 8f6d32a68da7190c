"""Family: all that the library knows about one kind of structure, in one record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from suffice.learn.method import Method
from suffice.models.model import M
from suffice.structures.structure import S
from suffice.types import Json

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice.certify.certificate import Certificate
    from suffice.certify.claim import Claim
    from suffice.certify.observed_discrete import Observed
    from suffice.checking.questions import Claims
    from suffice.data.schema import Schema
    from suffice.report.page.entries import ReportParts
    from suffice.report.static_graph import Drawing
    from suffice.result.fit import Fit
    from suffice.result.goodness import Goodness
    from suffice.stats.statistics import Statistics

Facts = Mapping[str, Json]
"""What ``suffice info`` shows, by name."""


@dataclass(frozen=True)
class Plot:
    """One plot of a report: what it shows, and what draws it from a fit.

    ``draw`` returns axes, or a caption of its own with them, or None where the plot does not suit a fit.
    """

    caption: str
    draw: Callable[[Fit], Axes | tuple[str, Axes] | None]


@dataclass(frozen=True)
class ModelEntry:
    """What is known of one type of model.

    Attributes
    ----------
    name : str
        The name of its class, which files give it.
    title : str
        What it is, in a few words.
    load : callable
        Returns the class.
    parts : callable
        From a model, and its fit or None, to what a report shows of it.
    plots : callable
        Returns the plots of a report, few and telling.
    describe : callable or None
        The facts that ``suffice info`` shows of a model; None to show those of its structure.
    structure_of : callable or None
        From a model and the structure that its file names to the structure that it is of; None for types of models
        that the library's own JSON does not hold.
    draw : callable or None
        From a model to the graph that a notebook shows; None for models without a graph.
    conditional : bool
        Whether its likelihood is that of some variables given inputs.
    subject : callable or None
        Says what a model is of, in a few words; None to name its variables.
    """

    name: str
    title: str
    load: Callable[[], type[Any]]
    parts: Callable[[Any, Fit | None], ReportParts]
    plots: Callable[[], tuple[Plot, ...]] = tuple
    describe: Callable[[Any], Facts] | None = None
    structure_of: Callable[[Any, Any], object] | None = None
    draw: Callable[[Any], Drawing] | None = None
    conditional: bool = False
    subject: Callable[[Any], str] | None = None


@dataclass(frozen=True)
class StructureForm(Generic[S]):
    """How a structure is read from files.

    Attributes
    ----------
    read : callable
        Rebuilds it from the data of its ``to_dict``.
    make : callable or None
        Makes it from the entries of a structure file; None where such files do not describe it.
    needs, takes : tuple of str
        The entries of which such a file needs one, and those that it may have.
    said : str
        What it is, with its article.
    """

    read: Callable[[Mapping[str, Any]], S]
    make: Callable[..., S] | None = None
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True)
class PosteriorForm:
    """How one type of posterior is written in a file, and read back given the rest of its fit."""

    type: type[Any]
    write: Callable[[Any], Mapping[str, Any]]
    read: Callable[[Mapping[str, Any], Any], Any]


@dataclass(frozen=True)
class Family(Generic[S, M]):
    """One family: its structures, how they are learnt, and how the result is certified.

    A record is small. Its callables import what they need when they are called, so that a family's modules are loaded
    when it is used, and those of other families are not.

    Attributes
    ----------
    structures : tuple of type
        The structures of the family; a subclass belongs to the family of its nearest base class.
    methods : callable
        Returns the methods by name, the preferred ones first.
    certify : callable
        From a claim to its certificate, by a path that the methods do not use.
    measure_observed : callable or None
        From a claim about incomplete rows to the observed likelihood with its gradient; None where no method learns
        from such rows.
    models : tuple of ModelEntry
        The types of models that are the family's own.
    files : callable
        Returns how structures are read from files, by the name of their type.
    posteriors : callable
        Returns how posteriors are written in files and read, by the name that files give them.
    result : callable or None
        Returns the type of its fits, a subclass of `Fit` with what only they have; None for `Fit` itself.
    goodness : callable or None
        From a fit and statistics to its goodness of fit; None without a saturated model to compare with.
    claims : callable or None
        ``claims(structure, schema, most)`` returns the independences that a structure implies, for `suffice.check`.
    describe : callable
        The facts that ``suffice info`` shows of a structure, beside its type.
    measure : callable
        ``measure(structure, schema)`` returns those that follow from the variables of a table, such as the number of
        free parameters.
    """

    structures: tuple[type[S], ...]
    methods: Callable[[], Mapping[str, Method[S, M]]]
    certify: Callable[[Claim[S, M]], Certificate]
    measure_observed: Callable[[Claim[S, M]], Observed] | None = None
    models: tuple[ModelEntry, ...] = ()
    files: Callable[[], Mapping[str, StructureForm[S]]] = dict
    posteriors: Callable[[], Mapping[str, PosteriorForm]] = dict
    result: Callable[[], type[Fit[M]]] | None = None
    goodness: Callable[[Fit[M, S], Statistics], Goodness] | None = None
    claims: Callable[[S, Schema, int], Claims] | None = None
    describe: Callable[[S], Facts] = lambda structure: {}
    measure: Callable[[S, Schema], Facts] = lambda structure, schema: {}
