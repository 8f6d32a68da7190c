"""``suffice crf fit TRAIN --template FILE --out MODEL``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.crf_options import (
    TEXT,
    CommentOption,
    EncodingOption,
    SchemeOption,
    TextSeparatorOption,
    ThreadsOption,
    read_template,
    scheme_of,
    set_threads,
    text_options,
)
from suffice.cli.shared import JsonOption, MaxIterOption, MethodOption, QuietOption, TolOption, bar, reported
from suffice.errors import ArgumentError, FileAccessError, require_choice

if TYPE_CHECKING:
    from suffice.cli.crf_model import Tagger
    from suffice.cli.crf_text import Sentences
    from suffice.result.tag_scores import TagScores

MODELS = ("crf", "memm")


def fit(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help=TEXT)],
    out: Annotated[str, typer.Option("--out", "-o", metavar="MODEL", help="The file to write, such as chunks.crf.")],
    template: Annotated[
        str | None,
        typer.Option(
            "--template", "-t", metavar="FILE", help="Templates of features, as CRF++ has them; or the word tutorial."
        ),
    ] = None,
    attributes: Annotated[
        bool,
        typer.Option("--attributes", help="Lines are a label and attributes, apart by tabs, as CRFsuite has them."),
    ] = False,
    model: Annotated[str, typer.Option("--model", "-m", metavar="crf|memm", help="What to learn.")] = "crf",
    dev: Annotated[
        str | None,
        typer.Option("--dev", metavar="FILE", help="Sentences to stop by: learning ends when their loss stays up."),
    ] = None,
    test: Annotated[
        str | None, typer.Option("--test", metavar="FILE", help="Sentences to tag and score after learning.")
    ] = None,
    c1: Annotated[float, typer.Option("--c1", help="Penalty c1 Σ|w|, which makes weights zero.")] = 0.0,
    c2: Annotated[float, typer.Option("--c2", help="Penalty c2 Σw².")] = 1.0,
    states: Annotated[
        str, typer.Option("--states", help="Pairs of feature and label with a weight: observed or all.")
    ] = "observed",
    transitions: Annotated[
        str, typer.Option("--transitions", help="Pairs of neighbouring labels with a weight: all or observed.")
    ] = "all",
    boundaries: Annotated[
        bool, typer.Option("--boundaries", help="Also weights of a sentence's first and last label.")
    ] = False,
    min_freq: Annotated[
        float, typer.Option("--min-freq", metavar="N", help="Leave out pairs of feature and label that are rarer.")
    ] = 0,
    n_buckets: Annotated[
        int, typer.Option("--hash", metavar="N", help="Hash the names of features into N buckets; 0 keeps the names.")
    ] = 0,
    method: MethodOption = "auto",
    tol: TolOption = 1e-6,
    max_iter: MaxIterOption = 1000,
    patience: Annotated[
        int, typer.Option("--patience", metavar="N", help="With --dev: steps without a smaller loss to wait for.")
    ] = 10,
    seed: Annotated[int | None, typer.Option("--seed", help="The seed of methods that draw.")] = None,
    separator: TextSeparatorOption = None,
    comment: CommentOption = None,
    label_column: Annotated[
        int, typer.Option("--label-column", metavar="N", help="The column of the labels, from 0; -1 is the last.")
    ] = -1,
    boundary: Annotated[
        str | None,
        typer.Option(
            "--boundary",
            metavar="mark|omit",
            help="Templates beyond a sentence's ends: a mark such as _B-1, or no feature.",
            show_default="mark",
        ),
    ] = None,
    ends: Annotated[
        bool, typer.Option("--ends", help="Features __BOS__ and __EOS__ of first and last tokens.")
    ] = False,
    encoding: EncodingOption = "utf-8",
    scheme: SchemeOption = "auto",
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Learn to label tokens from the sentences of TRAIN, prove the result, and write the model.

    The labels stand in the last column. The first Ctrl-C ends learning; the weights so far are written, and the exit
    code is 1, as for every fit that could not be certified. Learning that --dev has stopped early ends with 0, and
    Ctrl-C at another time with 130.
    """
    with reported(as_json):
        import suffice
        from suffice.cli.crf_report import LearningBar
        from suffice.cli.crf_text import read_like, read_training
        from suffice.optimise.outcome import Stop

        require_choice("model", model, MODELS, "option")
        _require_place(out)
        set_threads(threads)
        templates = read_template(template, attributes, boundary, ends)
        options = text_options(separator, comment, encoding)
        sentences = read_training(train, attributes, label_column, options)
        others = {
            name: read_like(path, sentences.layout, options) for name, path in (("dev", dev), ("test", test)) if path
        }
        for other in others.values():
            other.true_labels()
        tagger = {"crf": suffice.ChainCRF, "memm": suffice.MEMM}[model](
            c1=c1,
            c2=c2,
            states=states,
            transitions=transitions,
            boundaries=boundaries,
            min_freq=min_freq,
            templates=templates,
            n_buckets=n_buckets,
            method=method,
            tol=tol,
            max_iter=max_iter,
            patience=patience,
            seed=seed,
            progress=LearningBar() if bar(quiet) else False,
        )
        seconds = _learn(tagger, sentences, others.get("dev"))
        _write(tagger, sentences, out)
        scores = {name: _scores(tagger, other, scheme) for name, other in others.items()}
        _report(tagger, sentences, scores, seconds, out, as_json)
        failed = not tagger.fit_.certificate.ok and tagger.fit_.stop is not Stop.HELD_OUT
    if failed:
        raise typer.Exit(1)


