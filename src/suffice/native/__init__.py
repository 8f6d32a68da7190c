"""Kernels in C++: arrays in, arrays out, without the interpreter lock; compiled when the package is built.

Each subject is an extension module of its own, `suffice.native.<subject>`: the source is ``<subject>.cpp``, its types
are in the generated stub ``<subject>.pyi``, and ``subjects.txt`` lists all of them.
"""
