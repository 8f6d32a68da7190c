"""likelihood_ratio: whether a larger model fits better than one inside it, beyond what chance would do."""

from __future__ import annotations

import html
import itertools
import math
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.errors import ArgumentError, EstimationError, StatisticsError, listing, shown
from suffice.families import family_of, names_with
from suffice.inference.clique_family import Layout
from suffice.inference.facial import MAX_CELLS
from suffice.inference.facial_dimension import dimension
from suffice.inference.product import possible_cells
from suffice.models.clique_layout import factors_over, layout_of
from suffice.result.feature_cells import features_of, is_inside, rank_on, ranks_given_inputs
from suffice.result.fit import Fit
from suffice.result.goodness import INEXACT, inputs_text, p_text, tail
from suffice.result.weights import base_of
from suffice.stats.counts import Counts
from suffice.stats.needs import Count, Distinct
from suffice.stats.rows import Rows
from suffice.structures.cliques import Cliques
from suffice.structures.features import Features
from suffice.structures.gaussian_markov import GaussianMarkov
from suffice.structures.structure import public_name
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

    @classmethod
    def of(cls, small: Fit, large: Fit, df: int | None, remarks: tuple[str, ...] = ()) -> LikelihoodRatio:
        """Return the test of two fits that are known to be nested, on so many degrees of freedom."""
        g2 = max(0.0, 2 * (large.log_likelihood - small.log_likelihood))  # eq likelihood-ratio
        return cls(
            g2,
            df,
            tail(g2, df),
            str(small.structure),
            str(large.structure),
            (small.log_likelihood, large.log_likelihood),
            (small.n_free, large.n_free),
            remarks,
        )

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
        Of `Cliques`, each clique of the small model inside one of the large; of `Features`, each feature of the small
        model a linear combination of those of the large, both with the same outputs where there are inputs; of
        `Cliques` and `Features`, in either order; or of `GaussianMarkov`, each edge of the small model one of the
        large.

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
    return LikelihoodRatio.of(small, large, *_df(small, large))


def _df(small: Fit, large: Fit) -> tuple[int | None, tuple[str, ...]]:
    nominal = large.n_free - small.n_free
    if all(fit.certificate.exists != "no" for fit in (small, large)):
        return nominal, ()
    before, after = _dimensions(small, large)
    if before is None or after is None:
        return None, ("An estimate lies on the boundary, and the degrees of freedom there could not be counted.",)
    said = (
        f"An estimate lies on the boundary: parameters are counted on the cells that the large model leaves possible; "
        f"without regard to that there are {nominal:,} degrees of freedom."
    )
    return after - before, (said,)


def _dimensions(small: Fit, large: Fit) -> tuple[int | None, int | None]:
    """Return the free parameters of both fits on the cells that the large model leaves possible."""
    if _kind(large) == "conditional":
        return ranks_given_inputs(small, large)
    support = _support(large)
    if support is None:
        return None, None
    if isinstance(small.structure, Cliques) and isinstance(large.structure, Cliques):
        layouts = _layout(small, large), _layout(large, large)
        small_size, large_size = (dimension(layout.sizes, layout.scopes, support) for layout in layouts)
        return small_size, large_size
    schema, names = large.model.schema, large.structure.variables
    first, second = (rank_on(features_of(fit.structure, schema), names, schema, support) for fit in (small, large))
    return first, second


def _layout(fit: Fit, large: Fit) -> Layout:
    """Return the cliques of a fit over the variables of the large one."""
    return layout_of(fit.structure, large.model.schema, large.structure.variables)


def _support(large: Fit) -> Any:
    """Return the cells that a model leaves possible, if they can be listed."""
    schema = large.model.schema
    if _kind(large) != "table":
        return None
    sizes = [schema[name].n_states for name in large.structure.variables]
    if math.prod(sizes) > MAX_CELLS:
        return None
    return possible_cells(factors_over(large.model.factors, large.structure.variables), sizes)


# What is asked of the two fits --------------------------------------------------------------------------------


def _require_fits(small: object, large: object) -> None:
    for name, fit in (("small", small), ("large", large)):
        if not isinstance(fit, Fit):
            raise ArgumentError(f"The {name!r} argument must be a fit, sf.fit(…). Got {shown(fit)} instead.")
        if family_of(fit.structure).goodness is None:
            known = names_with(lambda family: family.goodness is not None)
            raise ArgumentError(
                f"The {name!r} argument must be a fit of one of {known}. It is of {public_name(type(fit.structure))}."
            )
        if fit.method in INEXACT:
            raise EstimationError(
                f"The {name!r} fit is by {fit.method!r}, {INEXACT_REASONS[fit.method]}, so that twice the difference "
                "of such values has no χ² distribution. Fit by an exact method, such as 'lbfgs', or look at the "
                "intervals of fit.weights()."
            )
        if fit.point != "mle":
            raise EstimationError(
                f"The {name!r} fit is not by maximum likelihood, so that there is no likelihood-ratio test. "
                "Fit without a prior."
            )


