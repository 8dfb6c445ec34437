"""The data path on one screen: expression -> graph -> optimizers -> engine -> a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import later
from ..cbackend.ir.schedule import Schedule, as_schedules
from ..database import optdb
from ..engines import Request
from ..engines import engine as engine_of
from ..engines.compiler import find_toolchain, head_start, process_cache
from ..engines.engine import Engine, executable_of
from ..engines.registry import run_by_numpy
from ..engines.registry import tiered as tiered_engine
from ..explain.recorder import process_recorder
from ..graph import FunctionGraph
from ..graph import parse as parse_text
from ..ops.core.vocabulary import vocabulary
from ..options import Options, as_budget, as_threads, process_options
from ..profiling import RunProfile
from ..profiling.collection import collect, collecting
from ..record.quoting import one_line
from ..targets.target import Target
from ..targets.text import as_target
from .checked import CheckedFunction, GuardedFunction
from .compilation import Compilation
from .compile_progress import Progress, Silence, progress
from .compiled import Function
from .executable_cache import key_of
from .mode import Mode, as_engines, as_mode
from .optimization import Optimization
from .signature import Pairs, make_signature

__all__ = ["find_toolchain", "function", "head_start", "parse", "process_cache", "recompiled"]

CHECKED = {True: CheckedFunction, "nan": GuardedFunction}
"""The functions that check each call, by the check of their mode."""
LEAST_NODES = 1000
"""Nodes below which a budget leaves no pass out: rewriting takes about as long as a look at a sample of the graph."""
DASK = "dask"
"""The engine name for Dask: no engine of its own, but calls on blocks."""


def function(
    inputs: Any, outputs: Any, updates: Pairs = None, givens: Pairs = None, mode: Any = None, name: str | None = None,
    profile: bool | None = None, on_unused_input: str = "raise", allow_input_downcast: bool | None = None,
    threads: int | None = None, debug_info: bool | None = None, tiered: bool | None = None,
    compile_budget: float | None = None, schedule: Mapping[str, Schedule] | None = None,
    target: Target | str | None = None, engines: Sequence[str] | None = None,
    engine: str | None = None,
) -> Function:  # fmt: skip
    """The function that computes `outputs` from `inputs`, optimized and compiled.

    Args:
        inputs: list of variables, or a single one; the call takes their values in this order, or by their names.
        outputs: a variable, a list or dict of them, or None; the call returns its values in the same form.
        updates: pairs (shared variable, new value) or a dict; after each call the shared variables hold the new values.
        givens: pairs (variable, replacement) or a dict: puts expressions in the place of variables.
        mode: "FAST_RUN" (default), "FAST_COMPILE", "DEBUG", "NAN", "PROVE", "NUMPY", a Mode, a Query, or the text of a
            query, such as "fast_run -inplace".
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
            default of a tiered function is 0.05, enough for C that lies in the cache.  A graph of 1,000 nodes or more
            whose rewriting would take longer than the budget is rewritten without the passes that save least for
            their time, by the cost model; `f.mode` names them.
        schedule: how kernels go about their loops, by the names of kernels: `f.schedule()`, perhaps changed.  Others
            have what `ag.tune` found for them on this processor, or the default.
        target: the machine to compile for: an `ag.Target`, a name such as "x86_64-linux-v3", or a name and in what the
            target differs from it, "x86_64-linux-v3 threads=1 limits.nodes=50".  By default this machine ("host").
            This machine must run the code.
        engines: names of engines among which the graph is divided, such as `["c", "onnxruntime"]`: each part runs on
            the engine that is estimated or was measured to be fastest, copies included; see `f.explain("partition")`.
        engine: name of the engine that runs it, in place of that of the mode, such as "numpy" or "opencl"; or "dask":
            every call runs block by block on Dask and returns Dask arrays, see `ag.on_dask`.

    Raises:
        TypeError, ValueError: naming the argument at fault.
    """
    options = process_options()
    mode = as_mode(mode) if mode is not None else _mode_of(options)
    if engines is not None:
        mode = mode.dividing(*as_engines(engines, "function"))
    if engine is not None:
        mode = _on_engine(mode, engine, engines)
    signature = make_signature(inputs, outputs, updates, givens, on_unused_input)
    if not isinstance(name, (str, type(None))):
        raise TypeError(f"function: name is {name!r}; expected text")
    message = {"profile": profile, "allow_input_downcast": allow_input_downcast, "debug_info": debug_info}
    for argument, value in message.items():
        if not isinstance(value, (bool, int, np.bool_, type(None))):
            raise TypeError(f"function: {argument} is {value!r}; expected True, False or None")
    target = as_target(target, runs=mode.backend == "c")
    if threads is None and target is not None:
        threads = target.threads or None
    budget = options.compile_budget if compile_budget is None and tiered is None else compile_budget
    if budget is not None and len(signature.graph) >= LEAST_NODES and isinstance(budget, (int, float)):
        mode = later.pass_budget.within_budget(mode, signature.graph, budget, target)
    how = Compilation(
        signature, mode, one_line(name or "function"), options.profile if profile is None else profile,
        allow_input_downcast, as_threads("threads", threads, options.threads),
        options.debug_info if debug_info is None else debug_info, as_budget(tiered, compile_budget, options),
        None if schedule is None else as_schedules(schedule), target, engine == DASK,
    )  # fmt: skip
    engine_of(mode.backend).prepare()
    with progress(how.name) as shown:
        made = _compiled(how, optimization_of(how), shown)
    if profile is None and options.profile:
        later.at_exit.at_exit().add(made.profile)
    return made


def _on_engine(mode: Mode, engine: str, engines: Sequence[str] | None) -> Mode:
    """Return the mode for `ag.function(engine=)`, that of its blocks for "dask".  Raises for an unknown engine."""
    if engines is not None:
        raise ValueError("function: both engines and engine are given; expected one of them")
    if engine == DASK:
        later.chunked.require_dask("function")
        return mode
    return mode.running_on(engine, also=(DASK,))


def optimization_of(how: Compilation) -> Optimization:
    """Return the optimization of the user's graph, not yet run."""
    return Optimization(how.signature.graph, how.mode, process_options().strict, optdb, how.target, how.threads)


