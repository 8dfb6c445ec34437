"""Split a long C file into two units for two parallel compilers: kernels only, and the rest with the driver.

A kernel that has a form for short rows is two functions, which may be in a unit each.  Where a driver is longer than
all kernels, some of its parts are in the first unit too; both units have the helpers and the frame then.  The text
stays one file that compiles as it is.  With `-DAG_UNIT=1` or `-DAG_UNIT=2` a compiler sees one half; functions of the
first half are then known only to both.  Halves are equal by what gcc takes for them: little for a driver, which it
does not optimize, most for loops that it vectorizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...graph import FunctionGraph, Op
from ...ops.lowered.fused import Fused
from ...ops.lowered.row_passes import is_row_graph
from ...ops.networks.functions import AlongAxis
from ...record import record
from ...targets.current import current
from ..ctext.emit import Function, functions
from ..ir.kernel import Kernel
from ..ir.loops import Expr, For, If, Outlined, ScalarOp, Store
from ..ir.walk import operations_in, own_statements
from ..lowering.lanes import LANE
from ..lowering.lower import SHORT_FUNCTIONS
from ..lowering.tiles import ROWS_FUNCTION
from .page import Definition

_HEAD = """\
/* A long file: two compilers may take a half each, AG_UNIT 1 and 2. */
#ifdef AG_UNIT
#define AG_SHARED __attribute__((visibility("hidden")))
#else
#define AG_SHARED static
#endif
"""

_IN_BOTH = """\
/* Parts of the driver stand in both units, so either one may have functions that it does not call. */
#ifdef AG_UNIT
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
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
/* Tile drivers, which leave the work to an outlined function, are not optimized. */
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
_POLLING = """\
/* Loops that look for Ctrl-C between strips: their states stay in registers, which are saved around that call alone.
   The compiler finds the counts and the independent steps among them, for elements that lie side by side. */
#if defined(__GNUC__) && !defined(__clang__)
#define AG_POLLING , optimize("caller-saves", "peephole2", "tree-loop-vectorize", "version-loops-for-strides")
#else
#define AG_POLLING
#endif
"""
_CONDITIONS = """\
/* Loops where a condition selects values and is part of another condition.  gcc's elimination of partial redundancies
   makes the other condition a selection between conditions, which it does not vectorize. */
#if defined(__GNUC__) && !defined(__clang__)
#define AG_CONDITIONS , optimize("no-tree-pre")
#else
#define AG_CONDITIONS
#endif
"""
_IN_ORDER = """\
/* Loops of several steps side by side.  gcc otherwise computes all of one step where its last value is stored. */
#if defined(__GNUC__) && !defined(__clang__)
#define AG_IN_ORDER , optimize("no-tree-ter")
#else
#define AG_IN_ORDER
#endif
"""
_MACROS = {
    "AG_ALL_LOOPS": _ALL_LOOPS, "AG_PLAIN": _PLAIN, "AG_LONG": _LONG, "AG_POLLING": _POLLING,
    "AG_CONDITIONS": _CONDITIONS, "AG_IN_ORDER": _IN_ORDER,
}  # fmt: skip


@record
class Features:
    """Features of a C function that predict the time to compile it."""

    size: int
    """Characters of its text."""
    statements: int
    loops: int
    reductions: int
    """Number of accumulators, in clauses of reductions and in lanes."""
    copies: int
    """Number of copies of tiles and strips."""
    drives_tiles: bool
    """Whether the kernel calls an outlined function for the work on tiles."""
    polls: bool = False
    """Whether it looks for Ctrl-C."""
    has_sums: bool = False
    """Whether an accumulator is more than a flag of several conditions."""
    joins_conditions: bool = False
    """Whether a condition by which a vector loop selects values is one of two that make another condition."""
    jams: bool = False
    """Whether a loop has several steps side by side."""


@record
class Layout:
    """The C before and behind a driver, and which of its parts stand in the first unit."""

    before: list[str | Definition]
    behind: list[str | Definition]
    first_parts: frozenset[int]


def in_units(kernels: Sequence[Kernel], declarations: str, driver: str, parts: Sequence[str] = ()) -> Layout:
    """Return the C around a driver.  The kernels are split into two units if there is enough work.

    `declarations` stand between the kernels and the driver; of the driver's text only its size counts here.  `parts`:
    functions of it that may be in either unit.
    """
    made = [function for kernel in kernels for function in functions(kernel)]
    found = [features(function) for function in made]
    efforts = [_effort(f, function.outlined in SHORT_FUNCTIONS) for f, function in zip(found, made, strict=True)]
    head = [text for name, text in _MACROS.items() if any(name in effort.split() for effort in efforts)]
    costs = current().costs
    work = [*map(_work, found), *(len(part) * costs.driver_character for part in parts)]
    drives = len(driver) * costs.driver_character
    alone = _first_unit(work, drives)
    taken_over = sum(work[k] for k in alone)
    if min(taken_over, sum(work) + drives - taken_over) < costs.compiler:
        plain = (_definition(f, effort, "static") for f, effort in zip(made, efforts, strict=True))
        return Layout([*head, *plain, declarations], [], frozenset())
    first_parts = frozenset(k - len(made) for k in alone if k >= len(made))
    main = {function.kernel for k, function in enumerate(made) if k in alone and not function.outlined}
    called = {k for k, function in enumerate(made) if k not in alone and function.outlined and function.kernel in main}
    known = set(range(len(made))) if first_parts else alone | called
    texts = [
        _definition(function, efforts[k], "AG_SHARED" if k in known else "static") for k, function in enumerate(made)
    ]
    kernels_alone = either_unit(
        [*(_prototype(made[k]) for k in sorted(called)), *(text for k, text in enumerate(texts) if k in alone)],
        [_prototype(function) for k, function in enumerate(made) if k in alone],
    )
    second: list[str | Definition] = [text for k, text in enumerate(texts) if k not in alone]
    before: list[str | Definition] = [_HEAD, *head, *kernels_alone, "", "#if AG_UNIT != 1", *second]
    if first_parts:
        prototypes = [_prototype(function) for k, function in enumerate(made) if k not in alone]
        before += ["#else", *prototypes, "#endif", "", _IN_BOTH]
    return Layout([*before, declarations], ["#endif", ""], first_parts)


