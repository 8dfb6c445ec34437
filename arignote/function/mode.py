"""Modes: the optimizers of a function and the engine that runs it."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, Literal

from .. import pages
from ..engines.registry import require_known
from ..optdb import Query
from ..record import record
from ..record.spelling import counted

CHECKS: dict[bool | str, str] = {
    True: "every call, against NumPy", "nan": "every node, for NaN and infinity", "prove": "every rewrite, by Z3",
}  # fmt: skip
"""The checks of modes, in words."""


def as_engines(names: Any, who: str) -> tuple[str, ...]:
    """Return the names of engines without duplicates.

    Raises TypeError or ValueError for what is no name of an engine.
    """
    if isinstance(names, str) or not isinstance(names, (list, tuple)):
        raise TypeError(f'{who}: engines is {names!r}; expected a list of names, such as ["c", "onnxruntime"]')
    for name in names:
        require_known(name, who, "engines has")
    if not names and who == "function":
        raise ValueError('function: engines is empty; expected names, such as ["c", "onnxruntime"]')
    return tuple(dict.fromkeys(names))


def _first_word(text: str) -> tuple[str, str]:
    """Return the first word of a query, which may be the name of a mode, and the text after it."""
    first, _, rest = text.replace(",", " ").strip().partition(" ")
    return first, rest


def _query(text: str) -> Query:
    """Parse the text of a query, which may begin with the name of a mode that is a query, FAST_RUN or FAST_COMPILE."""
    first, rest = _first_word(text)
    if first in _CHECKED:
        raise ValueError(f"Mode: {first} is no query; use mode={text!r}, or ag.Mode({_CHECKED[first]})")
    query = Query.parse(f"{first.lower()} {rest}" if first in ("FAST_RUN", "FAST_COMPILE") else text)
    if text.strip() and not query.include:
        raise ValueError(f"Mode: the query {text!r} includes no tag, so nothing would run; use 'fast_run {text}'")
    return query


_CHECKED = {
    "DEBUG": "'fast_run', check=True", "NAN": "'fast_run', check='nan'", "PROVE": "'fast_run', check='prove'",
    "NUMPY": "None, backend='numpy'",
}  # fmt: skip
"""The arguments of the modes that are more than a query."""


@record
class Mode:
    """A query of the optimization database and an engine.

    `optimizer`: a Query, its text such as `"fast_run -inplace"`, or None for no optimization at all.  `backend`: the
    name of the engine, "c", "numpy" or a registered one (`ag.engines`).  Passes that this engine does not want are left
    out, unless the query includes their tags itself: NumPy's, those that make loops of C.  `check`: every
    call is compared with the NumPy meaning of the unoptimized graph, and a rule that fails is an error; "nan": NumPy
    evaluates the unoptimized graph as well, and the first node that makes a NaN or an infinity of finite operands is a
    FloatingPointError; "prove": each rewrite is proved when the function is compiled, and a refuted one is an error.
    `max_changes`: how many rewrites are done, see `limit`; None for all.
    """

    optimizer: Query | str | None = "fast_run"
    backend: str = "c"
    check: bool | Literal["nan", "prove"] = False
    max_changes: int | None = None
    name: str = field(default="", compare=False)
    engines: tuple[str, ...] = ()
    """The engines among which the pass `partition` divides a graph; empty: all that are ready on this machine."""

    def __post_init__(self) -> None:
        require_known(self.backend, "Mode")
        object.__setattr__(self, "engines", as_engines(self.engines, "Mode"))
        most = self.max_changes
        if most is not None and (isinstance(most, bool) or not isinstance(most, int)):
            raise TypeError(f"Mode: the limit of changes is {most!r}; expected an integer or None")
        if most is not None and most < 0:
            raise ValueError(f"Mode: the limit of changes is {most}; expected 0 or more")
        if not isinstance(self.optimizer, (Query, str, type(None))):
            raise TypeError(f"Mode: optimizer is {self.optimizer!r}; expected a query as 'fast_run -inplace', or None")
        if not isinstance(self.check, bool) and self.check not in ("nan", "prove"):
            raise TypeError(f'Mode: check is {self.check!r}; expected True, False, "nan" or "prove"')
        if isinstance(self.optimizer, str):
            object.__setattr__(self, "optimizer", _query(self.optimizer))

    def _repr_html_(self) -> str:
        rows = [] if self.optimizer is None else self.optimizer.facts()  # type: ignore[union-attr]
        rows += [("backend", self.backend), *([("check", CHECKS[self.check])] if self.check else [])]
        rows += [] if self.max_changes is None else [("stops after", counted(self.max_changes, 'rewrite'))]
        return pages.notebook.facts(f"mode {self.name}".rstrip(), rows)

    def _with(self, how: str, what: tuple[Any, ...]) -> Mode:
        self._refuse_unoptimized(_VERBS[how])
        return replace(self, optimizer=getattr(self.optimizer, how)(*what), name="")

    def including(self, *tags: str) -> Mode:
        """Return this mode with more rules and passes, by tags or names."""
        return self._with("including", tags)

    def excluding(self, *tags: str) -> Mode:
        """Return this mode without the rules and passes of these tags or names."""
        return self._with("excluding", tags)

    def requiring(self, *tags: str) -> Mode:
        """Return this mode with only those of its rules and passes that have all these tags."""
        return self._with("requiring", tags)

    def asking(self, query: Query | str) -> Mode:
        """Return this mode with what a query includes, requires, excludes, and asks of containers besides."""
        return self._with("joined", (query,))

    def register(self, *placed: tuple[Any, float]) -> Mode:
        """Return this mode with more rules, optimizers or functions of a graph, each given as (object, position)."""
        return self._with("register", placed)

    def dividing(self, *engines: str) -> Mode:
        """Return this mode with the pass `partition` among these engines.

        C runs the function and calls the other engines, or NumPy where C is not among them.
        """
        self._refuse_unoptimized("divide")
        query = self.optimizer.including("partition")  # type: ignore[union-attr]
        backend = "c" if "c" in engines else "numpy"
        return replace(self, optimizer=query, engines=tuple(engines), backend=backend, name="")

    def running_on(self, engine: str, also: tuple[str, ...] = ()) -> Mode:
        """Return this mode with another engine.  Raises ValueError for an unknown name; `also` adds known ones."""
        require_known(engine, "function", "engine is", also)
        return replace(self, backend=engine, name="")

    @property
    def divides(self) -> bool:
        """Whether the query takes the pass `partition`."""
        query = self.optimizer
        return isinstance(query, Query) and "partition" in query.include and "partition" not in query.exclude

    def limit(self, changes: int | None) -> Mode:
        """Return this mode limited to the first `changes` rewrites of the journal; None: no limit.

        The function computes the same, in the state `f.trace.graph(changes)` of the whole optimization.  Its profile
        says where it stopped, and which rewrite would be next.  `ag.bisect` finds a wrong rewrite by itself; a limit
        finds one that compiled code must run to show.
        """
        self._refuse_unoptimized("limit")
        return replace(self, max_changes=changes, name="")

    def _refuse_unoptimized(self, verb: str) -> None:
        if self.optimizer is None:
            raise ValueError(f"mode {self.name or self} runs no optimizer, so there is nothing to {verb}")


_VERBS = {
    "including": "include", "excluding": "exclude", "requiring": "require", "register": "register", "joined": "ask for",
}  # fmt: skip
"""Verbs of messages, by the methods of queries."""

MODES = {
    "FAST_RUN": Mode("fast_run", name="FAST_RUN"),
    "FAST_COMPILE": Mode("fast_compile", name="FAST_COMPILE"),
    "DEBUG": Mode("fast_run", check=True, name="DEBUG"),
    "NAN": Mode("fast_run", check="nan", name="NAN"),
    "PROVE": Mode("fast_run", check="prove", name="PROVE"),
    "NUMPY": Mode(None, backend="numpy", name="NUMPY"),
}
_OTHER_NAMES = {"debugmode": "DEBUG", "debug_mode": "DEBUG", "nanguardmode": "NAN", "nan_guard": "NAN"}
"""Names of modes in Theano and PyTensor."""


def as_mode(mode: Any) -> Mode:
    """Return the mode that a user named: a Mode, a Query, the text of one, or a mode's name in any case.

    More of a query may follow the name, as in "DEBUG -fusion".
    """
    if isinstance(mode, Mode):
        return mode
    if isinstance(mode, str):
        first, rest = _first_word(mode)
        name = _OTHER_NAMES.get(first.lower(), first.upper())
        if name in MODES:
            return MODES[name].asking(rest) if rest else MODES[name]
    if isinstance(mode, str) and mode.isupper():
        raise ValueError(
            f"no mode is named {mode!r}; expected one of {', '.join(MODES)}, "
            "a query such as 'fast_run -inplace', or ag.Mode(...)"
        )
    if isinstance(mode, (str, Query)):
        return Mode(mode)
    raise TypeError(f"mode is {mode!r}; expected the name of a mode, a query or ag.Mode(...)")
