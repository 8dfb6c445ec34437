"""Functions as C without Python, and graphs for other formats.

Begin with export.py.
"""
