"""`f.report("report.html")`, and the files of `ARIGNOTE_TRACE=folder` for `python -m arignote report`.

recorded(function)  ->  one JSON file a function  ->  records_in(path)  ->  write_report(records, page)
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import pages
from .recording import FORMAT, VERSION


class TraceError(ValueError):
    """A file that is no trace, or a damaged one; the message names the file and the damage."""


def write_report(records: Sequence[dict[str, Any]], path: str | os.PathLike[str], title: str | None = None) -> Path:
    """The file of a self-contained HTML page on these records.

    Raises OSError if it cannot be written, TraceError, naming the file, for a record that is damaged.
    """
    try:
        names = [str(record["name"]) for record in records]
        text = pages.page.page(records, title or (names[0] if len(names) == 1 else "Arignote"))
    except _DAMAGE:
        for record in records:
            _refuse_if_damaged(record)
        raise
    target = Path(path)
    target.write_text(text, "utf-8")
    return target


_DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)


def _refuse_if_damaged(record: dict[str, Any]) -> None:
    """Raise TraceError for a record from which no page can be drawn."""
    try:
        pages.page.page([record])
    except _DAMAGE as error:
        said = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise TraceError(f"{record.get('file', 'the trace')}: is damaged: {said}") from None


# --- reading
def records_in(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The records of a trace file, or of all `*.json` in a folder, in order of name.

    Raises TraceError, naming the file, for what is no trace, and for a folder without one.
    """
    source = Path(path)
    if source.is_dir():
        files = sorted(source.glob("*.json"))
        if not files:
            raise TraceError(f"{source}: no trace (*.json) lies in this folder; ARIGNOTE_TRACE={source} records some")
        return [read_record(file) for file in files]
    return [read_record(source)]


def read_record(file: Path) -> dict[str, Any]:
    """Return one trace file.  Raises TraceError if it is unreadable, no JSON, or of an unknown version."""
    try:
        record = json.loads(file.read_bytes())
    except OSError as error:
        raise TraceError(f"{file}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise TraceError(f"{file}: is no text: byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise TraceError(f"{file}, line {error.lineno}: is no JSON: {error.msg}") from None
    except RecursionError:
        raise TraceError(f"{file}: is nested too deeply to be a trace") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise TraceError(f'{file}: is no trace; a trace begins with {{"format": "{FORMAT}"}}')
    if record.get("version") != VERSION:
        raise TraceError(f"{file}: is a trace of version {record.get('version')!r}; this one reads version {VERSION}")
    record["file"] = str(file)
    return record


# --- the command
def main(source: str, output: str) -> int:
    """Run `python -m arignote report SOURCE`: write the page; return the exit code."""
    try:
        records = records_in(source)
    except (TraceError, OSError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 1
    try:
        target = write_report(records, output)
    except TraceError as error:
        print(f"report: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"report: {output}: cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1
    count = f"{len(records)} functions" if len(records) > 1 else f"function {records[0]['name']}"
    print(f"{target}: {count}, {pages.tables.amount(target.stat().st_size)}")
    return 0
