"""The ops by their printed names, by which `parse` reads a graph back.  Classes of this package say their names."""

from __future__ import annotations

from functools import lru_cache

from ...graph import FunctionGraph, Vocabulary
from ...graph.facets import classes_of
from ..elementwise.records import array_definitions, user_ops
from .namespace import PACKAGE, load_modules
from .tensor import TensorConstant, TensorOp, TensorVariable


def vocabulary() -> Vocabulary:
    """Every op by its printed name, and how variables, constants and graphs are made."""
    ours = _vocabulary()
    theirs = {**user_ops(), **{d.name: d.op for d in array_definitions()}}
    return Vocabulary({**ours.ops, **theirs}, TensorVariable, TensorConstant, FunctionGraph) if theirs else ours


@lru_cache(maxsize=1)
def _vocabulary() -> Vocabulary:
    load_modules()
    ours = [kind for kind in classes_of(TensorOp) if kind.__module__.startswith(f"{PACKAGE}.")]
    ops = {name: maker for kind in ours for name, maker in kind.printed().items()}
    return Vocabulary(ops, TensorVariable, TensorConstant, FunctionGraph)
