"""The facts of a compiled function for its view in a notebook: inputs, results, compilation, kernels, the last call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..engines.registry import title
from ..graph import Names, Variable
from ..pages import tables
from ..profiling import RunProfile
from ..profiling.headline import duration
from ..record.spelling import counted

if TYPE_CHECKING:
    from ..function.compiled import Function

SHOWN = 3
"""Nodes of the last call, and kernels, that are named."""


def facts_of(f: Function) -> list[tuple[str, str]]:
    """Names and texts, in the order of the view."""
    names = Names()
    rows = [(f"input {i.name or names[i]}", _described(i)) for i in f.inputs]
    rows += [(f"shared {v.name or names[v]}", _described(v)) for v in f.shared]
    rows += [(f"result {k}", _described(o)) for k, o in enumerate(f.unoptimized_graph.outputs) if k < _own(f)]
    profile = f.optimizer_profile
    took = f" in {duration(profile.time)}" if profile is not None else ""
    rows += [
        ("mode", f.mode.name or str(f.mode.optimizer)),
        ("nodes", f"{len(f.unoptimized_graph):,} as built, {len(f.graph):,} optimized{took}"),
        ("compiled", _compiled(f)),
    ]
    if f.program is not None:
        rows.append(("kernels", _kernels(f.program)))
    return [*rows, ("last call", _last_call(f.profile))]


def _own(f: Function) -> int:
    """The number of results that a call returns: the outputs before the new values of shared variables."""
    return len(f.unoptimized_graph.outputs) - len(f.unoptimized_graph.updates)


def _described(v: Variable) -> str:
    """The dtype and the shape of a variable in words."""
    shape = v.type.shape
    if not shape:
        return f"{v.type.dtype}, a number"
    lengths = " x ".join("any length" if n is None else f"{n:,}" for n in shape)
    size = 1
    for n in shape:
        size *= n or 0
    return f"{v.type.dtype}, {lengths}" + (f" ({tables.amount(size * v.type.numpy.itemsize)})" if size else "")


def _compiled(f: Function) -> str:
    if f.backend != "c":
        return f"run by {title(f.backend)}"
    how = "from the cache, loaded in" if f.from_cache else "by the C compiler in"
    return f"{how} {duration(f.compile_seconds)}; {counted(f.c_source().count(chr(10)), 'line')} of C"


def _kernels(program: Any) -> str:
    """The number of kernels, those of bodies too, and what the first compute."""
    found = [kernel for part in program.all_parts for kernel in part.kernels]
    names = [kernel.title for kernel in found[:SHOWN]]
    more = ["..."] if len(found) > SHOWN else []
    return f"{len(found)}" + (f": {'; '.join([*names, *more])}" if found else "; BLAS, copies and views alone")


def _last_call(profile: Any) -> str:
    """The nodes of the last call that took longest."""
    if not isinstance(profile, RunProfile):
        return "not timed; ag.function(..., profile=True) tells where the time goes"
    call = profile.last_call
    if call is None:
        return "none yet"
    took = [(end - begin, text) for text, (begin, end) in _moments(profile, call)]
    slow = sorted(took, reverse=True)[:SHOWN]
    parts = [f"{100 * seconds / call.seconds:.0f} % {text.partition(' = ')[2] or text}" for seconds, text in slow]
    return f"{duration(call.seconds)}: {', '.join(parts)}" if parts else duration(call.seconds)


def _moments(profile: RunProfile, call: Any) -> list[tuple[str, tuple[float, float]]]:
    return [(text, moment) for text, moment in zip(profile.texts, call.nodes, strict=False) if moment]