def _compiled(how: Compilation, optimization: Optimization, shown: Progress | Silence) -> Function:
    """Return the function of a graph on its way through the optimizers."""
    options, recorder, mode = process_options(), process_recorder(), how.mode
    profile = RunProfile(how.name) if how.profile or collecting() or recorder or options.debug > 1 else None
    engine = engine_of(mode.backend)
    if how.budget is not None and profile is None:
        engine = tiered_engine(engine, how.budget)
    request = _request(how, optimization, profile)
    if mode.divides:
        engine = later.regions.DividedEngine(engine, mode)
    if how.on_dask:
        executable = run_by_numpy(how.signature.graph, request)
    else:
        executable = _executable(engine, how.signature.graph, optimization, request, shown)
    if options.debug > 1 and profile is not None:
        executable = later.narration.Narrated(executable, profile, how.name)
    checked = CHECKED.get(mode.check, Function)
    kind = later.chunked.ChunkedFunction if how.on_dask else checked
    function = kind(how, optimization, executable, profile)
    if mode.check == "prove":
        later.proof.require_proved(function)
    if profile is not None:
        collect(how.name, optimization.profile, profile)
    if recorder is not None:
        recorder.add(function)
    if options.debug:
        later.narration.narrate(function, options.debug)
    return function


def _request(how: Compilation, optimization: Optimization, profile: RunProfile | None) -> Request:
    """Return the request to an engine; an observed or already optimized function is never looked up in a cache."""
    signature, mode = how.signature, how.mode
    debug_info = bool(mode.check) or how.debug_info
    is_plain = not (profile or debug_info or how.schedules is not None or optimization.is_done)

    def key(engine: str) -> bytes | None:
        failed = optimization.is_done and optimization.profile.all_failures()
        return None if failed else key_of(signature.graph, mode, engine, how.target)

    return Request(
        how.name, signature.containers, how.downcast, how.threads, profile, debug_info, how.schedules,
        process_options().strict, key if is_plain else None, how.target, lambda: optimization.general().graph,
    )  # fmt: skip


def _executable(
    engine: Engine, graph: FunctionGraph, optimization: Optimization, request: Request, shown: Progress | Silence
) -> Any:
    """Return the executable of a graph: from the cache, or optimized and compiled."""
    recalled = engine.recall(graph, request, lambda: optimization.graph) if request.key is not None else None
    if recalled is not None:
        return recalled
    with engine.compiling():
        optimized = optimization.graph
        shown.stage = engine.stage
        return executable_of(engine, optimized, request)


def restored(how: Compilation, graph: FunctionGraph) -> Function:
    """Return the function of an unpickled optimized graph; its profile and trace are made when they are asked for.

    Raises TargetError if this machine cannot run its target.
    """
    as_target(how.target, runs=how.mode.backend == "c")
    optimization = Optimization.restored(how.signature.graph, graph, how.mode, how.target, how.threads)
    return _compiled(how, optimization, Silence())


def recompiled(function: Function, schedule: Mapping[str, Schedule]) -> Function:
    """Return the function under other schedules."""
    how, profile = replace(function.compilation, schedules=schedule), function.optimizer_profile
    start = how.signature.graph
    done = Optimization.done(start, function.graph, how.mode, profile, function.journal, how.target)
    return _compiled(how, done, Silence())


def general(function: Function) -> Function:
    """Return the function with the graph that assumes nothing about lengths."""
    optimization = function._optimization.general()
    return _compiled(replace(function.compilation, mode=optimization.mode), optimization, Silence())


def compiled_as(how: Compilation) -> Function:
    """Return the function of a compilation, optimized and compiled again."""
    return _compiled(how, optimization_of(how), Silence())


def divided_again(function: Function) -> Function:
    """Return the function optimized and divided among its engines again, with the times that are known now."""
    return compiled_as(function.compilation)


def default_mode() -> Mode:
    """Return the mode of functions without one."""
    return _mode_of(process_options())


def _mode_of(options: Options) -> Mode:
    """Return the mode of functions without one.  Raises ValueError, with the variable's name, if it is unknown."""
    try:
        return as_mode(options.mode)
    except ValueError as error:
        raise ValueError(f"ARIGNOTE_MODE: {error}") from None


def parse(text: str) -> FunctionGraph:
    """Return the graph that `text` describes, the inverse of `str(graph)`.

    Raises:
        ParseError: a ValueError that names the line.
    """
    return parse_text(text, vocabulary())  # type: ignore[no-any-return]
