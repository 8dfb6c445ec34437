"""Convolutions: products of windows, and kernels on channels in blocks, alone, by tiles, in pairs, and their gradients.

direct.c has the tiles of sums that all kernels in blocks use, strips.c the tasks and the epilogue that pools share.
"""
