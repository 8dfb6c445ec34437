"""Reductions, scans, statistics, and order: what looks at many elements for one.

Begin with reduce.py; sorting.py and selection.py put elements in order.
"""
