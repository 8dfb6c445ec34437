"""Traversals of the loop IR: statements and names of a body, renaming, and removal of unused statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from operator import is_

from . import loops as ir


def substitute(expr: ir.Expr, values: Mapping[str, ir.Expr]) -> ir.Expr:
    """`expr` with locals replaced by name."""
    if isinstance(expr, ir.Local):
        return values.get(expr.name, expr)
    if isinstance(expr, ir.Load):
        return replace(expr, index=substitute(expr.index, values))
    if isinstance(expr, ir.ScalarOp):
        args = tuple(substitute(a, values) for a in expr.args)
        if expr.dtype == "int64" and expr.name in ("mul", "add"):
            return ir.times(*args) if expr.name == "mul" else ir.plus(*args)
        return replace(expr, args=args)
    return expr


def substituted(body: Iterable[ir.Statement], values: Mapping[str, ir.Expr]) -> ir.Body:
    """`body` with locals replaced by name in every expression.

    y[i * s] = x[i * t];   -->   y[i] = x[i];      with {s: 1, t: 1}
    """
    return tuple(_in_statement(s, values) for s in body)


def _in_statement(s: ir.Statement, values: Mapping[str, ir.Expr]) -> ir.Statement:
    if isinstance(s, (ir.Let, ir.Var, ir.Assign, ir.Do, ir.Return)):
        return replace(s, value=substitute(s.value, values))
    if isinstance(s, ir.Store):
        return replace(s, index=substitute(s.index, values), value=substitute(s.value, values))
    if isinstance(s, ir.ElementPointer):
        array = s.array
        if isinstance(array, ir.ScalarOp):
            array = replace(array, args=tuple(substitute(a, values) for a in array.args))
        return replace(s, array=array, offset=substitute(s.offset, values))
    if isinstance(s, ir.For):
        start, stop = substitute(s.start, values), substitute(s.stop, values)
        return replace(s, start=start, stop=stop, body=substituted(s.body, values))
    if isinstance(s, ir.If):
        condition = substitute(s.condition, values)
        return replace(s, condition=condition, body=substituted(s.body, values), orelse=substituted(s.orelse, values))
    return s


def renamed(body: Iterable[ir.Statement], arrays: Mapping[str, str]) -> ir.Body:
    """`body` on other arrays, by name.

    const f64 *p = x + i * s; y[i] = p[i];   -->   const f64 *p = x_t + i * s; y_t[i] = p[i];   with {x: x_t, y: y_t}
    """
    return tuple(_on_others(s, arrays) for s in body)


def _on_others(s: ir.Statement, arrays: Mapping[str, str]) -> ir.Statement:
    if isinstance(s, (ir.Let, ir.Var, ir.Assign, ir.Do, ir.Return)):
        return replace(s, value=_reading(s.value, arrays))
    if isinstance(s, ir.Store):
        index, value = _reading(s.index, arrays), _reading(s.value, arrays)
        return replace(s, array=arrays.get(s.array, s.array), index=index, value=value)
    if isinstance(s, ir.ElementPointer) and isinstance(s.array, str):
        return replace(s, array=arrays.get(s.array, s.array))
    if isinstance(s, ir.For):
        return replace(s, body=renamed(s.body, arrays))
    if isinstance(s, ir.If):
        return replace(s, body=renamed(s.body, arrays), orelse=renamed(s.orelse, arrays))
    return s


def _reading(expr: ir.Expr, arrays: Mapping[str, str]) -> ir.Expr:
    """`expr` with loads from other arrays."""
    if isinstance(expr, ir.Load):
        return replace(expr, array=arrays.get(expr.array, expr.array), index=_reading(expr.index, arrays))
    if isinstance(expr, ir.ScalarOp):
        return replace(expr, args=tuple(_reading(a, arrays) for a in expr.args))
    return expr


def all_statements(body: Iterable[ir.Statement], outlined: bool = True) -> Iterator[ir.Statement]:
    """Yield every statement of `body` in order, nested ones included.

    `outlined`: whether the bodies of outlined functions are among them.
    """
    stack = list(reversed(tuple(body)))
    while stack:
        s = stack.pop()
        yield s
        if outlined or not isinstance(s, ir.Outlined):
            stack.extend(reversed(_inside(s)))


def own_statements(body: Iterable[ir.Statement]) -> Iterator[ir.Statement]:
    """Return the same without statements of outlined functions."""
    return all_statements(body, outlined=False)


def _inside(s: ir.Statement) -> ir.Body:
    if isinstance(s, ir.If):
        return s.body + s.orelse
    return s.body if isinstance(s, (ir.For, ir.Outlined)) else ()


def own_names_in(body: Iterable[ir.Statement]) -> set[str]:
    """Return the locals and arrays that `body` reads or writes through; of outlined functions only the arguments."""
    return {name for s in own_statements(body) for name in names_read(s)}


def outlined_in(body: Iterable[ir.Statement]) -> Iterator[ir.Outlined]:
    """The outlined functions of a kernel, in order."""
    return (s for s in own_statements(body) if isinstance(s, ir.Outlined) and s.body)


def operations_in(s: ir.Statement) -> list[ir.ScalarOp | ir.Const]:
    """Return the operations and constants of the expressions of a statement, without those of its own body.

    Each stands before its parts, from left to right.
    """
    found: list[ir.ScalarOp | ir.Const] = []
    waiting = [*reversed(_expressions(s))]
    while waiting:
        expr = waiting.pop()
        if isinstance(expr, ir.ScalarOp):
            found.append(expr)
            waiting.extend(expr.args[::-1])
        elif isinstance(expr, ir.Const):
            found.append(expr)
        elif isinstance(expr, ir.Load):
            waiting.append(expr.index)
    return found


def names_in(*exprs: ir.Expr) -> list[str]:
    """Return the locals and arrays that expressions read, from left to right."""
    found: list[str] = []
    waiting = [*reversed(exprs)]
    while waiting:
        expr = waiting.pop()
        if isinstance(expr, ir.Local):
            found.append(expr.name)
        elif isinstance(expr, ir.ScalarOp):
            waiting.extend(expr.args[::-1])
        elif isinstance(expr, ir.Load):
            found.append(expr.array)
            waiting.append(expr.index)
    return found


def names_read(s: ir.Statement) -> list[str]:
    """Return the locals and arrays that a statement reads, without those read in its own body."""
    if isinstance(s, ir.Outlined):
        return [*s.arguments]
    names = names_in(*_expressions(s))
    return [s.array, *names] if isinstance(s, (ir.Store, ir.ElementPointer)) and isinstance(s.array, str) else names


def arrays_in(body: Iterable[ir.Statement]) -> Iterator[str]:
    """The arrays, by name, that `body` reads, writes or points into; and locals that it reads."""
    for s in body:
        yield from names_read(s)
        if isinstance(s, ir.For):
            yield from arrays_in(s.body)
        elif isinstance(s, ir.If):
            yield from arrays_in(s.body + s.orelse)


def _expressions(s: ir.Statement) -> tuple[ir.Expr, ...]:
    match s:
        case ir.Let() | ir.Var() | ir.Assign() | ir.Do() | ir.Return(): return (s.value,)
        case ir.Store(): return (s.index, s.value)
        case ir.ElementPointer(): return (s.offset,) if isinstance(s.array, str) else (s.array, s.offset)
        case ir.For(): return (s.start, s.stop) if isinstance(s.step, int) else (s.start, s.stop, s.step)
    return (s.condition,) if isinstance(s, ir.If) else ()


def pruned(body: Iterable[ir.Statement]) -> ir.Body:
    """Return `body` without the Lets and Points that nothing reads."""
    return _pruned(tuple(body), set())


def _pruned(body: ir.Body, used: set[str]) -> ir.Body:
    """Return the same in one traversal from the end: a name is read after its definition."""
    kept: list[ir.Statement] = []
    for s in reversed(body):
        if isinstance(s, (ir.Let, ir.ElementPointer)):
            if s.name not in used:
                continue
            used.discard(s.name)  # earlier statements refer to another local of this name
        if isinstance(s, ir.For):
            s = _with_body(s, _pruned(s.body, used))
        elif isinstance(s, ir.If):
            inside, otherwise = _pruned(s.body, used), _pruned(s.orelse, used)
            s = s if inside is s.body and otherwise is s.orelse else replace(s, body=inside, orelse=otherwise)
        elif isinstance(s, ir.Outlined):
            s = _with_body(s, pruned(s.body))
        used.update(names_read(s))
        kept.append(s)
    return body if len(kept) == len(body) and all(map(is_, body, reversed(kept))) else tuple(reversed(kept))


def _with_body(s: ir.For | ir.Outlined, body: ir.Body) -> ir.For | ir.Outlined:
    """Return a statement with another body; itself if it has this one."""
    return s if body is s.body else replace(s, body=body)
