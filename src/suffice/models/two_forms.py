"""Two forms of one distribution: a decomposable Markov random field is a Bayesian network, and the reverse always.

Only the numbers are rearranged; no probability changes.
"""

from __future__ import annotations

import numpy as np

from suffice.errors import ModelError, Remedy, require_choice
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.cpds.tabular import describe_configuration, whole_values
from suffice.models.markov_net import MarkovNetwork
from suffice.text import plural

UNSEEN = {"nan": "unknown (NaN)", "uniform": "uniform"}


def directed_form(network: MarkovNetwork, unseen_parents: str = "nan") -> BayesianNetwork:
    """Return a decomposable network as a Bayesian network; see `MarkovNetwork.to_bayesian_network`."""
    require_choice("unseen_parents", unseen_parents, tuple(UNSEEN))
    dag = network.cliques.to_dag()
    tables, notes = {}, list(network.notes)
    for node, parents in dag.parents.items():
        joint = network.query([*parents, node]).values
        above = joint.sum(axis=-1, keepdims=True)
        rest = np.nan if unseen_parents == "nan" else 1 / joint.shape[-1]
        tables[node] = np.divide(joint, above, out=np.full_like(joint, rest), where=above > 0)
        lost = int((above == 0).sum())
        if lost:
            notes.append(
                f"{node!r}: {plural(lost, 'parent configuration')} of probability zero, where the row is "
                f"{UNSEEN[unseen_parents]}; the joint distribution does not depend on it."
            )
    return BayesianNetwork(dag, tables, schema=network.schema.select(dag.nodes), notes=notes)


def undirected_form(network: BayesianNetwork) -> MarkovNetwork:
    """Return a Bayesian network as a product of tables; see `BayesianNetwork.to_markov_network`."""
    factors = []
    for cpd in network.cpds:
        values = whole_values(cpd)
        unknown = np.argwhere(np.isnan(values).any(axis=-1))
        if len(unknown):
            raise ModelError(
                f"The table of {cpd.family.child.name!r} has {plural(len(unknown), 'unknown row')} (NaN), the first "
                f"for {describe_configuration(cpd.family.parents, unknown[0])}, and a Markov network needs all "
                "numbers. Fit with ",
                Remedy("unseen_parents", "uniform"),
                " or with a prior.",
            )
        factors.append((cpd.family.scope, values))
    return MarkovNetwork(factors, schema=network.schema, notes=network.notes)
