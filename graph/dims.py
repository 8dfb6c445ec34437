"""Dims: lengths of axes as small symbolic expressions, for static knowledge about shapes.

    Dim ::= int                       known
          | extent(variable, axis)    the length of an axis of a leaf, or of an output whose length depends on values
          | value(variable)           the value of an integer scalar variable
          | broadcast(a, b, ...)      the joint length of operands
          | add | sub | mul | floordiv | maximum | minimum (a, b)

Dims are interned, so `is` (and `==`) is equality, and equal Dims are equal lengths in every run that raises no error.
One rule an op (`Op.dims`) serves two ends: proofs that two shapes are the same, and symbolic shapes (`v.shape`) that
are computed without computing the value.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar, Union
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from .node import Apply, Variable


_serials = itertools.count()


class Symbol:
    """A symbolic length: an interned (kind, arguments), made by the functions below."""

    __slots__ = ("kind", "args", "serial", "of_leaves", "natural", "computed", "__weakref__")

    def __init__(self, kind: str, args: tuple[object, ...]) -> None:
        self.kind: str = kind
        self.args: tuple[object, ...] = args
        self.serial: int = next(_serials)  # an order that is the same in every process, as addresses are not
        self.of_leaves: bool = all(map(_of_leaves, args))
        """Whether it refers to leaves only, so that it means the same for every node that depends on them."""
        self.natural: bool = _NATURAL[kind](map(is_length, args)) if kind in _NATURAL else kind == "extent"  # type: ignore[arg-type]
        """Whether it is certainly not negative, as follows from its parts one by one."""
        self.computed: Callable[[], Variable | None] = _nothing
        """A weak reference to the scalar that computes it: lengths that build on one another share their nodes."""

    def __repr__(self) -> str:
        parts = (f"{a.kind}(...)" if isinstance(a, Symbol) else str(getattr(a, "name", None) or a) for a in self.args)
        return f"{self.kind}({', '.join(parts)})"

    def __reduce__(self) -> tuple[object, ...]:
        return (_symbol, (self.kind, *self.args))


_NATURAL: dict[str, Callable[[Iterator[bool]], bool]] = {
    "broadcast": all, "add": all, "mul": all, "minimum": all, "maximum": any, "floordiv": all,
}
"""Test of the parts of a symbol that makes it a length; divisors are positive."""

Dim = Union[int, Symbol]


def _nothing() -> None:
    """Stand-in for a weak reference."""


def _of_leaves(argument: object) -> bool:
    if isinstance(argument, int):
        return True
    if isinstance(argument, Symbol):
        return argument.of_leaves
    return argument.owner is None  # type: ignore[attr-defined]


_interned: WeakValueDictionary[tuple[object, ...], Symbol] = WeakValueDictionary()


def _symbol(kind: str, *args: object) -> Symbol:
    # A key must not hold what the symbol is about: a variable holds its own lengths, so nothing would ever be freed.
    # The symbol holds it, which makes the address unique for as long as the entry lives.
    key = (kind, *[a if isinstance(a, int) else (id(a),) for a in args])
    found = _interned.get(key)
    if found is None:
        found = _interned.setdefault(key, Symbol(kind, args))
    return found


def extent(variable: Variable, axis: int) -> Dim:
    """The length of `axis` of `variable`, as an atom."""
    known = variable.type.shape[axis]
    return _symbol("extent", variable, axis) if known is None else known


def value(variable: Variable, natural: bool = False) -> Dim:
    """The value of an integer scalar variable; an int for a constant.  `natural`: it is certainly not negative."""
    data = getattr(variable, "data", None) if variable.owner is None else None  # constants are leaves
    if data is not None:
        return int(data)
    symbol = _symbol("value", variable)
    symbol.natural |= natural
    return symbol


def broadcast(dims: Iterable[Dim]) -> Dim:
    """The joint length of operands of these lengths.

    Lengths that cannot agree are found when types are inferred, or at run time.
    """
    distinct: dict[Dim, None] = dict.fromkeys(dims)
    if len(distinct) == 1:
        return next(iter(distinct))
    symbols: dict[Symbol, None] = {}
    joint: Symbol | None = None
    for dim in distinct:
        if isinstance(dim, int):
            if dim != 1:
                return dim
        elif dim.kind == "broadcast":
            symbols.update(dict.fromkeys(dim.args))  # type: ignore[arg-type]
            joint = dim
        else:
            symbols[dim] = None
    if not symbols:
        return 1
    if len(symbols) == 1:
        return next(iter(symbols))
    if joint is not None and len(symbols) == len(joint.args):  # it has all the others
        return joint
    return _symbol("broadcast", *sorted(symbols, key=_serial))


_serial = operator.attrgetter("serial")


def add(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if b == 0:
        return a
    if a == 0:
        return b
    if isinstance(a, int):  # the number stands on the right
        a, b = b, a
    if isinstance(b, int) and isinstance(a, Symbol) and a.kind == "add" and isinstance(a.args[1], int):
        return add(a.args[0], a.args[1] + b)  # type: ignore[arg-type]
    return _symbol("add", a, b)


def sub(a: Dim, b: Dim) -> Dim:
    if isinstance(b, int):
        return add(a, -b)
    (term, number), (other, less) = with_number(a), with_number(b)
    return number - less if term is other else _symbol("sub", a, b)


def with_number(dim: Dim) -> tuple[Dim, int]:
    """A dim as the sum of another one and a number."""
    if isinstance(dim, Symbol) and dim.kind == "add" and isinstance(dim.args[1], int):
        return dim.args[0], dim.args[1]  # type: ignore[return-value]
    return dim, 0


def mul(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if isinstance(a, int):
        a, b = b, a
    if isinstance(b, int) and b in (0, 1):
        return a if b == 1 else 0
    return _symbol("mul", a, b)


_WIDEST = 1 << 31
"""Largest divisor of a quotient of quotients that becomes one: lengths are int64 scalars in a graph."""


def floordiv(a: Dim, b: Dim) -> Dim:
    """a // b for b > 0.

    Multiples of b stand outside: (n - 1) // 2 + 1 is (n + 1) // 2, which is surely a length.  Quotients of quotients
    are one: (n // 2 + 1) // 2 is (n + 2) // 4.
    """
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if isinstance(b, int) and b == 1:
        return a
    if isinstance(b, int):
        term, number = with_number(a)
        if isinstance(term, Symbol) and term.kind == "floordiv":
            inner, divisor = term.args
            if isinstance(divisor, int) and divisor * b < _WIDEST:
                return floordiv(add(inner, number * divisor), divisor * b)  # type: ignore[arg-type]
        if not 0 <= number < b:
            return add(floordiv(add(term, number % b), b), number // b)
    return 1 if a is b else _symbol("floordiv", a, b)


def maximum(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    if isinstance(a, int):
        a, b = b, a
    if a is b or (isinstance(b, int) and b <= 0 and is_length(a)):
        return a
    return _symbol("maximum", a, b)


def minimum(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    if isinstance(a, int):
        a, b = b, a
    return a if a is b else _symbol("minimum", a, b)


_OPERATIONS: dict[str, Callable[[Dim, Dim], Dim]] = {
    "add": add, "sub": sub, "mul": mul, "floordiv": floordiv, "maximum": maximum, "minimum": minimum,
}  # fmt: skip


def product(dims: Iterable[Dim]) -> Dim:
    result: Dim = 1
    for dim in dims:
        result = mul(result, dim)
    return result


_Result = TypeVar("_Result")


def fold(
    dim: Dim, leaf: Callable[[Dim], _Result], combine: Callable[[str, Sequence[_Result]], _Result]
) -> _Result:
    """Return `combine(kind, results of the operands)` of a Dim, bottom-up; `leaf` gives that of an atom or int."""
    made: dict[Dim, _Result] = {}
    stack = [dim]
    while stack:
        current = stack[-1]
        if isinstance(current, int) or current.kind in ("extent", "value"):
            made[current] = leaf(current)
        elif missing := [a for a in current.args if a not in made]:
            stack.extend(missing)  # type: ignore[arg-type]
            continue
        else:
            made[current] = combine(current.kind, [made[a] for a in current.args])  # type: ignore[index]
        stack.pop()
    return made[dim]


def atoms(dim: Dim) -> list[Symbol]:
    """Return the lengths and values of variables that a Dim is computed from."""
    found: dict[Symbol, None] = {}
    seen: set[object] = set()
    stack: list[object] = [dim]
    while stack:
        part = stack.pop()
        if isinstance(part, Symbol) and part not in seen:
            seen.add(part)
            if part.kind in ("extent", "value"):
                found[part] = None
            else:
                stack.extend(part.args)
    return list(found)


def substituted(dim: Dim, replace: Callable[[Symbol], Dim | None]) -> Dim | None:
    """Return `dim` with its atoms replaced; None if one of them has no replacement, or a divisor becomes 0."""

    def combined(kind: str, parts: Sequence[Dim | None]) -> Dim | None:
        known = [p for p in parts if p is not None]
        if len(known) < len(parts) or (kind == "floordiv" and known[1] == 0):
            return None
        return broadcast(known) if kind == "broadcast" else functools.reduce(_OPERATIONS[kind], known)

    return fold(dim, lambda atom: atom if isinstance(atom, int) else replace(atom), combined)


def is_length(dim: Dim) -> bool:
    """Return whether the value is certainly not negative."""
    return dim >= 0 if isinstance(dim, int) else dim.natural


def opaque_dims(variable: Variable) -> tuple[Dim, ...]:
    """The lengths of `variable` as unknown lengths read from it: the fallback where nothing is known."""
    return tuple(extent(variable, axis) for axis in range(len(variable.type.shape)))


def broadcast_dims(shapes: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
    """NumPy's broadcasting of whole shapes, aligned at the right."""
    if len(shapes) == 1:
        return shapes[0]
    broadcasting = [shape for shape in shapes if shape]
    if broadcasting and broadcasting.count(broadcasting[0]) == len(broadcasting):
        return broadcasting[0]
    ndim = max(map(len, shapes), default=0)
    return tuple(
        broadcast([shape[axis - ndim] for shape in shapes if len(shape) >= ndim - axis]) for axis in range(ndim)
    )


def dims_of(variable: Variable) -> tuple[Dim, ...]:
    """The lengths of `variable` in terms of the leaves it depends on, memoized per node."""
    known = variable._dims
    if known is not None:
        return known
    if variable.owner is None:
        variable._dims = opaque_dims(variable)
        return variable._dims
    for node in _unknown_above(variable.owner):
        results = node.op.dims(node, [dims_of(i) if (known := i._dims) is None else known for i in node.inputs])
        for output, dims in zip(node.outputs, results, strict=True):
            # A length that type inference knows wins: it may look into constants that the shape rule does not.
            shape = output.type.shape
            if len(shape) != len(dims) or shape.count(None) < len(shape):
                dims = tuple([d if n is None else n for d, n in zip(dims, shape, strict=True)])
            output._dims = dims
    return variable._dims  # type: ignore[return-value]


def carry_dims(olds: Sequence[Variable], news: Sequence[Variable]) -> None:
    """Copy the known lengths of a node's outputs to an equal node on operands of the same lengths.

    What speaks of the old nodes is not said again: it would keep them alive, and rules would build upon them.
    """
    for old, new in zip(olds, news):
        dims = old._dims
        for dim in dims or ():
            if dim.__class__ is not int and not dim.of_leaves:  # type: ignore[union-attr]
                break
        else:
            new._dims = dims


def lengths_may_differ(new: Variable, old: Variable) -> bool:
    """Return whether exchanging an operand for one of the same type may change the lengths of a node's outputs.

    Lengths may depend on the value of a whole number.
    """
    shape = new.type.shape
    if not shape:
        return new.type.dtype[0] in "iu"
    return (new._dims is None or new._dims != old._dims) and None in shape


def _unknown_above(node: Apply) -> list[Apply]:
    """`node` and its ancestors whose lengths are not computed yet, inputs first."""
    order: list[Apply] = []
    seen = {node}
    waiting = [(node, iter(node.inputs))]  # the path from `node` to the node in work, with the inputs still to visit
    while waiting:
        current, rest = waiting[-1]
        for i in rest:
            above = i.owner
            if above is not None and i._dims is None and above not in seen:
                seen.add(above)
                waiting.append((above, iter(above.inputs)))
                break
        else:
            order.append(current)
            waiting.pop()
    return order


def same_shape(a: Variable, b: Variable) -> bool:
    """Return whether the two certainly have the same shape whenever both can be computed."""
    return len(a.type.shape) == len(b.type.shape) and dims_of(a) == dims_of(b)
