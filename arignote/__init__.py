"""Arignote: symbolic NumPy-like expressions, a database of tagged optimizers, and C compiled on the fly.

    import arignote as ag
    from arignote import ops as T

    x = T.vector("x")
    f = ag.function([x], T.exp(x) + 1)

Folders, by subject:

    function      from expressions to a function, and the function itself: begin with function/function.py
    calculus      derivatives, and expressions of one example as expressions of many
    control       loops and branches
    tracing       `ag.jit`
    networks      frozen, pruned, quantized functions
    explain       text, reports, explanations, errors
    proving       rewrites proved by an SMT solver
    tuning        schedules and engines chosen by measurement
    export        C without Python, graphs for other formats
    chunked       functions over Dask arrays
    cli, demo     the command line

    optim         gradient descent
    tree          nested containers of arrays and variables
    options, notices, database, later    options of the process, warnings, `ag.optdb`, parts loaded on demand

The layers below lie in folders of their own: record, targets, graph, ops, optdb, cbackend, engines, profiling, pages,
scaleout, frontends; docs/design.md describes the layers.
"""

import gc as _gc
from typing import TYPE_CHECKING as _TYPE_CHECKING

__version__ = "0.2.0"

# Nothing of what modules make is garbage, and a collector that looks for it takes a twentieth of the import.
_collects = _gc.isenabled()
_gc.disable()
try:
    from . import engines, ops, optim, tree
    from .calculus.calculus import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp
    from .calculus.vmap import vectorize, vmap
    from .control.bodies import until
    from .control.cond import cond
    from .control.scan import scan, while_loop
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
    from .record import lazy as _lazy
    from .targets.target import Target

    from .database import optdb  # isort: skip  # last: `ag.optdb` is the database; `arignote.optdb` stays importable
finally:
    if _collects:
        _gc.enable()

# All that is alive now goes to the oldest generation, unseen: the first collection, of the youngest 50,000 objects,
# would take 20 ms of the first function.  Objects that somebody has frozen stay so.
if not _gc.get_freeze_count():
    _gc.freeze()
    _gc.unfreeze()


_LATER = {
    "OpFromGraph": ".calculus.graphs", "ShapeDtypeStruct": ".calculus.callbacks", "ablate": ".tuning.ablation",
    "array_op": ".ops.control.array_ops",
    "batched": ".function.serving", "bisect": ".explain.bisect", "checkpoint": ".calculus.custom",
    "custom_jvp": ".calculus.custom", "custom_vjp": ".calculus.custom", "debug_print": ".ops.control.watching",
    "draw": ".explain.drawing", "elementwise_op": ".ops.elementwise.user_ops", "fixed_point": ".control.solving",
    "freeze": ".networks.freezing", "from_nnef": ".frontends.nnef", "from_onnx": ".frontends.onnx",
    "from_sympy": ".frontends.sympy", "from_torch": ".frontends.torch_modules", "jit": ".tracing.jitted",
    "linearize": ".calculus.custom", "load": ".export.arrays", "on_dask": ".chunked.chunked",
    "prove": ".proving.proof", "prune": ".networks.pruning", "pure_callback": ".calculus.callbacks",
    "quantize": ".networks.quantizing",
    "root": ".control.solving", "save": ".export.arrays", "stop_gradient": ".calculus.custom",
    "tap": ".ops.control.watching", "taps": ".ops.control.watching", "to_nnef": ".frontends.nnef",
    "to_onnx": ".frontends.onnx", "tune": ".tuning.tune",
}  # fmt: skip
"""Module of each name that few programs need; it is loaded when the name is first used."""

if _TYPE_CHECKING:
    from .calculus.callbacks import ShapeDtypeStruct, pure_callback
    from .calculus.custom import checkpoint, custom_jvp, custom_vjp, linearize, stop_gradient
    from .calculus.graphs import OpFromGraph
    from .chunked.chunked import on_dask
    from .control.solving import fixed_point, root
    from .explain.bisect import bisect
    from .explain.drawing import draw
    from .export.arrays import load, save
    from .frontends.nnef import from_nnef, to_nnef
    from .frontends.onnx import from_onnx, to_onnx
    from .frontends.sympy import from_sympy
    from .frontends.torch_modules import from_torch
    from .function.serving import batched
    from .networks.freezing import freeze
    from .networks.pruning import prune
    from .networks.quantizing import quantize
    from .ops.control.array_ops import array_op
    from .ops.control.watching import debug_print, tap, taps
    from .ops.elementwise.user_ops import elementwise_op
    from .proving.proof import prove
    from .tracing.jitted import jit
    from .tuning.ablation import ablate
    from .tuning.tune import tune
else:
    from .ops.core.namespace import instead_in_package as _instead

    _find, _ = _lazy.names_of(__name__, _LATER, _instead)

    def __getattr__(name: str) -> object:
        return _find(name)

    def __dir__() -> list[str]:
        return __all__


__all__ = [
    "Function", "FunctionGraph", "Mode", "OpFromGraph", "Query", "ShapeDtypeStruct", "Target", "ablate", "array_op",
    "batched",
    "bisect", "checkpoint", "cond", "custom_jvp", "custom_vjp", "debug_print", "dprint", "draw", "elementwise_op",
    "engines", "fixed_point", "freeze", "from_nnef", "from_onnx", "from_sympy", "from_torch", "function", "grad",
    "hessian", "hvp", "jacobian", "jit", "jvp", "linearize", "load", "on_dask", "ops", "optdb", "optim", "parse",
    "pprint", "profile", "profile_diff", "progress", "prove", "prune", "pure_callback", "quantize", "register_op",
    "rewrite", "root", "save", "scan", "shared", "stop_gradient", "tap", "taps", "to_nnef", "to_onnx", "tree", "tune",
    "until", "value_and_grad", "vectorize", "vjp", "vmap", "while_loop",
]  # fmt: skip
