"""Choices by measurement: schedules of kernels, engines of nodes.

Begin with tune.py.
"""
