"""`theano.tensor`: types, variables, functions of tensors.

Begin with variables.py.
"""
