"""The engine of ONNX Runtime, for parts of a graph.

Begin with engine.py.
"""
