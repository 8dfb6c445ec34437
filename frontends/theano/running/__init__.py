"""`theano.function` and what it runs with: modes, shared variables, streams, texts.

Begin with functions.py.
"""
