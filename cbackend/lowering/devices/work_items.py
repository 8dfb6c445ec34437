"""An elementwise node or a reduction for devices whose work items run side by side, such as those of OpenCL and CUDA.

Each work item computes one element of all results.  In a reduction, a work group computes some: see ir/work_items.py.
The statements are loop IR, which ctext/ prints.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ....graph import Apply, Constant
from ....graph.types import numpy_dtype
from ....ops.elementwise.records import user_op
from ....ops.lowered.fused import Fused
from ....ops.lowered.row_passes import Top, is_row_graph
from ...ir import loops as ir
from ...ir.kernel import Kernel
from ...ir.loops import number
from ...ir.operands import Bits, Pointer
from ...ir.walk import all_statements, operations_in, pruned
from ...ir.work_items import Fold, Pass, WorkItems
from ..describe import describe
from ..group import Group, group_along, group_of
from ..nest import Nest, Operands

DTYPES = frozenset(("bool", "float32", "float64", *(f"{kind}{n}" for kind in ("int", "uint") for n in (8, 16, 32, 64))))
"""The dtypes of operands."""
_COMBINED = {
    "sum": "add",
    "prod": "mul",
    "max": "maximum",
    "min": "minimum",
    "any": "either",
    "all": "both",
    "top": "gt",
}


def work_items(node: Apply) -> WorkItems:
    """Return the device kernel of a node.

    Raises TypeError, with the reason, for a node that has none.
    """
    group = _supported(node)
    operands = Operands(group)
    reduced = tuple(sorted(group.results[0].reduced))
    kept = tuple(loop for loop in range(group.rank) if loop not in reduced)
    nest = Nest((*kept, *reduced), operands, (f"v{n}" for n in itertools.count()))
    values = [nest.cast(nest.value(r.value, r.place), r.dtype) for r in group.results]
    stores = [] if reduced else [nest.store(k, value) for k, value in enumerate(values)]
    if nest.fallible:
        raise TypeError("a kernel on a device cannot refuse an element")
    if not reduced:
        body = pruned((*itertools.chain(*nest.at), *stores))
        require_known(body)
        kernel = _kernel(group, operands, body)
        if len(group.results) > 1:
            kernel = replace(kernel, feeds=operands.feeding([(r.value, r.place) for r in group.results]))
        return WorkItems(kernel, kept)
    folds = tuple(fold_of(k, str(r.fold), r.dtype) for k, r in enumerate(group.results))
    last = Nest(kept, operands, (f"w{n}" for n in itertools.count()))
    stores = [last.store(k, ir.Local(fold.dtype, fold.result)) for k, fold in enumerate(folds)]
    inside = (
        *itertools.chain(*nest.at[len(kept) + 1 :]),
        *(ir.Assign(f.value, f.with_value(v)) for f, v in zip(folds, values)),
    )
    once = tuple(itertools.chain(*nest.at[: len(kept) + 1]))
    return grouped(group, operands, kept, reduced, [Pass(once, inside, folds)], (*itertools.chain(*last.at), *stores))


def grouped(
    group: Group,
    operands: Operands,
    kept: tuple[int, ...],
    reduced: tuple[int, ...],
    passes: Iterable[Pass],
    ending: Iterable[ir.Statement],
) -> WorkItems:
    """Return the kernel of passes over the reduced loops, without statements that nothing reads."""
    passes, ending = list(passes), tuple(ending)
    body = pruned(tuple(itertools.chain(*((*p.once, *p.body) for p in passes), ending)))
    require_known(body)
    used = {s.name for s in body if isinstance(s, (ir.Let, ir.ElementPointer))}

    def left(part: ir.Body) -> ir.Body:
        return tuple(s for s in part if not isinstance(s, (ir.Let, ir.ElementPointer)) or s.name in used)

    found = tuple(Pass(left(p.once), left(p.body), p.folds) for p in passes)
    return WorkItems(_kernel(group, operands, body), kept, reduced, found, left(ending))


def _kernel(group: Group, operands: Operands, body: ir.Body) -> Kernel:
    return Kernel(describe(group), group.rank, operands.outputs, operands.inputs, body)


def with_numbers(kernel: Kernel, node: Apply) -> Kernel:
    """Return a kernel that takes the constants without axes as numbers, instead of pointers to them."""
    first = len(kernel.outputs)
    constant = {
        first + k for k, i in enumerate(kernel.inputs) if i.axes == () and isinstance(node.inputs[i.source], Constant)
    }
    if not constant:
        return kernel
    own = (Bits(a.operand) if isinstance(a, Pointer) and a.operand in constant else a for a in kernel.arguments)
    return replace(kernel, signature=tuple(own))


def _supported(node: Apply) -> Group:
    """Return the group of a node whose results share their loops, of dtypes that devices have."""
    if isinstance(node.op, Fused) and is_row_graph(node.op.graph):
        raise TypeError("it reads rows more than once")
    group = _group(node)
    first = group.results[0]
    if any((r.loops, r.reduced) != (first.loops, first.reduced) for r in group.results):
        raise TypeError("its results have different loops")
    if any(r.fold not in (None, *_COMBINED) for r in group.results):
        raise TypeError("it searches for positions (argmax, argmin)")
    if any((r.fold is None) != (not first.reduced) for r in group.results):
        raise TypeError("some of its results are reduced")
    if len(first.loops) != group.rank:
        raise TypeError("some of its loops belong to no axis of a result")
    require_dtypes(node)
    return group


def require_dtypes(node: Apply) -> None:
    """Raise TypeError for an operand or a result of a dtype that kernels on devices lack."""
    lacking = sorted({v.dtype for v in (*node.inputs, *node.outputs)} - DTYPES)
    if lacking:
        raise TypeError(f"kernels on devices have no {lacking[0]}")


def _group(node: Apply) -> Group:
    if isinstance(node.op, Top):
        return group_along(node, (node.op.axis,), "top", (node.op.axis,), node.out.dtype)
    return group_of(node)


def require_known(body: ir.Body) -> None:
    """Raise TypeError for an operation that kernels on devices lack."""
    for expr in itertools.chain.from_iterable(map(operations_in, all_statements(body))):
        if expr.dtype not in DTYPES:
            raise TypeError(f"kernels on devices have no {expr.dtype}")
        if isinstance(expr, ir.ScalarOp) and user_op(expr.name) is not None:
            raise TypeError(f"{expr.name} has C of the user for this processor only")


def fold_of(number: int, name: str, dtype: str) -> Fold:
    """Return reduction `number` of a kernel: sum, prod, max, min, any, all or top."""
    start = ir.Const(dtype, identity(name, dtype))
    return Fold(name, f"total{number}", f"result{number}", start, combining(name, dtype))


def combining(fold: str, dtype: str) -> str:
    """Return the scalar operation of a reduction."""
    if dtype == "bool":
        return "both" if fold in ("all", "min", "prod") else "either"
    return _COMBINED[fold]


def identity(fold: str, dtype: str) -> bool | int | float:
    """Return the identity element."""
    if fold in ("sum", "any"):
        return False if dtype == "bool" else 0
    if fold in ("prod", "all"):
        return True if dtype == "bool" else 1
    if dtype == "bool":
        return fold == "min"
    if numpy_dtype(dtype).kind == "f":
        return np.inf if fold == "min" else -np.inf
    limits = np.iinfo(dtype)
    return int(limits.min if fold == "max" else limits.max)


def gather_items(kernel: Kernel) -> WorkItems:
    """Return the kernel of a gather whose work items compute an element each.

    An index out of range is reported through `detail`, and element 0 is read in its place.
    """
    body = tuple(_opened(kernel.body))
    return WorkItems(replace(kernel, body=body, fallible=False), tuple(range(kernel.rank)))


def _opened(body: ir.Body) -> Iterator[ir.Statement]:
    """Yield the statements inside all loops, which are those of a work item."""
    for s in body:
        if isinstance(s, ir.For):
            yield from _opened(s.body)
        elif isinstance(s, ir.If) and any(isinstance(inner, ir.Return) for inner in s.body):
            reported = next(inner for inner in s.body if isinstance(inner, ir.Store))
            position, length = (
                next(e.value for e in s.body if isinstance(e, ir.Store) and e.index == number(k)) for k in (1, 2)
            )
            assert isinstance(position, ir.Local)
            first = ir.ScalarOp("neg", "int64", (length,))
            yield ir.If(s.condition, (reported, ir.Assign(position.name, first)))
        elif isinstance(s, ir.If) and not s.orelse:  # an index that does not count from the front
            yield replace(s, body=tuple(_opened(s.body)))
        elif isinstance(s, ir.If):
            yield from _opened(s.orelse)
        elif not isinstance(s, ir.Return):
            yield s
