"""The namespaces of the vocabulary: `T` as its own modules call it, and what users see of `T` and those in it.

    from ..core.namespace import T, classes

`T.sum(x)` is a function of `arignote.ops`, `classes.SumTo` the class of an op.  A name is looked up when it is first
used, inside a function, so no module has to be loaded before another one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...graph import Op
from ...graph.facets import classes_of
from ...record.spelling import meant

__all__ = ["T", "classes", "missing", "public_names"]

PACKAGE = __name__.removesuffix(".core.namespace")

if TYPE_CHECKING:
    from ... import ops as T
else:

    class Vocabulary:
        """Stands for `arignote.ops`, which is loaded later."""

        def __getattr__(self, name: str) -> Any:
            value = self.__dict__[name] = getattr(sys.modules[PACKAGE], name)
            return value

    T = Vocabulary()
classes: Any = T

_INNER = ("array_api", "distributions", "fft", "linalg", "nn", "random", "sparse", "special")
NAMESPACES = frozenset(f"{PACKAGE}.{name}" for name in _INNER)


def public_names(namespace: Mapping[str, object]) -> list[str]:
    """The names of a namespace, but for private ones, modules of ours that are no namespace, and classes of ops."""
    return sorted(name for name, value in namespace.items() if not name.startswith("_") and _is_public(value))


def _is_public(value: object) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__ in NAMESPACES
    if value is TYPE_CHECKING:
        return False
    return not (isinstance(value, type) and issubclass(value, Op) and value.__name__ != "TensorOp")


def missing(name: str, inner: Mapping[str, ModuleType], space: str = "") -> type[Op]:
    """The class of an op by its name.

    Raises AttributeError, which says whether an inner namespace has the name, what to write in its place ("instead"
    has names of other libraries, those of the inner namespace `space` apart), or which name is spelled nearly so.
    """
    found = op_class(name)
    if found is not None:
        return found
    owner = next((f"{space}.{name}" for space, module in inner.items() if name in module.__all__), None)
    module = f"{PACKAGE}.{space}".rstrip(".")
    table = _TABLES.get(space, "INSTEAD")
    instead = f"; it is T.{owner}" if owner else "" if name.startswith("_") else _instead(name, table)
    if not instead and name[:1] != "_":
        instead = _instead_elsewhere(name, space, module)
    raise AttributeError(f"module {module!r} has no attribute {name!r}{instead}", name=name, obj=None)  # no guess


_TABLES = {
    "linalg": "LINALG", "special": "SPECIAL", "sparse": "SPARSE", "nn": "NETWORKS", "distributions": "DISTRIBUTIONS",
}  # fmt: skip


def _instead(name: str, table: str) -> str:
    """Return what to write in the place of a name of another library; empty if the table has no advice."""
    advice = getattr(import_module(".standard.instead", PACKAGE), table).get(name)
    return f"; use {advice}" if advice else ""


def instead_in_package(name: str) -> str:
    """Return what to write in the place of a name that the package lacks, `ag.exp`; empty without an advice."""
    found = f"; it is T.{name}" if name in sys.modules[PACKAGE].__all__ else _instead(name, "INSTEAD")
    return _instead(name, "PACKAGE") or found


def _instead_elsewhere(name: str, space: str, module: str) -> str:
    """Return where else a name of an inner namespace is: in `T`, or in SciPy; else a name that is spelled nearly so."""
    if not space:
        package = PACKAGE.rpartition(".")[0]
        if name in sys.modules[package].__all__:
            return f"; it is ag.{name}"
        return meant(name, [each for each in vars(sys.modules[module]) if each[0] != "_"])
    call = import_module(".standard.scipy_names", PACKAGE).by_scipy(space, name)
    if name in sys.modules[PACKAGE].__all__ and not (call and space == "distributions"):  # T.trapezoid is an integral
        return f"; it is T.{name}"
    return f"; use {call}" if call else meant(name, sys.modules[module].__all__)


def no_attribute(value: object, name: str, table: str) -> AttributeError:
    """The error for an attribute that a value lacks: what to write for a name of another library, or the nearest."""
    instead = "" if name.startswith("_") else _instead(name, table) or meant(name, dir(type(value)))
    return AttributeError(f"{type(value).__name__} has no attribute {name!r}{instead}")  # no guess


class NoAttribute(AttributeError):
    """The error for an attribute that a tensor lacks; its text is made when it is shown, as `hasattr` never does."""

    def __init__(self, kind: type, name: str, reason: str = "") -> None:
        super().__init__()
        self.kind: type = kind
        self.word: str = name
        self._reason = reason

    def __str__(self) -> str:
        if self._reason:
            return self._reason
        instead = "" if self.word.startswith("_") else self._instead()
        return f"'{self.kind.__name__}' object has no attribute {self.word!r}{instead}"

    def _instead(self) -> str:
        """Return the advice for the name, the function of that name, or a name that is spelled nearly so."""
        advice = _instead(self.word, "INSTEAD")
        if advice:
            return advice
        for space, module in {"T": sys.modules[PACKAGE], **{f"T.{k}": getattr(T, k) for k in _FUNCTIONS}}.items():
            if self.word in module.__all__ and callable(getattr(module, self.word)):
                return f"; use {space}.{self.word}(x)"
        return meant(self.word, dir(self.kind))

    def __reduce__(self) -> Any:
        return AttributeError, (str(self),)


NoAttribute.__name__ = NoAttribute.__qualname__ = "AttributeError"  # as tracebacks show it
NoAttribute.__module__ = "builtins"
_FUNCTIONS = ("nn", "linalg", "special", "fft")


def op_class(name: str) -> type[Op] | None:
    """The class of an op of ours by its name."""
    if not name.lstrip("_")[:1].isupper():
        return None
    found = _loaded_class(name)
    if found is None:
        load_modules()
    return found or _loaded_class(name)


def _loaded_class(name: str) -> type[Op] | None:
    ours = (kind for kind in classes_of(Op) if kind.__module__.startswith(PACKAGE))
    return next((kind for kind in ours if kind.__name__ == name), None)


@cache
def load_modules() -> None:
    """Load all modules of the package, so that the classes of all ops are known."""
    root = Path(sys.modules[PACKAGE].__path__[0])
    for path in sorted(root.rglob("*.py")):
        import_module(".".join([PACKAGE, *path.relative_to(root).with_suffix("").parts]).removesuffix(".__init__"))
