"""Theano's graphs: derivatives, loops, classes of ops, optimizers.

Begin with graphs.py.
"""
