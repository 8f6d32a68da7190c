"""ChainCRF: labels of sequences by a linear-chain conditional random field."""

from __future__ import annotations

from suffice.sklearn.sequence_shell import SequenceShell
from suffice.structures.label_chain import LabelChain


class ChainCRF(SequenceShell):
    """Linear-chain conditional random field: p(y | x) ∝ exp Σ_t (w[x_t, y_t] + w[y_t−1, y_t]).

    Minimises −Σ log p(y | x) + c1 ‖w‖₁ + c2 ‖w‖², as CRFsuite does: the square has no ½. Features are those of
    python-crfsuite and sklearn-crfsuite, unchanged.

    Parameters
    ----------
    c1, c2 : float
        Strengths of the penalties; c1 > 0 makes some weights exactly zero.
    states : {"observed", "all"}
        Which pairs of feature and label have a weight: those that the data has, or all.
    transitions : {"all", "observed"}
        Which pairs of neighbouring labels have one.
    boundaries : bool
        Whether there are weights of a sequence's first label and of its last.
    min_freq : float
        A pair of feature and label has a weight only if it occurs so often.
    step_features : list of str, "all" or None
        Features that also have weights for pairs of neighbouring labels, so that transitions depend on the input.
    templates : str, path or Templates, optional
        Templates as CRF++ has them, or the path of their file, which make features from columns of text.
    n_buckets : int
        Hash the names of features into so many buckets, instead of keeping them; 0 keeps them.
    method : {"auto", "lbfgs", "owlqn", "sgd", "adagrad"}
        ``"auto"`` takes L-BFGS, or OWL-QN if c1 > 0; both are exact. The last two, for large data, are not.
    tol : float
        The largest part of the gradient, a position and in units of the feature's values, at which the search ends, and
        which the certificate allows.
    max_iter : int
        The most steps; of the last two methods, passes over the data.
    patience : int
        Learning ends after so many steps in which the loss of X_dev did not fall.
    missing : {"error", "drop"}
        What to do with sequences that lack a label.
    warm_start : bool
        Whether `fit` begins at the weights of the last one, by name.
    seed : int, optional
        For the last two methods.
    progress : bool or Display
        Show a progress bar with the loss.

    Attributes
    ----------
    classes_ : array, shape (n_labels,)
    model_ : ChainModel
    fit_ : Fit
        With certificate, trace and notes.
    state_features_, transition_features_ : dict
        Weights other than zero, by (attribute, label) and by (label, next label).

    Notes
    -----
    Ctrl-C ends learning after the current step and keeps the weights so far, which the certificate then says. Features
    that training did not have are left out when sequences are tagged, with a warning if none is left. An empty sequence
    has no labels, and log p = 0.

    Examples
    --------
    >>> import suffice as sf
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}, {"word": "barks"}]]
    >>> y = [["D", "N"], ["D", "N", "V"]]
    >>> crf = sf.ChainCRF(c2=0.1).fit(X, y)
    >>> crf.predict([[{"word": "the"}, {"word": "dog"}, {"word": "barks"}]])
    [['D', 'N', 'V']]
    >>> crf.fit_.certificate.ok
    True
    """

    _structure = LabelChain
