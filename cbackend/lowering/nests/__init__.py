"""Loops of one kind of kernel each: columns, rows, planes, pools, trees.

Begin with reduce.py.
"""
