"""`f.bind(...)`: a function bound to its arguments, for loops over the same arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..cbackend.calls.binding import Binding
from ..explain.tracebacks import tell
from ..tree import in_form, reads_leaves
from .signature import Signature


class Bound:
    """A function bound to arrays; call it without arguments.

        step = f.bind(x, y)
        for ...:
            x[...] = ...            # arrays are read where they lie, at each call
            z = step()              # the same array every time, with new numbers in it

    Arguments are checked when they are bound.  Results are C-contiguous and lie in the same arrays every time: the next
    call overwrites them, so copy what you keep.  A binding holds its arrays: they cannot be resized meanwhile, and
    shapes stay what they were when they were bound; give an array another shape, and calls still go by the old one.
    Numbers and lists are converted once and stay what they were.  Shared variables are read, and updated, at each call
    as ever.

    Calls from several threads are safe, but they overwrite one another's results: give each thread a binding of its
    own.
    """

    __slots__ = ("__weakref__", "_binding", "_call", "name")

    def __init__(self, name: str, binding: Binding, call: Callable[[], Any]) -> None:
        self.name: str = name
        self._binding, self._call = binding, call

    def __call__(self) -> Any:
        try:
            return self._call()
        except Exception as error:
            tell(error)
            raise

    @property
    def run(self) -> Callable[[], Any]:
        """The function that a call runs: a builtin if possible, which is 40 ns faster than a call of this object."""
        return self._call

    @property
    def inputs(self) -> tuple[np.ndarray, ...]:
        """The arrays that are read."""
        return self._binding.inputs

    @property
    def outputs(self) -> tuple[np.ndarray | None, ...]:
        """Arrays of the results; None for one whose shape is unknown before the first call."""
        return tuple(self._binding.outputs)

    def __repr__(self) -> str:
        arrays = ", ".join(f"{a.dtype}{list(a.shape)}" for a in self.inputs)
        return f"<{self.name} bound to {arrays or 'nothing'}>"


def bound(name: str, signature: Signature, executable: Any, arguments: Sequence[Any], out: Any) -> Bound:
    """Return the function of `executable` bound to arguments; `out` has the form of its results, or is None."""
    binding = executable.bind(arguments, None if out is None else as_list(name, signature, out))

    def other() -> Any:
        """Call through Python."""
        return shaped(signature, binding(), binding.inputs)

    native = None
    if not reads_leaves(signature.result):  # else results are made of the values of each call
        native = executable.native_bound(binding, shaped(signature, binding.outputs, binding.inputs), other)
    return Bound(name, binding, native or other)


def shaped(signature: Signature, results: list[Any], inputs: Sequence[np.ndarray]) -> Any:
    """Results in the form that the function returns."""
    return results if signature.form == "list" else signature.formed(results, inputs)


def as_list(name: str, signature: Signature, out: Any) -> list[Any]:
    """Return `out`, given in the form of the results, as a list.  Raises TypeError for another form."""
    expected = {"one": "an array", "list": "a list of arrays", "dict": f"a dict with the keys {signature.keys}"}
    if signature.form == "one" and isinstance(out, np.ndarray):
        return [out]
    if signature.form == "list" and isinstance(out, (list, tuple)):
        return list(out)
    if signature.form == "dict" and isinstance(out, Mapping) and set(out) == set(signature.keys):
        return [out[key] for key in signature.keys]
    if signature.form == "tree":
        return signature.computed(in_form(out, signature.result, f"{name}: out"))
    raise TypeError(f"{name}: out is {type(out).__name__}; expected {expected.get(signature.form, 'nothing')}, or None")
