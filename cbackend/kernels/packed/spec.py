"""The call of a product with packed weights: one struct, and one slot a format."""

from __future__ import annotations

from .. import PACKED, READ, WRITE, KernelSpec, Work, after, array, flag, formats, length, strided, vector

_FIELDS = (
    length("rows"),
    length("outputs"),
    length("depth"),
    length("each", "multiplications of a row"),
    length("block", "numbers along the sum that share a scale, or 0"),
    flag("x_item", "bytes of a number of x"),
    *strided("x", READ),
    array("w", READ, "the first array of the format"),
    array("second", READ, "the second one", optional=True),
    array("third", READ, "the third one", optional=True),
    flag("w_item", "bytes of a number of w"),
    flag("w_half", "whether numbers of w are float16"),
    vector("w_strides", "of a matrix that is not packed, or NULL", optional=True),
    array("y", WRITE, "contiguous"),
    flag("spare", "whether only the epilogue reads y, so that it need not be written"),
    after(),
)


def of_format(name: str) -> KernelSpec:
    """Return the spec of the slot of a format."""
    return KernelSpec(
        name,
        "y[rows, outputs] = x[rows, depth] @ w for a w that is laid as the C file of the format says, and an epilogue.",
        _FIELDS, PACKED, "multiply_packed", fails=("MEMORY",), work=lambda c: (Work(2, (c.rows, c.each)),),
        struct="ag_packed_product",
    )  # fmt: skip


SPECS = tuple(map(of_format, formats()))
