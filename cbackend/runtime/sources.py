"""The C texts of the runtime: its core, the products and the factorizations of a dtype, the native entries."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ...targets.costs import Costs
from ..abi import declarations as abi
from ..abi.driver_functions import DRIVER_FUNCTIONS, DRIVER_TYPES
from ..build.compiler_process import CompileError

_HERE = Path(__file__).parent
PREBUILT = _HERE.parent / "prebuilt"
"""The folder of prebuilt libraries in an installed package; see prebuilt.py."""
_CORE = ("runtime.c", "arena.c", "interrupt.c", "team.c", "launch.c", "pipeline.c", "blas_gate.c")
_ALONE = ("runtime.c", "arena.c", "alone.c", "launch.c", "pipeline.c")
_GEMM = "../gemm/"
_PRODUCTS = (
    *(_GEMM + name for name in ("arithmetic.c", "tile.c", "panels.c", "blocks.c", "little.c", "vector.c")),
    "linear_algebra.c",
    _GEMM + "choices.c",
)  # fmt: skip
_KERNELS = "../kernels/"
_SLOTS = _KERNELS + "slots.h"
_CONVOLUTIONS = tuple(
    f"{_KERNELS}{name}.c"
    for name in (
        "convolutions/strips", "convolutions/direct", "convolutions/depthwise", "pools/pools", "pools/neighbours",
        "convolutions/grouped", "convolutions/winograd", "convolutions/pairs", "convolutions/kernel_gradient",
    )
)
_MORE_PRODUCTS = (
    _GEMM + "batch.c", _KERNELS + "convolutions/windows.c", _KERNELS + "attention/attention.c", _SLOTS,
    _GEMM + "table.c",
)  # fmt: skip

_BYTES = tuple(
    f"{_GEMM}{name}.c"
    for name in (
        "arithmetic", "bytes", "byte_registers", "byte_sums", "byte_products", "tables", "byte_blocks", "nibbles",
        "sparse_work",
    )
)
_SPARSE = _GEMM + "sparse.c"
_BYTE_TABLE = (
    *(f"{_GEMM}{name}.c" for name in ("sparse_columns", "two_of_four", "bfloats")), _SLOTS, _GEMM + "byte_table.c",
)  # fmt: skip
_NUMBERS = ("float", "double")
"""The element types with which sparse.c is included."""

_NATIVE = ("../calls/native_entry.c", "../calls/native_bound.c")

# How linear_algebra.c knows a dtype: its member of the table, its C type, the type of its parts, whether it is complex.
_TYPES = {
    "float32": ("f32", "float", "float", 0),
    "float64": ("f64", "double", "double", 0),
    "complex64": ("c64", "_Complex float", "float", 1),
    "complex128": ("c128", "_Complex double", "double", 1),
}

BYTES = "int8"
"""The dtype that selects products of bytes, signed or unsigned."""

MEMBERS = {dtype: row[0] for dtype, row in _TYPES.items()} | {BYTES: "i8"}
"""The member of the table with the products of a dtype; its factorizations are in `solve_` + member."""

_ALL_LOOPS = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("tree-loop-vectorize")
#endif
"""
"""Options for prebuilt code, which is optimized more than the code of programs."""


@lru_cache(maxsize=2)
def core_source(alone: bool = False) -> str:
    """Return the C text of all but the matrix products, with the functions of drivers.

    `alone`: for a machine without threads and signals.

    Raises:
        CompileError: a file of ours cannot be read.
    """
    functions = "\n".join((DRIVER_TYPES, *DRIVER_FUNCTIONS.values(), ""))
    costs = Costs()  # of no target: there is one core for a process
    numbers = f"enum {{ TASK_NS = {costs.task // 1000}, ALONE_NS = {costs.shared // 1000} }};\n"
    more, last = abi.CALL_DECLARATIONS + numbers, ("table.c",) if alone else ("table.c", "forks.c")
    text = _with_declarations(*(_ALONE if alone else _CORE), more=more) + functions + _joined(*last)
    return f"#define AG_ALONE\n{text}" if alone else text


def product_source(
    dtype: str, *, fallback: bool = False, blas_first: bool = False, convolutions: bool = True
) -> str:
    """Return the C text of the matrix products of one dtype, a key of MEMBERS.

    `fallback`: as small as will do beside a BLAS that has gemv, ger and dot; `blas_first`: matrices go to the BLAS even
    where our own loops are as fast; `convolutions`: with those in blocks of channels.
    """
    if dtype == BYTES:
        text = _with_declarations(*_BYTES, more="#define BYTES 1\n#define COMPLEX 0\n")
        return "\n".join([text, *map(_sparse, _NUMBERS), _joined(*_BYTE_TABLE)])
    _, name, part, is_complex = _TYPES[dtype]
    head = f"#define T {name}\n#define REAL {part}\n#define COMPLEX {is_complex}\n#define FALLBACK {int(fallback)}\n"
    head += f"#define BLAS_FIRST {int(blas_first)}\n"
    head += "#define CONVOLUTIONS\n" * convolutions
    between = _CONVOLUTIONS if convolutions else ()
    return _with_declarations(*_PRODUCTS, *between, *_MORE_PRODUCTS, more=head)


def _sparse(number: str) -> str:
    """Return the products with sparse matrices of one type."""
    head = f"#define NUMBER {number}\n#define NAMED(name) name##_{number}\n"
    return f"{head}{_joined(_SPARSE)}\n#undef NUMBER\n#undef NAMED\n"


def solver_source(dtype: str) -> str:
    """Return the C text of the factorizations of one dtype."""
    _, name, part, is_complex = _TYPES[dtype]
    head = f"#define T {name}\n#define REAL {part}\n#define COMPLEX {is_complex}\n"
    return _with_declarations("lapack.c", more=head)


@lru_cache(maxsize=1)
def native_source() -> str:
    """Return the C text of the entries that are builtins of Python, the same for all functions.

    Raises:
        CompileError: a file of ours cannot be read.
    """
    return _with_declarations(*_NATIVE, more=abi.CALL_DECLARATIONS + abi.NATIVE_DECLARATIONS)


def _with_declarations(*names: str, more: str = "") -> str:
    return _ALL_LOOPS + abi.C_TYPES + abi.RUNTIME_DECLARATIONS + more + _joined(*names)


def _joined(*names: str) -> str:
    try:
        return "\n".join([(_HERE / name).read_text() for name in names])
    except OSError as error:
        raise CompileError(f"the C of the runtime cannot be read: {error}") from None
