"""W2: Gaussian networks, 1,000,000 rows of ecoli70 (46 columns) and arth150 (107), all regressions.

Rows are drawn by NumPy from the published coefficients. A reference in extended precision is computed once, from
centred columns, and every contestant is compared with it; the variances of pgmpy and pybnesian, which divide by the
degrees of freedom, are brought to the divisor N first. A last race shifts every column far from zero.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import (
    HERE,
    Answer,
    Contestant,
    Context,
    Entry,
    Outcome,
    contestant_main,
    measured_table,
    race,
    say,
)

TITLE = "W2: Gaussian networks, 1,000,000 rows in memory → all regressions"
SEED = 2
N_ROWS = 1_000_000
SHIFT = 1e8
RACES = (("ecoli70", 1, 0.0), ("arth150", 1, 0.0), ("ecoli70", 10, SHIFT))
"""Network, what N_ROWS is divided by, and what is added to every column."""
TOLERANCE = 1e-9

START_LIST = (
    Entry("suffice `sf.fit` (pandas)", "suffice", "ours"),
    Entry("suffice `sf.fit` (Arrow)", "suffice-arrow", "ours"),
    Entry("pgmpy `LinearGaussianBayesianNetwork.fit`", "pgmpy"),
    Entry("pybnesian `GaussianNetwork.fit` (pandas)", "pybnesian"),
    Entry("pybnesian `GaussianNetwork.fit` (Arrow)", "pybnesian-arrow"),
    Entry("NumPy: one shifted product of all columns, no checks, one thread", "numpy", "ours",
          {"environment": {"OPENBLAS_NUM_THREADS": "1"}}),
)  # fmt: skip


def run(context: Context) -> str:
    """Race on the networks, and return a section in Markdown."""
    parts = [
        f"Rows drawn by NumPy, seed {SEED}. Times count from the frame to all intercepts, coefficients and variances; "
        "ours check the values, and hold the log-likelihood and the certificate. `coefficients` is the largest gap to "
        "a reference in extended precision (NumPy's longdouble), in standard deviations of the child a standard "
        "deviation of the parent; `intercepts` is relative to the size of the terms that it is the sum of, and "
        "`variances` relative."
    ]
    for network, divisor, shift in RACES:
        n_rows = N_ROWS // divisor // (100 if context.quick else 1)
        words = f"{network}, {n_rows:,} rows" + (f", every column {shift:g} above its own values" if shift else "")
        say(f" {words}")
        request = request_of(context, network, n_rows, shift)
        outcomes = race(context, Path(__file__).name, START_LIST, request)
        parts += [f"### {words}", table_of(outcomes)]
    return "\n\n".join(parts)


def request_of(context: Context, network: str, n_rows: int, shift: float) -> dict[str, Any]:
    """Return what contestants are asked, and make the rows where they do not exist yet."""
    path = context.work / f"{network}-{n_rows}-shift{shift:g}-seed{SEED}.json"
    if not path.exists():
        say(f"  drawing {n_rows:,} rows of {network}, seed {SEED}, and their reference …")
        source = context.data / "networks_gaussian" / f"{network}.json"
        arguments = ["make", str(source), str(n_rows), str(shift), str(path)]
        subprocess.run([context.python, str(HERE / Path(__file__).name), *arguments], check=True)
    return {"network": str(path), "rows": str(path.with_suffix(".arrow")), "repeats": 7, "budget": 15}


def table_of(outcomes: Sequence[Outcome]) -> str:
    """Return the measurements as a Markdown table, with the gaps to the reference."""
    names = ("coefficients", "intercepts", "variances")

    def gaps(outcome: Outcome) -> list[str]:
        assert outcome.measured is not None
        found = (outcome.measured["answer"][name][0] for name in names)
        return [f"{gap:.1e}" + (", DIFFERS" if not gap <= TOLERANCE else "") for gap in found]

    return measured_table(outcomes, names, gaps)


# Making rows and their reference, in this library's environment ----------------------------------------------


def make(source: str, n_rows: int, shift: float, target: str) -> None:
    """Draw the rows, compute the reference, and write both."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import feather

    described = json.loads(Path(source).read_text())
    rng = np.random.default_rng(SEED)
    columns: dict[str, Any] = {}
    waiting = list(described["nodes"])
    while waiting:
        node = waiting.pop(0)
        entry = described["cpds"][node]
        if any(parent not in columns for parent in entry["parents"]):
            waiting.append(node)
            continue
        values = np.sqrt(entry["variance"][0]) * rng.standard_normal(n_rows) + entry["coefficients"]["(Intercept)"][0]
        for parent in entry["parents"]:
            values += entry["coefficients"][parent][0] * columns[parent]
        columns[node] = values
    columns = {node: columns[node] + shift for node in described["nodes"]}
    parents = {node: described["cpds"][node]["parents"] for node in described["nodes"]}
    feather.write_feather(pa.table(columns), str(Path(target).with_suffix(".arrow")), compression="uncompressed")
    Path(target).write_text(json.dumps({"n_rows": n_rows, "nodes": reference(columns, parents)}))


