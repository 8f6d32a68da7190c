"""The cases: families of models, each with options of which every two meet in some case."""

from tests.fingerprint.families import classifiers, directed, features, normal, others, sequences, taggers, undirected

MODULES = (directed, normal, undirected, features, sequences, classifiers, taggers, others)
FAMILIES = [family for module in MODULES for family in module.FAMILIES]
