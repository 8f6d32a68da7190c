"""Pictures of what was learnt; needs the extra ``plot``."""
