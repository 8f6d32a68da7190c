"""Mistakes that a type checker must flag, and no other line; read by type checkers, and never run."""

from __future__ import annotations

import suffice as sf
from suffice.certify import cliques as proof_of_cliques
from suffice.certify import directed as proof_of_networks
from suffice.certify.certificate import Certificate
from suffice.certify.claim import Claim
from suffice.learn import decomposable, directed, directed_em, undirected_em
from suffice.learn.family import Family
from suffice.learn.method import Method
from suffice.models.markov_net import MarkovNetwork
from suffice.structures.dag import DAG

Labels = dict[str, list[str]]


def misspelt(dag: sf.DAG, data: Labels) -> None:
    sf.fit(dag, data, missing="dorp")  # flagged
    sf.fti(dag, data)  # flagged
    sf.fit(dag, data, mising="drop")  # flagged


def of_another_family(data: Labels) -> None:
    network, field = sf.fit(sf.DAG("A -> B"), data), sf.fit(sf.Cliques("A:B"), data)
    field.model.cpd("A")  # flagged
    network.u_terms()  # flagged
    network.model.cpd("A").table()  # flagged
    network.model.cpd("A")
    field.u_terms()


def not_data(dag: sf.DAG) -> None:
    sf.fit(dag, 3.0)  # flagged


def of_another_record(
    methods_of_networks: dict[str, Method[DAG, sf.BayesianNetwork]],
    methods: dict[str, Method[sf.Cliques, MarkovNetwork]],
    certify_network: Claim[DAG, sf.BayesianNetwork],
) -> None:
    def certify(claim: Claim[sf.Cliques, MarkovNetwork]) -> Certificate:
        raise NotImplementedError

    Family(structures=(sf.Cliques,), methods=lambda: methods, certify=certify)
    Family(structures=(sf.Cliques,), methods=lambda: methods_of_networks, certify=certify)  # flagged
    certify(certify_network)  # flagged


def registered_in_another_record() -> None:
    cliques, certify = (sf.Cliques,), proof_of_cliques.certify
    Family(structures=cliques, methods=lambda: {"closed_form": decomposable.METHOD}, certify=certify)
    Family(structures=cliques, methods=lambda: {"closed_form": directed.METHOD}, certify=certify)  # flagged
    Family(structures=cliques, methods=lambda: {"em": undirected_em.CLIQUES}, certify=certify)
    Family(structures=cliques, methods=lambda: {"em": directed_em.METHOD}, certify=certify)  # flagged
    of_networks = proof_of_networks.certify
    Family(structures=(DAG,), methods=lambda: {"closed_form": directed.METHOD}, certify=of_networks)
    Family(structures=cliques, methods=lambda: {"closed_form": decomposable.METHOD}, certify=of_networks)  # flagged
