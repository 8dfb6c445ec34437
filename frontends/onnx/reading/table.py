"""The converters of ONNX ops: functions from the node and its operands to values.

    @converter("Relu")
    def relu(node, x):
        return T.maximum(x, 0)

A converter gets None for an optional operand that is left out and returns one value or a tuple with one an output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Converter = Callable[..., Any]

CONVERTERS: dict[tuple[str, str], Converter] = {}
"""Converter by domain and op; the domain of standard ops is ""."""


def converter(*names: str, domain: str = "") -> Callable[[Converter], Converter]:
    """Register a function as the converter of these ops; a later registration takes the place of an earlier one."""

    def register(function: Converter) -> Converter:
        for name in names:
            CONVERTERS[domain, name] = function
        return function

    return register
