"""The C engine: graph -> C -> library in the cache; NumPy if no compiler works, or if it rejects this C."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..cbackend import CompileError, Toolchain, compile_graph, recalled_graph
from ..cbackend.program.planned import plan_of
from ..cbackend.program.planners.host import no_c
from ..graph import Apply, FunctionGraph
from ..notices import notice
from ..ops.elementwise.records import blamed
from ..ops.lowered.fused import unmarked
from . import estimates
from .compiler import find_toolchain, head_start, process_cache
from .engine import Engine, Request
from .registry import run_by_numpy

if TYPE_CHECKING:
    from .executable import Executable


class CEngine(Engine):
    """Compiles a graph to C."""

    name = "c"
    unwanted: tuple[str, ...] = ()
    hosts_refused = True
    falls_back: bool = True
    stage = "making C"
    own_errors: tuple[type[Exception], ...] = (Exception,)

    def refusal(self, node: Apply) -> str:
        return "" if plan_of(node) else no_c(unmarked(node.op))

    launch = 5_000_000
    copied_byte = 0

    def cost(self, node: Apply) -> int:
        """Return an estimate by the cost model; a host step costs NumPy's time plus a call of Python."""
        work = estimates.work_of(node)
        return estimates.C.of(work) if not self.refusal(node) else estimates.NUMPY.of(work) + self.launch

    def prepare(self) -> None:
        """Start the search for the compiler."""
        head_start()

    def compiling(self) -> AbstractContextManager[None]:
        """Return a context manager during which a pre-started compiler waits for its source."""
        return head_start().prestarted_compiler()

    def recall(
        self, graph: FunctionGraph, request: Request, optimized: Callable[[], FunctionGraph]
    ) -> Executable | None:
        start = head_start()
        for toolchain in start.absent if start.known is None else (start.known,):
            key = self._key(request, toolchain)
            if key is None:
                return None
            with suppress(CompileError):  # `compile` reports it
                found = recalled_graph(
                    key, graph, optimized, name=request.name, shared=request.containers, toolchain=toolchain,
                    cache=process_cache(), allow_input_downcast=request.downcast, threads=request.threads,
                    target=request.target,
                )  # fmt: skip
                if found is not None:
                    self._broken_by(found, request)
                    return found
        return None

    def compile(self, graph: FunctionGraph, request: Request) -> Executable:
        toolchain = find_toolchain()
        if toolchain is None:
            return self._left_to_numpy(graph, request)
        try:
            executable = compile_graph(graph, toolchain=toolchain, cache=process_cache(), **_keywords(request))
        except CompileError as error:
            blame = blamed(str(error))
            if blame is not None:
                raise CompileError(blame) from None
            if request.strict or request.target is not None:
                raise
            message = " ".join(str(error).splitlines()[:2])
            notice(f"{request.name} is run by NumPy, with the same results: {message}")
            return self._left_to_numpy(graph, request)
        self._broken_by(executable, request)
        key = self._key(request, toolchain)
        if key:
            executable.keep(key, process_cache())
        return executable

    def _broken_by(self, executable: Any, request: Request) -> None:
        """Let the executable run calls that break its graph's assumptions by the graph without them."""
        if request.general is not None:
            other = replace(request, key=None, general=None, profile=None, schedules=None)
            executable.fall_back(request.general, lambda graph: self.compile(graph, other))

    def _left_to_numpy(self, graph: FunctionGraph, request: Request) -> Executable:
        found: Executable = run_by_numpy(graph, request)
        return found

    def _key(self, request: Request, toolchain: Toolchain) -> bytes | None:
        return request.key(f"{self.name} {toolchain.fingerprint}") if request.key is not None else None


def _keywords(request: Request) -> dict[str, Any]:
    """Return the request as keywords of `compile_graph`."""
    return {
        "name": request.name, "shared": request.containers, "profile": request.profile,
        "allow_input_downcast": request.downcast, "threads": request.threads, "debug_info": request.debug_info,
        "schedule": request.schedules, "strict": request.strict, "target": request.target,
    }  # fmt: skip
