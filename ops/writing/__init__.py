"""Expressions as text: Python, NumPy, LaTeX.  Classes of ops say how they are written.  Begin with expressions.py."""
