"""Classifiers that follow scikit-learn's protocol: thin shells over structures, statistics and fits."""
