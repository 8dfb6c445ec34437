"""Compiled functions for callers in C and Rust: an address and a pointer, without Python (native_plain.c)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ...graph import TensorType
from ..abi._abi import ffi
from ..build.build import Library
from .interface import Interface


class Kind(NamedTuple):
    """The C type of a function, and for SciPy's the types that our function must have."""

    c: str
    inputs: str = ""
    """The dtype of the one vector that SciPy gives; empty for signatures that are not SciPy's."""
    output_rank: int = 0
    numbers: bool = False
    """Whether scalars may be given in the place of the vector."""

    def __str__(self) -> str:
        given = f"one {self.inputs} vector" + (", or float64 scalars," if self.numbers else "")
        return f"{given} and one float64 {'vector' if self.output_rank else 'scalar'} as its result"


KINDS: dict[str, Kind] = {
    "call": Kind("int64_t (*)(void *, void *const *, void *const *)"),
    "density": Kind("int64_t (*)(uint64_t, const double *, double *, double *, void *)"),
    "expand": Kind("int64_t (*)(uint64_t, uint64_t, const double *, double *, void *)"),
    "quad": Kind("double (*)(int, double *, void *)", "float64", 0, True),
    "generic_filter": Kind("int (*)(double *, intptr_t, double *, void *)", "float64", 0),
    "generic_filter1d": Kind("int (*)(double *, intptr_t, double *, intptr_t, void *)", "float64", 1),
    "geometric_transform": Kind("int (*)(intptr_t *, double *, int, int, void *)", "int64", 1),
}
"""Signatures by name, in the order of `ag_plain_entry`."""
OF_SCIPY: dict[str, Kind] = {name: kind for name, kind in KINDS.items() if kind.inputs}
"""Functions of SciPy that take a low-level callable -> their signatures."""

_alive: WeakKeyDictionary[Any, PlainCall] = WeakKeyDictionary()
"""User data of SciPy's callables -> what they need."""


def misfit(kind: Kind, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> bool:
    """Whether a function with these types cannot be called with a kind's signature."""
    if len(outputs) != 1 or (outputs[0].dtype, outputs[0].ndim) != ("float64", kind.output_rank):
        return True
    given = [(i.dtype, i.ndim) for i in inputs]
    is_scalar = kind.numbers and bool(given) and all(g == ("float64", 0) for g in given) and len(given) < 32
    return not is_scalar and given != [(kind.inputs, 1)]


class PlainCall:
    """A compiled function at an address.  Addresses are valid as long as this object lives.

    `shapes`: of inputs, then outputs; unknown lengths, given by each call, are 0.  `bound`: an array for each input
    that has one, None for those that the caller gives.
    """

    data: int
    """The pointer that the C functions take as `function`."""

    def __init__(
        self, native: Library, interface: Interface, library: Library, frame: Any, shapes: Sequence[tuple[int, ...]],
        bound: Sequence[np.ndarray | None],
    ) -> None:  # fmt: skip
        names, call, inputs = native.lib, frame[0], len(bound)
        lengths = [n for shape in shapes for n in shape]
        if len(shapes) > names.AG_ARRAYS or len(lengths) > names.AG_LENGTHS:
            raise ValueError(f"a call from C has at most {names.AG_ARRAYS} arrays and {names.AG_LENGTHS} axes")
        places = [0 if a is None else a.__array_interface__["data"][0] for a in bound] + [0] * len(interface.outputs)
        facts = ffi.new("ag_plain *")
        alive = ffi.new("void *[]", [ffi.cast("char *", place) for place in places]), ffi.new("i64[]", lengths or 1)
        facts.call.rt, facts.call.declared = call.rt, call.declared
        facts.call.constants, facts.call.constant_lengths = call.constants, call.constant_lengths
        facts.run = ffi.addressof(library.lib, "ag_entry")
        facts.data, facts.lengths = alive
        facts.dim, facts.results = math.prod(shapes[0]) if inputs else 0, math.prod(shapes[-1])
        facts.inputs, facts.count, facts.axes = inputs, len(shapes), len(lengths)
        self._facts, self._native, self._alive = facts, native, (alive, bound, library, frame, interface)
        self.data = int(ffi.cast("intptr_t", facts))

    def address(self, kind: str) -> int:
        """Return the address of the C function of a kind."""
        return int(ffi.cast("intptr_t", self._entry(kind)))

    def objects(self, kind: str) -> tuple[Any, Any]:
        """Return the C function of a kind and its user data, as objects of cffi; the data keep all that it needs."""
        facts = ffi.cast("ag_plain *", self._facts)
        _alive[facts] = self
        return ffi.cast(KINDS[kind].c, self._entry(kind)), facts

    def _entry(self, kind: str) -> Any:
        return self._native.lib.ag_plain_entry(list(KINDS).index(kind))
