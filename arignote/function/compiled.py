"""A compiled function: what `ag.function` returns.

It is immutable but for the values of its shared variables, and safe in threads.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import later, pages
from ..cbackend.calls.caller import bound, parameters
from ..cbackend.calls.checks import ChunkedArgument
from ..cbackend.driver.listing import commented
from ..cbackend.driver.page import CFile
from ..database import optdb
from ..explain.tracebacks import tell
from ..graph import FunctionGraph, Replacement, Variable
from ..graph.picture import boxes_of
from ..ops.core.shared import SharedVariable
from ..ops.lowered.region import regions_of
from ..pages.text import Text
from ..profiling import NotProfiled, RunProfile
from ..record.cached import cached_property
from ..record.forks import fork_safe_lock
from ..record.spelling import counted
from ..targets.current import using
from ..targets.named import host
from ..targets.target import Target
from .call_path import CallPath
from .compilation import Compilation
from .mode import Mode
from .optimization import Optimization

if TYPE_CHECKING:
    from ..chunked.chunked import OnDask
    from ..explain.debug import Debug
    from ..explain.remarks import Remarks
    from ..explain.trace import Trace
    from ..explain.why import Answers, Why
    from ..optdb.rule import Rule
    from ..optdb.why_not import Explanation
    from ..proving.proof import Proof
    from ..tuning.schedules import Schedules
    from .bind import Bound

NATIVE_AFTER = 64
"""Calls after which a function gets its native entry, which takes 50 ms to build once per machine."""

_installing = fork_safe_lock()


class Function:
    """Compiled function of arrays.  Call it with the inputs by position or by the names of their variables.

    It returns one array, a list, a tree or None, as `outputs` was given to `ag.function`.  With Dask arrays it runs
    block by block and returns Dask arrays, as `ag.on_dask` does.
    """

    def __init__(
        self, compilation: Compilation, optimization: Optimization, executable: Any, profile: RunProfile | None
    ) -> None:
        self.compilation: Compilation = compilation
        """The arguments of `ag.function` that it was made with, as a value."""
        self._optimization = optimization
        self._install(executable)
        self._tiers = executable if executable.is_tiered else None
        self.profile: RunProfile | NotProfiled = NotProfiled(self.name) if profile is None else profile
        """The run profile; without `profile=True` a false value that says how to get one."""
        self.layers: Any = None  # the `Layers` of a function that `ag.quantize` made
        if profile is not None:
            profile.remarks = _Remarked(self)
        if self._tiers is not None:
            self._tiers.followed_by(self._install)

    def _install(self, executable: Any) -> None:
        """Use this executable for all later calls."""
        with _installing:
            self._run = executable
            how = self.compilation
            kind = later.tree_path.TreePath if how.signature.has_trees else CallPath
            self._plain = kind(executable, how.signature, self.name, how.downcast)
            self._path: Callable[..., Any] = self._plain
            self._until_native = NATIVE_AFTER

    def _enter_natively(self) -> None:
        """Build the native entry, unless another executable was installed meanwhile."""
        plain = self._plain
        path = plain.native()
        with _installing:
            if plain is self._plain:
                self._path = path

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._until_native:
            self._until_native -= 1
            if not self._until_native:
                self._enter_natively()
        try:
            return self._path(*args, **kwargs)
        except ChunkedArgument:
            chunked = self._chunked
        except Exception as error:
            tell(error)
            raise
        return chunked(*args, **kwargs)

    @cached_property
    def _chunked(self) -> OnDask:
        """This function for Dask arrays."""
        return later.chunked.on_dask(self)

    def bind(self, *args: Any, out: Any = None, **kwargs: Any) -> Bound:
        """This function with its arguments, for hot loops: each call only runs the C, into the same arrays.

        Args:
            args, kwargs: as for a call.  Arrays must have the dtypes of the inputs: they are read where they lie.
            out: where results go, in the form of the results; by default arrays that the binding makes.  They must
                not overlap with what the function reads, nor with one another.

        Raises:
            TypeError, ValueError: naming the argument that does not fit.
        """
        values = self._plain.values(args, kwargs)
        return later.bind.bound(self.name, self.compilation.signature, self._at_best, values, out)

    # --- tiers
    @property
    def ready(self) -> bool:
        """Whether the function runs in its final form; only one that is `tiered` may not be."""
        return self._tiers is None or self._tiers.ready

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is `ready`, at most `timeout` seconds; return whether it is.

        Raises what went wrong with the C; calls then go on by NumPy.
        """
        return self._tiers is None or self._tiers.wait(timeout)

    @property
    def _at_best(self) -> Any:
        """Return the executable in its final form, once it has one."""
        if self._tiers is not None:
            self._tiers.join()
        return self._run

    # --- what it is made of
    @property
    def name(self) -> str:
        """The name in messages, profiles and exported C."""
        return self.compilation.name

    @name.setter
    def name(self, name: str) -> None:
        self.compilation = replace(self.compilation, name=name)

    @property
    def mode(self) -> Mode:
        """The optimizers and the engine that were asked for."""
        return self.compilation.mode

    @property
    def graph(self) -> FunctionGraph:
        """The optimized graph."""
        return self._optimization.graph

    @property
    def optimizer_profile(self) -> Any:
        """Costs and counts of each pass and rule; if the C came from the cache, optimization runs at first access."""
        return self._optimization.profile

    @property
    def journal(self) -> tuple[Replacement, ...]:
        """Every replacement that was made, in order."""
        return self._optimization.journal

    @property
    def unoptimized_graph(self) -> FunctionGraph:
        """The graph as the user built it."""
        return self.compilation.signature.graph

    @property
    def inputs(self) -> tuple[Variable, ...]:
        return self.compilation.signature.graph.inputs[: self.compilation.signature.n_inputs]

    @property
    def shared(self) -> tuple[SharedVariable, ...]:
        """The shared variables that are read or updated."""
        return self.compilation.signature.shared

    @property
    def target(self) -> Target:
        """The machine that it is compiled for."""
        return self._optimization.target or host()

    @property
    def backend(self) -> str:
        """The engine that runs it: that of its mode, or "numpy" if C was requested and no compiler works."""
        return self._run.backend  # type: ignore[no-any-return]

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that run it: `backend`, and those of its regions; see `ag.function(engines=)`."""
        regions = [op.engine for op in regions_of(self.graph)] if self.mode.divides else []
        return tuple(dict.fromkeys((self.backend, *regions)))

    def c_source(self, lines: bool = False) -> Text:
        """The generated C; empty where NumPy runs the function.  `lines`: with your lines in its comments."""
        source: CFile = self._at_best.c_file
        return Text(commented(source, self.program) if lines and source.text else source.text)

    @property
    def c_path(self) -> Path | None:
        """Path of the compiled library in the cache, with its C beside it; None if NumPy runs the function."""
        return self._at_best.path  # type: ignore[no-any-return]

    @property
    def threads(self) -> int | None:
        """Limit of threads per call; None: the processors available to the process."""
        return self._run.threads  # type: ignore[no-any-return]

    @property
    def compile_seconds(self) -> float:
        """Seconds spent on generating, compiling and loading C; optimization is not counted."""
        return self._run.compile_seconds  # type: ignore[no-any-return]

    @property
    def from_cache(self) -> bool:
        """Whether the compiled library was found in the cache."""
        return self._run.from_cache  # type: ignore[no-any-return]

    # --- why it is what it is
    def explain(self, subject: str = "") -> Text:
        """Return the way from the user's graph to the engine as text: changes of each stage, kernels, path of the C.

        Args:
            subject: "partition" for the engines that run parts of the function, and the estimates that led to them;
                "assumptions" for the lengths that it takes as equal; "egraph" for what equality saturation found.
        """
        about = {
            "": later.explain.explanation, "partition": later.partition.lines, "assumptions": later.assumptions.lines,
            "egraph": later.explain.saturated,
        }  # fmt: skip
        if subject not in about:
            expected = '"partition", "assumptions", "egraph", or None for all stages'
            raise ValueError(f"explain: subject is {subject!r}; expected {expected}")
        return Text("\n".join(about[subject](self)))

    @cached_property
    def trace(self) -> Trace:
        """Every rewrite, in order, to filter and step through; see `arignote.trace`."""
        return later.trace.Trace(self.unoptimized_graph, self.journal, self.optimizer_profile)

    @cached_property
    def proof(self) -> Proof:
        """The proof of every rewrite by the solver Z3; see `ag.prove`."""
        return later.proof.prove(self)

    @property
    def remarks(self) -> Remarks:
        """Missed optimizations with reasons and fixes; see `arignote.remarks`."""
        broken = later.assumptions.remarks_on_broken(self)
        return later.remarks.Remarks([*broken, *self._remarks]) if broken else self._remarks

    @cached_property
    def _remarks(self) -> Remarks:
        ran = {p.name for p in self.optimizer_profile.walk()} if self.optimizer_profile is not None else set()
        if self.program is None:
            return later.remarks.remarks_without_c(self.graph, self._run, self.mode.backend)
        with using(self.target):
            return later.remarks.remarks_on(self.graph, ran, self.program)

    @cached_property
    def _answers(self) -> Answers:
        return later.why.Answers(self.unoptimized_graph, self.graph, self.trace, self.program, self._at_best.c_file)

    def why(self, thing: Any) -> Why:
        """Return the origin of a part of the function: the user's lines, the rules that shaped it, its lines of C.

        Args:
            thing: a variable or node of the user's or of the optimized graph, the number of a line of the C, the name
                of a variable, or the name of a kernel ("k_...").

        Raises:
            TypeError, LookupError: it is none of these, or no part of the function.
        """
        return self._answers.about(thing)

    def why_not(self, rule: str | Rule) -> Explanation:
        """Explain why a rule or an optimizer did not change this function's graph, or where it did.

        It names the nearest node, the first part of the pattern that differs or the condition that failed, the position
        at which the rule ran, and the rewrite that came before it.  Unlike the profile it runs the optimizers again.

        Raises:
            UnknownNameError: no entry of `ag.optdb` has the name.
        """
        query = self.mode.optimizer
        if query is None:
            raise ValueError(f"{self.name}: its mode runs no optimizer, so no rule was tried")
        with using(self.target):
            return optdb.explain(rule, self.unoptimized_graph, query)

    def debug(self, *args: Any, **kwargs: Any) -> Debug:
        """Run one call step by step; return each named value with shape, range and NaN count, and the first NaN or Inf.

        NumPy evaluates the graph as it was built; shared variables keep their values.
        """
        return later.debug.debugged(self.name, self.unoptimized_graph, self.arrays(self._plain.values(args, kwargs)))

    def arrays(self, arguments: Sequence[Any]) -> list[np.ndarray]:
        """Return the arrays of a call with these arguments: the inputs, then the values of shared variables.

        Raises:
            TypeError, ValueError: an argument does not fit.
        """
        containers = self.compilation.signature.containers
        return bound(parameters(self.name, self.unoptimized_graph, containers, None), containers, arguments)

    def results(self, *arguments: Any) -> list[np.ndarray]:
        """Return the outputs of one call as a list, whatever form the function returns them in."""
        return self._run(*arguments)  # type: ignore[no-any-return]

    def schedule(self) -> Schedules:
        """Return the schedules of the kernels; pass an edited copy as argument `schedule` to `ag.function`."""
        return later.schedules.schedules_of(self._at_best.kernels)

    def report(self, path: str | os.PathLike[str] = "report.html") -> Path:
        """Write one self-contained HTML page on this function and return its path.

        It shows both graphs (click a node: its rules, your line, its C), every rewrite, what optimizing and running
        cost, memory, remarks and the C.  Raises OSError if it cannot be written.
        """
        return later.report.write_report([later.recording.recorded(self)], path)

    def export(
        self, folder: str | os.PathLike[str], target: Target | str | None = None, compiler: str | None = None
    ) -> Path:
        """Write this function as C that needs no Python and return the folder; `make` builds a library and an example.

        It holds a header, the generated C, the runtime, and the present values of shared variables; files of an earlier
        export are replaced.  Matrix products run by our own loops, for there is no BLAS.

        Args:
            folder: where to write.
            target: another machine to make C for, such as "aarch64-linux" or "wasm32-wasi".
            compiler: the cross compiler that its Makefile calls, such as "aarch64-linux-gnu-gcc"; by default `zig cc`.

        Raises:
            ValueError: NumPy runs the function or a part of it.
            TargetError: there is no such target, or no compiler for it; a ValueError.
            FileNotFoundError: there is no folder that `folder` could lie in.
            OSError: it cannot be written.
        """
        return later.export.exported(self, folder, self.compilation.signature.keys, target, compiler)

    @cached_property
    def without_assumptions(self) -> Function:
        """This function with the graph for any lengths: without what `explain("assumptions")` shows."""
        return later.function.general(self)

    @property
    def executable(self) -> Any:
        """The executable that runs the calls."""
        return self._run

    def low_level(self, kind: str) -> Any:
        """Return this function as a `scipy.LowLevelCallable`, which SciPy's C loops call without Python.

            scipy.integrate.quad(f.low_level("quad"), 0, 1)

        A call that fails gives NaN to quad, and ends the other functions with an error.

        Args:
            kind: the function of SciPy that calls it: "quad" (float64 scalars, or a vector; a scalar as the result),
                "generic_filter" (a float64 vector; a scalar), "generic_filter1d" (a float64 vector; a vector of the
                length that SciPy expects), "geometric_transform" (an int64 vector; a float64 vector).

        Raises:
            ValueError: an unknown kind, or a function that calls Python: one of NumPy, or with shared variables.
            TypeError: the function takes or gives other types than this kind.
        """
        return later.low_level.callable_of(self, kind)

    @property
    def program(self) -> Any:
        """The steps of the generated C (`cbackend.program.program.Program`); None if NumPy runs the function."""
        return self._at_best.program

    def __repr__(self) -> str:
        inputs = ", ".join(f"{i.name or '_'}: {i.type}" for i in self.inputs)
        return f"<function {self.name}({inputs}), {counted(len(self.graph), 'node')}, backend {self.backend}>"

    def _repr_html_(self) -> str:
        profile = "" if self.optimizer_profile is None else str(self.optimizer_profile)
        graphs = boxes_of(self.unoptimized_graph), boxes_of(self.graph)
        rows = later.facts.facts_of(self)
        return pages.notebook.function_form(f"function {self.name}", rows, *graphs, self.c_source(lines=True), profile)

    def __reduce__(self) -> Any:
        return later.function.restored, (self.compilation, self.graph)


class _Remarked:
    """Source of the remarks on a function for its profile, without a reference that keeps the function alive."""

    def __init__(self, function: Function) -> None:
        self._function = weakref.ref(function)

    def __call__(self) -> Sequence[Any]:
        function = self._function()
        return function.remarks if function is not None else ()
