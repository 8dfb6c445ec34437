"""The verifier of kernels: names are bound before use, dtypes agree, stores go to writable arrays.

    verify(kernel)   raises InvalidKernel at the first statement that breaks a rule

Lowering runs it under ARIGNOTE_STRICT and in the tests, so that a pass that makes a wrong kernel is found before a
C compiler, or a wrong number, tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from ...record import record
from . import loops as ir
from .kernel import Kernel
from .text import body_text, expr_text


class InvalidKernel(ValueError):
    """A kernel that breaks a rule of the loop IR; the message has the rule and the statement."""


@record
class _Name:
    """The meaning of a name: a value or an array of a dtype, and whether it may be changed."""

    dtype: str
    is_array: bool
    writable: bool


_Scope = dict[str, _Name]


def verify(kernel: Kernel) -> None:
    """Raise InvalidKernel if the body breaks a rule of the IR."""
    _Verifier(kernel).run()


class _Verifier:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._statement: ir.Statement | None = None
        self._loops = 0
        parameters = {p.name: _Name(p.dtype, p.is_pointer, not (p.is_pointer and p.const)) for p in kernel.parameters}
        if len(parameters) < len(kernel.parameters):
            self._fail("two parameters have one name")
        self._parameters: Mapping[str, _Name] = parameters

    def run(self) -> None:
        for operand in self._kernel.operands:
            if any(loop is not None and not 0 <= loop < self._kernel.rank for loop in operand.axes):
                self._fail(f"an operand moves along loops {operand.axes}; the kernel has {self._kernel.rank}")
        for name, body in self._kernel.bodies.items():
            self._body(body, dict(self._parameters), returns=self._kernel.fallible and not name)

    def _fail(self, rule: str) -> NoReturn:
        where = f"\n  in {body_text((self._statement,)).splitlines()[0]}" if self._statement is not None else ""
        raise InvalidKernel(f"kernel {self._kernel.title!r}: {rule}{where}")

    # --- statements

    def _body(self, body: ir.Body, scope: _Scope, returns: bool) -> None:
        """Check statements; `scope` learns the names that they declare."""
        for s in body:
            self._statement = s
            if isinstance(s, ir.For):
                self._loop(s, scope, returns)
            elif isinstance(s, ir.If):
                self._value(s.condition, scope, "bool")
                self._body(s.body, dict(scope), returns)
                self._body(s.orelse, dict(scope), returns)
            else:
                self._simple(s, scope, returns)

    def _loop(self, s: ir.For, scope: _Scope, returns: bool) -> None:
        for bound in (s.start, s.stop, *(() if isinstance(s.step, int) else (s.step,))):
            self._value(bound, scope, "int64")
        if isinstance(s.step, int) and s.step < 1:
            self._fail(f"the step of a loop is {s.step}; expected 1 or more")
        for _, name in s.reductions:
            if not self._bound(name, scope).writable:
                self._fail(f"the accumulator {name!r} cannot be assigned")
        self._loops += 1
        self._body(s.body, {**scope, s.index: _Name("int64", False, False)}, returns)
        self._loops -= 1

    def _simple(self, s: ir.Statement, scope: _Scope, returns: bool) -> None:
        if isinstance(s, (ir.Let, ir.Var)):
            self._value(s.value, scope, s.value.dtype)
            scope[s.name] = _Name(s.value.dtype, False, isinstance(s, ir.Var))
        elif isinstance(s, ir.Declare):
            scope[s.name] = _Name(s.dtype, s.length is not None, True)
        elif isinstance(s, ir.ElementPointer):
            self._point(s, scope)
        elif isinstance(s, ir.Assign):
            target = self._bound(s.name, scope)
            if target.is_array or not target.writable:
                self._fail(f"{s.name!r} cannot be assigned")
            self._value(s.value, scope, target.dtype)
        elif isinstance(s, ir.Store):
            self._value(s.index, scope, "int64")
            self._value(s.value, scope, self._array(s.array, scope, written=True))
        elif isinstance(s, ir.Do):
            self._value(s.value, scope, s.value.dtype)
        elif isinstance(s, ir.Break):
            if not self._loops:
                self._fail("there is no loop to leave")
        elif isinstance(s, ir.Return):
            if not returns:
                self._fail("a function that cannot fail returns a value")
            self._value(s.value, scope, "int32")
        elif isinstance(s, ir.Outlined):
            self._call(s, scope)

    def _point(self, s: ir.ElementPointer, scope: _Scope) -> None:
        self._value(s.offset, scope, "int64")
        if isinstance(s.array, ir.ScalarOp):
            self._value(s.array, scope, s.dtype)
        elif not _same(self._array(s.array, scope, written=not s.const), s.dtype):
            self._fail(f"{s.array!r} has other elements than {s.dtype}")
        scope[s.name] = _Name(s.dtype, True, not s.const)

    def _call(self, s: ir.Outlined, scope: _Scope) -> None:
        if s.name not in self._kernel.bodies:
            self._fail(f"there is no outlined function {s.name!r}")
        if len(s.arguments) != len(self._kernel.parameters):
            self._fail(f"{len(s.arguments)} arguments for {len(self._kernel.parameters)} parameters")
        for given, parameter in zip(s.arguments, self._kernel.parameters, strict=True):
            if not given.isdigit() and self._bound(given, scope).is_array != parameter.is_pointer:
                self._fail(f"the argument {given!r} does not fit the parameter {parameter.name!r}")

    # --- expressions

    def _bound(self, name: str, scope: _Scope) -> _Name:
        found = scope.get(name)
        if found is None:
            self._fail(f"{name!r} is read, and nothing declares it")
        return found

    def _array(self, name: str, scope: _Scope, written: bool = False) -> str:
        """The dtype of the elements of an array."""
        found = self._bound(name, scope)
        if not found.is_array:
            self._fail(f"{name!r} is no array")
        if written and not found.writable:
            self._fail(f"{name!r} may only be read")
        return found.dtype

    def _value(self, expr: ir.Expr, scope: _Scope, dtype: str) -> None:
        """Check an expression of which `dtype` is expected."""
        if not _same(expr.dtype, dtype):
            self._fail(f"{expr_text(expr)} is {expr.dtype}; expected {dtype}")
        if isinstance(expr, ir.Const):
            return
        if isinstance(expr, ir.Local):
            if not _same(self._bound(expr.name, scope).dtype, expr.dtype):
                self._fail(f"{expr.name!r} is {scope[expr.name].dtype}; it is read as {expr.dtype}")
        elif isinstance(expr, ir.Load):
            self._value(expr.index, scope, "int64")
            if not _same(self._array(expr.array, scope), expr.dtype):
                self._fail(f"{expr.array!r} has elements of {scope[expr.array].dtype}; read as {expr.dtype}")
        else:
            for a in expr.args:
                self._value(a, scope, a.dtype)


def _same(one: str, other: str) -> bool:
    """Whether two dtypes have the same storage: a bool in an array is a byte."""
    return one == other or {one, other} == {"bool", "uint8"}
