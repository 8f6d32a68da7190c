"""What was refused although it should work, remedies that did not work, and tracebacks of commands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from tests.audit.cases import Case
from tests.command_line import run as run_command

import suffice as sf

REFUSED = sf.SufficeError
MIXED = {
    "a": ["u", "v"] * 30,
    "x": np.random.default_rng(0).normal(size=60),
    "s": ["n", "y", "y", "n", "y", "n"] * 10,
}


def information_on_hypotheses() -> Any:
    sf.write(sf.fit(sf.Hypotheses({"low": [1, 2], "all": [1, 2, 3, 4]}), {"x": [1, 2]}).model, "h.json")
    return run_command("info", "h.json").exit_code


def report_of_latent_variables() -> Any:
    data = {"A": ["x", "y", "x", "y"] * 5, "B": ["u", "v", "u", "u"] * 5}
    Path("d.csv").write_text("A,B\n" + "\n".join(map(",".join, zip(data["A"], data["B"], strict=True))))
    sf.write(sf.fit(sf.DAG("L -> A; L -> B", latent={"L": 2}), data, seed=0), "fit.json")
    return run_command("report", "fit.json", "d.csv", "--out", "r.html").exit_code


def report_as_pdf() -> Any:
    os.environ["PATH"] = ""  # where no browser is found
    return sf.fit(sf.DAG("A"), {"A": ["x", "y"]}).report("x.pdf")


def mixed_prior(prior: Any) -> Any:
    def run() -> Any:
        return sf.fit(sf.DAG("a -> s; x -> s"), MIXED, prior=prior).certificate.ok

    return run


def unseen_input() -> Any:
    features = [sf.indicator(C="b"), sf.indicator(x="u", C="b")]
    structure = sf.Features(features, given=["x"])
    data = {"x": ["u", "v", "u", "v", "u", "v"], "C": ["a", "b", "b", "a", "a", "b"]}
    model = sf.fit(structure, data).model
    found = model.predict("C", {"x": ["u", "w"]}, unknown_states="missing")
    return found.probabilities.round(6).tolist()


def available_rows() -> Any:
    data = {"A": ["x", "y", None, "x"], "B": ["u", "v", "u", None], "C": ["p", None, "q", "q"]}
    fit = sf.fit(sf.DAG("A -> B; B -> C"), data, missing="available", unseen_parents="uniform")
    a, b = fit.model.cpd("A").values[0], fit.model.cpd("B").values
    return fit.certificate.ok, np.allclose(a, [2 / 3, 1 / 3]), np.allclose(b, np.eye(2))


def softmax_child_missing() -> Any:
    data = {"x": [0.1, -0.3, 1.2, 0.4, -1.0, 0.8], "s": ["n", "y", "y", "n", None, "y"]}
    complete = {name: [v for v, s in zip(values, data["s"], strict=True) if s] for name, values in data.items()}
    fits = [sf.fit(sf.DAG("x -> s"), rows, missing=how) for rows, how in ((data, "em"), (complete, "error"))]
    weights = [np.asarray(fit.model.cpd("s").coefficients) for fit in fits]
    return fits[0].certificate.ok, bool(np.allclose(*weights, atol=1e-5))


def bernoulli(inputs: Any) -> Any:
    def run() -> Any:
        from sklearn.naive_bayes import BernoulliNB

        classes = ["a", "b", "a", "b"]
        mine = sf.NaiveBayes(kinds="bernoulli", smoothing=1.0).fit(inputs, classes)
        theirs = BernoulliNB(alpha=1.0).fit(inputs, classes)
        return bool(np.allclose(mine.predict_proba(inputs), theirs.predict_proba(inputs), rtol=1e-12))

    return run


COUNTS = np.array([[1, 0, 0], [0, 2, 0], [1, 1, 0], [0, 3, 0]])


def rows_without_a_column() -> Any:
    return sf.fit(sf.DAG("A -> B"), {"A": ["x", "y"], "B": ["u", "v"]}).model.log_prob({"A": ["x"]})


def xbif() -> Any:
    model = sf.fit(sf.DAG("A -> B"), {"A": ["x", "y"], "B": ["u", "v"]}).model
    sf.write(model, "m.xmlbif")
    Path("m.xmlbif").rename("m.xbif")
    return sf.read("m.xbif").dag == model.dag


CASES = (
    Case("info on a hypothesis model", information_on_hypotheses, 0),
    Case("report of a fit with latent variables", report_of_latent_variables, 0),
    Case("report as PDF without a browser", report_as_pdf, REFUSED, (".html",)),
    Case("prior for some kinds: list", mixed_prior([sf.Gaussian(10), None]), True),
    Case("prior for some nodes: dict", mixed_prior({"s": sf.Gaussian(10)}), True),
    Case("input not seen in training", unseen_input, [[0.666667, 0.333333], [0.333333, 0.666667]]),
    Case("available rows of a network", available_rows, (True, True, True)),
    Case("EM with a softmax child that is missing", softmax_child_missing, (True, True)),
    Case("Bernoulli: a sparse matrix", bernoulli(scipy.sparse.csr_matrix(COUNTS > 0).astype(int)), True),
    Case("Bernoulli: constant columns and counts above one", bernoulli(COUNTS), True),
    Case("formula with a leading ~", lambda: sf.Cliques("~ a:b + b:c") == sf.Cliques("a:b + b:c"), True),
    Case("a network in a file .xbif", xbif, True),
    Case("rows without a column", rows_without_a_column, REFUSED, ("missing='marginalise'",)),
)
