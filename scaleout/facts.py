"""Facts of one call: lengths and whole numbers that the caller knows before anything runs.

    x + y, y whole   -->   is y as long as x on the chunked axis, or of length 1 there?
    x[n // 2 :]      -->   which rows of each block?

A plan asks such questions, and serves every later call that gives the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..graph import Constant, Dim, Variable, toposort
from ..graph.dims import Symbol, broadcast, dims_of
from ..ops.core.interpret import run
from ..ops.shapes.indexing import Subtensor, entries
from ..ops.shapes.lengths import ShapeI
from ..record import record

_NUMBERS: dict[str, Any] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "floordiv": lambda a, b: a // b,
    "maximum": max, "minimum": min, "broadcast": lambda *lengths: broadcast(lengths),
}  # fmt: skip


@record
class Question:
    """A question about a call: the name of a method of `Facts`, and its arguments."""

    method: str
    of: tuple[Any, ...]


class Facts:
    """`shapes`: of the inputs of the whole graph.  `values`: of those that are arrays.  `total`: the chunked length.

    Methods return None for what is unknown before the call runs.
    """

    def __init__(
        self, shapes: Mapping[Variable, Sequence[int]], values: Mapping[Variable, Any], total: int | None
    ) -> None:
        self.shapes: Mapping[Variable, Sequence[int]] = shapes
        self.values: Mapping[Variable, Any] = values
        self.total: int | None = total
        self._lengths: dict[Symbol, int | None] = {}
        self._spans: dict[Any, range | None] = {None: None if total is None else range(total)}
        self._firsts: dict[range, Any] = {} if total is None else {range(total): None}
        self.answers: dict[Question, Any] = {}
        """The questions asked so far, with their answers."""

    def ask(self, method: str, *of: Any) -> Any:
        """Return the answer to a question, and keep it as a condition of the plan."""
        question = Question(method, of)
        if question not in self.answers:
            self.answers[question] = getattr(self, method)(*of)
        return self.answers[question]

    def agree(self, answers: Mapping[Question, Any]) -> bool:
        """Whether this call gives the same answers."""
        return all(getattr(self, q.method)(*q.of) == answer for q, answer in answers.items())

    # --- questions
    def is_one(self, length: Dim) -> bool | None:
        """Whether a length is 1."""
        found = self.length(length)
        return None if found is None else found == 1

    def is_long(self, length: Dim, rows: Any) -> bool | None:
        """Whether a length is that of some rows of the chunked axis."""
        found, span = self.length(length), self.span(rows)
        return None if found is None or span is None else found == len(span)

    def first(self, rows: Any) -> tuple[Any] | None:
        """Return the first rows of this call that are the same ones in the same order."""
        span = self.span(rows)
        return None if span is None else (self._firsts.setdefault(span, rows),)

    def is_as_many(self, rows: Any, other: Any) -> bool:
        """Whether there are as many rows as others."""
        return self.count(rows) == self.count(other) is not None

    def is_single(self, rows: Any) -> bool | None:
        """Whether there is one row."""
        span = self.span(rows)
        return None if span is None else len(span) == 1

    def is_reversed(self, rows: Any, of: Any) -> bool:
        """Whether rows stand in the reverse order of others, of which they are a slice."""
        found, span = self.span(rows), self.span(of)
        return found is not None and span is not None and (found.step < 0) != (span.step < 0)

    def place(self, index: Variable, rows: Any) -> str | None:
        """Where an index points: inside, to the last row as -1, or outside."""
        found, count = self.number(index), self.count(rows)
        if found is None or count is None:
            return None
        return "outside" if not -count <= found < count else "last" if found == -1 else "inside"

    # --- numbers
    def length(self, dim: Dim) -> int | None:
        """Return the number that a length is in this call."""
        stack: list[Dim] = [dim]
        while stack:
            part = stack[-1]
            if isinstance(part, int) or part in self._lengths:
                stack.pop()
                continue
            above = self._above(part)
            missing = [a for a in above if isinstance(a, Symbol) and a not in self._lengths]
            stack += missing
            if not missing:
                numbers: list[Any] = [a if isinstance(a, int) else self._lengths[a] for a in above]
                self._lengths[part] = None if None in numbers else self._combined(part, numbers)
        return dim if isinstance(dim, int) else self._lengths[dim]

    def _above(self, part: Symbol) -> Sequence[Any]:
        """Return the lengths from which a length is computed."""
        if part.kind in _NUMBERS:
            return part.args
        found = _sliced(part)
        return () if found is None else (found[0],)

    def _combined(self, part: Symbol, numbers: Sequence[Any]) -> int | None:
        """Return a length from those above it."""
        if part.kind in _NUMBERS:
            result: int = _NUMBERS[part.kind](*numbers)
            return result
        v: Any = part.args[0]
        if part.kind == "value":
            return self.number(v)
        if (found := _sliced(part)) is None:
            axis: Any = part.args[1]
            return self.shapes[v][axis] if v in self.shapes else None
        span = self._cut(range(numbers[0]), found[1])
        return None if span is None else len(span)

    def _cut(self, span: range, index: slice) -> range | None:
        """Return a slice of a range; None if a bound is unknown."""
        bounds = [b if b is None else self.number(b) for b in (index.start, index.stop, index.step)]
        given = (index.start, index.stop, index.step)
        if any(a is None and b is not None for a, b in zip(bounds, given, strict=True)):
            return None
        return span[slice(*bounds)]

    def span(self, rows: Any) -> range | None:
        """Return positions on the chunked axis of some of its rows."""
        above = []
        while rows not in self._spans:
            above.append(rows)
            rows = rows.of
        for part in reversed(above):
            whole = self._spans[part.of]
            self._spans[part] = None if whole is None else self._cut(whole, slice(part.start, part.stop, part.step))
        return self._spans[above[0] if above else rows]

    def known(self, rows: Any) -> range:
        """Return the positions of rows that a plan has, whose bounds are known."""
        span = self.span(rows)
        assert span is not None
        return span

    def count(self, rows: Any) -> int | None:
        """Return the number of rows."""
        span = self.span(rows)
        return None if span is None else len(span)

    def number(self, v: Variable) -> int | None:
        """Return the value of an integer scalar that depends on arrays and lengths alone."""
        known = dict(self.values)
        nodes = toposort([v], stop_at=self.values)
        while lengths := [n for n in nodes if isinstance(n.op, ShapeI) and n.out not in known]:
            for node in lengths:
                length = self.length(dims_of(node.inputs[0])[node.op.axis])  # type: ignore[attr-defined]
                if length is None:
                    return None
                known[node.out] = np.int64(length)
            nodes = toposort([v], stop_at=known)
        if any(i.owner is None and i not in known and not isinstance(i, Constant) for n in nodes for i in n.inputs):
            return None
        if v.owner is None and v not in known and not isinstance(v, Constant):
            return None
        return int(run(nodes, [v], {k: np.asarray(a) for k, a in known.items()})[0])



def _sliced(part: Symbol) -> tuple[Dim, slice] | None:
    """Return the length of which a slice is taken, and the slice; None for lengths of other values."""
    v: Any = part.args[0]
    if part.kind != "extent" or v.owner is None or not isinstance(v.owner.op, Subtensor):
        return None
    x, *indices = v.owner.inputs
    given = [(a, index) for a, index in enumerate(entries(v.owner.op.spec, indices)) if isinstance(index, slice)]
    axis: Any = part.args[1]
    return (dims_of(x)[given[axis][0]], given[axis][1]) if axis < len(given) else None
