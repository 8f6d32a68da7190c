r"""HUGIN NET, as HUGIN, aGrUM, pgmpy, SamIam and gRain write it.

::

    net { name = "asia"; }
    node smoke { label = "Smoker?"; states = ("yes" "no"); }
    node lung { states = ("yes" "no"); }
    potential (smoke) { data = (0.5 0.5); }
    potential (lung | smoke) { data = ((0.1 0.9) (0.01 0.99)); }

Blocks        ``net { … }`` or ``class Name { … }`` around everything. Nodes are discrete chance nodes; decisions,
              utilities, continuous nodes, functions and instances of classes are an error.
Names         of nodes are identifiers: letters, digits and underscores. One that is none, such as ``light-on``, is
              written as a made-up identifier, ``light_on``, with the name itself as its label and as its attribute
              ``suffice_name``, from which it is read back. States are texts between quotation marks, in which ``\"``,
              ``\\``, ``\n``, ``\t`` and ``\r`` are read as in C; other programs leave the quotation marks out.
Tables        list the numbers with the child varying fastest, then the last parent. Their parentheses must mirror
              the parents' states, or be a single pair. A node without numbers is uniform, and rows of weights,
              such as ``(10 90)``, which HUGIN writes, are divided by their sums; both with a note. Tables that a
              model computes (``model_data``) must have their numbers, too.
Properties    Every other attribute is kept as it is, ``position = (10 20)``, and written back; those of other formats
              are kept in attributes of our own, ``suffice_property_0``.
Comments      ``% …``, and aGrUM's ``// …`` and ``/* … */``. They are not kept.
Encoding      UTF-8, or Latin-1 with a note.

States and parents keep the order of the file, numbers all their digits.
"""

from __future__ import annotations

from suffice.io.hugin_net.reader import read
from suffice.io.hugin_net.writer import write

__all__ = ["read", "write"]
