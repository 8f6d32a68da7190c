r"""BIF, the Bayesian Interchange Format, as bnlearn, pgmpy, aGrUM and JavaBayes write it.

::

    network asia { property version 1.0; }
    variable smoke { type discrete [ 2 ] { yes, no }; }
    variable lung { type discrete [ 2 ] { yes, no }; }
    probability ( smoke ) { table 0.5, 0.5; }
    probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }

Where the programs differ, this one reads them all:

Separators    Commas and bars between names and numbers are optional, as in JavaBayes' grammar: the first name of a
              probability block is the child. Blanks separate only where the names between commas would not fit.
Names         are anything up to the next sign of the format, blanks included, or anything at all between quotation
              marks, in which ``\"`` and ``\\`` stand for a quotation mark and a backslash. They are written bare
              where letters, digits and ``_.?%+-`` suffice, since not every program knows quotation marks.
Comments      ``// …``, ``/* … */``, and lines that begin with ``#``. They are not kept.
Properties    are kept as they are and written back. One without its semicolon ends with its line.
Tables        ``table`` lists the numbers with the first variable, the child, varying slowest and the last parent
              fastest; JavaBayes, aGrUM and pgmpy read it so. (aGrUM's asia.bif has ``table 0.05 0.01 0.95 0.99`` where
              bnlearn's has the rows ``(yes) 0.05, 0.95; (no) 0.01, 0.99;``.) Rows may come in any order; ``default``
              is the row of every parent configuration that has none of its own.
Encoding      UTF-8, or Latin-1 with a note; packed with gzip when the content, or for writing the ending, says so.

States and parents keep the order of the file, numbers all their digits: what is normalised for computing is written
back as it was read.
"""

from __future__ import annotations

from suffice.io.bif.reader import read
from suffice.io.bif.writer import write

__all__ = ["read", "write"]
