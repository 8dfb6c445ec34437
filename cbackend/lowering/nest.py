"""One loop nest under construction: statements by depth, and the reads and writes of operands.

A value is computed at the shallowest depth at which its operands are known: what does not change along the inner loop
is computed, and read, once outside of it.  Everything is named by one `Let` each; equal operations share a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import cast

from ...graph import Apply, Constant, Variable
from ...graph.types import numpy_dtype
from ...ops.shapes.advanced_indexing import AdvancedSubtensor
from ..ir import loops as ir
from ..ir.loops import loop
from ..ir.operands import Operand, length_name, operand_name, step_name, stride_name
from ..ir.walk import names_in, names_read, substituted
from .group import Group, Place, is_literal, operands_at
from .scalars import Scalars

Key = tuple[Variable, Place]
FAILED = ir.Local("int32", "failed")
"""The local of a fallible kernel that records whether an element was refused."""
OUTSIDE = ir.index("outside")
"""The local of a kernel that looks up elements that records whether an index is outside."""


class Operands:
    """The array arguments of a kernel: outputs, then each (leaf, place) that is read, by position of the leaf."""

    def __init__(
        self, group: Group, roots: Iterable[Key] | None = None, known: Collection[Variable] = frozenset()
    ) -> None:
        """`roots`: the values that are computed, if others than the results; `known`: values that need no operands."""
        self.outputs: tuple[Operand, ...] = tuple(Operand(r.dtype, r.kept, k) for k, r in enumerate(group.results))
        position = {leaf: k for k, leaf in reversed(list(enumerate(group.leaves)))}
        roots = [(r.value, r.place) for r in group.results] if roots is None else list(roots)
        found = dict.fromkeys((position[leaf], place) for leaf, place in _leaf_keys(roots, position, known))
        ordered = sorted(found, key=lambda f: f[0])
        tables = {node.inputs[0] for node in group.lookups}
        self.inputs: tuple[Operand, ...] = tuple(_operand(group.leaves[k], place, k, tables) for k, place in ordered)
        self.number: dict[Key, int] = {
            (group.leaves[i.source], i.axes): len(self.outputs) + n for n, i in enumerate(self.inputs)
        }
        self._position = position

    def feeding(self, roots: Sequence[Key]) -> tuple[tuple[int, ...], ...]:
        """Return for each value the numbers, among the inputs, of the operands that it is computed from."""
        masks: dict[Key, int] = {}
        """The numbers of the operands of each value, as bits."""
        stack = list(roots)
        while stack:
            variable, place = key = stack[-1]
            operands: list[Key] = []
            if variable in self._position:
                masks[key] = 1 << self.number[key] - len(self.outputs) if key in self.number else 0
            elif variable.owner is not None:
                operands = list(operands_at(variable.owner, place))
            missing = [k for k in operands if k not in masks]
            if missing:
                stack += missing
                continue
            if key not in masks:
                masks[key] = reduce(or_, [masks[k] for k in operands], 0)
            stack.pop()
        return tuple(tuple(n for n in range(len(self.inputs)) if masks[root] >> n & 1) for root in roots)

    def __getitem__(self, number: int) -> Operand:
        return (self.outputs + self.inputs)[number]

    @property
    def count(self) -> int:
        return len(self.outputs) + len(self.inputs)

    def array(self, number: int) -> str:
        return operand_name(number, len(self.outputs))

    def stride(self, number: int, loop: int) -> ir.Local:
        return ir.index(stride_name(self.array(number), loop))


def _operand(leaf: Variable, place: Place, position: int, tables: Collection[Variable]) -> Operand:
    return Operand(leaf.dtype, place, position, leaf in tables and all(loop is None for loop in place))


def _leaf_keys(roots: Sequence[Key], leaves: dict[Variable, int], known: Collection[Variable]) -> Iterator[Key]:
    """Yield the (leaf, place) pairs that the roots need, for values or only for shapes, in order of first use."""
    seen: set[Key] = set()
    stack = list(reversed(roots))
    while stack:
        key = stack.pop()
        if key in seen or key[0] in known:
            continue
        seen.add(key)
        variable, place = key
        if variable in leaves:
            yield key
        elif variable.owner is not None:
            stack.extend(reversed(list(operands_at(variable.owner, place))))
        elif not is_literal(variable):
            raise ValueError(f"a constant of type {variable.type} inside a group must be one of its inputs")


class Nest(Scalars):
    """The statements of a nest over `order` (loop numbers, outermost first): `at[d]` stands inside d loops."""

    def __init__(self, order: Sequence[int], operands: Operands, names: Iterator[str]) -> None:
        self.order: tuple[int, ...] = tuple(order)
        self.operands = operands
        self.at: list[list[ir.Statement]] = [[] for _ in range(len(self.order) + 1)]
        self.fallible: bool = False
        self._refuses_powers = False
        self._names = names
        self._depth: dict[str, int] = {}
        self._known: dict[ir.Expr, ir.Local] = {}
        self._pointers: dict[tuple[int, int], str] = {}
        self._values: dict[Key, ir.Expr] = {}
        self._refused: set[ir.Expr] = set()
        """The conditions under which an index is outside."""
        self._joined: set[ir.Expr] = set()
        """The conditions that are made of conditions."""

    # --- values of the graph

    def value(self, variable: Variable, place: Place) -> ir.Expr:
        """Return the value of `variable` at the current indices."""
        stack = [(variable, place)]
        while stack:
            key = stack[-1]
            if key in self._values:
                stack.pop()
                continue
            if (ready := self._leaf(key)) is not None:
                self._values[key] = ready
                continue
            node = key[0].owner
            assert node is not None
            looks_up = isinstance(node.op, AdvancedSubtensor)
            needed = list(operands_at(node, key[1]))[looks_up:]
            missing = [k for k in needed if k not in self._values]
            if missing:
                stack.extend(reversed(missing))
            else:
                values = [self._values[k] for k in needed]
                self._values[key] = self.looked_up(node, values) if looks_up else self.applied(node, values)
        return self._values[variable, place]

    def know(self, key: Key, value: ir.Local, depth: int) -> None:
        """Record a value as computed inside `depth` loops."""
        self._values[key] = value
        self._depth[value.name] = depth

    def know_stored(self, key: Key, output: int) -> None:
        """Record a value as stored in the current element of an output."""
        array, offset, depth = self.address(output)
        self._values[key] = self.let_at(depth, ir.Load(self.operands[output].dtype, array, offset))

    def know_inside(self, key: Key, value: ir.Expr) -> None:
        """Record a value as known in the innermost loop."""
        self._values[key] = self.let_at(len(self.order), value)

    def _leaf(self, key: Key) -> ir.Expr | None:
        number = self.operands.number.get(key)
        if number is not None:
            return self.load(number)
        variable = key[0]
        if variable.owner is None and isinstance(variable, Constant):
            return ir.Const(variable.dtype, variable.data.item())
        return None

    def refuse_negative(self, exponent: ir.Expr) -> None:
        """Add the check of a power's exponent to the innermost loop, so that empty arrays are never refused."""
        negative = ir.ScalarOp("lt", "bool", (exponent, ir.Const(exponent.dtype, 0)))
        failed = ir.ScalarOp("cast", "int32", (negative,))
        self.at[-1].append(ir.Assign(FAILED.name, ir.ScalarOp("bitwise_or", "int32", (FAILED, failed))))
        self.fallible = self._refuses_powers = True

    # --- elements at computed indices

    def looked_up(self, node: Apply, indices: Sequence[ir.Expr]) -> ir.Expr:
        """Return an element of an array, whose indices are checked: those outside stand for the first element."""
        table, at = node.inputs[0], cast(ir.Expr, ir.ZERO)
        array = self.operands.array(self.operands.number[table, (None,) * table.ndim])
        for axis, index in enumerate(indices):
            length = ir.index(length_name(array, axis))
            position = self.counted(self.cast(index, "int64"), length)
            unsigned = tuple(self.let(ir.ScalarOp("cast", "uint64", (x,))) for x in (position, length))
            outside = self.let(ir.ScalarOp("ge", "bool", unsigned))
            self.refuse(node, outside, index, length, axis)
            inside = self.let(ir.ScalarOp("switch", "int64", (outside, ir.ZERO, position)))
            at = ir.plus(at, ir.times(inside, ir.index(step_name(array, axis))))
        return self.let(ir.Load(table.dtype, array, at))

    def counted(self, index: ir.Expr, length: ir.Expr) -> ir.Expr:
        """Return the position of an index; a negative one counts from the end."""
        negative = self.let(ir.less(index, ir.ZERO))
        return self.let(ir.ScalarOp("switch", "int64", (negative, self.let(ir.plus(index, length)), index)))

    def refuse(self, node: Apply, outside: ir.Expr, index: ir.Expr, length: ir.Expr, axis: int) -> None:
        """Record in the innermost loop, so that empty arrays are never refused, that an index is outside."""
        if outside in self._refused:
            return
        self._refused.add(outside)
        flag = ir.ScalarOp("switch", "int64", (outside, ir.ONE, ir.ZERO))
        self.at[-1].append(ir.Assign(OUTSIDE.name, ir.ScalarOp("bitwise_or", "int64", (OUTSIDE, flag))))
        self.fallible = True

    # --- scalar operations

    def op(self, name: str, dtype: str, *args: ir.Expr) -> ir.Expr:
        """Return a scalar operation on values.

        gcc 12 does not vectorize a selection by a condition that is made of others outside the loop.  The innermost
        loop then compares a number: a float32, since gcc makes the condition again of a number that converts exactly.
        """
        if name == "switch" and args[0] in self._joined and self._depth_of(args[0]) < len(self.order):
            chosen = ir.ScalarOp("ne", "bool", (self.cast(args[0], "float32"), ir.Const("float32", 0)))
            args = (self._known.get(chosen) or self.let_at(len(self.order), chosen), *args[1:])
        return super().op(name, dtype, *args)

    def _depth_of(self, expr: ir.Expr) -> int:
        return max((self._depth.get(name, 0) for name in names_in(expr)), default=0)

    def let(self, expr: ir.Expr) -> ir.Local:
        """Return the name of `expr`, computed at the shallowest depth where its operands are known."""
        known = self._known.get(expr)
        if known is not None:
            return known
        return self.let_at(self._depth_of(expr), expr)

    def let_at(self, depth: int, expr: ir.Expr) -> ir.Local:
        """Return the name of `expr`, computed at this depth."""
        local = ir.Local(expr.dtype, next(self._names))
        self.at[depth].append(ir.Let(local.name, expr))
        self._depth[local.name] = depth
        self._known[expr] = local
        if isinstance(expr, ir.ScalarOp) and expr.dtype == "bool" and any(a.dtype == "bool" for a in expr.args):
            self._joined.add(local)
        return local

    # --- memory

    def load(self, number: int) -> ir.Expr:
        """Return the current element of an operand, read at the depth of the innermost loop along which it moves."""
        array, offset, depth = self.address(number)
        expr = ir.Load(self.operands[number].dtype, array, offset)
        return self._known.get(expr) or self.let_at(depth, expr)

    def store(self, number: int, value: ir.Expr) -> ir.Store:
        """Return the statement that writes the current element of an output."""
        array, offset, _ = self.address(number)
        return ir.Store(array, offset, value)

    def address(self, number: int) -> tuple[str, ir.Expr, int]:
        """Return (array, index, depth) of the current element: outer loops move a pointer, the last one is an index."""
        positions = sorted(self.order.index(l) for l in self.operands[number].loops if l in self.order)
        array = self.operands.array(number)
        if not positions:
            return array, ir.ZERO, 0
        for p in positions[:-1]:
            array = self._pointer(number, p, array)
        return array, self._offset(number, positions[-1]), positions[-1] + 1

    def array_before_tiles(self, number: int) -> str:
        """Return the pointer to the part of an operand that the loops outside the two innermost ones have reached."""
        array = self.operands.array(number)
        for position in range(len(self.order) - 2):
            if self.order[position] in self.operands[number].loops:
                array = self._pointer(number, position, array)
        return array

    def _offset(self, number: int, position: int) -> ir.Expr:
        where = self.order[position]
        return ir.times(ir.index(f"i{where}"), self.operands.stride(number, where))

    def _pointer(self, number: int, position: int, array: str) -> str:
        """Return the pointer to the part of an operand that the loop at `position` has reached."""
        known = self._pointers.get((number, position))
        if known is None:
            known = f"{self.operands.array(number)}_{self.order[position]}"
            operand = self.operands[number]
            const = number >= len(self.operands.outputs)
            offset = self._offset(number, position)
            self.at[position + 1].append(ir.ElementPointer(known, operand.dtype, array, offset, const))
            self._pointers[number, position] = known
        return known

    # --- loops

    def inner_loop(self, body: Iterable[ir.Statement], reductions: Reductions = (), simd: bool = True) -> ir.For:
        """Return the innermost loop over `body` and the statements of its depth."""
        if self._refused:
            reductions = (*reductions, ("|", OUTSIDE.name))
        if self._refuses_powers:
            reductions = (*reductions, ("|", FAILED.name))
        whole = (*self.at[-1], *body)
        return loop(self.order[-1], whole, simd=simd, reductions=tuple(reductions))

    def looped(self, inside: Iterable[ir.Statement], depth: int, outermost: int = 0) -> ir.Body:
        """Return `inside` in loops from `depth` down to `outermost`, each with the statements of its depth."""
        body = tuple(inside)
        for d in range(depth, outermost, -1):
            body = (loop(self.order[d - 1], (*self.at[d], *body)),)
        return body


