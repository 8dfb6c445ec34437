"""Inference functions of networks: frozen, pruned, quantized.

Begin with freezing.py.
"""
