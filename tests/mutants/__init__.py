"""A guard against losing protection: small faults are planted in the library, and the tests must notice each one.

``make mutants`` plants 200 of them, one at a time: a sign of arithmetic, a comparison or a constant is changed in the
code that fits, certifies, evaluates distributions, infers, counts or reads. Only the tests that reach the changed line
are run, up to the first failure. A mutant that no test notices is a survivor; `survivors.txt` lists those that are
known, each with a reason, and any other one fails the run.
"""
