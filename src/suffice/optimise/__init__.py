"""Minimise a function from its value and gradient; nothing here knows of models."""
