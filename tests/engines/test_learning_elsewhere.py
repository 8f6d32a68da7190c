"""Learners of many passes reach the local optimum through engines, and a worker that dies costs nothing but time."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice as sf
from suffice.engines import kind_of
from suffice.opening import StructureOpening
from suffice.progress import Watch

pytestmark = pytest.mark.filterwarnings("ignore")  # engines warn of each other's versions


def sentences(n, seed):
    rng = np.random.default_rng(seed)
    labels = [rng.choice(["N", "V", "D"], rng.integers(1, 8)).tolist() for _ in range(n)]
    words = [
        [{"word": f"{tag}{rng.integers(3)}" if rng.random() < 0.8 else "x", "n": 0.5} for tag in own] for own in labels
    ]
    return words, labels


@pytest.fixture(scope="module")
def dask_client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(params=["dask", pytest.param("spark", marks=pytest.mark.java)])
def engine(request):
    return request.getfixturevalue("spark" if request.param == "spark" else "dask_client")


def require_the_local_optimum(kind, engine, n, c2):
    words, labels = sentences(n, seed=3)
    weights = np.arange(n) % 3 + 1
    here = kind(c2=c2, tol=1e-8).fit(words, labels, weights)
    there = kind(c2=c2, tol=1e-8).fit(words, labels, weights, engine=engine)
    assert there.fit_.certificate.ok
    assert there.fit_.log_likelihood == pytest.approx(here.fit_.log_likelihood, abs=1e-6)
    np.testing.assert_allclose(there.model_.weights, here.model_.weights, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [sf.ChainCRF, sf.MEMM])
def test_taggers_reach_the_local_optimum(kind, engine):
    require_the_local_optimum(kind, engine, n=60, c2=0.5)


@pytest.mark.parametrize(
    ("kind", "engine_name"),
    [(sf.ChainCRF, "dask_here"), (sf.MEMM, "dask_here"), pytest.param(sf.ChainCRF, "spark", marks=pytest.mark.java)],
)
def test_small_taggers_reach_the_local_optimum_in_few_passes(kind, engine_name, request):
    require_the_local_optimum(kind, request.getfixturevalue(engine_name), n=12, c2=10.0)


def test_an_engine_that_is_none_is_refused():
    words, labels = sentences(5, seed=1)
    with pytest.raises(sf.ArgumentError, match="must be a SparkSession"):
        sf.ChainCRF().fit(words, labels, engine="cluster")


# A worker that dies -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DyingOpening(StructureOpening):
    """An opening that ends the first worker that opens a piece, once."""

    mark: str = ""
    driver: int = 0

    def __call__(self, data, watch=None):
        if os.getpid() != self.driver:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
                os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(data, watch)


@pytest.fixture
def parts(tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.choice(["x", "y"], 4000), "b": rng.choice(["u", "v", "w"], 4000)})
    (tmp_path / "parts").mkdir()
    for place, rows in enumerate(np.array_split(np.arange(len(frame)), 8)):
        part = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        pq.write_table(part, tmp_path / "parts" / f"{place}.parquet")
    return tmp_path / "parts", frame


@pytest.mark.slow
@pytest.mark.parametrize("which", ["dask", pytest.param("spark", marks=pytest.mark.java)])
def test_counts_are_exact_though_a_worker_died(which, parts, tmp_path, request):
    folder, frame = parts
    if which == "spark":
        table = request.getfixturevalue("spark").read.parquet(str(folder))
    else:
        import dask.dataframe as dd

        request.getfixturevalue("dask_client")
        table = dd.read_parquet(folder)
    opening = DyingOpening(sf.DAG("a -> b"), mark=str(tmp_path / "died"), driver=os.getpid())
    found = kind_of(table).open_source(table, opening, Watch()).gather([sf.Count(("a", "b"))])
    assert (tmp_path / "died").exists()
    wanted = sf.collect(sf.DAG("a -> b"), frame)[sf.Count(("a", "b"))]
    np.testing.assert_array_equal(found[sf.Count(("a", "b"))].values, wanted.values)
    assert found.n_read == len(frame)
