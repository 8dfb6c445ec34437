"""Executable: a compiled graph as a callable; arrays in, arrays out, one C call.

plan -> c_file -> build_program -> Caller          each step's result is kept for inspection
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from ...graph import FunctionGraph
from ...ops.lowered.assumed import BrokenAssumption
from ...profiling import Roofline, RunProfile
from ...record.cached import cached_property
from ...record.spelling import counted
from ...record.stages import report
from ...targets.current import using
from ...targets.named import host
from ...targets.target import Target
from ..build.compilation import library_key
from ..build.compiler_process import CompileError
from ..build.prestarted import prestarted_compiler
from ..build.toolchain import Toolchain
from ..cache.store import Cache
from ..driver.driver import c_file, c_text
from ..driver.listing import with_lines
from ..driver.page import CFile
from ..driver.units import may_be_in_units
from ..ir.kernel import Kernel
from ..ir.schedule import Schedule
from ..program.accounts import moments_at
from ..program.choices import Choices
from ..program.plan import plan
from ..program.program import Program
from ..runtime.runtime import build_program, runtime_with
from .binding import Binding, bind_caller
from .caller import Caller
from .foreseen import foreseen
from .interface import interface_of
from .measured import Measured
from .native_jit import Calls
from .plain import PlainCall
from .profile_rows import rows
from .recall import keep, recall
from .roofline import roofline


class Executable:
    """A compiled graph.  Call it with one value for each input that is not shared, in order.

    It returns the outputs that are no updates, as a list of arrays that share memory with nothing; after success the
    containers of updated inputs hold their new values.  Immutable, and safe in threads.
    """

    backend = "c"
    is_tiered = False

    def __init__(
        self, caller: Caller, c_file: CFile | None, compile_seconds: float, target: Target | None = None
    ) -> None:
        self._caller, self._c_file, self._target = caller, c_file, target
        self.entry: Callable[..., list[np.ndarray]] = caller.entry
        """The function that runs calls."""
        self.compile_seconds = compile_seconds
        """Seconds of planning, printing, compiling and loading."""
        self._general: tuple[Callable[[], FunctionGraph], Callable[[FunctionGraph], Any]] | None = None
        self.broken: int = 0
        """Calls that broke the assumptions of the graph."""

    def fall_back(self, general: Callable[[], FunctionGraph], compile: Callable[[FunctionGraph], Any]) -> None:
        """Run calls that break the assumptions of the graph by another one, `general()`, compiled by `compile`."""
        self._general, self._caller.falls_back = (general, compile), True

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        try:
            return self.entry(*arguments)
        except BrokenAssumption as error:
            return self._in_general(error, arguments)

    def _in_general(self, error: BrokenAssumption, arguments: Sequence[Any]) -> list[np.ndarray]:
        """Run a call that breaks the assumptions of the graph.

        Lengths that certainly disagree need no compilation: the general program says what is wrong.
        """
        if self._general is None:
            raise error
        self.broken += 1
        certain = None if "without_assumptions" in self.__dict__ else self.foreseen(arguments)
        if certain is not None:
            raise certain from None
        return self.without_assumptions(*arguments)  # type: ignore[no-any-return]

    def foreseen(self, arguments: Sequence[Any]) -> Exception | None:
        """Return the exception that the lengths of arguments lead to in the graph without assumptions, if they do."""
        given = iter(arguments)
        shapes = [np.shape(next(given) if c is None else c.value) for c in self._caller.shared]
        return foreseen(self._caller.name, self._general_program, shapes)

    @cached_property
    def _general_graph(self) -> FunctionGraph:
        assert self._general is not None
        return self._general[0]()

    @cached_property
    def _general_program(self) -> Program:
        with using(self._target or host()):
            return plan(self._general_graph)

    @cached_property
    def without_assumptions(self) -> Any:
        """The executable of the graph that assumes nothing, compiled by the first call that needs it."""
        assert self._general is not None
        return self._general[1](self._general_graph)

    @property
    def _for_any_lengths(self) -> Caller | None:
        """The calls for C, where no second function stands behind a broken assumption; None without a toolchain."""
        assumes = self._caller.interface.assumed and self._general is not None
        found = self.without_assumptions if assumes else self
        return found._caller if isinstance(found, Executable) else None

    def native(
        self, other: Callable[..., Any], as_list: bool, stored: Sequence[list[Any]] = (), kept: Sequence[list[Any]] = ()
    ) -> Callable[..., Any] | None:
        """Return a builtin that runs calls with plain arrays; `other` runs all others.

        Both return one array, or all of them `as_list`.  None for functions with side effects, or without a toolchain.
        `stored`, `kept`: lists of one element, from which the last inputs come and to which the last outputs go.
        """
        return self._caller.native(other, as_list, stored, kept)

    def native_jit(self, other: Callable[..., Any], calls: Calls) -> Callable[..., Any] | None:
        """Return a builtin for the calls of a jitted function; `other` runs those that a trace does not serve."""
        return self._caller.native_jit(other, calls)

    def plain_call(self, inputs: Sequence[Any] | None = None) -> PlainCall | None:
        """Return the address of this executable for callers in C.

        `inputs`: an array for each input that is bound, a shape for each that the caller gives; None for callers that
        give all arrays and lengths, such as SciPy's.  The result is None for functions with side effects, with a
        profile, or, for given inputs, whose results have lengths that only a call tells.
        """
        caller = self._for_any_lengths
        return None if caller is None else caller.plain_call(inputs)

    def bind(self, arguments: Sequence[Any], out: Sequence[np.ndarray] | None) -> Binding:
        """Bind this executable to arrays; see binding.py."""
        binding = bind_caller(self._caller, arguments, out)
        if binding is not None:
            return binding.guarded(self._in_general)
        self.broken += 1
        return self.without_assumptions.bind(arguments, out)  # type: ignore[no-any-return]

    def native_bound(self, binding: Binding, result: Any, other: Callable[..., Any]) -> Callable[..., Any] | None:
        """Return a builtin that runs `binding` and returns `result`; `other` handles all failures.

        None where the function has side effects or a profile, or the toolchain fails.
        """
        if not binding.settled:
            return None
        caller = self._caller if binding.caller is None else binding.caller
        return caller.native_bound(binding.inputs, binding.outputs, result, other)

    def entry_on(self, values: Mapping[Any, np.ndarray]) -> Callable[..., list[np.ndarray]] | None:
        """Return this executable for containers that hold these arrays at each call; see `Caller.entry_on`."""
        entry = self._caller.entry_on(values)
        if entry is None:
            return None

        def call(*arguments: Any) -> list[np.ndarray]:
            try:
                return entry(*arguments)
            except BrokenAssumption as error:
                return self._in_general(error, arguments)

        return call

    def watch(
        self, places: Sequence[int], expected: Sequence[int], memory: int, types: Sequence[type],
        lent: Sequence[tuple[int, int, np.ndarray, np.ndarray]],
    ) -> Callable[[list[Any]], bool] | None:  # fmt: skip
        """Return a builtin: whether elements of a list have their memory, and values in it; see `native_watch`."""
        return self._caller.watch(places, expected, memory, types, lent)

    @cached_property
    def c_file(self) -> CFile:
        """Return the C file, and the lines that belong to each node."""
        with using(self._target or host()):
            return self._c_file or c_file(self.program)

    @property
    def source(self) -> str:
        """Return the whole C file as text."""
        return self.c_file.text

    @property
    def program(self) -> Program:
        return self._caller.program

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return self._caller.program.kernels

    @property
    def threads(self) -> int | None:
        """Limit of threads per call; None: all processors of the process."""
        return self._caller.threads

    @property
    def path(self) -> Path | None:
        """Path of the library in the cache, with its C beside it; None if it could not be stored."""
        return self._caller.library.path

    def keep(self, key: bytes, cache: Cache) -> bool:
        """Store what `recalled_graph` needs; return whether it was stored.  The executable has no profile."""
        return keep(key, self._caller.name, self._caller.interface, self._caller.library, self.kernels, cache)

    @property
    def from_cache(self) -> bool:
        return self._caller.library.from_cache


def compile_graph(
    graph: FunctionGraph, *, name: str, shared: Sequence[Any], toolchain: Toolchain, cache: Cache,
    profile: RunProfile | None = None, allow_input_downcast: bool | None = None, threads: int | None = None,
    debug_info: bool = False, schedule: Mapping[str, Schedule] | None = None, strict: bool = False,
    target: Target | None = None,
) -> Executable:  # fmt: skip
    """Return the executable of `graph`.

    `shared`: for each input the container that its value comes from, or None for an argument.  `graph.updates` are
    written to the containers after success.  `profile`: receives what each call costs; the C then has clocks in it.
    `debug_info`: debuggers and compilers get the user's lines.
    `schedule`: schedules of kernels by name; others have those that were found by measuring, or the default.
    `strict`: verify each kernel before it becomes C.
    `threads`: how many a call may use, the BLAS included; None: as many as the process has processors.
    `target`: the machine that the code is for, which this one must run; None: this one.

    Raises:
        CompileError: the toolchain fails.
        InconsistencyError: the graph overwrites what it still needs.
        ScheduleError: a schedule was given that does not fit its kernel.
        InvalidKernel: a kernel breaks a rule of the loop IR (`strict`).
    """
    start = time.perf_counter()
    toolchain = toolchain.under(target)
    choices = Choices(schedule, Measured(toolchain, cache))
    toolchain = toolchain.debugging if debug_info else toolchain
    with using(target), _compiler_beside(graph, toolchain, cache):
        report(f"planning {counted(len(graph), 'node')}")
        program = plan(graph, choices, strict)
        source = c_file(program, profile is not None)
        source = with_lines(source, program) if debug_info else source
        report(f"compiling {source.text.count(chr(10))} lines of C")
        library, runtime = build_program(source.text, program.products, toolchain, cache, program.solvers)
    caller = Caller(
        name, interface_of(program), lambda: program, library, runtime, shared, profile, allow_input_downcast, threads
    )
    seconds = time.perf_counter() - start
    if profile is not None:
        profile.begin(rows(program), seconds, lambda: _roofline(toolchain, cache), lambda: runtime.clock.seconds)
        profile.watch(moments_at(program), len(program.slots), np.frombuffer(runtime.log_team(), np.int64))
    return Executable(caller, source, seconds, target)


def recalled_graph(
    key: bytes, graph: FunctionGraph, optimized: Callable[[], FunctionGraph], *, name: str, shared: Sequence[Any],
    toolchain: Toolchain, cache: Cache, allow_input_downcast: bool | None = None, threads: int | None = None,
    target: Target | None = None,
) -> Executable | None:  # fmt: skip
    """Return the executable that was stored under `key`, a digest of all it was made from; None if there is none.

    `graph` is the one that the user built, of which `optimized` gives what `compile_graph` was given: it is asked for
    when a call fails, or the program is inspected.  Else as for `compile_graph`.
    """
    start = time.perf_counter()
    toolchain = toolchain.under(target)
    found = recall(key, graph, toolchain, cache)
    if found is None:
        return None
    interface, library = found.interface, found.library

    def program() -> Program:
        with using(target or host()):  # not the target of a block that asks for it later
            planned = plan(optimized(), Choices(found.schedules))
            text = c_text(planned)
        if library_key(text, toolchain) != library.key:
            raise RuntimeError(f"{name}: its graph now generates other C than the cached one; remove {library.path}")
        return planned

    runtime = runtime_with(interface.products, toolchain, cache, interface.solvers)
    caller = Caller(name, interface, program, library, runtime, shared, None, allow_input_downcast, threads)
    return Executable(caller, None, time.perf_counter() - start, target)


def _compiler_beside(graph: FunctionGraph, toolchain: Toolchain, cache: Cache) -> AbstractContextManager[None]:
    """Keep a second compiler waiting during the block, if the C may be long enough for two."""
    return prestarted_compiler(toolchain, cache) if may_be_in_units(graph) else nullcontext()


def _roofline(toolchain: Toolchain, cache: Cache) -> Roofline | None:
    """Return the roofline of this machine; None if it cannot be measured."""
    try:
        return roofline(toolchain, cache)
    except (CompileError, OSError):
        return None
