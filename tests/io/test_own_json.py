"""The library's own JSON: everything is read back exactly, and nothing but a proper model is read at all."""

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
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice as sf
from suffice.errors import FileAccessError, FileFormatError
from suffice.io.own_json import ADDED_LATER
from suffice.learn.method import Step

# Comparing ----------------------------------------------------------------------------------------------------


def bits(value: Any) -> Any:
    """What must be equal for two numbers, arrays or labels to be the same, types and NaN included."""
    if value is None or isinstance(value, str | bool):
        return (type(value).__name__, value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            value = np.where(np.isnan(value), np.nan, value)  # one NaN is as good as another
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, float):
        return ("float", "nan" if math.isnan(value) else value.hex())
    if isinstance(value, int):
        return ("int", value)
    if isinstance(value, tuple | list):
        return tuple(map(bits, value))
    if isinstance(value, dict):
        return {key: bits(entry) for key, entry in value.items()}
    raise AssertionError(f"unexpected {type(value)}")


def variable_facts(variable: sf.Variable) -> Any:
    return (variable.name, bits(variable.states), variable.declared)


def model_facts(model: Any) -> dict[str, Any]:
    if isinstance(model, sf.BayesianNetwork):
        return {
            "dag": model.dag,
            "schema": [variable_facts(variable) for variable in model.schema.variables],
            "cpds": [
                [cpd.kind, *(bits(getattr(cpd, name)) for name in ("values", "configurations", "default_row", "raw"))]
                for cpd in model.cpds
            ],
            "properties": dict(model.properties),
            "notes": model.notes,
        }
    return {"hypotheses": model.hypotheses, "sets": bits(model.hypotheses.sets), "weights": bits(model.weights)}


def posterior_facts(posterior: Any) -> Any:
    if posterior is None:
        return None
    if hasattr(posterior, "log_weights"):
        return (bits(posterior.log_weights), bits(posterior.log_marginal_likelihood))
    names = ("concentration", "configurations", "default", "given", "given_rows", "log_marginal_likelihood")
    return (
        bits(posterior.log_marginal_likelihood),
        [[bits(getattr(node, name)) for name in names] for node in posterior.nodes],
        [[variable_facts(variable) for variable in node.family.variables] for node in posterior.nodes],
    )


def statistics_facts(statistics: sf.Statistics) -> Any:
    return (
        [variable_facts(variable) for variable in statistics.schema.variables],
        {need: bits(statistics[need].to_arrays()) for need in statistics},
        bits(statistics.weight),
        statistics.n_read,
        statistics.n_dropped,
        statistics.remarks,
    )


def prior_facts(prior: Any) -> Any:
    if isinstance(prior, sf.Dirichlet):
        return ("Dirichlet", bits(prior.alpha_), bits(prior.rest))
    return prior


def facts(fit: sf.Fit) -> dict[str, Any]:
    """Everything that a fit knows, comparable bit for bit."""
    return {
        "model": model_facts(fit.model),
        "structure": fit.structure,
        "statistics": statistics_facts(fit.statistics),
        "method": fit.method,
        "point": fit.point,
        "prior": prior_facts(fit.prior),
        "posterior": posterior_facts(fit.posterior),
        "numbers": [
            bits(number) for number in (fit.n, fit.log_likelihood, fit.aic, fit.bic, fit.n_free, fit.n_free_adjusted)
        ],
        "local": bits(dict(fit.local)),
        "log_marginal_likelihood": bits(fit.log_marginal_likelihood),
        "certificate": bits(fit.certificate.to_dict()),
        "trace": [(step.number, bits(step.objective)) for step in fit.trace],
        "notes": fit.notes,
        "text": str(fit),
    }


def check_round_trip(thing: Any, folder: Path) -> Any:
    first, second = folder / "first.json", folder / "second.json"
    sf.write(thing, first)
    found = sf.read(first)
    sf.write(found, second)
    assert second.read_bytes() == first.read_bytes()
    assert type(found) is type(thing)
    if isinstance(thing, sf.Fit):
        assert facts(found) == facts(thing)
    else:
        assert model_facts(found) == model_facts(thing)
    return found


