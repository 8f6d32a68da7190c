"""
Gibbs sampling in many chains at once, with counter-based random numbers.
"""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


TABLE: int = 0

PAIR: int = 1

ANY: int = 2

def draw_words(words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], chain: int, sweep: int, variable: int, key: int, lower: bool) -> None:
    """
    Write the random words of chains, the first of which is ``chain``, a multiple of four: the upper 32 bits of their numbers, or those from which the lower 21 bits are taken.
    """

class Net:
    """
    Variables, the tables that hold them, and the order in which they are drawn.
    """

    def __init__(self, sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], member_at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], member: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], fixed: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], most_configurations: int, most_cuts: int) -> None:
        """
        Parameters
        ----------
        sizes : int64 array, shape (n_variables,)
            Numbers of states.
        member_at, member : int64 arrays
            The variables of table t are ``member[member_at[t]:member_at[t + 1]]``; the last one varies fastest.
        fixed : int64 array, shape (n_variables,)
            The states of variables that are held fixed, and -1 for the others.
        order : int64 array
            The variables that are drawn, in this order: free ones of at least two states.
        most_configurations, most_cuts : int
            The conditional distributions of a variable are tabulated up to so many configurations of its neighbours, and so
            many numbers.
        """

    @property
    def order(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """The variables that are drawn, in this order."""

    def __reduce__(self) -> tuple[object, ...]: ...

class Cuts:
    """
    The conditional distribution functions of a net, or what they are made from.
    """

    @overload
    def __init__(self, net: Net, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """From the logarithms of all tables, flat."""

    @overload
    def __init__(self, net: Net, way: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], whole: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], field: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupling: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """From all attributes."""

    @property
    def way(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """How each variable is drawn: TABLE, PAIR or ANY."""

    @property
    def upper(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """The upper 32 bits of every cut, 2**32 - 1 instead of 2**32."""

    @property
    def whole(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), writable=False)]:
        """Every cut, of 53 bits."""

    @property
    def field(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """log p(1)/p(0) when all neighbours are in state 0; PAIR only."""

    @property
    def coupling(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """What each neighbour in state 1 adds to the field."""

    def __reduce__(self) -> tuple[object, ...]: ...

@overload
def run_sweeps(cuts: Cuts, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], states: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], chain: int, first: int, sweeps: int, key: int, visits: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> None: ...

@overload
def run_sweeps(cuts: Cuts, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], states: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu')], chain: int, first: int, sweeps: int, key: int, visits: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> None: ...

@overload
def run_sweeps(cuts: Cuts, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], states: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu')], chain: int, first: int, sweeps: int, key: int, visits: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> None:
    """
    Sweep some chains, in place.

    Parameters
    ----------
    cuts : Cuts
    theta : array, shape (n_cells,)
        The logarithms of all tables.
    states : array, shape (n_chains, n_variables), uint8, uint16 or uint32
        Changed in place.
    chain : int
        The number of the first of these chains, a multiple of four.
    first : int
        The number of the first sweep.
    sweeps : int
    key : int
        64 bits.
    visits : array, shape (n_chains, n_cells), optional
        Adds how often each chain was in each cell of each table after a sweep.
    """