Reductions = Sequence[tuple[str, str]]


def strides_along(general: ir.For) -> frozenset[str]:
    """Return the names of the strides by which a loop moves along arrays."""
    ending = "_s" + general.index.removeprefix("i")
    return frozenset(name for s in general.body for name in names_read(s) if name.endswith(ending))


def specialized(general: ir.For) -> ir.Statement:
    """Return the loop with a vectorized alternative for operands of stride 1.

        for (i) y[i * s] = x[i * t];
        -->
        if (s == 1 && t == 1) { for (i) y[i] = x[i]; } else { for (i) y[i * s] = x[i * t]; }

    Vectors made of strided elements win little and cost the compiler 10-100 ms a kernel.
    """
    strides = strides_along(general)
    if not strides:
        return general
    unit = substituted((general,), dict.fromkeys(strides, ir.ONE))
    plain = replace(general, simd=False, reductions=())
    return ir.If(ir.every([ir.equal(ir.index(s), ir.ONE) for s in sorted(strides)]), unit, (plain,))


def sizes_of(found: ir.For) -> set[int]:
    """Return the sizes of the values of a loop in bytes."""
    return {numpy_dtype(s.value.dtype).itemsize for s in found.body if isinstance(s, (ir.Let, ir.Store, ir.Assign))}
