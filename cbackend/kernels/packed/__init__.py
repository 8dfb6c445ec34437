"""Products of rows and weights in a packed format: one call and one driver (packed.c) for all formats.

A format is a class of ops/lowered/formats, which lays the weights, and a C file in real/ or single/, which reads a
tile of them.  No table lists the formats: their C files are found by listing these folders.
"""
