"""The optimization of a graph by a mode: at once, or lazily."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .. import later
from ..database import PRISTINE, optdb
from ..engines.registry import engine
from ..graph import FunctionGraph, GraphEditor, Replacement
from ..notices import notice
from ..optdb import Query
from ..optdb.dividing import Divide, dividing
from ..optdb.optimizers import SeqOptimizer
from ..optdb.rules import default_db
from ..profiling.tally import TALLY
from ..record.forks import ProcessLock
from ..targets.current import using
from ..targets.named import host
from ..targets.target import Target
from .mode import Mode

Result = tuple[FunctionGraph, Any, tuple[Replacement, ...]]


class Optimization:
    """A graph on its way through the optimizers of a mode.

    Optimizing is a matter of the graph, the mode and the database alone.  So a function that the cache knows runs
    before its graph is optimized, and a later request for the optimized graph, the profile or the journal gets what
    would have been there; a database that was edited meanwhile is not asked then.
    """

    def __init__(
        self, graph: FunctionGraph, mode: Mode, strict: bool = False, database: Any = optdb,
        target: Target | None = None, threads: int | None = None,
    ) -> None:  # fmt: skip
        self._unoptimized, self._mode, self._strict, self._database = graph, mode, strict, database
        self.target = target
        """The machine whose costs the passes use; None: this machine."""
        self._threads = threads
        self._state = database.state()
        self._lock = ProcessLock()
        self._result: Result | None = None
        self._restored: FunctionGraph | None = None
        """The optimized graph of an unpickled function."""

    @classmethod
    def done(
        cls, unoptimized: FunctionGraph, graph: FunctionGraph, mode: Mode, profile: Any,
        journal: Sequence[Replacement], target: Target | None = None,
    ) -> Optimization:  # fmt: skip
        """Return an optimization that has already run."""
        made = cls(unoptimized, mode, target=target)
        made._result = graph, profile, tuple(journal)
        return made

    @classmethod
    def restored(cls, unoptimized: FunctionGraph, graph: FunctionGraph, mode: Mode, target: Target | None,
                 threads: int | None) -> Optimization:  # fmt: skip
        """Return the optimization of an unpickled function.  Its profile and journal are made again on request."""
        made = cls(unoptimized, mode, target=target, threads=threads)
        made._restored = graph
        return made

    @property
    def mode(self) -> Mode:
        """The mode whose optimizers run."""
        return self._mode

    def general(self) -> Optimization:
        """Return the optimization of the same graph without assumptions on its lengths."""
        mode, query = self._mode, self._mode.optimizer
        if isinstance(query, Query):
            mode = replace(mode, optimizer=for_any_lengths(query, self._database))
        return Optimization(self._unoptimized, mode, self._strict, self._database, self.target, self._threads)

    def run(self) -> Result:
        """The optimized graph, the profile of each optimizer, and the journal."""
        with self._lock:
            if self._result is None:
                self._result = self._optimized()
                restored = self._restored
                if restored is not None and restored != self._result[0]:
                    notice("the function was pickled where other rules were registered; it has no trace here")
                    self._result = restored, None, ()
            return self._result

    def _optimized(self) -> Result:
        database = self._database
        if self._state == PRISTINE != database.state():
            database = default_db()
        query = _wanted(self._mode, database)
        strict = self._strict or self._mode.check is True
        optimizer = SeqOptimizer() if query is None else database.query(query, strict=strict)
        editor = GraphEditor(limit=self._mode.max_changes)
        divide = _division(self._mode, self._threads) if self._mode.divides else None
        with using(self.target or host()), dividing(divide):  # not the target of a block that reads it later
            graph, profile = optimizer(self._unoptimized, editor)
        TALLY.note(profile)
        if editor.stop:
            profile = replace(profile, stop=editor.stop)
        return graph, profile, tuple(editor.journal)

    @property
    def is_done(self) -> bool:
        return self._result is not None or self._restored is not None

    @property
    def graph(self) -> FunctionGraph:
        return self._restored if self._restored is not None else self.run()[0]

    @property
    def profile(self) -> Any:
        return self.run()[1]

    @property
    def journal(self) -> tuple[Replacement, ...]:
        return self.run()[2]


def _division(mode: Mode, threads: int | None) -> Divide:
    """Return the division of a graph among the engines of a mode."""
    return partial(later.divide.divided, prices=later.placement.Placement(mode.engines, mode.backend, threads))


def _wanted(mode: Mode, database: Any) -> Query | None:
    """Return the query of a mode without the passes that its engine does not want, unless it includes them itself."""
    query = mode.optimizer
    assert query is None or isinstance(query, Query)
    if query is None:
        return None
    running = engine(mode.backend)
    if mode.divides or not running.falls_back:
        query = for_any_lengths(query, database)
    return _without(query, set(running.unwanted) - query.include, database)


def for_any_lengths(query: Query, database: Any) -> Query:
    """Return the query without assumptions on lengths, also if it includes them: nothing runs calls that break them."""
    return _without(query, {"assume_equal"}, database)


def _without(query: Query, tags: Collection[str], database: Any) -> Query:
    """Return the query without what has one of these tags; an edited database may lack some."""
    unwanted = sorted(database.tags().intersection(tags)) if tags else []
    return query.excluding(*unwanted) if unwanted else query
