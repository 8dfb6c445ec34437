"""Named axes: `T.named(x, "batch", "feature")`, operations by the names of axes on top of those by position.

Each operation builds the expression that one would write by position, so names cost nothing when a function runs.
Begin with tensor.py.
"""
