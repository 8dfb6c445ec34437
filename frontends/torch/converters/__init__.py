"""Converters of PyTorch's ops, a file a subject; `registered.py` imports them all."""
