"""What a classifier says about the cases of a file, and how that is summed up for people and for machines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.cli.classify_cases import CaseFile, CaseTally, FileCases
from suffice.errors import ArgumentError, require_choice
from suffice.text import number, plural, visible

if TYPE_CHECKING:
    from suffice.cli.classify_options import ClassProbabilities
    from suffice.cli.classify_rows import ClassifiedRows
    from suffice.cli.shared import Document
    from suffice.models.class_model import Posteriors
    from suffice.progress import Watch
    from suffice.result.confusion import Confusion
    from suffice.types import Floats, Ints

RULES = ("map", "ml")
WIDTH = 100


@dataclass
class Survey:
    """Adds up what is said about the cases of a file while they pass by.

    Attributes
    ----------
    file : CaseFile
    tally : CaseTally
        What was met in the file.
    confusion : Confusion
        The answers against the observed classes, where the file has them.
    predicted : array, shape (n_classes + 1,)
        How many rows were given each class; the last are those that are impossible under every class.
    """

    file: CaseFile
    tally: CaseTally
    confusion: Confusion
    predicted: Ints

    @classmethod
    def of(cls, file: CaseFile) -> Survey:
        """Begin with nothing."""
        import numpy as np

        from suffice.result.confusion import Confusion

        target = file.model.target
        return cls(file, CaseTally(), Confusion.empty(target), np.zeros(target.n_states + 1, np.int64))

    def answers(self, watch: Watch, rule: str = "map") -> Iterator[ClassifiedRows]:
        """Yield the `ClassifiedRows` of all rows, in order."""
        import numpy as np

        from suffice.cli.classify_rows import ClassifiedRows
        from suffice.result.confusion import Confusion

        model = self.file.model
        for cases in self.file.read(watch, self.tally):
            classes, log_posteriors = decide(model, cases, rule)
            self.predicted += np.bincount(classes % len(self.predicted), minlength=len(self.predicted))
            if self.file.has_target:
                observed = cases.columns[model.target.name]
                self.confusion += Confusion.of(model.target, observed, classes, log_posteriors, cases.weights)
            yield ClassifiedRows(cases.kept, classes, log_posteriors)

    def run(self, watch: Watch) -> Survey:
        """Let all cases pass by."""
        for _ in self.answers(watch):
            pass
        return self

    # Results --------------------------------------------------------------------------------------------------

    def notes(self) -> list[str]:
        """Say what a reader of the numbers should know."""
        tally, name = self.tally, self.file.target
        notes = []
        if tally.n_with_gaps and not self.file.drops:
            notes.append(
                f"{plural(tally.n_with_gaps, 'row')} with missing inputs, which were summed or integrated out."
            )
        if self.predicted[-1]:
            rows = plural(int(self.predicted[-1]), "row")
            notes.append(f"{rows} impossible under every class, for which no class is predicted.")
        if not self.file.has_target:
            notes.append(f"There is no column {name!r} to compare with, so errors were not counted.")
        if tally.n_without_class and not self.file.drops:
            notes.append(f"{plural(tally.n_without_class, 'row')} without {name!r} left out of the errors.")
        if tally.n_unknown_class:
            rows = plural(tally.n_unknown_class, "row")
            first = visible(repr(tally.unknown_class))
            notes.append(f"{rows} of classes that the model does not know, such as {first}, left out of the errors.")
        return notes + tally.remarks

    def to_dict(self) -> Document:
        """Return all numbers as JSON-able data."""
        *predicted, impossible = self.predicted.tolist()
        labels = self.file.model.target.labels
        return {
            "rows": self.tally.n_rows,
            "classes": list(labels),
            "predicted": predicted,
            "impossible": impossible,
            "observed": self.confusion.to_dict() if self.file.has_target else None,
            "notes": self.notes(),
        }

    def show(self) -> None:
        """Print the numbers for people."""
        from suffice.cli.show import show_facts, show_table

        if self.file.has_target and self.confusion.n:
            show_facts(self.confusion.facts())
            print()
            show_table(self.confusion.cells(), self.confusion.title)
        else:
            show_table(self._predicted_cells())
        notes = [textwrap.fill(f"- {visible(note)}", WIDTH, subsequent_indent="  ") for note in self.notes()]
        if notes:
            print("\n" + "\n".join(notes))

    def _predicted_cells(self) -> tuple[list[str], list[list[str]], str]:
        labels = [*map(str, self.file.model.target.labels), "none"]
        rows = [[label, number(n)] for label, n in zip(labels, self.predicted.tolist(), strict=True)]
        return ["predicted", "rows"], rows if self.predicted[-1] else rows[:-1], "<>"


def decide(model: Posteriors, cases: FileCases, rule: str) -> tuple[Ints, Floats]:
    """Return the classes of some cases, −1 where there is none, and log p(class | case)."""
    import numpy as np

    from suffice.models.class_model import ClassModel, log_sum
    from suffice.result.confusion import predicted_classes

    if rule == "ml" and isinstance(model, ClassModel):  # as `with_decisions` has seen to
        likelihoods = model.log_likelihoods_of(cases.columns, cases.n_rows)
        classes = predicted_classes(likelihoods)
        scores = likelihoods + model.log_prior
    else:
        scores = model.log_scores_of(cases.columns, cases.n_rows)
        classes = predicted_classes(scores)
    with np.errstate(invalid="ignore"):
        return classes, scores - log_sum(scores)[:, None]


def read_classifier(path: str) -> Posteriors:
    """Read a classifier, alone or from a whole fit."""
    from suffice.io import read
    from suffice.models.capabilities import model_of
    from suffice.models.class_model import Posteriors

    model = model_of(read(path))
    if not isinstance(model, Posteriors):
        raise ArgumentError(
            f"{path!r} holds a {type(model).__name__}, which is no classifier. Fit one: suffice classify fit DATA "
            "--target COL --out classifier.json."
        )
    return model


def with_decisions(model: Posteriors, rule: str, class_prior: ClassProbabilities | None) -> Posteriors:
    """Return the model with other class probabilities, once it is known to have any."""
    from suffice.models.class_model import ClassModel

    require_choice("rule", rule, RULES)
    if class_prior is None and rule == "map":
        return model
    if not isinstance(model, ClassModel):
        option = "--rule ml" if class_prior is None else "--class-prior"
        raise ArgumentError(
            f"A {type(model).__name__} models the class given the inputs, without class probabilities of its own. "
            f"Leave out {option}, or fit --model gaussian, naive or joint."
        )
    return model if class_prior is None else model.with_class_priors(class_prior)
