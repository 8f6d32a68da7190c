"""Lists of tables, and arrays with one column: each is read as the sequences that its user means."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice as sf

WRAPS: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "Polars": pl.DataFrame,
    "PyArrow": pa.table,
    "record batch": pa.RecordBatch.from_pydict,
    "dict": dict,
}
TEXTS = ["abababab", "bba"]


def chain_of(**settings: Any) -> sf.MarkovChain:
    return sf.MarkovChain(variable="o", **settings)


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=list(WRAPS))
class TestListsOfTables:
    def tables(self, wrap: Any) -> list[Any]:
        return [wrap({"o": list(text), "day": list(range(len(text)))}) for text in TEXTS]

    def test_each_table_is_one_sequence_of_a_chain(self, wrap: Any) -> None:
        fit = sf.fit(chain_of(order=1), self.tables(wrap))
        wanted = sf.fit(chain_of(order=1), TEXTS)
        assert fit.model.schema["o"].states == ("a", "b")
        assert fit.n == wanted.n == 11
        assert fit.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-15)
        assert fit.certificate.ok

    def test_each_table_is_one_sequence_of_a_hidden_chain(self, wrap: Any) -> None:
        hidden = chain_of(latent={"z": 2})
        fit = sf.fit(hidden, self.tables(wrap), seed=1, restarts=1, max_iter=5)
        wanted = sf.fit(hidden, TEXTS, seed=1, restarts=1, max_iter=5)
        assert fit.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-12)
        assert fit.model.log_prob(self.tables(wrap)) == pytest.approx(fit.model.log_prob(TEXTS))

    def test_each_table_is_one_sequence_of_an_autoregression(self, wrap: Any) -> None:
        rng = np.random.default_rng(4)
        x = [rng.normal(size=(n, 2)) for n in (30, 20)]
        tables = [wrap({"u": one[:, 0], "v": one[:, 1]}) for one in x]
        structure = sf.Autoregression(1, variables=["u", "v"])
        fit, wanted = sf.fit(structure, tables), sf.fit(structure, x)
        assert fit.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-12)

    def test_the_only_column_needs_no_name(self, wrap: Any) -> None:
        fit = sf.fit(sf.MarkovChain(order=1), [wrap({"rain": list(text)}) for text in TEXTS])
        assert fit.model.schema["rain"].states == ("a", "b")

    def test_rows_are_put_in_order_of_time(self, wrap: Any) -> None:
        tables = [wrap({"o": list(text)[::-1], "day": list(range(len(text)))[::-1]}) for text in TEXTS]
        fit, wanted = (sf.fit(chain_of(order=1, time=time), data) for time, data in ((None, TEXTS), ("day", tables)))
        assert fit.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-15)

    def test_a_table_without_the_column_is_named(self, wrap: Any) -> None:
        with pytest.raises(sf.DataError, match=r"Sequence 2 of 2: There is no column 'o' .*\['p'\]"):
            sf.fit(chain_of(order=1), [wrap({"o": ["a", "b"]}), wrap({"p": ["a"]})])


def test_integers_and_floats_of_several_tables_become_one_column_of_numbers() -> None:
    fit = sf.fit(
        sf.Autoregression(1, variables=["u"]), [{"u": [1, 2, 4, 3]}, pd.DataFrame({"u": [0.5, 2.5, 1.0]}), {"u": []}]
    )
    wanted = sf.fit(sf.Autoregression(1, variables=["u"]), [[1.0, 2.0, 4.0, 3.0], [0.5, 2.5, 1.0], []])
    assert fit.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-15)


def test_categoricals_of_several_tables_have_their_levels_or_those_of_all() -> None:
    levels = pd.CategoricalDtype(["low", "high", "never"])
    same = [pd.DataFrame({"o": pd.Series(["low", "high"], dtype=levels)})] * 2
    assert sf.fit(chain_of(order=0), same).model.schema["o"].states == ("low", "high", "never")
    other = pd.DataFrame({"o": pd.Series(["mid", None], dtype=pd.CategoricalDtype(["mid"]))}).iloc[:1]
    assert sf.fit(chain_of(order=0), [same[0], other]).model.schema["o"].states == ("high", "low", "mid")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([{"o": ["a"]}, {"o": [1]}], "Column 'o' mixes values of different types"),
        ([{"o": ["a"]}, ["a"]], "All sequences must be of one kind. Got lists and tables together"),
        ([{"o": "a"}, {"o": "b"}], "Sequence 1 of 2: Column 'o' must be a list or an array"),
        ([{"a", "b"}], "Got {"),
    ],
)
def test_what_is_no_list_of_tables_is_refused(data: Any, said: str) -> None:
    with pytest.raises(sf.DataError, match=re.escape(said)):
        sf.fit(chain_of(order=0), data)


def test_tables_of_different_columns_are_refused() -> None:
    with pytest.raises(sf.DataError, match=r"Sequence 2 of 2 has the column .*, and the first one .*variable='…'"):
        sf.fit(sf.MarkovChain(order=0), [{"o": ["a"]}, {"p": ["a"]}])


def test_a_column_of_sequences_has_no_use_in_a_list_of_tables() -> None:
    with pytest.raises(sf.ArgumentError, match="each table is one sequence"):
        sf.fit(chain_of(order=0, id="site"), [{"o": ["a"], "site": [1]}])


@pytest.mark.parametrize("tagger", [sf.ChainCRF, sf.MEMM])
@pytest.mark.parametrize("wrap", WRAPS.values(), ids=list(WRAPS))
def test_taggers_refuse_tables_as_sequences(tagger: Any, wrap: Any) -> None:
    table = wrap({"word": ["the", "cat"]})
    with pytest.raises(sf.DataError, match="Sequence 1 of 'X' must be a list of positions"):
        tagger().fit([table], [["D", "N"]])
    with pytest.raises(sf.DataError, match="Sequence 1 of 'y' must be a list of labels"):
        tagger().fit([[["the"]]], [table])


# Arrays of one column -----------------------------------------------------------------------------------------

WALK_SHOP_CLEAN = np.array([[0], [1], [2]])


def weather() -> sf.HiddenMarkovModel:
    """Return the model of https://en.wikipedia.org/wiki/Hidden_Markov_model: rainy, sunny; walk, shop, clean."""
    chain = sf.MarkovChain(latent={"weather": 2}, variable="x")
    start, step = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.4, 0.6]])
    shown = np.array([[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]])
    return sf.HiddenMarkovModel.of(chain, {"x": [0, 1, 2]}, start, step, {"x": shown})


