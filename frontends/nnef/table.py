"""The converters of NNEF ops: functions from a node and its operands to values; the alignment of operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ... import ops as T
from ...graph import Variable
from ...ops.core.tensor import constant

Converter = Callable[..., Any]

CONVERTERS: dict[str, Converter] = {}
"""Converter by op."""


class NnefError(ValueError):
    """Error for an unreadable model: the message names the op, the expected and the actual operand."""


class Node:
    """One operation: `op`, `output` (the name of its first result) and its attributes by name."""

    def __init__(self, op: str, output: str, attributes: Mapping[str, Any]) -> None:
        self.op: str = op
        self.output: str = output
        self.attributes: Mapping[str, Any] = attributes

    def __getitem__(self, name: str) -> Any:
        return self.attributes[name]

    def error(self, problem: str) -> NnefError:
        return NnefError(f"{self.op} -> {self.output}: {problem}")


def converter(*names: str) -> Callable[[Converter], Converter]:
    """Register a function as the converter of these ops."""
    return lambda function: CONVERTERS.update(dict.fromkeys(names, function)) or function


def tensor(value: Any, dtype: str = "float32") -> Variable:
    """An operand as a variable; literals have no dtype of their own in the format."""
    if isinstance(value, Variable):
        return value
    kind = "bool" if isinstance(value, bool) else dtype
    return constant(np.array(value, kind))


def aligned(*values: Any) -> list[Any]:
    """Operands extended to one rank: trailing axes of length 1 are added."""
    dtype = next((v.dtype for v in values if isinstance(v, Variable) and v.dtype != "bool"), "float32")
    operands = [tensor(v, dtype) for v in values]
    rank = max(v.ndim for v in operands)
    return [T.dimshuffle(v, *range(v.ndim), *"x" * (rank - v.ndim)) if v.ndim else v for v in operands]
