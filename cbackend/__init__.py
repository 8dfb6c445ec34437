"""How a graph becomes C, and C becomes a function.

graph -> program/ -> steps, kernels (lowering/ -> ir/ -> ctext/) -> C text
      -> build/ (cache/) -> library (abi/, runtime/) -> calls/ -> arrays in, arrays out
"""

from .build.compiler_process import CompileError
from .build.compiler_process import end_all as end_compilers
from .build.headstart import HeadStart
from .build.toolchain import Toolchain
from .cache.store import Cache
from .calls.executor import Executable, compile_graph
from .calls.reference import Reference, reference_graph
from .runtime.sources import core_source

__all__ = [
    "Cache", "CompileError", "Executable", "HeadStart", "Reference", "Toolchain", "compile_graph", "core_source",
    "end_compilers", "reference_graph",
]  # fmt: skip
