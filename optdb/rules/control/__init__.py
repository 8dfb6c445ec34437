"""Rules on loops and branches.

Begin with scan.py.
"""
