"""Learning curves of generative and discriminative classifiers that choose from the same functions.

Run it with ``python -m suffice.examples.learning_curves --out picture.png``. All classifiers here have log-odds that
are linear in the inputs, so that they differ only in how they find the weights from the same rows:

**Generative.** Naive Bayes estimates p(x | y) column by column, `GaussianBayes` with one covariance for all classes
estimates it as a whole; the weights follow from Bayes' rule.

**Discriminative.** `SoftmaxRegression` chooses the weights under which the classes of these very rows are most likely,
with a penalty on their squares, since few rows are separated perfectly by many columns.

A. Y. Ng and M. I. Jordan (2002), "On discriminative vs. generative classifiers: a comparison of logistic regression and
naive Bayes": a generative classifier can need fewer rows to come near the best that it can do, and that best can be
worse, since its assumption on p(x | y) is wrong. Two tables that come with scikit-learn show how far that goes:
malignant and benign tumours by 30 measurements of cell nuclei, and handwritten digits by 64 pixels.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import suffice as sf
from suffice.report.canvas import COLOURS, MARKERS, pyplot
from suffice.text import plain_table
from suffice.types import Array, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = ("error", "log-loss")
LEAST = 1e-15  # a probability of zero has no logarithm; what scikit-learn's log_loss cuts it to, about


@dataclass(frozen=True, eq=False)
class Example:
    """A table and the classifiers that learn it.

    Attributes
    ----------
    name : str
    rows : array, shape (n_rows, n_columns)
    classes : array, shape (n_rows,)
    sizes : tuple of int
        Numbers of rows to learn from.
    classifiers : mapping from names to functions that make one
    """

    name: str
    rows: Floats
    classes: Array
    sizes: tuple[int, ...]
    classifiers: dict[str, Callable[[], Any]]


@dataclass(frozen=True, eq=False)
class Curves:
    """Errors on rows that were not learnt from.

    Attributes
    ----------
    example : Example
    values : array, shape (n_measures, n_classifiers, n_sizes, n_splits)
        The share of wrong classes, and the mean of −log p(class | row).
    """

    example: Example
    values: Floats

    @property
    def mean(self) -> Floats:
        """Averages over the splits; shape (n_measures, n_classifiers, n_sizes)."""
        return np.asarray(self.values.mean(axis=-1), np.float64)

    @property
    def standard_error(self) -> Floats:
        """Standard errors of these averages, as if the splits were independent; of the same shape."""
        n = self.values.shape[-1]
        return np.asarray(self.values.std(axis=-1, ddof=1) / np.sqrt(n) if n > 1 else 0 * self.mean, np.float64)

    def __str__(self) -> str:
        parts = []
        for measure, numbers in zip(MEASURES, self.mean, strict=True):
            heads = [f"{self.example.name}: {measure}", *(f"{size:,} rows" for size in self.example.sizes)]
            names = self.example.classifiers
            lines = [[name, *(f"{x:.3f}" for x in row)] for name, row in zip(names, numbers, strict=True)]
            parts.append(plain_table(heads, lines, "<" + ">" * len(self.example.sizes)))
        return "\n\n".join(parts)


# The examples -------------------------------------------------------------------------------------------------


def _scaled(classifier: Any) -> Any:
    """Return a classifier of columns that have mean zero and variance one in the rows that it learns from."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), classifier)


def _whole() -> Any:
    return _scaled(sf.GaussianBayes(covariance="tied", shrinkage="oas"))


def _softmax() -> Any:
    return _scaled(sf.SoftmaxRegression(penalty="l2", strength=1.0))


def tumours() -> Example:
    """Return the table of tumours; naive Bayes has a normal for each column, its variance shared by the classes."""
    from sklearn.datasets import load_breast_cancer

    rows, classes = load_breast_cancer(return_X_y=True)
    naive = {"naive Bayes, normal": lambda: sf.NaiveBayes(kinds="tied_gaussian")}
    others = {"Gaussian Bayes, tied": _whole, "softmax regression": _softmax}
    return Example("tumours", rows, classes, (10, 20, 40, 80, 160, 320), naive | others)


def digits() -> Example:
    """Return the table of digits; naive Bayes has a multinomial of ink over the pixels."""
    from sklearn.datasets import load_digits

    rows, classes = load_digits(return_X_y=True)
    naive = {"naive Bayes, multinomial": lambda: sf.NaiveBayes(kinds="multinomial", smoothing=1.0)}
    others = {"Gaussian Bayes, tied": _whole, "softmax regression": _softmax}
    return Example("digits", rows, classes, (20, 40, 80, 160, 320, 640, 1280), naive | others)


