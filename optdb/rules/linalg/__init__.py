"""Rules on products of matrices and on linear algebra.

Begin with dots.py and blas.py; structure.py knows what a matrix is known to be.
"""
