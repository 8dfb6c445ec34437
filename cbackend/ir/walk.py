"""Traversals of the loop IR: statements and names of a body, renaming, and removal of unused statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from .loops import (
    Assign,
    Body,
    Const,
    Do,
    ElementPointer,
    Expr,
    For,
    If,
    Let,
    Load,
    Local,
    Outlined,
    Return,
    ScalarOp,
    Statement,
    Store,
    Var,
    plus,
    times,
)


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """`expr` with locals replaced by name."""
    if isinstance(expr, Local):
        return values.get(expr.name, expr)
    if isinstance(expr, Load):
        return replace(expr, index=substitute(expr.index, values))
    if isinstance(expr, ScalarOp):
        args = tuple(substitute(a, values) for a in expr.args)
        if expr.dtype == "int64" and expr.name in ("mul", "add"):
            return times(*args) if expr.name == "mul" else plus(*args)
        return replace(expr, args=args)
    return expr


def substituted(body: Iterable[Statement], values: Mapping[str, Expr]) -> Body:
    """`body` with locals replaced by name in every expression.

    y[i * s] = x[i * t];   -->   y[i] = x[i];      with {s: 1, t: 1}
    """
    return tuple(_in_statement(s, values) for s in body)


def _in_statement(s: Statement, values: Mapping[str, Expr]) -> Statement:
    if isinstance(s, (Let, Var, Assign, Do, Return)):
        return replace(s, value=substitute(s.value, values))
    if isinstance(s, Store):
        return replace(s, index=substitute(s.index, values), value=substitute(s.value, values))
    if isinstance(s, ElementPointer):
        array = s.array
        if isinstance(array, ScalarOp):
            array = replace(array, args=tuple(substitute(a, values) for a in array.args))
        return replace(s, array=array, offset=substitute(s.offset, values))
    if isinstance(s, For):
        start, stop = substitute(s.start, values), substitute(s.stop, values)
        return replace(s, start=start, stop=stop, body=substituted(s.body, values))
    if isinstance(s, If):
        condition = substitute(s.condition, values)
        return replace(s, condition=condition, body=substituted(s.body, values), orelse=substituted(s.orelse, values))
    return s


def renamed(body: Iterable[Statement], arrays: Mapping[str, str]) -> Body:
    """`body` on other arrays, by name.

    const f64 *p = x + i * s; y[i] = p[i];   -->   const f64 *p = x_t + i * s; y_t[i] = p[i];   with {x: x_t, y: y_t}
    """
    return tuple(_on_others(s, arrays) for s in body)


def _on_others(s: Statement, arrays: Mapping[str, str]) -> Statement:
    if isinstance(s, (Let, Var, Assign, Do, Return)):
        return replace(s, value=_reading(s.value, arrays))
    if isinstance(s, Store):
        index, value = _reading(s.index, arrays), _reading(s.value, arrays)
        return replace(s, array=arrays.get(s.array, s.array), index=index, value=value)
    if isinstance(s, ElementPointer) and isinstance(s.array, str):
        return replace(s, array=arrays.get(s.array, s.array))
    if isinstance(s, For):
        return replace(s, body=renamed(s.body, arrays))
    if isinstance(s, If):
        return replace(s, body=renamed(s.body, arrays), orelse=renamed(s.orelse, arrays))
    return s


def _reading(expr: Expr, arrays: Mapping[str, str]) -> Expr:
    """`expr` with loads from other arrays."""
    if isinstance(expr, Load):
        return replace(expr, array=arrays.get(expr.array, expr.array), index=_reading(expr.index, arrays))
    if isinstance(expr, ScalarOp):
        return replace(expr, args=tuple(_reading(a, arrays) for a in expr.args))
    return expr


def all_statements(body: Iterable[Statement], outlined: bool = True) -> Iterator[Statement]:
    """Yield every statement of `body` in order, nested ones included.

    `outlined`: whether the bodies of outlined functions are among them.
    """
    stack = list(reversed(tuple(body)))
    while stack:
        s = stack.pop()
        yield s
        if outlined or not isinstance(s, Outlined):
            stack.extend(reversed(_inside(s)))


def own_statements(body: Iterable[Statement]) -> Iterator[Statement]:
    """Return the same without statements of outlined functions."""
    return all_statements(body, outlined=False)


def _inside(s: Statement) -> Body:
    if isinstance(s, If):
        return s.body + s.orelse
    return s.body if isinstance(s, (For, Outlined)) else ()


def own_names_in(body: Iterable[Statement]) -> Iterator[str]:
    """Yield the locals and arrays that `body` reads or writes through; of outlined functions only the arguments."""
    for s in own_statements(body):
        yield from names_read(s)


def outlined_in(body: Iterable[Statement]) -> Iterator[Outlined]:
    """The outlined functions of a kernel, in order."""
    return (s for s in own_statements(body) if isinstance(s, Outlined) and s.body)


def operations_in(s: Statement) -> Iterator[ScalarOp | Const]:
    """Yield the operations and constants of the expressions of a statement, without those of its own body."""
    for expr in _expressions(s):
        yield from _operations(expr)


def _operations(expr: Expr) -> Iterator[ScalarOp | Const]:
    if isinstance(expr, Load):
        yield from _operations(expr.index)
    elif isinstance(expr, ScalarOp):
        yield expr
        for a in expr.args:
            yield from _operations(a)
    elif isinstance(expr, Const):
        yield expr


def names_in(expr: Expr) -> Iterator[str]:
    """The locals and arrays that `expr` reads."""
    if isinstance(expr, Local):
        yield expr.name
    elif isinstance(expr, Load):
        yield expr.array
        yield from names_in(expr.index)
    elif isinstance(expr, ScalarOp):
        for a in expr.args:
            yield from names_in(a)


def names_read(s: Statement) -> Iterator[str]:
    """Yield the locals and arrays that a statement reads, without those read in its own body."""
    if isinstance(s, Store):
        yield s.array
    if isinstance(s, ElementPointer) and isinstance(s.array, str):
        yield s.array
    if isinstance(s, Outlined):
        yield from s.arguments
    for expr in _expressions(s):
        yield from names_in(expr)


def arrays_in(body: Iterable[Statement]) -> Iterator[str]:
    """The arrays, by name, that `body` reads, writes or points into; and locals that it reads."""
    for s in body:
        yield from names_read(s)
        if isinstance(s, For):
            yield from arrays_in(s.body)
        elif isinstance(s, If):
            yield from arrays_in(s.body + s.orelse)


def _expressions(s: Statement) -> tuple[Expr, ...]:
    if isinstance(s, (Let, Var, Assign, Do, Return)):
        return (s.value,)
    if isinstance(s, Store):
        return (s.index, s.value)
    if isinstance(s, ElementPointer):
        return (s.offset,) if isinstance(s.array, str) else (s.array, s.offset)
    if isinstance(s, For):
        return (s.start, s.stop) if isinstance(s.step, int) else (s.start, s.stop, s.step)
    return (s.condition,) if isinstance(s, If) else ()


def pruned(body: Iterable[Statement]) -> Body:
    """Return `body` without the Lets and Points that nothing reads."""
    return _pruned(tuple(body), set())


def _pruned(body: Body, used: set[str]) -> Body:
    """Return the same in one traversal from the end: a name is read after its definition."""
    kept: list[Statement] = []
    for s in reversed(body):
        if isinstance(s, (Let, ElementPointer)):
            if s.name not in used:
                continue
            used.discard(s.name)  # earlier statements refer to another local of this name
        if isinstance(s, For):
            s = replace(s, body=_pruned(s.body, used))
        elif isinstance(s, If):
            s = replace(s, body=_pruned(s.body, used), orelse=_pruned(s.orelse, used))
        elif isinstance(s, Outlined):
            s = replace(s, body=pruned(s.body))
        used.update(names_read(s))
        kept.append(s)
    return tuple(reversed(kept))
