"""Distinct rewrites of the functions that programs compile, kept in a folder to be proved later.

    with recording(folder):  what a program compiles is noted
    kept(folder)             the distinct parts, and how often each was met

Two rewrites are one if the rule and the parts of the graphs around it are equal, up to the names of the inputs.  A
network of a hundred layers has a few dozen.  As pytest plugin (`-p prove.recording`), with the folder in
STEPS_FOLDER, it notes what the tests of a session compile.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arignote.database import PRISTINE, optdb
from arignote.function import function as functions
from arignote.graph.digest import Unnamed, digest
from arignote.optdb import Query
from arignote.proving.prover import settled
from arignote.proving.steps import End, Step, parts_of

FOLDER = "STEPS_FOLDER"
MOST_BYTES = 200_000
"""Size of a part that is kept; a larger one, with the constants of a network, is counted."""
TOO_LARGE = "the part has more than 200,000 bytes of constants"
UNNAMED = "an op that a test defines, which has no meaning here"


@dataclass
class Kept:
    """Contents of a folder: functions, the rule and the pickle of each part, and how often it was met.

    Instead of a pickle there may be the reason why the part is not kept.
    """

    functions: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    parts: dict[str, tuple[str, bytes | str]] = field(default_factory=dict)


class Recorder:
    """Notes parts in a folder: each process appends to files of its own, with one write each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._met: set[str] = set()

    def note(self, f: Any) -> None:
        """Note the steps of a function."""
        self._append("functions", b".")
        for part in parts_of(f.unoptimized_graph, f.journal, f.graph):
            self._note(part)

    def _note(self, part: Step | End) -> None:
        rule = (part.in_place or "the journal") if isinstance(part, End) else part.rule
        kept: Step | End | str = part
        if isinstance(part, Step) and settled(part):
            key, kept = _digest(f"settled {rule}".encode()), replace(part, instances=[], runs=())
        else:
            key = key_of(part)
        self._append("seen", f"{key}\n".encode())
        if key not in self._met:
            self._met.add(key)
            self._append("parts", pickle.dumps((key, rule, _pickled(kept))))

    def _append(self, kind: str, line: bytes) -> None:
        path = self.folder / f"{os.getpid()}.{kind}"
        with open(path, "ab", buffering=0) as file:
            file.write(line)


def _pickled(part: Step | End | str) -> bytes | str:
    """The pickle of a part without the bodies that it puts in place, or the reason why there is none."""
    if isinstance(part, str):
        return part
    try:
        made = pickle.dumps(replace(part, runs=()) if isinstance(part, Step) else part)
    except Exception as error:
        return f"the part has no pickle: {type(error).__name__}"
    return made if len(made) <= MOST_BYTES else TOO_LARGE


def key_of(part: Step | End) -> str:
    """The digest of a part; of the texts of graphs that have no digest."""
    if isinstance(part, End):
        graphs = [part.last, part.result]
        head = f"{part.in_place} {part.private}"
    else:
        graphs = [g for instance in part.instances for g in (instance.before, instance.after)]
        head = f"{part.rule} {part.whole}"
    try:
        return _digest(b"".join([head.encode(), *map(digest, graphs)]))
    except Unnamed:  # a parameter of an op has a text, but none that is the same in every process
        return _digest("\n".join([head, *map(str, graphs)]).encode())


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:24]


def recording(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Note the steps of functions that are made meanwhile in a folder."""
    return noting(Recorder(folder).note)


@contextlib.contextmanager
def noting(note: Callable[[Any], None]) -> Iterator[None]:
    """Call `note` with the functions that are made meanwhile by the product's own rules; NumPy runs them, without C."""
    compiled, engine_of = functions._compiled, functions.engine_of

    def noted(*args: Any) -> Any:
        made = compiled(*args)
        with contextlib.suppress(Exception):  # a test may break rules on purpose: its function has no journal
            query = made.mode.optimizer
            if made.journal and optdb.state() == PRISTINE and not (isinstance(query, Query) and query.extra):
                note(made)
        return made

    functions._compiled, functions.engine_of = noted, lambda name: engine_of("numpy" if name == "c" else name)
    try:
        yield
    finally:
        functions._compiled, functions.engine_of = compiled, engine_of


def kept(folder: Path) -> Kept:
    """Return the contents of a folder, from the files of all processes."""
    found = Kept()
    for path in sorted(filter(Path.is_file, folder.iterdir())):
        data = path.read_bytes()
        if path.suffix == ".functions":
            found.functions += len(data)
        elif path.suffix == ".seen":
            found.seen.update(data.decode().split())
        else:
            with open(path, "rb") as file:
                while file.tell() < len(data):
                    key, rule, part = pickle.load(file)
                    found.parts[key] = (rule, part)
    return found


def pytest_configure(config: Any) -> None:
    """Note what the tests of the session compile."""
    if os.environ.get(FOLDER):
        recorder = recording(Path(os.environ[FOLDER]))
        recorder.__enter__()
        config.add_cleanup(lambda: recorder.__exit__(None, None, None))
