"""W3c: one calibration of a junction tree: the marginals of all cliques, and log Z.

A *problem* is a product of tables, written by this library's environment as JSON: the sizes of the variables, the
scopes, the tables, and the junction tree that this library found, which the NumPy twin walks as well. mbi finds a tree
of its own. Everybody holds the potentials in the library's own form; planning is not timed with the calibration, and
stands below the tables.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from common import (
    HERE,
    Answer,
    Context,
    Entry,
    Outcome,
    contestant_main,
    race,
    ratio_table,
    say,
    seconds,
)

TITLE = "W3c: one junction-tree calibration, all clique marginals and log Z"
SEED = 31
GRIDS = {"8×8 grid": 8, "10×10 grid": 10, "12×12 grid": 12}
NETWORKS = {"ALARM": "alarm", "ANDES": "andes"}
ASIDE = ("plan", "cells", "width")
"""What contestants tell beside their answer: CPU seconds of planning, and the size of the tree."""

OURS = Entry("suffice", "suffice", "ours", {"turns": 100, "repeats": 20})
MBI = Entry("mbi, its default oracle", "mbi", options={"turns": 5, "repeats": 10})
TWIN = Entry("NumPy twin: sums by einsum, products by broadcasting", "einsum", options={"turns": 3, "repeats": 7})
PURE = Entry("NumPy twin: sums and products by einsum", "einsum-only", options={"turns": 3, "repeats": 7})
QUICK = {"turns": 1, "repeats": 2}


def run(context: Context) -> str:
    """Race on all problems, and return a section in Markdown."""
    titles = [*list(GRIDS)[: 1 if context.quick else None], *NETWORKS]
    parts = [
        f"Binary grids have a table exp(normal(0, 1)) at every edge, seed {SEED}; networks have no evidence. Double "
        "precision everywhere. A calibration starts at potentials in the library's own form, its tree planned before. "
        "`first call CPU` holds the compilation of mbi, which every structure needs anew. "
        "Answers are the marginals of all factors' scopes, and log Z."
    ]
    for title in titles:
        say(f" {title}")
        parts.append(on_problem(context, title))
    return "\n\n".join(parts)


def on_problem(context: Context, title: str) -> str:
    """Race on one problem, and return its table."""
    request = request_of(context, title)
    entries = [OURS, MBI, TWIN, PURE]
    if context.quick:
        entries = [replace(entry, options=QUICK) for entry in entries]
    outcomes = [per_turn(outcome) for outcome in race(context, Path(__file__).name, entries, request)]
    scopes = json.loads(Path(request["problem"]).read_text())["scopes"]
    sizes = {**{f"p{number}": 1 for number in range(len(scopes))}, "log_z": 1}
    asides = [aside(outcome) for outcome in outcomes if outcome.measured is not None]
    return f"### {title}\n\n{ratio_table(outcomes, sizes)}\n\n" + "; ".join(filter(None, asides)) + "."


def per_turn(outcome: Outcome) -> Outcome:
    """Divide the times of later calls by the calibrations that one of them holds; the first call holds one."""
    if outcome.measured is None:
        return outcome
    turns, found = outcome.entry.options["turns"], outcome.measured
    return replace(outcome, measured={**found, "cpu": found["cpu"] / turns, "wall": found["wall"] / turns})


def aside(outcome: Outcome) -> str:
    """Say what planning took, and how large the tree is."""
    assert outcome.measured is not None
    plan, cells, width = (outcome.measured["answer"][key][0] for key in ASIDE)
    if math.isnan(plan):
        return ""
    name = outcome.entry.title.split(",")[0]
    return f"{name}: width {width:.0f}, {cells:,.0f} cells, planning {seconds(plan)} CPU"


def request_of(context: Context, title: str) -> dict[str, Any]:
    """Return what contestants are asked, and make the problem where it does not exist yet."""
    name = f"grid{GRIDS[title]}-seed{SEED}" if title in GRIDS else NETWORKS[title]
    path = context.work / f"problem-{name}.json"
    if not path.exists():
        source = str(GRIDS[title]) if title in GRIDS else str(context.data / "networks_bif" / f"{name}.bif.gz")
        subprocess.run([context.python, str(HERE / Path(__file__).name), "make", source, str(path)], check=True)
    return {"problem": str(path), "budget": 20}


# Making problems, in this library's environment ---------------------------------------------------------------


def make(source: str, target: str) -> None:
    """Write the problem of a grid, named by its side, or of a network, named by its file."""
    import suffice as sf
    from suffice.inference.plan import Plan

    product = grid(int(source)) if source.isdigit() else sf.read(source)._product()
    plan = Plan.of(product)
    problem = {
        "sizes": product.sizes,
        "scopes": product.scopes,
        "tables": [factor.values.reshape(-1).tolist() for factor in product.factors],
        "tree": {
            "cliques": plan.tree.cliques,
            "parents": plan.tree.parents,
            "separators": plan.tree.separators,
            "homes": plan.homes,
        },
    }
    Path(target).write_text(json.dumps(problem))


def grid(side: int) -> Any:
    """Return a product over a square grid of binary variables, one random table an edge."""
    import numpy as np

    from suffice.inference.product import Factor, Product

    rng = np.random.default_rng([SEED, side])
    edges = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    edges += [(r * side + c, (r + 1) * side + c) for r in range(side - 1) for c in range(side)]
    factors = tuple(Factor(edge, np.exp(rng.standard_normal((2, 2)))) for edge in edges)
    return Product(tuple(f"x{v}" for v in range(side**2)), (2,) * side**2, factors)


# Contestants --------------------------------------------------------------------------------------------------


@dataclass
class Held:
    """A problem, in the library's own form."""

    sizes: list[int]
    scopes: list[tuple[int, ...]]
    tables: list[Any]
    tree: dict[str, list[Any]]
    turns: int
    own: dict[str, Any] = field(default_factory=dict)
    called: bool = False


