"""Effects of statements: what a compiled call could not repeat, such as printing, files and draws of random numbers.

A statement that calls nothing but functions known to be free of effects may be traced.  All else runs in Python.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .rewriting.liveness import assigned_in, parameters_of
from .rewriting.source import tree_of

_BUILTINS = frozenset((
    "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "frozenset", "getattr", "hasattr",
    "int", "isinstance", "issubclass", "len", "list", "map", "max", "min", "pow", "range", "repr", "reversed", "round",
    "set", "slice", "sorted", "str", "sum", "super", "tuple", "type", "zip",
))  # fmt: skip
_PACKAGES = ("numpy", "math", "cmath", "scipy", "arignote", "operator")
_IMPURE = frozenset((
    "save", "savetxt", "savez", "savez_compressed", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "tofile",
    "dump", "dumps", "seterr", "seterrcall", "set_printoptions", "setbufsize", "seed", "default_rng", "show_config",
))  # fmt: skip
"""Functions and methods of these packages that have effects, or read files."""
_METHODS = frozenset((
    *(n for n in dir(np.ndarray) if not n.startswith("_")), *(n for n in dir(str) if not n.startswith("_")),
    "append", "extend", "items", "keys", "values", "get", "setdefault", "insert", "index", "count", "at", "reduce",
    "accumulate", "outer", "reduceat",
)) - _IMPURE  # fmt: skip

_CHANGING = frozenset((
    "append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear", "sort",
    "reverse", "appendleft",
))  # fmt: skip
"""Methods that change a list, dict or set."""


class Effects:
    """The effects of the statements of one function."""

    def __init__(self, function: Any, tree: Any) -> None:
        code = function.__code__
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        self._space: Mapping[str, Any] = function.__globals__
        self._outer: dict[str, Any] = {}
        for name, cell in cells:
            try:
                self._outer[name] = cell.cell_contents
            except ValueError:
                continue
        self._inner: frozenset[str] = frozenset(n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
        self._declared = {n for s in ast.walk(tree) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
        self._locals: set[str] = set(parameters_of(tree)) | set(assigned_in(tree.body)) - self._declared
        self._known: dict[Any, bool] = {function: False}

    def has(self, node: ast.AST) -> bool:
        """Whether a statement may have an effect, or assigns a variable outside of the function."""
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and self._calls(part.func):
                return True
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in self._declared:
                return True
            if isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load) and self._is_outside(part):
                return True
        return False

    def _calls(self, function: ast.expr) -> bool:
        """Whether a call of what an expression names may have an effect."""
        if isinstance(function, ast.Name) and function.id in self._inner:
            return False  # its statements are looked at where it is defined
        if isinstance(function, ast.Attribute) and function.attr in _CHANGING and self._is_outside(function):
            return True
        try:
            value = self._value(function)
        except LookupError:
            return not (isinstance(function, ast.Attribute) and function.attr in _METHODS)
        return self._value_has(value)

    def _is_outside(self, e: ast.expr) -> bool:
        """Whether a part or an attribute belongs to a variable outside of the function, but for modules."""
        while isinstance(e, (ast.Attribute, ast.Subscript)):
            e = e.value
        if not isinstance(e, ast.Name) or e.id in self._locals:
            return False
        return not isinstance(self._space.get(e.id), ModuleType)

    def _value(self, e: ast.expr) -> Any:
        """Return what a name, or an attribute of a module, is.  Raises LookupError for anything else."""
        if isinstance(e, ast.Name):
            for space in (self._outer, self._space, vars(builtins)):
                if e.id in space:
                    return space[e.id]
        if isinstance(e, ast.Attribute):
            owner = self._value(e.value)
            if isinstance(owner, (ModuleType, np.ufunc)) and hasattr(owner, e.attr):
                return getattr(owner, e.attr)
        raise LookupError

    def _value_has(self, value: Any) -> bool:
        name = getattr(value, "__name__", "")
        if getattr(builtins, name, None) is value:
            return name not in _BUILTINS
        module = str(getattr(value, "__module__", None) or getattr(type(value), "__module__", ""))
        owner = getattr(value, "__self__", None)
        if isinstance(owner, np.ufunc) or isinstance(value, np.ufunc):
            return False
        if module.partition(".")[0] in _PACKAGES or getattr(math, name, None) is value:
            return name in _IMPURE or module.startswith("numpy.random")
        if isinstance(value, FunctionType):
            return self._function_has(value)
        return True

    def _function_has(self, function: Any) -> bool:
        if function not in self._known:
            self._known[function] = False  # what calls itself has the effects of the rest
            tree = tree_of(function.__code__)
            self._known[function] = tree is None or Effects(function, tree).has(tree)
        return self._known[function]
