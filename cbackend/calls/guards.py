"""Guards of jitted functions as programs of native_entry.c, where they ask for lengths and integers alone.

    (a[0].shape[0] > 1) is True    -->    1 n0_0 less
    a[1].item() % 2 == 0           -->    x1 2 mod 0 equal

Such a guard takes 5 ns a call; the function of Python that evaluates all others takes 100.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...graph import Variable
from .output_lengths import Step

_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "floordiv", ast.Mod: "mod",
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], tuple[str, bool, bool]] = {
    ast.Lt: ("less", False, False), ast.Gt: ("less", True, False), ast.LtE: ("at_most", False, False),
    ast.GtE: ("at_most", True, False), ast.Eq: ("equal", False, False), ast.NotEq: ("equal", False, True),
}  # fmt: skip
"""For each comparison its operation, whether its operands are exchanged, and whether its result is negated."""
_LARGEST = 2**63
"""Numbers below it, and its negative, have 64 bits."""


class _OtherGuardError(Exception):
    """A guard has a part that no program computes."""


def guard_program(text: str, inputs: Sequence[Variable]) -> list[Step] | None:
    """Return the program of a guard, None if it has none.  inputs: those that the guard calls `a[0]`, `a[1]`, ..."""
    found = _Guard(inputs)
    try:
        return found.truth(ast.parse(text, mode="eval").body)
    except (_OtherGuardError, RecursionError):
        return None


class _Guard:
    """The programs of the expressions in a guard."""

    def __init__(self, inputs: Sequence[Variable]) -> None:
        self._inputs = inputs

    def truth(self, node: ast.expr) -> list[Step]:
        """Return the program of an expression that is True or False."""
        match node:
            case ast.Compare(left, [ast.Is()], [ast.Constant(bool(value))]):
                return self.truth(left) if value else [*self.truth(left), ("not", None)]
            case ast.Compare(left, operations, rights):
                operands = [left, *rights]
                tests = [self._comparison(o, *operands[k : k + 2]) for k, o in enumerate(operations)]
                return _joined(tests, "and")
            case ast.BoolOp(ast.And(), values):
                return _joined([self.truth(v) for v in values], "and")
            case ast.BoolOp(ast.Or(), values):
                return _joined([self.truth(v) for v in values], "or")
            case ast.UnaryOp(ast.Not(), operand):
                return [*self.truth(operand), ("not", None)]
        raise _OtherGuardError

    def _comparison(self, operation: ast.cmpop, a: ast.expr, b: ast.expr) -> list[Step]:
        if type(operation) not in _COMPARISONS:
            raise _OtherGuardError
        name, is_exchanged, is_negated = _COMPARISONS[type(operation)]
        first, last = (b, a) if is_exchanged else (a, b)
        return [*self._integer(first), *self._integer(last), (name, None), *[("not", None)] * is_negated]

    def _integer(self, node: ast.expr) -> list[Step]:
        """Return the program of an expression that is an integer."""
        match node:
            case ast.Constant(int(value)) if type(value) is int and value < _LARGEST:
                return [("number", value)]
            case ast.UnaryOp(ast.USub(), ast.Constant(int(value))) if type(value) is int and value <= _LARGEST:
                return [("number", -value)]
            case ast.UnaryOp(ast.USub(), operand):
                return [("number", 0), *self._integer(operand), ("sub", None)]
            case ast.BinOp(a, operation, b) if type(operation) in _ARITHMETIC:
                return [*self._integer(a), *self._integer(b), (_ARITHMETIC[type(operation)], None)]
            case ast.Call(ast.Name("max" | "min" as name), [a, b], []):
                return [*self._integer(a), *self._integer(b), (f"{name}imum", None)]
            case ast.IfExp(test, then, otherwise):
                return [*self.truth(test), *self._integer(then), *self._integer(otherwise), ("select", None)]
        return self._of_input(node)

    def _of_input(self, node: ast.expr) -> list[Step]:
        """Return the program of a length or the value of an input."""
        match node:
            case ast.Subscript(
                ast.Attribute(ast.Subscript(ast.Name("a"), ast.Constant(int(k))), "shape"), ast.Constant(int(axis))
            ) if axis < self._inputs[k].ndim:
                return [("extent", (k, axis))]
            case ast.Call(ast.Attribute(ast.Subscript(ast.Name("a"), ast.Constant(int(k))), "item"), [], []):
                kind = self._inputs[k].type
                if kind.dtype == "int64" and not kind.ndim:
                    return [("value", k)]
        raise _OtherGuardError


def _joined(tests: Sequence[list[Step]], name: str) -> list[Step]:
    found = list(tests[0])
    for test in tests[1:]:
        found += [*test, (name, None)]
    return found
