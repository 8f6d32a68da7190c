"""W5: a linear-chain CRF and a MEMM on CoNLL-2000 chunking, learning and tagging, against CRFsuite and scikit-learn.

The attributes are those of CRFsuite's chunking tutorial: words and part-of-speech tags in a window of five, with pairs
and triples of them. All contestants hold them as lists of strings before the clock starts, as CRFsuite takes them;
one of ours makes them by itself, from the columns of the file.
"""

from __future__ import annotations

import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import Answer, Contestant, Context, Entry, Outcome, contestant_main, measured_table, race, say

TITLE = "W5: sequence labelling, CoNLL-2000 chunking, 8,936 sentences, 22 labels, 453,094 weights, penalty ‖w‖²"
WINDOWS = (
    *[[("w", offset)] for offset in range(-2, 3)],
    [("w", -1), ("w", 0)],
    [("w", 0), ("w", 1)],
    *[[("pos", offset)] for offset in range(-2, 3)],
    *[[("pos", offset), ("pos", offset + 1)] for offset in range(-2, 2)],
    *[[("pos", offset), ("pos", offset + 1), ("pos", offset + 2)] for offset in range(-2, 1)],
)
LOSS = 13025.16
"""What CRFsuite's own stopping rule reaches."""

ONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
CRF = (
    Entry("suffice `sf.ChainCRF`, one thread", "suffice", "ours", {"threads": 1, "environment": ONE}),
    Entry("suffice `sf.ChainCRF`, two threads", "suffice", "ours", {"threads": 2, "environment": ONE}),
    Entry("suffice `sf.ChainCRF(templates=…)`, one thread", "columns", "ours", {"threads": 1, "environment": ONE}),
    Entry("CRFsuite `lbfgs`", "crfsuite", "peers"),
)
TAG = (
    Entry("suffice `predict`, one thread", "tag", "ours", {"threads": 1, "environment": ONE, "repeats": 5}),
    Entry("CRFsuite `Tagger.tag`", "crfsuite_tag", "peers", {"repeats": 5}),
)
MEMM = (
    Entry("suffice `sf.MEMM`, one thread", "memm", "ours", {"threads": 1, "environment": ONE, "tol": 1e-6}),
    Entry("suffice `sf.MEMM(tol=1e-4)`, one thread", "memm", "ours", {"threads": 1, "environment": ONE, "tol": 1e-4}),
    Entry("suffice `sf.MEMM(tol=1e-4)`, matrices", "matrices", "ours", {"threads": 1, "environment": ONE, "tol": 1e-4}),
    Entry(
        "suffice `sf.MEMM(tol=1e-4)`, matrices, two threads",
        "matrices",
        "ours",
        {"threads": 2, "environment": ONE, "tol": 1e-4},
    ),
    Entry("sklearn `LogisticRegression` on one-hot rows", "sklearn", "peers", {"environment": ONE}),
)


def run(context: Context) -> str:
    """Race on learning and tagging, and return a section in Markdown."""
    request = {
        "train": str(context.data / "seq_conll2000" / "train.txt.xz"),
        "test": str(context.data / "seq_conll2000" / "test.txt.xz"),
        "sentences": 300 if context.quick else None,
        "repeats": 0,
        "budget": 600,
        "work": str(context.work),
    }
    parts = [
        "Objective: −Σ log p + ‖w‖², observed pairs of attribute and label, all transitions; CRFsuite with `c2=1`, "
        "`feature.possible_transitions=1` and its own stopping rule, ours until the largest derivative is 1e-6 a "
        "position. `loss` is that objective; `F1` is of the test file's spans. Each learns once: the first call is the "
        "one that counts, and ours holds loading compiled kernels and the certificate. `(data) MiB` is what a process "
        "holds before the clock starts."
    ]
    for words, entries in (
        ("Learning a CRF, from lists of attributes to weights", CRF),
        ("Tagging the test file's 2,012 sentences, from lists of attributes to labels", TAG),
        (
            "Learning a MEMM, from lists of attributes, or from sparse matrices that were made before, one a sentence; "
            "scikit-learn's rows are one such matrix, with the label before as an attribute more, its weights are of "
            "all pairs, `C=0.5` is the same penalty, and its `tol` is 1e-4",
            MEMM,
        ),
    ):
        say(f" {words}")
        outcomes = race(context, Path(__file__).name, entries, request)
        parts += [f"### {words}", measured_table(outcomes, ["loss", "F1"], lambda o: cells(o, context.quick))]
    return "\n\n".join(parts)


def cells(outcome: Outcome, quick: bool) -> list[str]:
    """Write the loss and the F1, and what is wrong with the loss of a CRF."""
    assert outcome.measured is not None
    answer = outcome.measured["answer"]
    score = f"{100 * answer['F1'][0]:.2f}"
    if "loss" not in answer:
        return ["–", score]
    loss = answer["loss"][0]
    high = not quick and outcome.entry in CRF and loss > LOSS + 0.005
    return [f"{loss:.3f}" + (", TOO HIGH" if high else ""), score]


