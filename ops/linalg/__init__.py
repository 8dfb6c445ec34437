"""Products of matrices and linear algebra; `T.linalg` for users.

Begin with blas.py, the ops of products; functions.py holds what users call.
"""
