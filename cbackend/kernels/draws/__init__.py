"""Draws from the streams of NumPy's generators."""