def loaded(request: Mapping[str, Any]) -> Held:
    """Read a problem."""
    import numpy as np

    problem = json.loads(Path(request["problem"]).read_text())
    sizes, scopes = problem["sizes"], [tuple(scope) for scope in problem["scopes"]]
    tables = [
        np.array(table).reshape([sizes[v] for v in scope])
        for scope, table in zip(scopes, problem["tables"], strict=True)
    ]
    return Held(sizes, scopes, tables, problem["tree"], request["turns"])


def told(held: Held, cliques: Sequence[Sequence[int]], tables: Sequence[Any], log_z: float, plan: float) -> Answer:
    """Return the marginals of all factors' scopes from those of cliques, log Z, and what is told beside."""
    import numpy as np

    smallest: list[int] = []
    for scope in held.scopes:
        covering = [number for number, clique in enumerate(cliques) if set(scope) <= set(clique)]
        smallest.append(min(covering, key=lambda number: tables[number].size))
    answer = {}
    for number, (scope, home) in enumerate(zip(held.scopes, smallest, strict=True)):
        clique = list(cliques[home])
        outside = tuple(axis for axis, variable in enumerate(clique) if variable not in scope)
        kept = [variable for variable in clique if variable in scope]
        summed = np.asarray(tables[home]).sum(axis=outside).transpose([kept.index(variable) for variable in scope])
        answer[f"p{number}"] = summed.reshape(-1).tolist()
    cells = float(sum(math.prod(held.sizes[variable] for variable in clique) for clique in cliques))
    width = float(max(map(len, cliques)) - 1)
    return {**answer, "log_z": [float(log_z)], "plan": [plan], "cells": [cells], "width": [width]}


class Repeated:
    """Calibrates once in the first call, and some times in each of the later ones."""

    def fit(self, held: Held) -> Any:
        """Calibrate."""
        turns, held.called = held.turns if held.called else 1, True
        for _ in range(turns):
            result = self.once(held)
        return result

    def once(self, held: Held) -> Any:
        """Return the marginals of all cliques, and log Z."""
        raise NotImplementedError


