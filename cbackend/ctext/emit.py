"""C text from loop IR: a printer that knows precedence, and a writer with blocks.  Deterministic, byte for byte."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from ...ops.elementwise.c_forms import Binding
from ...record import record
from ..ir import loops as ir
from ..ir.kernel import Kernel
from ..ir.operands import CALLBACK, Parameter
from ..ir.walk import all_statements, operations_in
from .helper import C_TYPES, storage_type
from .loop_forms import printed_body
from .preamble import in_order, used
from .scalars import form_of

INDENT = "    "
LINE = 120


# --- expressions


def expression(expr: ir.Expr, loosest: Binding = Binding.TOP) -> str:
    """Return the C of `expr`, in parentheses if it binds less strongly than `loosest`."""
    text, binding = _text(expr)
    return text if binding <= loosest else f"({text})"


def _text(expr: ir.Expr) -> tuple[str, Binding]:
    if isinstance(expr, ir.Const):
        return constant(expr)
    if isinstance(expr, ir.Local):
        return expr.name, Binding.ATOM
    if isinstance(expr, ir.Load):
        return f"{expr.array}[{expression(expr.index)}]", Binding.ATOM
    form = form_of(expr)
    texts = [expression(a, loosest) for a, loosest in zip(expr.args, form.operands, strict=False)]
    return form.text.format(*texts), form.binding


def constant(const: ir.Const) -> tuple[str, Binding]:
    """Return the C of a number: exact, so floats that are not short whole numbers are hexadecimal."""
    kind = np.dtype(const.dtype).kind
    if const.dtype == "float16":
        return hex(int(np.array(const.value, "float16").view("uint16"))), Binding.ATOM
    if kind == "c":
        part = "float32" if const.dtype == "complex64" else "float64"
        z = complex(const.value)
        parts = ", ".join(constant(ir.Const(part, p))[0] for p in (z.real, z.imag))
        return f"ag_make_{C_TYPES[const.dtype]}({parts})", Binding.ATOM
    if kind == "f":
        text = _float(float(np.array(const.value, const.dtype)), "f" if const.dtype == "float32" else "")
    else:
        text = _integer(int(const.value.real), const.dtype)
    return text, Binding.UNARY if text.startswith(("-", "(")) else Binding.ATOM


def _float(value: float, suffix: str) -> str:
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(value):
        return f"{'-' * (value < 0)}__builtin_inf{suffix}()"
    if value == int(value) and abs(value) < 2**53:
        return f"{'-' * (math.copysign(1, value) < 0)}{abs(int(value))}.0{suffix}"
    mantissa, exponent = value.hex().split("p")
    return f"{mantissa.rstrip('0')}p{exponent}{suffix}"


def _integer(value: int, dtype: str) -> str:
    if dtype == "uint64" and value > 2**63 - 1:
        return f"{value}u"
    if value == -(2**63):
        return "(-9223372036854775807 - 1)"
    return str(value)


# --- statements


def statements(body: Iterable[ir.Statement], depth: int, kernel: str = "k") -> list[str]:
    """Return the lines of `body`, indented by `depth` levels.  `kernel`: its name, the prefix of outlined functions."""
    lines: list[str] = []
    _write(body, INDENT * depth, lines, kernel)
    return lines


def _write(body: Iterable[ir.Statement], indent: str, lines: list[str], kernel: str) -> None:
    for s in body:
        if isinstance(s, ir.For):
            _loop(s, indent, lines, kernel)
        elif isinstance(s, ir.If):
            _choice(s, indent, indent, lines, kernel)
        elif isinstance(s, ir.Outlined):
            lines.append(f"{indent}{kernel}_{s.name}({', '.join(s.arguments)});")
        else:
            lines.append(f"{indent}{_simple(s)};")


def _simple(s: ir.Statement) -> str:
    if isinstance(s, ir.Let):
        return f"const {C_TYPES[s.value.dtype]} {s.name} = {expression(s.value)}"
    if isinstance(s, ir.Var):
        return f"{C_TYPES[s.value.dtype]} {s.name} = {expression(s.value)}"
    if isinstance(s, ir.Declare):
        if s.length:
            return f"{storage_type(s.dtype)} {s.name}[{s.length}]"
        return f"{_STRUCTS.get(s.dtype) or C_TYPES[s.dtype]} {s.name}"
    if isinstance(s, ir.ElementPointer):
        offset = expression(s.offset, Binding.SUM)
        array = s.array if isinstance(s.array, str) else expression(s.array)
        start = array if offset == "0" else f"{array} + {offset}"
        return f"{'const ' * s.const}{storage_type(s.dtype)} *{s.name} = {start}"
    match s:
        case ir.Assign(): return f"{s.name} = {expression(s.value)}"
        case ir.Store(): return f"{s.array}[{expression(s.index)}] = {expression(s.value)}"
        case ir.Do(): return expression(s.value)
        case ir.Break(): return "break"
    assert isinstance(s, ir.Return)
    return f"return {expression(s.value)}"


def _loop(s: ir.For, indent: str, lines: list[str], kernel: str) -> None:
    if s.simd:
        clauses: dict[str, list[str]] = {}
        for sign, name in s.reductions:
            clauses.setdefault(sign, []).append(name)
        pairs = "".join(f" reduction({sign}:{', '.join(names)})" for sign, names in clauses.items())
        lanes = f" simdlen({s.lanes})" if s.lanes is not None else ""
        lines.append(f"{indent}#pragma omp simd{lanes}{pairs}")
    if s.unroll > 1:
        lines.append(f"{indent}#pragma GCC unroll {s.unroll}")
    step = s.step if isinstance(s.step, int) else expression(s.step)
    advance = f"{s.index}++" if step == 1 else f"{s.index} += {step}"
    start, stop = expression(s.start), expression(s.stop, Binding.SUM)
    lines.append(f"{indent}for (i64 {s.index} = {start}; {s.index} < {stop}; {advance}) {{")
    _write(printed_body(s), indent + INDENT, lines, kernel)
    lines.append(f"{indent}}}")


def _choice(s: ir.If, head: str, indent: str, lines: list[str], kernel: str) -> None:
    """Return the lines of a choice; `head` is the text in front of the `if`."""
    lines.append(f"{head}if ({expression(s.condition)}) {{")
    _write(s.body, indent + INDENT, lines, kernel)
    if len(s.orelse) == 1 and isinstance(s.orelse[0], ir.If):
        _choice(s.orelse[0], f"{indent}}} else ", indent, lines, kernel)
        return
    if s.orelse:
        lines.append(f"{indent}}} else {{")
        _write(s.orelse, indent + INDENT, lines, kernel)
    lines.append(f"{indent}}}")


# --- functions


@record
class Function:
    """C function of a kernel: the kernel itself, or a function outlined from it."""

    kernel: str
    """The name of the kernel."""
    outlined: str
    """The suffix of the kernel's name; empty for the kernel itself."""
    comment: str
    """The lines in front of it, with a newline after each."""
    prototype: str
    """Type, name and parameters."""
    lines: tuple[str, ...]
    body: ir.Body

    def text(self, linkage: str = "static") -> str:
        """Return the definition, which ends in a newline."""
        lines = "\n".join(self.lines)
        return f"{self.comment}{linkage} {self.prototype}\n{{\n{lines}\n}}\n"


