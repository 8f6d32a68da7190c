"""check: whether a structure is credible, not only optimised."""
