"""Converters of ONNX ops, by subject: from a node and its operands to values.

Begin with elementwise.py; registered.py names all of them.
"""