_STRUCTS = {"pairwise": "ag_pairwise"}
"""The C types of locals that are no numbers."""


def functions(kernel: Kernel) -> list[Function]:
    """Return the C functions of a kernel, outlined ones first; the comment stands in front of the first."""
    comment = f"/* {kernel.comment} */\n"
    found = []
    for outlined, body in kernel.bodies.items():
        kind = "i32" if kernel.fallible and not outlined else "void"
        name = f"{kernel.name}_{outlined}" if outlined else kernel.name
        parameters = list(map(_parameter, kernel.parameters)) or ["void"]
        prototype = "\n".join(_wrapped(f"{kind} {name}(", parameters, ")"))
        # Without these lines compilers warn of parameters that are not read.
        unread = (f"{INDENT}(void){name};" for name in kernel.unread[outlined])
        lines = (*unread, *statements(body, 1, kernel.name))
        found.append(Function(kernel.name, outlined, comment, prototype, lines, body))
        comment = ""
    return found


def kernel_c(kernel: Kernel) -> str:
    """Return the C of a kernel; it uses the types and helpers of preamble.py."""
    return "\n".join(function.text() for function in functions(kernel))


def helpers(kernel: Kernel) -> tuple[str, ...]:
    """Return the helpers that a kernel uses, directly or through other helpers, in order of definition."""
    declared = (_STRUCTS.get(s.dtype, "") for s in all_statements(kernel.body) if isinstance(s, ir.Declare))
    printed = (p for s in all_statements(kernel.body) for p in (s, *(printed_body(s) if isinstance(s, ir.For) else ())))
    own = (expr for s in printed for expr in operations_in(s))
    return in_order(_names_in(own).union(*map(_named_in, declared)))


def helpers_of(exprs: Iterable[ir.Expr]) -> tuple[str, ...]:
    """Return the helpers that expressions use, directly or through other helpers, in order of definition."""
    return in_order(_names_in(e for expr in exprs for e in operations_in(ir.Do(expr))))


def _names_in(exprs: Iterable[ir.ScalarOp | ir.Const]) -> set[str]:
    """Return the helpers that operations and constants use."""
    templates: set[str] = set()
    for expr in exprs:
        if isinstance(expr, ir.ScalarOp):
            templates.add(form_of(expr).text)
        elif expr.dtype.startswith("complex"):
            templates.add(constant(expr)[0].partition("(")[0])
    return set().union(*map(_named_in, templates))


@cache
def _named_in(template: str) -> tuple[str, ...]:
    """Return the helpers that the C template of an operation names, and those that these use."""
    return used(template)


def _parameter(parameter: Parameter) -> str:
    if parameter.dtype == CALLBACK:
        return f"i32 (*{parameter.name})(void)"
    if not parameter.is_pointer:
        return f"{C_TYPES[parameter.dtype]} {parameter.name}"
    c_type = storage_type(parameter.dtype)
    if parameter.const:
        return f"const {c_type} *{parameter.name}"
    return f"{c_type} *{'restrict ' * parameter.restrict}{parameter.name}"


def _wrapped(start: str, parts: Sequence[str], end: str) -> list[str]:
    """Return `start part, part, ... end` broken into lines."""
    lines, line = [], start
    for k, part in enumerate(parts):
        piece = part + ("," if k < len(parts) - 1 else end)
        if len(line) + len(piece) + 1 > LINE and line.strip():
            lines.append(line.rstrip())
            line = INDENT
        line += piece + " "
    return [*lines, line.rstrip()]
