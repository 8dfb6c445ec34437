"""`ARIGNOTE_TRACE=folder`: record every function of a process without a change to the program."""

from __future__ import annotations

import atexit
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import later
from ..notices import notice
from ..options import process_options
from ..profiling import RunProfile

if TYPE_CHECKING:
    from ..function.compiled import Function


class Recorder:
    """Writes a file for each function when it is compiled, and again at exit with the profile of its calls.

    A folder that takes no files costs one notice, not the program.
    """

    def __init__(self, folder: Path) -> None:
        self.folder: Path = folder.absolute()
        self._refused = False
        self._files: list[tuple[int, Path, RunProfile]] = []
        """Process that recorded a function, its file, and its run profile."""
        atexit.register(self.finish)

    def add(self, function: Function) -> None:
        """Record a function that was just compiled."""
        here = os.getpid()
        file = self.folder / f"{here}-{len(self._files) + 1:04d}.json"
        if self._write(file, later.recording.recorded(function)) and isinstance(function.profile, RunProfile):
            function.profile.measure_early()
            self._files.append((here, file, function.profile))

    def finish(self) -> None:
        """Add the profiles of calls to the files of this process."""
        for process, file, profile in self._files:
            if process == os.getpid() and profile.calls:
                try:
                    record = json.loads(file.read_bytes())
                except (OSError, ValueError):  # removed or overwritten meanwhile: that was meant
                    continue
                self._write(file, record | {"run": profile.to_dict()})

    def _write(self, file: Path, record: dict[str, Any]) -> bool:
        try:
            self.folder.mkdir(exist_ok=True)  # no parents: the path may be mistyped
            unfinished = file.with_suffix(".part")
            unfinished.write_text(json.dumps(record), "utf-8")
            unfinished.replace(file)
        except OSError as error:
            if not self._refused:
                notice(f"ARIGNOTE_TRACE: {file} cannot be written: {error.strerror or error}")
            self._refused = True
            return False
        return True


@lru_cache(maxsize=1)
def process_recorder() -> Recorder | None:
    """The recorder of this process, if the option `trace` names a folder."""
    folder = process_options().trace
    return Recorder(folder) if folder is not None else None
