"""Equality saturation: all forms that the rules give a graph are kept side by side, and the cheapest is taken.

Begin with saturation.py, the pass.  egraph.py holds the forms, extraction.py chooses among them by prices.py, and
widening.py has rules that are no progress by themselves, such as distribution.
Source: Willsey et al., egg: Fast and Extensible Equality Saturation, POPL 2021.
"""