# Data ---------------------------------------------------------------------------------------------------------


def sentences(path: str, most: int | None) -> list[list[list[str]]]:
    """Read sentences of rows word, part of speech, label."""
    found: list[list[list[str]]] = [[]]
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                found[-1].append(line.split())
            elif found[-1]:
                found.append([])
    return [sentence for sentence in found if sentence][:most]


def attributes(sentence: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the attributes of every position; one whose window leaves the sentence is left out."""
    n, column = len(sentence), {"w": 0, "pos": 1}
    rows = []
    for t in range(n):
        own = [
            "|".join(f"{name}[{offset}]" for name, offset in window)
            + "="
            + "|".join(sentence[t + offset][column[name]] for name, offset in window)
            for window in WINDOWS
            if t + window[0][1] >= 0 and t + window[-1][1] < n
        ]
        rows.append(own + ["__BOS__"] * (t == 0) + ["__EOS__"] * (t == n - 1))
    return rows


def f1(true: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> float:
    """Return the F1 of spans."""
    right = n_true = n_found = 0
    for one, other in zip(true, found, strict=True):
        a, b = spans(one), spans(other)
        right, n_true, n_found = right + len(a & b), n_true + len(a), n_found + len(b)
    return 2 * right / max(n_true + n_found, 1)


def spans(tags: Sequence[str]) -> set[tuple[str, int, int]]:
    """Return the spans of a sentence in the IOB scheme."""
    found, start, kind = set(), 0, ""
    for t, tag in enumerate([*tags, "O"]):
        mark, _, now = tag.partition("-")
        if kind and (mark != "I" or now != kind):
            found.add((kind, start, t))
            kind = ""
        if mark != "O" and not kind:
            start, kind = t, now
    return found


@dataclass
class Held:
    """Attributes and labels of both files, and what is asked."""

    x: Any
    y: list[list[str]]
    x_test: Any
    y_test: list[list[str]]
    request: Mapping[str, Any]


def loaded(request: Mapping[str, Any], *, columns: bool = False) -> Held:
    """Read both files; ``columns`` leaves rows as they are, without attributes."""
    parts: list[Any] = []
    for name in ("train", "test"):
        read = sentences(request[name], request["sentences"])
        parts += [read if columns else [attributes(sentence) for sentence in read]]
        parts += [[[row[2] for row in sentence] for sentence in read]]
    return Held(*parts, request)


# Ours ---------------------------------------------------------------------------------------------------------


class Suffice:
    """Our CRF or MEMM, from lists of attributes."""

    def __init__(self, name: str = "ChainCRF") -> None:
        self.name = name

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Make the attributes."""
        import suffice.sklearn  # noqa: F401

        return loaded(request)

    def fit(self, held: Held) -> Any:
        """Learn, and certify."""
        import suffice as sf

        sf.config(threads=held.request["threads"])
        return getattr(sf, self.name)(c2=1.0, tol=held.request.get("tol", 1e-6), **self.more()).fit(held.x, held.y)

    def more(self) -> dict[str, Any]:
        """Return further parameters."""
        return {}

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the objective, and the F1 of the test file."""
        assert fitted.fit_.certificate.ok
        weights = fitted.model_.weights
        if self.name == "ChainCRF" and fitted.templates is None:
            fitted.save(Path(held.request["work"]) / "w5.crf")
        loss = float(weights @ weights) - fitted.fit_.log_likelihood
        return {"loss": [loss], "F1": [f1(held.y_test, fitted.predict(held.x_test))]}


class Columns(Suffice):
    """Our CRF, from columns of text by templates."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Read the columns by our own reader, which holds equal words once."""
        import suffice.sklearn  # noqa: F401
        from suffice.data.column_text import read_columns

        if request["sentences"] is not None:
            return loaded(request, columns=True)
        train, test = (read_columns(request[name]) for name in ("train", "test"))
        return Held(train, train.sentences(2), test, test.sentences(2), request)

    def more(self) -> dict[str, Any]:
        """Return the templates."""
        from suffice.data.window_templates import TUTORIAL, Templates

        return {"templates": Templates.parse(TUTORIAL, boundary="omit", ends=True)}


class Matrices(Suffice):
    """Our MEMM, from a sparse matrix of each sentence."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Make the matrices, in the same way for both files; attributes of the test file alone are left out."""
        held = super().prepare(request)
        index: dict[str, int] = {}
        train = rows_of(held.x, index)
        known = len(index)
        test = rows_of(held.x_test, index)[:, :known]
        return Held(cut(train, held.y), held.y, cut(test, held.y_test), held.y_test, request)


def rows_of(x: Any, index: dict[str, int], before: Any = None) -> Any:
    """Return the one-hot rows of all positions; with labels ``before``, the one before is an attribute more."""
    import numpy as np
    from scipy.sparse import csr_matrix

    codes, ends = [], [0]
    for number, sentence in enumerate(x):
        for t, own in enumerate(sentence):
            codes += [index.setdefault(name, len(index)) for name in own]
            if before is not None and t:
                codes.append(index.setdefault(f"before={before[number][t - 1]}", len(index)))
            ends.append(len(codes))
    return csr_matrix((np.ones(len(codes)), codes, ends), shape=(len(ends) - 1, len(index)))


def cut(rows: Any, y: Sequence[Sequence[str]]) -> list[Any]:
    """Return the rows of each sentence."""
    from itertools import accumulate, pairwise

    ends = list(accumulate((len(labels) for labels in y), initial=0))
    return [rows[low:high] for low, high in pairwise(ends)]


class Tag:
    """Our tagger, its model read from a file."""

    def prepare(self, request: Mapping[str, Any]) -> Any:
        """Read the model and the attributes."""
        import suffice as sf

        sf.config(threads=request["threads"])
        return sf.ChainCRF.load(Path(request["work"]) / "w5.crf"), loaded(request)

    def fit(self, held: Any) -> Any:
        """Tag."""
        return held[0].predict(held[1].x_test)

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return the F1."""
        return {"F1": [f1(held[1].y_test, fitted)]}


# Peers --------------------------------------------------------------------------------------------------------


class Crfsuite:
    """CRFsuite through python-crfsuite."""

    def prepare(self, request: Mapping[str, Any]) -> Held:
        """Make the attributes."""
        import pycrfsuite  # noqa: F401

        return loaded(request)

    def fit(self, held: Held) -> Any:
        """Hand the sequences over, and learn."""
        import pycrfsuite

        trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        for x, y in zip(held.x, held.y, strict=True):
            trainer.append(x, y)
        trainer.set_params({"c1": 0.0, "c2": 1.0, "feature.possible_transitions": True, "max_iterations": 1000})
        trainer.train(str(Path(held.request["work"]) / "w5.crfsuite"))
        return trainer

    def answer(self, held: Held, fitted: Any) -> Answer:
        """Return the objective as CRFsuite reports it, and the F1 of the test file."""
        loss = float(fitted.logparser.last_iteration["loss"])
        return {"loss": [loss], "F1": [f1(held.y_test, tagged(held))]}


def tagged(held: Held) -> list[list[str]]:
    """Tag the test file with the model that was written."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(Path(held.request["work"]) / "w5.crfsuite"))
    return [list(tagger.tag(x)) for x in held.x_test]


class CrfsuiteTag:
    """CRFsuite's tagger, its model read from a file."""

    def prepare(self, request: Mapping[str, Any]) -> Any:
        """Open the model, and make the attributes."""
        import pycrfsuite

        tagger = pycrfsuite.Tagger()
        tagger.open(str(Path(request["work"]) / "w5.crfsuite"))
        return tagger, loaded(request)

    def fit(self, held: Any) -> Any:
        """Tag."""
        tagger, data = held
        return [tagger.tag(x) for x in data.x_test]

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return the F1."""
        return {"F1": [f1(held[1].y_test, fitted)]}


class Sklearn:
    """scikit-learn's softmax regression of a label on the attributes and the label before."""

    def prepare(self, request: Mapping[str, Any]) -> Any:
        """Make the sparse matrix."""
        import sklearn.linear_model  # noqa: F401

        held = loaded(request)
        index: dict[str, int] = {}
        return held, rows_of(held.x, index, held.y), index

    def fit(self, held: Any) -> Any:
        """Learn."""
        from sklearn.linear_model import LogisticRegression

        labels = [label for sentence in held[0].y for label in sentence]
        return LogisticRegression(C=0.5, fit_intercept=False, max_iter=2000).fit(held[1], labels)

    def answer(self, held: Any, fitted: Any) -> Answer:
        """Return the F1 of the test file, by the Viterbi algorithm."""
        import numpy as np

        data, _, index = held
        names, k = list(fitted.classes_), len(fitted.classes_)
        coef = np.ascontiguousarray(fitted.coef_.T)
        before = np.zeros((k, k))
        for code, name in enumerate(names):
            before[code] = coef[index[f"before={name}"]] if f"before={name}" in index else 0.0
        found = []
        for sentence in data.x_test:
            scores = [coef[[index[name] for name in own if name in index]].sum(axis=0) for own in sentence]
            best, back = normalised(scores[0][None])[0], []
            for own in scores[1:]:
                whole = best[:, None] + normalised(own[None] + before)
                back.append(whole.argmax(axis=0))
                best = whole.max(axis=0)
            path = [int(best.argmax())]
            for step in reversed(back):
                path.append(int(step[path[-1]]))
            found.append([names[code] for code in reversed(path)])
        return {"F1": [f1(data.y_test, found)]}


def normalised(scores: Any) -> Any:
    """Return log-probabilities, a row each."""
    import numpy as np

    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


CONTESTANTS: dict[str, Contestant] = {
    "suffice": Suffice(),
    "columns": Columns(),
    "memm": Suffice("MEMM"),
    "matrices": Matrices("MEMM"),
    "tag": Tag(),
    "crfsuite": Crfsuite(),
    "crfsuite_tag": CrfsuiteTag(),
    "sklearn": Sklearn(),
}


if __name__ == "__main__":
    contestant_main(CONTESTANTS)
