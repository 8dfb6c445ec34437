"""Tests of the public suite that fail, with the reason: a table of docs/numpy_parity.md."""

from __future__ import annotations

_PERMITTED = "NumPy's and Python's value, which the standard allows in a note beside this case"
_CASES = (
    "(isfinite(x1_i) and x1_i < 0 and x2_i is +infinity) -> -0",
    "(isfinite(x1_i) and x1_i > 0 and x2_i is -infinity) -> -0",
    "(x1_i is +infinity and isfinite(x2_i) and x2_i < 0) -> -infinity",
    "(x1_i is +infinity and isfinite(x2_i) and x2_i > 0) -> +infinity",
    "(x1_i is -infinity and isfinite(x2_i) and x2_i < 0) -> +infinity",
    "(x1_i is -infinity and isfinite(x2_i) and x2_i > 0) -> -infinity",
)
"""Quotients rounded down in which an operand is infinite: the standard names a limit, Python pairs // with %."""
_FUNCTIONS = {"floor_divide": "test_binary", "__floordiv__": "test_binary", "__ifloordiv__": "test_iop"}

FAILURES: dict[str, str] = {
    f"test_special_cases.py::{test}[{name}{case}]": _PERMITTED for name, test in _FUNCTIONS.items() for case in _CASES
}
