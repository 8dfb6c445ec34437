"""Vector loops with sines: near arguments first, far ones in a second loop that runs if there are any.

    for (i) y[i] = sin(x[i]);
    -->
    far = 0;
    for (i) { y[i] = sin_near(x[i]); far = far | (|x[i]| >= 2^15); }
    if (far) for (i) y[i] = sin(x[i]);

The reduction of a far argument takes 128 bits.  A compiler that turns branches of vector loops into selections computes
it for each element.  gcc does not, since it knows `sin` on vectors; see ctext/vector_forms.py.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...ir.loops import Assign, Body, Const, Expr, For, If, Let, Local, Outlined, ScalarOp, Statement, Store, Var
from ...ir.walk import names_in, operations_in

FAR = {"float32": 2.0**15, "float64": 2.0**30}
"""Absolute value from which on an argument is far."""
_HAVE_BOTH = ("sin", "cos", "tan")


def near_first(body: Iterable[Statement], numbers: Iterator[int] | None = None) -> Body:
    """Return `body` with vector loops for near arguments, each followed by the loop that it replaces."""
    counted = itertools.count() if numbers is None else numbers
    return tuple(found for s in body for found in _near_first(s, counted))


def _near_first(s: Statement, numbers: Iterator[int]) -> Iterator[Statement]:
    if isinstance(s, For):
        if s.simd and _can_run_twice(s) and any(_may_be_far(e) for b in s.body for e in operations_in(b)):
            yield from _twice(s, f"far{next(numbers)}")
        else:
            yield replace(s, body=near_first(s.body, numbers))
    elif isinstance(s, If):
        yield replace(s, body=near_first(s.body, numbers), orelse=near_first(s.orelse, numbers))
    elif isinstance(s, Outlined):
        yield replace(s, body=near_first(s.body, numbers))
    else:
        yield s


def _may_be_far(expr: Expr) -> bool:
    return isinstance(expr, ScalarOp) and expr.name in _HAVE_BOTH and expr.dtype in FAR


def _can_run_twice(loop: For) -> bool:
    """Whether the loop only computes values and stores them in arrays that it does not read."""
    if loop.reductions or not all(isinstance(s, (Let, Store)) for s in loop.body):
        return False
    stored = {s.array for s in loop.body if isinstance(s, Store)}
    values = [e for s in loop.body if isinstance(s, (Let, Store)) for e in (s.value, getattr(s, "index", s.value))]
    return stored.isdisjoint(name for e in values for name in names_in(e))


def _twice(loop: For, name: str) -> Iterator[Statement]:
    far: list[ScalarOp] = []
    near: list[Statement] = [replace(s, value=_near(s.value, far)) for s in loop.body if isinstance(s, (Let, Store))]
    dtype = "int64" if any(e.args[0].dtype == "float64" for e in far) else "int32"  # as wide as the arguments
    is_any = functools.reduce(lambda a, b: ScalarOp("either", "bool", (a, b)), far)
    one = ScalarOp("switch", dtype, (is_any, Const(dtype, 1), Const(dtype, 0)))
    near.append(Assign(name, ScalarOp("bitwise_or", dtype, (Local(dtype, name), one))))
    yield Var(name, Const(dtype, 0))
    yield replace(loop, body=tuple(near), reductions=(("|", name),))
    yield If(ScalarOp("ne", "bool", (Local(dtype, name), Const(dtype, 0))), (loop,))


def _near(expr: Expr, far: list[ScalarOp]) -> Expr:
    """Return `expr` for near arguments; append the conditions under which one is far."""
    if not isinstance(expr, ScalarOp):
        return expr
    args = tuple(_near(a, far) for a in expr.args)
    if not _may_be_far(expr):
        return replace(expr, args=args)
    size = ScalarOp("abs", expr.dtype, args)
    far.append(ScalarOp("ge", "bool", (size, Const(expr.dtype, FAR[expr.dtype]))))
    return ScalarOp(f"{expr.name}_near", expr.dtype, args)
