"""SymPy's expressions as expressions of ours: `ag.from_sympy(expression, symbols)`.

    reading.py    the function: symbols, shared subexpressions, sums and products, matrices
    table.py      what each class of SymPy means
"""

from .reading import from_sympy

__all__ = ["from_sympy"]
