"""Derivatives and vectorization: `ag.grad`, `ag.vmap` and their relatives.

Begin with calculus.py.
"""
