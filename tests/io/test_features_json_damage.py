"""Log-linear models in the library's own JSON: damage and contradictions are refused."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.io.corruptions import corruptions
from tests.io.test_features_json import KINDS
from tests.io.test_own_json import changed, places

import suffice as sf
from suffice.errors import FileFormatError

DAMAGED = ("plain", "function", "boundary", "ising", "conditional", "density and states", "maxent with base")


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder, found = tmp_path_factory.mktemp("whole"), {}
    for kind in (*DAMAGED, "density", "pseudo-likelihood"):
        sf.write(KINDS[kind](), folder / "x.json")
        found[kind] = json.loads((folder / "x.json").read_text(encoding="utf-8"))
    return found


def refused(path: Path) -> bool:
    """Read a file that may be damaged; what is read must work."""
    try:
        thing = sf.read(path)
    except FileFormatError:
        return True
    assert str(thing.model if isinstance(thing, sf.Fit) else thing)
    if isinstance(thing, sf.Fit):
        assert thing.structure == thing.model.features
        assert len(thing.model.weights) == len(thing.structure.resolved(thing.model.schema))
    return False


@pytest.mark.parametrize("kind", DAMAGED)
def test_missing_entries_are_refused_or_not_needed(tmp_path: Path, documents: dict[str, Any], kind: str) -> None:
    path, wrong, n_refused = tmp_path / "x.json", [], 0
    for place in places(documents[kind]):
        path.write_text(json.dumps(changed(documents[kind], place, lambda parent, key: parent.pop(key))))
        try:
            n_refused += refused(path)
        except Exception as error:
            wrong.append(f"{place}: {error!r}"[:200])
    assert not wrong, "\n".join(wrong)
    assert n_refused > 40


@pytest.mark.parametrize("value", [None, -1, 2.5, "x", [], {}, [[]], 10**400], ids=lambda value: repr(value)[:9])
@pytest.mark.parametrize("kind", DAMAGED)
def test_entries_of_a_wrong_type_are_refused_or_still_a_proper_thing(
    tmp_path: Path, documents: dict[str, Any], kind: str, value: Any
) -> None:
    path, wrong = tmp_path / "x.json", []
    for place in places(documents[kind]):
        path.write_text(json.dumps(changed(documents[kind], place, lambda parent, key: parent.__setitem__(key, value))))
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
        n_refused += refused(path)
    assert n_refused > 15


def feature_renamed(content: Any) -> None:
    content["structure"]["features"][0]["name"] = "other"


def feature_left_out(content: Any) -> None:
    del content["structure"]["features"][0]


def feature_left_out_of_both(content: Any) -> None:
    del content["structure"]["features"][0], content["model"]["features"]["features"][0]


def other_type(content: Any) -> None:
    content["structure"] = {"type": "Boltzmann", "nodes": ["A", "B"], "edges": [["A", "B"]]}


def cliques_instead(content: Any) -> None:
    content["structure"] = {"type": "Cliques", "cliques": [["A", "B"], ["u", "v"]], "variables": ["A", "B", "u", "v"]}


def other_variables(content: Any) -> None:
    content["structure"]["variables"].reverse()


def an_input(content: Any) -> None:
    for part in (content["structure"], content["model"]["features"]):
        part["given"] = ["B"]


def weight_missing(content: Any) -> None:
    content["model"]["weights"].pop()


def weight_too_many(content: Any) -> None:
    content["model"]["weights"].append(0.0)


def weight_unknown(content: Any) -> None:
    content["model"]["weights"][0] = None


def other_states(content: Any) -> None:
    content["model"]["schema"][0]["states"] = ["yes", "no"]


def more_states(content: Any) -> None:
    content["model"]["schema"][2]["states"].append(7)


def other_states_counted(content: Any) -> None:
    content["statistics"]["meta"]["schema"][0]["states"] = ["yes", "no"]


def nothing_counted(content: Any) -> None:
    content["statistics"]["meta"]["needs"] = []


def less_counted(content: Any) -> None:
    content["statistics"]["meta"]["needs"] = content["statistics"]["meta"]["needs"][:1]


def other_prior(content: Any) -> None:
    content["prior"] = {"type": "BDeu", "ess": 1.0}


def other_method(content: Any) -> None:
    content["method"] = "closed_form"


def a_markov_network(content: Any) -> None:
    content["model"]["type"] = "MarkovNetwork"


def a_conditional_model(content: Any) -> None:
    content["model"]["type"] = "ConditionalLogLinear"


def a_density(content: Any) -> None:
    content["model"] |= {"type": "LogLinearDensity", "placement": {}}


CHANGES: list[Any] = [
    feature_renamed, feature_left_out, feature_left_out_of_both, other_type, cliques_instead, other_variables,
    an_input, weight_missing, weight_too_many, weight_unknown, other_states, more_states, other_states_counted,
    nothing_counted, less_counted, other_prior, other_method, a_markov_network, a_conditional_model, a_density,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_fit_that_contradicts_itself_is_refused(
    tmp_path: Path, documents: dict[str, Any], change: Callable[[Any], None]
) -> None:
    spoilt = copy.deepcopy(documents["plain"])
    change(spoilt["content"])
    assert spoilt != documents["plain"]
    (tmp_path / "x.json").write_text(json.dumps(spoilt))
    with pytest.raises(FileFormatError, match=r"x\.json"):
        sf.read(tmp_path / "x.json")


@pytest.mark.parametrize(
    ("kind", "needed"), [("conditional", "Distinct"), ("density", "Distinct"), ("pseudo-likelihood", "Distinct")]
)
def test_fits_without_their_rows_are_refused(tmp_path: Path, documents: dict[str, Any], kind: str, needed: str) -> None:
    spoilt = copy.deepcopy(documents[kind])
    spoilt["content"]["statistics"]["meta"]["needs"] = []
    (tmp_path / "x.json").write_text(json.dumps(spoilt))
    with pytest.raises(FileFormatError, match=needed):
        sf.read(tmp_path / "x.json")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sizes": [2, 3]}, "states are"),
        ({"sizes": [2]}, "one size a variable"),
        ({"places": [0, 9]}, "lie inside"),
        ({"places": [0, 0, 1, 2]}, "one value for each"),
        ({"places": [0]}, "one value for each"),
        ({"places": [-1, 0, 1, 2]}, "whole numbers from 0"),
        ({"sizes": [2, 2.0]}, "whole numbers from 1"),
        ({"values": ["inf", 1, 1, 1]}, "finite number"),
        ({"scope": ["A", "A"]}, "twice"),
        ({"scope": []}, "list of variables"),
    ],
)
def test_tables_that_do_not_fit_are_refused(
    tmp_path: Path, documents: dict[str, Any], change: dict[str, Any], says: str
) -> None:
    spoilt = copy.deepcopy(documents["function"])
    for part in (spoilt["content"]["structure"], spoilt["content"]["model"]["features"]):
        part["features"][0]["tables"][0] |= change
    (tmp_path / "x.json").write_text(json.dumps(spoilt))
    with pytest.raises(FileFormatError, match=says):
        sf.read(tmp_path / "x.json")
