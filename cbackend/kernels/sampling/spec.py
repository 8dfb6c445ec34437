"""The calls of sums of elements at given positions, each with a weight, and of their derivatives."""

from __future__ import annotations

from .. import PRODUCTS, READ, WRITE, Field, KernelSpec, Work, array, length


def _spec(name: str, about: str, *arrays: Field) -> KernelSpec:
    return KernelSpec(
        name,
        f"{about}  A position of -1 stands for an element that is 0.  All arrays are contiguous.",
        (
            length("images"),
            length("channels"),
            length("taps", "positions of a place"),
            length("places"),
            length("plane", "elements of a plane"),
            array("at", READ, c="i32"),
            *arrays,
        ),
        table=PRODUCTS,
        function=f"call_{name}",
        fails=("PROMISED",),
        work=lambda c: (Work(2, (c.images, c.channels, c.taps, c.places)),),
        only="!COMPLEX",
    )


WEIGHTED_GATHER = _spec(
    "weighted_gather", "y[n, c, p] = sum over k of w[n, k, p] * x[n, c, at[n, k, p]].",
    array("x", READ), array("w", READ), array("y", WRITE),
)  # fmt: skip
WEIGHTED_SCATTER = _spec(
    "weighted_scatter", "x[n, c, at[n, k, p]] is the sum of w[n, k, p] * y[n, c, p].",
    array("y", READ), array("w", READ), array("x", WRITE),
)  # fmt: skip
GATHER_PRODUCTS = _spec(
    "gather_products", "w[n, k, p] = sum over c of x[n, c, at[n, k, p]] * y[n, c, p].",
    array("x", READ), array("y", READ), array("w", WRITE),
)  # fmt: skip

SPECS = (WEIGHTED_GATHER, WEIGHTED_SCATTER, GATHER_PRODUCTS)