def _kind(fit: Fit) -> str:
    """Say what sort of distribution a fit is of; those of one sort can be compared."""
    structure = fit.structure
    if isinstance(structure, GaussianMarkov):
        return "normal"
    if isinstance(structure, Features) and (structure.given or structure.continuous):
        return "conditional" if structure.given else "density"
    return "table"


def _require_nested(small: Fit, large: Fit) -> None:
    without_inputs = isinstance(small.structure, Features) and (_kind(small), _kind(large)) == ("table", "conditional")
    if _kind(small) != _kind(large) and not without_inputs:  # a model without inputs may be inside one with them
        raise ArgumentError(
            "The fits must be of the same kind. Got "
            f"{public_name(type(small.structure))}{inputs_text(small.structure)} and "
            f"{public_name(type(large.structure))}{inputs_text(large.structure)} instead."
        )
    if set(small.structure.variables) != set(large.structure.variables):
        raise ArgumentError(
            f"The fits must be over the same variables. Got {listing(small.structure.variables, 12)} and "
            f"{listing(large.structure.variables, 12)} instead; {_remedy(small)}."
        )
    _require_same_measure(small, large)
    nested = _is_nested(small, large)
    if nested is None:
        raise ArgumentError(
            "Whether one model is inside the other could not be decided: their features are too many. It is known "
            "where every feature of the small model is also one of the large, written in the same way."
        )
    if not nested:
        swapped = " The reverse is true: exchange them." if _is_nested(large, small) else ""
        raise ArgumentError(
            f"The model {shorten(str(small.structure), 200)} is not inside "
            f"{shorten(str(large.structure), 200)}.{swapped}"
        )


def _remedy(fit: Fit) -> str:
    if isinstance(fit.structure, Features):
        return "add those that one lacks by variables=[…]"
    return "add those that one lacks as cliques by themselves"


def _is_nested(small: Fit, large: Fit) -> bool | None:
    if isinstance(small.structure, GaussianMarkov):
        return _edges(small.structure) <= _edges(large.structure)
    if isinstance(small.structure, Cliques) and isinstance(large.structure, Cliques):
        return bool(small.structure.is_nested_in(large.structure))
    inputs = small.structure.given
    return set(inputs) <= set(large.structure.given) and is_inside(small, large)


def _require_same_measure(small: Fit, large: Fit) -> None:
    if isinstance(small.structure, Cliques) and isinstance(large.structure, Cliques):
        return
    first, second = base_of(small), base_of(large)
    same = len(first) == len(second) and all(
        one is other or (one.names == other.names and np.array_equal(one.values, other.values))
        for one, other in zip(first, second, strict=True)
    )
    if not same:
        raise ArgumentError("The fits must have the same base measure, or none. Give both the same base=.")
    ranges = [sorted(fit.structure.support) if isinstance(fit.structure, Features) else [] for fit in (small, large)]
    if ranges[0] != ranges[1]:
        raise ArgumentError(
            "The continuous variables of both fits must have the same support. Got "
            f"{shown(dict(ranges[0]))} and {shown(dict(ranges[1]))} instead."
        )


def _require_same_data(small: Fit, large: Fit) -> None:
    if not np.isclose(small.n, large.n, rtol=1e-12, atol=0):
        raise ArgumentError(
            f"The fits must be from the same data. Got N = {number(small.n, 10)} and N = {number(large.n, 10)} instead."
        )
    for name in small.structure.columns:
        a, b = small.statistics.schema[name], large.statistics.schema[name]
        if a.is_discrete and b.is_discrete and set(a.labels) != set(b.labels):
            raise ArgumentError(
                f"The fits must be from the same data. The states of {name!r} are {listing(a.labels)} in one and "
                f"{listing(b.labels)} in the other."
            )
    for need in small.statistics:
        if not isinstance(need, Count | Distinct):
            continue
        try:
            theirs = large.statistics[need]
        except StatisticsError:
            continue
        if not _equal(small.statistics[need], theirs.reindexed(small.statistics.schema)):
            raise ArgumentError(
                f"The fits must be from the same data. The counts of {listing(need.scope)} differ between them."
            )


def _equal(first: Any, second: Any) -> bool:
    (cells, values), (others, numbers) = map(_listed, (first, second))
    return bool(np.array_equal(cells, others) and np.allclose(values, numbers, rtol=1e-9, atol=0))


def _listed(held: Counts | Rows) -> tuple[Any, Any]:
    """Return what occurred, one row each, and how often."""
    return held.nonzero() if isinstance(held, Counts) else (np.column_stack(held.columns), held.weights)


def _edges(structure: GaussianMarkov) -> set[frozenset[str]]:
    return set(map(frozenset, structure.edges))


INEXACT_REASONS = {
    "pseudo_likelihood": "whose value is no likelihood",
    "stochastic": "whose likelihood is not known",
}