def reference(columns: Mapping[str, Any], parents: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return parents, parameters, means and standard deviations of every node, in extended precision."""
    import numpy as np

    wide = {name: values.astype(np.longdouble) for name, values in columns.items()}
    means = {name: values.mean() for name, values in wide.items()}
    centred = {name: wide[name] - means[name] for name in wide}
    nodes = {}
    for node, above in parents.items():
        scope = [*above, node]
        products = [[(centred[a] * centred[b]).mean() for b in scope] for a in scope]
        slopes = solved([row[:-1] for row in products[:-1]], [row[-1] for row in products[:-1]])
        level = means[node] - sum((b * means[name] for b, name in zip(slopes, above, strict=True)), np.longdouble(0))
        explained = sum((slope * row[-1] for slope, row in zip(slopes, products, strict=False)), np.longdouble(0))
        nodes[node] = {
            "parents": list(above),
            "intercept": float(level),
            "coefficients": list(map(float, slopes)),
            "variance": float(products[-1][-1] - explained),
            "means": [float(means[name]) for name in scope],
            "sds": [float(np.sqrt(products[i][i])) for i in range(len(scope))],
        }
    return nodes


def solved(matrix: list[list[Any]], right: list[Any]) -> list[Any]:
    """Solve a small positive definite system by elimination, in the precision of its numbers."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k, pivot in enumerate(rows):
        for other in rows[k + 1 :]:
            factor = other[k] / pivot[k]
            other[:] = [a - factor * b for a, b in zip(other, pivot, strict=True)]
    found: list[Any] = []
    for k in reversed(range(len(rows))):
        known = sum((rows[k][k + 1 + j] * value for j, value in enumerate(found)), 0 * rows[k][k])
        found.insert(0, (rows[k][-1] - known) / rows[k][k])
    return found


# Contestants --------------------------------------------------------------------------------------------------


@dataclass
class Held:
    """A frame, and the reference by node."""

    frame: Any
    nodes: dict[str, Any]
    n_rows: int
    structure: Any = None

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The edges as (parent, child)."""
        return [(parent, node) for node, entry in self.nodes.items() for parent in entry["parents"]]

    def compared(self, found: Mapping[str, tuple[float, Mapping[str, float], float]], divisor: str = "n") -> Answer:
        """Compare intercepts, coefficients and variances with the reference; ``divisor`` is ``"n"`` or ``"n-p"``."""
        slopes, levels, variances = [0.0], [0.0], [0.0]
        for node, entry in self.nodes.items():
            intercept, coefficients, variance = found[node]
            parents, sds = entry["parents"], entry["sds"]
            mine = [coefficients[parent] for parent in parents]
            if divisor == "n-p":
                variance *= (self.n_rows - len(parents) - 1) / self.n_rows
            pairs = zip(mine, entry["coefficients"], sds[:-1], strict=True)
            slopes += [abs(a - b) * sd / sds[-1] for a, b, sd in pairs]
            *above, own = entry["means"]
            terms = [slope * mean for slope, mean in zip(entry["coefficients"], above, strict=True)]
            size = sds[-1] + abs(own) + sum(map(abs, terms))
            levels.append(abs(intercept - entry["intercept"]) / size)
            variances.append(abs(variance / entry["variance"] - 1))
        return {"coefficients": [max(slopes)], "intercepts": [max(levels)], "variances": [max(variances)]}


def loaded(request: Mapping[str, Any], frame: Any) -> Held:
    """Join a frame with the reference."""
    read = json.loads(Path(request["network"]).read_text())
    return Held(frame, read["nodes"], read["n_rows"])


def pandas_frame(request: Mapping[str, Any]) -> Any:
    """Load the rows as a pandas frame."""
    from pyarrow import feather

    return feather.read_feather(request["rows"])


def arrow_table(request: Mapping[str, Any]) -> Any:
    """Load the rows as an Arrow table in one piece."""
    from pyarrow import feather

    return feather.read_table(request["rows"]).combine_chunks()


class Suffice:
    """Our library, from pandas."""

    load = staticmethod(pandas_frame)

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the frame and build the structure."""
        import suffice as sf

        held = loaded(request, self.load(request))
        held.structure = sf.DAG({node: entry["parents"] for node, entry in held.nodes.items()})
        return held

    def fit(self, held: Held) -> Any:
        """Fit, with the certificate that every fit has."""
        import suffice as sf

        return sf.fit(held.structure, held.frame)

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the gaps to the reference."""
        assert fitted.certificate.ok
        found = {}
        for node in held.nodes:
            cpd = fitted.model.cpd(node)
            names = [parent.name for parent in cpd.family.continuous]
            slopes = dict(zip(names, map(float, cpd.coefficients[0]), strict=True))
            found[node] = (float(cpd.intercept[0]), slopes, float(cpd.variance[0]))
        return held.compared(found)


class SufficeArrow(Suffice):
    """Our library, from an Arrow table."""

    load = staticmethod(arrow_table)


class Pgmpy:
    """The incumbent, from pandas."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the frame; the model is built anew for every fit, for fitting changes it."""
        import pgmpy.models  # noqa: F401

        return loaded(request, pandas_frame(request))

    def fit(self, held: Held) -> Any:
        """Build the model and fit it."""
        from pgmpy.models import LinearGaussianBayesianNetwork

        model = LinearGaussianBayesianNetwork(held.edges)
        model.add_nodes_from(held.nodes)
        model.fit(held.frame)
        return model

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the gaps to the reference."""
        found = {}
        for cpd in fitted.cpds:
            intercept, *slopes = map(float, cpd.beta)
            found[cpd.variable] = (intercept, dict(zip(cpd.evidence, slopes, strict=True)), float(cpd.std) ** 2)
        return held.compared(found, "n-p")


class Pybnesian:
    """pybnesian, from pandas."""

    load = staticmethod(pandas_frame)

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the frame."""
        return loaded(request, self.load(request))

    def fit(self, held: Held) -> Any:
        """Build the model and fit it."""
        import pybnesian

        model = pybnesian.GaussianNetwork(list(held.nodes), held.edges)
        model.fit(held.frame)
        return model

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the gaps to the reference."""
        found = {}
        for node in held.nodes:
            cpd = fitted.cpd(node)
            intercept, *slopes = map(float, cpd.beta)
            found[node] = (intercept, dict(zip(cpd.evidence(), slopes, strict=True)), float(cpd.variance))
        return held.compared(found, "n-p")


class PybnesianArrow(Pybnesian):
    """pybnesian, from an Arrow record batch, its own form."""

    @staticmethod
    def load(request: Mapping[str, Any]) -> Any:
        """Load the record batch."""
        return arrow_table(request).to_batches()[0]


class Numpy:
    """The yardstick: one product of all columns, shifted by the means of the first rows, and a solution a node."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Load the frame."""
        return loaded(request, pandas_frame(request))

    def fit(self, held: Held) -> Any:
        """Multiply, and solve."""
        import numpy as np

        rows = held.frame.to_numpy()
        shift = rows[:1000].mean(axis=0)
        total, products = np.zeros(rows.shape[1]), np.zeros((rows.shape[1],) * 2)
        for low in range(0, len(rows), 4096):
            piece = rows[low : low + 4096] - shift
            total += piece.sum(axis=0)
            products += piece.T @ piece
        above = total / len(rows)
        covariance, mean = products / len(rows) - np.outer(above, above), shift + above
        place = {name: j for j, name in enumerate(held.frame.columns)}
        found = {}
        for node, entry in held.nodes.items():
            parents, y = [place[parent] for parent in entry["parents"]], place[node]
            slopes = np.linalg.solve(covariance[np.ix_(parents, parents)], covariance[parents, y])
            variance = covariance[y, y] - slopes @ covariance[parents, y]
            found[node] = (float(mean[y] - slopes @ mean[parents]), slopes.tolist(), float(variance))
        return found

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the gaps to the reference."""
        return held.compared(
            {node: (a, dict(zip(held.nodes[node]["parents"], b, strict=True)), v) for node, (a, b, v) in fitted.items()}
        )


CONTESTANTS: dict[str, Contestant] = {
    "suffice": Suffice(),
    "suffice-arrow": SufficeArrow(),
    "pgmpy": Pgmpy(),
    "pybnesian": Pybnesian(),
    "pybnesian-arrow": PybnesianArrow(),
    "numpy": Numpy(),
}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5])
    else:
        contestant_main(CONTESTANTS)
