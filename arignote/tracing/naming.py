"""Names of the arguments of a traced function, and of the leaves of their trees, for errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..ops.core.checks import shown
from ..tree import Form, is_named, place
from .arguments import Object, Static


def named_parts(python_function: Callable[..., Any], structure: Form) -> list[tuple[str, Form]]:
    """Return the name and the structure of each argument of a call that has a name.

    A function of `*args` that stands for another one, as a gradient does, has the names of that one.
    """
    named: Any = python_function
    while not getattr(getattr(named, "__code__", None), "co_argcount", 0):
        of = getattr(named, "stands_for", None) or getattr(named, "_function", None)
        if of is None:
            break
        named = of
    code = getattr(named, "__code__", None)
    (_, positional), (_, keywords) = (part for part in structure[1])
    words = code.co_varnames[: code.co_argcount] if code else ()
    return [*zip(words, positional, strict=False), *keywords]


def naming_leaves(error: Exception, structure: Form, python_function: Callable[..., Any]) -> Exception:
    """Return an error, whose message names the leaf of an argument that an operation does not take.

    Texts and objects are not traced, so operations do not know where they come from.
    """
    text = str(error)
    if type(error) is not TypeError or "expected a number or an array of numbers, got " not in text:
        return error
    for name, part in named_parts(python_function, structure):
        for path, leaf in _untraced(part, name):
            if isinstance(leaf, Static):
                own, what = re.escape(shown(leaf.value)), shown(leaf.value)
            else:
                own, what = rf"<[\w.]+\.{leaf.kind.__name__} object at \w+>", f"an object of {leaf.kind.__name__}"
            found = re.search(rf"(?<=array of numbers, got ){own}(?=;|$)", text, re.MULTILINE)
            if found:
                whole = f"{text[: found.end()]} ({path}){text[found.end() :]}"
                error.args = (whole.replace(found[0], what),)
                return error
    return error


def _untraced(form: Form, name: str) -> Iterator[tuple[str, Static | Object]]:
    """Yield the path of each leaf that is held, and the leaf."""
    if isinstance(form, (Static, Object)):
        yield name, form
    elif type(form) is tuple:
        for key, part in form[1] if is_named(form) else enumerate(form[1]):
            yield from _untraced(part, place(name, form, key))
