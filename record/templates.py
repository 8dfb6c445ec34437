"""`__init__` of records, by the number of fields; a letter stands for the name of a field, as a variable and as a text.

They are compiled once, with this file; record/__init__.py puts the names of a class in the place of the letters.
"""

from __future__ import annotations

from typing import Any

put = object.__setattr__


def none(self: Any) -> None:
    pass


def one(self: Any, a: Any) -> None:
    put(self, "a", a)


def two(self: Any, a: Any, b: Any) -> None:
    put(self, "a", a), put(self, "b", b)


def three(self: Any, a: Any, b: Any, c: Any) -> None:
    put(self, "a", a), put(self, "b", b), put(self, "c", c)


def four(self: Any, a: Any, b: Any, c: Any, d: Any) -> None:
    put(self, "a", a), put(self, "b", b), put(self, "c", c), put(self, "d", d)


def five(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> None:
    put(self, "a", a), put(self, "b", b), put(self, "c", c), put(self, "d", d), put(self, "e", e)


def six(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> None:
    put(self, "a", a), put(self, "b", b), put(self, "c", c), put(self, "d", d), put(self, "e", e), put(self, "f", f)


def seven(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> None:
    put(self, "a", a), put(self, "b", b), put(self, "c", c), put(self, "d", d), put(self, "e", e), put(self, "f", f)
    put(self, "g", g)


def eight(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> None:
    put(self, "a", a), put(self, "b", b), put(self, "c", c), put(self, "d", d), put(self, "e", e), put(self, "f", f)
    put(self, "g", g), put(self, "h", h)


def nine(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any) -> None:
    put(self, "a", a), put(self, "b", b), put(self, "c", c), put(self, "d", d), put(self, "e", e), put(self, "f", f)
    put(self, "g", g), put(self, "h", h), put(self, "i", i)


def ten(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, j: Any) -> None:
    put(self, "a", a), put(self, "b", b), put(self, "c", c), put(self, "d", d), put(self, "e", e), put(self, "f", f)
    put(self, "g", g), put(self, "h", h), put(self, "i", i), put(self, "j", j)


def eleven(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, j: Any, k: Any) -> None:
    put(self, "a", a), put(self, "b", b), put(self, "c", c), put(self, "d", d), put(self, "e", e), put(self, "f", f)
    put(self, "g", g), put(self, "h", h), put(self, "i", i), put(self, "j", j), put(self, "k", k)


def twelve(
    self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, j: Any, k: Any, l: Any,
) -> None:  # fmt: skip
    put(self, "a", a), put(self, "b", b), put(self, "c", c), put(self, "d", d), put(self, "e", e), put(self, "f", f)
    put(self, "g", g), put(self, "h", h), put(self, "i", i), put(self, "j", j), put(self, "k", k), put(self, "l", l)


def thirteen(
    self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, j: Any, k: Any, l: Any, m: Any,
) -> None:  # fmt: skip
    put(self, "a", a), put(self, "b", b), put(self, "c", c), put(self, "d", d), put(self, "e", e), put(self, "f", f)
    put(self, "g", g), put(self, "h", h), put(self, "i", i), put(self, "j", j), put(self, "k", k), put(self, "l", l)
    put(self, "m", m)


TEMPLATES = (
    none, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen,
)  # fmt: skip
"""As many as a rule has fields: a record of ten is made in 2.1 us, in 3.3 us by `any_slots`."""


def any_fields(self: Any) -> None:
    """Set any number of fields, of a class without slots, and call `__post_init__`."""
    fill(locals())


def fill(values: dict[str, Any]) -> None:
    """Set the fields of `values["self"]` to the other ones."""
    self = values.pop("self")
    vars(self).update(values)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def any_slots(self: Any) -> None:
    """Set any number of fields, which may be slots, and call `__post_init__`."""
    fill_slots(locals())


def fill_slots(values: dict[str, Any]) -> None:
    """Set the fields of `values["self"]` one by one: twice as slow."""
    self = values.pop("self")
    for name, value in values.items():
        put(self, name, value)
    if hasattr(self, "__post_init__"):
        self.__post_init__()
