"""Sufficient statistics: what is asked for, what is collected, and the one loop over data that collects it."""
