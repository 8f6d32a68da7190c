"""Answering: a model that answers the page's questions, as plain values that become JSON.

The values are those of ``report/web/types.js``; JSON has no −Infinity and no NaN, in whose place stands null.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, ParamSpec, TypeVar

from suffice.errors import ArgumentError, SufficeError, shown
from suffice.explore.insights import conflict, expected_gains, steepest
from suffice.explore.question import Question, RequestError, is_whole, node_of, question_of
from suffice.explore.rows import EvidenceRows
from suffice.explore.solvers import Density, DiscreteSolver, Marginal, SolvedQuestion, solver_of
from suffice.families import entry_of
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.capabilities import model_of
from suffice.models.joint_normal import JointNormal
from suffice.models.markov_net import MarkovNetwork
from suffice.models.model import Model
from suffice.priors.credible import credible_marginals
from suffice.priors.network_posterior import NetworkPosterior
from suffice.report.page.entries import ReportGraph, Spec
from suffice.report.page.monitors import layout_of
from suffice.result.fit import Fit
from suffice.text import plural, with_article
from suffice.types import Json, TableLike

LEVEL = 0.95
NAME = "model.json"
"""Of a model whose file is not known."""
KEPT = 16
"""Solutions that are kept."""
MOST_DRAWN = (300, 300_000)
"""Nodes, and cells of all cliques, up to which there are credible intervals; they take a thousand calibrations."""
SLOW, PAUSE = 0.2, 0.6
"""Seconds that a slow answer takes, and that pass before what takes longer still is computed."""
AT_ONCE = 0.5
"""Seconds that a page waits for the answer without evidence; a page without it asks for it."""
FARTHEST = 3
"""Edges from a node that a neighbourhood reaches at most."""
IMPOSSIBLE = "The evidence is impossible."
Check = Callable[[], None]
Explorable = BayesianNetwork | MarkovNetwork | JointNormal
P = ParamSpec("P")
T = TypeVar("T")


def require_explorable(thing: Fit | Model) -> tuple[Explorable, Fit | None]:
    """Return the model and, if there is one, the fit; raise for what cannot be asked by clicking."""
    fit = thing if isinstance(thing, Fit) else None
    model = thing.model if isinstance(thing, Fit) else thing
    if isinstance(model, BayesianNetwork | MarkovNetwork | JointNormal) and entry_of(model) is not None:
        return model, fit
    inner = model_of(thing)
    if entry_of(inner) is not None:
        raise ArgumentError(
            f"{with_article(type(inner).__name__)} cannot be explored: Bayesian networks, Markov random fields, "
            "log-linear models and joint normal distributions can. Write a report of it instead: "
            "report('report.html'), or suffice report."
        )
    raise ArgumentError(
        "What is explored is a fit or a model: a Bayesian network, a Markov random field, a log-linear model or a "
        f"joint normal distribution. Got {shown(thing)} instead."
    )


def _nothing() -> None:
    """Go on."""


def _pause(check: Check) -> None:
    """Wait for a moment, so that whoever clicks on does not wait for what takes long and is no longer wanted."""
    for _ in range(10):
        time.sleep(PAUSE / 10)
        check()


class Answering:
    """A model that answers the page's questions.

    Parameters
    ----------
    model : BayesianNetwork, MarkovNetwork, LogLinear or JointNormal
    fit : Fit, optional
        Of the model; its posterior gives credible intervals.
    data : table, optional
        Rows to step through as evidence.
    name : str
        The name of the model's file, as in a command.

    Examples
    --------
    >>> import suffice as sf
    >>> fit = sf.fit(sf.DAG("A -> B"), {"A": ["x", "x", "y", "y"], "B": ["u", "v", "v", "v"]})
    >>> Answering(fit.model).answer({"hard": {"1": 0}})
    {'logEvidence': -1.3862943611198906, 'marginals': [[1.0, 0.0], [1.0, 0.0]]}
    """

    def __init__(
        self, model: Explorable, fit: Fit | None = None, data: TableLike | None = None, name: str = NAME
    ) -> None:
        self.model, self.fit, self.name = model, fit, name
        entry = entry_of(model)
        assert entry is not None
        parts = entry.parts(model, fit)
        assert parts.graph is not None  # which all models have that can be explored
        self.entries, self.graph = parts.entries, parts.graph
        self.names = [entry.name for entry in self.entries[: len(self.graph.colours)]]
        self.solver = solver_of(model, self.names)
        self.variables = self.solver.variables
        self.rows_held = None if data is None else EvidenceRows.read(data, model.schema, self.names)
        self._lock = threading.Lock()  # models keep plans and trees from one question to the next
        self._kept = _Kept()

    # Answers --------------------------------------------------------------------------------------------------

    def answer(self, document: Json, check: Check = _nothing) -> Spec:
        """Return the ``Answer`` to a question: log p(evidence), and the distribution of every node.

        Parameters
        ----------
        document : JSON value
            A ``Question``.
        check : callable
            Called between steps; it raises when the answer is no longer wanted.

        Raises
        ------
        RequestError
            When the question is malformed.
        """
        question = question_of(document, self.variables)
        try:
            found = self._solve(question, check)
        except SufficeError as error:
            return {"logEvidence": None, "marginals": [None] * len(self.names), "refusal": str(error)}
        answer: Spec = {
            "logEvidence": _finite(found.log_evidence),
            "marginals": [_plain(marginal) for marginal in found.marginals],
        }
        if found.is_impossible:
            answer["clash"] = self._clash(question, check)
        if found.note:
            answer["note"] = found.note
        return answer

    def _solve(self, question: Question, check: Check) -> SolvedQuestion:
        """Solve a question, one at a time, and keep the solution."""
        check()
        found = self._kept.get(question)
        if found is not None:
            return found
        with self._lock:
            check()
            found = self._kept.get(question)  # while this one waited, another may have solved it
            return self._kept.put(question, self.solver.solve(question)) if found is None else found

    def prepare(self, check: Check = _nothing) -> None:
        """Solve the question without evidence, so that the first ones that follow are answered as fast as all others.

        Where that takes long it is done again: memory that is new to the process takes much of the time.
        """
        question = Question()
        with suppress(SufficeError, RequestError):  # which the page will show, or nobody
            if self._solve(question, check).seconds > SLOW:
                with self._lock:
                    check()
                    self._kept.put(question, self.solver.solve(question))

    def prior(self) -> Spec | None:
        """Return the ``Answer`` without evidence; None where there is none, or where it still takes long."""
        if self._kept.get(Question()) is None:
            if not self._lock.acquire(timeout=AT_ONCE):
                return None
            self._lock.release()
        found = self.answer({})
        return None if found["logEvidence"] is None else found

    def _clash(self, question: Question, check: Check) -> list[int]:
        """Return findings that exclude each other, none of which can be left out."""
        kept = question.nodes
        for node in question.nodes:
            rest = [other for other in kept if other != node]
            with self._lock:
                check()
                if not self.solver.is_possible(question.only(rest)):
                    kept = rest
        return kept

    # Insights -------------------------------------------------------------------------------------------------

    def insights(self, document: Json, target: Json = None, check: Check = _nothing) -> Spec:
        """Return the ``Insights`` for a question, and for a target, ``{"node": …, "state": …}`` or None."""
        question = question_of(document, self.variables)
        wanted = self._target(target)
        found: Spec = {"explanation": None, "conflict": None, "gains": None, "slopes": None}
        remarks: dict[str, list[str]] = {"explanation": [], "gains": [], "slopes": []}
        try:
            base = self._solve(question, check)
        except SufficeError as error:
            return {**found, "refusal": str(error)}
        if base.is_impossible:
            return {**found, "refusal": IMPOSSIBLE}
        if base.seconds > SLOW:
            _pause(check)
        found["explanation"] = self._tried(remarks["explanation"], check, self._explanation, question)
        found["conflict"] = self._conflict(question, base, check)
        if wanted is not None and wanted[0] not in question.hard and wanted[0] not in question.values:
            node, state = wanted
            found["gains"] = self._gains(question, node, base, check, remarks["gains"])
            if isinstance(self.model, BayesianNetwork) and isinstance(self.solver, DiscreteSolver):
                asked = (self.solver, question, node, state, base.seconds, remarks["slopes"])
                found["slopes"] = self._tried(remarks["slopes"], check, steepest, *asked)
        said = {part: " ".join(dict.fromkeys(sentences)) for part, sentences in remarks.items() if sentences}
        return {**found, "remarks": said} if said else found

    def _target(self, target: Json) -> tuple[int, int] | None:
        if target is None:
            return None
        if not isinstance(target, dict):
            raise RequestError("A target has a 'node' and a 'state'.")
        node, state = node_of(target.get("node"), len(self.names)), target.get("state", 0)
        variable = self.variables[node]
        if variable.is_discrete and not (is_whole(state) and 0 <= state < variable.n_states):
            raise RequestError(f"A state of {variable.name!r} is a whole number from 0 to {variable.n_states - 1}.")
        return node, state

    def _tried(
        self, remarks: list[str], check: Check, call: Callable[P, T], *arguments: P.args, **named: P.kwargs
    ) -> T | None:
        """Return what a call gives, or None where it has a reason to refuse, which is a remark."""
        try:
            with self._lock:
                check()
                return call(*arguments, **named)
        except SufficeError as error:
            remarks.append(str(error))
            return None

    def _explanation(self, question: Question) -> Spec:
        found = self.solver.explain(question)
        return {"states": found.states, "ties": found.ties, "logGiven": _finite(found.log_given)}

    def _conflict(self, question: Question, base: SolvedQuestion, check: Check) -> float | None:
        if len(question.nodes) < 2 or math.isnan(base.log_evidence):
            return None
        return conflict(self._solve(Question(), check).marginals, question, base.log_evidence)

    def _gains(
        self, question: Question, node: int, base: SolvedQuestion, check: Check, remarks: list[str]
    ) -> list[tuple[int, float]] | None:
        if base.marginals[node] is None:
            return None
        try:
            solve = lambda other: self._solve(other, check)  # noqa: E731
            return expected_gains(self.solver, question, node, base, solve, remarks)
        except SufficeError as error:
            remarks.append(str(error))
            return None

    # Credible intervals ---------------------------------------------------------------------------------------

    @cached_property
    def has_intervals(self) -> bool:
        """Whether the fit has a posterior of tables, and a thousand calibrations do not take long."""
        posterior = None if self.fit is None else self.fit.posterior
        if not isinstance(posterior, NetworkPosterior) or not isinstance(self.solver, DiscreteSolver):
            return False
        assert isinstance(self.model, BayesianNetwork)  # of which the posterior is
        if any(cpd.kind != "tabular" for cpd in self.model.cpds) or len(self.names) > MOST_DRAWN[0]:
            return False
        with self._lock:
            return bool(self.model.complexity().cells <= MOST_DRAWN[1])

    def intervals(self, document: Json, check: Check = _nothing) -> list[list[list[float]] | None] | None:
        """Return 95 % credible intervals, [lower, upper] for every state, by node; those of ``fit.query``."""
        question = question_of(document, self.variables)
        if not self.has_intervals or question.is_void:
            return None
        assert isinstance(self.solver, DiscreteSolver)
        assert isinstance(self.model, BayesianNetwork)
        assert self.fit is not None
        try:
            if self._solve(question, check).is_impossible:
                return None
            given = self.solver.given(question)
            found = credible_marginals(self.model, self.fit.posterior, given, LEVEL, before_each=check)
        except SufficeError:
            return None
        by_node = {self.solver.node[place]: ends for place, ends in found.items()}
        return [
            [list(pair) for pair in zip(*(end.tolist() for end in by_node[node]), strict=True)]
            if node in by_node
            else None
            for node in range(len(self.names))
        ]

    # Parts of the page ----------------------------------------------------------------------------------------

    def neighbourhood(self, node: Json, radius: Json = 1) -> Spec:
        """Return the ``Layout`` of a node with its surroundings, up to three edges away."""
        centre = node_of(node, len(self.names))
        if not is_whole(radius) or not 1 <= radius <= FARTHEST:
            raise RequestError(f"A radius is a whole number from 1 to {FARTHEST}.")
        return layout_of(self.graph, self.names, self.states, nodes=within(self.graph, centre, radius))

    @property
    def states(self) -> list[list[str]]:
        """The states of every node, none for a continuous one."""
        return [entry.states for entry in self.entries[: len(self.names)]]

    def entry(self, node: Json) -> Spec:
        """Return the ``Entry`` of a node, or of another table, with all that it shows."""
        return self.entries[node_of(node, len(self.entries))].to_dict()

    def rows(self, start: Json = 0, count: Json = 1) -> Spec:
        """Return rows of the data as evidence, how many there are in all, and what was left out."""
        if not is_whole(start) or not is_whole(count) or start < 0 or count < 1:
            raise RequestError("Rows are counted from 0, and at least one is asked for.")
        held = self.rows_held
        if held is None:
            return {"rows": [], "total": 0, "notes": []}
        return {"rows": held.some(start, count), "total": held.n_rows, "notes": held.notes}

    @cached_property
    def size(self) -> str:
        """The size of the computation, in words."""
        if isinstance(self.solver, DiscreteSolver):
            found = self.solver.model.complexity()
            return f"{plural(found.n_cliques, 'clique')}, {plural(found.cells, 'cell')}"
        n_numbers = sum(not variable.is_discrete for variable in self.variables)
        n_states = len(self.names) - n_numbers
        discrete = f"{plural(n_states, 'discrete variable')}, " if n_states else ""
        return f"{discrete}{plural(n_numbers, 'continuous variable')}"


class _Kept:
    """The latest solutions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[Any, ...], SolvedQuestion] = OrderedDict()

    def get(self, question: Question) -> SolvedQuestion | None:
        with self._lock:
            found = self._held.get(question.key)
            if found is not None:
                self._held.move_to_end(question.key)
            return found

    def put(self, question: Question, solution: SolvedQuestion) -> SolvedQuestion:
        with self._lock:
            self._held[question.key] = solution
            self._held.move_to_end(question.key)
            while len(self._held) > KEPT:
                self._held.popitem(last=False)
        return solution


def within(graph: ReportGraph, node: int, radius: int) -> list[int]:
    """Return the nodes that are at most so many edges away from one of them.

    >>> within(ReportGraph(["discrete"] * 4, [(0, 1), (1, 2), (2, 3)], True), 0, 2)
    [0, 1, 2]
    """
    near: dict[int, set[int]] = {}
    for a, b in graph.edges:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    found = ring = {node}
    for _ in range(radius):
        ring = {other for inner in ring for other in near.get(inner, ())} - found
        found = found | ring
    return sorted(found)


# JSON ---------------------------------------------------------------------------------------------------------


def _plain(marginal: Marginal) -> Any:
    if marginal is None:
        return None
    if isinstance(marginal, Density):
        return {"w": marginal.weights.tolist(), "m": marginal.means.tolist(), "s": marginal.sds.tolist()}
    return marginal.tolist()


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
