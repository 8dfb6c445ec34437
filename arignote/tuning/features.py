"""Features of a kernel's loops under a schedule, for the cost model of `ag.tune`.

The loop IR is walked once, with the lengths and strides of a call: each loop has a number of steps, each load a stride
along the innermost loop.  Loops of equal statements count once, times their steps, so the walk takes about a
millisecond for any lengths.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..cbackend.ir import loops as ir
from ..cbackend.ir.kernel import Kernel
from ..cbackend.ir.operands import Extent, Stride, parameter
from ..cbackend.ir.schedule import DEFAULT
from ..graph.types import numpy_dtype
from ..record import record

NAMES: tuple[str, ...] = (
    "flops", "costly", "indices", "branches", "adjacent", "fixed", "strided", "gathered", "stores", "strided_stores",
    "bytes", "vector_steps", "scalar_steps", "outer_steps", "innermost_loops", "short_steps", "lanes", "registers",
    "locals", "operand_bytes", "tile_bytes", "itemsize", "chunks", "is_parallel", "tiled", "unroll", "statements",
)  # fmt: skip
"""The columns of a row; all but flags are log2(1 + amount)."""
_COSTLY = frozenset({
    "exp", "log", "tanh", "sin", "cos", "tan", "pow", "sqrt", "div", "erf", "expm1", "log1p", "sigmoid", "softplus",
    "true_div", "mod",
})  # fmt: skip
_FLAGS = frozenset({"is_parallel", "tiled"})
_SHORT = 16
"""Steps below which a loop pays for its start."""


@record
class Sizes:
    """The lengths and strides of a call: values of the kernel's integer arguments, and bytes of its operands."""

    arguments: tuple[tuple[str, int], ...]
    extents: tuple[int, ...]
    operand_bytes: int
    threads: int


def sizes_of(kernel: Kernel, arrays: Sequence[np.ndarray], threads: int) -> Sizes:
    """Return the sizes of a kernel for its inputs as it addresses them; outputs are C-contiguous."""
    extents = [1] * kernel.rank
    for operand in kernel.inputs:
        for loop, length in zip(operand.axes, arrays[operand.source].shape, strict=True):
            if loop is not None:
                extents[loop] = max(extents[loop], length) if length else 0
    strides = [_strides(o.axes, arrays[o.source], extents) for o in kernel.inputs]
    shapes = [tuple(1 if loop is None else extents[loop] for loop in o.axes) for o in kernel.outputs]
    written = sum(math.prod(s) * numpy_dtype(o.dtype).itemsize for o, s in zip(kernel.outputs, shapes, strict=True))
    contiguous = [_contiguous(o.axes, s) for o, s in zip(kernel.outputs, shapes, strict=True)]
    every = [*contiguous, *strides]
    values = []
    for argument in kernel.arguments:
        name = parameter(argument, kernel.operands, len(kernel.outputs), frozenset()).name
        if isinstance(argument, Extent):
            values.append((name, extents[argument.loop]))
        elif isinstance(argument, Stride):
            values.append((name, every[argument.operand].get(argument.loop, 0)))
    total = written + sum(_span(arrays[s]) for s in {o.source for o in kernel.inputs})
    return Sizes(tuple(values), tuple(extents), total, threads)


def _span(array: np.ndarray) -> int:
    """Return the bytes from the first to the last element of an array, whose windows may overlap."""
    reached = sum((n - 1) * abs(step) for n, step in zip(array.shape, array.strides, strict=True))
    return reached + array.itemsize if array.size else 0


