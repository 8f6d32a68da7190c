"""JointBayes: the joint table of all inputs within each class, nothing assumed to be independent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.models.joint_classes import JointClassModel
from suffice.sklearn.cases import Cases
from suffice.sklearn.generative import GenerativeShell, PriorOfClasses
from suffice.sklearn.inputs import Inputs
from suffice.sklearn.states import counting_prior, read_known, read_states
from suffice.sklearn.tables import MatrixLike
from suffice.sklearn.words import OF_STATES, SMOOTHED
from suffice.structures.class_prior import ClassPrior
from suffice.structures.joint_classes import JointClasses

if TYPE_CHECKING:
    from sklearn.utils import Tags


class JointBayes(GenerativeShell[JointClasses, JointClassModel]):
    """A Bayes classifier by the full table p(x_1, x_2, … | y) of discrete inputs.

    Every distinct value of a column is a state, whatever it looks like.

    Parameters
    ----------
    smoothing : float
        The pseudo-count of every cell of a class's table (a Dirichlet prior, of which the posterior mean is taken);
        0.0 is maximum likelihood, under which cells that were never seen are impossible.
    class_prior : "counted", "uniform", float, mapping or array
        Where p(y) comes from: relative frequencies, all equal, a pseudo-count of every class, or given, by class or in
        the order of the classes.
    rule : {"map", "ml"}
        Decide by p(y | x), or by p(x | y) alone, which is p(y | x) under equal class probabilities.
    unknown_states : {"error", "missing"}
        What to do with states in rows to classify that training did not have.
    missing : {"error", "drop"}
        What becomes of rows with gaps in training. In rows to classify, missing values are summed out exactly.

    Attributes
    ----------
    classes_, fit_, model_, statistics_, n_features_in_, feature_names_in_
        As in `GaussianBayes`.

    Examples
    --------
    >>> import suffice as sf
    >>> X = [["grey", "yes"], ["grey", "no"], ["blue", "no"], ["grey", "yes"]]
    >>> clf = sf.JointBayes(smoothing=0.0).fit(X, ["wet", "dry", "dry", "wet"])
    >>> clf.predict([["grey", "yes"], ["grey", None]])
    array(['wet', 'wet'], dtype='<U3')
    """

    _words = OF_STATES
    _if_impossible = SMOOTHED

    def __init__(
        self,
        smoothing: float = 1.0,
        *,
        class_prior: PriorOfClasses = "counted",
        rule: str = "map",
        unknown_states: str = "error",
        missing: str = "error",
    ) -> None:
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.rule = rule
        self.unknown_states = unknown_states
        self.missing = missing

    def _read_more(self, X: MatrixLike, *, first: bool) -> Inputs:
        return read_states(self, X, first=first)

    def _read(self, X: MatrixLike) -> Inputs:
        return read_known(self, X)

    def _make_structure(self, cases: Cases) -> JointClasses:
        return JointClasses(cases.target.name, cases.inputs.names, ClassPrior.of(self._prior_spec(cases)))

    def _settings(self, n_classes: int) -> dict[str, Any]:
        return {"prior": counting_prior(self.smoothing), "missing": self.missing}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing == "drop"
        return tags
