"""Kernels as values: its contract with the driver, and the loop IR."""
