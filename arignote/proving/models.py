"""Models of the solver run by NumPy: whether a difference is one of the claim, or of the translation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import z3

from ..explain.bisect import every_value
from ..graph import FunctionGraph
from ..ops.linalg.assumptions import CHECKS, Assume
from ..record.spelling import counted
from .claims import Claim, Instance, is_of_lengths, outcome

MOST_SHOWN = 9
"""Numbers of an array that are shown where they refute nothing."""
Arrays = Callable[[Mapping[str, Any]], list[np.ndarray]]
"""The arrays of an instance for the values of a model by name."""


def replayed(claim: Claim, instance: Instance, arrays: Arrays, values: Mapping[str, Any]) -> str:
    """The judgement of NumPy on a model of the solver, as text."""
    given = arrays(values)
    if not keeps_promises(instance.before, given):
        return "the solver's model breaks a promise of `assume`"
    want, got = outcome(instance.before, given), outcome(instance.after, given)
    shown = _shown(instance, given, math.inf)
    if isinstance(want, Exception):
        lost = not isinstance(got, Exception) and "errors" not in claim.contract.relaxed and not is_of_lengths(want)
        return f"refuted: the error {want} is lost for {shown}" if lost else f"a model that NumPy refuses: {want}"
    if isinstance(got, Exception):
        return f"refuted: {got} for {shown}"
    wrong = claim.judge(claim.contract, instance, given, want, got)
    if wrong and "underflow" in claim.contract.relaxed and any(map(_is_tiny, given)):
        return f"a model whose products underflow: {shown}"
    if wrong:
        return f"refuted: {want.tolist()} becomes {got.tolist()} for {shown}: {wrong}"
    return f"the solver's model is no counterexample in NumPy: {_shown(instance, given, MOST_SHOWN)}"


def _shown(instance: Instance, given: Sequence[np.ndarray], most: float) -> str:
    """Return the inputs of an instance as text; of arrays of more than `most` numbers only how many these are."""
    texts = (str(a.tolist()) if a.size <= most else counted(a.size, "number") for a in given)
    pairs = zip(instance.before.inputs, texts, strict=True)
    return ", ".join(f"{v.name} = {text} ({v.dtype})" for v, text in pairs)


def keeps_promises(graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> bool:
    """Whether the matrices that the graph assumes to have properties have them."""
    promises: list[Any] = [node for node in graph.order if isinstance(node.op, Assume)]
    if not promises:
        return True
    values = every_value(graph, arrays)
    return all(node.inputs[0] in values and CHECKS[node.op.property](values[node.inputs[0]]) for node in promises)


def concrete(value: Any) -> Any:
    """The number of a value of a model."""
    if z3.is_bool(value):
        return z3.is_true(value)
    if z3.is_bv(value):
        return value.as_signed_long()
    if z3.is_fp(value):
        if value.isNaN():
            return np.nan
        bits = z3.simplify(z3.fpToIEEEBV(value)).as_long()
        exponent_bits, digits = value.ebits(), value.sbits()
        fraction = bits & (2 ** (digits - 1) - 1)
        exponent = (bits >> (digits - 1)) & (2**exponent_bits - 1)
        sign = -1.0 if bits >> (exponent_bits + digits - 1) else 1.0
        bias = 2 ** (exponent_bits - 1) - 1
        if exponent == 2**exponent_bits - 1:
            return sign * (np.nan if fraction else np.inf)
        if exponent == 0:
            return sign * fraction * 2.0 ** (1 - bias - (digits - 1))
        return sign * (1 + fraction / 2 ** (digits - 1)) * 2.0 ** (exponent - bias)
    return 0


def value_of(values: Mapping[str, Any], name: str | None, dtype: str) -> Any:
    """The value of a leaf in a model; zero if the model leaves it open."""
    if np.dtype(dtype).kind == "c":
        return complex(values.get(f"{name}.re", 0.0), values.get(f"{name}.im", 0.0))
    value = values.get(str(name), 0)
    if np.dtype(dtype).kind == "u":
        return int(value) % 2 ** (8 * np.dtype(dtype).itemsize)
    with np.errstate(all="ignore"):
        return np.dtype(dtype).type(value)


def _is_tiny(array: np.ndarray) -> bool:
    """Whether a product of four numbers of the array may underflow."""
    if array.dtype.kind not in "fc":
        return False
    parts = np.abs([array.real, array.imag]) if array.dtype.kind == "c" else np.abs(array)
    return bool(np.any((parts > 0) & (parts < float(np.finfo(array.dtype).smallest_normal) ** 0.25)))
