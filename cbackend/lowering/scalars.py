"""Scalar operations of a graph as expressions of the loop IR, whatever the loops around them.

    add(x, 2)   -->   let v0 = cast:float64(x);  let v1 = add:float64(v0, 2.0:float64)
"""

from __future__ import annotations

from ...graph import Apply
from ...graph.types import numpy_dtype
from ...ops.elementwise.records import Elementwise, Pointwise
from ..ir import loops as ir

_ON_HALVES = frozenset(("nextafter", "spacing", "switch"))
"""Operations on float16 as it is stored, which are not computed in float32."""


class Scalars:
    """Values of scalar operations; a subclass says where their statements stand."""

    def let(self, expr: ir.Expr) -> ir.Expr:
        """Return the name of `expr`, which is computed once."""
        raise NotImplementedError

    def refuse_negative(self, exponent: ir.Expr) -> None:
        """Plan the failure of an integer power with a negative exponent."""
        raise NotImplementedError

    def applied(self, node: Apply, args: list[ir.Expr]) -> ir.Expr:
        """Return the value of a scalar operation, or of a node that moves no element, on values."""
        op = node.op
        if not isinstance(op, Pointwise):  # a dimshuffle: the same element
            return args[0]
        if op.same_as is not None:
            return args[op.same_as]
        dtypes, result = op.loop(tuple(i.dtype for i in node.inputs))
        if op.fixed is not None and numpy_dtype(dtypes[0]).kind in op.fixed[0]:
            return ir.Const(result, op.fixed[1])
        if op.of_truth:
            dtypes = ("bool",) * len(dtypes)
        args = [self.cast(a, d) for a, d in zip(args, dtypes, strict=True)]
        if op.name == "cast":
            return self.cast(args[0], result)
        if op.name == "clip" and numpy_dtype(result).kind != "c":
            return self.op("minimum", result, self.op("maximum", result, args[0], args[1]), args[2])
        if op.name == "pow" and numpy_dtype(dtypes[1]).kind == "i":
            self.refuse_negative(args[1])
        if isinstance(op, Elementwise) and op.arity is None:
            return self._folded(op.name, result, args)
        return self.op(op.symbol if isinstance(op, Elementwise) else op.name, result, *args)

    def _folded(self, name: str, dtype: str, args: list[ir.Expr]) -> ir.Expr:
        first, *rest = args
        for a in rest:
            first = self.op(name, dtype, first, a)
        return first

    def op(self, name: str, dtype: str, *args: ir.Expr) -> ir.Expr:
        """Return a scalar operation on values; float16 is computed in float32 and rounded."""
        if name not in _ON_HALVES and any(a.dtype == "float16" for a in args):
            wide = self.op(name, "float32" if dtype == "float16" else dtype, *(self._widened(a) for a in args))
            return self.cast(wide, dtype)
        return self.let(ir.ScalarOp(name, dtype, args))

    def cast(self, value: ir.Expr, dtype: str) -> ir.Expr:
        """Return the value as `dtype`."""
        return value if value.dtype == dtype else self.let(ir.ScalarOp("cast", dtype, (value,)))

    def _widened(self, value: ir.Expr) -> ir.Expr:
        return self.cast(value, "float32") if value.dtype == "float16" else value
