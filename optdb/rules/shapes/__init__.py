"""Rules on shapes and parts: reshapes, axes, joins, reads and writes.

Begin with dimshuffles.py.
"""
