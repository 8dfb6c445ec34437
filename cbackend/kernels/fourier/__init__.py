"""Discrete Fourier transforms along an axis, of rows side by side."""
