"""Kernels as values: the loop IR, and the facts that a launch by the driver needs."""
