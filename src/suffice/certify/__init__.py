"""Proof: the first-order condition of what a fit claims, computed by a path that the fitter did not use."""
