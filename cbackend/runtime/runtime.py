"""The runtime of generated code in this process: its table of functions, its pool, its matrix products.

There is one core for a process, and a table with products for each target.  `load_runtime` builds the small core;
`Runtime.require_blas` adds the products of a dtype when the first program needs them, so that a program without any
pays neither for them nor for the search for a BLAS.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ...record.cached import cached_property
from ...record.forks import fork_safe_lock
from ...targets.processors import processors
from ..abi._abi import ffi
from ..build.build import Library, build, build_all, find
from ..build.compilation import library_key_of_digest
from ..build.prestarted import note
from ..build.toolchain import Toolchain
from ..build.units import Unit
from ..cache.interrupts import postponed
from ..cache.store import Cache
from ..kernels import DRAWS, OF_ALL_DTYPES, uncovered
from .blas import Blas, find_blas
from .clock import Clock
from .draws import numpy_symbols
from .lapack import find_lapack
from .sources import CORE, MEMBERS, dtype_of, libraries, product_unit, solver_unit

_NO_ADDRESSES = (0, 0, 0, 0)
_lock = fork_safe_lock()


class PoolUse(NamedTuple):
    """Bytes of the pool: in use, the peak, and kept for reuse."""

    live: int
    peak: int
    waiting: int


class TeamUse(NamedTuple):
    """Threads: helpers that were started, helpers at work, and the callers that they help."""

    size: int
    helping: int
    callers: int


class Runtime:
    """The runtime of generated code.  `table`: the `ag_runtime *` that goes into each call."""

    def __init__(self, library: Library, source: tuple[Toolchain, Cache], core: Runtime | None = None) -> None:
        """`core`: the runtime for this machine, of which this one has everything but products and factorizations."""
        self._library = library
        self.source = source
        """Builder and cache of the parts of the runtime."""
        self._products: dict[str, Library] = {}
        self._solvers: dict[str, Library] = {}
        main = threading.main_thread().ident or 0
        self.table: Any
        if core is None:
            self.table = library.lib.ag_runtime_table(main, processors())
        else:
            self.table = ffi.new("ag_runtime *", core.table[0])

    def require_blas(self, names: Iterable[str]) -> None:
        """Make `table.f32` ... usable for these libraries: float32, float64, complex64, complex128; int8 is any bytes;
        with convolutions, such as convolutions_float32; formats of packed weights, such as dense_panels_float32.

        Raises:
            CompileError: the toolchain fails on them.
        """
        for name in uncovered([*self._products, *names]):
            if name not in self._products:
                library = build_unit(_needed_products(name), *self.source)
                self.install(name, library, _blas_for(name))

    def install(self, name: str, library: Library, blas: Blas | None) -> None:
        """Make products of a library go through `library` to `blas`; None: to our own loops."""
        with _lock:
            entries = ffi.addressof(self.table, *libraries()[name])
            addresses: Sequence[int] = blas.addresses.get(dtype_of(name), _NO_ADDRESSES) if blas else _NO_ADDRESSES
            addresses = numpy_symbols() if name == DRAWS else addresses
            found = ffi.new("void *[]", [ffi.cast("void *", address) for address in addresses])
            wide, quiet = (int(blas.wide), blas.quiet) if blas else (0, 0)
            library.lib.ag_blas_install(ffi.cast("ag_blas *", entries), found, wide, quiet)
            self._use_blas_threads(blas)
            self._products[name] = library

    def _use_blas_threads(self, blas: Blas | None) -> None:
        """Make calls with few threads limit those of the BLAS."""
        if blas:
            get, set_ = (ffi.cast("void *", address) for address in blas.tuning)
            self._library.lib.ag_blas_threads(get, set_, blas.threads)
            self.table.blas_threads = blas.threads  # of another target the table is a copy

    def require_lapack(self, dtypes: Iterable[str]) -> None:
        """Make `table.solve_f32` ... usable for these dtypes, through the LAPACK in the process or our own loops.

        Raises:
            CompileError: the toolchain fails on them.
        """
        for dtype in dtypes:
            if dtype not in self._solvers:
                library, lapack = build_unit(solver_unit(dtype), *self.source), find_lapack()
                self.install_lapack(dtype, library, lapack.addresses[dtype], lapack.wide)

    def install_lapack(self, dtype: str, library: Library, addresses: Sequence[int], wide: bool) -> None:
        """Make factorizations of `dtype` go through `library` to these routines; zeros: to our own loops."""
        with _lock:
            self._use_blas_threads(find_blas())
            found = ffi.new("void *[4]", [ffi.cast("void *", address) for address in addresses])
            entries = ffi.addressof(self.table, f"solve_{MEMBERS[dtype]}")
            library.lib.ag_lapack_install(entries, found, int(wide))
            self._solvers[dtype] = library

    @cached_property
    def clock(self) -> Clock:
        """The clock of profiled calls."""
        return Clock(self._library.lib, self.table)

    def pool(self) -> PoolUse:
        """Return how much memory the pool holds."""
        return self._ask_pool(-1)

    def shrink_pool(self, keep: int = 0) -> PoolUse:
        """Free unused blocks until `keep` bytes are left, and keep no more than that from now on."""
        return self._ask_pool(keep)

    def _ask_pool(self, keep: int) -> PoolUse:
        out = ffi.new("i64[3]")
        self._library.lib.ag_pool(keep, out)
        return PoolUse(*out)

    def table_for(self, threads: int | None, ticking: bool = False) -> Any:
        """Return the `ag_runtime *` for calls with so many threads; None: as many as the process may use.

        It has the products that are installed now.  `ticking`: its clock is `self.clock`.
        """
        if threads is None and not ticking:
            return self.table
        table = ffi.new("ag_runtime *", self.table[0])
        table.threads = self.table.threads if threads is None else threads
        if ticking:
            table.clock = self.clock.pointer
        return table

    def log_team(self) -> Any:
        """Return the memory where the team logs its work from now on: thread (0: a caller), begin and end of each
        share of parallel work, int64, the newest over the oldest, in ticks of the clock of their call.
        """
        room = ffi.new("i32 *")
        log = self._library.lib.ag_log_team(room)
        return ffi.buffer(log, 3 * 8 * room[0])

    def judge_team(self, wall: Any = None, processor: Any = None) -> None:
        """Forget what the team cost; judge it from now on by two C functions that return ns.  None: the system's."""
        self._library.lib.ag_judge_team(wall or ffi.NULL, processor or ffi.NULL)

    def team(self) -> TeamUse:
        """Return how many helper threads there are, and how many are at work."""
        out = ffi.new("i32[3]")
        self._library.lib.ag_team(out)
        return TeamUse(*out)


