"""Tests of the public suite that fail, with the reason: a table of docs/numpy_parity.md."""

FAILURES: dict[str, str] = {}