# Exact round trips --------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
LABELS = st.one_of(
    st.lists(TEXT, min_size=1, max_size=3, unique=True),
    st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=3, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3, unique=True),
    st.just([False, True]),
)


@st.composite
def fits(draw: st.DrawFn) -> sf.Fit:
    """Any fit of a small network: graph, states, rows, weights, prior, point, fixed rows and ties."""
    names = draw(st.lists(TEXT, min_size=1, max_size=4, unique=True))
    parents = {
        name: draw(st.lists(st.sampled_from(names[:i]), unique=True, max_size=2)) if i else []
        for i, name in enumerate(names)
    }
    tied = None
    if len(names) > 1 and not parents[names[1]] and draw(st.booleans()):
        tied = [(names[0], names[1])]
    states = {name: draw(LABELS) for name in names}
    if tied:
        states[names[1]] = states[names[0]]
    rows = draw(st.lists(st.tuples(*(st.sampled_from(states[name]) for name in names)), min_size=1, max_size=6))
    data = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    weights = draw(st.none() | st.lists(st.floats(1e-3, 1e3), min_size=len(rows), max_size=len(rows)))
    prior = draw(
        st.sampled_from([None, sf.K2(), sf.Jeffreys(), sf.BDeu(0.1), sf.Dirichlet(1.7)])
        | st.floats(0.1, 9).map(lambda size: sf.Dirichlet({names[0]: [size] * len(states[names[0]])}, rest=0.3))
    )
    if isinstance(prior, sf.Dirichlet) and isinstance(prior.alpha_, dict) and parents[names[0]]:
        prior = None
    point = draw(st.sampled_from(["mean", "map"])) if isinstance(prior, sf.K2) else None
    fixed = None
    if draw(st.booleans()):
        size = len(states[names[0]])
        fixed = {names[0]: [1.0] + [0.0] * (size - 1)}
    return sf.fit(
        sf.DAG(parents, tie=tied),
        data,
        schema={name: sf.categorical(states[name]) for name in names},
        weights=weights,
        prior=prior,
        point=point,
        fixed=fixed,
        unseen_parents=draw(st.sampled_from(["nan", "uniform"])),
    )


@settings(max_examples=60)
@given(fits())
def test_any_fit_is_read_back_exactly(tmp_path_factory: pytest.TempPathFactory, fit: sf.Fit) -> None:
    folder = tmp_path_factory.mktemp("json")
    check_round_trip(fit, folder)
    check_round_trip(fit.model, folder)


def big(**options: Any) -> sf.Fit:
    """A fit whose last table is sparse: 41⁴ cells."""
    rng = np.random.default_rng(3)
    names = ("a", "b", "c", "d")
    columns = {name: rng.integers(0, 41, 60).tolist() for name in names}
    return sf.fit(
        sf.DAG({"d": ["a", "b", "c"]}),
        columns,
        schema={name: sf.categorical(list(range(41))) for name in names},
        **options,
    )


@pytest.mark.parametrize(
    "options",
    [
        {"unseen_parents": "nan"},
        {"unseen_parents": "uniform"},
        {"prior": sf.K2()},
        {"prior": sf.BDeu(3)},
        {"prior": sf.K2(), "point": "map", "unseen_parents": "nan"},
        {"unseen_parents": "nan", "fixed": {"d": {(0, 0, 0): [1.0] + 40 * [0.0]}}},
    ],
    ids=["nan", "uniform", "k2", "bdeu", "map", "fixed"],
)
def test_sparse_tables_are_read_back_exactly(tmp_path: Path, options: dict[str, Any]) -> None:
    fit = big(**options)
    assert fit.model.cpd("d").configurations is not None, "the table must be sparse"
    found = check_round_trip(fit, tmp_path)
    check_round_trip(fit.model, tmp_path)
    row = {name: [5, 6] for name in ("a", "b", "c", "d")}
    assert bits(found.model.log_prob(row)) == bits(fit.model.log_prob(row))


