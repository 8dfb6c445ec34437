"""`theano.sparse` and `theano.typed_list`: values that are stored as several tensors.

Begin with ops.py.
"""
