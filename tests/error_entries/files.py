"""Errors of features in files: structure files, tables of functions, and fits whose file contradicts itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.error_catalogue import F, S, World, entry

import suffice as sf
from suffice.io.structure_file import read_structure


def described(w: World, feature: Any, **more: Any) -> Any:
    """Read a structure file with one feature."""
    content = {"type": "Features", "features": [feature], **more}
    return read_structure(w.file("x.json", json.dumps(content)))


def on_graph(w: World, **entries: Any) -> Any:
    return read_structure(w.file("x.json", json.dumps({"type": "Ising", **entries})))


def edited_features(w: World, change: Callable[[Any], Any], *features: Any) -> Any:
    """Read a fit of features whose file was edited: the structure's and the model's features alike."""
    sf.write(sf.fit(sf.Features(list(features) or [sf.indicator(A="x")]), w.data), w.path("whole.json"))
    entry = json.loads((w.folder / "whole.json").read_text(encoding="utf-8"))
    for part in (entry["content"]["structure"], entry["content"]["model"]["features"]):
        change(part)
    return sf.read(w.file("edited.json", json.dumps(entry)))


SAME = sf.feature(lambda a, b: a == b, over=("A", "B"), name="same")
X_STEP = sf.feature(lambda a, x: (a == "x") * x, over=("A", "x"), name="step")
entry("file without features", S, lambda w: read_structure(w.file("x.json", '{"type": "Features", "features": []}')),
      "x.json", "'features' must be a list of at least one", "[[features]]", "Got []")  # fmt: skip
entry("support that is no table", S, lambda w: described(w, {"product": "x"}, support=[0, 1]), "x.json",
      "'support' must be a table", "{ x = [0, 1] }")  # fmt: skip
entry("inputs that are no list", S, lambda w: described(w, {"product": "x"}, given="x"), "x.json",
      "'given' must be a list of variables", "Got 'x'")  # fmt: skip
entry("support of three ends", S, lambda w: described(w, {"product": "x"}, support={"x": [0, 1, 2]}), "x.json",
      "support of 'x' must be two numbers", "[0, inf]")  # fmt: skip
entry("graph given twice", S, lambda w: on_graph(w, graph="a:b", nodes=["a"]), "x.json", "given twice", "Leave one out")
entry("fields of a file", S, lambda w: on_graph(w, graph="a:b", fields=1), "x.json", "'fields' must be true or false",
      "Got 1")  # fmt: skip
entry("values of a file", S, lambda w: on_graph(w, graph="a:b", values="01"), "x.json", "two rising numbers",
      "Got '01'")  # fmt: skip
entry("edges that are no list", S, lambda w: on_graph(w, edges="ab"), "x.json", "'edges' must be a list of pairs",
      "Got 'ab'")  # fmt: skip
entry("edge that is no pair", S, lambda w: on_graph(w, edges=[["a"]]), "x.json", "a pair of names", "Got ['a']")
entry("feature that is no table", S, lambda w: described(w, 3), "x.json", "feature 1", "Got 3")
entry("feature of no kind", S, lambda w: described(w, {"indicater": {"A": 1}}), "feature 1", "exactly one of",
      "'windows'", "None of them is there", "Did you mean 'indicator'?")  # fmt: skip
entry("feature with an unknown entry", S, lambda w: described(w, {"product": "x", "nmae": "y"}), "feature 1",
      "no entry 'nmae'", "Did you mean 'name'?")  # fmt: skip
entry("feature with a number as name", S, lambda w: described(w, {"product": "x", "name": 3}), "'name'", "Got 3")
entry("indicator as list", S, lambda w: described(w, {"indicator": ["A"]}), "states by variable", "Got ['A']")
entry("state as list", S, lambda w: described(w, {"indicator": {"A": ["x"]}}), "state of 'A'", "text, a number",
      "Got ['x']")  # fmt: skip
entry("indicators of nothing", S, lambda w: described(w, {"indicators": []}), "list of variables", "Got []")
entry("reference that is no flag", S, lambda w: described(w, {"indicators": "A", "reference": 1}), "'reference'",
      "true or false", "Got 1")  # fmt: skip
entry("product of a number", S, lambda w: described(w, {"product": 3}), "variables and features", "Got 3")
entry("table without cells", S, lambda w: described(w, {"table": [], "over": "A"}), "feature 1",
      "'table' is empty", "Give states")  # fmt: skip
entry("table as mapping", S, lambda w: described(w, {"table": {"x": 1}, "over": "A"}), "states with their value",
      "Got {'x': 1}")  # fmt: skip
entry("table of no pairs", S, lambda w: described(w, {"table": ["x"], "over": "A"}), "states and their value",
      "Got 'x'")  # fmt: skip
entry("table with too many states", S, lambda w: described(w, {"table": [[["x", "y"], 1]], "over": "A"}),
      "['x', 'y']", "must be 1, one for each of ['A']")  # fmt: skip
entry("table with a cell twice", S, lambda w: described(w, {"table": [["x", 1], ["x", 2]], "over": "A"}), "'x' twice",
      "Leave one")  # fmt: skip
entry("table with text as value", S, lambda w: described(w, {"table": [["x", "y"]], "over": "A"}), "finite number",
      "Got 'y'")  # fmt: skip
entry("windows over text", S, lambda w: described(w, {"windows": ["ab"], "over": "c"}), "'over'", "in order", "Got 'c'")
entry("windows of text", S, lambda w: described(w, {"windows": "ab", "over": ["c"]}), "list of patterns", "width = 2",
      "Got 'ab'")  # fmt: skip
entry("windows of long text", S, lambda w: described(w, {"windows": ["yesno"], "over": ["c", "d"]}), "'yesno'",
      "one state a letter", "['yes', 'no']")  # fmt: skip
entry("windows of a text's width", S, lambda w: described(w, {"windows": ["ab"], "over": ["c", "d"], "width": "2"}),
      "'width'", "whole number of neighbours", "Got '2'")  # fmt: skip
entry("function of a continuous input in a file", S, lambda w: sf.write(sf.fit(sf.Features([X_STEP], given=["x"]),
      {**w.data, "x": [0.5, 1.5, 2.0]}, prior=sf.Gaussian(1.0)), w.path("x.json")), "function of 'x'",
      "'step'", "sf.product", "keep the code")  # fmt: skip
entry("table of a function that does not fit", F, lambda w: edited_features(w, lambda part: part["features"][0][
      "tables"][0].update(sizes=[2, 3]), SAME), "edited.json", "'same' has a table of the shape (2, 3)",
      "Tabulate it anew")  # fmt: skip
entry("table of a function with places outside", F, lambda w: edited_features(w, lambda part: part["features"][0][
      "tables"][0].update(places=[0, 9]), SAME), "edited.json", "lie inside", "[0, 9]")  # fmt: skip
entry("table of a function with odd places", F, lambda w: edited_features(w, lambda part: part["features"][0][
      "tables"][0].update(places=[0, "x"]), SAME), "edited.json", "places", "Got 'x'")  # fmt: skip
entry("function without tables", F, lambda w: edited_features(w, lambda part: part["features"][0].update(tables=[]),
      SAME), "edited.json", "at least one table")  # fmt: skip
entry("model of features given inputs", F, lambda w: edited_features(w, lambda part: part.update(given=["B"]),
      sf.indicator(A="x", B="u")), "edited.json", "must be a ConditionalLogLinear", "Got 'LogLinear'")  # fmt: skip
