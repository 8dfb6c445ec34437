"""How a graph becomes C, and C becomes a function.

graph -> program/ -> steps, kernels (lowering/ -> ir/ -> ctext/) -> C text
      -> build/ (cache/) -> library (abi/, runtime/) -> calls/ -> arrays in, arrays out
"""

from .build.compiler_process import CompileError
from .build.compiler_process import ended as compilers_ended
from .build.headstart import HeadStart
from .build.toolchain import Attempt, Toolchain
from .cache.store import Cache
from .calls.executor import Executable, compile_graph, recalled_graph
from .runtime.sources import PREBUILT, core_source

__all__ = [
    "PREBUILT", "Attempt", "Cache", "CompileError", "Executable", "HeadStart", "Toolchain", "compile_graph",
    "compilers_ended", "core_source", "recalled_graph",
]  # fmt: skip
