"""Foundations of the vocabulary: variables, types of arguments, promotion, operators, and NumPy's meaning of a graph.

Begin with tensor.py, the variable; promotion.py has the dtypes, checks.py the errors, derivatives.py the backward pass.
"""
