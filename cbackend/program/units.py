"""A long C file in two units, which two compilers take at once: kernels alone, and the rest with the driver.

A kernel that has a form for short rows is two functions, which may be in a unit each.  The text stays one file that
compiles as it is.  Told `-DAG_UNIT=1` or `-DAG_UNIT=2` a compiler sees one half; functions of the first half are then
known to both and to nobody else.  Halves are equal by what gcc takes for them: little for a driver, which it does not
optimize, most for loops that it vectorizes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...graph import FunctionGraph, Op
from ...ops.fused import Fused
from ...ops.nn import AlongAxis
from ...ops.rows import is_row_graph
from ..ir.kernel import Kernel

WORTH_IT = 6_000
"""The work that a second compiler must be able to take over, as `_work` counts it, to be worth its start (20 ms)."""
_DRIVER = 5
"""How many characters of a driver are as much work as one of a kernel."""

_ROWS = re.compile(r"^ +k_\w+_rows\(", re.M)
"""A call of the loops of a kernel in what finds its way among tiles."""
_SEVERAL = 12
"""Nodes of a graph that make a long file."""
_SHORT = re.compile(r"^static void k_\w+_short\(", re.M)
_STATIC = re.compile(r"^static ", re.M)
_NEXT = re.compile(r"(?<=\n)\n(?=static )")
"""What stands between the functions of a kernel."""

_HEAD = """\
/* A long file: two compilers may take a half each, AG_UNIT 1 and 2. */
#ifdef AG_UNIT
#define AG_SHARED __attribute__((visibility("hidden")))
#else
#define AG_SHARED static
#endif
"""

_ALL_LOOPS = """\
/* Where accumulators have several lanes, loops that set these up and combine them are vectorized too; where rows are
   short, loops that turn them round. */
#if defined(__GNUC__) && !defined(__clang__)
#define AG_ALL_LOOPS , optimize("tree-loop-vectorize")
#else
#define AG_ALL_LOOPS
#endif
"""

_PLAIN = """\
/* What finds its way among tiles, and leaves the work to a function of its own, is not optimized. */
#if defined(__GNUC__) && !defined(__clang__)
#define AG_PLAIN , optimize("O0")
#else
#define AG_PLAIN
#endif
"""

_LONG = """\
/* Of long loops the registers are given out for the whole at once: that takes a seventh less, and the loops as long. */
#if defined(__GNUC__) && !defined(__clang__)
#define AG_LONG , optimize("ira-region=one")
#else
#define AG_LONG
#endif
"""
_MACROS = {"AG_ALL_LOOPS": _ALL_LOOPS, "AG_PLAIN": _PLAIN, "AG_LONG": _LONG}
_MANY = 100
"""Statements of a long function."""


def in_units(kernels: Sequence[Kernel], declarations: str, driver: str) -> str:
    """The C text of kernels, and of the driver with its declarations; in two units if there is enough of it."""
    functions: list[str] = []
    callers: list[int] = []
    for kernel in kernels:
        own = _NEXT.split(kernel.text)
        functions += own
        callers += [len(functions) - 1] * len(own)  # the last one calls those that stand apart
    texts = [_not_inlined(text) for text in functions]
    head = [text for name, text in _MACROS.items() if any(name in text for text in texts)]
    work = [_work(text) for text in functions]
    alone = _first_unit(work, len(driver) // _DRIVER)
    taken_over = sum(work[k] for k in alone)
    if min(taken_over, sum(work) + len(driver) // _DRIVER - taken_over) < WORTH_IT:
        return "\n".join([*head, *texts, declarations, driver])
    called = {k for k, caller in enumerate(callers) if caller in alone and k not in alone}
    known = alone | called
    texts = [text.replace(" static ", " AG_SHARED ", 1) if k in known else text for k, text in enumerate(texts)]
    first = [*(_prototype(functions[k]) for k in sorted(called)), *(texts[k] for k in sorted(alone))]
    second = [text for k, text in enumerate(texts) if k not in alone]
    prototypes = [_prototype(functions[k]) for k in sorted(alone)]
    kernels_alone = ["#if AG_UNIT != 2", *first, "#else", *prototypes, "#endif", ""]
    return "\n".join([_HEAD, *head, *kernels_alone, "#if AG_UNIT != 1", *second, declarations, driver, "#endif", ""])


def may_be_in_units(graph: FunctionGraph) -> bool:
    """Whether the C of a graph is likely to be long enough, as far as can be told before there is any."""
    nodes = graph.nodes
    return len(nodes) >= _SEVERAL or any(isinstance(n.op, AlongAxis) or _reads_rows(n.op) for n in nodes)


def _reads_rows(op: Op) -> bool:
    return isinstance(op, Fused) and is_row_graph(op.graph)


def _work(kernel: str) -> int:
    """What it takes to compile a kernel, in characters of plain code; fitted to 70 functions, of 2 to 80 ms."""
    if _ROWS.search(kernel):
        return len(kernel) // _DRIVER
    copies = kernel.count(" ag_tile_") + kernel.count(" ag_run_")
    return len(kernel) + 500 * kernel.count("for (") + 2500 * kernel.count(" reduction(") + 1400 * copies


def _first_unit(work: Sequence[int], driver: int) -> set[int]:
    """The kernels of the first unit: half of the work, the longest first."""
    left, taken = (sum(work) + driver) // 2, set[int]()
    for number in sorted(range(len(work)), key=lambda k: (-work[k], k)):
        if work[number] <= left:
            left -= work[number]
            taken.add(number)
    return taken


def _not_inlined(kernel: str) -> str:
    """A kernel that the compiler keeps out of the driver, which is compiled with less effort."""
    how = " AG_ALL_LOOPS" if " reduction(" in kernel or _SHORT.search(kernel) else ""
    how = " AG_PLAIN" if _ROWS.search(kernel) else how
    how = how or " AG_LONG" * (kernel.count(";\n") >= _MANY)
    return _STATIC.sub(f"__attribute__((noinline{how})) static ", kernel, count=1)


def _prototype(function: str) -> str:
    signature = re.search(r"^static ([^{]*)\{", function, re.M)
    assert signature is not None, function
    return f"AG_SHARED {signature[1].strip()};"
