"""What there is to say about a fit or a model: one function a section, and all of it plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias, Unpack

from suffice.errors import ArgumentError, listing, shown
from suffice.families import each_model, entry_of
from suffice.io.chain_file import ChainFile, Proof
from suffice.io.graph_file import GraphFile
from suffice.learn.family import ModelEntry
from suffice.models.model import Model
from suffice.report.page.entries import Entry, ReportParts, table_from
from suffice.report.page.scores import DataScore, ReadingOptions, score
from suffice.result.fit import Fit
from suffice.result.summary import estimate_of, facts
from suffice.stats.missing import missing_by_variable
from suffice.text import fixed, number, plural, shorten
from suffice.types import TableLike
from suffice.version import __version__

Reported: TypeAlias = Fit | Model | ChainFile | GraphFile
"""What a report is of."""
LONGEST_STRUCTURE = 300  # characters of a structure's text
NO_CERTIFICATE = (
    "This is a model without a fit: the file says nothing of how it was estimated, so that there is no certificate. "
    "Report a whole fit to have one."
)

VERDICT_ALONE = (
    "The file has kept the verdict on the fit, and not the measurements behind it. A report of the fit itself shows "
    "them: fit_.report(path) of the estimator."
)


@dataclass(frozen=True)
class Content:
    """All that a page shows.

    Attributes
    ----------
    title, subtitle : str
    facts : list of (str, str)
        What was fitted from what.
    model : model
    fit : Fit or None
    proof : Proof or None
        What a file of a model says of its fit.
    parts : ReportParts
    families : list of (str, float, int)
        The parts of the log-likelihood: name, value, and the entry it belongs to or −1.
    n : float
        The weight of the rows behind them.
    notes : list of (str, str)
        Topic and text.
    variables : list of list of str
    missing : list of (str, float)
        Variables with the weight of the rows that lack them, of a fit to incomplete rows.
    name : str
        The name of the model's file, as in a command.
    """

    title: str
    subtitle: str
    facts: list[tuple[str, str]]
    model: Model
    fit: Fit | None
    parts: ReportParts
    families: list[tuple[str, float, int]] = field(default_factory=list)
    n: float = 0.0
    notes: list[tuple[str, str]] = field(default_factory=list)
    variables: list[list[str]] = field(default_factory=list)
    proof: Proof | None = None
    missing: list[tuple[str, float]] = field(default_factory=list)
    name: str = "model.json"


def content_of(
    thing: Reported, data: TableLike | None = None, title: str | None = None, **policies: Unpack[ReadingOptions]
) -> Content:
    """Return what a report of a fit, or of a model alone, shows.

    Parameters
    ----------
    thing : Fit, model, ChainFile or GraphFile
    data : table, optional
        Rows to score under the model.
    title : str, optional
    **policies
        Of reading the data: ``weights``, ``missing``, ``unknown_states``.

    Raises
    ------
    ArgumentError
        For anything that is no fit and no model, and for data that the model cannot score.
    """
    fit = thing if isinstance(thing, Fit) else None
    proof = thing.proof if isinstance(thing, ChainFile | GraphFile) else None
    model: Model = thing.model if isinstance(thing, Fit | ChainFile | GraphFile) else thing
    entry = entry_of(model)
    if entry is None:
        kinds = listing(sorted(entry.name for entry in each_model()), 20)
        raise ArgumentError(f"A report is of a fit, or of a model: one of {kinds}. Got {shown(thing)} instead.")
    scored = None if data is None else score(model, data, **policies)
    parts = entry.parts(model, fit)
    if scored is not None and scored.confusion is not None:
        head, cells, _ = scored.confusion.cells()
        table = table_from(head, cells, scored.confusion.title)
        parts = ReportParts([*parts.entries, Entry("classes of these data", "table", tables=[table])], parts.graph)
    name = entry.title
    families, n = _families(fit, scored, parts)
    return Content(
        title=title or f"{name[0].upper()}{name[1:]}: {_subject(model, entry)}",
        subtitle=_subtitle(fit, proof),
        facts=_facts(model, fit, scored, proof),
        model=model,
        fit=fit,
        parts=parts,
        families=families,
        n=n,
        notes=_notes(fit, proof),
        variables=_variables(model),
        proof=proof,
        missing=_missing(fit),
    )


def _subject(model: Model, entry: ModelEntry) -> str:
    """Say what a model is of, in a few words."""
    if entry.subject is not None:
        return entry.subject(model)
    names = [shorten(name, 24) for name in model.variables]
    return plural(len(names), "variable") if len(names) > 4 else ", ".join(names)


def _notes(fit: Fit | None, proof: Proof | None) -> list[tuple[str, str]]:
    """List the notes of a fit with their topics, or those that a file has kept."""
    if fit is not None:
        return [(note.topic, str(note)) for note in fit.notes]
    return [] if proof is None else [("fit", note) for note in proof.notes]


def _subtitle(fit: Fit | None, proof: Proof | None) -> str:
    if proof is not None:
        return "A model file, with the verdict and the notes of its fit."
    if fit is None:
        return "A model file; nothing is known of how it was estimated."
    return f"{estimate_of(fit).capitalize()}; {dict(facts(fit))['data']}."


def _facts(model: Model, fit: Fit | None, scored: DataScore | None, proof: Proof | None) -> list[tuple[str, str]]:
    """List what was fitted from what."""
    said = facts(fit) if fit is not None else [("model", shorten(repr(model), 200))]
    structure = _structure_text(fit)
    rows = [*said[:1], *([("structure", structure)] if structure else []), *said[1:]]
    if proof is not None:
        rows.append(("conditional log-likelihood", fixed(proof.log_likelihood)))
    if scored is not None:
        rows.append(("data of this report", f"{plural(scored.n, 'row')}, weights included"))
        rows.append((f"{scored.kind} of these data", fixed(scored.total)))
        rows.append(("mean of a row", fixed(scored.total / scored.n, 6) if scored.n else "not known"))
        rows += [] if scored.confusion is None else scored.confusion.facts()[1:]
    return [*rows, ("written by", f"suffice {__version__}")]


def _structure_text(fit: Fit | None) -> str:
    """Return the structure as a person would write it."""
    if fit is None:
        return ""
    return shorten(repr(fit.structure), LONGEST_STRUCTURE)


def _families(
    fit: Fit | None, scored: DataScore | None, parts: ReportParts
) -> tuple[list[tuple[str, float, int]], float]:
    """Return the parts of the log-likelihood, of the fit or of the data, and the weight of the rows behind them."""
    local, n = (dict(fit.local), fit.n) if fit is not None and fit.local else ({}, 0.0)
    if not local and scored is not None and scored.local:
        local, n = scored.local, scored.n
    place = {entry.part or entry.name: index for index, entry in reversed(list(enumerate(parts.entries)))}
    known = [(name, float(value), place.get(name, -1)) for name, value in local.items() if math.isfinite(value)]
    return known, n


def _missing(fit: Fit | None) -> list[tuple[str, float]]:
    """List the variables with how many of their values were missing, those that were never observed left out."""
    if fit is None:
        return []
    latent = dict(fit.structure.latent)
    found = missing_by_variable(fit.statistics)
    observed = [(name, weight) for name, weight in found.items() if name not in latent]
    return observed if any(weight for _, weight in observed) else []


def _variables(model: Model) -> list[list[str]]:
    """List the variables with their kinds and states."""
    rows = []
    for variable in model.schema.variables:
        if variable.is_discrete:
            states = [shorten(str(label)) for label in variable.labels[:12]]
            more = f", … {variable.n_states - 12:,} more" if variable.n_states > 12 else ""
            rows.append([variable.name, "discrete", number(variable.n_states), ", ".join(states) + more])
        else:
            rows.append([variable.name, "continuous", "", ""])
    return rows
