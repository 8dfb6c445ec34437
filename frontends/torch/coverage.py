"""Coverage of ATen's ops: converted, decomposed by PyTorch into others, or run by PyTorch.

python -m arignote.frontends.torch.coverage      the table of the documentation
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any, NamedTuple

import torch

from .converters import registered as registered
from .decompositions import export_decompositions
from .table import found_for

CONVERTED, DECOMPOSED, PERFORMED, REFUSED = "converted", "decomposed", "by PyTorch", "refused"
WORDS = ("sparse", "quantize", "nested", "mkldnn", "cudnn", "miopen", "fbgemm", "cufft", "mps")
"""Parts of names of ops on tensors, or for devices, that arrays do not hold."""

DIFFERENCES = {
    "`upsample_bilinear2d`, `upsample_bicubic2d` of uint8": "eager mode rounds weights to fixed point; PyTorch's "
    "decomposition computes in floats, in inductor as well: results differ by at most 1",
    "`polygamma` at negative integers": "a pole, where we give inf; eager mode divides by a rounded sine that should "
    "be 0, and gives large finite numbers",
    "`polygamma` at infinities and -0.0": "our limits are inf and 0; eager mode gives NaN at most infinities, and at "
    "-0.0 the limit from above",
    "`svd_lowrank`, `pca_lowrank`": "signs of singular vectors, and vectors of nearly equal singular values, which "
    "rounding decides",
    "`special.bessel_j0`, `j1`, `y0`, `y1` of float64": "eager mode is within 9e-7 of the function, "
    "ours within rounding",
    "`soft_margin_loss` of float16": "ours stays finite where `exp` overflows in eager mode",
    "`grid_sample` of float16": "eager mode computes in float16, PyTorch's decomposition in float32, ten times "
    "as exact",
}
"""Samples of PyTorch's own tests (`OpInfo`) whose results differ from eager mode's, each with the reason."""


class Row(NamedTuple):
    """One op of ATen: its name, whether it is a core op, and its fate."""

    name: str
    core: bool
    fate: str


def coverage() -> list[Row]:
    """Return one row for each functional op of ATen; an op's overloads count as one where their fate is the same."""
    table = export_decompositions()
    rows: dict[str, set[tuple[bool, str]]] = {}
    for op in _ops():
        found = _fate(op, table)
        rows.setdefault(str(op).rpartition(".")[0], set()).add((torch.Tag.core in op.tags, found))
    order = (CONVERTED, DECOMPOSED, PERFORMED, REFUSED)
    return [
        Row(name, any(core for core, _ in found), min((f for _, f in found), key=order.index))
        for name, found in sorted(rows.items())
    ]


def _ops() -> Iterator[Any]:
    every = (n.partition("::") for n in torch._C._dispatch_get_all_op_names())
    for name in sorted({op.partition(".")[0] for space, _, op in every if space == "aten"}):
        packet: Any = getattr(torch.ops.aten, name)
        for overload in packet._overload_names:
            op = getattr(packet, overload or "default")
            if not op._schema.is_mutable and _has_tensors(op) and torch._C._dispatch_has_kernel(op.name()):
                yield op


def _has_tensors(op: Any) -> bool:
    return any("Tensor" in str(value.type) for value in (*op._schema.arguments, *op._schema.returns))


def _fate(op: Any, table: Any) -> str:
    if found_for(op) is not None:
        return CONVERTED
    if any(word in op._schema.name for word in WORDS):
        return REFUSED
    if op in table or torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd"):
        return DECOMPOSED
    return PERFORMED


def lines() -> Iterator[str]:
    """Yield the table as Markdown: counts, then the names of core ops and of those that PyTorch runs."""
    rows = coverage()
    fates = (CONVERTED, DECOMPOSED, PERFORMED, REFUSED)
    yield "| ops of ATen | " + " | ".join(fates) + " |"
    yield "|---|" + "---|" * len(fates)
    for label, some in (("core", [r for r in rows if r.core]), ("all", rows)):
        yield f"| {label} | " + " | ".join(str(sum(r.fate == f for r in some)) for f in fates) + " |"
    for fate in fates[:3]:
        names = " ".join(r.name.removeprefix("aten.") for r in rows if r.fate == fate and r.core)
        if names:
            yield from ("", f"Core ops, {fate}:", "", "```text", *wrap(names, 110), "```")
    names = " ".join(r.name.removeprefix("aten.") for r in rows if r.fate == PERFORMED and not r.core)
    yield from ("", "Other ops, by PyTorch:", "", "```text", *wrap(names, 110), "```")
    yield from ("", "| samples of PyTorch's tests that differ from eager mode | reason |", "|---|---|")
    yield from (f"| {samples} | {reason} |" for samples, reason in DIFFERENCES.items())


if __name__ == "__main__":
    print("\n".join(lines()))
