"""Branches on symbolic values: both are traced, and each value that they assign becomes a choice.

A choice between cheap scalars computes both (`switch`); any other computes one branch (`cond`).  A branch that writes
elements of an array gives the elements and their index, so that the array itself is not copied:

    if c: x[i] = v       -->    v, i = cond(c, (v, i), (x[0], 0));  x[i] = v
    if c: x[a::s] = v    -->    v, a, b, s = cond(c, (v, a, end, s), (0, 0, 0, 1));  x[a:b:s] = v
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .. import ops as T
from ..control.cond import _alike, _Branch
from ..graph import Constant, Variable, toposort
from ..graph.provenance import line, next_number
from ..ops.control.cond import chosen
from ..ops.core.call_lengths import Length
from ..ops.core.checks import shown
from ..ops.core.tensor import as_tensor
from ..ops.core.traced import adopt, as_variable, class_to_keep, joined_class, keep_class
from ..ops.core.tracing import Trace, current
from ..ops.elementwise.casting import Cast
from ..ops.elementwise.pointwise import Elementwise
from ..ops.shapes.indexing import IncSubtensor
from ..ops.shapes.shape import BroadcastTo
from ..ops.shapes.stored import base_of, now
from ..tree import flat, unflat
from .growing.changes import Changed, passes_on, refused, require_one_list
from .growing.lists import grown_of
from .growing.wanted import Wanted, attempts, renew
from .intervals import narrowed
from .saved import LISTS, Saved, contents, inside, is_value
from .undefined import Undefined, defined

_CHEAP = 24
"""Most nodes of a branch whose values are computed although the other is taken."""
_BEFORE, _BEHIND = -(2**63), 2**63 - 1
"""Ends of slices that reach to the first element, and to the last one."""


WHERE = "a branch that depends on values"


def truth(test: Any) -> Any:
    """Return the truth value: a bool if it is known, else a bool scalar.  Raises ValueError for an array."""
    if type(test) in LISTS:
        grown = grown_of(test)
        return bool(test) if grown is None else T.ne(grown.count_now(), 0)
    if not isinstance(test, Variable):
        return bool(defined(test))
    trace: Any = current()
    v = as_tensor(now(trace, test))
    if v.ndim:
        if v.type.shape != (1,) * v.ndim:
            raise ValueError(
                f"The truth value of an array with more than one element is ambiguous. Use a.any() or a.all(): {v!r}"
                f"{line()}"
            )
        v = T.reshape(v, ())
    if isinstance(v, Constant):
        return bool(v.data)
    if v.dtype == "bool":
        return v
    return T.ne(v, 0)


def decided(test: Any) -> bool | None:
    """Return a test by the numbers of the call, which becomes a guard; None if it depends on elements."""
    trace: Any = current()
    known = trace.truths.get(test) if isinstance(test, Variable) else None
    number = trace.numbers.get(test) if isinstance(test, Variable) and known is None else None
    known = known or (number.known if number is not None else None)
    if known is None:
        return None
    trace.require(f"bool({known.text}) is {bool(known.value)}")
    return bool(known.value)


def if_(
    test: Any, then: Callable[[], Any], otherwise: Callable[[], Any], names: Sequence[str],
    get: Callable[[], tuple[Any, ...]], put: Callable[[tuple[Any, ...]], None], seen: Callable[[], tuple[Any, ...]],
) -> None:  # fmt: skip
    """`if test: then  else: otherwise`; `names` are those that they hand on, the first of those of `get` and `put`."""
    chosen_now = truth(test)
    if isinstance(chosen_now, bool):
        (then if chosen_now else otherwise)()
        return
    trace: Any = current()
    known = decided(test) if trace.recursion else None
    if known is not None:
        (then if known else otherwise)()
        return
    wanted = Wanted(trace, Saved(trace, get(), seen()), get, put, WHERE)
    error = attempts(wanted, lambda: _Choice(trace, chosen_now, names, get, put).run(then, otherwise),
                     lambda: decided(test) is not None)  # fmt: skip
    if error is None:
        return
    known = None if passes_on(trace, error) else decided(test)
    if known is None:
        trace.crossed.append(error)
        raise error
    (then if known else otherwise)()


class _Choice:
    """One branch statement in the making."""

    def __init__(
        self, trace: Trace, test: Variable, names: Sequence[str], get: Callable[[], tuple[Any, ...]],
        put: Callable[[tuple[Any, ...]], None],
    ) -> None:  # fmt: skip
        self.trace, self.test, self.names, self.get, self.put = trace, test, names, get, put
        self.before, self.stored = get(), dict(trace.stored)
        self.first: int = next_number()
        self.pairs: list[tuple[Any, Any]] = []

    def run(self, then: Callable[[], Any], otherwise: Callable[[], Any]) -> None:
        trace = self.trace
        saved = trace.saved[-1]
        try:
            one, a_names, a_stored = self._side(then, True)
        except Changed as error:
            if any(items or list(c) for c, items in error.lists):
                raise
            self._side(otherwise, False)  # may say what the lists hold
            if saved.changed():
                raise refused(saved, WHERE) from None
            raise
        if saved.changed():
            raise refused(saved, WHERE)
        other, b_names, b_stored = self._side(otherwise, False)
        trace.stored = dict(self.stored)
        for name, old, (a, _), (b, _) in zip(self.names, self.before, a_names, b_names, strict=False):
            if a is not b:
                require_one_list(_called(name), old, a, b)
        plans = [self._name(*p) for p in zip(self.names, a_names, b_names, strict=True)]
        bases = [b for b in {**a_stored, **b_stored} if self._written(b, a_stored, b_stored)]
        writes = [self._base(b, a_stored.get(b), b_stored.get(b), (one, other)) for b in bases]
        results = self._chosen(one, other)
        self.put((*(plan(results) for plan in plans), *self.before[len(plans) :]))
        for base, write in zip(bases, writes, strict=True):
            trace.stored[base] = write(results)

    def _written(self, base: Any, a: dict[Any, Any], b: dict[Any, Any]) -> bool:
        old = self.stored.get(base)
        return a.get(base) is not old or b.get(base) is not old

    def _side(self, branch: Callable[[], Any], holds: bool) -> Any:
        trace = self.trace
        with narrowed(trace, self.test, holds):
            return self._traced(branch)

    def _traced(self, branch: Callable[[], Any]) -> Any:
        trace = self.trace
        self.put(self.before)
        trace.stored = dict(self.stored)
        trace.open.append(self.put)
        found: list[Any] = []

        def run() -> list[Any]:
            branch()
            renew(trace, self.get, self.put)
            handles = self.get()[: len(self.names)]
            found.append([(v, _now(trace, v)) for v in handles])
            found.append(dict(trace.stored))
            return []

        side = _Branch(run)
        trace.open.pop()
        first = side.marks.first
        stored = {b: v for b, v in found[1].items() if b.number < first}
        return side, found[0], stored

    def _name(self, name: str, a: Any, b: Any) -> Callable[[Sequence[Any]], Any]:
        """Return how the value of a name is made of the results."""
        (own_a, a), (own_b, b) = a, b
        if own_a is own_b or _same(a, b):
            return lambda results: own_a
        shared = [v for v in (own_a, own_b) if isinstance(v, Variable) and v.ndim and base_of(v).number < self.first]
        parts_a: list[Any] = []
        parts_b: list[Any] = []
        if type(a) is Undefined or type(b) is Undefined:
            value = b if type(a) is Undefined else a
            form = flat(value, parts_a, records=None)
            parts_b = [_blank(v) for v in parts_a]
            if value is b:
                parts_a, parts_b = parts_b, parts_a
        else:
            form, other = flat(a, parts_a, records=None), flat(b, parts_b, records=None)
            if form != other:
                raise TypeError(f"{_called(name)} is {shown(a)} in one branch and {shown(b)} in the other; expected "
                                f"values of one form{line()}")  # fmt: skip
        places = []
        for p, q in zip(parts_a, parts_b, strict=True):
            places.append(p if p is q or _same(p, q) else self._pair(name, p, q, shared))
        both = [c for c, *_ in contents((own_a, own_b))]
        is_shared = bool(both) and (name == "_ag_shared" or self._has_seen(both))

        def made(results: Sequence[Any]) -> Any:
            found = unflat(form, iter([_of(p, results) for p in places]))
            if is_shared:
                what = f"{_called(name)} is one of two lists or dicts, by a branch that depends on values"
                also = [c for c, *_ in contents((found,))]
                self.trace.watched += [(c, inside(c), f"{what}, so none of them can be changed{line()}")
                                       for c in (*both, *also)]  # fmt: skip
            return found

        return made

    def _has_seen(self, containers: Sequence[Any]) -> bool:
        """Whether a statement around this one saw any of these lists and dicts."""
        known = {id(c) for saved in self.trace.saved for c, *_ in saved.containers}
        return any(id(c) in known for c in containers)

    def _pair(self, name: str, a: Any, b: Any, shared: Sequence[Variable] = ()) -> _Place:
        for v in (a, b):
            if not is_value(v):
                raise TypeError(f"{_called(name)} is {shown(a)} in one branch and {shown(b)} in the other, by a test "
                                f"of values; expected arrays or numbers{line()}")  # fmt: skip
        try:
            pair = _alike(name, as_variable(a), as_variable(b))
        except TypeError:
            raise TypeError(
                f"{_called(name)} is {shown(a)} in one branch and {shown(b)} in the other; expected one rank and "
                f"dtypes that have one in common{line()}"
            ) from None
        place = self._placed(pair, joined_class(class_to_keep(a), class_to_keep(b)))
        if shared:
            place.frozen = f"{_called(name)} is one of two arrays, by a branch that depends on values"
            self.trace.frozen.update((base_of(v), place.frozen) for v in shared)
        return place

    def _placed(self, pair: tuple[Any, Any], kind: type | None = None) -> _Place:
        self.pairs.append(pair)
        return _Place(len(self.pairs) - 1, kind, self.trace)

    def _base(self, base: Any, a: Any, b: Any, sides: Any) -> Callable[[Sequence[Any]], Any]:
        """Return how the elements of a written array are made of the results."""
        old = self.stored.get(base, base)
        a, b = old if a is None else a, old if b is None else b
        chain_a, chain_b = _writes(a, old), _writes(b, old)
        if (chain_a and b is old) or (chain_b and a is old):
            first = bool(chain_a and b is old)
            steps = [self._write(node, old, first) for node in (chain_a if first else chain_b) or ()]
        elif chain_a and chain_b and len(chain_a) == len(chain_b) == 1 and chain_a[0].op == chain_b[0].op:
            n, m = chain_a[0], chain_b[0]
            pairs = zip(n.inputs[1:], m.inputs[1:], strict=True)
            steps = [(n.op.spec, [self._placed(pair) for pair in pairs])]
        else:
            place = self._placed((a, b))
            return place.of

        def write(results: Sequence[Any]) -> Any:
            found = old
            for spec, places in steps:
                value, *index = [p.of(results) for p in places]
                found = IncSubtensor(spec, set=True)(found, value, *index)
            return found

        return write

    def _write(self, node: Any, old: Any, first: bool) -> tuple[tuple[str, ...], list[_Place]]:
        """Return how a write indexes, and the places of its value and its index.

        The other branch writes an element that it reads, or writes to no element.
        """
        spec, mine = node.op.spec, [_number_in(node.inputs[1]), *node.inputs[2:]]
        zero, one = T.constant(0, "int64"), T.constant(1, "int64")
        if _names_an_element(spec, old):
            theirs = [T.getitem(old, (0,) * old.ndim), *[zero] * old.ndim]
        else:
            first_axis = spec[0] if spec else "s000"
            start, stop, step = (e == "1" for e in first_axis[1:])
            if not stop:
                back = T.lt(mine[1 + start], 0) if step else False
                mine.insert(1 + start, T.switch(back, T.constant(_BEFORE, "int64"), T.constant(_BEHIND, "int64")))
            spec = (f"s{start:d}1{step:d}", *spec[1:])
            theirs = [T.zeros_like(mine[0]), *[zero] * (start + 1), *[one] * step, *mine[start + step + 2 :]]
        pairs = zip(mine, theirs, strict=True)
        return spec, [self._placed(pair if first else pair[::-1]) for pair in pairs]

    def _chosen(self, one: Any, other: Any) -> list[Any]:
        if not self.pairs:
            return []
        firsts, seconds = [p[0] for p in self.pairs], [p[1] for p in self.pairs]
        if all(v.ndim == 0 for v in (*firsts, *seconds)) and _is_cheap(one, firsts) and _is_cheap(other, seconds):
            return [T.switch(self.test, a, b) for a, b in self.pairs]
        self.trace.graphs += 2
        outside: dict[Variable, Variable] = {}
        inner = [one.inner(firsts, outside), other.inner(seconds, outside)]
        results = list(chosen(self.test, list(outside.values()), list(outside), *inner))
        for r, pair in zip(results, self.pairs, strict=True):
            adopt(self.trace, r)
            if r.dtype == "int64" and not r.ndim:
                self.trace.choices[r] = pair
        return results


class _Place:
    """A result of a choice, and its type as `class_to_keep` gives it."""

    def __init__(self, index: int, kind: type | None, trace: Trace) -> None:
        self.index, self.kind, self.trace = index, kind, trace
        self.frozen = ""

    def of(self, results: Sequence[Any]) -> Any:
        found = results[self.index]
        keep_class(self.trace, found, self.kind)
        if self.frozen:
            self.trace.frozen[found] = self.frozen
        return found


def _of(place: Any, results: Sequence[Any]) -> Any:
    return place.of(results) if isinstance(place, _Place) else place


def _now(trace: Trace, value: Any) -> Any:
    """Return a value with the elements that its arrays have now."""
    if isinstance(value, Variable):
        return now(trace, value)
    leaves: list[Any] = []
    if type(value) not in (list, tuple, dict):
        return value
    form = flat(value, leaves, records=None)
    return unflat(form, iter([now(trace, v) for v in leaves]))


def _blank(value: Any) -> Any:
    if isinstance(value, Variable) or type(value) is Length:
        found = T.zeros_like(as_variable(value))
        keep_class(current(), found, class_to_keep(value))  # type: ignore[arg-type]
        return found
    return type(value)() if isinstance(value, (bool, int, float, complex)) else value


def _same(a: Any, b: Any) -> bool:
    """Whether two values are one constant."""
    if isinstance(a, Variable) or isinstance(b, Variable) or type(a) is not type(b) or type(a) is Length:
        return False
    if isinstance(a, (bool, int, str, type(None))):
        return bool(a == b)
    return isinstance(a, float) and repr(a) == repr(b)


def _called(name: str) -> str:
    known = {"_ag_result": "the result", "_ag_choice": "the conditional expression"}
    return known.get("_ag_choice" if name == "_ag_shared" else name, f"the variable {name!r}")


def _writes(new: Any, old: Any) -> list[Any] | None:
    """Return the writes of numbers to elements or to slices that make one array of another; None for other ways."""
    found: list[Any] = []
    while new is not old:
        node = new.owner
        if node is None or type(node.op) is not IncSubtensor or not node.op.set or len(found) >= 4:
            return None
        spec = node.op.spec
        if _number_in(node.inputs[1]) is None or not (
            _names_an_element(spec, new) or all(e[0] == "s" for e in spec)
        ):
            return None
        found.append(node)
        new = node.inputs[0]
    return found[::-1]


def _names_an_element(spec: tuple[str, ...], x: Variable) -> bool:
    return len(spec) == x.ndim and all(e == "i" for e in spec)


def _number_in(value: Variable) -> Variable | None:
    """Return the scalar that a value repeats, or is itself; None for other arrays."""
    if value.ndim and value.owner is not None and type(value.owner.op) is BroadcastTo:
        value = value.owner.inputs[0]
    return None if value.ndim else value


def _is_cheap(side: Any, values: Sequence[Variable]) -> bool:
    """Whether a branch computes few scalars, none of which can fail."""
    foreign = side._foreign(values)
    nodes = toposort(values, stop_at=foreign)
    return len(nodes) <= _CHEAP and all(
        isinstance(n.op, (Elementwise, Cast)) and not n.op.fallible and not n.outputs[0].ndim for n in nodes
    )


# --- expressions


class _Cell:
    """A variable that the branches of an expression assign."""

    def __init__(self) -> None:
        self.value: Any = Undefined("value")

    def get(self) -> tuple[Any]:
        return (self.value,)

    def put(self, values: tuple[Any, ...]) -> None:
        (self.value,) = values

    def assign(self, value: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            self.value = value()

        return run


def choice(test: Any, then: Callable[[], Any], otherwise: Callable[[], Any], is_new: bool = False) -> Any:
    """`then if test else otherwise`; `is_new`: lists that these give are theirs alone."""
    found = truth(test)
    if isinstance(found, bool):
        return then() if found else otherwise()
    cell = _Cell()
    name = "_ag_choice" if is_new else "_ag_shared"
    if_(test, cell.assign(then), cell.assign(otherwise), (name,), cell.get, cell.put, tuple)
    return cell.value


def and_(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first and ...`; the rest is computed only if it decides."""
    value = first
    for k, one in enumerate(rest):
        found = truth(value)
        if isinstance(found, bool):
            if not found:
                return value
            value = one()
            continue
        return choice(found, partial(_joined, and_, rest[k:]), partial(itself, value))
    return value


