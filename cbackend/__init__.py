"""How a graph becomes C, and C becomes a function.

    graph -> program/ -> steps, kernels (lowering/ -> ir/ -> ctext/) -> C text
          -> build/ (cache/) -> library (abi/, runtime/) -> calls/ -> arrays in, arrays out
"""

from .build.compiler_process import CompileError
from .build.toolchain import Toolchain
from .cache.store import Cache
from .calls.executor import Executable, compile_graph
from .calls.reference import Reference, reference_graph

__all__ = ["Cache", "CompileError", "Executable", "Reference", "Toolchain", "compile_graph", "reference_graph"]
