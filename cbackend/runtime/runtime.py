"""The runtime of generated code in this process: its table of functions, its pool, its matrix products.

There is one for a process.  `load_runtime` builds the small core; `Runtime.require_blas` adds the products of a dtype
when the first program needs them, so that a program without any pays neither for them nor for the search for a BLAS.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...record import record
from ..abi import declarations as abi
from ..abi._abi import ffi
from ..build.build import Library, build, build_all
from ..build.toolchain import Toolchain
from ..cache.store import Cache
from .blas import Blas, find_blas

_HERE = Path(__file__).parent
_NO_ADDRESSES = (0, 0, 0, 0)

# How linear_algebra.c knows a dtype: its member of the table, its C type, the type of its parts, whether it is complex.
_TYPES = {
    "float32": ("f32", "float", "float", 0),
    "float64": ("f64", "double", "double", 0),
    "complex64": ("c64", "_Complex float", "float", 1),
    "complex128": ("c128", "_Complex double", "double", 1),
}


class PoolUse(NamedTuple):
    """Bytes of the pool: in use, the most that ever were, and kept for reuse."""

    live: int
    peak: int
    waiting: int


@record
class _Source:
    toolchain: Toolchain
    cache: Cache


class Runtime:
    """What generated code calls.  `table`: the `ag_runtime *` that goes into each call."""

    def __init__(self, library: Library, source: _Source) -> None:
        self._library = library
        self._source = source
        self._lock = threading.Lock()
        self._products: dict[str, Library] = {}
        self.table: Any = library.lib.ag_runtime_table()

    def require_blas(self, dtypes: Iterable[str]) -> None:
        """Make `table.f32` ... usable for these dtypes: float32, float64, complex64, complex128.

        Raises:
            CompileError: the toolchain fails on them.
        """
        for dtype in dtypes:
            if dtype not in self._products:
                library = build(_needed_products(dtype), self._source.toolchain, self._source.cache)
                self.install(dtype, library, find_blas())

    def install(self, dtype: str, library: Library, blas: Blas | None) -> None:
        """Let the products of `dtype` go through `library` to `blas`; None: to our own loops alone."""
        with self._lock:
            addresses = blas.addresses[dtype] if blas else _NO_ADDRESSES
            found = ffi.new("void *[4]", [ffi.cast("void *", address) for address in addresses])
            entries = ffi.addressof(self.table, _TYPES[dtype][0])
            wide, quiet = (int(blas.wide), blas.quiet) if blas else (0, 0)
            library.lib.ag_blas_install(self.table, entries, found, wide, quiet)
            self._products[dtype] = library

    def pool(self) -> PoolUse:
        """How much memory the pool holds."""
        return self._ask_pool(-1)

    def shrink_pool(self, keep: int = 0) -> PoolUse:
        """Give waiting blocks back to the system until `keep` bytes wait, and let no more wait from now on."""
        return self._ask_pool(keep)

    def _ask_pool(self, keep: int) -> PoolUse:
        out = ffi.new("i64[3]")
        self._library.lib.ag_pool(keep, out)
        return PoolUse(*out)

    def watch_interrupt(self) -> bool:
        """Let Ctrl-C raise the stop flag on its way to Python's handler; False where Python has none.

        A call clears the flag before it starts and returns soon after it rises; the KeyboardInterrupt is Python's.
        """
        return bool(self._library.lib.ag_watch_interrupt() == 0)


_lock = threading.Lock()
_loaded: list[Runtime] = []


def load_runtime(toolchain: Toolchain, cache: Cache) -> Runtime:
    """The runtime of this process, built on first use and kept for good: its blocks outlive what allocated them.

    Raises:
        CompileError: the toolchain fails on it.
    """
    with _lock:
        if not _loaded:
            _loaded.append(Runtime(build(core_source(), toolchain, cache), _Source(toolchain, cache)))
        return _loaded[0]


def build_program(text: str, dtypes: Sequence[str], toolchain: Toolchain, cache: Cache) -> tuple[Library, Runtime]:
    """The library of a generated program, and the runtime with the matrix products of `dtypes` ready.

    What is missing of the program, the runtime and the products is compiled side by side.

    Raises:
        CompileError: the toolchain fails on one of them.
    """
    texts = (text, core_source(), *map(_needed_products, dtypes))
    built = build_all(texts, toolchain, cache)  # held until the runtime has found its parts among them
    runtime = load_runtime(toolchain, cache)
    runtime.require_blas(dtypes)
    return built[0], runtime


def core_source() -> str:
    """The C text of the pool, the clock and the stop flag."""
    return _with_declarations("runtime.c")


def product_source(dtype: str, *, fallback: bool = False) -> str:
    """The C text of the matrix products of one dtype; `fallback`: as small as will do beside a BLAS that has them."""
    _, name, part, is_complex = _TYPES[dtype]
    head = f"#define T {name}\n#define REAL {part}\n#define COMPLEX {is_complex}\n#define FALLBACK {int(fallback)}\n"
    return _with_declarations("linear_algebra.c", head)


def _needed_products(dtype: str) -> str:
    blas = find_blas()
    return product_source(dtype, fallback=blas is not None and all(blas.addresses[dtype]))


def _with_declarations(name: str, more: str = "") -> str:
    return abi.C_TYPES + abi.RUNTIME_DECLARATIONS + more + (_HERE / name).read_text()
