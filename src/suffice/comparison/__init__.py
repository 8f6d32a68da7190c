"""Comparing models of the same rows: criteria, cross-validation fold by fold, and tests of nested models."""
