"""The globals of the product, held: its optimization database, every attribute and table of its modules and classes,
the answers that it finds once a process, and the functions that compiled code calls.

A test may fill a cache; `CACHES` names them. All else is held without being named, as soon as its module is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import arignote
from arignote.cbackend.abi._abi import ffi
from arignote.cbackend.runtime import runtime
from arignote.cbackend.runtime.lapack import find_lapack
from arignote.cbackend.runtime.sources import MEMBERS, libraries
from arignote.optdb import Database

PRODUCT = "arignote"
"""The package that is held, with all inside."""
KEPT = type(cache(len))
"""The class of functions that keep their answers."""

CACHES = {
    "arignote.cbackend.build.prestarted._missed",
    "arignote.cbackend.build.build._begun",
    "arignote.cbackend.build.toolchain._programs",
    "arignote.cbackend.calls.native._methods",
    "arignote.cbackend.calls.update_locks._held",
    "arignote.cbackend.ctext.preamble._added",
    "arignote.cbackend.kernels._users",
    "arignote.cbackend.runtime.runtime._for_targets",
    "arignote.cbackend.runtime.runtime._loaded",
    "arignote.graph.match_key._known",
    "arignote.record.frames.OWN",
    "arignote.notices._given_notices",
    "arignote.ops.elementwise.records._arrays",
    "arignote.ops.elementwise.records._defined",
    "arignote.ops.elementwise.records._special",
    "arignote.ops.core.tensor._numbers",
    "arignote.record._instances",
}
"""Tables that remember answers, and so change none."""

_ABSENT = type("Absent", (), {"__repr__": lambda self: "absent"})()


def difference(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> str:
    """The entries that two mappings do not share, the first few of them."""
    names = [name for name in {**before, **after} if not _is_same(before, after, name)]
    lines = [f"{name} was {_short(before.get(name, _ABSENT))}, is {_short(after.get(name, _ABSENT))}" for name in names]
    return "; ".join(lines[:4]) + (f"; and {len(names) - 4} more" if len(names) > 4 else "")


def overwrite(mapping: MutableMapping[Any, Any], content: Mapping[Any, Any]) -> None:
    """Give a mapping this content; entries that it has already are left alone."""
    for name in [name for name in mapping if name not in content]:
        del mapping[name]
    for name, value in content.items():
        if not _is_same(mapping, content, name):
            mapping[name] = value


def _is_same(one: Mapping[Any, Any], other: Mapping[Any, Any], name: Any) -> bool:
    a, b = one.get(name, _ABSENT), other.get(name, _ABSENT)
    return a is b or (type(a) is type(b) and bool(a == b))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


class _Table(NamedTuple):
    """A dict, list or set of the product, and its content when it was first seen."""

    label: str
    table: Any
    content: Any

    @property
    def live(self) -> Any:
        """The table itself, to compare with `content`."""
        return self.table

    def restore(self) -> str:
        if isinstance(self.table, dict):
            found = difference(self.content, self.table)
            overwrite(self.table, self.content)
        else:
            found = f"{_short(self.content)} became {_short(self.table)}"
            self.table.clear()
            (self.table.update if isinstance(self.table, set) else self.table.extend)(self.content)
        return f"{self.label}: {found}"


class _Attributes(NamedTuple):
    """The attributes of a module or a class, and their values when it was first seen."""

    label: str
    owner: Any
    content: dict[str, Any]

    @property
    def live(self) -> Mapping[str, Any]:
        """A view of the attributes, to compare with `content`."""
        return vars(self.owner)

    def restore(self) -> str:
        """Bring back what was changed; a line that says so, empty if the system itself did it."""
        now = vars(self.owner)
        changed = {name for name in {**self.content, **now} if not _is_same(self.content, now, name)}
        for name in [name for name in changed if _is_of_the_system(name, now.get(name))]:
            changed.remove(name)
            self.content.pop(name, None)
            self.content.update({name: now[name]} if name in now else {})
        found = difference(*({name: d[name] for name in changed if name in d} for d in (self.content, now)))
        for name in changed:
            if name in self.content:
                setattr(self.owner, name, self.content[name])
            else:
                delattr(self.owner, name)
        return f"{self.label}: {found}" if changed else ""


def _is_of_the_system(name: str, value: Any) -> bool:
    """Whether Python itself sets it: submodules when they are loaded, and names with two underscores."""
    return isinstance(value, ModuleType) or (name.startswith("__") and name.endswith("__"))


class HeldProduct:
    """All that is held of the product."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}
        self._loaded = 0
        self._held: list[_Attributes | _Table] = []
        self._live: list[Any] = []
        self._contents: list[Any] = []
        arignote.optdb.fill()  # databases whose rules are registered when they are first looked at
        self._databases = [(database, dict(database._members)) for database in _databases(arignote.optdb)]
        self._state = arignote.optdb.state()
        self._answers: dict[str, Any] = {}
        self._once: list[tuple[str, Any]] = []
        self._take_in_modules()

    def restore(self) -> list[str]:
        """Bring back the state that was held; a line for each change."""
        found = [self._load_again(name) for name, was in self._modules.items() if sys.modules.get(name) is not was]
        if len(sys.modules) != self._loaded:
            self._take_in_modules()
        if self._live != self._contents:  # one comparison of all: most tests change nothing
            found += [held.restore() for held in self._held if held.live != held.content]
        if arignote.optdb.state() != self._state:
            found += [_put_back(database, members) for database, members in self._databases]
        return [line for line in (*found, *self._other_answers()) if line]

    def _take_in_modules(self) -> None:
        """Hold the modules that were loaded since the last time."""
        self._loaded = len(sys.modules)
        for name, module in list(sys.modules.items()):
            if (name == PRODUCT or name.startswith(f"{PRODUCT}.")) and name not in self._modules:
                self._modules[name] = module
                self._held += _held_in(module)
                self._once += _found_once(module)
        self._live = [held.live for held in self._held]
        self._contents = [held.content for held in self._held]

    def _load_again(self, name: str) -> str:
        sys.modules[name] = self._modules[name]
        return f"sys.modules[{name!r}] is another module, or gone"

    def _other_answers(self) -> Iterator[str]:
        """Clear functions that cache one answer a process, so that they ask again."""
        for label, function in self._once:
            if function.cache_info().currsize:
                answer = function()
                if self._answers.setdefault(label, answer) is not answer and self._answers[label] != answer:
                    function.cache_clear()
                    yield f"{label}(): {_short(self._answers[label])} became {_short(answer)}"


