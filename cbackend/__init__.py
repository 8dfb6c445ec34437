"""How a graph becomes C, and C becomes a function: see docs/design.md for the way through these files."""

from .cache import Cache
from .executor import Executable, compile_graph
from .reference import Reference, reference_graph
from .toolchain import Toolchain

__all__ = ["Cache", "Executable", "Reference", "Toolchain", "compile_graph", "reference_graph"]
