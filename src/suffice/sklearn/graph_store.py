"""GraphCRF to files and back: the model, the parameters, and what the certificate said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suffice.io.chain_file import Proof
from suffice.io.graph_file import GraphFile
from suffice.sklearn.sequence_file import plain_params

if TYPE_CHECKING:
    from suffice.sklearn.graph_crf import GraphCRF


def stored(shell: GraphCRF) -> GraphFile:
    """Return what a file holds of a fitted estimator."""
    fit, model = shell.__dict__.get("fit_"), shell.model_
    if fit is not None and fit.certificate.exists == "no":
        model = replace(model, information=None)  # no errors follow from it
    params = plain_params(shell.get_params())
    return GraphFile(model, params, shell._proof if fit is None else Proof.of(fit))


def restored(file: GraphFile) -> GraphCRF:
    """Return the estimator that a file holds."""
    from suffice.sklearn.graph_crf import GraphCRF

    known = GraphCRF().get_params()
    shell = GraphCRF(**{name: value for name, value in file.params.items() if name in known})
    shell._take(file.model)
    shell._proof = file.proof
    return shell
