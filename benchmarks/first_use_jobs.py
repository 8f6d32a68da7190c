"""The jobs of W9b: ``python first_use_jobs.py JOB DATA`` does one of them in the current folder."""

# ruff: noqa: D102  # the names of jobs say what they do

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

LEARNERS = ("chain_crf", "memm", "graph_crf", "naive_bayes", "linear_discriminant", "softmax_regression", "joint_bayes")
"""The jobs that import scikit-learn, which is timed apart."""


def main(job: str, data: str) -> None:
    """Do one job."""
    if job in LEARNERS:
        began = time.process_time()
        import sklearn.base  # noqa: F401  # imported here to time it

        print("scikit-learn", time.process_time() - began)
    import numpy as np

    import suffice as sf

    Jobs(sf, np, np.random.default_rng(0), Path(data)).__getattribute__(job)()


def jobs() -> list[str]:
    """Return the names of all jobs."""
    return [name for name in vars(Jobs) if not name.startswith("_")]


class Jobs:
    """Small jobs of all kinds, on data that are drawn."""

    def __init__(self, sf: Any, np: Any, chance: Any, data: Path) -> None:
        self._sf, self._np, self._chance, self._data = sf, np, chance, data
        self._dag = sf.DAG("A -> B -> C; A -> D; C -> E; D -> E")

    def _table(self, n: int = 1000, names: str = "ABCDE") -> dict[str, Any]:
        return {name: self._chance.integers(0, 2, n) for name in names}

    def _gappy(self, names: str = "ABCDE") -> dict[str, Any]:
        """Return a table in which a fifth of the values is missing."""
        return {
            name: [None if u < 0.2 else int(v) for u, v in zip(self._chance.random(len(x)), x, strict=True)]
            for name, x in self._table(names=names).items()
        }

    def _fitted(self, **options: Any) -> Any:
        return self._sf.fit(self._dag, self._table(), **options)

    def _grid(self, n: int) -> tuple[Any, dict[str, Any]]:
        """Return an Ising model of a grid, and rows."""
        edges = [
            (f"x{i}_{j}", f"x{i + a}_{j + b}")
            for i in range(n) for j in range(n) for a, b in ((0, 1), (1, 0)) if i + a < n and j + b < n
        ]  # fmt: skip
        names = sorted({name for edge in edges for name in edge})
        return self._sf.Ising(edges), {name: self._chance.integers(0, 2, 500) for name in names}

    def _alarm(self) -> Any:
        return self._sf.read(self._data / "networks_bif" / "alarm.bif.gz")

    def _numbers(self, names: str, n: int = 500) -> dict[str, Any]:
        return {name: self._chance.normal(size=n) for name in names}

    def _sentences(self) -> tuple[Any, Any]:
        words = [["the", "cat", "sat"], ["a", "dog", "ran", "far"], ["the", "dog", "sat"]] * 10
        tags = [["D", "N", "V"], ["D", "N", "V", "R"], ["D", "N", "V"]] * 10
        return [[{"word": word} for word in sentence] for sentence in words], tags

    # Bayesian networks ------------------------------------------------------------------------------------------

    def import_alone(self) -> None:
        """Do nothing else."""

    def network(self) -> None:
        self._fitted()

    def network_with_prior(self) -> None:
        self._fitted(prior=self._sf.BDeu(1))

    def network_from_csv(self) -> None:
        lines = ["A,B", *("yes,no" if u < 0.5 else "no,yes" for u in self._chance.random(1000)), "yes,yes"]
        Path("rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._sf.fit(self._sf.DAG("A -> B"), "rows.csv")

    def network_of_a_million_rows(self) -> None:
        self._sf.fit(self._dag, self._table(1_000_000))

    def query(self) -> None:
        self._fitted().model.query("A", given={"E": 1})

    def query_with_interval(self) -> None:
        self._fitted(prior=self._sf.BDeu(1)).query("A", given={"E": 1}, interval=0.9)

    def most_likely_states(self) -> None:
        self._fitted().model.map(given={"E": 1})

    def marginals(self) -> None:
        self._fitted().model.marginals()

    def rows_of_evidence(self) -> None:
        self._fitted().model.query_rows("A", {"E": [0, 1, 1], "B": [1, 0, 0]})

    def predict(self) -> None:
        self._fitted().model.predict("A", {"E": [0, 1, 1], "B": [1, 0, 0]})

    def log_prob(self) -> None:
        self._fitted().model.log_prob(self._table())

    def sample(self) -> None:
        self._fitted().model.sample(10_000, seed=1)

    def fifty_queries_to_alarm(self) -> None:
        model = self._alarm()
        for name in (list(model.dag.nodes) * 2)[:50]:
            model.query(name, given={} if name == "HR" else {"HR": "HIGH"})

    def marginals_of_alarm(self) -> None:
        self._alarm().marginals()

    def sensitivity(self) -> None:
        self._fitted().model.sensitivity({"A": 1}, given={"E": 1})

    def write_and_read(self) -> None:
        self._sf.write(self._fitted(), "fit.json")
        self._sf.read("fit.json")

    def report(self) -> None:
        self._fitted().report("report.html")

    def check(self) -> None:
        self._sf.check(self._dag, self._table(), bootstrap=0)

    def compare(self) -> None:
        sf = self._sf
        models = {"joined": sf.DAG("A -> B"), "free": sf.DAG(["A", "B"])}
        sf.compare(models, self._table(names="AB"), folds=3, prior=sf.BDeu(1))

    def chow_liu(self) -> None:
        self._sf.chow_liu(self._table())

    # Missing values ---------------------------------------------------------------------------------------------

    def em(self) -> None:
        self._sf.fit(self._dag, self._gappy(), missing="em")

    def em_with_a_latent_class(self) -> None:
        dag = self._sf.DAG("H -> A; H -> B; H -> C; H -> D", latent={"H": 2})
        self._sf.fit(dag, self._table(names="ABCD"), seed=0)

    def impute(self) -> None:
        self._sf.fit(self._dag, self._gappy(), missing="em").model.impute(self._gappy())

    def available_cases(self) -> None:
        self._sf.fit(self._dag, self._gappy(), missing="available")

    # Undirected models ------------------------------------------------------------------------------------------

    def cliques(self) -> None:
        self._sf.fit(self._sf.Cliques("A:B + B:C + C:D + D:A"), self._table())

    def cliques_by_proportional_fitting(self) -> None:
        self._sf.fit(self._sf.Cliques("A:B + B:C + C:A"), self._table(), method="ipf")

    def cliques_with_missing_values(self) -> None:
        self._sf.fit(self._sf.Cliques("A:B + B:C + C:A"), self._gappy("ABC"), missing="em")

    def ising_6_by_6(self) -> None:
        self._sf.fit(*self._grid(6))

    def pseudo_likelihood(self) -> None:
        self._sf.fit(*self._grid(6), method="pseudo_likelihood")

    def gibbs(self) -> None:
        self._sf.fit(*self._grid(4)).model.sample(2000, method="gibbs", seed=1)

    def features(self) -> None:
        sf = self._sf
        sf.fit(sf.Features([sf.indicators("A"), sf.indicators("B"), sf.indicator(A=1, B=1)]), self._table())

    def features_given_inputs(self) -> None:
        sf = self._sf
        sf.fit(sf.Features([sf.indicator(A=1), sf.indicator(A=1, B=1)], given=["B"]), self._table())

    def maximum_entropy(self) -> None:
        sf = self._sf
        sf.maxent(sf.Features([sf.product("face")]), {"face": 4.5}, over={"face": [1, 2, 3, 4, 5, 6]})

    # Numbers ----------------------------------------------------------------------------------------------------

    def gaussian_network(self) -> None:
        self._sf.fit(self._sf.DAG("x -> y"), self._numbers("xy"))

    def mixed_network(self) -> None:
        rows = {"g": list("ab") * 250, **self._numbers("xy")}
        self._sf.fit(self._sf.DAG("g -> x -> y"), rows).model.query("g", given={"y": 1.0})

    def softmax_node(self) -> None:
        rows = self._numbers("x")
        rows["c"] = (rows["x"] + self._chance.normal(size=500) > 0).astype(str)
        self._sf.fit(self._sf.DAG("x -> c"), rows)

    def noisy_or(self) -> None:
        rows = {"A": [0, 0, 1, 1] * 50, "B": [0, 1, 0, 1] * 50, "C": [0, 1, 1, 1] * 49 + [0] * 4}
        self._sf.fit(self._sf.DAG("A -> C <- B", kinds={"C": "noisy_or"}), rows)

    def normal_distribution(self) -> None:
        self._sf.fit(self._sf.MultivariateNormal(["a", "b"]), self._numbers("ab"))

    def gaussian_markov_field(self) -> None:
        self._sf.fit(self._sf.GaussianMarkov("a:b + b:c"), self._numbers("abc"))

    # Sequences --------------------------------------------------------------------------------------------------

    def markov_chain(self) -> None:
        fit = self._sf.fit(self._sf.MarkovChain(2), ["abracadabra" * 20], prior=self._sf.Dirichlet(1.0))
        fit.model.sample(3, length=50, seed=1)

    def hidden_markov_model(self) -> None:
        rows = ["".join(self._chance.permutation(list("aabbc" * 20))) for _ in range(5)]
        self._sf.fit(self._sf.MarkovChain(1, latent={"state": 2}), rows, seed=0, max_iter=100)

    def autoregression(self) -> None:
        level = self._chance.normal(size=300).cumsum()
        self._sf.fit(self._sf.Autoregression(order=2, variables="level"), [level])

    def hypotheses(self) -> None:
        sets = {"even": [2, 4, 6], "all": [1, 2, 3, 4, 5, 6]}
        self._sf.fit(self._sf.Hypotheses(sets, over="n"), {"n": [2, 4, 4]})

    # Classes of scikit-learn's kind -----------------------------------------------------------------------------

    def chain_crf(self) -> None:
        words, tags = self._sentences()
        self._sf.ChainCRF(c2=0.1).fit(words, tags).predict(words)

    def memm(self) -> None:
        words, tags = self._sentences()
        self._sf.MEMM(c2=0.1).fit(words, tags).predict(words)

    def graph_crf(self) -> None:
        graphs = [self._sf.Graph([{"a": 1.0}, {"b": 1.0}, {"a": 1.0}], [(0, 1), (1, 2)]) for _ in range(10)]
        labels = [["x", "y", "x"], ["y", "y", "x"]] * 5
        self._sf.GraphCRF(c2=0.1).fit(graphs, labels).predict(graphs)

    def naive_bayes(self) -> None:
        x = self._chance.integers(0, 3, (500, 10))
        self._sf.NaiveBayes().fit(x, x[:, 0] > 1).predict(x)

    def joint_bayes(self) -> None:
        x = self._chance.integers(0, 3, (500, 3))
        self._sf.JointBayes().fit(x, x[:, 0] > 1).predict(x)

    def linear_discriminant(self) -> None:
        x = self._chance.normal(size=(500, 10))
        self._sf.GaussianBayes("tied").fit(x, x[:, 0] > 0).predict(x)

    def softmax_regression(self) -> None:
        x = self._chance.normal(size=(500, 10))
        self._sf.SoftmaxRegression("l2").fit(x, x[:, 0] + self._chance.normal(size=500) > 0).predict(x)


if __name__ == "__main__":
    main(*sys.argv[1:])
