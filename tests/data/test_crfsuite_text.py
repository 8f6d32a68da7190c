"""Labels and attributes in CRFsuite's text format."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice as sf
from suffice.data.crfsuite_text import read_attributes

# What may stand in a name: all but the tabulator and what ends a line.
NAMES = st.text(st.characters(exclude_characters="\t\r\n", exclude_categories=("Cs",)), max_size=5)
LABELS = NAMES.filter(lambda label: label.strip() and not label.startswith(("@weight", "\ufeff")))
VALUES = st.sampled_from([1.0, 0.5, -2.0, 1e-3, 0.0])


def escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace(":", "\\:")


def summed(position: Any) -> dict[str, float]:
    """The values of the attributes of a position, those of names that stand there twice added up."""
    pairs = position.items() if isinstance(position, dict) else ((name, 1.0) for name in position)
    found: dict[str, float] = {}
    for name, value in pairs:
        found[name] = found.get(name, 0.0) + value
    return found


@given(st.lists(st.lists(st.tuples(LABELS, st.lists(st.tuples(NAMES, VALUES), max_size=4)), min_size=1), max_size=4))
def test_what_is_written_by_the_rules_is_read(sequences: list[list[Any]]) -> None:
    lines = []
    for sequence in sequences:
        for label, attributes in sequence:
            fields = [
                escaped(name) if value == 1.0 and name else f"{escaped(name)}:{value}" for name, value in attributes
            ]
            lines.append("\t".join([escaped(label), *fields]))
        lines.append("")
    found = read_attributes(lines)
    assert found.labels == [[label for label, _ in sequence] for sequence in sequences]
    assert found.weights is None
    for positions, sequence in zip(found.features, sequences, strict=True):
        for position, (_, attributes) in zip(positions, sequence, strict=True):
            wanted: dict[str, float] = {}
            for name, value in attributes:
                wanted[name] = wanted.get(name, 0.0) + value
            assert summed(position) == wanted


def test_escapes_and_values_are_told_apart() -> None:
    (position,) = read_attributes(["X\ta\\:b\tc:2\td\\\\:3\te\\:f:4\t\tg\\"]).features[0]
    assert position == {"a:b": 1.0, "c": 2.0, "d\\": 3.0, "e:f": 4.0, "g\\": 1.0}


def test_names_without_values_make_lists_which_keep_what_stands_twice() -> None:
    assert read_attributes(["X\ta\ta\tb", "Y"]).features == [[["a", "a", "b"], []]]


def test_sequences_have_weights_and_lines() -> None:
    found = read_attributes(["", "@weight:2.5", "X\ta", "Y\tb", "", " ", "", "Z\tc"])
    assert found.weights == [2.5, 1.0]
    assert found.lines == [[3, 4], [8]]
    assert found.labels == [["X", "Y"], ["Z"]]


def test_labels_may_be_left_out() -> None:
    assert read_attributes(["\ta", "\tb"]).labels == [["", ""]]


def test_packed_files_and_dos_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress("\ufeffX\tä\r\nY\tb\r\n\r\nZ\tc".encode()))
    found = read_attributes(path)
    assert found.labels == [["X", "Y"], ["Z"]]
    assert found.features == [[["ä"], ["b"]], [["c"]]]


@pytest.mark.parametrize("value", ["b", "", "nan", "inf", "1:2"])
def test_values_that_are_no_numbers_are_refused_with_their_line(value: str) -> None:
    with pytest.raises(sf.DataError, match=r"line 2: .*\\:"):
        read_attributes(["X\ta", f"Y\ta:{value}"])
    with pytest.raises(sf.DataError, match="line 1"):
        read_attributes([f"@weight:{value}", "X\ta"])


def test_such_text_is_learnt_from_as_the_same_features_are() -> None:
    lines = ["D\tw=the\tn:0.5", "N\tw=cat", "", "D\tw=a", "N\tw=dog\tn:2", "V\tw=barks"]
    found = read_attributes(lines)
    x = [[{"w=the": 1, "n": 0.5}, ["w=cat"]], [["w=a"], {"w=dog": 1, "n": 2}, ["w=barks"]]]
    ours, wanted = sf.ChainCRF().fit(found.features, found.labels), sf.ChainCRF().fit(x, [["D", "N"], ["D", "N", "V"]])
    assert ours.fit_.log_likelihood == wanted.fit_.log_likelihood