DATA = {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}
SPACE = sf.Hypotheses({"even": [2, 4, 6], "type": [2, 3], "small": [1, 2, 3]}, over="n")
COINS = sf.Hypotheses({"fair": ["heads", "tails"], "bent": {"heads": 0.75, "tails": 0.25}}, over="toss")


@pytest.mark.parametrize(
    "make",
    [
        lambda: sf.fit(sf.DAG("A -> B"), DATA),
        lambda: sf.fit(sf.DAG("A -> B"), DATA, certify="data"),
        lambda: sf.fit(sf.DAG("A -> B"), DATA, weights=[0.1, 0.2, 0.7]),
        lambda: sf.fit(sf.DAG("A -> B"), DATA, schema={"A": ["z", "y", "x"]}, unseen_parents="nan"),
        lambda: sf.fit(sf.DAG("A -> B"), DATA, prior=sf.Dirichlet({"A": [1, 2], "B": [[1, 2], [0.1, 0.7]]})),
        lambda: sf.fit(sf.DAG("A -> B"), DATA, prior=sf.Dirichlet({"A": 0.1}, rest=1 / 3)),
        lambda: sf.fit(sf.DAG("A -> B"), DATA, prior=sf.BDeu(3), fixed={"B": {"x": [0.3, 0.7]}}),
        lambda: sf.fit(sf.DAG("A -> B"), DATA, fixed={"A": [0, 1]}),
        lambda: sf.fit(sf.DAG("A -> B"), DATA, prior=sf.K2(), fixed={"A": [0, 1]}),
        lambda: sf.fit(sf.DAG("A; B", tie=[("A", "B")], kinds={"A": "tabular"}), {"A": [1, 2], "B": [2, 2]},
                       schema={"A": [1, 2], "B": [1, 2]}),
        lambda: sf.fit(sf.DAG("A"), {"A": ["x", None], "C": ["a", "b"]}, missing="drop"),
        lambda: sf.fit(sf.DAG("A"), {"A": [None]}, missing="drop", schema={"A": ["x", "y"]}, prior=sf.K2()),
        lambda: sf.fit(sf.DAG("A"), {"A": ["x", "q"]}, schema={"A": ["x"]}, unknown_states="missing", missing="drop"),
        lambda: sf.fit(SPACE, {"n": [2, 2]}),
        lambda: sf.fit(SPACE, {"n": [2, 3]}, prior="uniform"),
        lambda: sf.fit(SPACE, {"n": [2, 4]}, prior={"even": 1, "type": 0.1, "small": 3}, point="map"),
    ],
    ids=["mle", "recounted", "weights", "nan", "dirichlet", "dirichlet-rest", "fixed-row", "impossible",
         "impossible-prior", "tie", "dropped", "no-rows", "unknown", "hypotheses", "uniform", "map"],
)  # fmt: skip
def test_each_kind_of_fit_is_read_back_exactly(tmp_path: Path, make: Callable[[], sf.Fit]) -> None:
    fit = make()
    check_round_trip(fit, tmp_path)
    check_round_trip(fit.model, tmp_path)


def test_trace_is_read_back_exactly(tmp_path: Path) -> None:
    from dataclasses import replace

    fit = sf.fit(sf.DAG("A"), DATA)
    steps = (Step(1, -0.1), Step(2, math.nan), Step(3, -math.inf))
    check_round_trip(replace(fit, trace=steps), tmp_path)


@pytest.mark.parametrize(
    "states",
    [
        ["1", "2"],
        [1, 2],
        [1.0, 2.0],
        [1, 2.5],
        [-0.0, 1.0],
        [False, True],
        [True, False],
        ["True", "null", "NaN", "inf", ""],
        [2**62, -(2**62)],
        [0.1, 1e-300, 1e300, 5e-324],
        [math.inf, -math.inf, 0.5],
    ],
    ids=str,
)
def test_labels_keep_their_types(tmp_path: Path, states: list[Any]) -> None:
    fit = sf.fit(sf.DAG("A"), {"A": states[:1]}, schema={"A": states})
    found = check_round_trip(fit, tmp_path)
    assert bits(found.model.schema["A"].states) == bits(tuple(states))


