"""compare: several models of the same data side by side."""
