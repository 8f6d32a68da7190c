"""W6: four Bayes classifiers on 1,000,000 rows × 20 columns, 5 classes: fit, and predict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common import Answer, Context, Entry, contestant_main, first_compilation, race, ratio_table

TITLE = "W6: Bayes classifiers, 1,000,000 × 20, 5 classes"
SEED, N_COLUMNS, N_CLASSES, N_STATES = 6, 20, 5, 10
EVERY = 10
"""Every so many rows, the labels that were predicted are compared."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
KINDS: dict[str, tuple[str, str, dict[str, dict[str, str]]]] = {
    "Gaussian naive Bayes": ("normal", "NaiveBayes()", {"GaussianNB(var_smoothing=0)": {}}),
    "Categorical naive Bayes": ("states", "NaiveBayes()", {"CategoricalNB()": {}}),
    "Linear discriminant analysis": (
        "tied",
        "GaussianBayes(covariance='tied')",
        {"LinearDiscriminantAnalysis(solver='lsqr')": {"solver": "lsqr"}},
    ),
    "Quadratic discriminant analysis": (
        "full",
        "GaussianBayes()",
        {
            "QuadraticDiscriminantAnalysis()": {"solver": "svd"},
            "QuadraticDiscriminantAnalysis(solver='eigen')": {"solver": "eigen"},
        },
    ),
}


def run(context: Context) -> str:
    """Race all contestants, and return a section in Markdown."""
    request = {"n": 10_000 if context.quick else 1_000_000, "repeats": 12, "budget": 30}
    sections = []
    for title, (kind, mine, theirs) in KINDS.items():
        for what in ("fit", "predict"):
            asked = {"kind": kind, "what": what}
            peers = [
                Entry(
                    f"scikit-learn, {name}", "sklearn", "peers", {**asked, "with": options, "environment": ONE_THREAD}
                )
                for name, options in theirs.items()
            ]
            entries = [Entry(f"suffice, {mine}", "suffice", "ours", asked), *peers]
            outcomes = race(context, "w6_classifiers.py", entries, request)
            sections.append(f"### {title}: {what}\n\n{ratio_table(outcomes, sizes_of(kind, what))}")
    ours = Entry("suffice, GaussianBayes()", "suffice", "ours", {"kind": "full", "what": "fit"})
    first = first_compilation(context, "w6_classifiers.py", ours, {**request, **ours.options})
    return "\n\n".join(
        [
            *sections,
            f"{request['n']:,} rows (seed {SEED}): normal columns with a mean and a covariance of each class, or "
            f"{N_STATES} states whose probabilities a uniform Dirichlet distribution gave, as float64 and int64 in C "
            "order; classes as whole numbers. Both sides check their input and encode the classes; our fits include "
            "the certificate. scikit-learn's linear algebra has one thread, which costs it the least CPU time. Fits "
            f"are compared by their parameters, predictions by the labels of every {EVERY}th row. CategoricalNB and "
            "ours add one to every count. GaussianNB adds nothing to its variances here, so that both maximise the "
            f"likelihood. {first}",
        ]
    )


def sizes_of(kind: str, what: str) -> dict[str, int]:
    """Return what answers consist of."""
    if what == "predict":
        return {"labels": 1}
    return {"probabilities": N_STATES} if kind == "states" else {"means": N_COLUMNS, "spreads": N_COLUMNS}


# Contestants --------------------------------------------------------------------------------------------------


