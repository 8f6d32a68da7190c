"""Numba kernels: arrays in, arrays out. They know nothing of variables, blocks or models, and load on first use."""
