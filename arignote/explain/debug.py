"""`f.debug(...)`: one call step by step: every named value with its shape, range and NaNs, and the first NaN or Inf.

The graph as the user built it is evaluated node by node by NumPy, so each value is the one that he wrote down, whatever
fusion made of it.  Shared variables keep their values.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from .. import pages
from ..graph import Apply, Constant, FunctionGraph, SourceLine, Variable
from ..ops.control.cond import Cond
from ..ops.control.scan_ops import Scan
from ..ops.lowered.fused import unmarked
from ..ops.core.checks import describe
from ..ops.core.interpret import observing, unwatched
from ..ops.elementwise.records import Pointwise
from ..record import record

SHOWN = 60
SHORT = 6
"""Numbers of an operand that are shown beside its range."""


@record
class Intermediate:
    """One value of a call.  `low` and `high`: over the finite elements; None if there are none or it is complex."""

    name: str
    expression: str
    dtype: str
    shape: tuple[int, ...]
    low: float | None
    high: float | None
    nans: int
    infs: int
    line: SourceLine | None

    def to_dict(self) -> dict[str, Any]:
        """The value's description as plain data."""
        return {
            "name": self.name, "expression": self.expression, "dtype": self.dtype, "shape": list(self.shape),
            "low": self.low, "high": self.high, "nans": self.nans, "infs": self.infs,
            "line": str(self.line) if self.line else "",
        }  # fmt: skip

    @property
    def count(self) -> str:
        """Return the number of non-finite elements, as text."""
        return f"{self.nans} NaN, {self.infs} Inf of {int(np.prod(self.shape, dtype=np.int64))}"

    @property
    def range(self) -> str:
        """The range as text."""
        return "" if self.low is None or self.high is None else f"{self.low:.4g} .. {self.high:.4g}"


@record
class Trouble:
    """The first value with a NaN whose operands have none, or with an Inf whose operands are finite."""

    what: str
    value: Intermediate
    operands: tuple[Intermediate, ...]
    element: tuple[int, ...] = ()
    """Index of the first bad element."""
    there: tuple[str, ...] = ()
    """For each operand its value for that element, or its whole value if it is short; empty where neither is known."""
    inside: str = ""
    """The loop with its step, or the branch, in whose body it is."""

    def __str__(self) -> str:
        line, count = self.value.line, self.value.count
        where = f"\n  at {line}  {line.code}".rstrip() if line else ""
        place = f" at element [{', '.join(map(str, self.element))}]" if self.element else ""
        operands = "".join(
            f"\n  {o.name}: {o.dtype}{list(o.shape) or ''} in {o.range or 'nothing finite'}"
            + (f", {o.count}" if o.infs else "") + (f"; {value}{place}" if value else "")
            for o, value in zip(self.operands, self.there or ("",) * len(self.operands), strict=True)
        )  # fmt: skip
        inside = f", inside {self.inside}" if self.inside else ""
        return f"first {self.what} in {self.value.expression}: {count}{inside}{where}{operands}"

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data."""
        operands = [o.to_dict() for o in self.operands]
        return {
            "what": self.what, "value": self.value.to_dict(), "operands": operands, "element": list(self.element),
            "there": list(self.there), "inside": self.inside,
        }  # fmt: skip


class Debug:
    """The values of one call: `d["loss"]` is the array of a named value; `d.values` describes each of them."""

    def __init__(self, name: str, values: Sequence[Intermediate], arrays: dict[str, np.ndarray], first: Trouble | None):
        self.name = name
        self.values: tuple[Intermediate, ...] = tuple(values)
        self.arrays = arrays
        """The named values themselves."""
        self.first = first
        """The first NaN or Inf, if there was one."""

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the array of a named value.  Raises KeyError with the known names."""
        if name not in self.arrays:
            raise KeyError(f"{name!r}; named values are: {', '.join(self.arrays) or 'none'}")
        return self.arrays[name]

    def to_dict(self) -> dict[str, Any]:
        """The call as plain data, without the arrays."""
        first = self.first.to_dict() if self.first is not None else None
        return {"name": self.name, "values": [v.to_dict() for v in self.values], "first": first}

    def to_json(self) -> str:
        """`to_dict()` as JSON, indented."""
        return json.dumps(self.to_dict(), indent=1)

    def __str__(self) -> str:
        head = f"  {'name':<20}  {'dtype':<10}  {'shape':<16}  {'range':<24}  {'NaN':>6}  {'Inf':>6}  line"
        rows = [
            f"  {v.name[:20]:<20}  {v.dtype:<10}  {v.shape!s:<16}  {v.range:<24}  {v.nans:6}  {v.infs:6}  "
            f"{v.line or ''}".rstrip()
            for v in self.values[:SHOWN]
        ]
        more = [f"  ... and {len(self.values) - SHOWN:,} more"] if len(self.values) > SHOWN else []
        return "\n".join([f"{self.name}: {self._verdict()}", "", head, *rows, *more])

    __repr__ = __str__

    def _verdict(self) -> str:
        """Return the line on the first NaN or Inf computed; if there is none, on NaNs and Infs of the arguments."""
        if self.first is not None:
            return str(self.first)
        came = next((v for v in self.values if v.nans or v.infs), None)
        if came is None:
            return "all values are finite"
        return f"no operation makes a NaN or Inf; the first is in {came.name}: {came.count}"

    def _repr_html_(self) -> str:
        trouble = self._verdict().splitlines()[0]
        header = ("name", "dtype", "shape", "range", "NaN", "Inf", "line")
        rows = [(v.name, v.dtype, str(v.shape), v.range, v.nans, v.infs, str(v.line or "")) for v in self.values]
        return pages.notebook.listed_form(f"{self.name}: {trouble}", [("", header, rows)], str(self))


