"""Markov chains, hidden Markov models and autoregressions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fingerprint.family import Family, plain
from tests.fingerprint.pairs import Choice
from tests.fingerprint.record import Record
from tests.fingerprint.tables import bell, in_form, uniform, with_gaps

import suffice as sf

CODES = uniform(510, 90, 0, 100)
SYMBOLS = ["srw"[(code % 3) if code % 4 else (CODES[place - 1] % 3)] for place, code in enumerate(CODES)]
TEXTS = ["".join(SYMBOLS[start : start + 15]) for start in range(0, 90, 15)]
LEVELS = [0.0]
for _step in bell(520, 89):
    LEVELS.append(0.625 * LEVELS[-1] + 0.5 * _step)
TABLE = {
    "site": [f"s{place // 15}" for place in range(90)],
    "day": [place % 15 for place in range(90)],
    "rain": SYMBOLS,
    "level": LEVELS,
    "flow": [0.5 * one + two for one, two in zip(LEVELS, bell(530, 90), strict=True)],
    "w": [1 + place // 15 % 2 for place in range(90)],
}
GAPPY = with_gaps(TABLE, "rain level", seed=940, one_in=8)
PRIORS: dict[str, Any] = {
    "none": None,
    "Dirichlet": sf.Dirichlet(1.5),
    "K2": sf.K2(),
    "Jeffreys": sf.Jeffreys(),
    "BDeu": sf.BDeu(3),
}
TABLES = ("dict", "csv", "parquet", "duckdb", "pandas", "polars", "arrow")


def _sequences(form: str) -> Any:
    """Return sequences in a form of their own."""
    if form == "text file":
        Path("text.txt").write_text("\n".join(TEXTS), encoding="utf-8")
        return sf.Sequences(text="text.txt", level="lines")
    return {"texts": TEXTS, "lists": [list(text) for text in TEXTS]}[form]


def _run_chain(record: Record, choice: Choice) -> None:
    own = choice["form"] not in TABLES
    prior = PRIORS[choice["prior"]]
    weights = {"none": None, "given": [1, 2, 1, 3, 1, 2], "column": "w"}[choice["weights"]]
    arguments: dict[str, Any] = {"prior": prior, "weights": weights, "missing": choice["missing"]}
    for name in ("point", "certify"):
        if choice[name] != "none":
            arguments[name] = choice[name]
    columns = GAPPY if choice["missing"] != "error" else TABLE
    time = "day" if choice["time"] == "day" else None
    where = {} if own else {"variable": "rain", "id": "site", "time": time}
    data = _sequences(choice["form"]) if own else in_form(columns, choice["form"])
    fit = sf.fit(sf.MarkovChain(int(choice["order"]), **where), data, **arguments)
    record.add_fit(fit)
    model = fit.model
    record.ask("log_prob", lambda: model.log_prob(["ssrw", "wrs"]))
    record.ask("stationary", lambda: model.stationary)
    record.ask("sample", lambda: model.sample(2, length=9, seed=1).texts())
    record.ask("perplexity", lambda: model.perplexity(TEXTS[:2]))
    record.ask("irreducible", lambda: model.is_irreducible)
    record.ask("classes", lambda: str(model.classes))


def _allows_chain(choice: Choice) -> bool:
    own = choice["form"] not in TABLES
    if (choice["point"] != "none" and choice["prior"] == "none") or (own and choice["time"] != "none"):
        return False
    if choice["missing"] != "error":
        return (
            choice["form"] in ("dict", "csv") and plain(choice, "order", "missing", "form") and choice["order"] == "1"
        )
    if choice["form"] == "duckdb" or choice["weights"] == "column":
        return choice["order"] == "1" and plain(choice, "order", "form", "weights")
    return choice["form"] != "text file" or choice["weights"] == "none" or plain(choice, "order", "form", "weights")


def _run_hidden(record: Record, choice: Choice) -> None:
    shown = {"state": "rain", "number": "level", "both": ["rain", "level"]}[choice["shown"]]
    structure = sf.MarkovChain(latent={"mood": int(choice["states"])}, variable=shown, id="site")
    columns = GAPPY if choice["gaps"] == "yes" else TABLE
    prior = {"Dirichlet": sf.Dirichlet(1.5), "K2": sf.K2(), "list": [sf.Dirichlet(1.5), sf.NormalInverseGamma(2, 1.0)]}
    fit = sf.fit(
        structure,
        in_form(columns, choice["form"]),
        weights={"none": None, "given": [1, 2, 1, 3, 1, 2], "column": "w"}[choice["weights"]],
        prior=prior.get(choice["prior"]),
        missing="em",
        seed=3,
        restarts=2,
        max_iter=150,
        tol=1e-6,
        **({} if choice["point"] == "none" else {"point": choice["point"]}),
    )
    record.add_fit(fit)
    model = fit.model
    few = {name: values[:15] for name, values in TABLE.items()}
    record.add("starts", [float(start.objective) for start in fit.starts])
    record.ask("log_prob", lambda: model.log_prob(few))
    record.ask("decode", lambda: _clear_states(model, few))
    record.ask("marginals", lambda: [one.tolist() for one in model.marginals(few)])


def _clear_states(model: Any, rows: Any) -> list[list[int]]:
    """Return the most likely states; −1 where rounding may decide, as between two states that are nearly alike."""
    found = zip(model.decode(rows), model.marginals(rows), strict=True)
    return [
        [int(state) if p[int(state)] > 0.6 else -1 for state, p in zip(path, shares, strict=True)]
        for path, shares in found
    ]


def _allows_hidden(choice: Choice) -> bool:
    if choice["prior"] == "list" or choice["weights"] == "column":
        return plain(choice, "shown", "states", "prior", "weights")
    return choice["prior"] != "none" or choice["point"] == "none"


def _run_autoregression(record: Record, choice: Choice) -> None:
    variables = {"one": "level", "two": ["level", "flow"]}[choice["variables"]]
    structure = sf.Autoregression(
        int(choice["order"]),
        variables,
        intercept=choice["intercept"] == "yes",
        divisor=choice["divisor"],
        initial=choice["initial"],
        id="site",
        time="day",
    )
    columns = GAPPY if choice["missing"] != "error" else TABLE
    weights = {"none": None, "given": [1, 2, 1, 3, 1, 2], "column": "w"}[choice["weights"]]
    fit = sf.fit(structure, in_form(columns, choice["form"]), weights=weights, missing=choice["missing"])
    record.add_fit(fit)
    model = fit.model
    names = [variables] if isinstance(variables, str) else variables
    history = {name: TABLE[name][:8] for name in names}
    record.ask("forecast", lambda: model.forecast(history, steps=3))
    record.ask("log_prob", lambda: model.log_prob({**history, "site": TABLE["site"][:8], "day": TABLE["day"][:8]}))
    record.ask("stationary", lambda: model.stationary)
    record.ask("autocorrelation", lambda: model.autocorrelation(2))
    record.ask("paths", lambda: model.sample_paths(1, length=4, seed=1))


def _allows_autoregression(choice: Choice) -> bool:
    if choice["missing"] != "error" or choice["form"] == "duckdb" or choice["weights"] == "column":
        return plain(choice, "order", "variables", "intercept", "divisor", "initial", "missing", "form", "weights")
    return choice["order"] != "0" or choice["initial"] == "given" or choice["form"] == "dict"


def _run_orders(record: Record, choice: Choice) -> None:
    data = _sequences(choice["form"])
    found = sf.chain_orders(data, int(choice["most"]), prior=PRIORS[choice["prior"]])
    record.add("text", str(found))
    record.add("best", found.best)
    record.add("log_likelihood", [one.log_likelihood for one in found.orders])
    record.add("bic", [one.bic for one in found.orders])


FAMILIES = [
    Family(
        "Markov chain",
        _run_chain,
        {
            "order": ("1", "0", "2", "3"),
            "form": ("texts", "lists", "text file", *TABLES),
            "prior": tuple(PRIORS),
            "point": ("none", "mean", "map"),
            "missing": ("error", "drop", "em"),
            "weights": ("none", "given", "column"),
            "time": ("none", "day"),
            "certify": ("none", "data"),
        },
        _allows_chain,
    ),
    Family(
        "hidden Markov model",
        _run_hidden,
        {
            "shown": ("state", "number", "both"),
            "states": ("2", "3"),
            "form": ("dict", "csv", "parquet", "pandas", "arrow"),
            "prior": ("none", "Dirichlet", "K2", "list"),
            "point": ("none", "mean", "map"),
            "gaps": ("no", "yes"),
            "weights": ("none", "given", "column"),
        },
        _allows_hidden,
    ),
    Family(
        "autoregression",
        _run_autoregression,
        {
            "variables": ("one", "two"),
            "order": ("1", "0", "2"),
            "form": ("dict", "csv", "parquet", "duckdb", "pandas", "polars"),
            "intercept": ("yes", "no"),
            "divisor": ("n", "n-p"),
            "initial": ("given", "normal"),
            "missing": ("error", "drop", "em"),
            "weights": ("none", "given", "column"),
        },
        _allows_autoregression,
    ),
    Family(
        "chain orders",
        _run_orders,
        {"most": ("2", "3"), "form": ("texts", "lists", "text file"), "prior": ("none", "Dirichlet", "BDeu")},
    ),
]
