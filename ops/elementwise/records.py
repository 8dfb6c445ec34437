"""Every elementwise op, from the tables of records; the base classes are those of pointwise.py.

elementwise_arithmetic.py   sums, products, quotients, roots, rounding
elementwise_exponential.py  exponentials, logarithms, the error and gamma functions
elementwise_angles.py       trigonometric and hyperbolic functions
elementwise_logic.py        comparisons, logic, bits
elementwise_parts.py        choices, parts of numbers, copies
elementwise_representation.py  neighbours, exponents, bits

A new op is one record in one of these files, which names it in its `__all__`.  The namespace `T` and all other tables
take it from there.
"""

# ruff: noqa: F403

from __future__ import annotations

from typing import Any

from ..core.tensor import scalar_constant
from . import angles as elementwise_angles
from . import arithmetic as elementwise_arithmetic
from . import exponential as elementwise_exponential
from . import logic as elementwise_logic
from . import parts as elementwise_parts
from . import representation as elementwise_representation
from .angles import *
from .arithmetic import *
from .casting import Cast, cast
from .exponential import *
from .logic import *
from .parts import *
from .parts import identity as identity
from .pointwise import (
    Elementwise,
    ElementwiseRecord,
    Pointwise,
    broadcast_shapes,
    operands,
)
from .representation import *

_TABLES = (
    elementwise_arithmetic, elementwise_exponential, elementwise_angles, elementwise_logic, elementwise_parts,
    elementwise_representation,
)  # fmt: skip

ELEMENTWISE: dict[str, Elementwise] = {
    op.name: op for table in _TABLES for op in vars(table).values() if isinstance(op, Elementwise)
}
"""Every elementwise op of the package by its name."""
_defined: dict[str, ElementwiseRecord] = {}
"""The ops that programs defined with `ag.elementwise_op`, by symbol, the latest last."""
_arrays: dict[str, Any] = {}
"""The definitions of `ag.array_op`, by symbol, the latest last."""
_special: dict[str, Elementwise] = {}
"""The special functions that are loaded (`ops/special`), by name."""


def add_special(op: Elementwise) -> Elementwise:
    """Make a special function known to kernels; few programs load any."""
    _special[op.name] = op
    return op


def define(op: ElementwiseRecord) -> ElementwiseRecord:
    """Register an op from outside the package, as the latest of its name."""
    _defined.pop(op.symbol, None)
    _defined[op.symbol] = op
    return op


def user_op(symbol: str) -> ElementwiseRecord | None:
    """The op from outside the package that has this symbol; None if there is none."""
    return _defined.get(symbol)


def user_ops() -> dict[str, ElementwiseRecord]:
    """The ops from outside the package by name, the latest of each name."""
    return {op.name: op for op in list(_defined.values())}


def define_array(definition: Any) -> None:
    """Register an op of whole arrays from outside the package, as the latest of its name."""
    _arrays.pop(definition.symbol, None)
    _arrays[definition.symbol] = definition


def array_definition(symbol: str) -> Any:
    """The op of whole arrays from outside the package that has this symbol; None if there is none."""
    return _arrays.get(symbol)


def array_definitions() -> list[Any]:
    """The ops of whole arrays from outside the package, the latest last."""
    return list(_arrays.values())


def by_symbol(symbol: str) -> ElementwiseRecord | None:
    """The elementwise op that kernels call by this name; None if there is none."""
    return ELEMENTWISE.get(symbol) or _defined.get(symbol) or _special.get(symbol)


def blamed(message: str) -> str | None:
    """Return the error text for a compiler's message about the C of a user's op; None for messages about other C."""
    for line in message.splitlines():
        place, _, complaint = line.partition(": ")
        where, _, rest = place.partition(" of ")
        symbol, *numbers = rest.split(":")
        op = _defined.get(symbol) or _arrays.get(symbol)
        if op is not None and numbers and where in ("c", "c_functions", "prototypes"):
            message = f"{op.name}: its C does not compile: line {numbers[0]} of {where}: {complaint}"
            if "undeclared" in complaint and where == "c" and symbol in _arrays:
                known = [f"{name}{of}" for name in (*op.operands, "y") for of in ("", "_shape", "_strides", "_ndim")]
                message = f"{message}; its names are {', '.join(known)}"
            return f"{message}\n  defined at {op.defined_at}"
    return None


__all__ = [
    "ELEMENTWISE",
    "Cast",
    "Elementwise",
    "ElementwiseRecord",
    "Pointwise",
    "blamed",
    "broadcast_shapes",
    "by_symbol",
    "cast",
    "operands",
    "scalar_constant", "user_op", "user_ops",
]  # fmt: skip
__all__ += elementwise_arithmetic.__all__
__all__ += elementwise_exponential.__all__
__all__ += elementwise_angles.__all__
__all__ += elementwise_logic.__all__
__all__ += elementwise_parts.__all__
