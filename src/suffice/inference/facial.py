"""Whether a maximum-likelihood estimate exists: the face of the margins, and the cells that belong to it.

The estimate of a hierarchical log-linear model exists exactly when some table that is positive in every allowed cell
has the observed margins. Otherwise the margins lie on a face of the cone of all margins: the likelihood grows for ever
along a direction of the parameters, and its limit is a distribution on the *facial set*, zero in all other cells.

References
----------
Fienberg and Rinaldo (2012), Maximum likelihood estimation in log-linear models, Annals of Statistics 40, 996–1023.
Geyer (2009), Likelihood inference in exponential families and directions of recession, EJS 3, 259–289.

Symbols
-------
A, t, ζ, z = Aᵀζ    see `facial_design`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import StatisticsError, listing
from suffice.inference.facial_cone import POSITIVE, positive_cells, proportionally_fitted, split, table_with
from suffice.inference.facial_conflict import disagreement
from suffice.inference.facial_design import Design, design_of, margins_of, mask_of
from suffice.inference.facial_dimension import rank_of
from suffice.types import Bools, Floats

if TYPE_CHECKING:
    from scipy.sparse import csc_array

MAX_CELLS = 20_000
MAX_PARAMETERS = 1_600
MAX_ENTRIES = 1_500_000
"""Beyond so many cells without a zero margin, parameters, or non-zero entries of the design, a search could take more
than some five seconds; the answer is then "undecided"."""

ZERO = 1e-14
"""A margin below this part of the total is zero: it is less than the round-off of a sum of some numbers."""

FLAT = 1e-10
"""A direction whose scalar product with the margins is below this part of the total leaves the face nowhere. With whole
directions and up to 10⁹ whole counts, the product is either zero or at least 1e-9, so that this decides it."""


TOO_CLOSE = "some cells are too close to zero to tell"


@dataclass(frozen=True, eq=False)
class Face:
    """The answer to whether an estimate exists, and what runs to infinity when it does not.

    Attributes
    ----------
    exists : {"yes", "no", "undecided"}
    proof : str
        What the answer rests on.
    scopes : tuple of tuple of int
    support : array of bool, shape sizes, or None
        The facial set: the cells to which the limit of the likelihood gives mass. None when it is not known, or the
        joint table is too large to be written out.
    allowed : array of bool, shape sizes, or None
        The cells that could have mass; None for all.
    zeros : tuple of array of bool, one a scope
        The cells of the margins that are zero though some allowed cell belongs to them.
    direction : tuple of array, one a scope, or None
        When an estimate does not exist, tables whose sum is zero in every cell of the support and at least one in
        every other allowed cell: subtracted s times from the log-potentials, they raise the likelihood for every s.
        Without a support, the zero margins alone.
    """

    exists: str
    proof: str
    scopes: tuple[tuple[int, ...], ...]
    support: Bools | None = field(repr=False)
    allowed: Bools | None = field(repr=False)
    zeros: tuple[Bools, ...] = field(repr=False)
    direction: tuple[Floats, ...] | None = field(repr=False)

    @property
    def zero_margins(self) -> TableCells:
        """The zeros as pairs: the number of a scope, and the states of a cell of its margin."""
        return TableCells(self.zeros)

    @property
    def lost(self) -> TableCells | None:
        """The allowed cells whose probability runs to zero, all of one table; None when the support is not known."""
        if self.support is None:
            return None
        return TableCells((~self.support if self.allowed is None else self.allowed & ~self.support,))

    @property
    def running(self) -> TableCells:
        """The log-potentials that run to infinity: a scope's number, and the states; see `pace`."""
        return TableCells(tuple(table != 0 for table in self.direction or ()))

    def pace(self, number: int, codes: tuple[int, ...]) -> float:
        """Return how fast a log-potential runs: to +∞ if positive, to −∞ if negative.

        Other parametrisations of the same model move otherwise.
        """
        assert self.direction is not None
        return -float(self.direction[number][codes])


