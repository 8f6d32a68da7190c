"""UAI, the format of the competitions on approximate inference, as merlin, aGrUM, toulbar2 and pgmpy use it.

::

    BAYES
    2
    2 3
    2
    1 0
    2 0 1

    2
     0.75 0.25

    6
     0.5 0.25 0.25
     0.125 0.375 0.5

The words are: the kind of the network; the number of variables, and how many states each of them has; the number of
tables, and for each its scope, which is the number of its variables and then their numbers from 0; then each table,
which is the number of its entries and then these, the last variable of the scope varying fastest.

BAYES         A table is the distribution of the last variable of its scope, given the others; each variable has one.
              It becomes a `BayesianNetwork`. Where rows do not sum to one, as where evidence was multiplied into the
              tables of a pedigree, they are factors, and it becomes a `MarkovNetwork`, with a note.
MARKOV        A table is a factor of a product. Scopes may repeat, and may be empty: a constant. It becomes a
              `MarkovNetwork`.
Others        Influence diagrams (``LIMID``, ``ID``) and whatever else begins the file are refused.
Blanks        Lines mean nothing, blanks and line ends separate alike.
Comments      ``# …`` to the end of the line, as aGrUM writes them. They are not kept, and never written, since most
              programs know none.
What follows  the last table, such as merlin's lists of what to query, is left unread, with a note that says so.
Names         UAI has none. Variables are read as ``x0``, ``x1``, …, their states as the texts ``0``, ``1``, ….
              A network is written by position, in the order of its variables and states: **their names are lost**, as
              are properties and notes. Write a .json or .bif file beside it to keep them.

Numbers keep all their digits, and tables their order: those of a MARKOV file as they stand, those of a BAYES file in
the order of the variables. What is normalised for computing is written back as it was read. Files are packed with
gzip when the content, or for writing the ending, says so. Evidence has files of its own: `suffice.io.uai.evidence`.
"""

from __future__ import annotations

from suffice.io.uai.reader import read
from suffice.io.uai.writer import write

__all__ = ["read", "write"]
