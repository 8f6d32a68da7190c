"""How an autoregression prints: a column an equation, a row a term, and the correlations of the errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.text import html_table, number, plain_table, plural

if TYPE_CHECKING:
    from suffice.models.autoregression import AutoregressiveModel

SHOWN_TERMS = 40
SHOWN_EQUATIONS = 8

Cells = tuple[list[str], list[list[str]], str]


def plain_equations(model: AutoregressiveModel) -> str:
    """Return the printout of an `AutoregressiveModel` as text."""
    text = f"{plain_table(*_equations(model))}\n{_caption(model)}"
    if len(model.variables) == 1:
        return text
    return f"{text}\n\n{plain_table(*_correlations(model))}"


def html_equations(model: AutoregressiveModel) -> str:
    """Return the printout of an `AutoregressiveModel` as HTML."""
    text = html_table(*_equations(model), caption=_caption(model))
    return text if len(model.variables) == 1 else text + html_table(*_correlations(model))


def _caption(model: AutoregressiveModel) -> str:
    stationary = "stationary" if model.is_stationary else "not stationary"
    return f"order {model.order}, spectral radius {number(model.spectral_radius, 4)}: {stationary}"


def _heads(model: AutoregressiveModel) -> list[str]:
    more = len(model.variables) - SHOWN_EQUATIONS
    return [*model.variables[:SHOWN_EQUATIONS], *([f"… {more} more"] if more > 0 else [])]


def _equations(model: AutoregressiveModel) -> Cells:
    """Lay out intercept, coefficients and standard deviation of the error; a column an equation."""
    heads = _heads(model)
    blank = [""] * (len(heads) - min(len(model.variables), SHOWN_EQUATIONS))
    rows = [["intercept", *map(number, model.intercept[:SHOWN_EQUATIONS]), *blank]]
    terms = list(zip(model.lag_names, model.flat_coefficients.T, strict=True))
    for name, values in terms[:SHOWN_TERMS]:
        rows.append([name, *map(number, values[:SHOWN_EQUATIONS]), *blank])
    if len(terms) > SHOWN_TERMS:
        rows.append([f"… {plural(len(terms) - SHOWN_TERMS, 'more term')}", *[""] * len(heads)])
    rows.append(["sd of the error", *map(number, model.errors.sd[:SHOWN_EQUATIONS]), *blank])
    return ["term", *heads], rows, "<" + ">" * len(heads)


def _correlations(model: AutoregressiveModel) -> Cells:
    heads, matrix = _heads(model), model.errors.correlations
    blank = [""] * (len(heads) - min(len(model.variables), SHOWN_EQUATIONS))
    rows = []
    for place, name in enumerate(model.variables[:SHOWN_EQUATIONS]):
        cells = [number(value, 3) if other < place else "" for other, value in enumerate(matrix[place])]
        rows.append([name, *cells[:SHOWN_EQUATIONS], *blank])
    return ["correlations of the errors", *heads], rows, "<" + ">" * len(heads)
