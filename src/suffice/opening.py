"""Opening data for a structure: as a source that this process reads, or one of an engine that lives elsewhere."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from suffice.data.latent import LatentTable
from suffice.data.readers.frames import unwrapped
from suffice.data.schema import Declaration, Schema, SchemaLike, declarations
from suffice.data.sequences import remedies_for_gaps
from suffice.data.stream import DROP, KEEP, Policies
from suffice.data.table import UNKNOWN_POLICIES, Weights, open_table
from suffice.data.variable import Variable
from suffice.engines import TableKind, kind_of
from suffice.engines.local import LocalPieces
from suffice.engines.spread import SpreadSource
from suffice.errors import ArgumentError, Passed, Remedy, StructureError, Text, require_choice, shown
from suffice.families.choice import methods_for
from suffice.progress import Watch
from suffice.stats.available import AVAILABLE, CheckedSource
from suffice.stats.source import BlockSource, Source
from suffice.stats.statistics import Statistics
from suffice.structures.autoregression import Autoregression
from suffice.structures.structure import Structure, public_mention
from suffice.types import TableLike

EM = "em"
"""The policy that maximises the likelihood of what was observed."""
LEARN = Text(DROP, ", or ", Remedy("missing", EM, "to learn from what they have"))
"""What can be done about missing values by calls that also learn from incomplete rows."""


@dataclass(frozen=True)
class StructureOpening:
    """How tables are opened for a structure: a value, which workers elsewhere are given.

    Attributes
    ----------
    structure : Structure
    known : schema or None
        Declarations, the structure's own among them.
    missing, unknown_states : str
    if_missing : str
        What the call can do about missing values, for the error.
    weights : str, sequence or None
    part : bool
        Whether tables are parts of one.
    """

    structure: Structure
    known: SchemaLike | None = None
    missing: str = "error"
    unknown_states: str = "error"
    weights: Weights = None
    part: bool = False
    if_missing: str = DROP

    @property
    def policies(self) -> Policies:
        """Which columns are read, and how."""
        column = self.weights if isinstance(self.weights, str) else None
        return Policies(
            tuple(self.structure.columns),
            declarations(self.known),
            self.structure.continuous,
            column,
            reading_of_gaps(self.structure, self.missing),
            self.unknown_states,
            if_missing=self.if_missing,
        )

    @property
    def by_rows(self) -> bool:
        """Whether rows themselves are needed: they may have gaps, or are checked one by one."""
        return self.policies.missing == KEEP or bool(self.structure.latent) or self.structure.checks_rows

    def given(self, schema: Schema) -> StructureOpening:
        """Return the opening that takes for continuous what is so in a sample, and whole numbers for states."""
        declared: dict[str, Any] = dict(declarations(self.known))
        for variable in schema.variables:
            if variable.states is None:
                declared.setdefault(variable.name, Declaration("continuous"))
            elif variable.states and all(type(state) is int for state in variable.states):
                declared.setdefault(variable.name, Declaration("discrete"))
        return replace(self.of_part(), known=declared)

    def of_part(self) -> StructureOpening:
        """Return the opening of parts of a table: whether floats are measurements is told by all of them together."""
        return replace(self, part=True)

    def __call__(self, data: Any, watch: Watch | None = None) -> BlockSource:
        """Return the source over the rows of a table that this process reads."""
        how: dict[str, Any] = {
            "schema": self.known,
            "missing": reading_of_gaps(self.structure, self.missing),
            "weights": self.weights,
            "unknown_states": self.unknown_states,
        }
        watch = watch or Watch()
        if not self.structure.reads_rows:
            kind = CheckedSource if self.structure.latent else BlockSource
            return kind(self.structure.open(data, **how), watch)
        table = open_table(
            data,
            self.structure.columns,
            continuous=self.structure.continuous,
            part=self.part,
            if_missing=self.if_missing,
            **how,
        )
        return source_over(self.structure, table, watch, self.missing)


def open_source(
    structure: Structure,
    data: TableLike,
    watch: Watch,
    *,
    schema: SchemaLike | None = None,
    missing: str = "error",
    unknown_states: str = "error",
    weights: Weights = None,
    checkpoint: str | os.PathLike[str] | None = None,
    damaged: str = "error",
    learns: bool = True,
) -> Source:
    """Open data for a structure, wherever it lives, to learn from incomplete rows, too, or complete ones alone."""
    require_choice("damaged", damaged, ("error", "skip"))
    require_choice("unknown_states", unknown_states, UNKNOWN_POLICIES)
    known = {**structure.declared, **declarations(schema)} if structure.declared else schema
    learns = learns and any(method.incomplete for method in methods_for(structure).values())
    if_missing = LEARN if learns else DROP
    opening = StructureOpening(structure, known, missing, unknown_states, weights, if_missing=if_missing)
    if isinstance(data, Statistics):
        raise ArgumentError(
            "The 'data' argument must be a table, and statistics are what is collected from one. Estimate from them: "
            "sf.estimate(structure, statistics)."
        )
    data = unwrapped(data)
    kind = kind_of(data)
    if checkpoint is not None or damaged == "skip":
        return _piecewise(opening, kind, data, watch, checkpoint, damaged)
    if not kind.keeps_order:
        _require_rows_elsewhere(structure, weights)
    return kind.open_source(data, opening, watch)


def _piecewise(
    opening: StructureOpening,
    kind: TableKind,
    data: Any,
    watch: Watch,
    checkpoint: str | os.PathLike[str] | None,
    damaged: str,
) -> SpreadSource:
    """Open Parquet files piece by piece, so that what is done is kept, and what cannot be read is left out."""
    if kind.pieces is None or not opening.structure.reads_rows:
        argument = "damaged" if checkpoint is None else "checkpoint"
        raise ArgumentError(
            f"The {argument!r} argument is for Parquet files, which are read by row groups. Leave it out, "
            "or collect each file by itself and add the statistics."
        )
    if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
        raise ArgumentError(f"The 'checkpoint' argument must be the path of a file. Got {shown(checkpoint)} instead.")
    _require_rows_elsewhere(opening.structure, opening.weights)
    declared = {
        name: [entry.kind, entry.states, *([] if entry.threshold is None else [entry.threshold])]
        for name, entry in declarations(opening.known).items()
    }
    asked = repr((declared, opening.missing, opening.unknown_states, opening.weights, damaged))
    return SpreadSource(opening, LocalPieces(kind.pieces(data), checkpoint, asked, damaged == "skip"), watch)


def _require_rows_elsewhere(structure: Structure, weights: Weights) -> None:
    """Refuse what only a table at hand can give."""
    if not structure.reads_rows:
        raise ArgumentError(
            public_mention(type(structure)),
            " reads sequences, whose order a data frame of an engine does not keep. "
            "Write them to files, collect each by itself, and add: sf.collect(structure, part1) + ….",
        )
    if weights is not None and not isinstance(weights, str):
        raise ArgumentError(
            "The rows of an engine's table have no order; the 'weights' argument must name the column that holds their "
            "weights."
        )


def source_over(structure: Structure, table: Any, watch: Watch, missing: str) -> BlockSource:
    """Return the source over a table's rows: with the structure's latent variables, and checked where it asks."""
    if latent := dict(structure.latent):
        table = LatentTable.of(table, latent)
    if structure.checks_rows or latent or missing in (EM, AVAILABLE):
        return CheckedSource(table, watch, check=structure.check_rows if structure.checks_rows else None)
    return BlockSource(table, watch)


def reading_of_gaps(structure: Structure, missing: str) -> str:
    """Return the policy under which a table is opened: gaps are kept where each need has rows of its own."""
    require_choice("missing", missing, ("error", "drop", EM, AVAILABLE))
    if missing == EM:
        if not any(method.incomplete for method in methods_for(structure).values()):
            raise ArgumentError(
                Passed("missing", EM),
                " maximises the likelihood of what was observed, for which ",
                public_mention(type(structure)),
                " has no method. ",
                _remedies(structure),
            )
        return KEEP
    if missing != AVAILABLE:
        return missing
    if not structure.learns_available:
        raise ArgumentError(
            Passed("missing", AVAILABLE),
            " learns each parameter from the rows that have its columns, which is not the estimate that ",
            public_mention(type(structure)),
            " stands for. ",
            _remedies(structure),
        )
    if latent := structure.latent:
        raise ArgumentError(
            Passed("missing", AVAILABLE),
            f" learns each family from the rows that have it, and {latent[0][0]!r} is latent: no row has it. Pass ",
            Remedy("missing", EM),
            ".",
        )
    return KEEP


def _remedies(structure: Structure) -> str:
    """Say what else can be done about values that are missing: only what the structure takes."""
    observed = Text("Pass ", Remedy("missing", EM), ", which maximises the likelihood of what was observed")
    if not structure.reads_rows:
        if structure.latent:
            return Text(observed, ", or cut the sequences where values are missing.")
        return remedies_for_gaps(isinstance(structure, Autoregression))
    if _learns_from_gaps(structure):
        return Text(observed, ", or ", Remedy("missing", "drop"), " to leave out incomplete rows; or fill them in.")
    return Text("Pass ", Remedy("missing", "drop"), " to leave out incomplete rows; or fill them in.")


def _learns_from_gaps(structure: Structure) -> bool:
    """Whether there is a method for incomplete rows, as far as the structure tells without the data."""
    schema = Schema(
        tuple(Variable(name, None if name in structure.continuous else ("0", "1")) for name in structure.columns)
    )
    methods = [method for method in methods_for(structure).values() if method.incomplete]
    try:
        return any(method.refuses(structure, schema) is None for method in methods)
    except StructureError:  # kinds that were named for nodes do not fit variables of which nothing is known
        return bool(methods)
