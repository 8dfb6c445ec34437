"""Kernels for devices, in OpenCL C or CUDA C++, from loop IR: the same printer of expressions with another prelude.

The helpers of ctext/ are C99 that both languages take.  A dialect spells the scalar types, the names of the C library,
the qualifiers of functions and pointers, and how a work item finds its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...record import record
from ..ir.kernel import Kernel
from ..ir.loops import ONE, Body, ElementPointer
from ..ir.operands import Bits, Parameter, operand_name
from ..ir.walk import substituted
from ..ir.work_items import WorkItems
from .emit import INDENT, helpers, statements
from .helper import C_TYPES, storage_type
from .helpers import HELPERS, library
from .preamble import in_order

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
    resident: int
    """Work items that share a processor, each with enough registers for many loads at a time."""
    pointer: str
    """Qualifier of a pointer to an array, with a space behind it."""
    shared: str
    """Qualifier of an array that a group shares, with a space behind it."""
    barrier: str
    near_barrier: tuple[int, str]
    """A number of adjacent items, and the barrier among them."""
    high_product: str
    """Function of the upper half of a product of two u32."""
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
    resident=1024,
    pointer="__global ",
    shared="__local ",
    barrier="barrier(CLK_LOCAL_MEM_FENCE);",
    near_barrier=(1, ""),
    high_product="mul_hi",
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
    resident=1024,
    pointer="",
    shared="__shared__ ",
    barrier="__syncthreads();",
    near_barrier=(32, "__syncwarp();"),
    high_product="__umulhi",
    places=(
        "(i64)blockIdx.x * blockDim.x + threadIdx.x",
        "(ag_first[0] + blockIdx.y) * blockDim.y + threadIdx.y",
        "(ag_first[1] + blockIdx.z) * blockDim.z + threadIdx.z",
    ),
    group=("(i64)blockIdx.x", "(ag_first[0] + blockIdx.y)", "(ag_first[1] + blockIdx.z)"),
    item="threadIdx.x",
    helper="static __device__ inline",
)


def source(found: WorkItems, dialect: Dialect, dense: bool = False) -> str:
    """Return the text of a kernel whose work items compute an element each, with all that it needs.

    `dense`: all operands have stride 1 along the last loop: compilers for processors make vectors of such items.
    """
    kernel = found.kernel
    body = along_ones(kernel.body, kernel, found.kept[-1:]) if dense else kernel.body
    lines = [*_indices(found.kept, dialect.places), *lines_of(body, dialect)]
    return with_helpers(set(helpers(kernel)), dialect, kernel, kernel_text(kernel, dialect, dialect.kernel, lines))


def with_helpers(needed: set[str], dialect: Dialect, kernel: Kernel, text: str) -> str:
    """Return the text of a kernel behind the prelude and the helpers that it needs."""
    needed = (needed | _helpers_of_bits(kernel)) - library()
    texts = [dialect.prelude, *(helper_text(HELPERS[name].text, dialect) for name in in_order(needed))]
    return "\n".join([*texts, text])


def opening(dialect: Dialect) -> str:
    """Return the head of a text: types, and functions under the names of the C library."""
    return dialect.prelude


def needs_float64(text: str) -> bool:
    """Whether a kernel computes in float64 anywhere."""
    return bool(_FLOAT64.search(text.removeprefix(OPENCL.prelude)))


def helper_text(text: str, dialect: Dialect) -> str:
    """Return the text of a helper; its tables lose `static`, which functions of OpenCL lack."""
    return re.sub(r"^static inline", dialect.helper, text, flags=re.M).replace(" static const ", " const ")


def kernel_text(kernel: Kernel, dialect: Dialect, head: str, inside: Iterable[str], further: Iterable[str] = ()) -> str:
    """Return a kernel with these lines.  `head`: its qualifiers; `further`: names of int64 behind its parameters."""
    parameters = ", ".join((*(_parameter(p, dialect) for p in kernel.parameters), *(f"i64 {name}" for name in further)))
    lines = [f"/* {kernel.comment} */", f"{head} {kernel.name}({parameters})", "{"]
    lines += [f"{INDENT}{p.name} += {p.name}_start;" for p in kernel.parameters if p.is_pointer]
    lines += [INDENT + _from_bits(kernel, a.operand) for a in kernel.arguments if isinstance(a, Bits)]
    return "\n".join([*lines, *(INDENT + line for line in inside), "}", ""])


def _from_bits(kernel: Kernel, operand: int) -> str:
    """Return the array of one element for an operand that is passed as bits."""
    dtype, name = kernel.operands[operand].dtype, operand_name(operand, len(kernel.outputs))
    bits = f"{name}_bits" if C_TYPES[dtype] in ("f32", "f64") else f"({C_TYPES[dtype]}){name}_bits"
    number = f"ag_from_bits_{C_TYPES[dtype]}({bits})" if dtype.startswith("float") else bits
    return f"const {storage_type(dtype)} {name}[1] = {{{number}}};"


def _helpers_of_bits(kernel: Kernel) -> set[str]:
    """Return the helpers that turn bits into numbers."""
    dtypes = {C_TYPES[kernel.operands[a.operand].dtype] for a in kernel.arguments if isinstance(a, Bits)}
    return {f"ag_from_bits_{t}" for t in dtypes & {"f32", "f64"}}


def _parameter(parameter: Parameter, dialect: Dialect) -> str:
    if not parameter.is_pointer:
        return f"{C_TYPES[parameter.dtype]} {parameter.name}"
    const = "const " if parameter.const else ""
    return f"{dialect.pointer}{const}{storage_type(parameter.dtype)} *{parameter.name}, i64 {parameter.name}_start"


def along_ones(body: Body, kernel: Kernel, loops: Iterable[int]) -> Body:
    """Return statements of a kernel for operands with stride 1 along some loops."""
    names = {p.name for p in kernel.parameters for loop in loops if p.name.endswith(f"_s{loop}")}
    return substituted(body, dict.fromkeys(names, ONE))


def _indices(loops: tuple[int, ...], places: tuple[str, str, str]) -> Iterator[str]:
    """Yield the lines that compute loop indices from the grid: one axis each for two loops, one for the others."""
    for axis, loop in enumerate(loops[:-3:-1]):
        yield f"const i64 i{loop} = {places[axis]};"
        yield f"if (i{loop} >= n{loop}) return;"
    yield from outer_indices(loops[:-2], places[2])
    if loops[:-2]:
        yield f"if (i{loops[0]} >= n{loops[0]}) return;"


def outer_indices(loops: tuple[int, ...], place: str) -> Iterator[str]:
    """Yield the lines that compute the indices of several loops from one number."""
    if loops:
        yield f"i64 rest = {place};"
    for loop in loops[:0:-1]:
        yield f"const i64 i{loop} = rest % n{loop};"
        yield f"rest /= n{loop};"
    if loops:
        yield f"const i64 i{loops[0]} = rest;"


def lines_of(body: Body, dialect: Dialect) -> Iterator[str]:
    """Yield the statements of an element, with address spaces in front of the pointers into arrays."""
    for statement in body:
        qualifier = dialect.pointer if isinstance(statement, ElementPointer) else ""
        yield from (qualifier + line for line in statements([statement], 0))
