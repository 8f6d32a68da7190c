"""``suffice classify fit DATA --target COL``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.classify_coefficients import Coefficients, read_coefficients
from suffice.cli.classify_look import Look
from suffice.cli.classify_models import classifier, read_missing
from suffice.cli.classify_options import CASES, read_class_prior, read_inputs, read_pairs
from suffice.cli.shared import (
    CategoricalOption,
    CertifyOption,
    ContinuousOption,
    JsonOption,
    MaxIterOption,
    MethodOption,
    NamesOption,
    NaOption,
    OutFitOption,
    QuietOption,
    SeparatorOption,
    SkipOption,
    TolOption,
    TrimOption,
    UnknownOption,
    WeightsOption,
    bar,
    reported,
    require_two_paths,
    schema_from,
    table,
    write_fit,
)
from suffice.errors import require_choice
from suffice.values import CERTIFY_BY, UNKNOWN_STATES, UNSEEN_PARENTS

if TYPE_CHECKING:
    from suffice.cli.classify_answers import Survey
    from suffice.data.readers.csv_file import CSV
    from suffice.models.class_model import Posteriors
    from suffice.result.fit import Fit


def fit(
    data: Annotated[str, typer.Argument(metavar="DATA", help=CASES)],
    target: Annotated[str, typer.Option("--target", "-t", metavar="COL", help="The column of the class.")],
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="KIND", help="naive, gaussian, joint or softmax.")
    ] = "naive",
    inputs: Annotated[
        str | None,
        typer.Option("--inputs", metavar="A,B,C", help="The columns of the inputs.", show_default="all others"),
    ] = None,
    exclude: Annotated[
        str | None, typer.Option("--exclude", metavar="A,B,C", help="Columns that are no inputs.")
    ] = None,
    class_prior: Annotated[
        str | None,
        typer.Option(
            "--class-prior",
            metavar="PRIOR",
            help="Class probabilities: counted, uniform, a pseudo-count such as 1, or yes=0.3,no=0.7.",
            show_default="counted",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="COL=KIND",
            help="naive: categorical, bernoulli, gaussian, tied_gaussian or multinomial; may be repeated.",
        ),
    ] = None,
    binarize: Annotated[
        float | None,
        typer.Option(
            "--binarize",
            metavar="T",
            help="naive: in bernoulli columns, numbers above T are the state 1, all others 0.",
            show_default="0",
        ),
    ] = None,
    smoothing: Annotated[
        float | None,
        typer.Option("--smoothing", help="naive, joint: the pseudo-count of every cell; 0 for none.", show_default="1"),
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            "--prior",
            metavar="PRIOR",
            help="naive, joint: in place of --smoothing, such as jeffreys or bdeu:10; naive: nig:2:1 of measurements; "
            "softmax: in place of --penalty, gaussian:1 or laplace:1. May be repeated, one for each.",
        ),
    ] = None,
    covariance: Annotated[
        str | None,
        typer.Option(
            "--covariance",
            metavar="FORM",
            help="gaussian: full (QDA), tied (LDA), diagonal, tied_diagonal, spherical, tied_spherical or sparse.",
            show_default="full",
        ),
    ] = None,
    shrinkage: Annotated[
        str | None,
        typer.Option("--shrinkage", metavar="R", help="gaussian: a number from 0 to 1, oas or ledoit_wolf."),
    ] = None,
    towards: Annotated[
        str | None,
        typer.Option("--towards", help="gaussian: what to shrink towards.", show_default="identity", metavar="FORM"),
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option("--graph", metavar="'A:B + B:C'", help="gaussian, sparse: the edges between inputs."),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="gaussian, sparse: the penalty of the graphical lasso.")
    ] = None,
    divisor: Annotated[
        str | None,
        typer.Option(
            "--divisor", metavar="n|n-1", help="gaussian, naive: what squares are divided by.", show_default="n"
        ),
    ] = None,
    bayes: Annotated[
        bool, typer.Option("--bayes", help="gaussian: integrate the parameters out; densities are Student's t.")
    ] = False,
    penalty: Annotated[
        str | None, typer.Option("--penalty", metavar="l2|l1|none", help="softmax: the penalty.", show_default="none")
    ] = None,
    strength: Annotated[float | None, typer.Option("--strength", help="softmax: how strong the penalty is.")] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="CLASS",
            help="softmax: the class that others are compared with in the coefficients.",
            show_default="the first",
        ),
    ] = None,
    method: MethodOption = "auto",
    tol: TolOption = 1e-8,
    max_iter: MaxIterOption = 1000,
    weights: WeightsOption = None,
    missing: Annotated[
        str | None,
        typer.Option(
            "--missing",
            metavar="WAY",
            help="Rows with missing values: error; drop; or, for naive, available: learn each column from what it has.",
            show_default="available for naive, error for others",
        ),
    ] = None,
    unknown_states: UnknownOption = "error",
    unseen_parents: Annotated[
        str, typer.Option("--unseen-parents", help="naive, joint: classes without data: error or uniform.")
    ] = "error",
    categorical: CategoricalOption = None,
    continuous: ContinuousOption = None,
    separator: SeparatorOption = None,
    na: NaOption = None,
    names: NamesOption = None,
    skip: SkipOption = 0,
    trim: TrimOption = False,
    certify: CertifyOption = "statistics",
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write the classifier alone (.json).")
    ] = None,
    out_fit: OutFitOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Learn a classifier of the column --target from the table DATA, prove the result, and count its errors on DATA."""
    with reported(as_json):
        import suffice

        require_two_paths(out, out_fit)
        cases = table(data, separator, na, names, skip, trim)
        options = {
            "class_prior": read_class_prior(class_prior),
            "kinds": read_pairs(kind, "--kind", "age=gaussian") if kind else None,
            "binarize": binarize,
            "smoothing": smoothing,
            "prior": prior or None,
            "covariance": covariance,
            "shrinkage": shrinkage,
            "towards": towards,
            "graph": graph,
            "alpha": alpha,
            "divisor": divisor,
            "bayes": bayes or None,
            "penalty": penalty,
            "strength": strength,
            "reference": reference,
        }
        look = Look(cases, schema_from(categorical, continuous) or {})
        columns = read_inputs(look.names, target, weights, inputs, exclude)
        look.require_rows(target)
        if weights is not None:
            look.require_weights(weights)
        structure, settled, declared = classifier(model, target, columns, options, look)
        gaps = read_missing(model, missing)
        result = suffice.fit(
            structure,
            cases,
            prior=settled,
            unseen_parents=require_choice("unseen_parents", unseen_parents, UNSEEN_PARENTS),
            method=method,
            tol=tol,
            max_iter=max_iter,
            schema=declared,
            certify=require_choice("certify", certify, CERTIFY_BY),
            progress=bar(quiet),
            weights=weights,
            missing=gaps,
            unknown_states=require_choice("unknown_states", unknown_states, UNKNOWN_STATES),
        )
        survey = _resubstituted(
            result.model, cases, bar(quiet), missing=gaps, weights=weights, unknown_states=unknown_states
        )
        coefficients = read_coefficients(result, cases, weights)
        write_fit(result, out, out_fit)
        _report(result, coefficients, survey, {"classifier": out, "fit": out_fit}, as_json)
    if not result.certificate.ok:
        raise typer.Exit(1)


def _resubstituted(
    model: Posteriors, cases: str | CSV, progress: bool, *, missing: str, weights: str | None, unknown_states: str
) -> Survey:
    """Classify the rows that the model was learnt from."""
    from suffice.cli.classify_answers import Survey
    from suffice.cli.classify_cases import CaseFile
    from suffice.progress import watch_for

    file = CaseFile.open(model, cases, drops=missing == "drop", weights=weights, unknown_states=unknown_states)
    return Survey.of(file).run(watch_for(progress))


def _report(
    result: Fit, coefficients: Coefficients, survey: Survey, written: dict[str, str | None], as_json: bool
) -> None:
    from suffice.cli.show import show_document, show_fit, show_written

    if as_json:
        show_document(result, coefficients=coefficients.to_list(), resubstitution=survey.to_dict())
        return
    show_fit(result, [])
    coefficients.show()
    print("\nErrors on the data learnt from (resubstitution; expect more on new data)")
    survey.show()
    show_written(written)
