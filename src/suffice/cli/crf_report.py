"""What ``suffice crf`` prints of models, fits and scores."""

from __future__ import annotations

import json
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from suffice.cli.remedies import as_options, option_of
from suffice.cli.show import show_facts, show_table
from suffice.errors import Mention, is_number, shown, worded
from suffice.errors import Text as Message
from suffice.progress import Bar
from suffice.text import fixed, plural, visible

if TYPE_CHECKING:
    from suffice.cli.crf_model import Tagger
    from suffice.cli.crf_text import Sentences
    from suffice.cli.shared import Document
    from suffice.data.attributes import Vocabulary
    from suffice.io.chain_file import ChainFile, Proof
    from suffice.priors.elastic import Elastic
    from suffice.result.chain_weights import TopWeights
    from suffice.result.fit import Fit
    from suffice.result.tag_scores import TagScores

WIDTH = 100


class LearningBar(Bar):
    """A progress bar that says what sentences are read for: first to count features, and then to prove the result."""

    has_learnt = False

    def begin(self, label: str, total: float | None, unit: str) -> None:
        """Open the bar."""
        if unit == "rows":
            super().begin("proving" if self.has_learnt else "counting features", total, "positions")
            return
        self.has_learnt = True
        super().begin(label, total, unit)


@contextmanager
def told(tagger: Tagger, sentences: Sentences) -> Iterator[None]:
    """Print warnings of tagging on standard error, in the words of the command line."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", UserWarning)
        yield
    unknown = _unknown(tagger.model_.structure.vocabulary, sentences)
    name = sentences.source.name
    for text in [unknown] if unknown else dict.fromkeys(said for warning in found for said in _words(warning.message)):
        said = worded(text, lambda part: name if part == Mention("X", "X") else option_of(part))
        print(f"warning: {visible(said)}", file=sys.stderr)


def _words(warning: Warning | str) -> tuple[str, ...]:
    return (warning,) if isinstance(warning, str) else warning.args


def _unknown(vocabulary: Vocabulary, sentences: Sentences) -> str:
    """Say that a file of attributes has none that a model knows, as columns with blanks between them look."""
    if sentences.layout.kind != "attributes" or vocabulary.is_hashed or not sentences.n_tokens or not len(vocabulary):
        return ""
    names = list(dict.fromkeys(name for position in chain(*sentences.inputs) for name in position))
    if any(name in vocabulary.index for name in names):
        return ""
    found = f"those of {sentences.source.name} are such as {shown(names[0])}" if names else ""
    return (
        f"The model knows attributes such as {shown(vocabulary.names[0])}; "
        f"{found or f'{sentences.source.name} has none, as no label has a tabulator behind it'}. So labels follow from "
        "their order alone. Give a file of a label and attributes a line, apart by tabulators."
    )


def print_document(content: Document) -> None:
    """Print one JSON document."""
    from suffice.io.own_json import plain

    print(json.dumps(plain(content), ensure_ascii=False, indent=1, allow_nan=False))


def loss_of(fit: Fit) -> float:
    """Return what was made small: −Σ log p(y | x) and the penalty."""
    penalty = 0.0 if fit.prior is None else fit.prior.value(fit.model.weights)
    return float(penalty - fit.log_likelihood)


def fit_facts(tagger: Tagger, sentences: Sentences, seconds: float) -> list[tuple[str, str]]:
    """List what was learnt from what, as (name, value)."""
    from suffice.models.facts import chain_facts

    fit = tagger.fit_
    rows = [
        *chain_facts(fit.model),
        ("data", sentences.said()),
        ("penalty", "none" if fit.prior is None else fit.prior.formula),
        ("loss", f"{fixed(loss_of(fit))} after {plural(len(fit.trace), 'step')} of {fit.method}"),
    ]
    if fit.prior is not None:
        rows.append(("−log-likelihood", fixed(-fit.log_likelihood)))
    return [*rows, ("time", f"{seconds:,.1f} s")]


def fit_document(tagger: Tagger, sentences: Sentences, seconds: float) -> Document:
    """Return the same as JSON-able data."""
    import numpy as np

    fit = tagger.fit_
    model = fit.model
    return {
        "model": "memm" if model.structure.is_local else "crf",
        "labels": list(model.label.labels),
        "n_attributes": len(model.structure.vocabulary),
        "n_weights": model.layout.size,
        **_penalty(fit.prior),
        "n_zero": int(np.count_nonzero(model.weights == 0)),
        "n_sentences": len(sentences.lengths),
        "n_tokens": sentences.n_tokens,
        "method": fit.method,
        "n_steps": len(fit.trace),
        "loss": loss_of(fit),
        "log_likelihood": fit.log_likelihood,
        "seconds": seconds,
        "certificate": fit.certificate.to_dict(),
        "notes": [note.text for note in fit.notes],
    }


def show_document(file: ChainFile, tables: Mapping[str, TopWeights]) -> Document:
    """Return what a file holds as JSON-able data, under the names that `fit_document` has."""
    from suffice.priors.elastic import Elastic

    model, proof = file.model, file.proof
    penalty = [file.params[name] for name in ("c1", "c2") if name in file.params]
    templates = None if file.reading is None or file.reading.templates is None else file.reading.templates.text
    return {
        "model": "memm" if model.structure.is_local else "crf",
        "labels": list(model.label.labels),
        "n_attributes": len(model.structure.vocabulary),
        "n_weights": model.layout.size,
        **(_penalty(Elastic(*penalty)) if len(penalty) == 2 and all(map(is_number, penalty)) else {}),
        "log_likelihood": None if proof is None else proof.log_likelihood,
        "certificate": None if proof is None else {"ok": proof.ok, "verdict": proof.verdict},
        "notes": [] if proof is None else list(proof.notes),
        "params": {**file.params, "templates": templates},
        **{name.replace(" ", "_"): table.to_dict() for name, table in tables.items()},
    }


def _penalty(prior: Elastic | None) -> Document:
    """Return the numbers of a penalty, and how it is said."""
    c1, c2 = (0.0, 0.0) if prior is None else (prior.c1, prior.c2)
    said = prior.formula if prior is not None and (c1 or c2) else "none"
    return {"c1": c1, "c2": c2, "penalty": said}


def show_verdict(proof: Proof) -> None:
    """Print what a proof says, and the notes; where the weights are those that what was held out likes best, "–"."""
    mark, colour = ("✓", "green") if proof.ok else ("–", "dim") if proof.is_early else ("✗", "bold red")
    verdict, notes = proof.verdict, proof.notes
    if not sys.stdout.isatty():
        print("\n" + _hanging(f"{mark} {verdict}", WIDTH))
        for note in notes:
            print(_hanging(Message("note: ", note), WIDTH))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    width = min(WIDTH, console.width)
    console.print(Text("\n" + _hanging(f"{mark} {verdict}", width), style=colour))
    for note in notes:
        console.print(Text(_hanging(Message("note: ", note), width), style="yellow"))


def _hanging(text: str, width: int) -> str:
    """Break text into lines, all but the first indented."""
    return "\n".join(textwrap.wrap(visible(as_options(text)), width, subsequent_indent="  "))


def show_scores(scores: TagScores) -> None:
    """Print scores of tags: the totals, and a table of spans, or of tags where there are no spans."""
    show_facts(scores.facts())
    print()
    table = scores.by_type if scores.has_spans else scores.by_tag
    show_table(table.cells(), "Spans by type" if scores.has_spans else "Tokens by tag")
    for remark in table.remarks():
        print(visible(remark))
