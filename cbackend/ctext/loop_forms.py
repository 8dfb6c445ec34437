"""The body of a loop in the forms of C that compilers vectorize, or compute without branches.

    total = x > total ? x : total    -->  total = ag_max_number_f32(x, total)      (clang makes vectors of it)
    v2 = v0 ? x : y                  -->  v2 = ag_chosen_f32(v0, x, y)             where v0 is read from memory
    v1 = ag_mod_i64(v0, n)           -->  v1 = ag_mod_lanes_i64(v0, n)             without a division of integers
    v1 = ag_i32_from_f64(v0)         -->  v1 = ag_i32_cut_f64(v0)                  where no float is made of v1
    v2 = widened(narrowed(v0))       -->  v2 = ag_half_f32(v0)                     where a float16 lies between two ops

gcc makes a branch of a choice by a bool from memory, in the elements behind the last vector and in loops over strided
operands.  A random mask then takes 4 ns an element, and 0.6 ns without the branch.
"""

from __future__ import annotations

from collections.abc import Collection

from ...graph.types import numpy_dtype
from ...targets.current import current
from ...targets.target import EXTREMA
from ..ir.loops import Assign, Body, Expr, For, Let, Load, Local, ScalarOp, Statement
from ..ir.walk import pruned

_TRUTHS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "logical_and", "logical_or", "logical_not", "cast")


def printed_body(loop: For) -> Body:
    """The statements of the loop as they are printed."""
    body = _without_halves(_without_branches(_with_builtins(loop)))
    return tuple(map(_in_lanes, _cut(body))) if loop.simd else body


def _cut(body: Body) -> Body:
    """The body with shorter conversions to integers of which no float is made."""
    values = [s.value for s in body if isinstance(s, Let) and isinstance(s.value, ScalarOp) and s.value.name == "cast"]
    back = {v.args[0].name for v in values if v.dtype.startswith("float") and isinstance(v.args[0], Local)}
    return tuple(Let(s.name, _cut_value(s.value)) if isinstance(s, Let) and s.name not in back else s for s in body)


def _cut_value(value: Expr) -> Expr:
    if not isinstance(value, ScalarOp) or value.name != "cast" or numpy_dtype(value.dtype).kind not in "iu":
        return value
    return ScalarOp("cut", value.dtype, value.args) if value.args[0].dtype in ("float32", "float64") else value


def _without_halves(body: Body) -> Body:
    """The body with floats rounded to float16 that stay floats, where an op reads the result of another one."""
    narrowed: dict[str, Expr] = {}
    found: list[Statement] = []
    for s in body:
        value = s.value if isinstance(s, Let) else None
        if isinstance(s, Let) and isinstance(value, ScalarOp) and value.name == "cast":
            (source,) = value.args
            if value.dtype == "float16" and source.dtype == "float32":
                narrowed[s.name] = source
            elif value.dtype == "float32" and isinstance(source, Local) and source.name in narrowed:
                s = Let(s.name, ScalarOp("half", "float32", (narrowed[source.name],)))
        found.append(s)
    return pruned(found) if narrowed else body


def _in_lanes(s: Statement) -> Statement:
    """Return the division of integers that a statement is as functions/integer.h has it for vectors."""
    value = s.value if isinstance(s, Let) else None
    if not isinstance(s, Let) or not isinstance(value, ScalarOp) or value.name not in ("floor_div", "mod"):
        return s
    if value.dtype == "uint64" or numpy_dtype(value.dtype).kind not in "iu":
        return s
    return Let(s.name, ScalarOp(f"{value.name}_lanes", value.dtype, value.args))


def _with_builtins(loop: For) -> Body:
    """The body of a loop, its floating extrema by builtins where the compiler vectorizes nothing else."""
    extrema = {name: sign for sign, name in loop.reductions if loop.simd and sign in ("max", "min")}
    if not extrema or EXTREMA not in current().compiler:
        return loop.body
    named = (s.name if isinstance(s, Assign) else "" for s in loop.body)
    return tuple(_by_builtin(s, extrema[n]) if n in extrema else s for s, n in zip(loop.body, named, strict=True))


def _by_builtin(s: Statement, sign: str) -> Statement:
    """`total = new > total ? new : total` as a call of a builtin; see functions/float.h on NaN."""
    value = s.value if isinstance(s, Assign) else None
    if not isinstance(s, Assign) or not isinstance(value, ScalarOp) or value.name != "switch":
        return s
    if not value.dtype.startswith("float"):
        return s
    return Assign(s.name, ScalarOp(f"{sign}_number", value.dtype, value.args[1:]))


def _without_branches(body: Body) -> Body:
    """The body with the choices by bools that it reads, or makes of such bools, in bits."""
    read: set[str] = set()
    found: list[Statement] = []
    for s in body:
        if isinstance(s, Let):
            if s.value.dtype == "bool" and _is_from_memory(s.value, read):
                read.add(s.name)
            s = Let(s.name, _chosen(s.value, read))
        found.append(s)
    return tuple(found)


def _is_from_memory(value: Expr, read: Collection[str]) -> bool:
    """Whether a bool is read, or is a logical function of one that is."""
    if isinstance(value, ScalarOp):
        return value.name in _TRUTHS and any(isinstance(a, Local) and a.name in read for a in value.args)
    return isinstance(value, Load)


def _chosen(value: Expr, read: Collection[str]) -> Expr:
    """A choice by one of the bools `read` without a branch; any other value as it is."""
    if not isinstance(value, ScalarOp) or value.name != "switch" or value.dtype == "float16":
        return value
    condition = value.args[0]
    if not isinstance(condition, Local) or condition.name not in read or numpy_dtype(value.dtype).kind not in "iuf":
        return value
    return ScalarOp("chosen", value.dtype, value.args)
