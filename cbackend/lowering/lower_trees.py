"""Kernel of a fold over decision trees: blocks of rows go down one tree after the other, some rows at a time.

    for rows in blocks:
        for tree:
            for lanes in the block:
                while a lane is at no leaf:  node = children[node, x[row, feature[node]] <= threshold[node]]
                total[row] += values[leaf]

The lanes of a step do not depend on each other, so their loads overlap; a tree stays in cache for all rows of a block.
"""

from __future__ import annotations

from ...graph import Apply
from ...ops.reductions.trees import FOLDS, TreeFold
from ...targets.current import current
from ..ir.kernel import Kernel
from ..ir.loops import (
    ONE,
    ZERO,
    Assign,
    Body,
    Const,
    Declare,
    Expr,
    For,
    Let,
    Load,
    Local,
    ScalarOp,
    Store,
    Var,
    index,
    minus,
    number,
    plus,
    smaller,
    times,
)
from ..ir.operands import Argument, Cutting, Extent, Extra, Operand, Pointer, Stride

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
        cutting=Cutting((0,), (), (None,), cost), signature=signature,
    )  # fmt: skip


def _blocks(op: TreeFold, dtype: str, leaf: str) -> Body:
    rows = max(MOST_TOTALS // op.outputs // LANES, 1) * LANES
    rows = min(rows, 8 * LANES)
    lanes = For("b", ZERO, index("rows"), _lanes(op, dtype, leaf), step=LANES)
    tree = For("t", ZERO, index("trees"), (lanes,))
    zero = Store("total", index("c"), Const("float64", FOLDS[op.fold][1]))
    here = plus(times(index("r"), number(op.outputs)), index("c"))
    at = plus(times(plus(index("first"), index("r")), index("y0_s0")), times(index("c"), index("y0_s1")))
    told = Store("y0", at, Load("float64", "total", here))
    body: Body = (
        Let("rows", smaller(minus(index("n0"), index("first")), number(rows))),
        Declare("total", "float64", rows * op.outputs),
        For("c", ZERO, times(index("rows"), number(op.outputs)), (zero,)),
        tree,
        For("r", ZERO, index("rows"), (For("c", ZERO, number(op.outputs), (told,)),)),
    )
    return (For("first", ZERO, index("n0"), body, step=rows),)


def _lanes(op: TreeFold, dtype: str, leaf: str) -> Body:
    """The statements that send some rows, from `first + b` on, down a tree."""
    lane = index("l")
    at = Load("int32", "node", lane)
    start = Store("node", lane, Load("int32", "x4", index("t")))
    live = Local("int32", "live")
    step = (
        Let("at", at),
        Let("inner", _int64(_larger(at, Const("int32", 0)))),
        Let("column", _int64(Load("int32", "x1", index("inner")))),
        Let("value", Load(dtype, "x0", plus(times(plus(index("row"), lane), index("x0_s0")),
                                            times(index("column"), index("columns"))))),
        Let("child", Load("int32", "x3", plus(times(index("inner"), number(op.branches)), _side(op, dtype)))),
        Let("next", _switch("int32", ScalarOp("lt", "bool", (Local("int32", "at"), Const("int32", 0))),
                            Local("int32", "at"), Local("int32", "child"))),
        Store("node", lane, Local("int32", "next")),
        Assign("live", _larger(live, Local("int32", "next"))),
    )  # fmt: skip
    more = ScalarOp("lt", "bool", (live, Const("int32", 0)))
    down = (
        Var("live", Const("int32", -1)),
        For("l", ZERO, index("lanes"), step),
        Assign("stop", _switch("int64", more, ZERO, number(1 << 40))),
    )
    total = plus(times(plus(index("b"), lane), number(op.outputs)), index("c"))
    found = Load(leaf, "x5", plus(times(index("leaf"), number(op.outputs)), index("c")))
    wide = found if leaf == "float64" else ScalarOp("cast", "float64", (found,))
    added = Store("total", total, ScalarOp(op.fold, "float64", (Load("float64", "total", total), wide)))
    reached = Let("leaf", minus(number(-1), _int64(at)))
    return (
        Let("row", plus(index("first"), index("b"))),
        Let("lanes", smaller(minus(index("rows"), index("b")), number(LANES))),
        Declare("node", "int32", LANES),
        For("l", ZERO, index("lanes"), (start,)),
        Var("stop", ONE),
        For("k", ZERO, index("stop"), down),
        For("l", ZERO, index("lanes"), (reached, For("c", ZERO, number(op.outputs), (added,)))),
    )


def _side(op: TreeFold, dtype: str) -> Expr:
    """The number of the child that a value goes to."""
    value = Local(dtype, "value")
    below = ScalarOp("le", "bool", (value, Load(dtype, "x2", index("inner"))))
    if op.branches == 2:
        return _switch("int64", below, ZERO, ONE)
    return _switch("int64", below, ZERO, _switch("int64", ScalarOp("eq", "bool", (value, value)), ONE, number(2)))


def _int64(value: Expr) -> Expr:
    return ScalarOp("cast", "int64", (value,))


def _switch(dtype: str, condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    return ScalarOp("switch", dtype, (condition, then, otherwise))


def _larger(a: Expr, b: Expr) -> Expr:
    return _switch("int32", ScalarOp("lt", "bool", (a, b)), b, a)