def _require_place(out: str) -> None:
    """Find what is wrong with a path before the model is learnt, which may take long."""
    if not out.lower().endswith(".crf"):
        raise ArgumentError(f"The option --out names a file that ends in .crf, such as model.crf. Got {out!r} instead.")
    folder = os.path.dirname(out) or "."
    if os.path.isdir(out) or not os.access(folder, os.W_OK):
        what = "it is a folder" if os.path.isdir(out) else f"{folder!r} is no folder that you may write to"
        raise FileAccessError(f"Cannot write {out!r}: {what}. Choose another path by --out.")


def _learn(tagger: Tagger, sentences: Sentences, dev: Sentences | None) -> float:
    """Learn, and return how many seconds it took."""
    held_out = {} if dev is None else {"X_dev": dev.inputs, "y_dev": dev.true_labels()}
    begin = perf_counter()
    with warnings.catch_warnings():
        # The report says the same, and more; scores of what was held out come with the warning that it is unknown.
        warnings.filterwarnings("ignore", message=r"(?s).*See fit_\.notes|No attribute has a weight|Not one attribute")
        tagger.fit(sentences.inputs, sentences.true_labels(), sentences.weights, **held_out)
    return perf_counter() - begin


def _write(tagger: Tagger, sentences: Sentences, out: str) -> None:
    from suffice.io.chain_file import save_chain
    from suffice.sklearn.sequence_file import stored

    tagger.progress = False
    save_chain(replace(stored(tagger), layout=sentences.layout), out)


def _scores(tagger: Tagger, sentences: Sentences, scheme: str) -> TagScores:
    """Compare what the model says of sentences with their labels."""
    from suffice.cli.crf_report import told
    from suffice.result.tag_scores import tag_scores

    with told(tagger, sentences):
        true, found = sentences.true_labels(), tagger.predict(sentences.inputs)
    return tag_scores(true, found, scheme=scheme_of(scheme, (label for labels in true for label in labels)))


def _report(
    tagger: Tagger, sentences: Sentences, scores: Mapping[str, TagScores], seconds: float, out: str, as_json: bool
) -> None:
    from suffice.cli.crf_report import fit_document, fit_facts, print_document, show_scores, show_verdict
    from suffice.cli.show import show_facts, show_written
    from suffice.io.chain_file import Proof

    if as_json:
        more = {name: found.to_dict() for name, found in scores.items()}
        print_document({**fit_document(tagger, sentences, seconds), "out": out, **more})
        return
    show_facts(fit_facts(tagger, sentences, seconds))
    show_verdict(Proof.of(tagger.fit_))
    for name, found in scores.items():
        print(f"\nScores on {name}")
        show_scores(found)
    show_written({"model": out})
