"""Errors of CSV files with lines to skip and blanks to trim."""

from __future__ import annotations

from tests.error_catalogue import A, D, entry

import suffice as sf

entry("CSV lines skipped before the first", A, lambda w: sf.CSV("t.csv", skip=-1), "'skip' argument", "at least 0",
      "Got -1")  # fmt: skip
entry("CSV trimmed by a word", A, lambda w: sf.CSV("t.csv", trim="yes"), "'trim' argument", "True or False",
      "Got 'yes'")  # fmt: skip
entry("CSV skipped beyond its end", D, lambda w: sf.fit(w.dag, sf.CSV(w.csv("A,B\nx,u\n"), skip=3)), "table.csv",
      "2 lines", "skip=3", "Skip fewer")  # fmt: skip
entry("CSV skipped whole", D, lambda w: sf.fit(w.dag, sf.CSV(w.csv("A,B\nx,u\n"), skip=2)), "table.csv",
      "nothing in line 3", "Skip fewer lines")  # fmt: skip
entry("CSV name given twice", D, lambda w: sf.fit(w.dag, sf.CSV(w.csv("x,u\n"), names=["A", "A"])), "column 'A'",
      "more than once in 'names'")  # fmt: skip
entry("CSV with a title", D, lambda w: sf.fit(sf.DAG("t"), w.csv("t\nA,B\nx,u\n")), "row 1: expected 1 fields, found 2",
      "its first line", "sf.CSV(path, skip=1)")  # fmt: skip
