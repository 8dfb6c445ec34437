"""The dtypes that an elementwise op computes in: NumPy 2's promotion (NEP 50), by NumPy's own functions.

    rule: dtypes of the operands -> (dtypes they are converted to, dtype of the result)

A Python number is weak: it stands in a rule as its type (int, float, complex) and takes the dtype that the other
operands decide.  Rules raise TypeError for operands that they do not take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Union

import numpy as np

from ...graph.types import numpy_dtype

Operand = Union[str, type]
"""The name of a dtype, or int, float or complex for a Python number."""
Loop = tuple[tuple[str, ...], str]
Rule = Callable[[tuple[Operand, ...]], Loop]

_EXAMPLE: dict[type, Any] = {int: 0, float: 0.0, complex: 0j}
_SMALL = frozenset(("bool", "int8", "uint8", "int16", "uint16"))
_REAL = {"complex64": "float32", "complex128": "float64"}


def weak_type(value: Any) -> type | None:
    """int, float or complex for a Python number; None for a value that has a dtype (bool, NumPy scalars)."""
    if type(value) in _EXAMPLE:
        return type(value)
    if isinstance(value, (bool, np.generic)):
        return None
    return next((kind for kind in (int, float, complex) if isinstance(value, kind)), None)


def by_ufunc(ufunc: np.ufunc) -> Rule:
    """The dtypes in which `ufunc` computes, or its fold from the left, where there are more operands than it takes."""

    def rule(dtypes: tuple[Operand, ...]) -> Loop:
        if len(dtypes) > ufunc.nin:
            return _folded(rule, dtypes)
        *operands, result = ufunc.resolve_dtypes((*map(_as_numpy, dtypes), None))
        return tuple(d.name for d in operands), result.name

    return rule


def by_scipy(ufunc: np.ufunc, narrow: str = "float64") -> Rule:
    """The rule of `ufunc`, with bools and integers of up to 16 bits as `narrow`: SciPy has no loops in float16."""
    rule = by_ufunc(ufunc)

    def scipys(dtypes: tuple[Operand, ...]) -> Loop:
        return rule(tuple(narrow if d in _SMALL else d for d in dtypes))

    return scipys


def unsigned_words(dtypes: tuple[Operand, ...]) -> Loop:
    """Return uint64 operands and result, as for random bits, which accept nothing else."""
    if any(d != "uint64" and d is not int for d in dtypes):
        raise TypeError("expected uint64")
    return ("uint64",) * len(dtypes), "uint64"


def bits_of_bfloat16(dtypes: tuple[Operand, ...]) -> Loop:
    """Return a uint16 operand and a float32 result."""
    if any(d != "uint16" and d is not int for d in dtypes):
        raise TypeError("expected uint16")
    return ("uint16",), "float32"


def rounded_to_bfloat16(dtypes: tuple[Operand, ...]) -> Loop:
    """Return a float32 operand and a uint16 result."""
    if any(d != "float32" and d is not float for d in dtypes):
        raise TypeError("expected float32")
    return ("float32",), "uint16"


def _folded(rule: Rule, dtypes: tuple[Operand, ...]) -> Loop:
    """One dtype for all operands: that of the nested binary ops, Python numbers taken last."""
    in_turn = sorted(dtypes, key=lambda d: isinstance(d, type))
    joint = str(reduce(lambda a, b: rule((a, b))[1], in_turn))
    return (joint,) * len(dtypes), joint


def result_type(dtypes: Sequence[Operand]) -> str:
    """NumPy's joint dtype of the operands."""
    return np.result_type(*(_EXAMPLE[d] if isinstance(d, type) else numpy_dtype(d) for d in dtypes)).name


def joint(dtypes: tuple[Operand, ...]) -> Loop:
    """All operands and the result in the joint dtype."""
    result = result_type(dtypes)
    return (result,) * len(dtypes), result


def choice(dtypes: tuple[Operand, ...]) -> Loop:
    """A condition, then operands in their joint dtype, which is that of the result."""
    operands, result = joint(dtypes[1:])
    return ("bool", *operands), result


def last(dtypes: tuple[Operand, ...]) -> Loop:
    """Each operand as it is; the result has the dtype of the last one."""
    operands = tuple(result_type((d,)) for d in dtypes)
    return operands, operands[-1]


def real_part(dtypes: tuple[Operand, ...]) -> Loop:
    """The operand as it is; the result is its real counterpart."""
    operands, result = last(dtypes)
    return operands, _REAL.get(result, result)


def phase(dtypes: tuple[Operand, ...]) -> Loop:
    """The dtypes of `arctan2` of the imaginary and the real part; the former is a Python 0 for real operands."""
    operands, real = real_part(dtypes)
    if operands[0] in _REAL:
        return operands, real
    (_, operand), result = by_ufunc(np.arctan2)((int, *dtypes))
    return (operand,), result


def _as_numpy(dtype: Operand) -> Any:
    return dtype if isinstance(dtype, type) else numpy_dtype(dtype)


def typed_scalar(value: Any, dtype: str) -> np.ndarray:
    """The Python number in the dtype that promotion gave it.

    Raises OverflowError for an integer that the dtype cannot hold; a float too large for it becomes infinite, as in
    NumPy.
    """
    if dtype in ("float16", "float32", "complex64"):
        with np.errstate(over="ignore", under="ignore"):
            return np.array(value, dtype=dtype)
    return np.array(value, dtype=dtype)


def comparable_scalar(value: int, dtype: str) -> np.ndarray:
    """Return an array scalar that compares with any value of the integer `dtype` as the Python integer `value` does."""
    for candidate in (dtype, "int64", "uint64"):
        limits = np.iinfo(candidate)
        if limits.min <= value <= limits.max:
            return np.array(value, dtype=candidate)
    return np.array(np.inf if value > 0 else -np.inf)
