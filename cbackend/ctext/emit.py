"""C text from loop IR: a printer that knows precedence, and a writer with blocks.  Deterministic, byte for byte."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..ir.kernel import NAMELESS, Argument, Extent, Kernel, Operand, Pointer, Stride, arguments, named
from ..ir.loops import (
    Apart,
    Assign,
    Const,
    Declare,
    Do,
    Expr,
    For,
    If,
    Let,
    Load,
    Local,
    Point,
    Return,
    Statement,
    Store,
    Var,
)
from .forms import Binding
from .helper import C_TYPES, storage_type
from .preamble import used
from .scalars import form_of

INDENT = "    "
LINE = 120


# --- expressions


def expression(expr: Expr, loosest: Binding = Binding.TOP) -> str:
    """The C of `expr`, in parentheses if it binds less strongly than `loosest`."""
    text, binding = _text(expr)
    return text if binding <= loosest else f"({text})"


def _text(expr: Expr) -> tuple[str, Binding]:
    if isinstance(expr, Const):
        return constant(expr)
    if isinstance(expr, Local):
        return expr.name, Binding.ATOM
    if isinstance(expr, Load):
        return f"{expr.array}[{expression(expr.index)}]", Binding.ATOM
    form = form_of(expr)
    texts = [expression(a, loosest) for a, loosest in zip(expr.args, form.operands, strict=False)]
    return form.text.format(*texts), form.binding


def constant(const: Const) -> tuple[str, Binding]:
    """The C of a number: exact, so floats that are not short whole numbers are hexadecimal."""
    kind = np.dtype(const.dtype).kind
    if const.dtype == "float16":
        return hex(int(np.array(const.value, "float16").view("uint16"))), Binding.ATOM
    if kind == "c":
        part = "float32" if const.dtype == "complex64" else "float64"
        z = complex(const.value)
        parts = ", ".join(constant(Const(part, p))[0] for p in (z.real, z.imag))
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


def statements(body: Iterable[Statement], depth: int) -> list[str]:
    """The lines of `body`, indented by `depth` levels."""
    lines: list[str] = []
    _write(body, INDENT * depth, lines)
    return lines


def _write(body: Iterable[Statement], indent: str, lines: list[str]) -> None:
    for s in body:
        if isinstance(s, For):
            _loop(s, indent, lines)
        elif isinstance(s, If):
            _choice(s, indent, indent, lines)
        else:
            lines.append(f"{indent}{_simple(s)};")


def _simple(s: Statement) -> str:
    if isinstance(s, Let):
        return f"const {C_TYPES[s.value.dtype]} {s.name} = {expression(s.value)}"
    if isinstance(s, Var):
        return f"{C_TYPES[s.value.dtype]} {s.name} = {expression(s.value)}"
    if isinstance(s, Declare):
        if s.length:
            return f"{storage_type(s.dtype)} {s.name}[{s.length}]"
        return f"{C_TYPES.get(s.dtype, s.dtype)} {s.name}"
    if isinstance(s, Point):
        offset = expression(s.offset, Binding.SUM)
        array = s.array if isinstance(s.array, str) else expression(s.array)
        start = array if offset == "0" else f"{array} + {offset}"
        return f"{'const ' * s.const}{storage_type(s.dtype)} *{s.name} = {start}"
    if isinstance(s, Assign):
        return f"{s.name} = {expression(s.value)}"
    if isinstance(s, Store):
        return f"{s.array}[{expression(s.index)}] = {expression(s.value)}"
    if isinstance(s, Do):
        return expression(s.value)
    if isinstance(s, Apart):
        return f"{NAMELESS}{s.name}({', '.join(s.arguments)})"
    assert isinstance(s, Return)
    return f"return {expression(s.value)}"


def _loop(s: For, indent: str, lines: list[str]) -> None:
    if s.simd:
        clauses: dict[str, list[str]] = {}
        for sign, name in s.reductions:
            clauses.setdefault(sign, []).append(name)
        pairs = "".join(f" reduction({sign}:{', '.join(names)})" for sign, names in clauses.items())
        lanes = f" simdlen({s.lanes})" if s.lanes is not None else ""
        lines.append(f"{indent}#pragma omp simd{lanes}{pairs}")
    step = s.step if isinstance(s.step, int) else expression(s.step)
    advance = f"{s.index}++" if step == 1 else f"{s.index} += {step}"
    start, stop = expression(s.start), expression(s.stop, Binding.SUM)
    lines.append(f"{indent}for (i64 {s.index} = {start}; {s.index} < {stop}; {advance}) {{")
    _write(s.body, indent + INDENT, lines)
    lines.append(f"{indent}}}")


def _choice(s: If, head: str, indent: str, lines: list[str]) -> None:
    """`head` is what stands in front of the `if`."""
    lines.append(f"{head}if ({expression(s.condition)}) {{")
    _write(s.body, indent + INDENT, lines)
    if len(s.orelse) == 1 and isinstance(s.orelse[0], If):
        _choice(s.orelse[0], f"{indent}}} else ", indent, lines)
        return
    if s.orelse:
        lines.append(f"{indent}}} else {{")
        _write(s.orelse, indent + INDENT, lines)
    lines.append(f"{indent}}}")


# --- functions


def operand_name(position: int, outputs: int) -> str:
    """y0, y1, ... for outputs and x0, x1, ... for inputs."""
    return f"y{position}" if position < outputs else f"x{position - outputs}"


def stride_name(array: str, loop: int) -> str:
    return f"{array}_s{loop}"


def _parameter(argument: Argument, operands: Sequence[Operand], outputs: int, shared: frozenset[int]) -> str:
    if isinstance(argument, Extent):
        return f"i64 n{argument.loop}"
    assert isinstance(argument, (Pointer, Stride))  # a kernel with others brings its parameters as text
    name = operand_name(argument.operand, outputs)
    if not isinstance(argument, Pointer):
        return f"i64 {stride_name(name, argument.loop)}"
    c_type = storage_type(operands[argument.operand].dtype)
    if argument.operand >= outputs:
        return f"const {c_type} *{name}"
    return f"{c_type} *{name}" if argument.operand in shared else f"{c_type} *restrict {name}"


def kernel(
    comment: str,
    rank: int,
    outputs: tuple[Operand, ...],
    inputs: tuple[Operand, ...],
    body: Sequence[Statement],
    fallible: bool = False,
    shared: frozenset[int] = frozenset(),
) -> Kernel:
    """The kernel with this body.

    `shared`: outputs that lie in the memory of an input; all others are promised (`restrict`) to overlap with nothing.
    """
    operands = outputs + inputs
    parameters = [_parameter(a, operands, len(outputs), shared) for a in arguments(rank, operands)] or ["void"]

    def function(kind: str, inside: Sequence[Statement]) -> list[str]:
        lines = statements(inside, 1)
        return [*_wrapped(f"static {kind}(", parameters, ")"), "{", *_unused(outputs, inputs, rank, lines), *lines, "}"]

    apart = [[*function(f"void {NAMELESS}{s.name}", s.body), ""] for s in _apart(body)]
    whole = function(f"{'i32' if fallible else 'void'} {NAMELESS}", body)
    code = "\n".join([*itertools.chain(*apart), *whole, ""])
    name, text = named(f"/* {comment} */\n{code}")
    return Kernel(name, text, used(code), rank, outputs, inputs, fallible)


def _apart(body: Iterable[Statement]) -> Iterator[Apart]:
    for s in body:
        if isinstance(s, Apart) and s.body:
            yield s
        elif isinstance(s, If):
            yield from _apart(s.body)


def parameter_names(rank: int, outputs: tuple[Operand, ...], inputs: tuple[Operand, ...]) -> tuple[str, ...]:
    """The names of a kernel's arguments, in order."""
    operands = outputs + inputs
    texts = [_parameter(a, operands, len(outputs), frozenset()) for a in arguments(rank, operands)]
    return tuple(text.split()[-1].lstrip("*") for text in texts)


def unread(kernel: Kernel, operand: int) -> bool:
    """Whether the kernel never looks at the elements of an operand."""
    return f"(void){operand_name(operand, len(kernel.outputs))};" in kernel.text


def _wrapped(start: str, parts: Sequence[str], end: str) -> list[str]:
    """`start part, part, ... end` broken into lines."""
    lines, line = [], start
    for k, part in enumerate(parts):
        piece = part + ("," if k < len(parts) - 1 else end)
        if len(line) + len(piece) + 1 > LINE and line.strip():
            lines.append(line.rstrip())
            line = INDENT
        line += piece + " "
    return [*lines, line.rstrip()]


_WORD = re.compile(r"\b[A-Za-z_]\w*")


def _unused(
    outputs: tuple[Operand, ...], inputs: tuple[Operand, ...], rank: int, lines: Sequence[str]
) -> list[str]:
    """`(void)name;` for arguments that the lines do not mention, so that compilers stay silent."""
    words = set(_WORD.findall("\n".join(lines)))
    return [f"{INDENT}(void){name};" for name in parameter_names(rank, outputs, inputs) if name not in words]
