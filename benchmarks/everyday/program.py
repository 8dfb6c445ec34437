"""The table of programs: functions of a module and arrays, with makers of their arguments.

A program's first parameter is `numpy` or `jax.numpy`.  `@program(...)` enters the function in the table by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Maker = Callable[[np.random.Generator], Any]


class Program(NamedTuple):
    """A function, makers of its arguments, the position of the gradient's argument if there is one, and loops.

    The loops compute the same element by element, from the arguments alone; numba compiles them.
    """

    function: Callable[..., Any]
    makers: tuple[Maker, ...]
    by: int | None
    loops: Callable[..., Any] | None = None

    def arguments(self) -> list[Any]:
        """Return the arguments, from a generator of this program alone."""
        r = np.random.default_rng(0)
        return [maker(r) for maker in self.makers]


PROGRAMS: dict[str, Program] = {}


def program(
    *makers: Maker, gradient: int | None = None, name: str = "", loops: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function in the table; `gradient` is the argument that its value and gradient are timed by."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[name or function.__name__] = Program(function, makers, gradient, loops)
        return function

    return enter


def loops_of(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter the loops of a program."""

    def enter(loops: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = PROGRAMS[function.__name__]._replace(loops=loops)
        return loops

    return enter


def single(*shape: int) -> Maker:
    """Return a maker of normal float32 numbers."""
    return lambda r: r.standard_normal(shape).astype(np.float32)


def double(*shape: int) -> Maker:
    """Return a maker of normal float64 numbers."""
    return lambda r: r.standard_normal(shape)


def positive(*shape: int) -> Maker:
    """Return a maker of float64 numbers from 0.5 to 1.5."""
    return lambda r: r.random(shape) + 0.5


def integers(limit: int, *shape: int, dtype: str = "int64") -> Maker:
    """Return a maker of integers from 0 to below `limit`."""
    return lambda r: r.integers(0, limit, shape).astype(dtype)
