"""Python's operators and functions on symbolic values: comparisons, orders by keys, and what hashes or prints them.

`tracing.calls` and the rewritten functions call these.
"""