def _strides(axes: Sequence[int | None], array: np.ndarray, extents: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for loop, length, stride in zip(axes, array.shape, array.strides, strict=True):
        if loop is not None:
            one = stride // (array.itemsize or 1) if length != 1 or extents[loop] == 1 else 0
            found[loop] = found.get(loop, 0) + one
    return found


def _contiguous(axes: Sequence[int | None], shape: Sequence[int]) -> dict[int, int]:
    found, step = {}, 1
    for loop, length in zip(reversed(axes), reversed(shape), strict=True):
        if loop is not None:
            found[loop] = step
        step *= length
    return found


def features_of(kernel: Kernel, sizes: Sizes) -> np.ndarray:
    """Return the row of a kernel under its schedule, float64 of length len(NAMES)."""
    walk = _Walk(dict(sizes.arguments))
    walk.body(kernel.body, 1.0)
    schedule, amounts = kernel.schedule, walk.amounts
    work = (kernel.splits.picoseconds if kernel.splits is not None else 0) * math.prod(sizes.extents) * 1e-6
    chunks = work / DEFAULT.grain if work > 2.5 * DEFAULT.grain else 1.0  # picoseconds hold grain and `parallel`
    itemsize = max((numpy_dtype(o.dtype).itemsize for o in kernel.operands), default=8)
    tile = math.prod(min(n, schedule.tile(l) or n) for l, n in enumerate(sizes.extents))
    amounts.update(
        operand_bytes=sizes.operand_bytes, tile_bytes=tile * itemsize * len(kernel.operands), itemsize=itemsize,
        chunks=min(chunks, 64.0) if sizes.threads > 1 else 1.0, unroll=schedule.unroll,
        is_parallel=float(chunks > 1 and sizes.threads > 1), tiled=float(bool(schedule.tiles)),
    )  # fmt: skip
    return np.array([_scaled(name, amounts.get(name, 0.0)) for name in NAMES])


def _scaled(name: str, amount: float) -> float:
    return float(amount) if name in _FLAGS else math.log2(1.0 + max(float(amount), 0.0))


class _Walk:
    """Counts of a body, statement by statement, with values of the locals that are known."""

    def __init__(self, known: Mapping[str, float]) -> None:
        self.known = dict(known)
        self.amounts: dict[str, float] = {}
        self.innermost = ""
        self._outlined: dict[str, ir.Body] = {}

    def add(self, name: str, amount: float) -> None:
        self.amounts[name] = self.amounts.get(name, 0.0) + amount

    def body(self, body: ir.Body, times: float) -> None:
        for s in body:
            self.statement(s, times)

    def statement(self, s: ir.Statement, times: float) -> None:
        self.add("statements", 1.0)
        if isinstance(s, (ir.Let, ir.Var, ir.Assign, ir.Do, ir.Return)):
            self.expression(s.value, times)
            if isinstance(s, (ir.Let, ir.Var)):
                self.add("locals", 1.0)
                value = self.value(s.value)
                if value is None:
                    self.known.pop(s.name, None)
                else:
                    self.known[s.name] = value
        elif isinstance(s, ir.Store):
            self.expression(s.value, times)
            self.add("stores", times)
            self.add("strided_stores", times * (self.stride(s.index) not in (0, 1)))
        elif isinstance(s, ir.Declare):
            self.add("registers", float(s.length or 1) if (s.length or 1) <= 64 else 0.0)
        elif isinstance(s, ir.For):
            self.loop(s, times)
        elif isinstance(s, ir.If):
            self.branch(s, times)
        elif isinstance(s, ir.Outlined):
            self._outlined.setdefault(s.name, s.body)
            self.body(self._outlined[s.name], times)

    def loop(self, s: ir.For, times: float) -> None:
        start, stop = self.value(s.start), self.value(s.stop)
        step = s.step if isinstance(s.step, int) else self.value(s.step) or 1
        steps = max(0.0, math.ceil((stop - start) / step)) if None not in (start, stop) else 8.0  # type: ignore[operator]
        has_loops = any(isinstance(inner, (ir.For, ir.If, ir.Outlined)) for inner in s.body)
        before, self.innermost = self.innermost, s.index
        self.known[s.index] = start or 0.0
        if not has_loops:
            self.add("innermost_loops", times)
            self.add("vector_steps" if s.simd else "scalar_steps", times * steps)
            self.add("short_steps", times * (steps < _SHORT))
            self.amounts["lanes"] = max(self.amounts.get("lanes", 0.0), float(s.lanes or 0))
            self.amounts["registers"] = max(self.amounts.get("registers", 0.0), float(len(s.body)))
        else:
            self.add("outer_steps", times * steps)
        self.body(s.body, times * steps)
        self.innermost = before

    def branch(self, s: ir.If, times: float) -> None:
        """The branch that is taken, if that is known; else half of each."""
        value = self.value(s.condition)
        self.add("branches", times)
        if value is None:
            self.body(s.body, times / 2)
            self.body(s.orelse, times / 2)
        else:
            self.body(s.body if value else s.orelse, times)

    def expression(self, expr: ir.Expr, times: float) -> None:
        if isinstance(expr, ir.Load):
            stride = self.stride(expr.index)
            kind = (
                "gathered" if stride is None else "fixed" if stride == 0 else "adjacent" if stride == 1 else "strided"
            )
            self.add(kind, times)
            self.add("bytes", times * numpy_dtype(expr.dtype).itemsize * (stride != 0))
        elif isinstance(expr, ir.ScalarOp):
            name = "indices" if expr.dtype == "int64" else "costly" if expr.name in _COSTLY else "flops"
            self.add(name, times * _STEPS.get(expr.name, 1))
            for each in expr.args:
                self.expression(each, times)

    def stride(self, index: ir.Expr) -> float | None:
        """Return the stride of an index along the innermost loop; None if it depends on data."""
        name = self.innermost
        at = self.known.get(name, 0.0)
        here = self.value(index)
        self.known[name] = at + 1
        there = self.value(index)
        self.known[name] = at
        return None if here is None or there is None else abs(there - here)

    def value(self, expr: ir.Expr) -> float | None:
        """Return the value of an expression of lengths, strides and indices; None if it depends on data."""
        if isinstance(expr, ir.Const):
            return expr.value if isinstance(expr.value, (int, float)) else None
        if isinstance(expr, ir.Local):
            return self.known.get(expr.name)
        if isinstance(expr, ir.Load) or expr.name not in _MEANING:
            return None
        values = [self.value(a) for a in expr.args]
        return None if None in values else _MEANING[expr.name](*values)


_STEPS = {f"{name}_of_{n}": 2 * n.bit_length() - 2 for name in ("sum", "product") for n in (2, 4, 8, 16)}
"""Instructions of operations on all lanes of an array: a shuffle and an addition for each halving."""


def _quotient(a: float, b: float) -> float:
    return a // b if b else 0.0


_MEANING: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "int_div": _quotient, "floor_div": _quotient,
    "mod": lambda a, b: a % b if b else 0.0, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge, "eq": operator.eq, "ne": operator.ne, "both": lambda a, b: bool(a and b),
    "either": lambda a, b: bool(a or b), "cast": lambda a: a, "switch": lambda c, a, b: a if c else b,
    "maximum": max, "minimum": min,
}  # fmt: skip
"""The meaning of operations on lengths, strides and indices."""
