"""The converters of PyTorch's ops: functions from a call and its arguments to values of ours.

    @converter("aten.relu", "mylib.my_op")
    def relu(call, x):
        return T.maximum(x, 0)

A converter gets the `Call` and the arguments of the op's schema: our variables in the place of tensors and symbolic
numbers, lists of them, Python values as they are.  It returns one value, or a tuple with one for each output.  It
returns NotImplemented for arguments that it does not take: the op then runs in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .dtypes import name_of

if TYPE_CHECKING:
    from .building import Conversion

Converter = Callable[..., Any]
CONVERTERS: dict[str, Converter] = {}
"""Converter by name: "aten.add" for all overloads of an op, "aten.add.Scalar" for one."""


class Call(NamedTuple):
    """A node that is converted: the node itself, and the conversion around it."""

    node: Any
    conversion: Conversion

    @property
    def value(self) -> Any:
        """The traced value of the node: a fake tensor, or a tuple of them."""
        return self.node.meta["val"]

    @property
    def dtype(self) -> str:
        """The dtype of the result, of the first one if there are several."""
        return self.dtypes[0]

    @property
    def dtypes(self) -> list[str]:
        """The dtypes of the results that are tensors."""
        value = self.value
        several = value if isinstance(value, (tuple, list)) else (value,)
        return [name_of(v.dtype) for v in several if hasattr(v, "dtype")]

    def meta(self, place: int) -> Any:
        """The traced value of an argument by position; a Python value is itself."""
        return traced(self.node.args[place])

    @property
    def metas(self) -> list[Any]:
        """The traced values of the arguments by position."""
        return [traced(a) for a in self.node.args]


def traced(argument: Any) -> Any:
    """Return the traced value of an argument of a node; a Python value is itself."""
    if isinstance(argument, (list, tuple)):
        return [traced(a) for a in argument]
    return argument.meta["val"] if hasattr(argument, "meta") else argument


def converter(*names: str) -> Callable[[Converter], Converter]:
    """Register a function as the converter of these ops; the latest registration counts.

    Raises TypeError unless each name is "namespace.op" or "namespace.op.overload".
    """
    for name in names:
        if not isinstance(name, str) or "." not in name:
            raise TypeError(f'converter: expected names such as "aten.relu" or "mylib.my_op.default", got {name!r}')

    def register(function: Converter) -> Converter:
        for name in names:
            CONVERTERS[name] = function
        return function

    return register


def name_of_op(target: Any) -> str:
    """Return the name of an op with its overload ("aten.add.Tensor"), or of a Python function."""
    schema = getattr(target, "_schema", None)
    if schema is None:  # a higher-order op has no schema; its name is "torch.ops.higher_order.cond"
        return f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', target)}"
    return f"{schema.name.replace('::', '.')}.{schema.overload_name or 'default'}"


def found_for(target: Any) -> Converter | None:
    """Return the converter of an op: that of its overload, else that of all overloads; None if there is none."""
    name = name_of_op(target)
    return CONVERTERS.get(name) or CONVERTERS.get(name.rpartition(".")[0])
