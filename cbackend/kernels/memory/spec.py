"""Calls of functions in abi/driver.h and driver/helpers.py, and of the runtime's pipeline."""

from __future__ import annotations

from .. import LAUNCH, READ, STOPS, WRITE, KernelSpec, array, flag, length, scalar, stages, vector

SPECS = (
    COPY := KernelSpec(
        "copy", "y[...] = x[...] along axes of n elements; strides count elements of `item` bytes.",
        (length("item"), vector("n", counted="rank"), array("y", WRITE), vector("ys"), array("x", READ), vector("xs")),
        function="ag_copy_in_parts", runtime=True, status=STOPS,
    ),
    EYE := KernelSpec(
        "eye", "An n by m matrix of zeros with ones on diagonal d.",
        (length("item"), length("n"), length("m"), length("d"), array("y", WRITE), scalar("one")),
        function="ag_eye", runtime=True, status=STOPS,
    ),
    IOTA := KernelSpec(
        "iota", "y = 0, 1, ..., n - 1.", (length("n"), array("y", WRITE)),
        function="ag_iota", runtime=True, status=STOPS,
    ),
    SPAN_COUNT := KernelSpec(
        "span_count", "The number of elements of a range that is `span` steps long.",
        (array("span", READ), array("count", WRITE)), function="ag_span_count",
    ),
    RANGE_COUNT := KernelSpec(
        "range_count", "The number of elements of a range of integers.",
        (length("start"), length("stop"), length("step"), flag("is_unsigned"), array("count", WRITE)),
        function="ag_range_count",
    ),
    IN_BOUNDS := KernelSpec(
        "in_bounds", "The check of indices that a kernel of no steps does not read; `others`: its other steps.",
        (length("others"), vector("n", counted="rank"), array("indices", READ), vector("s"), length("length"),
         length("axis")),
        function="ag_in_bounds", says=True, fails=("INDEX",),
    ),
    PIPELINE := KernelSpec(
        "pipeline", "Kernels, some rows of each at a time.", (stages("stages"),),
        function="rt->pipeline", runtime=True, says=True, status=LAUNCH, fails=("MEMORY", "INTERRUPTED"),
    ),
)  # fmt: skip
