"""The parts of ``suffice classify``: options, cases of a file, rows that are written."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import suffice as sf
from suffice.cli import classify_cases
from suffice.cli.classify_answers import Survey
from suffice.cli.classify_cases import CaseFile, CaseTally
from suffice.cli.classify_options import read_class_prior, read_inputs, read_other_prior, read_pairs
from suffice.cli.classify_rows import ClassifiedRows, OutputColumns, write_csv, write_predictions
from suffice.cli.shared import split_names
from suffice.data.variable import Variable
from suffice.models.class_model import ClassModel
from suffice.progress import Watch
from suffice.structures.joint_classes import JointClasses

# Options ------------------------------------------------------------------------------------------------------

LABELS = st.text(st.characters(codec="utf-8", exclude_characters='",\r\n\0'), min_size=1, max_size=5)


@given(st.dictionaries(LABELS, st.floats(0, 1), min_size=1, max_size=4))
def test_class_probabilities_are_read_back(given_p: dict[str, float]) -> None:
    text = ",".join(f"{label}={p!r}" for label, p in given_p.items())
    assert read_class_prior(text) == given_p


def test_class_probabilities_are_words_numbers_or_pairs() -> None:
    assert read_class_prior(None) is None
    assert [read_class_prior(text) for text in ("counted", "uniform", "0.5")] == ["counted", "uniform", 0.5]
    assert read_class_prior('"a,b=0.4",c=d=0.6') == {"a,b": 0.4, "c=d": 0.6}
    assert read_other_prior("uniform") == "uniform"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("even", "counted, uniform, a pseudo-count such as 1, or CLASS=P"),
        ("yes=half,no=0.5", "Got 'yes=half,no=0.5'"),
        ("yes=0.5,yes=0.5", "'yes' is given more than once"),
        ("a=1,,b=0", "--class-prior takes names with commas"),
        ("", "Got ''"),
    ],
)
def test_class_probabilities_written_otherwise_are_refused(text: str, says: str) -> None:
    with pytest.raises(sf.ArgumentError) as caught:
        read_class_prior(text)
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ["counted", "2"])
def test_other_class_probabilities_need_no_data(text: str) -> None:
    with pytest.raises(sf.ArgumentError, match=r"written uniform, or CLASS=P"):
        read_other_prior(text)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1), min_size=1))
def test_names_are_split_as_a_csv_file_is(names: list[str]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    assert split_names(text.getvalue(), "--inputs") == names


def test_inputs_are_all_other_columns_or_those_that_are_named() -> None:
    names = ("id", "a", "b", "w", "y")
    assert read_inputs(names, "y", None, None, None) == ("id", "a", "b", "w")
    assert read_inputs(names, "y", "w", None, "id") == ("a", "b")
    assert read_inputs(names, "y", "w", "b,a", None) == ("b", "a")


@pytest.mark.parametrize(
    ("target", "inputs", "exclude", "says"),
    [
        ("z", None, None, "--target names the column 'z'"),
        ("spcies", None, None, "Did you mean 'species'?"),
        ("species", "lenght", None, "--inputs names the column 'lenght'"),
        ("species", "lenght", None, "Did you mean 'length'?"),
        ("species", None, "widht", "--exclude names the column 'widht'"),
        ("species", "length,species", None, "'species' is the class"),
        ("species", "length,length", None, "'length' more than once"),
        ("species", None, "species", "never an input"),
        ("species", "length", "width", "not by both"),
        ("species", None, "length,width", "No column is left"),
    ],
)
def test_inputs_that_make_no_sense_are_refused(target: str, inputs: str | None, exclude: str | None, says: str) -> None:
    with pytest.raises(sf.SufficeError) as caught:
        read_inputs(("length", "width", "species"), target, None, inputs, exclude)
    assert says in str(caught.value)


def test_kinds_are_read_by_the_last_sign() -> None:
    assert read_pairs(["a=b=gaussian", "c=bernoulli"], "--kind", "x=y") == {"a=b": "gaussian", "c": "bernoulli"}
    for texts, says in ((["a"], "COL=WORD"), (["=b"], "COL=WORD"), (["a=b", "a=c"], "more than once")):
        with pytest.raises(sf.ArgumentError, match=says):
            read_pairs(texts, "--kind", "x=y")


# Rows ---------------------------------------------------------------------------------------------------------

FIELD = st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6))


@st.composite
def predictions(draw: st.DrawFn) -> tuple[OutputColumns, list[ClassifiedRows]]:
    labels = draw(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4),
                           min_size=1, max_size=3, unique=True))  # fmt: skip
    keep = draw(st.sampled_from([(), ("id",), ("predicted", "a,b")]))
    parts = []
    for n in draw(st.lists(st.integers(0, 4), max_size=3)):
        codes = draw(st.lists(st.integers(-1, len(labels) - 1), min_size=n, max_size=n))
        p = np.random.default_rng(draw(st.integers(0, 99))).dirichlet(np.ones(len(labels)), n).reshape(n, len(labels))
        p[np.array(codes, int) < 0] = np.nan
        kept = {name: pa.array(draw(st.lists(FIELD, min_size=n, max_size=n)), pa.string()) for name in keep}
        parts.append(ClassifiedRows(kept, np.array(codes, np.int64), np.log(p)))
    return OutputColumns(Variable("y", tuple(labels)), keep, draw(st.booleans())), parts


def wanted(layout: OutputColumns, parts: list[ClassifiedRows]) -> list[list[Any]]:
    """Return the rows that must be written, cell by cell."""
    rows: list[list[Any]] = []
    for part in parts:
        for place, code in enumerate(part.classes.tolist()):
            row: list[Any] = [part.kept[name][place].as_py() for name in layout.keep]
            row.append(None if code < 0 else layout.target.labels[code])
            if layout.probabilities:
                row += [None if code < 0 else float(np.exp(value)) for value in part.log_posteriors[place]]
            rows.append(row)
    return rows


@settings(deadline=None)
@given(predictions())
def test_csv_holds_every_cell(case: tuple[OutputColumns, list[ClassifiedRows]]) -> None:
    layout, parts = case
    file = io.BytesIO()
    write_csv(layout, parts, file)
    header, *rows = csv.reader(io.StringIO(file.getvalue().decode(), newline=""))
    assert header == layout.names
    n_text = len(layout.keep) + 1
    texts = [[cell or "" for cell in row[:n_text]] for row in wanted(layout, parts)]
    assert [row[:n_text] for row in rows] == texts
    numbers = [[None if cell == "" else float(cell) for cell in row[n_text:]] for row in rows]
    assert numbers == [row[n_text:] for row in wanted(layout, parts)]  # to the last digit


@settings(deadline=None)
@given(predictions())
def test_parquet_holds_every_cell(tmp_path_factory: pytest.TempPathFactory, case: Any) -> None:
    layout, parts = case
    path = str(tmp_path_factory.mktemp("rows") / "p.parquet")
    write_predictions(layout, parts, path)
    table = parquet.read_table(path)
    assert table.column_names == layout.names
    assert [list(row.values()) for row in table.to_pylist()] == wanted(layout, parts)


def test_kept_columns_keep_their_types_in_parquet_and_must_have_one(tmp_path: Path) -> None:
    layout = OutputColumns(Variable("y", (0, 1)), ("id",))
    log_p = np.zeros((1, 2))
    first = ClassifiedRows({"id": pa.array([7], pa.int64())}, np.array([1]), log_p)
    path = str(tmp_path / "p.parquet")
    write_predictions(layout, [first, ClassifiedRows({"id": pa.array([8], pa.int32())}, np.array([0]), log_p)], path)
    assert parquet.read_table(path).to_pylist() == [{"id": 7, "predicted": 1}, {"id": 8, "predicted": 0}]
    other = ClassifiedRows({"id": pa.array(["x"])}, np.array([0]), log_p)
    with pytest.raises(sf.DataError, match=r"'id' has type int64 in the first file and string in another"):
        write_predictions(layout, [first, other], path)
    assert len(parquet.read_table(path)) == 2  # what was there before


def test_lists_have_no_form_in_csv() -> None:
    layout = OutputColumns(Variable("y", ("a",)), ("id",))
    part = ClassifiedRows({"id": pa.array([[1, 2]])}, np.array([0]), np.zeros((1, 1)))
    with pytest.raises(sf.DataError, match=r"'id' has type list.*\.parquet"):
        write_csv(layout, [part], io.BytesIO())


# Cases --------------------------------------------------------------------------------------------------------


def weather() -> ClassModel:
    data = {
        "sky": ["grey", "grey", "blue", "blue"],
        "wind": ["yes", "no", "no", "no"],
        "rain": ["yes", "no", "no", "no"],
    }
    model = sf.fit(JointClasses("rain", ("sky", "wind")), data, prior=sf.Dirichlet(0.5)).model
    assert isinstance(model, ClassModel)
    return model


CELLS = st.lists(
    st.tuples(st.sampled_from(["grey", "blue", ""]), st.sampled_from(["yes", "no", ""]),
              st.sampled_from(["yes", "no", "", "hail", "snow"]), st.sampled_from(["1", "2", "0.5"])),
    max_size=9,
)  # fmt: skip


@settings(deadline=None)
@given(CELLS, st.integers(1, 4))
def test_survey_is_that_of_a_loop_over_the_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]], piece: int
) -> None:
    path = tmp_path_factory.mktemp("cases") / "c.csv"
    path.write_text("\n".join(["sky,wind,rain,w", *map(",".join, rows), ""]))
    model = weather()
    survey = Survey.of(CaseFile.open(model, str(path), weights="w", keep=("rain", "w")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classify_cases, "PIECE_ROWS", piece)
        found = list(survey.answers(Watch()))
    assert all(len(part.classes) <= piece for part in found)

    n_wrong, n, predicted, kept = 0.0, 0.0, [], []
    for sky, wind, rain, w in rows:
        seen = {name: value for name, value in (("sky", sky), ("wind", wind)) if value}
        best = model.map(seen)["rain"]
        predicted.append(best)
        kept.append((rain or None, w))
        if rain in ("yes", "no"):
            n, n_wrong = n + float(w), n_wrong + float(w) * (best != rain)
    labels = model.target.labels
    assert [labels[code] for part in found for code in part.classes] == predicted
    said = [
        pair for part in found for pair in zip(*(part.kept[name].to_pylist() for name in ("rain", "w")), strict=True)
    ]
    assert said == kept
    assert (survey.confusion.n, survey.confusion.n_wrong) == (n, n_wrong)
    tally = survey.tally
    assert tally.n_rows == len(rows)
    assert tally.n_with_gaps == sum(not sky or not wind for sky, wind, _, _ in rows)
    assert tally.n_without_class == sum(not row[2] for row in rows)
    strange = [row[2] for row in rows if row[2] in ("hail", "snow")]
    assert (tally.n_unknown_class, tally.unknown_class) == (len(strange), strange[0] if strange else None)


def test_dropping_leaves_out_rows_that_lack_an_input_or_the_class(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("sky,wind,rain\ngrey,no,yes\n,no,no\nblue,no,\nblue,no,no\n")
    file = CaseFile.open(weather(), str(path), drops=True)
    tally = CaseTally()
    parts = list(file.read(Watch(), tally))
    assert [part.columns["sky"].tolist() for part in parts] == [[1, 0]]
    assert tally.n_rows == 4


def test_columns_to_keep_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("sky,wind,number\n")
    with pytest.raises(sf.DataError, match=r"no column 'nmber' to keep.*Did you mean 'number'"):
        CaseFile.open(weather(), str(path), keep=("nmber",))
