"""Ops that only rules make: products with packed weights, channels in blocks, groups of nodes for one kernel.

Begin with fused.py, the group that every program has.
"""