class TestArraysOfOneColumn:
    @pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float64, object, str])
    def test_are_one_sequence(self, kind: Any) -> None:
        data = np.array([[0], [1], [2], [1]]).astype(kind)
        assert list(sf.Sequences(data)) == [data.reshape(-1).tolist()]

    def test_of_the_wikipedia_have_the_likelihood_of_hmmlearn(self) -> None:
        assert weather().log_likelihood(WALK_SHOP_CLEAN) == pytest.approx(-3.392872, abs=5e-7)

    def test_are_divided_by_lengths(self) -> None:
        x = np.array([[0], [1], [2], [1], [0]])
        for data in (x, x.reshape(-1)):
            assert list(sf.Sequences(data, lengths=[3, 0, 2])) == [[0, 1, 2], [], [1, 0]]
        model = weather()
        parts = [model.log_likelihood(x[:3]), model.log_likelihood(x[3:])]
        assert model.log_likelihood(sf.Sequences(x, lengths=np.array([3, 2]))) == pytest.approx(sum(parts))

    def test_vectors_are_divided_by_lengths(self) -> None:
        x = np.random.default_rng(1).normal(size=(50, 2))
        structure = sf.Autoregression(1, variables=["u", "v"])
        divided = sf.fit(structure, sf.Sequences(x, variable=["u", "v"], lengths=[30, 20]))
        assert divided.log_likelihood == pytest.approx(sf.fit(structure, [x[:30], x[30:]]).log_likelihood)

    @pytest.mark.parametrize(
        ("data", "lengths", "said"),
        [
            (WALK_SHOP_CLEAN, [1, 1], "must add up to the 3 positions of the array. Got a sum of 2"),
            (WALK_SHOP_CLEAN, [4, -1], "the number of positions of each sequence"),
            (WALK_SHOP_CLEAN, 3, "the number of positions of each sequence"),
            (["abc"], [3], "is for an array with one row per position"),
            ({"x": [1, 2, 3]}, [3], "is for an array with one row per position"),
            (np.zeros((2, 2, 2)), [2], "is for an array with one row per position"),
        ],
    )
    def test_lengths_that_do_not_fit_are_refused(self, data: Any, lengths: Any, said: str) -> None:
        with pytest.raises(sf.ArgumentError, match=re.escape(said)):
            sf.Sequences(data, lengths=lengths)


def test_a_row_without_its_sequence_is_not_advised_to_be_left_unobserved() -> None:
    chain = sf.MarkovChain(latent={"z": 2}, variable="o", id="site")
    with pytest.raises(sf.DataError, match="belongs to no sequence") as caught:
        sf.fit(chain, {"o": ["a", "b"], "site": ["s", None]})
    assert caught.value.remedies == ()
    with pytest.raises(sf.DataError, match="the value is missing") as caught:
        sf.fit(chain, {"o": ["a", None], "site": ["s", "s"]})
    assert [remedy.argument for remedy in caught.value.remedies] == ["missing"]
