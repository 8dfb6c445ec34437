"""Scope of a jitted function: the globals and outer variables that it reads, which may change between calls.

Arrays among them are arguments of the compiled function, as attributes of objects are; for other values, functions
among them, it is traced again.  Functions of the same module that it calls by name are looked through.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from ..record.cached import cached_property
from ..record.frames import OWN
from . import statements
from .rewriting.expressions import AG
from .rewriting.source import rewritten, tree_of

_DATA = (bool, int, float, complex, str, np.ndarray, np.generic)


_MISSING = object()


class Scope:
    """The variables of a function that are neither arguments nor its own."""

    def __init__(self, function: Any) -> None:
        self.function: Any = function

    @cached_property
    def functions(self) -> tuple[Any, ...]:
        """The function, and those of its module that it may call by name; empty for a callable without code."""
        first = self.function
        if not isinstance(first, FunctionType):
            return ()
        found: dict[int, Any] = {id(first): first}
        waiting = [first]
        while waiting:
            for name in _names(waiting.pop().__code__, "LOAD_GLOBAL"):
                value: Any = first.__globals__.get(name)
                plain = isinstance(value, FunctionType) and value.__globals__ is first.__globals__
                if plain and value.__closure__ is None and id(value) not in found:
                    found[id(value)] = value
                    waiting.append(value)
        return tuple(found.values())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, of those of an outer function first."""
        found = dict.fromkeys(name for f in self.functions for name in _names(f.__code__, "LOAD_GLOBAL"))
        return (*(self.function.__code__.co_freevars if self.functions else ()), *found)

    def value(self, name: str, missing: Any = None) -> Any:
        """Return the value of a variable now."""
        f = self.function
        if name in f.__code__.co_freevars:
            try:
                return f.__closure__[f.__code__.co_freevars.index(name)].cell_contents
            except ValueError:
                return missing
        return f.__globals__.get(name, missing)

    def values(self) -> Iterator[tuple[str, Any, bool]]:
        """Yield the variables: name, value, and whether it is data (numbers, texts, arrays, lists of them)."""
        for name in self.names:
            value = self.value(name, _MISSING)
            if value is not _MISSING and not name.startswith("__"):
                yield name, value, _is_data(value)

    @property
    def is_own(self) -> bool:
        """Whether the function is one of this library, as a gradient is: but for arrays, its variables never change."""
        return bool(self.functions) and OWN[self.functions[0].__code__.co_filename]

    def asks_for(self, builtin: str) -> bool:
        """Whether the function reads this builtin."""
        return builtin in self.names and self.value(builtin) is None

    def written(self) -> str:
        """Return a variable that the function assigns; an empty text if there is none."""
        for f in self.functions:
            found = [*_names(f.__code__, "STORE_GLOBAL"), *_stored_outside(f.__code__)]
            if found:
                return found[0]
        return ""

    @cached_property
    def writes(self) -> bool:
        """Whether the function may write to arrays: it assigns elements, or calls what may."""
        return any(_names(f.__code__, "STORE_SUBSCR") or rewritten(f.__code__) for f in self.functions)

    def sourceless(self) -> str:
        """Return the name of a function without a source, whose control flow stays Python's; an empty text if none."""
        return next((f.__name__ for f in self.functions if tree_of(f.__code__) is None), "")

    def with_values(self, values: Mapping[str, Any]) -> Callable[..., Any]:
        """Return the function with other values in the place of its variables."""
        first = self.function
        codes = {id(f): rewritten(f.__code__) for f in self.functions}
        if not values and not any(codes.values()):
            return first  # type: ignore[no-any-return]
        space = {**first.__globals__, **values}
        if any(codes.values()):
            space[AG] = statements
        copies = {id(f): _copy(f, codes[id(f)] or f.__code__, space, values) for f in self.functions}
        space.update({name: copies[id(v)] for name, v in first.__globals__.items() if id(v) in copies})
        return copies[id(first)]  # type: ignore[no-any-return]


@lru_cache(maxsize=4096)
def scope_of(function: Any) -> Scope:
    """The scope of a function that a traced one calls."""
    return Scope(function)


def _copy(f: Any, code: CodeType, space: dict[str, Any], values: Mapping[str, Any]) -> Any:
    given = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    cells = tuple(CellType(values[name]) if name in values else given[name] for name in code.co_freevars)
    made = FunctionType(code, space, f.__name__, f.__defaults__, cells or None)
    made.__kwdefaults__ = f.__kwdefaults__
    return made


def _is_data(value: Any) -> bool:
    waiting, count = [value], 0
    while waiting:
        one = waiting.pop()
        count += 1
        if type(one) in (list, tuple):
            waiting.extend(one)
        elif type(one) is dict:
            waiting.extend(one.values())
        elif not isinstance(one, _DATA) and one is not None:
            return False
        if count > _MOST:
            return False
    return True


_MOST = 1000
"""Most values of a list or dict that is looked through."""


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of the functions and comprehensions inside it."""
    waiting = [code]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(c for c in one.co_consts if isinstance(c, CodeType))


def _names(code: CodeType, operation: str) -> list[str]:
    """Return the names that an instruction works on, in order."""
    found = (i.argval for one in _codes(code) for i in dis.get_instructions(one) if i.opname == operation)
    return list(dict.fromkeys(found))


def _stored_outside(code: CodeType) -> list[str]:
    """Return the variables of outer functions that a function assigns."""
    return [name for name in _names(code, "STORE_DEREF") if name in code.co_freevars]
