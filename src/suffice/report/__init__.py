"""Pictures of what was learnt; needs the extra ``plot``."""

from suffice.report.surface import decision_surface

__all__ = ["decision_surface"]
