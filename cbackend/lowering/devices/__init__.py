"""Kernels for devices: loops as work items and groups of them.

Begin with work_items.py.
"""