class Suffice(Repeated):
    """Our library: one plan, one calibrator."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Plan, and put the tables into one buffer; planning is timed apart, its kernel compiled or loaded before."""
        from suffice.inference.calibration import Calibrator
        from suffice.inference.plan import Plan
        from suffice.inference.product import Factor, Product

        held = loaded(request)
        factors = tuple(Factor(scope, table) for scope, table in zip(held.scopes, held.tables, strict=True))
        product = Product(tuple(f"x{v}" for v in range(len(held.sizes))), tuple(held.sizes), factors)
        _ = Plan.of(Product(("x0",), tuple(held.sizes[:1]), (Factor((0,), held.tables[0].sum(-1)),))).arrays
        began = time.process_time()
        plan = Plan.of(product)
        packed, calibrator = plan.packed(product.factors), Calibrator(plan)
        held.own = {"plan": plan, "cpu": time.process_time() - began, "packed": packed, "calibrator": calibrator}
        return held

    def once(self, held: Held) -> Any:
        """Calibrate."""
        return held.own["calibrator"].run(held.own["packed"])

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the marginals."""
        cliques = held.own["plan"].tree.cliques
        tables = [fitted.clique(number) for number in range(len(cliques))]
        return told(held, cliques, tables, fitted.log_z, held.own["cpu"])


class Mbi(Repeated):
    """mbi, the oracle that it recommends for the tables at hand, in double precision; its tree is made before.

    Tables with zeros get Shafer–Shenoy, others HUGIN: that is mbi's own rule. Marginals of the tree's cliques are asked
    for, so that nothing is summed to smaller scopes, and log Z is the sum of one clique's belief in the same call.
    """

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Build the potentials and the tree."""
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_enable_compilation_cache", False)
        import mbi
        import numpy as np
        from mbi import junction_tree, marginal_oracles

        held = loaded(request)
        names = [f"x{variable}" for variable in range(len(held.sizes))]
        domain = mbi.Domain(names, held.sizes)
        logs: dict[tuple[str, ...], Any] = {}
        with np.errstate(divide="ignore"):
            for scope, table in zip(held.scopes, held.tables, strict=True):
                clique = tuple(names[variable] for variable in scope)
                logs[clique] = mbi.Factor(domain.project(clique), jax.numpy.asarray(np.log(table)))
        assert len(logs) == len(held.scopes)
        potentials = mbi.CliqueVector(domain, list(logs), logs)
        began = time.process_time()
        tree = junction_tree.make_junction_tree(domain, list(logs))[0]
        cpu = time.process_time() - began
        cliques = junction_tree.maximal_cliques(tree)
        zeros = any((table == 0).any() for table in held.tables)
        oracle = marginal_oracles.default_oracle(cliques=cliques, domain=domain, has_constraints=zeros)

        @jax.jit
        def calibrated(given: Any) -> Any:
            whole = given.expand(cliques)
            marginals, messages = oracle(whole, jtree=tree, return_messages=True)
            belief = whole[cliques[0]]
            for other in tree.neighbors(cliques[0]):
                belief = belief + messages[other, cliques[0]]
            return marginals, belief.logsumexp().values

        held.own = {"potentials": potentials, "call": calibrated, "cliques": cliques, "cpu": cpu}
        return held

    def once(self, held: Held) -> Any:
        """Calibrate, and wait for it."""
        import jax

        return jax.block_until_ready(held.own["call"](held.own["potentials"]))

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the marginals."""
        import numpy as np

        marginals, log_z = fitted
        cliques, tables = [], []
        for clique in held.own["cliques"]:
            factor = marginals[clique]
            cliques.append([int(name[1:]) for name in factor.domain.attributes])
            tables.append(np.asarray(factor.values))
        return told(held, cliques, tables, float(log_z), held.own["cpu"])


class Einsum(Repeated):
    """A twin in NumPy: the same tree and the same messages, each sum one np.einsum, products by broadcasting."""

    products_by_einsum = False

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Bring all tables into the order of their cliques, and write down all subscripts."""
        held = loaded(request)
        tree = held.tree
        cliques, parents, separators = tree["cliques"], tree["parents"], tree["separators"]
        shapes = [[held.sizes[variable] for variable in clique] for clique in cliques]
        inputs: list[list[tuple[Any, Any]]] = [[] for _ in cliques]
        for scope, table, home in zip(held.scopes, held.tables, tree["homes"], strict=True):
            ordered = sorted(scope, key=cliques[home].index)
            moved = table.transpose([scope.index(variable) for variable in ordered]).copy()
            inputs[home].append((moved, self.place(cliques[home], ordered, held.sizes)))
        up, down, into = [], [], []
        for clique, (parent, separator) in enumerate(zip(parents, separators, strict=True)):
            up.append([cliques[clique].index(variable) for variable in separator])
            down.append([cliques[parent].index(variable) for variable in separator])
            into.append(self.place(cliques[clique], separator, held.sizes))
        above = [self.place(cliques[p], s, held.sizes) for p, s in zip(parents, separators, strict=True)]
        children: list[list[int]] = [[] for _ in cliques]
        for clique, parent in enumerate(parents[:-1]):
            children[parent].append(clique)
        held.own = {
            "shapes": shapes,
            "inputs": inputs,
            "up": up,
            "down": down,
            "into": into,
            "above": above,
            "children": children,
        }
        return held

    def place(self, clique: Sequence[int], scope: Sequence[int], sizes: Sequence[int]) -> list[int]:
        """Return the shape that a table over a part of a clique has beside that clique's, or its axes there."""
        if self.products_by_einsum:
            return [list(clique).index(variable) for variable in scope]
        return [sizes[variable] if variable in scope else 1 for variable in clique]

    def multiplied(self, table: Any, part: Any, place: list[int]) -> Any:
        """Multiply a clique's table by one over a part of its variables."""
        import numpy as np

        if self.products_by_einsum:
            axes = list(range(table.ndim))
            return np.einsum(table, axes, part, place, axes, optimize=False)
        table *= part.reshape(place)
        return table

    def once(self, held: Held) -> Any:
        """Send messages to the root, scaled, and back."""
        import numpy as np

        own, parents = held.own, held.tree["parents"]
        n, tables, sums, messages, log_z = len(parents), [], [], [], 0.0
        for clique in range(n):
            table = np.ones(own["shapes"][clique])
            for values, place in own["inputs"][clique]:
                table = self.multiplied(table, values, place)
            for child in own["children"][clique]:
                table = self.multiplied(table, messages[child], own["above"][child])
            if clique < n - 1:
                message = np.einsum(table, list(range(table.ndim)), own["up"][clique], optimize=False)
                total = message.sum()
                sums.append(message)
                messages.append(message / total)
            else:
                total = table.sum()
            log_z += math.log(total)
            tables.append(table / total if clique == n - 1 else table)
        for clique in range(n - 2, -1, -1):
            above = tables[parents[clique]]
            fresh = np.einsum(above, list(range(above.ndim)), own["down"][clique], optimize=False)
            ratio = np.divide(fresh, sums[clique], out=np.zeros_like(fresh), where=sums[clique] > 0)
            tables[clique] = self.multiplied(tables[clique], ratio, own["into"][clique])
        return tables, log_z

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the marginals."""
        tables, log_z = fitted
        return told(held, held.tree["cliques"], tables, log_z, math.nan)


class EinsumOnly(Einsum):
    """The same, products by np.einsum as well."""

    products_by_einsum = True


CONTESTANTS = {"suffice": Suffice(), "mbi": Mbi(), "einsum": Einsum(), "einsum-only": EinsumOnly()}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        contestant_main(CONTESTANTS)