def test_labels_of_numpy_types_are_read_back_as_equal_variables(tmp_path: Path) -> None:
    fit = sf.fit(sf.DAG("A"), {"A": [0.5, 1.5]}, schema={"A": np.array([0.5, 1.5])})
    sf.write(fit, tmp_path / "x.json")
    assert sf.read(tmp_path / "x.json").model.schema == fit.model.schema


@pytest.mark.parametrize(
    "name", ["ä", "名前", "😀", "a\nb", "\0", "'", '"', "\\", "[x]", "a -> b", " ", "﻿", "\u2028", "e\u0301", "type"]
)
def test_weird_names_and_states_are_read_back(tmp_path: Path, name: str) -> None:
    fit = sf.fit(sf.DAG({"child": [name]}), {name: [name, "b"], "child": [name, "c"]})
    found = check_round_trip(fit, tmp_path)
    assert set(found.model.variables) == {name, "child"}


@pytest.mark.parametrize("make", [lambda: sf.DAG(["\ud800"]), lambda: sf.DAG(["A"])], ids=["name", "state"])
def test_lone_surrogates_are_refused_or_read_back_but_never_crash(tmp_path: Path, make: Any) -> None:
    dag = make()
    (node,) = dag.nodes
    fit = sf.fit(dag, {node: ["x"]}, schema={node: ["x", "\ud800"]})
    try:
        sf.write(fit, tmp_path / "x.json")
    except sf.SufficeError:
        assert list(tmp_path.iterdir()) == []
    else:
        assert facts(sf.read(tmp_path / "x.json")) == facts(fit)


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    fit = sf.fit(sf.DAG("A"), DATA)
    sf.write(fit, tmp_path / "x.json")
    (tmp_path / "y.json").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "x.json").read_bytes())
    assert facts(sf.read(tmp_path / "y.json")) == facts(fit)


def test_ending_is_read_without_regard_to_case(tmp_path: Path) -> None:
    sf.write(sf.fit(sf.DAG("A"), DATA), tmp_path / "X.JSON")
    assert sf.read(tmp_path / "X.JSON").n == 3


def test_paths_may_be_text_or_objects(tmp_path: Path) -> None:
    fit = sf.fit(sf.DAG("A"), DATA)
    sf.write(fit, str(tmp_path / "x.json"))
    assert facts(sf.read(str(tmp_path / "x.json"))) == facts(sf.read(tmp_path / "x.json")) == facts(fit)


def test_file_is_strict_json(tmp_path: Path) -> None:
    fit = sf.fit(sf.DAG("A -> B"), DATA, schema={"A": ["x", "y", "z"]}, unseen_parents="nan", fixed={"A": [0, 1, 0]})
    sf.write(fit, tmp_path / "x.json")

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    entry = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert entry["format"] == "suffice"
    assert entry["version"] == 1
    assert entry["content"]["log_likelihood"] == "-inf"
    assert entry["content"]["model"]["cpds"][1]["values"][2] == [None, None]


def test_properties_and_notes_of_a_model_are_read_back(tmp_path: Path) -> None:
    fit = sf.fit(sf.DAG("A"), DATA)
    model = sf.BayesianNetwork(
        fit.model.dag, {"A": fit.model.cpd("A")}, properties={"author": "Ä", "year": 1988}, notes=["one", "two"]
    )
    check_round_trip(model, tmp_path)


def test_raw_numbers_of_a_table_are_read_back(tmp_path: Path) -> None:
    from suffice.models.cpds.tabular import TabularCPD

    family = sf.fit(sf.DAG("A"), DATA).model.cpd("A").family
    table = TabularCPD.from_raw(family, [0.333, 0.666])
    assert table.raw is not None
    check_round_trip(sf.BayesianNetwork(sf.DAG("A"), {"A": table}), tmp_path)


