"""scikit-learn's own checks of estimators, on many settings of each shell.

Every check that a setting cannot pass stands here with its reason; one that passes after all fails the test.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice as sf

Reasons = dict[str, str]

TAKES_GAPS: Reasons = {
    "check_estimators_nan_inf": "A row to classify may have NaN, which is marginalised exactly; the check wants it "
    "refused. Training refuses NaN and infinities, and prediction infinities, as test_inputs.py shows."
}
FEW_ROWS: Reasons = {
    "check_sample_weight_equivalence_on_dense_data": "Of 30 columns and fewer rows, in one class all alike, no "
    "variance or covariance can be estimated: an EstimationError says so. test_weights.py checks the same on "
    "more rows."
}
CONSTANT_COLUMN: Reasons = dict.fromkeys(
    ("check_sample_weights_not_overwritten", "check_sample_weights_shape"),
    "A column is constant within each class, so that its variance would be zero: an EstimationError says so. "
    "test_weights.py checks the same on columns that vary.",
)
UNDETERMINED: Reasons = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "More columns than rows do not determine the weights without a penalty: an EstimationError says so. "
    "test_weights.py checks the same on more rows.",
)
NOT_SEEN = (
    "Rows to classify have values that training had not, which unknown_states='error' refuses; with 'missing' the "
    "check passes."
)
UNSEEN = dict.fromkeys(("check_sample_weight_equivalence_on_dense_data", "check_decision_proba_consistency"), NOT_SEEN)
UNSEEN_IN_NAIVE = UNSEEN | dict.fromkeys(("check_classifiers_one_label", "check_fit_idempotent"), NOT_SEEN)
TOO_MANY_CELLS: Reasons = {
    "check_sample_weight_equivalence_on_dense_data": "A joint table of 30 columns has 10^29 cells: an EstimationError "
    "says so, and names NaiveBayes. test_weights.py checks the same on few columns."
}
ONE_SHAPE: Reasons = {"check_sample_weights_shape": CONSTANT_COLUMN["check_sample_weights_shape"]}
NOT_OVERWRITTEN: Reasons = {
    "check_sample_weights_not_overwritten": CONSTANT_COLUMN["check_sample_weights_not_overwritten"]
}
NEGATIVE: Reasons = {
    "check_decision_proba_consistency": "The check draws negative numbers, whatever the tag positive_only says, and "
    "multinomial columns hold counts: a DataError says so. test_protocol.py checks the same on counts."
}
BOTH_PRIORS = [sf.Dirichlet(1.0), sf.NormalInverseGamma(2, 1.0)]

SETTINGS: list[tuple[Any, Reasons]] = [
    (sf.GaussianBayes(), TAKES_GAPS | FEW_ROWS | CONSTANT_COLUMN),
    (sf.GaussianBayes("tied"), TAKES_GAPS | FEW_ROWS | CONSTANT_COLUMN),
    (sf.GaussianBayes("diagonal"), TAKES_GAPS | FEW_ROWS | CONSTANT_COLUMN),
    (sf.GaussianBayes("tied_diagonal"), TAKES_GAPS | CONSTANT_COLUMN),
    (sf.GaussianBayes("spherical"), TAKES_GAPS | FEW_ROWS),
    (sf.GaussianBayes("tied_spherical"), TAKES_GAPS),
    (sf.GaussianBayes("tied_spherical", missing="drop"), {}),
    (sf.GaussianBayes(shrinkage=0.3), TAKES_GAPS | FEW_ROWS),
    (sf.GaussianBayes("tied", shrinkage=0.1, missing="drop"), {}),
    (sf.GaussianBayes("tied", shrinkage="oas", missing="drop", rule="ml"), {}),
    (sf.GaussianBayes("tied", shrinkage="ledoit_wolf", missing="drop"), ONE_SHAPE),
    (sf.GaussianBayes("sparse", alpha=0.1, missing="drop"), FEW_ROWS | CONSTANT_COLUMN),
    (sf.GaussianBayes(bayes=True), TAKES_GAPS | FEW_ROWS | CONSTANT_COLUMN),
    (sf.NaiveBayes(), FEW_ROWS | NOT_OVERWRITTEN),
    (sf.NaiveBayes(smoothing=BOTH_PRIORS), {}),
    (sf.NaiveBayes(smoothing=BOTH_PRIORS, rule="ml"), {}),
    (sf.NaiveBayes("categorical"), UNSEEN_IN_NAIVE),
    (sf.NaiveBayes("categorical", unknown_states="missing"), {}),
    (sf.NaiveBayes("categorical", unknown_states="missing", class_prior=1.0, smoothing=0.5), {}),
    (sf.NaiveBayes("gaussian"), FEW_ROWS | CONSTANT_COLUMN),
    (sf.NaiveBayes("gaussian", smoothing=sf.NormalInverseGamma(2, 1.0)), {}),
    (sf.NaiveBayes("multinomial"), NEGATIVE),
    (sf.NaiveBayes("multinomial", smoothing=0.1, class_prior=1.0), NEGATIVE),
    (sf.NaiveBayes("bernoulli"), {}),
    (sf.NaiveBayes("bernoulli", binarize=0.5, class_prior="uniform", rule="ml"), {}),
    (sf.JointBayes(), TAKES_GAPS | UNSEEN | TOO_MANY_CELLS),
    (sf.JointBayes(unknown_states="missing", missing="drop"), TOO_MANY_CELLS),
    (sf.SoftmaxRegression(), UNDETERMINED),
    (sf.SoftmaxRegression("l2"), {}),
    (sf.SoftmaxRegression("l1", strength=0.5), {}),
    (sf.SoftmaxRegression("l2", intercept=False), {}),
]


def reasons(estimator: Any) -> Reasons:
    return next(said for known, said in SETTINGS if known is estimator)


@parametrize_with_checks([estimator for estimator, _ in SETTINGS], expected_failed_checks=reasons, xfail_strict=True)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
