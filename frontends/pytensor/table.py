"""The converters of PyTensor's ops: functions from a node and its operands to values of ours.

    @converter(MyOp)
    def my_op(call, x, y):
        return T.tanh(x) + y

A converter gets the `Call` and one value for each input of the node.  It returns one value, or a tuple with one for
each output.  Values are our variables; `forms.py` says what stands for values that are no tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .building import Conversion

Converter = Callable[..., Any]
CONVERTERS: dict[type, Converter] = {}
"""Converter by class of ops."""
SCALARS: dict[type, Converter] = {}
"""Meaning of scalar ops on tensors, by class: a function of the call's op, the dtypes of its outputs and operands."""
FAMILIES: set[type] = set()
"""Classes whose converter serves all of their subclasses and decides for itself which it knows."""
_MEANINGS = ("perform", "impl")
"""Methods that give an op its meaning; a subclass that overrides one has another meaning."""


class Call(NamedTuple):
    """A node that is converted: its op, the node itself, and the conversion around it."""

    op: Any
    node: Any
    conversion: Conversion

    @property
    def dtypes(self) -> list[str]:
        """The dtypes of the outputs; empty for values that are no tensors."""
        return [getattr(o.type, "dtype", "") for o in self.node.outputs]


def converter(*kinds: type) -> Callable[[Converter], Converter]:
    """Register a function as the converter of these classes of ops; the latest registration counts.

    A subclass that overrides neither `perform` nor `impl` has the converter of its base.
    """
    return _registering(CONVERTERS, kinds)


def scalar(*kinds: type) -> Callable[[Converter], Converter]:
    """Register a function as the meaning of these classes of scalar ops, element by element."""
    return _registering(SCALARS, kinds)


def _registering(table: dict[type, Converter], kinds: tuple[type, ...]) -> Callable[[Converter], Converter]:
    for kind in kinds:
        if not isinstance(kind, type):
            raise TypeError(f"converter: expected classes of ops, got {kind!r}; write converter(type(op))")

    def register(function: Converter) -> Converter:
        for kind in kinds:
            table[kind] = function
        return function

    return register


def found_for(table: dict[type, Converter], kind: type) -> Converter | None:
    """Return the entry for a class or its nearest base of the same meaning; None if there is none."""
    for base in kind.__mro__:
        if base in table:
            same = base in FAMILIES or all(getattr(kind, name, None) is getattr(base, name, None) for name in _MEANINGS)
            return table[base] if same else None
    return None
