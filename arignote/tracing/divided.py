"""`ag.jit(strict=False)`: what cannot be traced runs in Python, the rest is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..function.compilation import FunctionOptions
from ..notices import notice
from ..ops.core.tracing import outside
from ..record.spelling import counted
from . import dividing
from .jitted import Jitted
from .rewriting.source import tree_of
from .traces import require_disjoint
from .writing import Chosen, Writing


class Divided(Jitted):
    """The result of `jit(strict=False)`: callable as the function it wraps.

    A trace that fails divides the function for good.  Its parts are such functions themselves, and may be divided in
    turn.  A part that would write to arrays that share elements runs in Python in that call.
    """

    def __init__(
        self, python_function: Callable[..., Any], chosen: Chosen, options: FunctionOptions, keeps: bool = False,
        writing: Writing | None = None,
    ) -> None:  # fmt: skip
        super().__init__(python_function, chosen, options, keeps, writing)
        self._driver: Any = None
        self.parts: list[Divided] = []
        """The parts that are compiled, in the order of their lines; none of a function that is traced as a whole."""
        self.python_lines: list[int] = []
        """The lines that run in Python, since they have effects or cannot be traced."""
        self._is_looked_at = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._is_looked_at:
            self._look()
        if self._driver is None:
            try:
                found = self._traced(args, kwargs)
            except Exception as error:
                self._divide(error)
            else:
                if found is None:
                    return super().__call__(*args, **kwargs)
                made, values, objects = found
                return made.result(values, objects) if _may_write(made, values) else self._function(*args, **kwargs)
        return self._driver(*args, **kwargs)

    def _look(self) -> None:
        """Divide the function at once if it has statements with effects."""
        tree = self._tree()
        division = None if tree is None else dividing.divided(self._function, tree, None)
        with self._lock:
            if not self._is_looked_at and division is not None:
                self._use(division)
            self._is_looked_at = True

    def _tree(self) -> Any:
        """Return the syntax of the function; None if it is a lambda, or has no source."""
        code = getattr(self._function, "__code__", None)
        tree = None if code is None else tree_of(code)
        return tree if hasattr(tree, "name") else None

    def _divide(self, error: Exception) -> None:
        tree = self._tree()
        with self._lock, outside():
            if self._driver is not None:
                return
            division = None if tree is None else dividing.divided(self._function, tree, error)
            text = str(error).partition("\n")[0]
            if division is None:
                self._driver = self._function
                notice(f"{self._options['name']} runs in Python: {text}")
                return
            which = ", ".join(map(str, self._use(division)))
            notice(f"{self._options['name']}: line {which} runs in Python: {text}")

    def _use(self, division: dividing.Division) -> list[int]:
        """Call the parts of a division from now on; return the lines that run in Python."""
        parts: list[Divided] = []

        def wrap(function: Any) -> Divided:
            names = self._static.names if self._static is not None else frozenset()
            words = function.__code__.co_varnames[: function.__code__.co_argcount]
            places = frozenset(k for k, word in enumerate(words) if word in names)
            options: Any = {k: v for k, v in self._given.items() if k != "name"}
            parts.append(Divided(function, Chosen(names & set(words), places), options, keeps=True))
            return parts[-1]

        self._driver = division.driver(wrap)
        self.parts = parts
        self.python_lines = sorted({s.lineno for s in division.outside_statements()})
        return self.python_lines

    def __repr__(self) -> str:
        found = super().__repr__()
        lines = f", lines {', '.join(map(str, self.python_lines))} in Python" if self.python_lines else ""
        return f"{found[:-1]}, {counted(len(self.parts), 'part')}{lines}>"


def _may_write(made: Any, values: Any) -> bool:
    """Whether the arrays of a call may be written at its end, as if by the statements one after the other."""
    if not made.stores:
        return True
    try:
        require_disjoint(made.function.name, values, made.stores, made.lines)
    except ValueError:
        return False
    return True
