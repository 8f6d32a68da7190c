"""All families of the audit."""

from __future__ import annotations

from tests.audit.classes import CLASSES
from tests.audit.family import AuditFamily
from tests.audit.fields import FIELDS
from tests.audit.incomplete import INCOMPLETE
from tests.audit.logits import LOGITS
from tests.audit.normals import NORMALS
from tests.audit.regressions import REGRESSIONS
from tests.audit.sequences import SEQUENCES
from tests.audit.tables import TABLES

FAMILIES: tuple[AuditFamily, ...] = (
    *TABLES,
    *REGRESSIONS,
    *CLASSES,
    *NORMALS,
    *INCOMPLETE,
    *LOGITS,
    *FIELDS,
    *SEQUENCES,
)
