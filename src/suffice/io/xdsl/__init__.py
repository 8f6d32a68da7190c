"""XDSL, the XML format of GeNIe and SMILE.

::

    <smile version="1.0" id="weather"><nodes>
      <cpt id="rain"><state id="no"/><state id="yes"/><probabilities>0.8 0.2</probabilities></cpt>
      <cpt id="wet"><state id="no"/><state id="yes"/><parents>rain</parents>
        <probabilities>0.9 0.1 0.05 0.95</probabilities></cpt>
    </nodes></smile>

Nodes         of kind cpt; deterministic and noisymax ones become tables, with a note. Decisions, utilities, equations,
              noisy adders and dynamic networks are errors.
Tables        list the numbers with the child varying fastest, and then the last parent; GeNIe and pgmpy read them so.
              aGrUM (pyAgrum 3.3.1) has the first parent varying fastest, when it writes and when it reads. Files that
              name aGrUM as their program are read that way, with a note. Files are written as GeNIe reads them, so
              that aGrUM mixes up the rows of nodes that have several parents: give it XMLBIF instead.
Noisy-MAX     ``parameters`` has a column for every state of every parent, in the order of ``strengths``, and then the
              leak. The parent's last column is certain of the child's last state, where it does nothing. With T the
              probability of the child's state k or a later one, T(k | x) = T(k | leak) Π T(k | x_i).
Names         are identifiers, a letter and then letters, digits and underscores. Others are written as identifiers,
              with the name itself in the user properties ``suffice_name`` and ``suffice_states``, which GeNIe keeps
              with the node, and as the name that it shows. Where the identifier has been changed since, it wins.
              aGrUM takes the shown name for the name of the node, so that its files are read that way.
Properties    User properties ``id: value`` are kept as the text ``id = value``, in the same place as those of BIF, and
              written back; what GeNIe shows of a node as ``genie name = …``, ``genie position = …`` and
              ``genie comment = …``. Fonts, colours, diagnostic settings and the like are named in a note.
Order         Nodes are written parents first; the user property ``suffice_order`` keeps another order.
Encoding      the declared one; packed with gzip when the content, or for writing the ending, says so.

States and parents keep the order of the file, numbers all their digits.
"""

from __future__ import annotations

from suffice.io.xdsl.reader import read
from suffice.io.xdsl.writer import write

__all__ = ["read", "write"]
