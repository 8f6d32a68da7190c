"""Errors of exploring: what cannot be explored, tables without evidence, and ports."""

from __future__ import annotations

import socket

from tests.error_catalogue import A, World, entry

import suffice as sf
from suffice.explore import explore


def chain(w: World) -> sf.Fit:
    return sf.fit(sf.MarkovChain(order=1), ["aabab", "abba"])


def on_a_port_in_use(w: World) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        w.fit().explore(browser=False, port=taken.getsockname()[1])


entry("explore a structure", A, lambda w: explore(w.dag), "a fit or a model", "Got DAG('A -> B')")
entry("explore a chain", A, lambda w: chain(w).explore(), "MarkovChainModel", "Bayesian networks", "report")
entry("explore on no port", A, lambda w: w.fit().explore(port=-1), "'port'", "0 to 65535", "Got -1")
entry("explore on a port in use", A, on_a_port_in_use, "port", "cannot be used", "free one")
entry("explore other data", A, lambda w: w.fit().explore({"C": ["x"]}), "no column of evidence", "['C']", "['A', 'B']")
