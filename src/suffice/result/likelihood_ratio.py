"""likelihood_ratio: whether a larger model fits better than one inside it, beyond what chance would do."""

from __future__ import annotations

import html
import itertools
import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.errors import ArgumentError, EstimationError, listing, shown
from suffice.inference.clique_family import Layout
from suffice.inference.facial import MAX_CELLS
from suffice.inference.facial_dimension import dimension
from suffice.inference.product import possible_cells
from suffice.models.clique_layout import factors_over, layout_of
from suffice.result.fit import Fit
from suffice.result.goodness import p_text, tail
from suffice.stats.needs import Count
from suffice.structures.cliques import Cliques
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.text import fixed, html_table, number, plain_table, shorten


@dataclass(frozen=True)
class LikelihoodRatio:
    """The test of a model against a larger one that includes it.

    Attributes
    ----------
    G2 : float
        Twice the difference of the log-likelihoods.
    df : int
        The difference of the numbers of free parameters; where an estimate lies on the boundary, of those that count on
        the cells that the large model leaves possible.
    p_value : float
        The probability of a larger value if the small model holds, by the χ² distribution that holds for large samples;
        one where the models are the same.
    small, large : str
        The structures.
    log_likelihoods : tuple of float
    n_free : tuple of int
        Free parameters of the structures; their difference is what other programs take for ``df``.
    remarks : tuple of str
        What to know before using the numbers.
    """

    G2: float
    df: int | None
    p_value: float
    small: str
    large: str
    log_likelihoods: tuple[float, float]
    n_free: tuple[int, int]
    remarks: tuple[str, ...] = ()

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        (first, second), (few, many) = self.log_likelihoods, self.n_free
        df = "-" if self.df is None else f"{self.df:,}"
        rows = [
            ["small", fixed(first), f"{few:,}", "", "", ""],
            ["large", fixed(second), f"{many:,}", fixed(self.G2), df, p_text(self.p_value)],
        ]
        return ["model", "log-likelihood", "free parameters", "G²", "df", "p"], rows, "<>>>>>"

    @property
    def _lines(self) -> list[str]:
        return [f"small: {shorten(self.small, 400)}", f"large: {shorten(self.large, 400)}", *self.remarks]

    def __str__(self) -> str:
        wrapped = (textwrap.wrap(line, 100, subsequent_indent="  ") for line in self._lines)
        return "\n".join([plain_table(*self._cells()), *itertools.chain.from_iterable(wrapped)])

    def _repr_html_(self) -> str:
        return html_table(*self._cells()) + "".join(f"<p>{html.escape(line)}</p>" for line in self._lines)


def likelihood_ratio(small: Fit, large: Fit) -> LikelihoodRatio:
    """Test a fit against one of a larger model that includes it, both by maximum likelihood and from the same data.

    Parameters
    ----------
    small, large : Fit
        Of `Cliques`, each clique of the small model inside one of the large; or of `GaussianMarkov`, each edge of the
        small model one of the large.

    Returns
    -------
    LikelihoodRatio

    Examples
    --------
    >>> import suffice as sf
    >>> table = sf.Contingency([[20, 10], [12, 18]], {"A": ["x", "y"], "B": ["u", "v"]})
    >>> print(sf.likelihood_ratio(sf.fit(sf.Cliques("A + B"), table), sf.fit(sf.Cliques("A:B"), table)))
    model  log-likelihood  free parameters      G²  df       p
    -----  --------------  ---------------  ------  --  ------
    small        -83.0442                2
    large        -80.8746                3  4.3392   1  0.0372
    small: A + B
    large: A:B
    """
    _require_fits(small, large)
    _require_nested(small, large)
    _require_same_data(small, large)
    g2 = max(0.0, 2 * (large.log_likelihood - small.log_likelihood))
    df, remarks = _df(small, large)
    return LikelihoodRatio(
        g2,
        df,
        tail(g2, df),
        str(small.structure),
        str(large.structure),
        (small.log_likelihood, large.log_likelihood),
        (small.n_free, large.n_free),
        remarks,
    )


def _df(small: Fit, large: Fit) -> tuple[int | None, tuple[str, ...]]:
    nominal = large.n_free - small.n_free
    if all(fit.certificate.exists != "no" for fit in (small, large)):
        return nominal, ()
    support = _support(large)
    if support is None:
        return None, ("An estimate lies on the boundary, and the degrees of freedom there could not be counted.",)
    before, after = (
        dimension(layout.sizes, layout.scopes, support) for layout in (_layout(small, large), _layout(large, large))
    )
    said = (
        f"An estimate lies on the boundary: parameters are counted on the cells that the large model leaves possible; "
        f"without regard to that there are {nominal:,} degrees of freedom."
    )
    return after - before, (said,)


