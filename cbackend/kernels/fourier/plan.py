"""Fourier transforms: one call of the runtime."""

from __future__ import annotations

from ....graph import Apply
from ....ops.linalg.fourier import Fourier
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.program import Lengths
from .spec import TRANSFORM, Form, Scale

_FORMS = {"fft": Form.FORWARD, "ifft": Form.BACKWARD, "rfft": Form.FROM_REAL, "irfft": Form.TO_REAL}


def plan_transform(p: Planner, node: Apply) -> None:
    op, x = node.op, p.packed(p.arrays[node.inputs[0]])  # a copy takes a tenth of the time of reading columns
    assert isinstance(op, Fourier)
    *rows, n = x.lengths
    is_inverse = op.kind in ("ifft", "irfft")
    if op.kind == "irfft":
        n = p.read(node.inputs[1])
    p.guard("positive", n, failure=Outcome.PROMISED)
    batch: Lengths = tuple(rows)
    count = n if op.kind != "rfft" else p.sum((p.let("quotient", n, 2), 1))
    if op.kind == "irfft":
        p.guard("equal", x.lengths[-1], p.sum((p.let("quotient", n, 2), 1)), failure=Outcome.LENGTHS)
    scaled = op.norm == ("backward" if is_inverse else "forward")
    scale = Scale.BY_ROOT if op.norm == "ortho" else Scale.BY_LENGTH if scaled else Scale.UNSCALED
    y = p.result(node.out, (*batch, count))
    p.run(
        TRANSFORM, wide=int(node.inputs[0].dtype in ("float64", "complex128")), form=int(_FORMS[op.kind]),
        scale=int(scale), batch=batch, n=n, x=x, x_strides=x.strides, y=y,
    )  # fmt: skip


PLANNERS = {Fourier: plan_transform}