@dataclass(frozen=True, eq=False)
class TableCells:
    """Some cells of some tables; they may be millions, of which a few are looked at."""

    tables: tuple[Bools, ...]

    def __len__(self) -> int:
        return sum(int(np.count_nonzero(table)) for table in self.tables)

    def first(self, n: int) -> list[tuple[int, tuple[int, ...]]]:
        """Return the first cells: the number of the table, and the states."""
        return list(islice(self, n))

    def __iter__(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        for number, table in enumerate(self.tables):
            for place in np.flatnonzero(table):
                yield number, tuple(map(int, np.unravel_index(place, table.shape)))


def facial_set(
    sizes: Sequence[int],
    scopes: Sequence[Sequence[int]],
    margins: Sequence[ArrayLike],
    allowed: ArrayLike | None = None,
    observed: ArrayLike | None = None,
) -> Face:
    """Decide whether the maximum-likelihood estimate exists, and find the cells of its limit.

    Parameters
    ----------
    sizes : sequence of int
        The number of states of every variable.
    scopes : sequence of tuple of int
        The variables of each margin, in the order of its axes; one may lie in another.
    margins : sequence of array, shape (n_states, …)
        One a scope: counts or probabilities of one table.
    allowed : array of bool, shape sizes, optional
        False in structural zeros; by default true everywhere.
    observed : array of bool, shape sizes, optional
        Cells that are known to have a positive count. They make the answer faster and leave less to round-off.

    Returns
    -------
    Face

    Notes
    -----
    Decomposable models are decided by their zero margins. Otherwise a cell with a zero margin is out. Some cells O are
    known to be in: those observed, and those of a table with these margins, found by Newton's steps or a linear
    program. The other cells U follow from

        max Σ v   such that   A_U (v + w) + A_O y = 0,   0 ≤ v ≤ 1,   0 ≤ w,

    where v is one in the face and zero off it. The margins do not occur, so that their size is of no consequence. The
    multipliers ζ of the constraints are the direction: z is zero in the face and at least one off it. Both are checked,
    the direction in whole numbers where it has small denominators. What fails a check is "undecided".

    Examples
    --------
    No margin of this table is zero, and still there is no estimate without three-way interaction (Haberman 1974):

    >>> counts = np.array([[[0, 3], [2, 4]], [[5, 1], [2, 0]]])
    >>> face = facial_set((2, 2, 2), [(0, 1), (0, 2), (1, 2)], [counts.sum(2), counts.sum(1), counts.sum(0)])
    >>> face.exists, [codes for _, codes in face.lost], len(face.zero_margins)
    ('no', [(0, 0, 0), (1, 1, 1)], 0)
    """
    design = design_of(sizes, scopes)
    tables = margins_of(design, margins)
    inside, known = mask_of(design, "allowed", allowed), mask_of(design, "observed", observed)
    if inside is not None and inside.all():
        inside = None
    conflict = disagreement(design, tables)
    if conflict is not None:
        raise _contradiction(f"the scopes {listing(design.scopes[number] for number in conflict.scopes)} do not agree")
    total = float(tables[0].sum())
    is_whole = all((table == np.rint(table)).all() for table in tables)  # then a count of one is no rounding error
    zeros = tuple(table <= (0 if is_whole else ZERO * total) for table in tables)
    if design.fits_table or inside is not None or known is not None:
        face = _by_cells(design, tuple(table / (total or 1.0) for table in tables), zeros, inside, known)
    else:
        face = _by_zeros(design, zeros)
    if face.direction is not None and not _is_level(tables, face.direction):
        return _face(design, "undecided", TOO_CLOSE, None, inside, zeros)
    return face


# The steps ----------------------------------------------------------------------------------------------------


def _by_zeros(design: Design, zeros: tuple[Bools, ...]) -> Face:
    """Answer for a table that cannot be written out."""
    if any(table.any() for table in zeros):
        return _face(design, "no", "zero margins", None, None, zeros)
    if design.is_decomposable:
        return _face(design, "yes", "the margins of a decomposable model", None, None, zeros)
    return _face(design, "undecided", "the table has too many cells", None, None, zeros)


def _by_cells(
    design: Design, margins: tuple[Floats, ...], zeros: tuple[Bools, ...], allowed: Bools | None, observed: Bools | None
) -> Face:
    """Answer for a table that can be written out, its total scaled to one."""
    if allowed is not None:
        zeros = tuple(zero & seen for zero, seen in zip(zeros, design.seen(allowed), strict=True))
    possible = design.summed(zeros) == 0
    if allowed is not None:
        possible &= allowed
    _require_agreement(design, margins, possible, observed)
    if not possible.any() or (allowed is None and design.is_decomposable):
        return _settled(design, "the margins of a decomposable model", possible, allowed, zeros)
    if observed is not None and (observed == possible).all():
        return _settled(design, "the observed cells", possible, allowed, zeros)
    cells = np.flatnonzero(possible)
    if len(cells) > MAX_CELLS or design.n_parameters > MAX_PARAMETERS or design.density * len(cells) > MAX_ENTRIES:
        return _unsettled(design, "too many cells", allowed, zeros)
    found = _searched(design, margins, possible, observed)
    if found is None:
        return _unsettled(design, TOO_CLOSE, allowed, zeros)
    return _settled(design, found.proof, found.support, allowed, zeros, found.direction)


class _FacialSet(NamedTuple):
    proof: str
    support: Bools
    direction: tuple[Floats, ...] | None


def _searched(design: Design, margins: Sequence[Floats], possible: Bools, observed: Bools | None) -> _FacialSet | None:
    """Return the facial set among the cells without a zero margin; None when an answer fails its checks."""
    matrix = design.matrix(np.flatnonzero(possible))
    known = _known_cells(design, matrix, margins, possible, observed)
    parts = None if known is None else split(matrix, known)
    if parts is None:
        return None
    in_face, vector, is_whole = parts
    support = np.zeros(design.sizes, dtype=np.bool_)
    support[possible] = in_face
    direction = design.tables(vector)
    if not _is_face_of(design, margins, support, direction):
        return None
    if in_face.all():
        return _FacialSet("a positive table with these margins", support, None)
    proof = "a direction of growth, checked in whole numbers" if is_whole else "a direction of growth"
    return _FacialSet(proof, support, direction)


def _is_face_of(design: Design, margins: Sequence[Floats], support: Bools, direction: Sequence[Floats]) -> bool:
    """Whether every positive margin has a cell in the support, and the direction is flat at the margins."""
    covered = all((seen | (margin <= ZERO)).all() for margin, seen in zip(margins, design.seen(support), strict=True))
    products = [margin * table for margin, table in zip(margins, direction, strict=True)]
    size = max(1.0, *(float(np.abs(product).sum()) for product in products))
    return covered and abs(sum(float(product.sum()) for product in products)) <= FLAT * size


def _is_level(margins: Sequence[Floats], direction: Sequence[Floats]) -> bool:
    """Whether a direction of whole numbers has the product zero with margins of whole numbers, exactly.

    A count that was taken for zero among very many others is found here. Other numbers cannot be checked so.
    """
    if any((np.abs(array) > 2**53).any() or (array != np.rint(array)).any() for array in (*margins, *direction)):
        return True
    product = 0
    for margin, table in zip(margins, direction, strict=True):
        held = (margin != 0) & (table != 0)
        product += sum(int(count) * int(pace) for count, pace in zip(margin[held], table[held], strict=True))
    return product == 0


def _require_agreement(design: Design, margins: Sequence[Floats], possible: Bools, observed: Bools | None) -> None:
    """Raise when margins, structural zeros and observed cells contradict each other at sight."""
    if observed is not None and (observed & ~possible).any():
        cell = _true_cells(observed & ~possible)[0]
        raise StatisticsError(
            f"The cell {cell} was observed, and cannot have mass: it is not allowed, or a margin of it is zero. Take "
            "'margins', 'allowed' and 'observed' from the same table."
        )
    for scope, margin, seen in zip(design.scopes, margins, design.seen(possible), strict=True):
        bare = (margin > ZERO) & ~seen
        if bare.any():
            raise _contradiction(f"the margin of {scope} is positive at {_true_cells(bare)[0]}, where no cell can be")


def _contradiction(reason: str) -> StatisticsError:
    return StatisticsError(
        f"No table has these margins: {reason}. Take all margins from one table; "
        "suffice.inference.facial_conflict.infeasibility names those in conflict."
    )


def _known_cells(
    design: Design, matrix: csc_array, margins: Sequence[Floats], possible: Bools, observed: Bools | None
) -> Bools | None:
    """Return columns that are surely in the face, and enough to span it; None when they cannot be told from others."""
    seen = np.zeros(matrix.shape[1], dtype=np.bool_) if observed is None else observed[possible]
    if np.count_nonzero(seen) >= matrix.shape[0] and rank_of(matrix[:, np.flatnonzero(seen)]) == matrix.shape[0]:
        return seen
    target = design.coordinates(margins)
    known = positive_cells(matrix, proportionally_fitted(design, possible, margins)[possible], target)
    if known is not None:
        return known | seen
    corner, is_impossible = table_with(matrix, target)
    if is_impossible:
        raise _contradiction("they agree two by two, but not all together")
    if corner is None:
        return None
    known = corner > POSITIVE
    # Cells too small to be told from zero would leave a part of the margins behind.
    left = np.abs(matrix @ np.where(known, corner, 0.0) - target).max()
    return known | seen if left <= FLAT else None


# Answers ------------------------------------------------------------------------------------------------------


def _settled(
    design: Design,
    proof: str,
    support: Bools,
    allowed: Bools | None,
    zeros: tuple[Bools, ...],
    direction: tuple[Floats, ...] | None = None,
) -> Face:
    """Return the answer when the facial set is known."""
    exists = bool(support.all() if allowed is None else (support == allowed).all())
    if not exists and direction is None:
        proof = "zero margins"
    return _face(design, "yes" if exists else "no", proof, support, allowed, zeros, direction)


def _unsettled(design: Design, reason: str, allowed: Bools | None, zeros: tuple[Bools, ...]) -> Face:
    """Return the answer when only the zero margins are known."""
    if any(table.any() for table in zeros):
        return _face(design, "no", "zero margins", None, allowed, zeros)
    return _face(design, "undecided", reason, None, allowed, zeros)


def _face(
    design: Design,
    exists: str,
    proof: str,
    support: Bools | None,
    allowed: Bools | None,
    zeros: tuple[Bools, ...],
    direction: tuple[Floats, ...] | None = None,
) -> Face:
    """Join the direction of the linear program, right among cells without zero margins, with the zero margins."""
    if exists == "no":
        steep = tuple(table.astype(np.float64) for table in zeros)
        if direction is not None:
            # Beyond the zero margins the program's direction may point anywhere; they outweigh it.
            depth = max(0.0, -float(design.summed(direction).min()))
            joined = zip(direction, steep, strict=True)
            steep = tuple(table + np.ceil(1 + depth) * zero for table, zero in joined)
        direction = steep
    else:
        direction = None
    for array in (support, *zeros, *(direction or ())):
        if array is not None:
            array.setflags(write=False)
    return Face(exists, proof, design.scopes, support, allowed, zeros, direction)


def _true_cells(table: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    return [tuple(map(int, codes)) for codes in np.argwhere(table)]
