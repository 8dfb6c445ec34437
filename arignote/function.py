"""The data path on one screen: expression -> graph -> optimizers -> C -> a function."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache, partial
from typing import Any

import numpy as np

from . import later
from .cbackend import (
    PREBUILT,
    Attempt,
    Cache,
    CompileError,
    Executable,
    HeadStart,
    Reference,
    Toolchain,
    compile_graph,
    core_source,
    recalled_graph,
    reference_graph,
)
from .cbackend.ir.schedule import Schedule, as_schedules
from .compile_progress import Progress, Silence, progress
from .compiled import CheckedFunction, Function
from .database import optdb
from .graph import FunctionGraph, Replacement
from .graph import parse as parse_text
from .graph.pointing import printable
from .mode import Mode, as_mode
from .notices import notice
from .ops.vocabulary import vocabulary
from .optimization import Optimization
from .options import Options, as_budget, as_threads, process_options
from .profiling import RunProfile
from .profiling.collection import collect, collecting
from .record.forks import fork_safe_lock
from .recorder import process_recorder
from .remembered import key_of
from .signature import Pairs, Signature, make_signature
from .tiered import Tiered


def function(
    inputs: Any, outputs: Any, updates: Pairs = None, givens: Pairs = None, mode: Any = None, name: str | None = None,
    profile: bool | None = None, on_unused_input: str = "raise", allow_input_downcast: bool | None = None,
    threads: int | None = None, debug_info: bool | None = None, tiered: bool | None = None,
    compile_budget: float | None = None, schedule: Mapping[str, Schedule] | None = None,
) -> Function:  # fmt: skip
    """The function that computes `outputs` from `inputs`, optimized and compiled.

    Args:
        inputs: list of variables; the call takes their values in this order, or by their names.
        outputs: a variable, a list or dict of them, or None; the call returns its values in the same form.
        updates: pairs (shared variable, new value) or a dict; after each call the shared variables hold the new values.
        givens: pairs (variable, replacement) or a dict: puts expressions in the place of variables.
        mode: "FAST_RUN" (default), "FAST_COMPILE", "DEBUG", "NUMPY", a Mode, a Query, or the text of a query, such as
            "fast_run -inplace".
        name: what messages and profiles call the function.
        profile: whether to keep a run profile (`f.profile`).
        on_unused_input: "raise", "warn" or "ignore".
        allow_input_downcast: whether arrays of a wider dtype are cast to the input's; by default only Python numbers
            are.
        threads: how many threads a call may use, the BLAS included; by default as many as the process may use of the
            processors (affinity, container quota).  Results do not depend on it.
        debug_info: whether gdb, sanitizers and messages of the C compiler speak of your lines; mode DEBUG does it
            always.  The C then names your files.
        tiered: whether the function is to answer at once, run by NumPy until its C is ready; see `f.ready` and
            `f.wait`.  A profiled function waits for its C all the same.
        compile_budget: how many seconds to wait for the C at most before that; it makes the function tiered.  The
            default of a tiered function is 0.05, enough for C that lies in the cache.
        schedule: how kernels go about their loops, by the names of kernels: `f.schedule()`, perhaps changed.  Others
            have what `ag.tune` found for them on this processor, or the default.

    Raises:
        TypeError, ValueError: naming the argument at fault.
    """
    options = process_options()
    mode = as_mode(mode) if mode is not None else _mode_of(options)
    signature = make_signature(inputs, outputs, updates, givens, on_unused_input)
    if not isinstance(name, (str, type(None))):
        raise TypeError(f"function: name is {name!r}; expected text")
    said = {"profile": profile, "allow_input_downcast": allow_input_downcast, "debug_info": debug_info}
    for argument, value in said.items():
        if not isinstance(value, (bool, int, np.bool_, type(None))):
            raise TypeError(f"function: {argument} is {value!r}; expected True, False or None")
    name = printable(name or "function")
    if mode.backend == "c":
        head_start()
    with progress(name) as shown:
        return _compiled(
            signature, Optimization(signature.graph, mode, options.strict, optdb), mode, name,
            options.profile if profile is None else profile, allow_input_downcast,
            as_threads("threads", threads, options.threads), debug_info, as_budget(tiered, compile_budget, options),
            None if schedule is None else as_schedules(schedule), shown,
        )  # fmt: skip


def _mode_of(options: Options) -> Mode:
    """The mode of functions that name none.  Raises ValueError, naming the variable, for one that there is not."""
    try:
        return as_mode(options.mode)
    except ValueError as error:
        raise ValueError(f"ARIGNOTE_MODE: {error}") from None


def _compiled(
    signature: Signature, optimization: Optimization, mode: Mode, name: str, profile: bool,
    allow_input_downcast: bool | None = None, threads: int | None = None, debug_info: bool | None = None,
    budget: float | None = None, schedule: Mapping[str, Schedule] | None = None,
    shown: Progress | Silence | None = None,
) -> Function:  # fmt: skip
    debug_info = mode.check or (process_options().debug_info if debug_info is None else debug_info)
    recorder, level = process_recorder(), process_options().debug
    run_profile = RunProfile(name) if profile or collecting() or recorder or level > 1 else None
    plain = not (run_profile or mode.check or debug_info or schedule is not None)
    containers = [None] * signature.n_inputs + [s.container for s in signature.shared]
    how: dict[str, Any] = {
        "name": name, "shared": containers, "allow_input_downcast": allow_input_downcast, "threads": threads,
    }  # fmt: skip
    remembered = plain and mode.backend == "c" and not optimization.is_done
    executable: Any
    executable = _recalled(signature.graph, optimization, mode, how) if remembered else None
    if executable is None:
        how |= {"profile": run_profile, "debug_info": debug_info, "schedule": schedule, "backend": mode.backend}
        with head_start().compiler_ahead() if mode.backend == "c" else nullcontext():
            graph = optimization.graph
            if shown is not None:
                shown.stage = "making C"
            kept = remembered and not optimization.profile.all_failures()
            make = partial(_executable, graph, key=partial(key_of, signature.graph, mode) if kept else None, **how)
            if budget is None or mode.backend != "c" or run_profile is not None:
                executable = make()
            else:
                executable = tiered = Tiered(make(backend="numpy"), make, name)
                tiered.join(budget)
    if level > 1 and run_profile is not None:
        executable = later.narration.Narrated(executable, run_profile, name)
    kind = CheckedFunction if mode.check else Function
    restore = partial(
        _restored, allow_input_downcast=allow_input_downcast, threads=threads, debug_info=debug_info, budget=budget,
        schedule=schedule,
    )  # fmt: skip
    function = kind(signature, optimization, executable, mode, name, run_profile, restore)
    if run_profile is not None:
        collect(name, optimization.profile, run_profile)
    if recorder is not None:
        recorder.add(function)
    if level:
        later.narration.narrate(function, level)
    return function


def _restored(
    signature: Signature, graph: FunctionGraph, mode: Mode, name: str, profile: bool, optimizer_profile: Any = None,
    journal: Sequence[Replacement] = (), **how: Any,
) -> Function:  # fmt: skip
    """The function of a graph that is optimized."""
    return _compiled(signature, Optimization.done(graph, mode, optimizer_profile, journal), mode, name, profile, **how)


def recompiled(function: Function, schedule: Mapping[str, Schedule]) -> Function:
    """The function under other schedules."""
    restore, made_of = function.__reduce__()
    again: Function = restore(*made_of, function.optimizer_profile, function.journal, schedule=schedule)
    return again


def _recalled(
    graph: FunctionGraph, optimization: Optimization, mode: Mode, how: Mapping[str, Any]
) -> Executable | None:
    """What runs the graph, if an earlier compilation left it in the cache."""
    toolchain = head_start().known
    key = toolchain and key_of(graph, mode, toolchain)
    if not toolchain or not key:
        return None
    try:
        return recalled_graph(
            key, graph, lambda: optimization.graph, toolchain=toolchain, cache=process_cache(), **how
        )
    except CompileError:  # the usual way says what is wrong
        return None


def _executable(
    graph: FunctionGraph, *, backend: str, key: Callable[[Toolchain], bytes | None] | None, **how: Any
) -> Executable | Reference:
    """What runs the graph: C, or NumPy where that was asked for, where no compiler works, and where it refuses this C.

    `how`: the keywords that `compile_graph` and `reference_graph` share.  `key`: what C is to be kept under.

    Raises:
        CompileError: the compiler refuses the C, and the option `strict` is set.
    """
    toolchain = find_toolchain() if backend == "c" else None
    if toolchain is None:
        return reference_graph(graph, **how)
    strict = process_options().strict
    try:
        executable = compile_graph(graph, toolchain=toolchain, cache=process_cache(), strict=strict, **how)
    except CompileError as error:
        if strict:
            raise
        notice(f"{how['name']} is run by NumPy, with the same results: {' '.join(str(error).splitlines()[:2])}")
        return reference_graph(graph, **how)
    found = key and key(toolchain)
    if found:
        executable.keep(found, process_cache())
    return executable


@lru_cache(maxsize=1)
def process_cache() -> Cache:
    """The cache of compiled code that this process uses."""
    options = process_options()
    return Cache.open(options.cache, key_file=options.cache_key, prebuilt=PREBUILT if options.prebuilt else None)


@lru_cache(maxsize=1)
def head_start() -> HeadStart:
    """The search for the compiler of this process, begun but not waited for."""
    try:
        text = core_source()
    except CompileError:  # whoever compiles says so
        text = None
    start = HeadStart(process_cache(), process_options().cc, text)
    _tell_of(start.refused_cc, start.known)
    return start


def _tell_of(refused: Attempt | None, toolchain: Toolchain | None) -> None:
    """Give a notice of the compiler that the variable CC names in vain."""
    if refused is not None:
        problem = str(refused.problem).splitlines()[0]
        instead = f" {shlex.join(toolchain.command)} compiles instead." if toolchain else ""
        notice(f"CC names {shlex.join(refused.command)}: {problem}.{instead} Unset CC, or correct it.")


_finding = fork_safe_lock()


@lru_cache(maxsize=1)
def find_toolchain() -> Toolchain | None:
    """The compiler of this process, or None, with one notice, if there is none that works."""
    with _finding:
        known, result = head_start().known, head_start().search()
    found = result.toolchain
    if known is None:
        _tell_of(result.refused_cc, found)
    if found is None:
        named = f" (ARIGNOTE_CC names {process_options().cc})" if process_options().cc else ""
        notice(
            f"no working C compiler{named}; functions are run by NumPy, with the same results. "
            "`python -m arignote doctor` says what was tried and what helps."
        )
    return found


def parse(text: str) -> FunctionGraph:
    """The graph that `text` describes, the inverse of `str(graph)`.

    Raises:
        ParseError: a ValueError that names the line.
    """
    return parse_text(text, vocabulary())  # type: ignore[no-any-return]
