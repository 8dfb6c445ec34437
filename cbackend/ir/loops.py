"""The loop IR: what a kernel does, before it is C text.  Lowering makes it, `emit.py` prints it.

    body      ::= statement ...
    statement ::= Let(name, expr)                        const T name = expr;
                | Var(name, expr)                        T name = expr;
                | Declare(name, dtype, length)           T name;  or  T name[length];
                | ElementPointer(name, dtype, array, offset)      T *name = array + offset;  (array: a name, or a call)
                | Assign(name, expr)                     name = expr;
                | Store(array, index, expr)              array[index] = expr;
                | Do(expr)                               expr;
                | For(index, start, stop, body)          for (i64 index = start; index < stop; index += step) { body }
                | If(condition, body, orelse)            if (condition) { body } else { orelse }
                | Outlined(name, arguments, body)        name(arguments);  an outlined function
                | Return(expr)                           return expr;
    expr      ::= Const(dtype, value)                    a number
                | Local(dtype, name)                     a parameter, a loop index, or what Let, Var or Declare made
                | Load(dtype, array, index)              array[index]
                | ScalarOp(name, dtype, args)                  a scalar operation; its C is a row of scalars.py

Every expression has the dtype of its value; "int64" is the dtype of indices.  Values are immutable; a pass makes new
ones.  Expressions stay shallow (lowering names each value by a Let), so functions over them may recurse; nothing
recurses over the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...record import record


@record(slots=True)
class Const:
    dtype: str
    value: bool | int | float | complex


@record(slots=True)
class Local:
    dtype: str
    name: str


@record(slots=True)
class Load:
    dtype: str
    array: str
    index: Expr


@record(slots=True)
class ScalarOp:
    """A scalar operation by name; the dtypes of `args` and `dtype` choose its row in the table of scalars.py."""

    name: str
    dtype: str
    args: tuple[Expr, ...]


Expr = Const | Local | Load | ScalarOp


@record(slots=True)
class Let:
    name: str
    value: Expr


@record(slots=True)
class Var:
    name: str
    value: Expr


@record(slots=True)
class Declare:
    """A local without value; an array if `length` is given (lengths are fixed numbers: no variable-length arrays)."""

    name: str
    dtype: str
    length: int | None = None


@record(slots=True)
class ElementPointer:
    """A pointer into an array, `offset` elements on; `const` if nothing is stored through it.

    What computes the array may stand in the place of its name.
    """

    name: str
    dtype: str
    array: str | ScalarOp
    offset: Expr
    const: bool = True


@record(slots=True)
class Assign:
    name: str
    value: Expr


@record(slots=True)
class Store:
    array: str
    index: Expr
    value: Expr


@record(slots=True)
class Do:
    """A call for its effect."""

    value: Expr


@record(slots=True)
class For:
    """Runs `body` for `index` in start, start + step, ... below stop.

    `simd`: iterations may run in any order and together, apart from the accumulators that `reductions` names as
    (operator, local) pairs.  `lanes`: how many together; None: as many as the compiler likes.
    """

    index: str
    start: Expr
    stop: Expr
    body: tuple[Statement, ...]
    step: int | Expr = 1
    simd: bool = False
    reductions: tuple[tuple[str, str], ...] = ()
    lanes: int | None = None


@record(slots=True)
class If:
    condition: Expr
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...] = ()


@record(slots=True)
class Outlined:
    """A call of an outlined function of the kernel; two compilers may take the functions at once.

    `arguments` are the parameters of the kernel, in order, and have the same names in `body`.  Without a body it is
    another call of the function: its arguments are then names or numbers.
    """

    name: str
    arguments: tuple[str, ...]
    body: tuple[Statement, ...]


@record(slots=True)
class Return:
    value: Expr


Statement = Let | Var | Declare | ElementPointer | Assign | Store | Do | For | If | Outlined | Return
Body = tuple[Statement, ...]


# --- index arithmetic

ZERO = Const("int64", 0)
ONE = Const("int64", 1)


def index(name: str) -> Local:
    """An int64 local: a loop index, an extent, a stride."""
    return Local("int64", name)


def number(value: int) -> Const:
    return Const("int64", value)


def times(a: Expr, b: Expr) -> Expr:
    """a * b in int64; nothing is multiplied by 1."""
    if a == ONE or b == ONE:
        return b if a == ONE else a
    return ScalarOp("mul", "int64", (a, b))


def plus(a: Expr, b: Expr) -> Expr:
    """a + b in int64; nothing is added to 0."""
    if a == ZERO or b == ZERO:
        return b if a == ZERO else a
    return ScalarOp("add", "int64", (a, b))


def minus(a: Expr, b: Expr) -> Expr:
    """a - b in int64."""
    return ScalarOp("sub", "int64", (a, b))


def equal(a: Expr, b: Expr) -> Expr:
    return ScalarOp("eq", "bool", (a, b))


def less(a: Expr, b: Expr) -> Expr:
    return ScalarOp("lt", "bool", (a, b))


def smaller(a: Expr, b: Expr) -> Expr:
    """The lesser of two int64."""
    return ScalarOp("switch", "int64", (less(a, b), a, b))


def every(conditions: Sequence[Expr]) -> Expr:
    """Whether all hold; there is at least one.  Many are taken in halves, so that the expression stays shallow."""
    return _joined("both", conditions)


def some(conditions: Sequence[Expr]) -> Expr:
    """Whether one holds; there is at least one."""
    return _joined("either", conditions)


def _joined(name: str, conditions: Sequence[Expr]) -> Expr:
    if len(conditions) > 16:
        half = len(conditions) // 2
        return ScalarOp(name, "bool", (_joined(name, conditions[:half]), _joined(name, conditions[half:])))
    first, *rest = conditions
    for condition in rest:
        first = ScalarOp(name, "bool", (first, condition))
    return first


def loop(position: int, body: Iterable[Statement], **how: object) -> For:
    """Loop number `position` over its whole extent: index `i<position>`, stop `n<position>`."""
    return For(f"i{position}", ZERO, index(f"n{position}"), tuple(body), **how)  # type: ignore[arg-type]


# --- substitution


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


# --- names


def all_statements(body: Iterable[Statement], outlined: bool = True) -> Iterator[Statement]:
    """Every statement of `body`, those inside of others included, in order.

    `outlined`: whether the bodies of outlined functions are among them.
    """
    stack = list(reversed(tuple(body)))
    while stack:
        s = stack.pop()
        yield s
        if outlined or not isinstance(s, Outlined):
            stack.extend(reversed(_inside(s)))


def own_statements(body: Iterable[Statement]) -> Iterator[Statement]:
    """As `all_statements`, those of outlined functions left out."""
    return all_statements(body, outlined=False)


def _inside(s: Statement) -> Body:
    if isinstance(s, If):
        return s.body + s.orelse
    return s.body if isinstance(s, (For, Outlined)) else ()


def own_names_in(body: Iterable[Statement]) -> Iterator[str]:
    """The locals and arrays that `body` reads or writes through; of outlined functions the arguments alone."""
    for s in own_statements(body):
        yield from names_read(s)


def outlined_in(body: Iterable[Statement]) -> Iterator[Outlined]:
    """The outlined functions of a kernel, in order."""
    return (s for s in own_statements(body) if isinstance(s, Outlined) and s.body)


def operations_in(s: Statement) -> Iterator[ScalarOp | Const]:
    """The operations and constants of the expressions of a statement, those inside of its own body left out."""
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
    """The locals and arrays that a statement reads, those inside of its own body left out."""
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
    """`body` without the Lets and Points that nothing reads."""
    return _pruned(tuple(body), set())


def _pruned(body: Body, used: set[str]) -> Body:
    """One walk from the end: a name is read after the statement that makes it."""
    kept: list[Statement] = []
    for s in reversed(body):
        if isinstance(s, (Let, ElementPointer)):
            if s.name not in used:
                continue
            used.discard(s.name)  # what stands before it means another one of this name
        if isinstance(s, For):
            s = replace(s, body=_pruned(s.body, used))
        elif isinstance(s, If):
            s = replace(s, body=_pruned(s.body, used), orelse=_pruned(s.orelse, used))
        elif isinstance(s, Outlined):
            s = replace(s, body=pruned(s.body))
        used.update(names_read(s))
        kept.append(s)
    return tuple(reversed(kept))
