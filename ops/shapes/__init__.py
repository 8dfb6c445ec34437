"""Lengths, axes, parts: everything that moves elements and computes none.

Begin with shape.py and lengths.py; indexing.py and getitem.py read and write parts.
"""