def _held_in(module: ModuleType) -> Iterator[_Attributes | _Table]:
    name = module.__name__
    yield _Attributes(name, module, dict(vars(module)))
    for attribute, value in list(vars(module).items()):
        label = f"{name}.{attribute}"
        if type(value) in (dict, list, set) and not attribute.startswith("__") and label not in CACHES:
            yield _Table(label, value, value.copy())
        elif isinstance(value, type) and value.__module__ == name:
            yield _Attributes(label, value, dict(vars(value)))


def _found_once(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Functions of a module without arguments whose answer is kept."""
    for attribute, value in list(vars(module).items()):
        is_kept = isinstance(value, KEPT) and value.__module__ == module.__name__  # namespaces answer `hasattr` slowly
        if is_kept and value.__wrapped__.__code__.co_argcount == 0:
            yield f"{module.__name__}.{attribute}", value


def _databases(database: Database) -> Iterator[Database]:
    """A database and those inside."""
    yield database
    for member in database._members.values():
        if isinstance(member.object, Database):
            yield from _databases(member.object)


def _put_back(database: Database, members: dict[str, Any]) -> str:
    """Give a database these members again; a line that says what was changed, empty if nothing was."""
    found = difference(members, database._members)
    if not found and list(members) == list(database._members):
        return ""
    database._members = dict(members)
    database._edits += 1
    return f"{PRODUCT}.optdb ({database.name}): {found or 'the order of its entries'}"


# --- the functions that compiled code calls


class Called(NamedTuple):
    """The functions that compiled code calls: a table, and the libraries that products and solvers come from."""

    table: bytes = b""
    products: Mapping[str, Any] = {}
    solvers: Mapping[str, Any] = {}

    @classmethod
    def read(cls) -> Called:
        for loaded in runtime._loaded:
            return cls(bytes(ffi.buffer(loaded.table)), dict(loaded._products), dict(loaded._solvers))
        return cls()

    def changed(self, later: Called) -> str:
        """The fields of the table that were set and are otherwise now; no library is loaded before it is needed."""
        if not self.table or self.table == later.table:
            return ""
        unset = {libraries()[name][0] for name in libraries() if name not in self.products}
        unset |= {f"solve_{MEMBERS[dtype]}" for dtype in MEMBERS if dtype not in self.solvers}
        unset |= set() if self.solvers or any(map(runtime._blas_for, self.products)) else {"blas_threads"}
        names = [name for name, _ in ffi.typeof("ag_runtime").fields if name not in unset]
        return ", ".join(name for name in names if self._bytes(name) != later._bytes(name))

    def _bytes(self, name: str) -> bytes:
        return bytes(ffi.buffer(ffi.addressof(ffi.from_buffer("ag_runtime *", self.table), name)))

    def write(self) -> None:
        """Install again what was installed."""
        loaded, lapack = runtime._loaded[0], find_lapack()
        for dtype, library in self.products.items():
            loaded.install(dtype, library, runtime._blas_for(dtype))
        for dtype, library in self.solvers.items():
            loaded.install_lapack(dtype, library, lapack.addresses[dtype], lapack.wide)
        for name in filter(None, self.changed(Called.read()).split(", ")):
            ffi.buffer(ffi.addressof(loaded.table, name))[:] = self._bytes(name)
