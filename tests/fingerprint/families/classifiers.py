"""Classifiers: naive Bayes, normal classes, joint tables and softmax regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.fingerprint.family import Family, plain
from tests.fingerprint.pairs import Choice
from tests.fingerprint.record import Record
from tests.fingerprint.tables import in_form, mixed, uniform, with_gaps

import suffice as sf

TABLE = mixed(80, seed=5)
TABLE["n"] = uniform(610, 80, 0, 5)
TABLE["m"] = uniform(611, 80, 0, 4)
GAPPY = with_gaps(TABLE, "A B x y", seed=950, one_in=8)
CLASSES = {"two": "B", "three": "S"}
FRAMES = ("pandas", "polars", "arrow")


def _learn(record: Record, classifier: Any, names: list[str], choice: Choice) -> None:
    """Fit a classifier to columns in a form, and record what it learnt and answers."""
    columns = GAPPY if choice.get("gaps") == "yes" else TABLE
    inputs = {name: columns[name] for name in names}
    if choice["form"] == "array":
        X: Any = np.array(list(inputs.values()), dtype=float).T  # noqa: N806
    else:
        X = in_form(inputs, choice["form"])  # noqa: N806
    y = TABLE[CLASSES[choice["classes"]]]
    weights = np.array(TABLE["w"], dtype=float) if choice["weights"] == "given" else None
    if choice.get("parts") == "yes":
        for part in (slice(0, 45), slice(45, 80)):
            some = X[part] if choice["form"] != "arrow" else X.slice(part.start, part.stop - part.start)
            own = None if weights is None else weights[part]
            classifier.partial_fit(some, y[part], sample_weight=own, classes=sorted(set(y)))
    else:
        classifier.fit(X, y, sample_weight=weights)
    record.add_fit(classifier.fit_)
    record.add("classes", list(classifier.classes_))
    few = X[:6] if choice["form"] != "arrow" else X.slice(0, 6)
    record.ask("predict", lambda: list(classifier.predict(few)))
    record.ask("predict_proba", lambda: classifier.predict_proba(few))
    record.ask("decision_function", lambda: classifier.decision_function(few))
    record.ask("score", lambda: float(classifier.score(X, y)))
    first, second = list(classifier.classes_)[:2]
    record.ask("log_odds", lambda: str(classifier.log_odds(first, second)))


def _class_prior(choice: Choice) -> Any:
    states = sorted(set(TABLE[CLASSES[choice["classes"]]]))
    given = {state: (place + 1) / sum(range(1, len(states) + 1)) for place, state in enumerate(states)}
    return {"counted": "counted", "uniform": "uniform", "pseudo": 2.0, "given": given}[choice["class_prior"]]


def _exchange(record: Record, classifier: Any, choice: Choice) -> None:
    """Record a classifier with other class probabilities, and as a softmax regression."""
    n = len(classifier.classes_)
    record.ask("other priors", lambda: str(classifier.with_class_priors([1 / n] * n).fit_))
    record.ask("as softmax", lambda: str(classifier.to_softmax().log_odds(*list(classifier.classes_)[:2])))
    record.ask("sample", lambda: str(classifier.sample(3, seed=1)))


NAIVE: dict[str, tuple[Any, list[str]]] = {
    "mixed": (None, ["A", "C", "x", "y"]),
    "categorical": ("categorical", ["A", "C", "E"]),
    "gaussian": ("gaussian", ["x", "y", "z"]),
    "tied gaussian": ("tied_gaussian", ["x", "y", "z"]),
    "multinomial": ("multinomial", ["n", "m", "k"]),
    "bernoulli": ({"C": "bernoulli", "E": "bernoulli", "x": "gaussian"}, ["C", "E", "x"]),
}


def _run_naive(record: Record, choice: Choice) -> None:
    kinds, names = NAIVE[choice["kinds"]]
    classifier = sf.NaiveBayes(
        kinds,
        smoothing=float(choice["smoothing"]),
        divisor=choice["divisor"],
        class_prior=_class_prior(choice),
        rule=choice["rule"],
    )
    _learn(record, classifier, names, choice)
    _exchange(record, classifier, choice)


def _allows_naive(choice: Choice) -> bool:
    return choice["form"] != "array" or choice["kinds"] in ("gaussian", "tied gaussian", "multinomial")


SHAPES = ("full", "tied", "diagonal", "tied_diagonal", "spherical", "tied_spherical", "sparse graph", "sparse lasso")


def _run_gaussian(record: Record, choice: Choice) -> None:
    shape = choice["covariance"]
    shrinkage = {"none": None, "some": 0.25}.get(choice["shrinkage"], choice["shrinkage"])
    classifier = sf.GaussianBayes(
        shape.split()[0],
        shrinkage=shrinkage,
        towards=choice["towards"],
        graph="x:y + y:z" if shape == "sparse graph" else None,
        alpha=0.1 if shape == "sparse lasso" else None,
        divisor=choice["divisor"],
        bayes=choice["bayes"] == "yes",
        class_prior=_class_prior(choice),
        rule=choice["rule"],
        missing="drop" if choice["gaps"] == "yes" else "error",
    )
    _learn(record, classifier, ["x", "y", "z"], choice)
    _exchange(record, classifier, choice)


def _allows_gaussian(choice: Choice) -> bool:
    shape, shrinkage, diagonal = choice["covariance"], choice["shrinkage"], choice["towards"] == "diagonal"
    whole = "full" in shape or shape == "tied" or "sparse" in shape
    shrinks = shrinkage != "none"
    if diagonal and not shrinks:
        return False
    refused = (
        (shrinkage in ("oas", "ledoit_wolf") and (not whole or diagonal))
        or (shrinks and ("spherical" in shape or (diagonal and not whole)))
        or (choice["bayes"] == "yes" and (shrinks or choice["divisor"] != "n" or "sparse" in shape))
        or (choice["parts"] == "yes" and shrinkage == "ledoit_wolf")
        or (choice["form"] == "array" and shape == "sparse graph")
    )
    return not refused or all(choice[kind] == one for kind, one in USUAL.items())


USUAL = {"form": "pandas", "classes": "two", "weights": "none", "rule": "map", "gaps": "no", "class_prior": "counted"}


def _run_joint(record: Record, choice: Choice) -> None:
    classifier = sf.JointBayes(
        float(choice["smoothing"]),
        class_prior=_class_prior(choice),
        rule=choice["rule"],
        missing="drop" if choice["gaps"] == "yes" else "error",
    )
    _learn(record, classifier, ["A", "C"], choice)
    _exchange(record, classifier, choice)


def _run_softmax(record: Record, choice: Choice) -> None:
    names = {"numbers": ["x", "y", "z"], "mixed": ["A", "x", "C"]}[choice["inputs"]]
    penalty = None if choice["penalty"] == "none" else choice["penalty"]
    classifier = sf.SoftmaxRegression(
        penalty,
        strength=float(choice["strength"]),
        intercept=choice["intercept"] == "yes",
        method=choice["method"],
        reference=sorted(set(TABLE[CLASSES[choice["classes"]]]))[-1] if choice["reference"] == "last" else None,
    )
    _learn(record, classifier, names, choice)
    record.ask("coef", lambda: classifier.coef_)
    record.ask("intercept", lambda: classifier.intercept_)
    record.ask("terms", lambda: list(classifier.terms_))
    record.ask("deviance", lambda: [classifier.deviance_, classifier.null_deviance_])
    record.ask("coefficients", lambda: str(classifier.coefficients_))


def _allows_softmax(choice: Choice) -> bool:
    if choice["form"] == "array" and choice["inputs"] == "mixed":
        return False
    fits = choice["method"] == "auto" or (choice["method"] == "proximal") == (choice["penalty"] == "l1")
    strength = choice["penalty"] != "none" or choice["strength"] == "1"
    usual = {**choice, "form": "none", "classes": "none", "intercept": "none", "strength": "none", "inputs": "none"}
    return strength and (fits or plain(usual, "penalty", "method"))


COMMON = {"classes": ("two", "three"), "weights": ("none", "given")}
PRIOR = {"class_prior": ("counted", "uniform", "pseudo", "given"), "rule": ("map", "ml")}
FAMILIES = [
    Family(
        "naive Bayes",
        _run_naive,
        {
            "kinds": tuple(NAIVE),
            "form": (*FRAMES, "array"),
            **COMMON,
            **PRIOR,
            "smoothing": ("1", "0.5", "0"),
            "divisor": ("n", "n-1"),
            "gaps": ("no", "yes"),
            "parts": ("no", "yes"),
        },
        _allows_naive,
    ),
    Family(
        "normal classes",
        _run_gaussian,
        {
            "covariance": SHAPES,
            "form": (*FRAMES, "array"),
            **COMMON,
            **PRIOR,
            "shrinkage": ("none", "some", "oas", "ledoit_wolf"),
            "towards": ("identity", "diagonal"),
            "divisor": ("n", "n-1"),
            "bayes": ("no", "yes"),
            "gaps": ("no", "yes"),
            "parts": ("no", "yes"),
        },
        _allows_gaussian,
    ),
    Family(
        "joint table of classes",
        _run_joint,
        {
            "smoothing": ("1", "0.5", "0"),
            "form": FRAMES,
            **COMMON,
            **PRIOR,
            "gaps": ("no", "yes"),
            "parts": ("no", "yes"),
        },
    ),
    Family(
        "softmax regression",
        _run_softmax,
        {
            "penalty": ("none", "l2", "l1"),
            "inputs": ("numbers", "mixed"),
            "form": (*FRAMES, "array"),
            **COMMON,
            "method": ("auto", "newton", "lbfgs", "proximal"),
            "strength": ("1", "0.1"),
            "intercept": ("yes", "no"),
            "reference": ("none", "last"),
        },
        _allows_softmax,
    ),
]
