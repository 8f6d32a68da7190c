"""Fits of Markov random fields in the library's own JSON: each kind is read back exactly, and damage is refused."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conformance.copies import check_copies
from tests.io.corruptions import corruptions
from tests.io.test_own_json import bits, changed, places

import suffice as sf
from suffice.errors import FileFormatError
from suffice.priors.hyper_dirichlet import HyperDirichlet
from suffice.priors.hyper_inverse_wishart import HyperInverseWishartPosterior

STATES: dict[str, Any] = {"A": ["x", "y"], "B": ["u", "v"], "C": [1, 2, 3]}
COUNTS = np.array([[[5, 3, 1], [8, 4, 2]], [[6, 9, 3], [2, 7, 4]]])
TABLE = sf.Contingency(COUNTS, STATES)
HABERMAN = sf.Contingency([[[0, 2], [3, 4]], [[5, 6], [7, 0]]], {**STATES, "C": [1, 2]})
"""No margin of two has a zero, and still there is no estimate."""
CYCLE, CHAIN = sf.Cliques("A:B + B:C + A:C"), sf.Cliques("A:B + C:B")
NETWORK = sf.BayesianNetwork(
    sf.DAG("A -> B; C"), {"A": [0.3, 0.7], "B": [[0.2, 0.8], [0.6, 0.4]], "C": [0.5, 0.25, 0.25]}, schema=STATES
)
FIELD = NETWORK.to_markov_network()
X = dict(zip("abcd", np.random.default_rng(0).normal(size=(4, 20)), strict=True))
RING, PATH = sf.GaussianMarkov("a:b + b:c + c:d + a:d"), sf.GaussianMarkov("a:b + b:c + d")
MARGINS = [[0.3, 0.7], [0.4, 0.6], [0.5, 0.25, 0.25]]

KINDS: dict[str, Callable[[], sf.Fit]] = {
    "mle": lambda: sf.fit(CYCLE, TABLE),
    "newton": lambda: sf.fit(CYCLE, TABLE, method="newton", certify="data"),
    "closed form": lambda: sf.fit(CHAIN, TABLE),
    "not converged": lambda: sf.fit(CYCLE, TABLE, method="ipf", max_iter=1),
    "bdeu mean": lambda: sf.fit(CHAIN, TABLE, prior=sf.BDeu(4)),
    "bdeu map": lambda: sf.fit(CHAIN, TABLE, prior=sf.BDeu(4), point="map"),
    "bdeu of a cycle": lambda: sf.fit(CYCLE, TABLE, prior=sf.BDeu(0.1)),
    "gaussian": lambda: sf.fit(CYCLE, TABLE, prior=sf.Gaussian(0.7)),
    "gaussian main": lambda: sf.fit(CYCLE, TABLE, prior=sf.Gaussian(1 / 3, main=math.inf)),
    "laplace": lambda: sf.fit(CYCLE, TABLE, prior=sf.Laplace(0.5)),
    "laplace main": lambda: sf.fit(CYCLE, TABLE, prior=sf.Laplace(0.5, main=2.0)),
    "expert network": lambda: sf.fit(CYCLE, TABLE, prior=sf.Expert(NETWORK, 5)),
    "expert field": lambda: sf.fit(CYCLE, TABLE, prior=sf.Expert(FIELD, 5)),
    "expert mean": lambda: sf.fit(CHAIN, TABLE, prior=sf.Expert(FIELD, 5, uniform=0.1)),
    "boundary": lambda: sf.fit(CYCLE, HABERMAN),
    "zero margin": lambda: sf.fit(CHAIN, sf.Contingency(COUNTS * (COUNTS > 3), STATES)),
    "maxent": lambda: sf.maxent(CYCLE, FIELD),
    "maxent array": lambda: sf.maxent("A + B + C", MARGINS, base=COUNTS * (COUNTS > 2), over=STATES),
    "maxent tables": lambda: sf.maxent(CYCLE, FIELD, base=NETWORK),
    "normal": lambda: sf.fit(RING, X),
    "normal ipf": lambda: sf.fit(RING, X, method="ipf"),
    "normal path": lambda: sf.fit(PATH, X),
    "wishart": lambda: sf.fit(PATH, X, prior=sf.HyperInverseWishart(3, 1.0, mean=0.0)),
    "wishart flat": lambda: sf.fit(PATH, X, prior=sf.HyperInverseWishart(3, {"a": 1, "b": 2, "c": 3, "d": 0.1})),
    "wishart map": lambda: sf.fit(PATH, X, prior=sf.HyperInverseWishart(3.5, np.eye(4) + 0.1), point="map"),
}


@pytest.fixture(scope="module")
def fits() -> dict[str, sf.Fit]:
    return {name: make() for name, make in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_fit_can_be_copied_and_saved(tmp_path: Path, fits: dict[str, sf.Fit], kind: str) -> None:
    check_copies(fits[kind], fits[kind].model.sample(20, seed=1), tmp_path)


def test_the_kinds_are_what_they_are_called(fits: dict[str, sf.Fit]) -> None:
    assert {"mle", "mean", "map"} == {fit.point for fit in fits.values()}
    assert len(fits["boundary"].model.factors) == 4
    assert fits["boundary"].certificate.exists == "no"
    assert len(fits["maxent array"].model.factors) == 4
    assert len(fits["maxent tables"].model.factors) == 6
    assert isinstance(fits["bdeu mean"].posterior, HyperDirichlet)
    assert isinstance(fits["wishart"].posterior, HyperInverseWishartPosterior)
    assert [name for name, fit in fits.items() if not fit.certificate.ok] == ["not converged"]
    assert len(fits["laplace"].trace) > 1


@pytest.mark.parametrize("kind", ["mle", "bdeu mean", "bdeu map", "expert field", "laplace", "wishart", "normal"])
def test_a_read_fit_can_be_estimated_anew(tmp_path: Path, fits: dict[str, sf.Fit], kind: str) -> None:
    sf.write(fits[kind], tmp_path / "a.json")
    found = sf.read(tmp_path / "a.json")
    point = None if found.point == "mle" else found.point
    again = sf.estimate(found.structure, found.statistics, prior=found.prior, point=point, method=found.method)
    assert str(again).split("\n\n")[0] == str(fits[kind]).split("\n\n")[0]


def test_what_is_computed_from_a_read_fit_is_the_same(tmp_path: Path, fits: dict[str, sf.Fit]) -> None:
    for kind in ("mle", "bdeu mean"):
        sf.write(fits[kind], tmp_path / "a.json")
        found = sf.read(tmp_path / "a.json")
        assert str(found.goodness) == str(fits[kind].goodness)
        assert str(found.expected()) == str(fits[kind].expected())
        assert str(found.u_terms()) == str(fits[kind].u_terms())
    draws = [bits(fit.posterior.sample(1, seed=3)[0].factors[0].values) for fit in (found, fits["bdeu mean"])]
    assert draws[0] == draws[1]


# Damage -------------------------------------------------------------------------------------------------------

DAMAGED = ("mle", "bdeu mean", "gaussian main", "expert field", "boundary", "maxent tables", "normal", "wishart")


@pytest.fixture(scope="module")
def documents(fits: dict[str, sf.Fit], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder, found = tmp_path_factory.mktemp("whole"), {}
    for kind in DAMAGED:
        sf.write(fits[kind], folder / "x.json")
        found[kind] = json.loads((folder / "x.json").read_text(encoding="utf-8"))
    return found


def refused(path: Path, shown: bool = True) -> bool:
    """Read a file that may be damaged; what is read must work."""
    try:
        thing = sf.read(path)
    except FileFormatError:
        return True
    assert str(thing if shown else thing.model)
    if isinstance(thing, sf.Fit):
        assert set(thing.structure.columns) <= set(thing.model.variables)
        assert isinstance(thing.certificate.ok, bool)
    return False


def of_statistics(place: tuple[Any, ...]) -> bool:
    """Whether an entry says what was counted, or of which states; see the tests of contradictions below."""
    return "needs" in place or ("schema" in place and "states" in place)


@pytest.mark.parametrize("kind", DAMAGED)
def test_missing_entries_are_refused_or_not_needed(tmp_path: Path, documents: dict[str, Any], kind: str) -> None:
    path, wrong, n_refused = tmp_path / "x.json", [], 0
    for place in places(documents[kind]):
        if of_statistics(place):
            continue
        path.write_text(json.dumps(changed(documents[kind], place, lambda parent, key: parent.pop(key))))
        try:
            n_refused += refused(path)
        except Exception as error:
            wrong.append(f"{place}: {error!r}"[:200])
    assert not wrong, "\n".join(wrong)
    assert n_refused > 40


@pytest.mark.parametrize("value", [None, -1, 2.5, "x", [], {}, [[]]], ids=repr)
@pytest.mark.parametrize("kind", DAMAGED)
def test_entries_of_a_wrong_type_are_refused_or_still_a_proper_thing(
    tmp_path: Path, documents: dict[str, Any], kind: str, value: Any
) -> None:
    path, wrong = tmp_path / "x.json", []
    for place in places(documents[kind]):
        if of_statistics(place):
            continue
        spoilt = changed(documents[kind], place, lambda parent, key: parent.__setitem__(key, value))
        path.write_text(json.dumps(spoilt))
        try:
            refused(path)
        except Exception as error:
            wrong.append(f"{place}: {error!r}"[:200])
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_bytes_are_refused_or_still_a_proper_thing(
    tmp_path: Path, documents: dict[str, Any], kind: str
) -> None:
    path, whole, n_refused = tmp_path / "x.json", json.dumps(documents[kind]).encode(), 0
    for damaged in corruptions(whole, 60, random.Random(kind).randrange(10**6)):
        path.write_bytes(damaged)
        n_refused += refused(path, shown=False)
    assert n_refused > 15


def cliques_instead(content: Any) -> None:
    content["structure"]["cliques"] = [["A", "B"], ["B", "C"]]


def nothing_counted(content: Any) -> None:
    content["statistics"]["meta"]["needs"] = []


def other_states_counted(content: Any) -> None:
    content["statistics"]["meta"]["schema"][0]["states"] = ["x", "z"]


def other_states(content: Any) -> None:
    content["model"]["schema"][0]["states"] = ["x", "z"]


def other_order(content: Any) -> None:
    content["structure"]["cliques"] = [["B", "A"], ["B", "C"], ["A", "C"]]


def other_factor(content: Any) -> None:
    content["model"]["factors"][0]["scope"] = ["B", "A"]


def no_factor(content: Any) -> None:
    del content["model"]["factors"][0]


def negative(content: Any) -> None:
    content["model"]["factors"][0]["values"][0] = -1.0


def not_a_number(content: Any) -> None:
    content["model"]["factors"][0]["values"][0] = None


def too_few(content: Any) -> None:
    content["model"]["factors"][0]["values"].pop()


def other_prior(content: Any) -> None:
    content["prior"] = {"type": "K2"}


def no_width(content: Any) -> None:
    content["prior"] = {"type": "Gaussian", "width": 0, "main": None}


def other_method(content: Any) -> None:
    content["method"] = "enumeration"


def other_point(content: Any) -> None:
    content["point"] = "mode"


def a_network(content: Any) -> None:
    content["model"] = json.loads(json.dumps(NETWORK.to_dict(), default=lambda array: array.tolist()))


CHANGES: list[Any] = [
    cliques_instead, nothing_counted, other_states_counted, other_states, other_order, other_factor, no_factor,
    negative, not_a_number, too_few, other_prior, no_width, other_method, other_point, a_network,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_fit_that_contradicts_itself_is_refused(
    tmp_path: Path, documents: dict[str, Any], change: Callable[[Any], None]
) -> None:
    spoilt = copy.deepcopy(documents["mle"])
    change(spoilt["content"])
    assert spoilt != documents["mle"]
    (tmp_path / "x.json").write_text(json.dumps(spoilt))
    with pytest.raises(FileFormatError, match=r"x\.json"):
        sf.read(tmp_path / "x.json")


@pytest.mark.parametrize("cliques", [[["a", "b"]], [["a", "b"], ["b", "c"], ["c", "e"]]], ids=["fewer", "other"])
def test_a_normal_model_of_other_variables_is_refused(tmp_path: Path, documents: dict[str, Any], cliques: Any) -> None:
    spoilt = copy.deepcopy(documents["normal"])
    key = next(key for key, value in spoilt["content"]["structure"].items() if isinstance(value, list))
    spoilt["content"]["structure"][key] = cliques
    (tmp_path / "x.json").write_text(json.dumps(spoilt))
    with pytest.raises(FileFormatError, match=r"x\.json"):
        sf.read(tmp_path / "x.json")
