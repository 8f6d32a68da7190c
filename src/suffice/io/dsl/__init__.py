"""GeNIe's DSL, which GeNIe and SMILE wrote before XDSL and which aGrUM reads and writes.

::

    net asia
    {
     HEADER = { ID = asia; NAME = "Asia"; };
     node lung
      {
       TYPE = CPT;
       HEADER = { ID = lung; NAME = "Lung cancer?"; };
       PARENTS = (smoke);
       DEFINITION = { NAMESTATES = (yes, no); PROBABILITIES = (0.1, 0.9, 0.01, 0.99); };
      };
    };

Nodes         are those of type CPT, and of type TRUTHTABLE, whose RESULTINGSTATES become a table of zeros and ones
              with a note. Other types (noisy functions, decisions, utilities, equations) are an error.
Tables        list the numbers with the child varying fastest, then the last parent.
Names         and states are identifiers: letters, digits and underscores; states may also begin with a digit, as in
              aGrUM. Those that are not are written as made-up identifiers, and as themselves in USER_PROPERTIES, which
              GeNIe keeps and others pass over: ``suffice_name``, ``suffice_state_1``. They are read back from there.
Order         Parents are written before their children, as aGrUM needs it; ``suffice_place`` tells the network's own
              order where it is another.
Properties    Everything else is kept as it is and written back: ``HEADER.NAME = "Lung cancer?"``, ``SCREEN = {…}``,
              ``DEFINITION.…`` of the table. Properties of other formats are kept in USER_PROPERTIES.
Comments      ``// …`` and ``/* … */``. They are not kept.
Encoding      UTF-8, or Latin-1 with a note.

States and parents keep the order of the file, numbers all their digits.
"""

from __future__ import annotations

from suffice.io.dsl.reader import read
from suffice.io.dsl.writer import write

__all__ = ["read", "write"]
