"""Computations as values: types, variables, nodes, ops, graphs, their text form.  Imports nothing of ours."""

from .collector import gc_paused
from .dims import Dim, dims_of, same_shape
from .editor import GraphEditor, Replacement, ReplacementRefused, Watch
from .facets import Kind, Lacks
from .fgraph import FunctionGraph, graph_of
from .match_key import ARRAY, LEAF, NUMBER, ConstantHead, Head, MatchKey, match_key_of
from .node import Apply, Constant, Variable
from .op import NoGradient, Op
from .ordering import Destroyers, InconsistencyError, execution_order
from .provenance import Origin, SourceLine, here, inheriting, union
from .text import Names, ParseError, Vocabulary, parse, show
from .types import DTYPES, TensorType, dtype_name
from .walk import Older, leaves, rebuild, toposort

__all__ = [
    "ARRAY",
    "DTYPES",
    "LEAF",
    "NUMBER",
    "Apply",
    "Constant",
    "ConstantHead",
    "Destroyers",
    "Dim",
    "FunctionGraph",
    "GraphEditor",
    "Head",
    "InconsistencyError",
    "Kind",
    "Lacks",
    "MatchKey",
    "Names",
    "NoGradient",
    "Older",
    "Op",
    "Origin",
    "ParseError",
    "Replacement",
    "ReplacementRefused",
    "SourceLine",
    "TensorType",
    "Variable",
    "Vocabulary",
    "Watch",
    "dims_of",
    "dtype_name",
    "execution_order",
    "gc_paused",
    "graph_of",
    "here",
    "inheriting",
    "leaves",
    "match_key_of",
    "parse",
    "rebuild",
    "same_shape",
    "show",
    "toposort",
    "union",
]  # fmt: skip
