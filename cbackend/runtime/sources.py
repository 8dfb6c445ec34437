"""The C texts of the runtime: its core, the products and the factorizations of a dtype, the native entries.

Each is a unit, one C file that includes what it needs: core.c, products.c, byte_products.c, sorts.c, solvers.c,
calls/native.c, and each format of packed weights in kernels/packed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from ...record import record
from ..build.units import Unit
from ..kernels import OF_ALL_DTYPES, convolution_libraries, formats, packed_libraries

_HERE = Path(__file__).parent
PREBUILT = _HERE.parent / "prebuilt"
"""The folder of prebuilt libraries in an installed package; see prebuilt.py."""


@record
class _Element:
    """A dtype in element.h: its member of the table, its C type, the type of its parts."""

    member: str
    name: str
    part: str
    is_complex: bool = False


_TYPES = {
    "float32": _Element("f32", "float", "float"),
    "float64": _Element("f64", "double", "double"),
    "complex64": _Element("c64", "_Complex float", "float", True),
    "complex128": _Element("c128", "_Complex double", "double", True),
}

BYTES = "int8"
"""The dtype that selects products of bytes, signed or unsigned."""

MEMBERS = {dtype: own.member for dtype, own in _TYPES.items()} | {BYTES: "i8"}
"""The member of the table with the products of a dtype; its factorizations are in `solve_` + member."""


@cache
def libraries() -> Mapping[str, tuple[str, ...]]:
    """Return the place in the runtime's table, a member or one of its slots, that each library of products fills.

    The names of the libraries are dtypes, those of dtypes with convolutions, of formats of packed weights with a dtype,
    and of tables of all dtypes.
    """
    own = {library: (f"packed_{MEMBERS[dtype]}", name) for library, (name, dtype) in packed_libraries().items()}
    blocks = {library: (MEMBERS[dtype],) for library, dtype in convolution_libraries().items()}
    tables = {table: (table,) for table in OF_ALL_DTYPES}
    return {dtype: (member,) for dtype, member in MEMBERS.items()} | blocks | own | tables


CORE = Unit(_HERE / "core.c", {})
_ALONE = Unit(_HERE / "core.c", {"AG_ALONE": "1"})
_WHOLE = {BYTES: Unit(_HERE / "byte_products.c", {}), **{t: Unit(_HERE / f"{t}.c", {}) for t in OF_ALL_DTYPES}}
"""The units of libraries that no dtype of element.h shapes."""
NATIVE = Unit(_HERE.parent / "calls" / "native.c", {})


def _products(library: str, fallback: bool = False, blas_first: bool = False) -> Unit:
    ways = {"FALLBACK": str(int(fallback)), "BLAS_FIRST": str(int(blas_first))}
    more = {"CONVOLUTIONS": "1"} if library in convolution_libraries() else {}
    return Unit(_HERE / "products.c", _element(dtype_of(library)) | ways | more)


def dtype_of(library: str) -> str:
    """Return the dtype of a library of products, with convolutions or without."""
    return convolution_libraries().get(library, library)


def _format(library: str) -> Unit:
    name, dtype = packed_libraries()[library]
    return Unit(formats()[name][0], _element(dtype))


def solver_unit(dtype: str) -> Unit:
    return Unit(_HERE / "solvers.c", _element(dtype))


def _element(dtype: str) -> dict[str, str]:
    """Return the macros of element.h for a dtype."""
    own = _TYPES[dtype]
    return {"T": own.name, "REAL": own.part, "COMPLEX": str(int(own.is_complex))}


def units() -> list[Unit]:
    """Return every unit, for each dtype, the largest first of those of one file."""
    folder, fields = _HERE.parent, {"INPUTS": "1", "OUTPUTS": "1", "SHARED": "1", "RANK": "2"}
    return [
        CORE, _ALONE, NATIVE, *_WHOLE.values(), *map(_products, convolution_libraries()), *map(_products, _TYPES),
        *map(solver_unit, _TYPES),
        *map(_format, packed_libraries()),
        *(Unit(folder / file, {}) for file in ("build/probe.c", "runtime/roofline.c")),
        *(Unit(folder / "bundle" / file, fields) for file in ("bundle.c", "example.c")),
    ]  # fmt: skip


@lru_cache(maxsize=2)
def core_source(alone: bool = False) -> str:
    """Return the C text of all but the matrix products, with the functions of drivers.

    `alone`: for a machine without threads and signals.

    Raises:
        CompileError: a file of ours cannot be read.
    """
    return (_ALONE if alone else CORE).text()


def product_source(library: str, *, fallback: bool = False, blas_first: bool = False) -> str:
    """Return the C text of `product_unit`."""
    return product_unit(library, fallback=fallback, blas_first=blas_first).text()


def product_unit(library: str, *, fallback: bool = False, blas_first: bool = False) -> Unit:
    """Return the unit of a library: products of a dtype, with convolutions, a format of packed weights, sorts.

    `fallback`: as small as will do beside a BLAS that has gemv, ger and dot; `blas_first`: matrices go to the BLAS even
    where our own loops are as fast.
    """
    if library in packed_libraries():
        return _format(library)
    return _WHOLE.get(library) or _products(library, fallback, blas_first)


def solver_source(dtype: str) -> str:
    """Return the C text of the factorizations of one dtype."""
    return solver_unit(dtype).text()


@lru_cache(maxsize=1)
def native_source() -> str:
    """Return the C text of the entries that are builtins of Python, the same for all functions.

    Raises:
        CompileError: a file of ours cannot be read.
    """
    return NATIVE.text()