def test_read_models_compute_the_same(tmp_path: Path) -> None:
    fit = sf.fit(sf.DAG("A -> B"), DATA, prior=sf.Jeffreys())
    sf.write(fit, tmp_path / "x.json")
    found = sf.read(tmp_path / "x.json")
    assert bits(found.model.log_prob(DATA)) == bits(fit.model.log_prob(DATA))
    assert found.model.sample(50, seed=1).equals(fit.model.sample(50, seed=1))
    assert bits(found.posterior["B"].draws(2, seed=1)) == bits(fit.posterior["B"].draws(2, seed=1))
    assert bits(found.posterior.log_predictive(DATA)) == bits(fit.posterior.log_predictive(DATA))
    assert facts(sf.estimate(found.structure, found.statistics, prior=found.prior)) == facts(fit)


# Statistics files ---------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(fits())
def test_any_statistics_are_read_back_exactly(tmp_path_factory: pytest.TempPathFactory, fit: sf.Fit) -> None:
    folder = tmp_path_factory.mktemp("stats")
    sf.write(fit.statistics, folder / "a.stats")
    found = sf.read(folder / "a.stats")
    sf.write(found, folder / "b.stats")
    assert (folder / "a.stats").read_bytes() == (folder / "b.stats").read_bytes()
    assert statistics_facts(found) == statistics_facts(fit.statistics)


@pytest.mark.parametrize("factor", [2, 0.1, 0, np.float64(0.5), np.int64(3), np.float32(0.5)], ids=repr)
def test_scaled_statistics_are_read_back_exactly(tmp_path: Path, factor: Any) -> None:
    statistics = sf.collect(sf.DAG("A -> B"), DATA) * factor
    sf.write(statistics, tmp_path / "a.stats")
    assert statistics_facts(sf.read(tmp_path / "a.stats")) == statistics_facts(statistics)


def test_sparse_and_empty_statistics_are_read_back_exactly(tmp_path: Path) -> None:
    empty = sf.collect(sf.DAG("A -> B"), {"A": ["x"], "B": [None]}, missing="drop")
    for statistics in (big(unseen_parents="nan").statistics, empty):
        sf.write(statistics, tmp_path / "a.stats")
        assert statistics_facts(sf.read(tmp_path / "a.stats")) == statistics_facts(statistics)


def test_statistics_read_from_two_files_add_up(tmp_path: Path) -> None:
    dag = sf.DAG("A -> B")
    for number, rows in enumerate(({"A": ["x"], "B": ["u"]}, {"A": ["y", "y"], "B": ["u", "w"]})):
        sf.write(sf.collect(dag, rows), tmp_path / f"{number}.stats")
    both = sf.read(tmp_path / "0.stats") + sf.read(tmp_path / "1.stats")
    whole = sf.collect(dag, {"A": ["x", "y", "y"], "B": ["u", "u", "w"]})
    assert statistics_facts(both) == statistics_facts(whole)


def test_states_that_are_not_finite_are_saved_or_refused_by_the_library(tmp_path: Path) -> None:
    statistics = sf.collect(sf.DAG("A"), {"A": [0.5]}, schema={"A": [0.5, math.inf]})
    try:
        sf.write(statistics, tmp_path / "a.stats")
    except sf.SufficeError:
        assert list(tmp_path.iterdir()) == []
    else:
        assert statistics_facts(sf.read(tmp_path / "a.stats")) == statistics_facts(statistics)


# Damage -------------------------------------------------------------------------------------------------------


def specimens() -> dict[str, sf.Fit | Any]:
    return {
        "fit": sf.fit(sf.DAG("A -> B"), DATA, prior=sf.Dirichlet({"A": 2}, rest=1.5), fixed={"B": {"x": [0.3, 0.7]}}),
        "nan": sf.fit(sf.DAG("A -> B"), DATA, schema={"A": ["x", "y", "z"]}, unseen_parents="nan"),
        "model": sf.fit(sf.DAG("A -> B"), DATA).model,
        "hypotheses": sf.fit(SPACE, {"n": [2, 4]}, prior="uniform"),
        "distributions": sf.fit(COINS, {"toss": ["heads", "tails"]}, prior="uniform"),
    }


