"""`ag.jit`: traces of NumPy functions.

Begin with jitted.py.
"""
