"""Compiled functions as SciPy's low-level callables: their C is called without Python (native_low_level.c)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ...graph import TensorType
from ..abi._abi import ffi
from ..build.build import Library
from .interface import Interface


class Kind(NamedTuple):
    """A signature of SciPy: the C type of its function, and the types that our function must have."""

    c: str
    inputs: str
    """The dtype of the one vector that is given."""
    output_rank: int
    numbers: bool = False
    """Whether scalars may be given in the place of the vector."""

    def __str__(self) -> str:
        given = f"one {self.inputs} vector" + (", or float64 scalars," if self.numbers else "")
        return f"{given} and one float64 {'vector' if self.output_rank else 'scalar'} as its result"


KINDS: dict[str, Kind] = {
    "quad": Kind("double (*)(int, double *, void *)", "float64", 0, True),
    "generic_filter": Kind("int (*)(double *, intptr_t, double *, void *)", "float64", 0),
    "generic_filter1d": Kind("int (*)(double *, intptr_t, double *, intptr_t, void *)", "float64", 1),
    "geometric_transform": Kind("int (*)(intptr_t *, double *, int, int, void *)", "int64", 1),
}
"""Functions of SciPy that take a low-level callable -> their signatures, in the order of `ag_low_level`."""

_alive: WeakKeyDictionary[Any, tuple[Any, ...]] = WeakKeyDictionary()
"""User data of a callable -> what it points to."""


def misfit(kind: Kind, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> bool:
    """Whether a function with these types cannot be called with a kind's signature."""
    if len(outputs) != 1 or (outputs[0].dtype, outputs[0].ndim) != ("float64", kind.output_rank):
        return True
    given = [(i.dtype, i.ndim) for i in inputs]
    is_scalar = kind.numbers and bool(given) and all(g == ("float64", 0) for g in given) and len(given) < 32
    return not is_scalar and given != [(kind.inputs, 1)]


def low_level(native: Library, interface: Interface, library: Library, frame: Any, name: str) -> tuple[Any, Any]:
    """Return the C function of a kind and its user data, as objects of cffi; the data keep all that a call needs.

    `frame`: an ag_call whose table, constants and declared lengths are filled in.
    """
    call, facts = frame[0], ffi.new("ag_signature *")
    facts.run = ffi.addressof(library.lib, "ag_entry")
    facts.rt, facts.declared = call.rt, call.declared
    facts.constants, facts.constant_lengths = call.constants, call.constant_lengths
    facts.inputs, facts.outputs = len(interface.inputs), 1
    facts.input_lengths = sum(i.ndim for i in interface.inputs)
    _alive[facts] = native, library, frame, interface
    function = ffi.cast(KINDS[name].c, native.lib.ag_low_level(list(KINDS).index(name)))
    return function, facts
