"""The origin of a node: the module that it belongs to, and the user's line."""

from __future__ import annotations

import inspect
import os
import re
import sys
import sysconfig
import traceback
from functools import cache
from types import TracebackType
from typing import Any

import torch

from ...graph import SourceLine
from ...graph.provenance import Origin
from .table import name_of_op

_FOLDER = os.path.dirname(torch.__file__) + os.sep
_LIBRARY, _INSTALLED = sysconfig.get_path("stdlib") + os.sep, f"{os.sep}site-packages{os.sep}"
_PACKAGE = os.path.dirname(__file__) + os.sep
_ROOT = re.compile(r"""^L\[['"]\w+['"]\]\.?""")
_PART = re.compile(r"""_modules\[['"]([^'"]*)['"]\]""")


def module_of(node: torch.fx.Node) -> str:
    """Return the path of the module that a node belongs to, such as "layer1.0.conv1"; empty for the outermost one."""
    stack = _stack(node)
    return plain_path(stack[-1][0]) if stack else ""


def _stack(node: torch.fx.Node) -> list[tuple[str, Any]]:
    """Return path and class of the modules around a node, the outermost first."""
    found = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    return [entry for entry in found.values() if isinstance(entry, tuple)]


def plain_path(path: str) -> str:
    """Return the path of a module as users write it: "layer1.0" for "L['self']._modules['layer1']._modules['0']"."""
    return _PART.sub(r"\1", _ROOT.sub("", path))


def origin_of(node: torch.fx.Node) -> Origin:
    """Return the user's line that made a node, with the path of its module; empty if the graph keeps none.

    It is the innermost line outside PyTorch, else the first line of the innermost module outside PyTorch.
    """
    places = [p for p in _places(node.meta.get("stack_trace") or "") if not _is_torch(p[0])]
    forwards = [] if places else [f for f in map(_forward, (kind for _, kind in _stack(node))) if f is not None]
    chosen = (places or forwards)[-1:]
    module = module_of(node)
    if not chosen:
        return (SourceLine("", 0, module),) if module else ()
    return (SourceLine(*chosen[0], module),)


def user_line(trace: TracebackType | None) -> SourceLine | None:
    """Return the innermost line of an error's traceback outside PyTorch, Python's library and this package, or None."""
    found = [(f.filename, f.lineno or 0) for f in traceback.extract_tb(trace)]
    own = [place for place in found if not (_is_torch(place[0]) or _is_python(place[0]) or _is_here(place[0]))]
    return SourceLine(*own[-1]) if own else None


def _places(trace: str) -> list[tuple[str, int]]:
    """Return files and lines of a stack as text, the outermost first."""
    return [(m[1], int(m[2])) for m in re.finditer(r'^\s*File "(.*?)", line (\d+)', trace, re.MULTILINE)]


def _is_torch(file: str) -> bool:
    return file.startswith(_FOLDER)


def _is_here(file: str) -> bool:
    return file.startswith(_PACKAGE)


def _is_python(file: str) -> bool:
    return file.startswith("<frozen") or (file.startswith(_LIBRARY) and _INSTALLED not in file)


def _forward(kind: Any) -> tuple[str, int] | None:
    """Return file and line of the method `forward` of a class, or of its name; None if it is PyTorch's own."""
    return _forward_of(kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}")


@cache
def _forward_of(name: str) -> tuple[str, int] | None:
    module, _, kind = name.rpartition(".")
    code = getattr(getattr(getattr(sys.modules.get(module), kind, None), "forward", None), "__code__", None)
    if not inspect.iscode(code) or _is_torch(code.co_filename):
        return None
    return code.co_filename, code.co_firstlineno


def described(node: torch.fx.Node) -> str:
    """Return an op with its module and the user's line, for messages."""
    parts = [name_of_op(node.target) if node.op == "call_function" else str(node.name)]
    module, origin = module_of(node), origin_of(node)
    if module:
        parts.append(f"of {module}")
    if origin and origin[0].file:
        parts.append(f"({SourceLine(origin[0].file, origin[0].line)})")
    return " ".join(parts)
