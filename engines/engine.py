"""The protocol of engines: graph, request -> executable.

    class Toy(ag.engines.Engine):
        name = "toy"

        def compile(self, graph, request):
            return ag.engines.CheckedExecutable(self, graph, request, function_of_arrays(graph))

    ag.engines.register(Toy())
    f = ag.function([x], y, mode=ag.Mode("fast_run", backend="toy"))

All other methods and attributes have defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from ..graph import Apply, FunctionGraph
from ..record import lazy, record

if TYPE_CHECKING:
    from ..cbackend.ir.schedule import Schedule
    from ..profiling import RunProfile
    from ..targets.target import Target
    from .executable import Executable

estimates: Any = lazy.module(".estimates", __package__)
FOR_C = ("fusion", "inplace", "blas_c", "layout", "attention", "sparse", "bfloat16", "assume_equal")
"""Tags of passes that pay off only if nodes become C loops and BLAS calls."""


class EngineError(RuntimeError):
    """An engine cannot compile a graph, or breaks its protocol; the message names the engine and the function."""


@record(eq=False)
class Request:
    """A request to compile a function: everything but its graph."""

    name: str
    """The name of the function in messages."""
    containers: Sequence[Any]
    """The container of each input of the graph, or None for an argument of the call."""
    downcast: bool | None = None
    """Whether arguments of a wider dtype are cast; None: only Python numbers."""
    threads: int | None = None
    """Threads of a call; None: as many as the process has processors."""
    profile: RunProfile | None = None
    """Receives the cost of each call."""
    debug_info: bool = False
    """Whether debuggers see the user's lines."""
    schedules: Mapping[str, Schedule] | None = None
    """Schedules of kernels by name, for engines with kernels."""
    strict: bool = False
    """Whether a failing engine raises instead of passing the function to another one."""
    key: Callable[[str], bytes | None] | None = None
    """Key of this function in a cache of executables, from text that identifies the engine; see `Engine.recall`.

    None, and a key of None: the executable must not be kept.
    """
    target: Target | None = None
    """The machine to compile for; None: this one."""
    general: Callable[[], FunctionGraph] | None = None
    """The optimized graph without assumptions on lengths, for calls that break them."""


class Engine:
    """An implementation that runs graphs; stateless and thread-safe."""

    name = ""
    """The name for `Mode(backend=...)`."""
    unwanted: tuple[str, ...] = FOR_C
    """Tags and names that a query leaves out for this engine, unless it includes them itself."""
    hosts_refused = False
    """Whether NumPy runs nodes with a `refusal` as steps of the function."""
    falls_back: bool = False
    """Whether its functions run calls that break assumptions on lengths by `Request.general`.

    For others no graph assumes any.
    """
    stage = "compiling"
    """The stage in the progress line."""
    own_errors: tuple[type[Exception], ...] = (EngineError,)
    """Exceptions of `compile` whose messages already name the function; all others become an `EngineError`."""

    def compile(self, graph: FunctionGraph, request: Request) -> Executable:
        """Return the executable of an optimized graph."""
        raise NotImplementedError(f"engine {self.name!r} defines no compile(graph, request)")

    def missing(self) -> str:
        """Return what this machine lacks for the engine, and how to install it; empty if nothing."""
        return ""

    def refusal(self, node: Apply) -> str:
        """Return the reason why this engine cannot run a node; empty if it can."""
        return ""

    def supports(self, node: Apply) -> bool:
        """Whether functions of this engine run a node, if only as a NumPy step."""
        return self.hosts_refused or not self.refusal(node)

    # --- prices for `partition`, in picoseconds
    launch: int = 20_000_000
    """Picoseconds to call a region of this engine from another engine."""
    copied_byte: int = 100
    """Picoseconds per byte of a value that enters or leaves a region of this engine."""

    def cost(self, node: Apply) -> int:
        """Return the estimated time of a supported node; by default that of NumPy."""
        found: int = estimates.numpy_cost(node)
        return found

    def identity(self) -> str:
        """Return the engine and its version, under which measured times are stored."""
        return self.name

    def prepare(self) -> None:
        """Start work that does not depend on the graph, before a function is optimized."""

    def compiling(self) -> AbstractContextManager[None]:
        """Return a context manager around the optimization and compilation of one function."""
        return nullcontext()

    def recall(
        self, graph: FunctionGraph, request: Request, optimized: Callable[[], FunctionGraph]
    ) -> Executable | None:
        """Return the executable that an earlier process stored under the key of the request; None if there is none.

        `graph` is not optimized yet; `optimized` optimizes it.
        """
        return None

    def __repr__(self) -> str:
        return f"<engine {self.name}>"


class Around(Engine):
    """A wrapper of another engine: it replaces `compile` and delegates the rest."""

    own_errors: tuple[type[Exception], ...] = (Exception,)

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.name: str = engine.name
        self.unwanted = engine.unwanted
        self.stage: str = engine.stage
        self.hosts_refused: bool = engine.hosts_refused
        self.falls_back: bool = engine.falls_back

    def missing(self) -> str:
        return self._engine.missing()

    def refusal(self, node: Apply) -> str:
        return self._engine.refusal(node)

    def prepare(self) -> None:
        self._engine.prepare()

    def compiling(self) -> AbstractContextManager[None]:
        return self._engine.compiling()

    def recall(
        self, graph: FunctionGraph, request: Request, optimized: Callable[[], FunctionGraph]
    ) -> Executable | None:
        return self._engine.recall(graph, request, optimized)


def executable_of(engine: Engine, graph: FunctionGraph, request: Request) -> Executable:
    """Return the executable that the engine compiles from a graph.

    Raises:
        EngineError: the engine cannot run a node, fails otherwise, or returns no executable.
        engine.own_errors: as `compile` raises them.
    """
    if not engine.hosts_refused:
        _require_supported(engine, graph, request.name)
    try:
        executable = engine.compile(graph, request)
    except engine.own_errors:
        raise
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise EngineError(f"{request.name}: engine {engine.name!r} cannot compile it: {message}") from error
    if not callable(executable) or not hasattr(executable, "backend"):
        raise EngineError(
            f"{request.name}: engine {engine.name!r} compiled it to {type(executable).__name__}; expected an "
            "Executable, such as ag.engines.CheckedExecutable(engine, graph, request, run)"
        )
    return executable


def _require_supported(engine: Engine, graph: FunctionGraph, name: str) -> None:
    """Raise EngineError for the first node that the engine cannot run."""
    for node in graph.order:
        reason = engine.refusal(node)
        if reason:
            where = f"\n  at {node.origin[0]}" if node.origin else ""
            raise EngineError(
                f"{name}: engine {engine.name!r} cannot run {node.op.name}: {reason}; "
                f'use another engine, such as ag.Mode(backend="numpy"){where}'
            )
