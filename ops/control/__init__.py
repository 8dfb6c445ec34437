"""Loops, branches, and the rules by which `ag.vmap` maps an op over examples.

Begin with scan_ops.py; laziness.py decides what only one branch needs.
"""
