"""In-place work and its alias analysis.

Begin with inplace.py.
"""
