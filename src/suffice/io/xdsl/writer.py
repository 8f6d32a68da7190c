"""Writing XDSL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from suffice.io.network_file import network_of, rows_of
from suffice.io.syntax.xml_text import written, written_attribute
from suffice.io.text_file import write_text
from suffice.io.xdsl.names import (
    NAME,
    ORDER,
    SAMPLES,
    SHOWN,
    STATES,
    USUAL_SAMPLES,
    genie_texts,
    identifiers,
    user_properties,
)
from suffice.models.bayes_net import BayesianNetwork
from suffice.models.model import Model
from suffice.result.fit import Fit


def write(thing: Model | Fit, path: str) -> None:
    """Write a network, or the network of a fit; see `suffice.io.xdsl`."""
    write_text(path, "".join(f"{line}\n" for line in _lines(network_of(thing, ".xdsl"))))


def _lines(model: BayesianNetwork) -> Iterator[str]:
    name = str(model.properties.get("name") or "unknown")
    shown, texts = genie_texts(map(str, model.properties.get("network") or ()), (*SAMPLES, "name", "comment"))
    nodes = identifiers(model.variables, "n")
    samples = "".join(f" {key}={written_attribute(shown.get(key, USUAL_SAMPLES))}" for key in SAMPLES)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<smile version="1.0" id="{identifiers([name], "n")[name]}"{samples}>'
    yield from _network_lines(model, name, texts, nodes)
    yield "  <nodes>"
    for node in model.dag.order:
        yield from _node_lines(model, node, nodes)
    yield "  </nodes>"
    yield "  <extensions>"
    yield f'    <genie version="1.0" app="suffice" name={written_attribute(shown.get("name", name))}>'
    if "comment" in shown:
        yield f"      <comment>{written(shown['comment'])}</comment>"
    for node in model.dag.order:
        yield from _shown_lines(model, node, nodes[node])
    yield "    </genie>"
    yield "  </extensions>"
    yield "</smile>"


def _network_lines(model: BayesianNetwork, name: str, texts: list[str], nodes: Mapping[str, str]) -> Iterator[str]:
    own = {} if name == identifiers([name], "n")[name] else {NAME: name}
    if model.dag.order != model.variables:
        own[ORDER] = " ".join(nodes.values())
    properties = [*own.items(), *user_properties(texts, "variables")]
    if properties:
        yield "  <properties>"
        yield from (_property(identifier, value) for identifier, value in properties)
        yield "  </properties>"


def _node_lines(model: BayesianNetwork, node: str, nodes: Mapping[str, str]) -> Iterator[str]:
    cpd = model.cpd(node)
    labels = [str(label) for label in cpd.family.child.labels]
    states = identifiers(labels, "s")
    yield f'    <cpt id="{nodes[node]}">'
    for label in labels:
        yield f'      <state id="{states[label]}" />'
    if cpd.family.parents:
        yield f"      <parents>{' '.join(nodes[parent.name] for parent in cpd.family.parents)}</parents>"
    yield f"      <probabilities>{' '.join(map(repr, rows_of(cpd).ravel().tolist()))}</probabilities>"
    if nodes[node] != node:
        yield f"  {_property(NAME, node)}"
    if labels != list(states.values()):
        yield f"  {_property(STATES, json.dumps(labels, ensure_ascii=False))}"
    for place in ("variables", "probabilities"):
        _, texts = genie_texts(_texts(model, place, node), SHOWN if place == "variables" else ())
        yield from (f"  {_property(identifier, value)}" for identifier, value in user_properties(texts, place))
    yield "    </cpt>"


def _shown_lines(model: BayesianNetwork, node: str, identifier: str) -> Iterator[str]:
    shown, _ = genie_texts(_texts(model, "variables", node), SHOWN)
    yield f'      <node id="{identifier}">'
    for tag, text in ({"name": node} | shown).items():
        yield f"        <{tag}>{written(text)}</{tag}>"
    yield "      </node>"


def _texts(model: BayesianNetwork, place: str, node: str) -> list[str]:
    return [str(text) for text in (model.properties.get(place) or {}).get(node) or ()]


def _property(identifier: str, value: str) -> str:
    return f'    <property id="{identifier}">{written(value)}</property>'
