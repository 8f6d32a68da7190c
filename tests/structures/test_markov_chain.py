"""The structure of a Markov chain: what it says, and how it reads data."""

from __future__ import annotations

from pathlib import Path

import pytest

import suffice as sf
from suffice.io.structure_file import read_structure

CHAINS = [
    sf.MarkovChain(),
    sf.MarkovChain(0),
    sf.MarkovChain(2, variable="rain", id="site", time="day"),
    sf.MarkovChain(3, level="words", letters=True),
]


@pytest.mark.parametrize("chain", CHAINS, ids=repr)
def test_round_trip_and_identity(chain: sf.MarkovChain) -> None:
    again = sf.MarkovChain.from_dict(chain.to_dict())
    assert again == chain
    assert hash(again) == hash(chain)
    assert repr(again) == repr(chain)
    assert eval(repr(chain), {"MarkovChain": sf.MarkovChain}) == chain


def test_columns_are_those_of_windows() -> None:
    assert sf.MarkovChain(2, variable="rain").columns == ("rain[-2]", "rain[-1]", "rain")
    assert sf.MarkovChain(2).columns == ()
    assert str(sf.MarkovChain(2, variable="rain")) == "p(rain | rain[-2], rain[-1])"
    assert str(sf.MarkovChain(0)) == "p(x)"
    assert "<pre>" in sf.MarkovChain(1)._repr_html_()


def test_structure_file(tmp_path: Path) -> None:
    path = tmp_path / "chain.toml"
    path.write_text('type = "MarkovChain"\norder = 2\nvariable = "rain"\nid = "site"\ntime = "day"\n')
    assert read_structure(str(path)) == sf.MarkovChain(2, variable="rain", id="site", time="day")
    path.write_text('type = "MarkovChain"\norder = "2"\n')
    with pytest.raises(sf.StructureError, match="whole number, at least 0"):
        read_structure(str(path))


def test_reads_tables_as_it_says_and_text_files_by_their_ending(tmp_path: Path) -> None:
    table = {"site": [1, 2, 1], "day": [2, 1, 1], "rain": ["no", "yes", "yes"]}
    by_structure = sf.fit(sf.MarkovChain(1, variable="rain", id="site", time="day"), table)
    by_sequences = sf.fit(sf.MarkovChain(1), sf.Sequences(table, variable="rain", id="site", time="day"))
    assert by_structure.log_likelihood == by_sequences.log_likelihood
    assert by_sequences.model.variable.name == "rain"
    path = tmp_path / "poem.txt"
    path.write_text("To be.\nOr not\n")
    assert sf.fit(sf.MarkovChain(0), str(path)).n == 14
    assert sf.fit(sf.MarkovChain(0, level="words"), str(path)).n == 4
    assert sf.fit(sf.MarkovChain(0, level="lines", letters=True), path).n == 11
