"""What ``suffice crf`` prints of models, fits and scores."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from suffice.cli.show import show_facts, show_table
from suffice.cli.spoken import spoken
from suffice.text import fixed, plural, visible

WIDTH = 100


def print_document(content: dict[str, Any]) -> None:
    """Print one JSON document."""
    from suffice.io.own_json import plain

    print(json.dumps(plain(content), ensure_ascii=False, indent=1, allow_nan=False))


def model_facts(model: Any) -> list[tuple[str, str]]:
    """List what a model is and how large, as (name, value)."""
    import numpy as np

    structure, layout = model.structure, model.layout
    names = "buckets" if structure.vocabulary.is_hashed else "attributes"
    n_zero = int(np.count_nonzero(model.weights == 0))
    zero = f", {n_zero:,} of which are zero" if n_zero else ""
    found = [
        ("model", structure.words),
        ("labels", f"{model.label.n_states:,}"),
        (names, f"{len(structure.vocabulary):,}"),
    ]
    if structure.step_vocabulary is not None:
        found.append((f"{names} of steps", f"{len(structure.step_vocabulary):,}"))
    return [*found, ("weights", f"{layout.size:,}{zero}")]


def loss_of(fit: Any) -> float:
    """Return what was made small: −Σ log p(y | x) and the penalty."""
    penalty = 0.0 if fit.prior is None else fit.prior.value(fit.model.weights)
    return float(penalty - fit.log_likelihood)


def fit_facts(tagger: Any, sentences: Any, seconds: float) -> list[tuple[str, str]]:
    """List what was learnt from what, as (name, value)."""
    fit = tagger.fit_
    rows = [
        *model_facts(fit.model),
        ("data", sentences.said()),
        ("penalty", "none" if fit.prior is None else fit.prior.describe().removeprefix("penalty ")),
        ("loss", f"{fixed(loss_of(fit))} after {plural(len(fit.trace), 'step')} of {fit.method}"),
    ]
    if fit.prior is not None:
        rows.append(("−log-likelihood", fixed(-fit.log_likelihood)))
    return [*rows, ("time", f"{seconds:,.1f} s")]


def fit_document(tagger: Any, sentences: Any, seconds: float) -> dict[str, Any]:
    """Return the same as JSON-able data."""
    import numpy as np

    fit = tagger.fit_
    model = fit.model
    return {
        "model": "memm" if model.structure.is_local else "crf",
        "labels": list(model.label.labels),
        "n_attributes": len(model.structure.vocabulary),
        "n_weights": model.layout.size,
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


def stopped_early(notes: Sequence[str]) -> bool:
    """Whether learning ended where the loss of sentences that were held out was least, as was asked for."""
    return any(note.startswith("Stopped early") for note in notes)


def show_verdict(ok: bool, verdict: str, notes: Sequence[str]) -> None:
    """Print what the proof says, and the notes; where learning stopped early, no optimum was asked for."""
    mark, colour = ("✓", "green") if ok else ("–", "dim") if stopped_early(notes) else ("✗", "bold red")
    said = visible(spoken(verdict))
    if not sys.stdout.isatty():
        print("\n" + "\n".join(textwrap.wrap(f"{mark} {said}", WIDTH, subsequent_indent="  ")))
        for note in notes:
            print("\n".join(textwrap.wrap(f"note: {visible(spoken(note))}", WIDTH, subsequent_indent="  ")))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console.print(Text(f"\n{mark} {said}", style=colour))
    for note in notes:
        console.print(Text(f"note: {visible(spoken(note))}", style="yellow"))


def show_scores(scores: Any) -> None:
    """Print scores of tags: the totals, and a table of spans, or of tags where there are no spans."""
    show_facts(scores.facts())
    print()
    table = scores.by_type if scores.has_spans else scores.by_tag
    show_table(table.cells(), "Spans by type" if scores.has_spans else "Tokens by tag")
    for remark in table.remarks():
        print(visible(remark))
