"""Kernels of sums of a few elements that indices choose, each with a weight."""
