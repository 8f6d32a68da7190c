"""GaussianBayes: quadratic and linear discriminant analysis, and what lies between them and Gaussian naive Bayes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.models.class_gaussian import ClassGaussianModel
from suffice.sklearn.cases import Cases
from suffice.sklearn.generative import GenerativeShell, PriorOfClasses
from suffice.sklearn.inputs import Inputs, read_numbers
from suffice.sklearn.tables import MatrixLike
from suffice.sklearn.words import Words
from suffice.structures.class_gaussian import ClassGaussian

if TYPE_CHECKING:
    from sklearn.utils import Tags

WORDS = Words(
    phrases={
        "raise max_iter": "A larger shrinkage takes fewer steps",
        "data of a method": "Ledoit and Wolf's shrinkage goes through the rows once more, which are not kept: use fit",
    }
)


class GaussianBayes(GenerativeShell[ClassGaussian, ClassGaussianModel]):
    """A Bayes classifier whose inputs are normal within each class.

    Parameters
    ----------
    covariance : str
        ``"full"`` (one matrix a class: quadratic discriminant analysis), ``"tied"`` (one for all: Fisher's linear
        discriminant analysis), ``"diagonal"`` (Gaussian naive Bayes), ``"tied_diagonal"``, ``"spherical"``,
        ``"tied_spherical"``, or ``"sparse"`` (inverse matrices with zeros).
    shrinkage : float, "oas", "ledoit_wolf" or None
        ρ from 0 to 1: each matrix Σ̂ becomes (1 − ρ) Σ̂ + ρ T, which is a Wishart prior.
    towards : {"identity", "diagonal"}
        T: (tr Σ̂ / d) I, or the diagonal of Σ̂.
    graph : graph over the columns, optional
        The pairs that may be dependent given all others, for ``covariance="sparse"``; see `sf.GaussianMarkov`.
    alpha : float, optional
        The penalty of the graphical lasso, for ``covariance="sparse"`` without a graph.
    divisor : {"n", "n-1"}
        Maximum likelihood, or unbiased.
    bayes : bool
        Integrate the parameters out: the densities are then Student's t.
    class_prior : "counted", "uniform", float, mapping or array
        Where p(y) comes from: relative frequencies, all equal, a pseudo-count of every class, or given, by class or in
        the order of the classes.
    rule : {"map", "ml"}
        Decide by p(y | x), or by p(x | y) alone, which is p(y | x) under equal class probabilities.
    missing : {"error", "drop"}
        What becomes of rows with NaN in training. In rows to classify, missing values are integrated out exactly.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
    fit_ : Fit
        ``print(clf.fit_)`` is the summary, ``clf.fit_.certificate`` the proof.
    model_ : the joint distribution of inputs and class
    statistics_ : Statistics
        Counts and moments by class; all that is kept of the data.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import suffice as sf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sf.GaussianBayes(covariance="tied").fit(X, y)
    >>> clf.score(X, y)
    0.98
    >>> clf.fit_.certificate.ok
    True
    >>> clf.predict([[5.0, float("nan"), 1.5, 0.2]])
    array([0])
    """

    _words = WORDS

    def __init__(
        self,
        covariance: str = "full",
        *,
        shrinkage: float | str | None = None,
        towards: str = "identity",
        graph: Any = None,
        alpha: float | None = None,
        divisor: str = "n",
        bayes: bool = False,
        class_prior: PriorOfClasses = "counted",
        rule: str = "map",
        missing: str = "error",
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.towards = towards
        self.graph = graph
        self.alpha = alpha
        self.divisor = divisor
        self.bayes = bayes
        self.class_prior = class_prior
        self.rule = rule
        self.missing = missing

    def _read_more(self, X: MatrixLike, *, first: bool) -> Inputs:
        return read_numbers(self, X, first=first, finite=False)

    def _read(self, X: MatrixLike) -> Inputs:
        return read_numbers(self, X, first=False)

    def _make_structure(self, cases: Cases) -> ClassGaussian:
        return ClassGaussian(
            cases.target.name,
            cases.inputs.names,
            covariance=self.covariance,
            shrinkage=self.shrinkage,
            towards=self.towards,
            graph=self.graph,
            alpha=self.alpha,
            divisor=self.divisor,
            bayes=self.bayes,
            class_prior=self._prior_spec(cases),
        )

    def _settings(self, n_classes: int) -> dict[str, Any]:
        return {"missing": self.missing}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "drop"
        return tags
