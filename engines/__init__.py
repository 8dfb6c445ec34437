"""Engines: implementations that run an optimized graph.

engine.py      `Engine`, the protocol of a few methods; `Request`, the function that it compiles
executable.py  `Executable`, the callable that it returns; `CheckedExecutable`, its base for engines in Python
registry.py    engines by name: built in, registered, or offered by another package
c.py           C, compiled just in time; NumPy if that fails
compiler.py    the C compiler and the cache of this process
numpy_engine.py  NumPy, node by node
tiered.py      NumPy until another engine has compiled
estimates.py   estimated times of nodes on engines
division/      the division of a graph among engines, which the pass `partition` asks for

The engine of ONNX Runtime is `frontends/onnx/runtime/engine.py`.

A new engine is one file: a class derived from `Engine`, and `ag.engines.register(MyEngine())`.
"""

from typing import TYPE_CHECKING

from ..record import lazy
from . import c as c
from . import numpy_engine as numpy_engine  # the fallback of C is loaded with the package: files may not open later
from .engine import Engine, EngineError, Request
from .registry import engine, names, register, unregister

if TYPE_CHECKING:
    from .executable import CheckedExecutable, Executable

__all__ = [
    "CheckedExecutable", "Engine", "EngineError", "Executable", "Request", "engine", "names", "register", "unregister",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy.names_of(__name__, {"CheckedExecutable": ".executable", "Executable": ".executable"})