def or_(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first or ...`; the rest is computed only if it decides."""
    value = first
    for k, one in enumerate(rest):
        found = truth(value)
        if isinstance(found, bool):
            if found:
                return value
            value = one()
            continue
        return choice(found, partial(itself, value), partial(_joined, or_, rest[k:]))
    return value


def _joined(word: Callable[..., Any], operands: Sequence[Callable[[], Any]]) -> Any:
    return word(operands[0](), *operands[1:])


def itself(value: Any) -> Any:
    """Return the value: a branch that computes nothing."""
    return value


def has_items(value: Any) -> Any:
    """Return whether a list that changes by values has items, as the operand of a test; other values as they are."""
    return truth(value) if type(value) in LISTS else value


def not_(value: Any) -> Any:
    """`not value`."""
    found = truth(value)
    if isinstance(found, bool):
        return not found
    trace, made = current(), T.logical_not(found)
    keep_class(trace, made, bool)  # type: ignore[arg-type]
    return made


def any_of(*flags: Any) -> Any:
    """Whether one of the flags is set; flags are no expressions that can fail."""
    found: Any = False
    for flag in flags:
        one = False if type(flag) is Undefined else truth(flag)
        if one is True:
            return True
        if one is not False:
            found = one if found is False else T.logical_or(found, one)
    return found


def none_of(*flags: Any) -> Any:
    """Whether none of the flags is set."""
    return not_(any_of(*flags))
