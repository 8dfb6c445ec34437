"""The loop IR: kernels before they are C text.  Lowering builds it, `emit.py` prints it.

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
                | Break()                                break;
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

from collections.abc import Iterable, Sequence

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
    """A call for its side effect."""

    value: Expr


@record(slots=True)
class For:
    """Runs `body` for `index` in start, start + step, ... below stop.

    `simd`: iterations may run in any order and together, apart from the accumulators that `reductions` names as
    (operator, local) pairs.  `lanes`: how many together; None: as many as the compiler likes.  `unroll`: copies of the
    body between two jumps, which the compiler makes.  `jammed`: whether several steps stand side by side in the body,
    in an order that the compiler is to keep.
    """

    index: str
    start: Expr
    stop: Expr
    body: tuple[Statement, ...]
    step: int | Expr = 1
    simd: bool = False
    reductions: tuple[tuple[str, str], ...] = ()
    lanes: int | None = None
    unroll: int = 1
    jammed: bool = False


@record(slots=True)
class If:
    condition: Expr
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...] = ()


@record(slots=True)
class Outlined:
    """A call of an outlined function of the kernel; two compilers may compile the two functions in parallel.

    `arguments` are the parameters of the kernel, in order, and have the same names in `body`.  Without a body it is
    another call of the function: its arguments are then names or numbers.
    """

    name: str
    arguments: tuple[str, ...]
    body: tuple[Statement, ...]


@record(slots=True)
class Break:
    """Leaves the innermost loop."""


@record(slots=True)
class Return:
    value: Expr


Statement = Let | Var | Declare | ElementPointer | Assign | Store | Do | For | If | Outlined | Break | Return
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
    """Return a * b in int64, simplified if a factor is 1."""
    if a == ONE or b == ONE:
        return b if a == ONE else a
    return ScalarOp("mul", "int64", (a, b))


def plus(a: Expr, b: Expr) -> Expr:
    """Return a + b in int64, simplified if a term is 0."""
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
    """Return the smaller of two int64."""
    return ScalarOp("switch", "int64", (less(a, b), a, b))


def every(conditions: Sequence[Expr]) -> Expr:
    """Return the conjunction of one or more conditions, as a balanced tree, which keeps the expression shallow."""
    return _joined("both", conditions)


def some(conditions: Sequence[Expr]) -> Expr:
    """Return the disjunction of one or more conditions."""
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


# --- names
