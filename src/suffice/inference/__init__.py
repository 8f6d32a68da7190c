"""Exact inference on products of tables: variables are positions, states are codes, evidence is sliced away."""