KINDS = ("fit", "nan", "model", "hypotheses", "distributions")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole")
    found = {}
    for kind, thing in specimens().items():
        sf.write(thing, folder / "x.json")
        found[kind] = (folder / "x.json").read_bytes()
    return found


def use(thing: Any) -> None:
    """Whatever was read must work: print, be written again, compute."""
    assert str(thing)
    model = thing.model if isinstance(thing, sf.Fit) else thing
    assert len(model.variables) >= 1
    if isinstance(model, sf.BayesianNetwork):
        for cpd in model.cpds:
            known = cpd.values[~np.isnan(cpd.values).any(axis=1)]
            assert (known >= 0).all()
            np.testing.assert_allclose(known.sum(axis=1), 1, atol=1e-9)
    else:
        np.testing.assert_allclose(model.table.values.sum(), 1, atol=1e-9)
    if isinstance(thing, sf.Fit):
        assert np.isfinite(thing.n)
        assert isinstance(thing.certificate.ok, bool)
        assert thing.model.variables == thing.structure.columns


def read_or_refuse(path: Path) -> bool:
    """Read a file that may be damaged; return whether it was refused."""
    try:
        thing = sf.read(path)
    except FileFormatError:
        return True
    use(thing)
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_every_truncation_is_refused(tmp_path: Path, whole: dict[str, bytes], kind: str) -> None:
    content = whole[kind].rstrip()
    path = tmp_path / "x.json"
    for length in [*range(40), *range(40, len(content), 29), *range(len(content) - 20, len(content))]:
        path.write_bytes(content[:length])
        with pytest.raises(FileFormatError, match=r"x\.json"):
            sf.read(path)


@pytest.mark.parametrize("kind", KINDS)
def test_changed_bytes_are_refused_or_still_a_proper_thing(tmp_path: Path, whole: dict[str, bytes], kind: str) -> None:
    rng = random.Random(f"damage {kind}")
    path, refused = tmp_path / "x.json", 0
    for _ in range(400):
        damaged = bytearray(whole[kind])
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] = rng.choice(b'0123456789-+.eE"[]{},:\\ nulltruefalse\xff\x00')
        path.write_bytes(damaged)
        refused += read_or_refuse(path)
    assert refused > 100


