"""Arignote: symbolic NumPy-like expressions, a database of tagged optimizers, and C compiled on the fly.

    import arignote as ag
    from arignote import ops as T

    x = T.vector("x")
    f = ag.function([x], T.exp(x) + 1)

Files, by subject:

    function, signature, mode, options     from an expression to a function: the data path, its inputs, modes, options
    optimization, rewriting, database      optimizers of a mode, optimizing without compiling, `ag.optdb`
    executable_cache, stages, schedules    keys of cached functions, text of each stage, schedules of kernels
    compiled, checked, call_path, bind, later  `ag.Function`, mode DEBUG, calls, bound arguments, parts loaded on demand
    placement, regions, partition          engines of one function, its compiled regions, the text of the division
    jitted, traces, arguments, nested      the decorator form of `function`, its traces, arguments, nested values
    scopes, views                          globals and attributes that a jitted function reads at each call
    export, sources                        C without Python; graphs for other formats
    calculus, differentiated, optim        derivatives, the variables they were taken by, gradient descent
    freezing, pruning, channels            inference functions, zero weights, channels removed
    quantizing, quantized_layers, calibration    layers in 8 bits, their table, ranges of samples
    vmap, vectorizing                      expressions of one example as expressions of many
    serving                                calls of many threads gathered into batches
    chunked, block_plans, block_graph, block_tasks    functions over Dask arrays: stages compiled, graphs, tasks
    scan, scanned, bodies, cond            loops and branches, results of loops, checks of their functions
    printing, explain, why, remarks        expressions as text; explanations of a function, a value, what was not done
    trace, replay, delta, places           the journal of rewrites, its states, the text of one change, the user's lines
    report, recording, recorder            HTML reports, functions as plain data, recording of a whole process
    debug, bisect, bisect_command          values of one call; the first wrong rewrite, also from the command line
    tune, tuning, progress                 faster schedules by measuring; progress of loops
    dividing, engine_times                 engines measured, the graph divided again; measured times of nodes
    narration, compile_progress, notices   ARIGNOTE_DEBUG, progress of compilations, warnings
    tracebacks, completion                 errors and completion in notebooks
    demo, demo_cnn, demo_web, doctor, cache_command, opt_command, __main__    the command line
"""

import gc as _gc
from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

__version__ = "0.1.0"

# Nothing of what modules make is garbage, and a collector that looks for it takes a twentieth of the import.
_collects = _gc.isenabled()
_gc.disable()
try:
    from . import engines, optim
    from .calculus.calculus import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp
    from .calculus.vmap import vectorize, vmap
    from .control.bodies import until
    from .control.cond import cond
    from .control.scan import scan, while_loop
    from .explain.bisect import bisect
    from .explain.completion import load_ipython_extension as load_ipython_extension
    from .explain.printing import dprint, pprint
    from .explain.progress import progress
    from .function.compiled import Function
    from .function.function import function, parse
    from .function.mode import Mode
    from .function.rewriting import rewrite
    from .graph import FunctionGraph
    from .graph.facets import register as register_op
    from .ops.core.shared import shared
    from .optdb import Query
    from .profiling.collection import profile
    from .profiling.difference import difference as profile_diff
    from .targets.target import Target
    from .tuning.tune import tune

    from .database import optdb  # isort: skip  # last: `ag.optdb` is the database; `arignote.optdb` stays importable
finally:
    if _collects:
        _gc.enable()


_LATER = {
    "batched": ".serving", "elementwise_op": ".ops.user_ops", "freeze": ".freezing", "from_nnef": ".frontends.nnef",
    "from_onnx": ".frontends.onnx", "jit": ".jitted", "on_dask": ".chunked", "prune": ".pruning",
    "quantize": ".quantizing", "to_nnef": ".frontends.nnef", "to_onnx": ".frontends.onnx",
}  # fmt: skip
"""Module of each name that few programs need; it is loaded when the name is first used."""

if _TYPE_CHECKING:
    from .chunked.chunked import on_dask
    from .frontends.nnef import from_nnef, to_nnef
    from .frontends.onnx import from_onnx, to_onnx
    from .function.serving import batched
    from .networks.freezing import freeze
    from .networks.pruning import prune
    from .networks.quantizing import quantize
    from .ops.elementwise.user_ops import elementwise_op
    from .tracing.jitted import jit
else:

    def __getattr__(name: str) -> object:
        if name in _LATER:
            return getattr(_import_module(_LATER[name], __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *_LATER})


__all__ = [
    "Function", "FunctionGraph", "Mode", "Query", "Target", "batched", "bisect", "cond", "dprint", "elementwise_op",
    "engines", "freeze", "from_nnef", "from_onnx", "function", "grad", "hessian", "hvp", "jacobian", "jit", "jvp",
    "on_dask", "optdb", "optim", "parse", "pprint", "profile", "profile_diff", "progress", "prune", "quantize",
    "register_op", "rewrite", "scan", "shared", "to_nnef", "to_onnx", "tune", "until", "value_and_grad", "vectorize",
    "vjp", "vmap", "while_loop",
]  # fmt: skip