def rows(request: Mapping[str, Any]) -> tuple[Any, Any]:
    """Draw the rows and their classes."""
    import numpy as np

    draw = np.random.default_rng(SEED)
    y = draw.integers(0, N_CLASSES, request["n"])
    if request["kind"] == "states":
        reached = draw.dirichlet(np.ones(N_STATES), (N_CLASSES, N_COLUMNS)).cumsum(axis=2)[..., :-1]
        levels = draw.random((request["n"], N_COLUMNS))
        x = np.zeros(levels.shape, np.int64)
        for state in range(N_STATES - 1):
            x += levels > reached[y, :, state]
        return x, y
    numbers = draw.normal(size=(request["n"], N_COLUMNS))
    for k in range(N_CLASSES):
        mine = np.flatnonzero(y == k)
        mixing = np.eye(N_COLUMNS) + 0.3 * draw.normal(size=(N_COLUMNS, N_COLUMNS)) / N_COLUMNS**0.5
        numbers[mine] = numbers[mine] @ mixing + 0.5 * draw.normal(size=N_COLUMNS)
    return numbers, y


class Classifier:
    """A classifier that is fitted, or that was fitted before and predicts."""

    def make(self, request: Mapping[str, Any]) -> Any:
        """Return it, not fitted."""
        raise NotImplementedError

    def prepare(self, request: Mapping[str, Any]) -> Any:
        """Draw the rows; fit, where predictions are wanted."""
        x, y = rows(request)
        made = self.make(request)
        return request, made.fit(x, y) if request["what"] == "predict" else made, x, y

    def fit(self, held: Any) -> Any:
        """Fit, or predict."""
        request, made, x, y = held
        return made.predict(x) if request["what"] == "predict" else made.fit(x, y)

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return some labels, or the parameters."""
        if held[0]["what"] == "predict":
            return {"labels": [float(label) for label in fitted[::EVERY]]}
        return {name: array.reshape(-1).tolist() for name, array in self.parameters(held[0]["kind"], fitted).items()}

    def parameters(self, kind: str, fitted: Any) -> dict[str, Any]:
        """Return the parameters as arrays: class, column, state, or class, column, column."""
        raise NotImplementedError


class Suffice(Classifier):
    """Ours."""

    def make(self, request: Mapping[str, Any]) -> Any:
        """Return the shell."""
        import suffice as sf

        if request["kind"] in ("normal", "states"):
            return sf.NaiveBayes()
        return sf.GaussianBayes(covariance=request["kind"])

    def parameters(self, kind: str, fitted: Any) -> dict[str, Any]:
        """Return them from the model."""
        import numpy as np

        model = fitted.model_
        if kind == "states":
            return {"probabilities": np.stack([cpd.values for cpd in model.cpds], axis=1)}
        if kind == "normal":
            return {
                "means": np.stack([cpd.intercept for cpd in model.cpds], axis=1),
                "spreads": np.stack([cpd.variance for cpd in model.cpds], axis=1),
            }
        return {"means": model.means, "spreads": model.spread}


class Sklearn(Classifier):
    """Those of scikit-learn."""

    def make(self, request: Mapping[str, Any]) -> Any:
        """Return the estimator."""
        from sklearn import discriminant_analysis, naive_bayes

        return {
            "normal": lambda: naive_bayes.GaussianNB(var_smoothing=0.0),
            "states": naive_bayes.CategoricalNB,
            "tied": lambda: discriminant_analysis.LinearDiscriminantAnalysis(**request["with"]),
            "full": lambda: discriminant_analysis.QuadraticDiscriminantAnalysis(**request["with"]),
        }[request["kind"]]()

    def parameters(self, kind: str, fitted: Any) -> dict[str, Any]:
        """Return them; QDA keeps the axes of its covariances and their lengths."""
        import numpy as np

        if kind == "states":
            return {"probabilities": np.exp(np.stack(fitted.feature_log_prob_, axis=1))}
        if kind == "normal":
            return {"means": fitted.theta_, "spreads": fitted.var_}
        if kind == "tied":
            return {"means": fitted.means_, "spreads": fitted.covariance_}
        axes = zip(fitted.rotations_, fitted.scalings_, strict=True)
        return {"means": fitted.means_, "spreads": np.stack([rotation * s @ rotation.T for rotation, s in axes])}


if __name__ == "__main__":
    contestant_main({"suffice": Suffice(), "sklearn": Sklearn()})