def places(entry: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a JSON document; of long lists the first entries."""
    found = [path] if path else []
    inside = entry.items() if isinstance(entry, dict) else enumerate(entry[:2]) if isinstance(entry, list) else ()
    for key, value in inside:
        found += places(value, (*path, key))
    return found


def changed(entry: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """Return the document with a change at a place; what does not hold the place is not copied."""
    copied = parent = copy.copy(entry)
    for key in path[:-1]:
        parent[key] = copy.copy(parent[key])
        parent = parent[key]
    change(parent, path[-1])
    return copied


IGNORED = {"written_by", "n", "aic", "bic"}
"""Entries for other readers, which this library computes itself."""


def unused(path: tuple[Any, ...]) -> bool:
    """Whether reading can do without an entry: it is for other readers, or optional."""
    return (
        not isinstance(path[-1], str)
        or path[-1]
        in {
            "written_by",
            "n",
            "aic",
            "bic",
            "rest",
            "properties",
            *ADDED_LATER,
        }  # the library computes these itself, or has a default
        or path[-2:] in {("dag", "type"), ("hypotheses", "type")}  # where only one type can stand
        or path[-2:] in {("model", "notes"), ("content", "notes")}  # of a model: files without notes have none
        or "local" in path[:-1]
        or "prior" in path[:-1]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_missing_entries_are_refused(tmp_path: Path, whole: dict[str, bytes], kind: str) -> None:
    entry = json.loads(whole[kind])
    wrong = []
    for path in places(entry):
        if unused(path):
            continue
        (tmp_path / "x.json").write_text(json.dumps(changed(entry, path, lambda parent, key: parent.pop(key))))
        try:
            sf.read(tmp_path / "x.json")
            wrong.append((path, "read"))
        except FileFormatError:
            pass
        except Exception as error:
            wrong.append((path, repr(error)))
    assert not wrong, wrong


@pytest.mark.parametrize("value", [None, 3, -1, 2.5, "x", True, [], {}, [[]], [None], {"a": 1}, 10**40], ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_entries_of_a_wrong_type_are_refused_or_still_a_proper_thing(
    tmp_path: Path, whole: dict[str, bytes], kind: str, value: Any
) -> None:
    entry = json.loads(whole[kind])
    wrong = []
    for path in places(entry):
        spoilt = changed(entry, path, lambda parent, key: parent.__setitem__(key, value))
        (tmp_path / "x.json").write_text(json.dumps(spoilt))
        try:
            read_or_refuse(tmp_path / "x.json")
        except (Exception, AssertionError) as error:
            wrong.append(f"{path}: {str(error)[:80] or error!r}")
    assert not wrong, "\n".join(wrong)


def test_numbers_too_large_for_a_float_are_refused(tmp_path: Path, whole: dict[str, bytes]) -> None:
    entry = json.loads(whole["fit"])
    spoilt = changed(entry, ("content", "log_likelihood"), lambda parent, key: parent.__setitem__(key, 10**400))
    (tmp_path / "x.json").write_text(json.dumps(spoilt))
    with pytest.raises(FileFormatError, match=r"x\.json"):
        sf.read(tmp_path / "x.json")


def edit(whole: dict[str, bytes], folder: Path, kind: str, change: Callable[[Any], Any]) -> Path:
    entry = json.loads(whole[kind])
    change(entry)
    path = folder / "edited.json"
    path.write_text(json.dumps(entry), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "values",
    [[[0.5, 0.6]], [[1.5, -0.5]], [[None, 1.0]], [["inf", "-inf"]], [[0.5]], [[0.5, 0.25, 0.25]], [[0.5, "x"]], [], 3],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["fit", "model"])
def test_probabilities_that_are_no_distribution_are_refused(
    tmp_path: Path, whole: dict[str, bytes], kind: str, values: Any
) -> None:
    def change(entry: Any) -> None:
        content = entry["content"]
        content.get("model", content)["cpds"][0]["values"] = values

    with pytest.raises(FileFormatError, match=r"edited\.json"):
        sf.read(edit(whole, tmp_path, kind, change))


@pytest.mark.parametrize("weights", [[0.5, 0.6, 0], [1, 1, -1], [1], [None, 0, 1], []], ids=repr)
def test_hypothesis_weights_that_are_no_distribution_are_refused(
    tmp_path: Path, whole: dict[str, bytes], weights: list[Any]
) -> None:
    def change(entry: Any) -> None:
        entry["content"]["model"]["weights"] = weights

    with pytest.raises(FileFormatError, match=r"edited\.json"):
        sf.read(edit(whole, tmp_path, "hypotheses", change))


def sparse(entry: Any) -> Any:
    """The one table of a model's document that is sparse."""
    return next(cpd for cpd in entry["content"]["cpds"] if "configurations" in cpd)


def test_default_row_that_is_no_distribution_is_refused(tmp_path: Path) -> None:
    sf.write(big(prior=sf.K2()).model, tmp_path / "x.json")
    entry = json.loads((tmp_path / "x.json").read_text())
    sparse(entry)["default_row"][0] = 7.0
    (tmp_path / "x.json").write_text(json.dumps(entry))
    with pytest.raises(FileFormatError, match=r"x\.json"):
        sf.read(tmp_path / "x.json")


@pytest.mark.parametrize("code", [41, -1, 10**6], ids=str)
def test_configurations_outside_the_states_are_refused(tmp_path: Path, code: int) -> None:
    sf.write(big(prior=sf.K2()).model, tmp_path / "x.json")
    entry = json.loads((tmp_path / "x.json").read_text())
    sparse(entry)["configurations"][-1][0] = code
    (tmp_path / "x.json").write_text(json.dumps(entry))
    with pytest.raises(FileFormatError, match=r"x\.json"):
        sf.read(tmp_path / "x.json")


def test_model_of_another_graph_than_the_structure_is_refused(tmp_path: Path, whole: dict[str, bytes]) -> None:
    def change(entry: Any) -> None:
        entry["content"]["structure"]["parents"] = [["C", []], ["D", ["C"]]]

    with pytest.raises(FileFormatError, match=r"edited\.json"):
        sf.read(edit(whole, tmp_path, "nan", change))


def test_cycle_in_a_file_is_refused(tmp_path: Path, whole: dict[str, bytes]) -> None:
    def change(entry: Any) -> None:
        entry["content"]["dag"]["parents"] = [["A", ["B"]], ["B", ["A"]]]

    with pytest.raises(FileFormatError, match=r"edited\.json.*cycle"):
        sf.read(edit(whole, tmp_path, "model", change))


@pytest.mark.parametrize("version", [0, -1, 1.0, True, "1", None, 2, 10**30], ids=repr)
def test_only_this_version_is_read(tmp_path: Path, whole: dict[str, bytes], version: Any) -> None:
    def change(entry: Any) -> None:
        entry["version"] = version

    with pytest.raises(FileFormatError, match=r"edited\.json"):
        sf.read(edit(whole, tmp_path, "model", change))


@pytest.mark.parametrize("kind", ["Fit", "", None, 3, "statistics"], ids=repr)
def test_only_the_two_kinds_of_documents_are_read(tmp_path: Path, whole: dict[str, bytes], kind: Any) -> None:
    def change(entry: Any) -> None:
        entry["kind"] = kind

    with pytest.raises(FileFormatError, match=r"edited\.json"):
        sf.read(edit(whole, tmp_path, "model", change))


@pytest.mark.parametrize("opening", ["[", '{"a":'], ids=["lists", "objects"])
@pytest.mark.parametrize("depth", [900, 5_000, 200_000])
def test_deep_nesting_is_refused(tmp_path: Path, whole: dict[str, bytes], opening: str, depth: int) -> None:
    path = tmp_path / "x.json"
    closing = "]" if opening == "[" else "}"
    nest = opening * depth + "1" + closing * depth
    path.write_text(nest)
    with pytest.raises(FileFormatError, match=r"x\.json"):
        sf.read(path)
    text = whole["model"].decode()
    start = text.index('"values": ') + len('"values": ')
    path.write_text(text[:start] + nest + "," + '"rest": ' + text[start:])
    with pytest.raises(FileFormatError, match=r"x\.json"):
        sf.read(path)


@pytest.mark.parametrize(
    "content",
    [b"", b" ", b"null", b"3", b"[]", b"{}", b'"suffice"', b'{"format": "suffice"}', b"\xff\xfe", b"PK\3\4", bytes(99),
     b'{"format": "suffice", "version": 1}', b'{"format": "suffice", "version": 1, "kind": "fit"}',
     b'{"format": "suffice", "version": 1, "kind": "model", "content": null}',
     b'{"format": "suffice", "version": 1, "kind": "model", "content": {"type": "Potts"}}'],
    ids=repr,
)  # fmt: skip
def test_foreign_content_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"x\.json"):
        sf.read(tmp_path / "x.json")


def test_reading_a_folder_is_an_access_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()
    with pytest.raises(FileAccessError, match=r"x\.json.*Is a directory"):
        sf.read(tmp_path / "x.json")


def test_statistics_damage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.stats"
    sf.write(sf.collect(sf.DAG("A -> B"), DATA), path)
    content = path.read_bytes()
    assert content
    rng = random.Random("statistics")
    for position in rng.sample(range(len(content)), 200):
        damaged = bytearray(content)
        damaged[position] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"x\.stats"):
            sf.read(path)
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(FileFormatError, match=r"x\.stats"):
            sf.read(path)
