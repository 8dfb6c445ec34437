"""Which of PyTensor's rewrites run before ours."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from pytensor.compile.mode import optdb
from pytensor.graph.rewriting.db import RewriteDatabaseQuery

QUERY = RewriteDatabaseQuery(include=["fast_run"])


def inner_rewriter(linker: Any) -> Any:
    """Return the rewriter of the inner graphs of ops such as loops; None where PyTensor itself rewrites them."""
    if find_spec("pytensor.compile.rewriting"):
        return None
    return optdb.query(QUERY.including(*linker.required_rewrites).excluding(*linker.incompatible_rewrites))




def rewrite_inner_graphs(linker: type) -> None:
    """Let PyTensor 3.3 rewrite the inner graphs of ops as for other linkers whose values are never written in place."""
    if not find_spec("pytensor.compile.rewriting"):
        return
    from pytensor.compile import rewriting
    from pytensor.scan.rewriting import inner_graph
    from pytensor.tensor.rewriting import optimize

    rewriting.rewrite_ofg_inner_graph.register(linker, rewriting.functional_rewrite_ofg_inner_graph)
    inner_graph.rewrite_scan_inner_graph.register(linker, inner_graph.functional_rewrite_scan_inner_graph)
    optimize.rewrite_optimize_inner_graph.register(linker, optimize.jit_rewrite_optimize_inner_graph)
