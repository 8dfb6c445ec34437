"""Which of PyTensor's rewrites run before ours."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pytensor.compile.mode import optdb
from pytensor.graph.rewriting.db import RewriteDatabaseQuery

QUERY = RewriteDatabaseQuery(include=["fast_run"])
REWRITES_INNER_GRAPHS: bool = find_spec("pytensor.compile.rewriting") is not None
"""Whether PyTensor rewrites the inner graphs of a graph with it, as version 3.3 does."""
_FUNCTIONAL = (
    ("pytensor.compile.rewriting", "rewrite_ofg_inner_graph", "functional_rewrite_ofg_inner_graph"),
    ("pytensor.scan.rewriting.inner_graph", "rewrite_scan_inner_graph", "functional_rewrite_scan_inner_graph"),
    ("pytensor.tensor.rewriting.optimize", "rewrite_optimize_inner_graph", "jit_rewrite_optimize_inner_graph"),
)  # fmt: skip
"""Modules of version 3.3, their functions by linker, and those for linkers whose values are never written in place."""


def inner_rewriter(linker: Any) -> Any:
    """Return the rewriter of the inner graphs of ops such as loops; None where PyTensor itself rewrites them."""
    if REWRITES_INNER_GRAPHS:
        return None
    return optdb.query(QUERY.including(*linker.required_rewrites).excluding(*linker.incompatible_rewrites))


def rewrite_inner_graphs(linker: type) -> None:
    """Let PyTensor know how it rewrites inner graphs for a class of linkers."""
    for name, by_linker, functional in _FUNCTIONAL if REWRITES_INNER_GRAPHS else ():
        module = import_module(name)
        getattr(module, by_linker).register(linker, getattr(module, functional))