_loaded: list[Runtime] = []
_for_targets: dict[tuple[str, ...], Runtime] = {}
"""The runtimes for targets other than this machine, by their flags."""


def load_runtime(toolchain: Toolchain, cache: Cache) -> Runtime:
    """Return the runtime of this process, built on first use and never freed: its blocks outlive their allocators.

    Its pool and its team are those of this machine, whatever the target of the toolchain; its products are the
    target's.

    Raises:
        CompileError: the toolchain fails on it.
    """
    with _lock:
        if not _loaded:
            native = toolchain and toolchain.native
            _loaded.append(Runtime(build_unit(CORE, native, cache), (native, cache)))
        core, flags = _loaded[0], toolchain.target_flags if toolchain else ()
        if flags and flags not in _for_targets:
            _for_targets[flags] = Runtime(core._library, (toolchain, cache), core)
        return _for_targets[flags] if flags else core


def build_program(
    text: str, dtypes: Sequence[str], toolchain: Toolchain, cache: Cache, solvers: Sequence[str] = ()
) -> tuple[Library, Runtime]:
    """Return the library of a generated program, and the runtime with the products and LAPACK it needs.

    What is missing of the program, the runtime, the products and the solvers is compiled side by side.

    Raises:
        CompileError: the toolchain fails on one of them.
    """
    core = [] if toolchain.target_flags or _loaded else [CORE]
    units = [*core, *map(_needed_products, uncovered(dtypes)), *map(solver_unit, solvers)]
    known = [_found(unit, toolchain, cache) for unit in units]
    texts = [text, *(unit.text() for unit, library in zip(units, known, strict=True) if library is None)]
    built = build_all(texts, toolchain, cache)  # held, as those known, until the runtime has found its parts among them
    note(missed=not built[0].from_cache)
    return built[0], runtime_with(dtypes, toolchain, cache, solvers)


def runtime_with(dtypes: Sequence[str], toolchain: Toolchain, cache: Cache, solvers: Sequence[str]) -> Runtime:
    """Return the runtime with products of `dtypes` and LAPACK of `solvers` ready.

    Raises:
        CompileError: the toolchain fails on it, or on one of them.
    """
    runtime = load_runtime(toolchain, cache)
    runtime.require_blas(dtypes)
    runtime.require_lapack(solvers)
    return runtime


@postponed()
def build_unit(unit: Unit, toolchain: Toolchain, cache: Cache) -> Library:
    """Return the library of a unit, whose text is put together only if neither process nor cache has the library.

    Raises:
        CompileError: the toolchain fails on it, or a file of ours cannot be read.
    """
    return _found(unit, toolchain, cache) or build(unit.text(), toolchain, cache)


def _found(unit: Unit, toolchain: Toolchain, cache: Cache) -> Library | None:
    """Return the library of a unit if process or cache has it."""
    return find(library_key_of_digest(unit.digest(cache), toolchain), cache)


def _blas_for(name: str) -> Blas | None:
    """Return the BLAS for a library of products; None for libraries that call none, which need no search for one."""
    return None if name in OF_ALL_DTYPES else find_blas()


def _needed_products(name: str) -> Unit:
    blas = _blas_for(name)
    return product_unit(name, fallback=blas is not None and all(blas.addresses.get(dtype_of(name), ())))