def _layout(fit: Fit, large: Fit) -> Layout:
    """Return the cliques of a fit over the variables of the large one."""
    return layout_of(fit.structure, large.model.schema, large.structure.variables)


def _support(large: Fit) -> Any:
    """Return the cells that a model leaves possible, if they can be listed."""
    schema = large.model.schema
    sizes = [schema[name].n_states for name in large.structure.variables]
    if not isinstance(large.structure, Cliques) or math.prod(sizes) > MAX_CELLS:
        return None
    return possible_cells(factors_over(large.model.factors, large.structure.variables), sizes)


# What is asked of the two fits --------------------------------------------------------------------------------


def _require_fits(small: object, large: object) -> None:
    for name, fit in (("small", small), ("large", large)):
        if not isinstance(fit, Fit):
            raise ArgumentError(f"The {name!r} argument must be a fit, sf.fit(…). Got {shown(fit)} instead.")
        if type(fit.structure) not in NESTED:
            known = ", ".join(f"sf.{kind.__name__}" for kind in NESTED)
            raise ArgumentError(
                f"The {name!r} argument must be a fit of one of {known}. It is of sf.{type(fit.structure).__name__}."
            )
        if fit.point != "mle":
            raise EstimationError(
                f"The {name!r} fit is not by maximum likelihood, so that there is no likelihood-ratio test. "
                "Fit without a prior."
            )


def _require_nested(small: Fit, large: Fit) -> None:
    if type(small.structure) is not type(large.structure):
        raise ArgumentError(
            f"The fits must be of the same kind. Got sf.{type(small.structure).__name__} and "
            f"sf.{type(large.structure).__name__} instead."
        )
    if set(small.structure.variables) != set(large.structure.variables):
        raise ArgumentError(
            f"The fits must be over the same variables. Got {listing(small.structure.variables, 12)} and "
            f"{listing(large.structure.variables, 12)} instead; add those that one lacks as cliques by themselves."
        )
    is_nested = NESTED[type(small.structure)]
    if not is_nested(small.structure, large.structure):
        swapped = " The reverse is true: exchange them." if is_nested(large.structure, small.structure) else ""
        raise ArgumentError(
            f"The model {shorten(str(small.structure), 200)} is not inside "
            f"{shorten(str(large.structure), 200)}.{swapped}"
        )


def _require_same_data(small: Fit, large: Fit) -> None:
    if not np.isclose(small.n, large.n, rtol=1e-12, atol=0):
        raise ArgumentError(
            f"The fits must be from the same data. Got N = {number(small.n, 10)} and N = {number(large.n, 10)} instead."
        )
    for name in small.structure.variables:
        a, b = small.statistics.schema[name], large.statistics.schema[name]
        if a.is_discrete and set(a.labels) != set(b.labels):
            raise ArgumentError(
                f"The fits must be from the same data. The states of {name!r} are {listing(a.labels)} in one and "
                f"{listing(b.labels)} in the other."
            )
    wanted = [need for need in small.statistics if isinstance(need, Count)]
    for need in wanted:
        holders = (n for n in large.statistics if isinstance(n, Count) and set(n.scope).issuperset(need.scope))
        holder = min(holders, key=lambda n: len(n.scope), default=None)
        if holder is None:
            continue
        mine = small.statistics[need]
        theirs = large.statistics[holder].marginal(need.scope).reindexed(small.statistics.schema)
        if not _equal(mine, theirs):
            raise ArgumentError(
                f"The fits must be from the same data. The counts of {listing(need.scope)} differ between them."
            )


def _equal(first: Any, second: Any) -> bool:
    (cells, values), (others, numbers) = first.nonzero(), second.nonzero()
    return bool(np.array_equal(cells, others) and np.allclose(values, numbers, rtol=1e-9, atol=0))


def _edges(structure: GaussianMarkov) -> set[frozenset[str]]:
    return set(map(frozenset, structure.edges))


NESTED: dict[type[Any], Callable[[Any, Any], bool]] = {
    Cliques: lambda small, large: bool(small.is_nested_in(large)),
    GaussianMarkov: lambda small, large: _edges(small) <= _edges(large),
}
"""Whether one structure is inside another, by structure type."""
