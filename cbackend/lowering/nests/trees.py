"""Kernel of a fold over decision trees: blocks of rows go down one tree after the other, some rows at a time.

    for rows in blocks:
        for tree:
            for lanes in the block:
                while a lane is at no leaf:  node = children[node, x[row, feature[node]] <= threshold[node]]
                total[row] += values[leaf]

The lanes of a step do not depend on each other, so their loads overlap; a tree stays in cache for all rows of a block.
"""

from __future__ import annotations

from ....graph import Apply
from ....ops.reductions.trees import FOLDS, TreeFold
from ....targets.current import current
from ...ir import loops as ir
from ...ir.kernel import Kernel
from ...ir.operands import Argument, Extent, Extra, Operand, Pointer, Splits, Stride

LANES = 16
"""Rows that go down a tree together."""
MOST_TOTALS = 4096
"""Totals of a block of rows, which lie on the stack."""


def trees_kernel(node: Apply) -> Kernel:
    """The kernel of a `TreeFold`: rows may be shared out; extra arguments are the stride of features and the trees."""
    op = node.op
    assert isinstance(op, TreeFold)
    x, feature, threshold, children, root, values = (
        Operand(v.dtype, (0,) if k == 0 else (), k) for k, v in enumerate(node.inputs)
    )
    output = Operand("float64", (0, 1), 0)
    signature: tuple[Argument, ...] = (
        Extent(0), Extent(1), Pointer(0), Stride(0, 0), Stride(0, 1), Pointer(1), Stride(1, 0), Extra(0, "columns"),
        *(Pointer(k) for k in range(2, 7)), Extra(1, "trees"),
    )  # fmt: skip
    cost = max(current().costs.gathered(4, False) * op.visits // op.outputs, 1)
    return Kernel(
        f"{op.name}: {op.fold} of {op.outputs} numbers over trees of {op.branches} branches", 2, (output,),
        (x, feature, threshold, children, root, values), _blocks(op, x.dtype, values.dtype),
        splits=Splits((0,), (), (None,), cost), signature=signature,
    )  # fmt: skip


def _blocks(op: TreeFold, dtype: str, leaf: str) -> ir.Body:
    rows = max(MOST_TOTALS // op.outputs // LANES, 1) * LANES
    rows = min(rows, 8 * LANES)
    lanes = ir.For("b", ir.ZERO, ir.index("rows"), _lanes(op, dtype, leaf), step=LANES)
    tree = ir.For("t", ir.ZERO, ir.index("trees"), (lanes,))
    zero = ir.Store("total", ir.index("c"), ir.Const("float64", FOLDS[op.fold][1]))
    here = ir.plus(ir.times(ir.index("r"), ir.number(op.outputs)), ir.index("c"))
    at = ir.plus(
        ir.times(ir.plus(ir.index("first"), ir.index("r")), ir.index("y0_s0")),
        ir.times(ir.index("c"), ir.index("y0_s1")),
    )
    reported = ir.Store("y0", at, ir.Load("float64", "total", here))
    body: ir.Body = (
        ir.Let("rows", ir.smaller(ir.minus(ir.index("n0"), ir.index("first")), ir.number(rows))),
        ir.Declare("total", "float64", rows * op.outputs),
        ir.For("c", ir.ZERO, ir.times(ir.index("rows"), ir.number(op.outputs)), (zero,)),
        tree,
        ir.For("r", ir.ZERO, ir.index("rows"), (ir.For("c", ir.ZERO, ir.number(op.outputs), (reported,)),)),
    )
    return (ir.For("first", ir.ZERO, ir.index("n0"), body, step=rows),)


def _lanes(op: TreeFold, dtype: str, leaf: str) -> ir.Body:
    """The statements that send some rows, from `first + b` on, down a tree."""
    lane = ir.index("l")
    at = ir.Load("int32", "node", lane)
    start = ir.Store("node", lane, ir.Load("int32", "x4", ir.index("t")))
    live = ir.Local("int32", "live")
    child = ir.plus(ir.times(ir.index("inner"), ir.number(op.branches)), _side(op, dtype))
    step = (
        ir.Let("at", at),
        ir.Let("inner", _int64(_larger(at, ir.Const("int32", 0)))),
        ir.Let("column", _int64(ir.Load("int32", "x1", ir.index("inner")))),
        ir.Let("value", ir.Load(dtype, "x0", ir.plus(ir.times(ir.plus(ir.index("row"), lane), ir.index("x0_s0")),
                                            ir.times(ir.index("column"), ir.index("columns"))))),
        ir.Let("child", ir.Load("int32", "x3", child)),
        ir.Let("next", _switch("int32", ir.ScalarOp("lt", "bool", (ir.Local("int32", "at"), ir.Const("int32", 0))),
                            ir.Local("int32", "at"), ir.Local("int32", "child"))),
        ir.Store("node", lane, ir.Local("int32", "next")),
        ir.Assign("live", _larger(live, ir.Local("int32", "next"))),
    )  # fmt: skip
    more = ir.ScalarOp("lt", "bool", (live, ir.Const("int32", 0)))
    down = (
        ir.Var("live", ir.Const("int32", -1)),
        ir.For("l", ir.ZERO, ir.index("lanes"), step),
        ir.Assign("stop", _switch("int64", more, ir.ZERO, ir.number(1 << 40))),
    )
    total = ir.plus(ir.times(ir.plus(ir.index("b"), lane), ir.number(op.outputs)), ir.index("c"))
    found = ir.Load(leaf, "x5", ir.plus(ir.times(ir.index("leaf"), ir.number(op.outputs)), ir.index("c")))
    wide = found if leaf == "float64" else ir.ScalarOp("cast", "float64", (found,))
    added = ir.Store("total", total, ir.ScalarOp(op.fold, "float64", (ir.Load("float64", "total", total), wide)))
    reached = ir.Let("leaf", ir.minus(ir.number(-1), _int64(at)))
    return (
        ir.Let("row", ir.plus(ir.index("first"), ir.index("b"))),
        ir.Let("lanes", ir.smaller(ir.minus(ir.index("rows"), ir.index("b")), ir.number(LANES))),
        ir.Declare("node", "int32", LANES),
        ir.For("l", ir.ZERO, ir.index("lanes"), (start,)),
        ir.Var("stop", ir.ONE),
        ir.For("k", ir.ZERO, ir.index("stop"), down),
        ir.For("l", ir.ZERO, ir.index("lanes"), (reached, ir.For("c", ir.ZERO, ir.number(op.outputs), (added,)))),
    )


def _side(op: TreeFold, dtype: str) -> ir.Expr:
    """The number of the child that a value goes to."""
    value = ir.Local(dtype, "value")
    below = ir.ScalarOp("le", "bool", (value, ir.Load(dtype, "x2", ir.index("inner"))))
    if op.branches == 2:
        return _switch("int64", below, ir.ZERO, ir.ONE)
    return _switch(
        "int64", below, ir.ZERO, _switch("int64", ir.ScalarOp("eq", "bool", (value, value)), ir.ONE, ir.number(2))
    )


def _int64(value: ir.Expr) -> ir.Expr:
    return ir.ScalarOp("cast", "int64", (value,))


def _switch(dtype: str, condition: ir.Expr, then: ir.Expr, otherwise: ir.Expr) -> ir.Expr:
    return ir.ScalarOp("switch", dtype, (condition, then, otherwise))


def _larger(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    return _switch("int32", ir.ScalarOp("lt", "bool", (a, b)), b, a)