EXAMPLES = {"tumours": tumours, "digits": digits}


# Curves -------------------------------------------------------------------------------------------------------


def learning_curves(example: Example, splits: int = 20, seed: int = 0) -> Curves:
    """Return the errors of all classifiers after learning from more and more rows.

    Each split shuffles the rows, keeps those beyond the largest size for testing, and learns from the first ones: the
    smaller sets are parts of the larger ones, and every classifier sees the same rows.
    """
    stream = np.random.default_rng(seed)
    largest, names = max(example.sizes), list(example.classifiers)
    values = np.empty((len(MEASURES), len(names), len(example.sizes), splits))
    for split in range(splits):
        order = _every_class_first(stream.permutation(len(example.rows)), example.classes)
        test = order[largest:]
        for i, name in enumerate(names):
            for j, size in enumerate(example.sizes):
                learnt = example.classifiers[name]().fit(example.rows[order[:size]], example.classes[order[:size]])
                values[:, i, j, split] = _errors(learnt, example.rows[test], example.classes[test])
    return Curves(example, values)


def _every_class_first(order: NDArray[np.int64], classes: Array) -> NDArray[np.int64]:
    """Move two rows of every class to the front: a class that was never seen cannot be learnt."""
    first = [row for label in np.unique(classes) for row in order[classes[order] == label][:2]]
    return np.concatenate([np.array(first), order[~np.isin(order, first)]])


def _errors(classifier: Any, rows: Floats, classes: Array) -> tuple[float, float]:
    p = classifier.predict_proba(rows)
    places = np.searchsorted(classifier.classes_, classes)
    told = np.maximum(p[np.arange(len(rows)), places], LEAST)
    return float((p.argmax(axis=1) != places).mean()), float(-np.log(told).mean())


def draw(curves: Curves, measure: str, ax: Axes) -> Axes:
    """Draw one measure against the number of rows: averages over the splits, and bands of two standard errors."""
    which = MEASURES.index(measure)
    for i, name in enumerate(curves.example.classifiers):
        mean, error = curves.mean[which, i], curves.standard_error[which, i]
        look: dict[str, Any] = {"color": COLOURS[i], "linewidth": 1.8}
        ax.plot(curves.example.sizes, mean, marker=MARKERS[i], markersize=5, label=name, **look)
        low, high = np.maximum(mean - 2 * error, mean / 2), mean + 2 * error
        ax.fill_between(curves.example.sizes, low, high, color=COLOURS[i], alpha=0.18, linewidth=0)
    ax.set(xscale="log", yscale="log", xlabel="rows learnt from", ylabel=f"{measure} on other rows")
    _plain_ticks(ax, curves.example.sizes)
    ax.grid(alpha=0.25, which="both", linewidth=0.5)
    return ax


def _plain_ticks(ax: Axes, sizes: Sequence[int]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_tick_params(which="minor", length=0)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def picture(found: Sequence[Curves]) -> Any:
    """Return a figure: a column for each table, a row for each measure."""
    shape = (len(MEASURES), len(found))
    figure, axes = pyplot().subplots(*shape, figsize=(5.2 * shape[1], 7.2), layout="constrained", squeeze=False)
    for j, curves in enumerate(found):
        for i, measure in enumerate(MEASURES):
            draw(curves, measure, axes[i, j])
        axes[0, j].set_title(f"{curves.example.name}: {len(curves.example.rows):,} rows")
        axes[0, j].legend(fontsize="small")
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the curves of both tables, and write their picture where that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m suffice.examples.learning_curves", description=main.__doc__)
    parser.add_argument("--out", help="write the picture here (PNG, PDF or SVG)")
    parser.add_argument("--splits", type=int, default=20, help="random splits to average over (20)")
    parser.add_argument("--seed", type=int, default=0, help="of the splits (0)")
    chosen = parser.parse_args(arguments)
    found = [learning_curves(make(), chosen.splits, chosen.seed) for make in EXAMPLES.values()]
    print("\n\n".join(str(curves) for curves in found))
    if chosen.out:
        picture(found).savefig(chosen.out, dpi=150)


if __name__ == "__main__":
    main()
