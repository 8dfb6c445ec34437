"""Arithmetic of float16 by the processor's instructions, where it has them.

    v3 = mul:float32(widened(a), widened(b));  v4 = narrowed(v3)   -->   v4 = half_mul:float16(a, b)

float32 has twice the digits of float16 and two more.  So sums, products and quotients that are rounded twice are
those that are rounded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ...targets.current import current
from ..ir import loops as ir

_EXTENSION = "avx512_fp16"
_NAMES = {"add": "half_add", "sub": "half_sub", "mul": "half_mul", "true_div": "half_true_div"}


def on_halves(body: ir.Body) -> ir.Body:
    """Return a kernel's body with float16 operations for those in float32 between conversions."""
    return _with_halves(body, {}) if _EXTENSION in current().features else body


def _with_halves(body: Iterable[ir.Statement], above: Mapping[str, ir.Expr]) -> ir.Body:
    """Return statements with such operations; `above`: the float16 that each local around them is made of.

    A local of float16 stands for an operation in float32 whose rounded value it is.
    """
    halves = dict(above)
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, (ir.For, ir.Outlined)):
            s = replace(s, body=_with_halves(s.body, halves if isinstance(s, ir.For) else {}))
        elif isinstance(s, ir.If):
            s = replace(s, body=_with_halves(s.body, halves), orelse=_with_halves(s.orelse, halves))
        elif isinstance(s, ir.Let):
            halves.pop(s.name, None)
            s = _let(s, halves)
        found.append(s)
    return tuple(found)


def _let(s: ir.Let, halves: dict[str, ir.Expr]) -> ir.Let:
    value = s.value
    if not isinstance(value, ir.ScalarOp):
        return s
    if value.name == "cast" and value.dtype == "float32" and value.args[0].dtype == "float16":
        halves[s.name] = value.args[0]
    elif value.name == "cast" and value.dtype == "float16" and isinstance(value.args[0], ir.Local):
        made = halves.get(value.args[0].name)
        return ir.Let(s.name, made) if isinstance(made, ir.ScalarOp) else s
    elif value.dtype == "float32" and (value.name in _NAMES or value.name == "square"):
        operands = [halves.get(a.name) for a in value.args if isinstance(a, ir.Local)]
        if len(operands) == len(value.args) and all(isinstance(o, (ir.Local, ir.Const)) for o in operands):
            pair = tuple(o for o in operands if o is not None) * (2 // len(operands))
            halves[s.name] = ir.ScalarOp(_NAMES.get(value.name, "half_mul"), "float16", pair)
    return s
