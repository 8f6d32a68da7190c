"""MEMM: labels of sequences by a maximum-entropy Markov model."""

from __future__ import annotations

from suffice.sklearn.sequence_shell import SequenceShell
from suffice.structures.label_chain import LocalChain


class MEMM(SequenceShell):
    """Maximum-entropy Markov model: p(y | x) = Π_t p(y_t | y_t−1, x_t), each factor a softmax of its own.

    The parameters, features and methods are those of `ChainCRF`; ``boundaries`` gives weights to first labels only.
    Learning is faster than a CRF's, since positions are learnt from one by one, their labels before them given. For the
    same reason labels with few successors hear little of the input, which is called label bias: see
    `suffice.examples.label_bias`.

    `predict` returns the most probable labels of a whole sequence (Viterbi), and `predict_proba` sums over the labels
    before (forward–backward).

    Examples
    --------
    >>> import suffice as sf
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}, {"word": "barks"}]]
    >>> y = [["D", "N"], ["D", "N", "V"]]
    >>> memm = sf.MEMM(c2=0.1).fit(X, y)
    >>> memm.predict([[{"word": "the"}, {"word": "dog"}, {"word": "barks"}]])
    [['D', 'N', 'V']]
    """

    _structure = LocalChain
