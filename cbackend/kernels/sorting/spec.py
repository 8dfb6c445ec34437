"""The calls of sorting kernels.  `kind` is a dtype; lengths that values decide come from calls that count."""

from __future__ import annotations

from .. import READ, SORTS, WRITE, Field, KernelSpec, Kind, array, batch, flag, length, strided

ENUMS = (Kind,)
_KIND = flag("kind", "the dtype of x: AG_U8 and so on")
_NARROW = flag("narrow", "counts are int32, not int64")


def _along(*fields: Field) -> tuple[Field, ...]:
    """Return the fields of a call that sorts along an axis: strides of the other axes, then that of the axis."""
    lengths = (batch("lengths of the other axes"), length("n", "elements along the axis"))
    return (_KIND, *lengths, *strided("x", READ), *fields)


SPECS = (
    SORT := KernelSpec(
        "sort", "y = x in ascending order along an axis, NaNs last, equal elements in their order.",
        _along(*strided("y", WRITE)), SORTS, "sort_batch", fails=("MEMORY",),
    ),
    ARGSORT := KernelSpec(
        "argsort", "y = the positions of the elements of x in ascending order along an axis, those of equal ones too.",
        _along(*strided("y", WRITE, c="i64")), SORTS, "argsort_batch", fails=("MEMORY",),
    ),
    SELECT := KernelSpec(
        "select", "y[count] = the elements at these places of the sorted axis; x does not change.  y is contiguous.",
        _along(length("count"), array("places", READ, "contiguous", c="i64"), array("y", WRITE)),
        SORTS, "select_batch", fails=("INDEX", "MEMORY"),
    ),
    TOPK := KernelSpec(
        "topk", "The k first elements of an axis in descending order, NaNs first, or in ascending order; the first of "
        "equal ones first.  Results are contiguous.",
        _along(length("k"), flag("largest"), array("values", WRITE), array("positions", WRITE, c="i64")),
        SORTS, "topk_batch", fails=("MEMORY",),
    ),
    SEARCHSORTED := KernelSpec(
        "searchsorted", "y = where elements of v go into the ascending vector a, one pair for each example.  All "
        "arrays are contiguous.",
        (_KIND, length("examples"), length("n", "elements of a"), length("m", "elements of v"),
         flag("right", "behind equal elements"), array("a", READ), array("v", READ), array("y", WRITE, c="i64")),
        SORTS, "search_batch", fails=("MEMORY",),
    ),
    COUNT_NONZERO := KernelSpec(
        "count_nonzero", "count = how many elements of x, which is contiguous, are not zero.",
        (_KIND, length("n"), array("x", READ), array("count", WRITE, c="i64")), SORTS, "count_nonzero",
    ),
    NONZERO := KernelSpec(
        "nonzero", "y = the positions of the nonzero elements of x, which is contiguous, along one axis: the place in "
        "x over `inner`, modulo `axis`.",
        (_KIND, length("inner"), length("axis", "the length of the axis; 0 for the first one"), array("x", READ),
         length("count", "of y"), array("y", WRITE, c="i64")),
        SORTS, "find_nonzero",
    ),
    SUPPRESS := KernelSpec(
        "suppress", "found[3 * count] = batch, class and place of each box that no better one of its class overlaps, "
        "the best ones first.  All arrays are contiguous.",
        (flag("wide", "boxes and scores are float64, not float32"), flag("centred", "boxes are centre and size"),
         length("batches"), length("classes"), length("n", "boxes"), length("limit", "boxes of a class that are kept"),
         array("boxes", READ, "four numbers each"), array("scores", READ), array("overlap", READ, c="double"),
         array("least", READ, "the score to exceed", c="double"), array("found", WRITE, c="i64"),
         array("count", WRITE, c="i64")),
        SORTS, "suppress", fails=("MEMORY",),
    ),
    COUNT_REPEATED := KernelSpec(
        "count_repeated", "total = the sum of counts, which are contiguous; if one is negative, the least of them.",
        (_NARROW, length("n"), array("counts", READ), array("total", WRITE, c="i64")), SORTS, "count_repeated",
    ),
    REPEATED := KernelSpec(
        "repeated", "y = the positions 0, 1, ... of counts, each as many times as its count says; with starts, where "
        "counts are int64, as many integers from each start on.",
        (_NARROW, length("n"), array("counts", READ), array("starts", READ, optional=True, c="i64"), array("y", WRITE)),
        SORTS, "repeat_positions",
    ),
    COUNT_DISTINCT := KernelSpec(
        "count_distinct", "count = how many elements of x differ from the one before, in the order of `order`.",
        (_KIND, length("n"), flag("equal_nan", "NaNs are one value"), array("x", READ, "contiguous"),
         array("order", READ, "positions; without it x is in order", optional=True, c="i64"),
         array("count", WRITE, c="i64")),
        SORTS, "count_distinct",
    ),
    DISTINCT := KernelSpec(
        "distinct", "The distinct elements of x, where each stands first, which of them each element is, how many are "
        "equal.",
        (_KIND, length("n"), flag("equal_nan", "NaNs are one value"), array("x", READ, "contiguous"),
         array("order", READ, "positions; without it x is in order", optional=True, c="i64"), array("values", WRITE),
         array("index", WRITE, optional=True, c="i64"), array("inverse", WRITE, optional=True, c="i64"),
         array("counts", WRITE, optional=True, c="i64")),
        SORTS, "find_distinct",
    ),
)  # fmt: skip
