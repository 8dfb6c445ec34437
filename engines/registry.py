"""Engines by name: built-in, registered by a program, or offered by installed packages.

A package offers an engine by an entry point, which is loaded only when a program names that engine:

    [project.entry-points."arignote.engines"]
    opencl = "arignote_opencl:OpenCL"
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..graph import FunctionGraph
from ..record import lazy
from ..record.spelling import nearest
from .engine import Engine, EngineError, Request

GROUP = "arignote.engines"
"""Entry point group of packages."""
_BUILT_IN = {
    "c": (".c", "CEngine"), "numpy": (".numpy_engine", "NumPyEngine"),
    "onnxruntime": ("..frontends.onnx.runtime.engine", "OnnxRuntimeEngine"),
    "opencl": (".device.dialects.opencl", "OpenCLEngine"),
    "cuda": (".device.dialects.cuda", "CudaEngine"),
}  # fmt: skip
"""Module and class of each built-in engine, loaded on first use."""
_registered: dict[str, Engine] = {}
_metadata, _tiered = lazy.module("importlib.metadata"), lazy.module(".tiered", __package__)


def register(engine: Engine) -> Engine:
    """Make `Mode(backend=engine.name)` use this engine; return it.

    Raises:
        TypeError: `engine` is not an Engine, or has no name.
        ValueError: the name is taken.
    """
    if not isinstance(engine, Engine):
        fix = f"; pass {engine.__name__}()" if isinstance(engine, type) else ""
        raise TypeError(f"engines.register: engine must be an instance of ag.engines.Engine, got {engine!r}{fix}")
    if not isinstance(engine.name, str) or not engine.name:
        owner = type(engine).__name__
        raise TypeError(f"engines.register: the name of {owner} must be non-empty text, got {engine.name!r}")
    if type(engine).compile is Engine.compile:
        raise TypeError(
            f"engines.register: {type(engine).__name__} defines no compile; expected compile(self, graph, request), "
            "which returns an executable"
        )
    if engine.name in names():
        raise ValueError(
            f"engines.register: there is an engine named {engine.name!r}; choose another name, or remove a registered "
            f"one by ag.engines.unregister({engine.name!r})"
        )
    _registered[engine.name] = engine
    return engine


def unregister(name: str) -> Engine:
    """Remove a registered engine; return it.  Compiled functions keep it.

    Raises:
        ValueError: no engine is registered under this name, or it is built in.
    """
    if name in _BUILT_IN:
        raise ValueError(f"engines.unregister: {name!r} is built in; others fall back on it")
    if name not in _registered:
        raise ValueError(f"engines.unregister: no engine is named {name!r}; registered: {_listed(_registered)}")
    return _registered.pop(name)


def names() -> tuple[str, ...]:
    """Return the names of the engines known without a search of installed packages."""
    return (*_BUILT_IN, *_registered)


def ready() -> tuple[str, ...]:
    """Return the names of the known engines that run on this machine."""
    return tuple(name for name in names() if not _known(name).missing())


def _known(name: str) -> Engine:
    return _built_in(name) if name in _BUILT_IN else _registered[name]


def engine(name: str) -> Engine:
    """Return the engine of this name, ready to compile.

    Raises:
        ValueError: no engine has this name.
        EngineError: this machine lacks something that the engine needs.
    """
    require_known(name)
    found = _known(name)
    missing = found.missing()
    if missing:
        raise EngineError(f"engine {name!r} cannot run here: {missing}")
    return found


def tiered(engine: Engine, budget: float) -> Engine:
    """Return a tiered engine: NumPy runs a function until it is compiled, if that takes over `budget` seconds."""
    if engine.name == "numpy":
        return engine
    made: Engine = _tiered.TieredEngine(engine, budget)
    return made


def require_known(name: Any, who: str = "engine", what: str = "backend is", also: tuple[str, ...] = ()) -> None:
    """Require an engine of this name; register it if an installed package offers it.  `also`: names for the message.

    Raises:
        ValueError: no engine has this name.
    """
    is_text = isinstance(name, str)
    if is_text and (name in _registered or name in _BUILT_IN or _register_installed(name)):
        return
    known = (*also, *names())
    near = nearest(name, known) if is_text else ()
    meant = f"; did you mean {near[0]!r}? " if near else ". "
    raise ValueError(
        f"{who}: {what} {name!r}; expected one of {_listed(known)}{meant}Others are added by "
        f'ag.engines.register(engine), or by installing a package with an entry point in the group "{GROUP}"'
    )


def title(name: str) -> str:
    """Return the name of the engine for use in sentences."""
    known = {"c": "C", "numpy": "NumPy", "onnxruntime": "ONNX Runtime", "opencl": "OpenCL", "cuda": "CUDA"}
    return known.get(name, f"engine {name!r}")


def run_by_numpy(graph: FunctionGraph, request: Request) -> Any:
    """Return the NumPy executable of a graph that another engine cannot compile."""
    return _built_in("numpy").compile(graph, request)


@cache
def _built_in(name: str) -> Engine:
    module, class_name = _BUILT_IN[name]
    made: Engine = getattr(lazy.module(module, __package__), class_name)()
    return made


def _register_installed(name: str) -> bool:
    """Register the engine of this name that an installed package offers; return whether there is one."""
    if not name:
        return False
    for entry in _metadata.entry_points(group=GROUP, name=name):
        package = entry.dist.name if entry.dist is not None else entry.module
        try:
            found = entry.load()
        except ImportError as error:
            raise ValueError(f"engine {name!r} of the package {package} does not load: {error}; install it") from error
        made = found() if isinstance(found, type) else found
        if getattr(made, "name", None) != name:
            raise ValueError(f"engine {name!r} of the package {package} is {made!r}; expected an Engine of that name")
        register(made)
        return True
    return False


def _listed(known: Any) -> str:
    return ", ".join(map(repr, known)) or "none"
