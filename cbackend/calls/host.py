"""Host steps: the driver calls back into Python, which runs the NumPy meaning of an op without C.

The function stays one C call; the results live until it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any

import numpy as np

from ...graph import Constant
from ...graph.types import numpy_dtype
from ...ops.core.interpret import evaluate_node
from ..abi._abi import ffi
from ..program.program import Program

DONE = -1
"""Passed instead of a step: a loop body has run, and its results are copied."""
_SIGNATURE = "i32(*)(ag_call *, i32, void * *, i64 *, const i64 *)"


class HostSteps:
    """The host steps of a program.  `any`: whether there are some; `callback`: the function in ag_call.host."""

    def __init__(self, program: Callable[[], Program], calls_back: bool, name: str = "") -> None:
        self.name = name
        """The name of the function for error messages."""
        self._sites = program().all_sites if calls_back else []
        self._held: dict[int, list[np.ndarray]] = {}
        self._errors: dict[int, BaseException] = {}
        """State of the running call, by thread; each loop body has a call of its own."""
        self.any = calls_back
        self.callback: Any = ffi.callback(_SIGNATURE, self._run, 1, self._passed_by) if self.any else ffi.NULL

    def release(self, call: Any) -> BaseException | None:
        """Clear the results of a finished call; return the exception that ended it, if any."""
        self._held.pop(_key(call), None)
        return self._errors.pop(get_ident(), None)

    def _run(self, call: Any, step: int, arrays: Any, lengths: Any, strides: Any) -> int:
        try:
            if step == DONE:
                self._held.pop(_key(call), None)
                return 0
            self._evaluate(call, step, arrays, lengths, strides)
        except BaseException as error:  # it travels to the caller through C: nothing may pass by
            self._errors[get_ident()] = error
            return 1
        return 0

    def _passed_by(self, kind: Any, error: BaseException, traceback: Any) -> None:
        """Keep a KeyboardInterrupt raised on entry to or exit from `_run`; the step then counts as failed."""
        self._errors.setdefault(get_ident(), error)

    def _evaluate(self, call: Any, step: int, arrays: Any, lengths: Any, strides: Any) -> None:
        site = self._sites[step]
        assert site is not None
        node = site.node
        values, at = [], 0
        for k, i in enumerate(node.inputs):
            end = at + i.ndim
            if isinstance(i, Constant):
                values.append(i.data)
            else:
                values.append(_view(arrays[k], i.dtype, list(lengths[at:end]), list(strides[at:end])))
            at = end
        held = self._held.setdefault(_key(call), [])
        results = evaluate_node(node, values, self.name)
        for k, (o, result) in enumerate(zip(node.outputs, results, strict=True), start=len(values)):
            result = _owned(result, numpy_dtype(o.dtype), values)
            if result.ndim != o.ndim:
                raise TypeError(f"{node.op} gave an array of shape {result.shape} for {o.type}")
            held.append(result)
            arrays[k] = ffi.from_buffer(result)
            for n in result.shape:
                lengths[at] = n
                at += 1


def _owned(result: Any, dtype: np.dtype, values: Sequence[np.ndarray]) -> np.ndarray:
    """Return the result in C order and in memory of its own: the memory of operands may be reused."""
    array = np.asarray(result, dtype=dtype, order="C")
    return array.copy() if any(np.may_share_memory(array, v) for v in values) else array


def _key(call: Any) -> int:
    return int(ffi.cast("intptr_t", call))


def _view(address: Any, dtype: str, shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """Return a read-only array over memory of the driver; strides count elements."""
    kind = numpy_dtype(dtype)
    if not shape:
        number: np.ndarray = np.ndarray((), kind, ffi.buffer(ffi.cast("char *", address), kind.itemsize))
        number.flags.writeable = False
        return number
    if 0 in shape:
        return np.empty(shape, kind)
    steps = [s * kind.itemsize for s in strides]
    below = sum(min(0, (n - 1) * s) for n, s in zip(shape, steps, strict=True))
    above = sum(max(0, (n - 1) * s) for n, s in zip(shape, steps, strict=True))
    memory = ffi.buffer(ffi.cast("char *", address) + below, above - below + kind.itemsize)
    view: np.ndarray = np.ndarray(shape, kind, memory, -below, steps)
    view.flags.writeable = False
    return view
