"""Python's own values of numbers of the call, where Python needs them: texts, keys of dicts, members of sets and lists.

    f"{n}"    {n: 1}    len({n, m})    [1, 2].index(n)    -->    the same with the value of n, which becomes a guard
"""

from __future__ import annotations

import re
import warnings
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ... import ops as T
from ...graph import Variable
from ...graph.provenance import line
from ...ops.core.traced import held, in_text, is_symbolic, known_of, python_number
from ...ops.core.tracing import current
from ...record import lazy
from ...tree import flat, has_variable, unflat

calls: Any = lazy.module("...calls", __name__)
_SPEC = re.compile(r"%(?P<name>\(\w+\))?[#0\- +]*\d*(?:\.\d+)?(?P<kind>[a-zA-Z%])")
"""A conversion of `%`, but for lengths given as `*`."""
_KINDS: dict[type, type] = {
    **dict.fromkeys((dict, Counter, OrderedDict, defaultdict), dict), set: set, frozenset: set, str: str,
    **dict.fromkeys((list, tuple, deque), list),
}
"""The class whose methods an object has, as `_METHODS` names it."""


def key(value: Any) -> Any:
    """A key of a dict or a member of a set, in a display."""
    return value if current() is None else plain(value, "hash, which a dict or set needs")


def plain(value: Any, what: str) -> Any:
    """Return a value with Python's in the place of symbolic ones.  Raises TypeError for those that vary."""
    if is_symbolic(value):
        known = known_of(value)
        if known is None and what == "text":
            return _Description(in_text(value))
        if known is None:
            fix = _WAYS.get(what.split(",", maxsplit=1)[0], "")
            raise TypeError(f"{value!r} is symbolic and has no {what}{fix}{line()}")
        return held(known)
    if type(value) not in (tuple, list, dict):
        return value
    leaves: list[Any] = []
    form = flat(value, leaves, records=None)
    return unflat(form, iter([plain(v, what) for v in leaves]))


_WAYS = {
    "hash": "; use an array with its values as indices, np.bincount(x), or np.unique(x, return_counts=True)",
    "equality": "; use np.flatnonzero(x == value)",
}
"""How to do without what symbolic values lack."""


class _Description(str):
    """Description of a symbolic value in a text for people, in any format."""

    __slots__ = ()

    def __format__(self, form: str) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self)


class BinaryText:
    """Text of `bin(x)`, of which a program counts the digits."""

    __slots__ = ("_x",)

    def __init__(self, x: Any) -> None:
        self._x = x

    def count(self, digit: str) -> Any:
        """Return the number of digits "1" or "0", or of other texts, which it does not hold."""
        ones = self._x.bit_count()
        if digit == "0":  # beside those of "0b"
            return self._x.bit_length() - ones + python_number(T.cast(T.eq(self._x, 0), "int64")) + 1
        return ones if digit == "1" else int(digit in ("", "b", "0b"))

    def __getattr__(self, name: str) -> Any:
        raise TypeError(f"bin({self._x!r}).{name}: the text depends on values; bin(x).count(\"1\") is a number{line()}")


def showing(make: Callable[[], Any]) -> Any:
    """Call `make`, whose texts are for people: they say what a symbolic value is.

    It gives no warning in a branch or loop that depends on values, which a trace takes in any case.
    """
    trace = current()
    if trace is None:
        return make()
    trace.showing += 1
    try:
        with warnings.catch_warnings() if trace.open else nullcontext():
            if trace.open:
                warnings.simplefilter("ignore")
            return make()
    finally:
        trace.showing -= 1


def written(form: Any, values: Any) -> Any:
    """`form % values`.  In a text for people, symbolic values say what they are: `%.2f` is `%s` for them."""
    trace = current()
    if trace is None or not (is_symbolic(values) or has_variable(values)):
        return form % values
    if not trace.showing:
        return form % plain(values, "text")
    parts = iter(values if type(values) is tuple else (values,))

    def spec(found: re.Match[str]) -> str:
        if found["kind"] == "%":
            return found[0]
        value = values[found["name"][1:-1]] if found["name"] else next(parts)
        varies = isinstance(value, Variable) and known_of(value) is None
        return f"%{found['name'] or ''}s" if varies else found[0]

    return _SPEC.sub(spec, form) % values


def in_python(f: Any) -> Callable[..., Any] | None:
    """Return a call of `f`, with the same arguments, that gives it Python's values; None if it takes symbolic ones.

    An argument, or what it is a method of, holds symbolic values.
    """
    owner = getattr(f, "__self__", None)
    kind = _KINDS.get(type(owner))
    if kind is not None:
        method = _METHODS.get((kind, f.__name__))
        return None if method is None else lambda *rest, **options: method(owner, f, *rest, **options)
    try:
        made = _FUNCTIONS.get(f)
    except TypeError:  # what cannot be hashed
        return None
    return None if made is None else lambda *rest, **options: made(f, *rest, **options)


def hashes(f: Any) -> bool:
    """Whether a call hashes what its arguments hold: `set(values)`, `d.update(values)`."""
    if _KINDS.get(type(getattr(f, "__self__", None))) in (dict, set):
        return True
    return isinstance(f, type) and f in _HASHING


def _keyed(pairs: Any) -> Any:
    """Return the argument of a dict with Python's values as keys."""
    return pairs if hasattr(pairs, "keys") else [(key(k), v) for k, v in pairs]


def _members(values: Any) -> Any:
    return values if hasattr(values, "keys") else [key(v) for v in values]


def _removed(owner: Any, f: Any, value: Any) -> None:
    del owner[plain(list(owner), "equality").index(plain(value, "equality"))]


def _sorted_in_place(owner: Any, f: Any, *, key: Any = None, reverse: bool = False) -> None:
    owner[:] = calls.call(sorted, owner, key=key, reverse=reverse)


def _binary(f: Any, x: Any) -> Any:
    known = known_of(x)
    return BinaryText(x) if known is None else f(held(known))


_HASHING = frozenset((set, frozenset, dict, OrderedDict, Counter))
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{f: lambda f, *args: f(*(plain(a, "text") for a in args)) for f in (str, repr, ascii, format)},
    hash: lambda f, x: f(key(x)), bin: _binary,
    **{f: lambda f, *args: f(*map(_members, args)) for f in (set, frozenset)},
    Counter: lambda f, *args, **more: f(*map(_members, args), **more),
    **{f: lambda f, *args, **more: f(*map(_keyed, args), **more) for f in (dict, OrderedDict)},
}
_METHODS: dict[tuple[type, str], Callable[..., Any]] = {
    **{(dict, n): lambda owner, f, k, *rest: f(key(k), *rest) for n in ("get", "pop", "setdefault", "__getitem__")},
    (dict, "update"): lambda owner, f, *args, **more: f(
        *map(_members if type(owner) is Counter else _keyed, args), **more
    ),
    **{(set, n): lambda owner, f, *args: f(*map(key, args)) for n in dir(set) if not n.startswith("_")},
    **{(str, n): lambda owner, f, *args, **more: f(
        *(plain(a, "text") for a in args), **{k: plain(v, "text") for k, v in more.items()}
    ) for n in dir(str) if not n.startswith("_")},
    **{(list, n): lambda owner, f, *args: getattr(plain(list(owner), "equality"), f.__name__)(
        *(plain(a, "equality") for a in args)
    ) for n in ("count", "index")},
    (list, "remove"): _removed, (list, "sort"): _sorted_in_place,
}  # fmt: skip