def either_unit(definitions: Sequence[str | Definition], prototypes: Sequence[str]) -> list[str | Definition]:
    """Return functions of the first unit, of which the other one has the prototypes."""
    return ["#if AG_UNIT != 2", *definitions, "#else", *prototypes, "#endif"]


def may_be_in_units(graph: FunctionGraph) -> bool:
    """Whether the C of a graph is likely to be long enough for two units, estimated before it is generated."""
    nodes = graph.nodes
    if len(nodes) >= current().limits.programs.long:
        return True
    return any(isinstance(n.op, AlongAxis) or _reads_rows(n.op) for n in nodes)


def _reads_rows(op: Op) -> bool:
    return isinstance(op, Fused) and is_row_graph(op.graph)


def features(function: Function) -> Features:
    """The features of a function of a kernel."""
    own = list(own_statements(function.body))
    loops = [s for s in own if isinstance(s, For)]
    clauses = sum(len({sign for sign, _ in s.reductions}) for s in loops if s.simd)
    lanes = {b.array for s in loops if s.simd and s.index == LANE.name for b in s.body if isinstance(b, Store)}
    names = [e.name for s in own for e in operations_in(s) if isinstance(e, ScalarOp)]
    copies = sum(name.startswith(("tile_", "run_")) for name in names)
    drives = any(isinstance(s, Outlined) and s.name == ROWS_FUNCTION for s in own)
    simple = sum(not isinstance(s, (For, If)) for s in own)
    text, polls = function.text(), "is_called" in names
    has_sums = bool(lanes) or any(sign != "|" for s in loops if s.simd for sign, _ in s.reductions)
    joins = any(s.simd for s in loops) and _joins_conditions(e for s in own for e in operations_in(s))
    jams = any(s.jammed for s in loops)
    return Features(len(text), simple, len(loops), clauses + len(lanes), copies, drives, polls, has_sums, joins, jams)


def _joins_conditions(operations: Iterable[Expr]) -> bool:
    selecting, joined = set[Expr](), set[Expr]()
    for e in operations:
        if isinstance(e, ScalarOp) and e.name == "switch":
            selecting.add(e.args[0])
        elif isinstance(e, ScalarOp) and e.dtype == "bool" and all(a.dtype == "bool" for a in e.args[:2]):
            joined.update(e.args[:2] if len(e.args) > 1 else ())
    return not selecting.isdisjoint(joined)


def _work(f: Features) -> int:
    """Return the estimated compile time of a function, in picoseconds."""
    costs = current().costs
    if f.drives_tiles:
        return f.size * costs.driver_character
    return costs.compilation(f.size, f.loops, f.reductions, f.copies)


def _first_unit(work: Sequence[int], driver: int) -> set[int]:
    """Return the functions of the first unit: half of the work, the longest first."""
    left, taken = (sum(work) + driver) // 2, set[int]()
    for number in sorted(range(len(work)), key=lambda k: (-work[k], k)):
        if work[number] <= left:
            left -= work[number]
            taken.add(number)
    return taken


def _effort(f: Features, has_short_rows: bool) -> str:
    """Return the macros with the options for compiling a function; empty for none."""
    if f.drives_tiles:
        return "AG_PLAIN"
    if f.polls:
        return "AG_POLLING"
    is_long = f.statements >= current().limits.programs.long_function
    loops = "AG_ALL_LOOPS" if f.has_sums or has_short_rows else "AG_LONG" if is_long else ""
    more = [name for name, wanted in (("AG_CONDITIONS", f.joins_conditions), ("AG_IN_ORDER", f.jams)) if wanted]
    return " ".join([loops, *more]).lstrip()


def _definition(function: Function, effort: str, linkage: str) -> Definition:
    """The text of a function that the compiler keeps out of the driver, which is compiled with less effort."""
    how = f"__attribute__((noinline{' ' * bool(effort)}{effort})) {linkage}"
    return Definition("" if function.outlined else function.kernel, function.text(how), function.comment.count("\n"))


def _prototype(function: Function) -> str:
    return f"AG_SHARED {function.prototype};"
