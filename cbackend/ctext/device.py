"""Kernels for devices, in OpenCL C or CUDA C++, from loop IR: the same printer of expressions with another prelude.

The helpers of ctext/ are C99 that both languages take.  A dialect spells the scalar types, the names of the C library,
the qualifiers of functions and pointers, and how a work item finds its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ...record import record
from ..ir.loops import ONE, Body, Const, ElementPointer, Expr, Local
from ..ir.operands import Parameter, stride_name
from ..ir.walk import substituted
from ..ir.work_items import Fold, WorkItems
from .emit import INDENT, constant, expression, helpers, helpers_of, statements
from .helper import C_TYPES, storage_type
from .helpers_float import PROTOTYPES
from .preamble import HELPERS, in_order

_LIBRARY = ("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "exp", "log", "tan", "tgamma", "fmod", "copysign", "pow")
_FLOAT64 = re.compile(r"\b(?:f64|double)\b|\b\d+\.\d+\b(?!f)|as_double|__builtin_(?:inf|nan)\(")
_TYPES = {"i8": "char", "i16": "short", "i32": "int", "i64": "long"}
_BUILT_IN = """\
#define half half_
#define __builtin_nan(said) as_double(0x7ff8000000000000UL)
#define __builtin_nanf(said) as_float(0x7fc00000u)
#define __builtin_inf() as_double(0x7ff0000000000000UL)
#define __builtin_inff() as_float(0x7f800000u)
#define __builtin_fma fma
#define __builtin_fmaf fma
#define __builtin_signbit signbit
"""
_CUDA_BUILT_IN = """\
#define __builtin_nan(said) __longlong_as_double(0x7ff8000000000000LL)
#define __builtin_nanf(said) __int_as_float(0x7fc00000)
#define __builtin_inf() __longlong_as_double(0x7ff0000000000000LL)
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_fma fma
#define __builtin_fmaf fmaf
#define __builtin_signbit signbit
#define __builtin_expect(value, wanted) (value)
#define __FP_FAST_FMA 1
#define __FP_FAST_FMAF 1
extern "C" { __constant__ i64 ag_first[2]; }
static __device__ inline f64 copysign(int size, f64 sign) { return copysign((f64)size, sign); }
static __device__ inline f64 lgamma_r(f64 x, int *sign)
{
    *sign = x < 0 && fmod(floor(x), 2.0) != 0 ? -1 : 1;
    return lgamma(x);
}
static __device__ inline f32 lgammaf_r(f32 x, int *sign)
{
    *sign = x < 0 && fmodf(floorf(x), 2.0f) != 0 ? -1 : 1;
    return lgammaf(x);
}
"""


@record
class Dialect:
    """A language of kernels."""

    name: str
    prelude: str
    kernel: str
    """Qualifiers of a kernel."""
    grouped: str
    """Qualifiers of a kernel for groups of {items} work items, `{groups}` of which share a processor."""
    pointer: str
    """Qualifier of a pointer to an array, with a space behind it."""
    shared: str
    """Qualifier of an array that a group shares, with a space behind it."""
    barrier: str
    places: tuple[str, str, str]
    """Index of a work item along three axes, innermost first."""
    group: tuple[str, str, str]
    """Index of its group along them."""
    item: str
    """Index of a work item in its group, along the first axis."""
    helper: str
    """Keywords in front of a helper, for `static inline`."""


def _typedefs(long: str) -> str:
    signed = {**_TYPES, "i64": long, "i8": "signed char"}
    lines = [f"typedef {c} {t};" for t, c in signed.items()]
    lines += [f"typedef unsigned {c.removeprefix('signed ')} u{t[1:]};" for t, c in signed.items()]
    return "\n".join((*lines, "typedef bool b8;", "typedef u16 f16;", "typedef float f32;")) + "\n"


OPENCL = Dialect(
    name="opencl",
    prelude="#pragma OPENCL FP_CONTRACT OFF\n"
    + _typedefs("long")
    + "#ifdef cl_khr_fp64\ntypedef double f64;\n#endif\n"
    + _BUILT_IN
    + "".join(f"#define {name}f {name}\n" for name in _LIBRARY),
    kernel="__kernel void",
    grouped="__kernel __attribute__((reqd_work_group_size({items}, 1, 1))) void",
    pointer="__global ",
    shared="__local ",
    barrier="barrier(CLK_LOCAL_MEM_FENCE);",
    places=("get_global_id(0)", "get_global_id(1)", "get_global_id(2)"),
    group=("get_group_id(0)", "get_group_id(1)", "get_group_id(2)"),
    item="get_local_id(0)",
    helper="static inline",
)
CUDA = Dialect(
    name="cuda",
    prelude=_typedefs("long long") + "typedef double f64;\n" + _CUDA_BUILT_IN,
    kernel='extern "C" __global__ void',
    grouped='extern "C" __global__ void __launch_bounds__({items}, {groups})',
    pointer="",
    shared="__shared__ ",
    barrier="__syncthreads();",
    places=(
        "(i64)blockIdx.x * blockDim.x + threadIdx.x",
        "(ag_first[0] + blockIdx.y) * blockDim.y + threadIdx.y",
        "(ag_first[1] + blockIdx.z) * blockDim.z + threadIdx.z",
    ),
    group=("(i64)blockIdx.x", "(ag_first[0] + blockIdx.y)", "(ag_first[1] + blockIdx.z)"),
    item="threadIdx.x",
    helper="static __device__ inline",
)


def source(found: WorkItems, dialect: Dialect, width: int = 1, dense: bool = False) -> str:
    """Return the text of a kernel with all that it needs.

    `width`: work items of a group that reduces; a power of two.  `dense`: all operands have stride 1 along the last
    reduced loop, or the last loop of a kernel that reduces none: compilers for processors make vectors of such items.
    """
    needed = {*helpers(found.kernel), *helpers_of(_combination(f, "0") for f in found.folds)}
    needed -= {h.name for h in PROTOTYPES}
    texts = [dialect.prelude, *(helper_text(HELPERS[name].text, dialect) for name in in_order(needed))]
    return "\n".join([*texts, _kernel(found, dialect, width, dense)])


def opening(dialect: Dialect) -> str:
    """Return the head of a text: types, and functions under the names of the C library."""
    return dialect.prelude


def needs_float64(text: str) -> bool:
    """Whether a kernel computes in float64 anywhere."""
    return bool(_FLOAT64.search(text.removeprefix(OPENCL.prelude)))


def helper_text(text: str, dialect: Dialect) -> str:
    """Return the text of a helper; its tables lose `static`, which functions of OpenCL lack."""
    return re.sub(r"^static inline", dialect.helper, text, flags=re.M).replace(" static const ", " const ")


def _kernel(found: WorkItems, dialect: Dialect, width: int, dense: bool) -> str:
    kernel = found.kernel
    parameters = ", ".join(_parameter(p, dialect) for p in kernel.parameters)
    lines = [f"/* {kernel.comment} */", f"{dialect.kernel} {kernel.name}({parameters})", "{"]
    lines += [f"{INDENT}{p.name} += {p.name}_start;" for p in kernel.parameters if p.is_pointer]
    if dense:
        found = _along_ones(found)
    inside = _reducing(found, dialect, width) if found.reduced else _elementwise(found, dialect)
    return "\n".join([*lines, *(INDENT + line for line in inside), "}", ""])


def _parameter(parameter: Parameter, dialect: Dialect) -> str:
    if not parameter.is_pointer:
        return f"{C_TYPES[parameter.dtype]} {parameter.name}"
    const = "const " if parameter.const else ""
    return f"{dialect.pointer}{const}{storage_type(parameter.dtype)} *{parameter.name}, i64 {parameter.name}_start"


def _along_ones(found: WorkItems) -> WorkItems:
    """Return the kernel for strides of 1 along its last loop."""
    last = (found.reduced or found.kept)[-1:]
    names = {p.name for p in found.kernel.parameters for loop in last if p.name.endswith(f"_s{loop}")}
    body = substituted(found.kernel.body, dict.fromkeys(names, ONE))
    return replace(found, kernel=replace(found.kernel, body=body))


def _elementwise(found: WorkItems, dialect: Dialect) -> Iterator[str]:
    yield from _indices(found.kept, dialect.places, bounded=True)
    yield from _lines(found.kernel.body, dialect)


def _indices(loops: tuple[int, ...], places: tuple[str, str, str], bounded: bool) -> Iterator[str]:
    """Yield the lines that compute loop indices from the grid: one axis each for two loops, one for the others."""
    for axis, loop in enumerate(loops[:-3:-1]):
        yield f"const i64 i{loop} = {places[axis]};"
        if bounded:
            yield f"if (i{loop} >= n{loop}) return;"
    outer = loops[:-2]
    if not outer:
        return
    yield f"i64 rest = {places[2]};"
    for loop in outer[:0:-1]:
        yield f"const i64 i{loop} = rest % n{loop};"
        yield f"rest /= n{loop};"
    yield f"const i64 i{outer[0]} = rest;"
    if bounded:
        yield f"if (rest >= n{outer[0]}) return;"


def _reducing(found: WorkItems, dialect: Dialect, width: int) -> Iterator[str]:
    """Yield the body of a reduction: each item folds every `width`-th value, then a tree in local memory."""
    yield from _indices(found.kept, dialect.group, bounded=False)
    yield f"const i64 item = {dialect.item};"
    for fold in found.folds:
        yield f"{dialect.shared}{storage_type(fold.identity.dtype)} tree{fold.output}[{width}];"
        yield f"{C_TYPES[fold.identity.dtype]} {fold.value} = {_identity(fold)};"
    yield f"const i64 count = {' * '.join(f'n{loop}' for loop in found.reduced)};"
    yield f"for (i64 at = item; at < count; at += {width}) {{"
    yield f"{INDENT}i64 left = at;"
    for loop in found.reduced[:0:-1]:
        yield f"{INDENT}const i64 i{loop} = left % n{loop};"
        yield f"{INDENT}left /= n{loop};"
    yield f"{INDENT}const i64 i{found.reduced[0]} = left;"
    yield from (INDENT + line for line in _lines(found.kernel.body, dialect))
    yield "}"
    yield from _tree(found.folds, dialect, width)
    yield "if (item == 0) {"
    for fold in found.folds:
        yield f"{INDENT}y{fold.output}[{_place(found, fold.output)}] = tree{fold.output}[0];"
    yield "}"


def _tree(folds: tuple[Fold, ...], dialect: Dialect, width: int) -> Iterator[str]:
    for fold in folds:
        yield f"tree{fold.output}[item] = {fold.value};"
    yield dialect.barrier
    yield f"for (i64 half = {width // 2}; half > 0; half /= 2) {{"
    yield f"{INDENT}if (item < half) {{"
    for fold in folds:
        other = f"tree{fold.output}[item + half]"
        yield f"{INDENT * 2}{fold.value} = {expression(_combination(fold, other))};"
        yield f"{INDENT * 2}tree{fold.output}[item] = {fold.value};"
    yield f"{INDENT}}}"
    yield INDENT + dialect.barrier
    yield "}"


def _combination(fold: Fold, other: str) -> Expr:
    return fold.with_value(Local(fold.identity.dtype, other))


def _identity(fold: Fold) -> str:
    return constant(Const(fold.identity.dtype, fold.identity.value))[0]


def _place(found: WorkItems, output: int) -> str:
    """Return the index of the element of an output that a group computes."""
    loops = found.kernel.outputs[output].loops
    return " + ".join(f"i{loop} * {stride_name(f'y{output}', loop)}" for loop in loops) or "0"


def _lines(body: Body, dialect: Dialect) -> Iterator[str]:
    """Yield the statements of an element, with address spaces in front of the pointers into arrays."""
    for statement in body:
        qualifier = dialect.pointer if isinstance(statement, ElementPointer) else ""
        yield from (qualifier + line for line in statements([statement], 0))
