"""Kernels of the C backend in OpenCL C, for CPU devices: each work item runs one chunk of the loops.

    static void k_ab12_parts_item(i64 item, ..., i64 n0, ..., __global f32 *y0, i64 y0_s0, ..., i64 cut, ...)
    {
        number `item` of `items` takes its share of loop number `cut`: pointers move to its start, the extent shrinks
        k_ab12(n0, ..., y0, y0_s0, ...);
    }

`y0_part_step` moves an output from part to part where a reduced loop is cut.  `k_ab12` is the text of emit.py; the
pragmas that mark its vector loops become those of clang, with which the OpenCL runtimes for processors compile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...graph.types import numpy_dtype
from ..ir.kernel import Kernel
from ..ir.operands import Parameter, Report, Stride
from .device import Dialect, helper_text
from .device_lists import Item
from .emit import INDENT, functions, helpers
from .helper import storage_type
from .helpers import HELPERS, library
from .preamble import in_order

_MARK = re.compile(r"^(\s*)#pragma omp simd[^\n]*$", re.M)
_WIDTH = 16
"""Elements of a step of a vector loop: several vectors, of which the second starts before the first has ended.

Left to itself, clang takes one vector of 32 bytes.  Loops over fewer than 4 bytes an element keep that: 16 of them are
no more.
"""
_INSTRUCTIONS = ("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "copysign", "fma")
"""Functions of the C library for which processors have instructions; OpenCL's may be slower or less exact."""


def parts_item(kernel: Kernel, dialect: Dialect) -> Item:
    """Return the function of a work item, which runs one chunk."""
    needed = set(helpers(kernel)) - library()
    texts = [dialect.prelude, _instructions(), *(helper_text(HELPERS[name].text, dialect) for name in in_order(needed))]
    is_narrow = any(numpy_dtype(o.dtype).itemsize < 4 for o in kernel.operands)
    texts += [_for_clang(function.text(), is_narrow) for function in functions(kernel)]
    parameters = [_parameter(p.name, p.dtype, p.is_pointer, p.const) for p in _passed(kernel)]
    parameters += ["i64 cut", *(f"i64 y{k}_part_step" for k in range(len(kernel.outputs))), "__global i64 *status"]
    return Item(f"{kernel.name}_parts", tuple(texts), tuple(parameters), "\n".join(_body(kernel)))


def _instructions() -> str:
    lines = (f"#undef {n}{f}\n#define {n}{f} __builtin_{n}{f}" for n in _INSTRUCTIONS for f in ("f", ""))
    return "\n".join((*lines, "#undef __builtin_fma\n#undef __builtin_fmaf\n"))


def _for_clang(text: str, is_narrow: bool) -> str:
    """Return the text with the pragmas of vector loops as clang writes them."""
    width = "" if is_narrow else f" vectorize_width({_WIDTH})"
    return _MARK.sub(rf"\1#pragma clang loop vectorize(assume_safety){width}", text)


def _body(kernel: Kernel) -> Iterator[str]:
    """Yield the statements of a work item."""
    lines = [f"y{k} += item * y{k}_part_step;" for k in range(len(kernel.outputs))]
    for loop in range(kernel.rank):
        lines += _share(kernel, loop)
    if any(isinstance(a, Report) for a in kernel.arguments):
        lines.append("i64 detail[8];")
    call = f"{kernel.name}({', '.join(map(_given, kernel.parameters))});"
    if kernel.fallible:
        lines += [f"const i32 failed = {call}", "if (failed) *status = failed;"]
    else:
        lines.append(call)
    yield from (INDENT + line for line in lines)


def _given(p: Parameter) -> str:
    """Return the declaration of an argument; on a processor all address spaces are one."""
    plain = not p.is_pointer or p.name == "detail"
    return p.name if plain else f"({'const ' * p.const}{storage_type(p.dtype)} *)(size_t){p.name}"


def _passed(kernel: Kernel) -> Iterable[Parameter]:
    return (p for p, a in zip(kernel.parameters, kernel.arguments) if not isinstance(a, Report))


def _parameter(name: str, dtype: str, is_pointer: bool, const: bool) -> str:
    return f"__global {'const ' * const}{storage_type(dtype)} *{name}" if is_pointer else f"i64 {name}"


def _share(kernel: Kernel, loop: int) -> Iterator[str]:
    """Yield the statements that select one chunk of a loop."""
    moving = [a for a in kernel.arguments if isinstance(a, Stride) and a.loop == loop]
    yield f"if (cut == {loop}) {{"
    yield f"{INDENT}const i64 first = n{loop} * item / items;"
    yield f"{INDENT}n{loop} = n{loop} * (item + 1) / items - first;"
    for a in moving:
        name = f"y{a.operand}" if a.operand < len(kernel.outputs) else f"x{a.operand - len(kernel.outputs)}"
        yield f"{INDENT}{name} += first * {name}_s{loop};"
    yield f"{INDENT}if (n{loop} == 0) return;" if kernel.outputs else ""
    yield "}"
