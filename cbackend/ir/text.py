"""The text form of the loop IR: one kernel a block, one statement a line.  parse.py reads it back.

    kernel     ::= "kernel" STRING "rank" INT ["fallible"] "{" header ... statement ... "}"
    header     ::= ("out" | "inout" | "in") NAME ":" dtype "[" [axis ("," axis)*] "]" "of" INT ["indexed"]
                 | "arguments" argument ("," argument)*                     where they are not the usual ones
                 | "feeds" "[" INT,... "]" ...
                 | "cut" "free" "[" INT,... "]" "reduced" "[" INT,... "]" "folds" "[" (NAME | "-"),... "]"
                   INT "ps" ["sequential"]
                 | "schedule" (NAME "=" value) ...
                 | "default" NAME
    axis       ::= INT | "-"                                                the loop that it follows; "-": length 1
    argument   ::= "extent" INT | "pointer" INT | "stride" INT INT | "bits" INT | "extra" INT NAME
                 | "report" | "poll"
    statement  ::= "let" NAME "=" expr
                 | "var" NAME "=" expr
                 | "local" NAME ":" dtype ["[" INT "]"]
                 | "point" NAME ":" ["const"] dtype "=" (NAME | call) "+" expr
                 | NAME "=" expr
                 | NAME "[" expr "]" "=" expr
                 | "do" expr
                 | "for" NAME "in" expr ".." expr ["step" expr] ["simd" ["lanes" INT] ["reduce" sign NAME ...]]
                   ["unroll" INT] block
                 | "if" expr block ["else" block]
                 | "outlined" NAME "(" (NAME | INT),... ")" [block]         without a block: another call
                 | "break"
                 | "return" expr
    block      ::= "{" statement ... "}"
    expr       ::= term (("+" | "-") term)*                                 int64 arithmetic
    term       ::= factor ("*" factor)*
    factor     ::= INT | literal | NAME | NAME "[" expr "]" | call | "(" expr ")"
    literal    ::= number ":" dtype | "complex" "(" number "," number ")" ":" dtype
    call       ::= NAME ":" dtype "(" [expr ("," expr)*] ")"

A plain INT is an int64 constant.  A NAME has the dtype of its declaration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from . import loops as ir
from .operands import Argument, Bits, Extent, Extra, Operand, Pointer, Poll, Stride

if TYPE_CHECKING:
    from .kernel import Kernel

INDENT = "  "
INFIX = {"add": "+", "sub": "-", "mul": "*"}
"""The operations of int64 that are written between their operands."""


def kernel_text(kernel: Kernel) -> str:
    """The text form of a kernel; it ends in a newline."""
    return "\n".join(_kernel_lines(kernel)) + "\n"


def body_text(body: Iterable[ir.Statement]) -> str:
    """The text form of statements."""
    return "\n".join(_statements(body, ""))


def _kernel_lines(kernel: Kernel) -> Iterator[str]:
    fallible = " fallible" if kernel.fallible else ""
    yield f"kernel {_quoted(kernel.comment)} rank {kernel.rank}{fallible} {{"
    for number, operand in enumerate(kernel.outputs):
        yield _operand("inout" if number in kernel.shared else "out", f"y{number}", operand)
    for number, operand in enumerate(kernel.inputs):
        yield _operand("in", f"x{number}", operand)
    if kernel.signature:
        yield f"{INDENT}arguments {', '.join(map(_argument, kernel.signature))}"
    if kernel.feeds:
        yield f"{INDENT}feeds {' '.join(map(_list, kernel.feeds))}"
    if kernel.splits is not None:
        cut = kernel.splits
        folds = _list(fold or "-" for fold in cut.folds)
        sequential = " sequential" if cut.sequential else ""
        loops = f"free {_list(cut.free)} reduced {_list(cut.reduced)}"
        yield f"{INDENT}cut {loops} folds {folds} {cut.picoseconds} ps{sequential}"
    choices = kernel.schedule.choices()
    if choices:
        texts = (f"{name}={str(value).replace(' ', '')}" for name, value in choices.items())
        yield f"{INDENT}schedule {' '.join(texts)}"
    if kernel.default:
        yield f"{INDENT}default {kernel.default}"
    yield from _statements(kernel.body, INDENT)
    yield "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _list(items: Iterable[object]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _operand(kind: str, name: str, operand: Operand) -> str:
    axes = _list("-" if loop is None else loop for loop in operand.axes)
    return f"{INDENT}{kind} {name}: {operand.dtype}{axes} of {operand.source}{' indexed' * operand.indexed}"


def _argument(argument: Argument) -> str:
    match argument:
        case Extent(): return f"extent {argument.loop}"
        case Pointer(): return f"pointer {argument.operand}"
        case Stride(): return f"stride {argument.operand} {argument.loop}"
        case Bits(): return f"bits {argument.operand}"
        case Extra(): return f"extra {argument.number} {argument.name}"
    return "poll" if isinstance(argument, Poll) else "report"


# --- statements


def _statements(body: Iterable[ir.Statement], indent: str) -> Iterator[str]:
    for s in body:
        if isinstance(s, ir.For):
            yield from _block(f"{indent}for {_loop(s)}", s.body, indent)
        elif isinstance(s, ir.If):
            yield from _choice(s, indent)
        elif isinstance(s, ir.Outlined):
            head = f"{indent}outlined {s.name}({', '.join(s.arguments)})"
            yield from _block(head, s.body, indent) if s.body else (head,)
        else:
            yield indent + _simple(s)


def _block(head: str, body: Iterable[ir.Statement], indent: str) -> Iterator[str]:
    yield f"{head} {{"
    yield from _statements(body, indent + INDENT)
    yield f"{indent}}}"


def _choice(s: ir.If, indent: str) -> Iterator[str]:
    yield f"{indent}if {expr_text(s.condition)} {{"
    yield from _statements(s.body, indent + INDENT)
    if s.orelse:
        yield f"{indent}}} else {{"
        yield from _statements(s.orelse, indent + INDENT)
    yield f"{indent}}}"


def _loop(s: ir.For) -> str:
    text = f"{s.index} in {expr_text(s.start)} .. {expr_text(s.stop)}"
    if s.step != 1:
        text += f" step {s.step if isinstance(s.step, int) else expr_text(s.step)}"
    if s.simd:
        text += " simd"
    if s.lanes is not None:
        text += f" lanes {s.lanes}"
    if s.reductions:
        text += " reduce " + " ".join(f"{sign} {name}" for sign, name in s.reductions)
    if s.unroll > 1:
        text += f" unroll {s.unroll}"
    return text


def _simple(s: ir.Statement) -> str:
    if isinstance(s, (ir.Let, ir.Var)):
        return f"{'let' if isinstance(s, ir.Let) else 'var'} {s.name} = {expr_text(s.value)}"
    if isinstance(s, ir.Declare):
        return f"local {s.name}: {s.dtype}" + ("" if s.length is None else f"[{s.length}]")
    if isinstance(s, ir.ElementPointer):
        array = s.array if isinstance(s.array, str) else expr_text(s.array)
        return f"point {s.name}: {'const ' * s.const}{s.dtype} = {array} + {expr_text(s.offset)}"
    match s:
        case ir.Assign(): return f"{s.name} = {expr_text(s.value)}"
        case ir.Store(): return f"{s.array}[{expr_text(s.index)}] = {expr_text(s.value)}"
        case ir.Do(): return f"do {expr_text(s.value)}"
        case ir.Break(): return "break"
    assert isinstance(s, ir.Return)
    return f"return {expr_text(s.value)}"


# --- expressions


def expr_text(expr: ir.Expr) -> str:
    """The text form of an expression."""
    return _expr(expr, 0)


def _expr(expr: ir.Expr, level: int) -> str:
    """Return the text of an expression; `level`: a sum needs parentheses from 1 on, a product from 2 on."""
    if isinstance(expr, ir.Local):
        return expr.name
    if isinstance(expr, ir.Const):
        return constant_text(expr)
    if isinstance(expr, ir.Load):
        return f"{expr.array}[{_expr(expr.index, 0)}]"
    if expr.dtype == "int64" and expr.name in INFIX and _is_integer_pair(expr):
        own = 1 if expr.name == "mul" else 0
        left, right = _expr(expr.args[0], own), _expr(expr.args[1], own + 1)
        text = f"{left} {INFIX[expr.name]} {right}"
        return f"({text})" if own < level else text
    return f"{expr.name}:{expr.dtype}({', '.join(_expr(a, 0) for a in expr.args)})"


def _is_integer_pair(expr: ir.ScalarOp) -> bool:
    return len(expr.args) == 2 and all(a.dtype == "int64" for a in expr.args)


def constant_text(const: ir.Const) -> str:
    """A number with its dtype; exact, so that it reads back."""
    if const.dtype == "int64":
        return str(int(const.value.real))
    kind = np.dtype(const.dtype).kind
    if kind == "c":
        value = complex(const.value)
        return f"complex({value.real!r}, {value.imag!r}):{const.dtype}"
    number = repr(float(const.value.real)) if kind == "f" else str(int(const.value.real))
    return f"{number}:{const.dtype}"
