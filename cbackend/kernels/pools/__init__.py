"""Pools: kernels over views of windows, and on channels in blocks, also over neighbouring channels."""
