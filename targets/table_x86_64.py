"""Measured costs of elementwise ops on x86_64: picoseconds an element in float32 and float64, on vectors in the cache.

Written by `python -m benchmarks.fit`.
"""

ELEMENTWISE: dict[str, tuple[int, int]] = {}
