"""The call of Fourier transforms along an axis."""

from __future__ import annotations

from enum import IntEnum

from .. import FOURIER, READ, WRITE, KernelSpec, array, batch, flag, length, strided


class Form(IntEnum):
    """What a transform takes and gives: complex numbers both ways, or real ones on one side."""

    FORWARD, BACKWARD, FROM_REAL, TO_REAL = range(4)


class Scale(IntEnum):
    """What the results are divided by: nothing, the length, its square root."""

    UNSCALED, BY_LENGTH, BY_ROOT = range(3)


ENUMS = (Form, Scale)

SPECS = (
    TRANSFORM := KernelSpec(
        "transform", "y = the Fourier transform of x along an axis of n numbers; of their real form, n // 2 + 1 are "
        "complex.  y is contiguous.",
        (flag("wide", "float64, not float32"), flag("form", "AG_FORWARD and so on"),
         flag("scale", "AG_UNSCALED, AG_BY_LENGTH or AG_BY_ROOT"), batch("lengths of the other axes"),
         length("n", "real or complex numbers"), *strided("x", READ), array("y", WRITE)),
        FOURIER, "transform_batch", fails=("MEMORY",),
    ),
)  # fmt: skip
