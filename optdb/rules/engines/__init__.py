"""The division of a graph among engines.

Begin with partition.py.
"""