def debugged(name: str, graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> Debug:
    """Return the values of one call of `graph` with these arrays."""
    known: dict[Variable, np.ndarray] = dict(zip(graph.inputs, arrays, strict=True))
    kept, described = _Names(graph), []
    last_use = {v: node for node in graph.order for v in (*node.outputs, *node.inputs)}
    found: dict[str, np.ndarray] = {}
    first: Trouble | None = None
    for i in graph.inputs:
        described.append(_intermediate(i, known[i], kept.of(i)))
        found[kept.of(i)] = known[i]
    for node in graph.order:
        inputs = [i.data if isinstance(i, Constant) else known[i] for i in node.inputs]
        inner = _Inner(node)
        watching = _observed(inner) if first is None else nullcontext()
        with warnings.catch_warnings(), np.errstate(all="ignore"), unwatched(), watching:
            warnings.simplefilter("ignore")
            results = node.op.evaluate(*inputs)
        first = first or inner.first
        known.update(zip(node.outputs, map(np.asarray, results), strict=True))
        for o in node.outputs:
            if o in kept:
                described.append(_intermediate(o, known[o], kept.of(o)))
                found[kept.of(o)] = known[o]
        if first is None:
            first = _trouble(node, inputs, [known[o] for o in node.outputs])
        for v in (*node.inputs, *node.outputs):
            if last_use[v] is node:
                known.pop(v, None)
    return Debug(name, described, found, first)


class _Inner:
    """The nodes of the bodies of a loop or a choice as they are evaluated; `first`: the first trouble among them."""

    def __init__(self, around: Apply) -> None:
        self.around = around
        self.first: Trouble | None = None
        self._runs: dict[Apply, int] = {}

    def __call__(self, node: Apply, inputs: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        step = self._runs[node] = self._runs.get(node, -1) + 1
        if self.first is None and (found := _trouble(node, inputs, [np.asarray(r) for r in results])) is not None:
            op, origin = unmarked(self.around.op), self.around.origin
            what = f"step {step:,} of {op.name}" if isinstance(op, Scan) else op.name
            self.first = replace(found, inside=f"{what} at {origin[0]}" if origin else what)


def _observed(inner: _Inner) -> AbstractContextManager[None]:
    """A block in which the nodes of bodies are looked at; other ops that evaluate graphs promise nothing of theirs."""
    return observing(inner) if isinstance(unmarked(inner.around.op), (Scan, Cond)) else nullcontext()


class _Names:
    """The values that a report shows: those the user named, each once, and the outputs."""

    def __init__(self, graph: FunctionGraph) -> None:
        self._of: dict[Variable, str] = {}
        taken: set[str] = set()
        named = [(v, v.name) for v in (*graph.inputs, *(o for n in graph.order for o in n.outputs)) if v.name]
        wanted = [*named, *((o, f"output {k}") for k, o in enumerate(graph.outputs))]
        for variable, wish in [*wanted, *((i, f"input {k}") for k, i in enumerate(graph.inputs))]:
            if variable in self._of or isinstance(variable, Constant):
                continue
            name, count = wish, 2
            while name in taken:
                name, count = f"{wish} ({count})", count + 1
            taken.add(name)
            self._of[variable] = name

    def __contains__(self, variable: Variable) -> bool:
        return variable in self._of

    def of(self, variable: Variable) -> str:
        return self._of[variable]


def _intermediate(variable: Variable, value: np.ndarray, name: str = "") -> Intermediate:
    nans = infs = 0
    low = high = None
    if value.dtype.kind in "fc":
        nans, infs = int(np.isnan(value).sum()), int(np.isinf(value).sum())
    if value.dtype.kind in "biuf":
        finite = value[np.isfinite(value)] if nans or infs else value
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (None, None)
    line = variable.origin[0] if variable.origin else None
    text = repr(variable.owner) if variable.owner is not None else name or str(variable.type)
    return Intermediate(name or describe(variable), text, value.dtype.name, value.shape, low, high, nans, infs, line)


def _trouble(node: Apply, inputs: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> Trouble | None:
    """Return the message on a node that computes a NaN from none, or an Inf from finite values."""
    for what, test, excuse in (("NaN", np.isnan, np.isnan), ("Inf", np.isinf, lambda v: ~np.isfinite(v))):
        bad = next((k for k, r in enumerate(results) if r.dtype.kind in "fc" and test(r).any()), None)
        if bad is None or any(v.dtype.kind in "fc" and excuse(v).any() for v in inputs):
            continue
        value = _intermediate(node.outputs[bad], results[bad])
        operands = tuple(_intermediate(i, v) for i, v in zip(node.inputs, inputs, strict=True))
        element = tuple(map(int, np.argwhere(test(results[bad]))[0]))
        there = tuple(_there(node, v, results[bad].shape, element) for v in inputs)
        return Trouble(what, value, operands, element, there)
    return None


def _there(node: Apply, value: np.ndarray, shape: tuple[int, ...], element: tuple[int, ...]) -> str:
    """Return the value of an operand that a bad element was computed of; empty where that is not one number."""
    if isinstance(node.op, Pointwise) and element:
        return f"{np.broadcast_to(value, shape)[element]!s}"
    return f"{value!s}" if value.size <= SHORT and value.ndim < 2 and not element else ""
