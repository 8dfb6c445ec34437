"""Statements of a loop over elements: blocks with what is known in them, checks, and elements of arrays.

    x[i, 1:]   -->   let v3 = i * n1;  a view of x from v3 + 1 on, with n1 - 1 elements
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ....record import record
from ...ir import loops as ir
from ...ir.kernel import Status
from ..scalars import Scalars
from .element_limits import Limit, Steps, offset

_SIGNS = {"add": all, "mul": all, "minimum": all, "maximum": any}
"""Operations whose result is not negative if all of their operands are not, or any."""
_SIGN = "not negative"


@record
class View:
    """An array, or a part of one: its elements stand at `first` plus positions times `strides`.

    `array` is the pointer; "" for a range, whose element is its position.  `axes` has for each axis that of the array
    which it runs along, from where, and in what steps.
    """

    array: str
    dtype: str
    first: ir.Expr
    lengths: tuple[ir.Expr, ...]
    strides: tuple[ir.Expr, ...]
    axes: tuple[tuple[int, ir.Expr, int], ...]

    @classmethod
    def whole(cls, array: str, dtype: str, lengths: tuple[ir.Expr, ...], strides: tuple[ir.Expr, ...]) -> View:
        """Return the view of all elements of an array."""
        axes = tuple((axis, ir.ZERO, 1) for axis in range(len(lengths)))
        return cls(array, dtype, ir.ZERO, lengths, strides, axes)

    def with_lengths(self, lengths: Sequence[ir.Expr]) -> View:
        """Return the same array with other names for its lengths, which are equal."""
        return replace(self, lengths=tuple(lengths))

    def is_same(self, other: View) -> bool:
        """Whether the elements of two vectors are certainly the same ones."""
        return (self.array, self.first, self.strides) == (other.array, other.first, other.strides)


@dataclass
class _Block:
    """Statements under construction; values that have a name in them, and facts on indices that hold there."""

    statements: list[ir.Statement] = field(default_factory=list)
    known: dict[Any, ir.Expr] = field(default_factory=dict)


class Statements(Scalars):
    """Blocks of statements, and what they read and check."""

    def __init__(self) -> None:
        self._blocks = [_Block()]
        self._names: Iterator[int] = itertools.count()
        self._bounds: dict[str, ir.Expr] = {}
        """The exclusive upper bounds of loop indices."""
        self._place = 0
        """The number of the node that is written, for messages."""
        self._epochs: Counter[str] = Counter()
        """How often each array has been written: an element read since then is known."""
        self._defined: dict[str, tuple[int, ir.Expr | None]] = {}
        """The number of the block in which each name has one value, and its expression."""
        self._loops: list[Steps] = []
        """The loops around, whose bodies are written."""

    # --- blocks
    def open(self) -> None:
        self._blocks.append(_Block())

    @property
    def depth(self) -> int:
        """The number of the block that is written."""
        return len(self._blocks) - 1

    def close(self) -> ir.Body:
        return tuple(self._blocks.pop().statements)

    def add(self, statement: ir.Statement) -> None:
        self._blocks[-1].statements.append(statement)

    def name(self, prefix: str) -> str:
        return f"{prefix}{next(self._names)}"

    def let(self, expr: ir.Expr) -> ir.Expr:
        """Return the name of `expr`, which is computed here unless it is known."""
        for block in self._blocks:
            if expr in block.known:
                return block.known[expr]
        return self._computed(expr)

    def _computed(self, expr: ir.Expr) -> ir.Local:
        found = ir.Local(expr.dtype, self.name("v"))
        self.add(ir.Let(found.name, expr))
        self._defined[found.name] = self.depth, expr
        if not isinstance(expr, ir.Load):
            self._blocks[-1].known[expr] = found
        signs = _SIGNS.get(expr.name) if isinstance(expr, ir.ScalarOp) and expr.dtype == "int64" else None
        if signs is not None and signs(map(self.is_not_negative, expr.args)):  # type: ignore[union-attr]
            self._counts_from_front(found)
        return found

    def lifted(self, expr: ir.Expr) -> ir.Expr:
        """Return the name of `expr`, which is computed in the outermost block that has its operands."""
        depth = self.block_of(expr)
        for block in self._blocks[: depth + 1]:
            if expr in block.known:
                return block.known[expr]
        found = ir.Local(expr.dtype, self.name("v"))
        self._blocks[depth].statements.append(ir.Let(found.name, expr))
        self._blocks[depth].known[expr] = found
        self._defined[found.name] = depth, expr
        return found

    def block_of(self, expr: ir.Expr) -> int:
        """Return the number of the innermost block in which an operand of `expr` gets its value."""
        if isinstance(expr, ir.ScalarOp):
            return max(map(self.block_of, expr.args), default=0)
        if isinstance(expr, ir.Local):
            return self._defined.get(expr.name, (self.depth, None))[0]
        return 0 if isinstance(expr, ir.Const) else self.depth

    def _outside(self, expr: ir.Expr, depth: int) -> ir.Expr | None:
        """Return a sum, a difference or a product by a name in a block before this one; None if that has no operand."""
        if self.block_of(expr) < depth:
            return expr
        _, made = self._defined.get(expr.name, (0, None)) if isinstance(expr, ir.Local) else (0, None)
        if not isinstance(made, ir.ScalarOp) or made.name not in ("add", "sub", "mul") or self.block_of(made) >= depth:
            return None
        return self.lifted(made)

    def op(self, name: str, dtype: str, *args: ir.Expr) -> ir.Expr:
        """Return a scalar operation on values; an index that is not negative is its maximum with 0."""
        if name == "maximum" and dtype == "int64" and args[1] == ir.ZERO and self.is_not_negative(args[0]):
            return args[0]
        return super().op(name, dtype, *args)

    def is_not_negative(self, expr: ir.Expr) -> bool:
        """Whether an index certainly counts from the front."""
        if isinstance(expr, ir.Const):
            return expr.value.real >= 0
        return any((_SIGN, expr) in block.known for block in self._blocks)

    def _counts_from_front(self, expr: ir.Expr) -> None:
        """Note, for this block, that an index is not negative."""
        self._blocks[-1].known[_SIGN, expr] = expr

    # --- failures
    def refuse_negative(self, exponent: ir.Expr) -> None:
        negative = ir.ScalarOp("lt", "bool", (exponent, ir.Const(exponent.dtype, 0)))
        self._fail_if(negative, Status.NEGATIVE_POWER)

    def _fail_if(self, condition: ir.Expr, status: Status, *numbers: ir.Expr) -> None:
        detail = (*numbers, ir.number(self._place))
        reported = (ir.Store("detail", ir.number(at), v) for at, v in enumerate((ir.number(len(detail)), *detail)))
        self.add(ir.If(condition, (*reported, ir.Return(ir.Const("int32", int(status))))))

    # --- elements
    def part(self, x: View, spec: Sequence[str], indices: Sequence[ir.Expr]) -> View:
        """Return the part of an array under integers and slices of its first axes."""
        first, rest = x.first, iter(indices)
        lengths, strides, axes = [], [], []
        for axis, (entry, length, stride, (base, start, step)) in enumerate(
            zip(spec, x.lengths, x.strides, x.axes, strict=False)
        ):
            if entry == "i":
                first = plus(first, times(self._position(next(rest), length, axis), stride))
                continue
            given = [next(rest) if flag == "1" else None for flag in entry[1:]]
            begin, count, by = self._sliced(length, *given)
            first = plus(first, times(begin, stride)) if begin != ir.ZERO else first
            lengths.append(count)
            strides.append(_scaled(stride, by))
            axes.append((base, ir.plus(start, _scaled(begin, step)) if begin != ir.ZERO else start, step * by))
        rest_of = slice(len(spec), None)
        return View(
            x.array, x.dtype, first, (*lengths, *x.lengths[rest_of]), (*strides, *x.strides[rest_of]),
            (*axes, *x.axes[rest_of]),
        )  # fmt: skip

    def _sliced(
        self, length: ir.Expr, start: ir.Expr | None, stop: ir.Expr | None, step: ir.Expr | None
    ) -> tuple[ir.Expr, ir.Expr, int]:
        """Return the first position of a slice, its number of elements, and its step, which is 1 or -1."""
        if isinstance(step, ir.Const) and step.value == -1:
            last = self.let(ir.minus(length, ir.ONE))
            begin = last if start is None else self._bound(start, length, ir.number(-1), last)
            end = ir.number(-1) if stop is None else self._bound(stop, length, ir.number(-1), last)
            if start is None and stop is None:
                return last, length, -1
            return begin, self._not_below_zero(ir.minus(begin, end)), -1
        begin = ir.ZERO if start is None else self._bound(start, length, ir.ZERO, length)
        end = length if stop is None else self._bound(stop, length, ir.ZERO, length)
        return begin, end if begin == ir.ZERO else self._not_below_zero(ir.minus(end, begin)), 1

    def _not_below_zero(self, expr: ir.Expr) -> ir.Expr:
        return self.let(ir.ScalarOp("maximum", "int64", (self.let(expr), ir.ZERO)))

    def _bound(self, bound: ir.Expr, length: ir.Expr, least: ir.Expr, most: ir.Expr) -> ir.Expr:
        """Return the bound of a slice as a position from `least` to `most`."""
        bound = self.cast(bound, "int64")
        if bound == ir.ZERO == least:
            return bound
        if isinstance(bound, ir.Local) and self._bounds.get(bound.name) == length:
            return bound
        if not self.is_not_negative(bound):
            behind = self.let(ir.ScalarOp("add", "int64", (bound, length)))
            if not isinstance(bound, ir.Const):
                behind = self.let(ir.ScalarOp("switch", "int64", (ir.less(bound, ir.ZERO), behind, bound)))
            bound = self.let(ir.ScalarOp("maximum", "int64", (behind, least)))
        return self.let(ir.ScalarOp("minimum", "int64", (bound, most)))

    def _loaded(self, x: View, at: ir.Expr) -> ir.Expr:
        """Return an element, which is read unless that was done since the last write."""
        key = (x.array, self._epochs[x.array], at)
        for block in self._blocks:
            if key in block.known:
                return block.known[key]
        found = self._blocks[-1].known[key] = self._computed(ir.Load(x.dtype, x.array, at))
        return found

    def _named(self, expr: ir.Expr) -> ir.Expr:
        return self.let(expr) if isinstance(expr, ir.ScalarOp) else expr

    def _position(self, index: ir.Expr, length: ir.Expr, axis: int) -> ir.Expr:
        """Return the position that an index means, after its check."""
        given = index = self.cast(index, "int64")
        if isinstance(index, ir.Local) and self._bounds.get(index.name) == length:
            return index
        if isinstance(index, ir.Const) and isinstance(length, ir.Const):
            return ir.number(int(index.value.real) % int(length.value.real))  # checked when the graph was built
        key = ("checked", index, length)
        around = self._along(index, length)
        if not self.is_not_negative(index):
            index = self._from_front(index, length, around)
            key = ("checked", index, length)
        if not any(key in block.known for block in self._blocks):
            if not self._limits(index, given, length, axis, around):
                self._fail_if(_is_outside(index, length), Status.INDEX, given, length, ir.number(axis))
            self._blocks[-1].known[key] = index
            self._counts_from_front(index)
        return index

    def _from_front(self, index: ir.Expr, length: ir.Expr, around: tuple[Steps, ir.Expr] | None) -> ir.Expr:
        """Return an index, which may be negative, as one that counts from the front."""
        if around is None:
            behind = ir.ScalarOp("add", "int64", (index, length))
            return self.lifted(ir.ScalarOp("switch", "int64", (ir.less(index, ir.ZERO), behind, index)))
        loop, ahead = around
        if (ahead, length) not in loop.offsets:
            loop.offsets[ahead, length] = ir.index(self.name("o"))
        added = loop.offsets[ahead, length]
        self._defined[added.name] = loop.depth, None
        return self.let(ir.plus(loop.index, added))

    def _along(self, index: ir.Expr, length: ir.Expr) -> tuple[Steps, ir.Expr] | None:
        """Return the loop around with whose steps an index goes along, and how far ahead it is; None if it does not."""
        loop = self._loops[-1] if self._loops else None
        if loop is None or loop.depth < 0 or self.block_of(length) >= loop.depth:
            return None
        if self.block_of(index) < loop.depth:
            return None
        ahead = offset(index, loop, self._defined, lambda expr: self._outside(expr, loop.depth))
        return None if ahead is None else (loop, ahead)

    def _limits(
        self, index: ir.Expr, given: ir.Expr, length: ir.Expr, axis: int, around: tuple[Steps, ir.Expr] | None
    ) -> bool:
        """Note the first step of the loop around in which an index is outside, if it goes along with the steps."""
        loop = self._loops[-1] if self._loops else None
        if loop is None or loop.depth != self.depth or self.block_of(length) >= loop.depth:
            return False
        if self.block_of(index) < loop.depth:
            failing = ir.ScalarOp("switch", "int64", (_is_outside(index, length), ir.ZERO, loop.steps))
            loop.limits.append(Limit(failing, given, None, length, axis, self._place))
            return True
        if around is None:
            return False
        ahead = around[1]
        first: ir.Expr = ir.minus(length, ahead)
        if index != given:
            is_before = ir.less(ir.plus(ahead, length), ir.ZERO)
            first = ir.ScalarOp("switch", "int64", (is_before, ir.ZERO, first))
        loop.limits.append(Limit(first, None, ahead, length, axis, self._place))
        return True

    def stop_of(self, loop: Steps) -> ir.Expr:
        """Return the number of steps of a loop before the first one in which an index is outside."""
        stop = loop.steps
        for limit in dict.fromkeys(limit.first for limit in loop.limits):
            stop = self.let(ir.smaller(stop, self.let(limit)))
        return stop if not loop.limits else self.let(ir.ScalarOp("maximum", "int64", (stop, ir.ZERO)))

    def fail_at(self, stop: ir.Expr, loop: Steps, ended: ir.Expr | None) -> None:
        """Write the failure of a loop behind it: its steps go on where an index is outside."""
        if not loop.limits:
            return
        outer = self._place
        self.open()
        for limit in loop.limits:
            self._place = limit.place
            given = ir.plus(stop, limit.ahead) if limit.ahead is not None else limit.index
            assert given is not None
            reached = ir.ScalarOp("le", "bool", (self.let(limit.first), stop))
            self._fail_if(reached, Status.INDEX, given, limit.length, ir.number(limit.axis))
        self._place = outer
        goes_on = [ir.less(stop, loop.steps)]
        if ended is not None:
            goes_on.append(ir.equal(ended, ir.Const("bool", False)))
        self.add(ir.If(ir.every(goes_on), self.close()))


def plus(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    """Return a sum of positions; that of two numbers is a number."""
    if isinstance(a, ir.Const) and isinstance(b, ir.Const):
        return ir.number(int(a.value.real) + int(b.value.real))
    return ir.plus(a, b)


def times(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    """Return a product of a position and a stride; that of two numbers is a number."""
    if ir.ZERO in (a, b):
        return ir.ZERO
    if isinstance(a, ir.Const) and isinstance(b, ir.Const):
        return ir.number(int(a.value.real) * int(b.value.real))
    return ir.times(a, b)


def _is_outside(index: ir.Expr, length: ir.Expr) -> ir.Expr:
    """Return whether an index that counts from the front is no position; a negative one is not, either."""
    pair = [ir.ScalarOp("cast", "uint64", (e,)) for e in (index, length)]
    return ir.ScalarOp("ge", "bool", tuple(pair))


def _scaled(stride: ir.Expr, by: int) -> ir.Expr:
    """Return a stride, or a position, times a step."""
    if isinstance(stride, ir.Const):
        return ir.number(int(stride.value.real) * by)
    return ir.times(stride, ir.number(by))
