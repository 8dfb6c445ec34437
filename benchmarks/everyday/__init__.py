"""Everyday array programs: statistics, learning, images, physics and the like, each a few lines of NumPy.

Begin with program.py, which says what a program is.  `python -m benchmarks.everyday [NAME ...]` times each under
`ag.jit`, under JAX, as NumPy runs it, and as loops under numba.
"""
