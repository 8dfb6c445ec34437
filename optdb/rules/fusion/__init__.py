"""Groups of nodes that become one kernel.

Begin with elementwise.py, the pass; groups.py holds the partition.
"""
