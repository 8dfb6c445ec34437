"""Expressions as ONNX models.

Begin with writer.py.
"""
