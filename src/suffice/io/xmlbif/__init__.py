"""XMLBIF 0.3, BIF in XML, as JavaBayes, WEKA, SamIam, aGrUM and pgmpy write it.

::

    <BIF VERSION="0.3"><NETWORK><NAME>weather</NAME>
    <VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
    <VARIABLE TYPE="nature"><NAME>wet</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
    <DEFINITION><FOR>rain</FOR><TABLE>0.8 0.2</TABLE></DEFINITION>
    <DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><TABLE>0.9 0.1 0.05 0.95</TABLE></DEFINITION>
    </NETWORK></BIF>

Tables        list the numbers with FOR varying fastest and the first GIVEN slowest; aGrUM and pgmpy read them so. A row
              of zeros is how aGrUM writes a row that it does not know: it is read as unknown (NaN), with a note.
Tags          in capital or small letters. PROBABILITY and VALUE are the older names of DEFINITION and OUTCOME.
Names         are anything that XML can hold. Blanks around them count only under ``xml:space="preserve"``.
Properties    are kept, and have the same place as those of BIF, so that both formats pass them on to each other.
Comments      are not kept. Other elements and attributes are named in a note.
Encoding      the declared one; packed with gzip when the content, or for writing the ending, says so. A document type
              may declare elements, not entities. It is not written: aGrUM's parser does not read past one.

States and parents keep the order of the file, numbers all their digits.
"""

from __future__ import annotations

from suffice.io.xmlbif.reader import read
from suffice.io.xmlbif.writer import write

__all__ = ["read", "write"]
