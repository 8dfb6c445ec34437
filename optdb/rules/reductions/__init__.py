"""Rules on reductions, and on sums to a shape.

Begin with reductions.py.
"""
