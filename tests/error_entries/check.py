"""Errors of checks."""

from __future__ import annotations

from tests.error_catalogue import A, entry

import suffice as sf

entry("check of a chain", A, lambda w: sf.check(sf.MarkovChain(), w.data), "sf.DAG, sf.Cliques",
      "Got sf.MarkovChain instead")  # fmt: skip
entry("check of text", A, lambda w: sf.check("A -> B", w.data), "A structure is one of", "'A -> B'")
entry("check of features with inputs", A,
      lambda w: sf.check(sf.Features([sf.indicators("A", "B")], given=["A"]), w.data), "inputs", "sf.compare",
      "sf.likelihood_ratio")  # fmt: skip
entry("check at no level", A, lambda w: sf.check(w.dag, w.data, level=5), "'level' argument", "between 0 and 1",
      "Got 5 instead")  # fmt: skip
entry("check with half a table", A, lambda w: sf.check(w.dag, w.data, bootstrap=0.5), "'bootstrap' argument",
      "whole number, at least 0", "Got 0.5 instead")  # fmt: skip
entry("check of no tests", A, lambda w: sf.check(w.dag, w.data, max_tests=0), "'max_tests' argument", "at least 1",
      "Got 0 instead")  # fmt: skip
entry("check of incomplete rows by EM", A, lambda w: sf.check(w.dag, w.data, missing="em"), "'missing' argument",
      "['error', 'drop']", "Got 'em' instead")  # fmt: skip
