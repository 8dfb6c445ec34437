"""A model from its file to expressions: structure, nodes, values, dtypes.

Begin with building.py.
"""
