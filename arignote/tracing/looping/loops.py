"""Loops of a traced function: a few constant steps one by one, all others as one `scan` or `while_loop`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...graph.provenance import line
from ...ops.core.tracing import current
from ..branches import decided, if_, truth
from ..growing.changes import passes_on
from ..growing.lists import grown_of
from ..growing.methods import append
from ..growing.wanted import Wanted, attempts
from ..iterables import Steps, counted_from, part_of, steps_of
from ..saved import Saved
from .bodies import Loop
from .unrolling import MOST, UNROLLED, ForStatement, Get, Put, few_steps, known_steps, nothing, one_by_one

_MOST_INSIDE = 32
"""Most steps of a loop that is no loop of arrays, which are traced one by one, inside another loop."""


def for_(
    iterable: Any, body: Callable[[Any], None], stop: Callable[[], Any] | None, names: Sequence[str], get: Get,
    put: Put, seen: Get,
) -> None:  # fmt: skip
    """`for item in iterable: body(item)` until `stop` holds; `names` are those that the loop hands on."""
    counted = counted_from(iterable)
    if counted is not None:
        _counting(*counted, body, stop, names, get, put, seen)
        return
    statement = ForStatement(body, stop, names, get, put, seen)
    steps = steps_of(iterable, UNROLLED)
    if steps is None and type(iterable) is range and len(iterable) > 1 and current() is not None:
        if few_steps(iterable, statement):
            return
        steps = part_of(iterable)
    if steps is None:
        one_by_one(iterable, statement)
        return
    trace: Any = current()
    most = MOST if trace.depth == 0 else _MOST_INSIDE
    wanted = Wanted(trace, Saved(trace, get(), seen()), get, put, "a loop whose end depends on values")
    error = attempts(wanted, lambda: Loop(trace, names, get, put, body).over(steps, body, stop),
                     lambda: _unrolls(trace, steps, most))  # fmt: skip
    if error is None:
        return
    count = None if passes_on(trace, error) else steps.known(most)
    if count is None:
        trace.crossed.append(error)
        raise error
    one_by_one([steps.at(k) for k in range(count)], statement)


def _unrolls(trace: Any, steps: Steps, most: int) -> bool:
    """Whether a loop that changes lists is to be traced step by step."""
    if not trace.unrolls:
        trace.may_unroll = True
        return False
    return steps.known(most) is not None


def _counting(
    start: Any, step: Any, body: Callable[[Any], None], stop: Callable[[], Any] | None, names: Sequence[str], get: Get,
    put: Put, seen: Get,
) -> None:  # fmt: skip
    """`for number in itertools.count(start, step): body(number)` until `stop` holds: a `while` with a number."""
    number = [start]

    def one() -> None:
        body(number[0])
        number[0] = number[0] + step

    def put_all(values: tuple[Any, ...]) -> None:
        number[0] = values[0]
        put(values[1:])

    while_(lambda: True, one, stop, ("the number of steps", *names), lambda: (number[0], *get()), put_all, seen)
    ended = None if stop is None else stop()
    put(tuple(True if v is ended and v is not False else v for v in get()))  # by `return` alone: nothing else follows


def while_(
    test: Callable[[], Any], body: Callable[[], None], stop: Callable[[], Any] | None, names: Sequence[str], get: Get,
    put: Put, seen: Get,
) -> None:  # fmt: skip
    """`while test(): body()` until `stop` holds."""

    def goes_on() -> Any:
        ended = False if stop is None else truth(stop())
        if ended is True:
            return False
        if ended is False:
            return truth(test())
        cell: list[Any] = [False]

        def asked() -> None:
            cell[0] = truth(test())

        if_(ended, nothing, asked, ("go",), lambda: (cell[0],), lambda v: cell.__setitem__(0, v[0]), tuple)
        return cell[0]

    trace: Any = current()
    wanted = Wanted(trace, Saved(trace, get(), seen()), get, put, "a loop whose end depends on values")

    def run() -> None:
        if not wanted.lists and not wanted.inside and known_steps(wanted, goes_on, body, put):
            return
        Loop(trace, names, get, put, body).while_(goes_on, body)

    error = attempts(wanted, run, lambda: False)
    if error is not None:
        trace.crossed.append(error)
        raise error


class UnknownLength(TypeError):
    """Python cannot go along a comprehension, since values decide what it gives."""


def items(iterable: Any, most: int = MOST) -> Any:
    """The items that a comprehension goes along.  Raises UnknownLength if there may be more than `most`."""
    steps = steps_of(iterable, UNROLLED)
    if steps is None:
        return iterable
    count = steps.known(most)
    if count is None:
        raise UnknownLength(f"a comprehension whose length depends on values; fill an array in a loop{line()}")
    return [steps.at(k) for k in range(count)]


def add_to(made: list[Any], value: Any) -> None:
    """`made.append(value)`, also of a list that changes by values."""
    grown = grown_of(made)
    made.append(value) if grown is None else append(grown, value)


def listed(iterable: Any, test: Callable[[Any], Any] | None, item: Callable[[Any], Any]) -> list[Any]:
    """`[item(v) for v in iterable if test(v)]`; a list that changes by values if values decide its length."""
    steps = steps_of(iterable, UNROLLED)
    if steps is None and test is None:
        return [item(v) for v in iterable]
    known = list(iterable) if steps is None else None
    count = None if steps is None else steps.known(MOST)
    if known is None and count is not None:
        known = [steps.at(k) for k in range(count)]  # type: ignore[union-attr]
    if known is not None and test is None:
        return [item(v) for v in known]
    trace: Any = current()
    if known is not None and test is not None and trace is not None:
        tests = [truth(test(v)) for v in known]
        found = [t if isinstance(t, bool) else decided(t) for t in tests]
        if None not in found:
            return [item(v) for v, keeps in zip(known, found, strict=True) if keeps]
    made: list[Any] = []

    def add(v: Any) -> None:
        add_to(made, item(v))

    def body(v: Any) -> None:
        if test is None:
            add(v)
        else:
            if_(test(v), lambda: add(v), nothing, (), tuple, lambda _: None, lambda: (made,))

    source = iterable if steps is not None or known is None else known
    for_(source, body, None, (), tuple, lambda _: None, lambda: (made,))
    return made


def kept(test: Any) -> bool:
    """Return whether a comprehension keeps an item: the truth value of its condition, which must be known."""
    found = truth(test)
    found = found if isinstance(found, bool) else decided(test)
    if found is None:
        raise UnknownLength(
            "a comprehension keeps items by their values, so its length would depend on them; select by a mask, as in "
            f"x[x > 0], or fill an array in a loop{line()}"
        )
    return found
