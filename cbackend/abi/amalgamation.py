"""Amalgamation: a C file of ours and all that it includes, as one self-contained text.

Compilers, cache keys, prebuilt libraries and exported folders get one text; editors and linters read the files.  An
include in quotes is a file of ours, by its path from the file that names it; other includes stay as they are.  A file
with `#pragma once` appears once; one without it appears wherever it is included, after other macros.  An `#ifdef` or
`#ifndef` that chooses between includes alone is decided here, so that a text has no file that its macros leave out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from os.path import dirname, join, normpath
from pathlib import Path

from ...record import record
from ...record.package_files import package_text

_LINE = r'#(?:pragma once|include "[^"\n]+")[^\n]*\n'
_CHOICE = rf"#ifn?def \w+[^\n]*\n(?:{_LINE})+(?:#else[^\n]*\n(?:{_LINE})+)?#endif[^\n]*\n"
_DIRECTIVES = re.compile(rf"((?:^(?:{_LINE}|{_CHOICE}))+)\n?", re.M)
_DIRECTIVE = re.compile(r'#(include|ifdef|ifndef|else|endif)(?: "?([^"\s]+))?')
_ONCE = "#pragma once"


def self_contained(path: str | Path, without: Collection[str | Path] = (), macros: Collection[str] = ()) -> str:
    """Return the text of a C file in which the text of each file stands in the place of its include.

    `path`: absolute, like those of `without`: included files that are left out, with all that they include.
    `macros`: those that are defined in front of the text, for choices between includes.

    Raises:
        CompileError: a file cannot be read.
    """
    return "".join(part.text for part in _walked(path, without, macros) if not part.is_path)


def included(path: str | Path, macros: Collection[str] = ()) -> tuple[Path, ...]:
    """Return the files that a C file includes, directly or through others, each once and in order."""
    return tuple(dict.fromkeys(Path(part.text) for part in _walked(path, (), macros) if part.is_path))


def _walked(path: str | Path, without: Collection[str | Path], macros: Collection[str]) -> Iterator[_Part]:
    """Yield the parts of a file and of what it includes: texts in order, and the path of each file before its text."""
    seen = set(map(normpath, without))
    open_files = [iter(_read(normpath(path)).parts)]
    while open_files:
        part = next(open_files[-1], None)
        if part is None:
            open_files.pop()
            if open_files:
                yield _Part("\n")
        elif not part.is_path:
            yield part
        elif part.text not in seen and (not part.macro or (part.macro in macros) == part.when):
            file = _read(part.text)
            if file.once:
                seen.add(part.text)
            yield part
            open_files.append(iter(file.parts))


@record
class _Part:
    """Piece of a file: a text, or the path of an included file.

    `macro`: empty, or a macro that must be defined (`when`), or must not, for the file to be included.
    """

    text: str
    is_path: bool = False
    macro: str = ""
    when: bool = True


@record
class _File:
    """A C file in parts; `once`: it appears once in a text."""

    parts: tuple[_Part, ...]
    once: bool


@cache
def _read(path: str) -> _File:
    text = package_text(path)
    parts: list[_Part] = []
    end = _end_of_includes(text)
    for k, piece in enumerate(_DIRECTIVES.split(text[:end])):
        if k % 2:
            parts += _includes(dirname(path), piece)
        elif piece:
            parts.append(_Part(piece))
    if text[end:]:
        parts.append(_Part(text[end:]))
    return _File(tuple(parts), _ONCE in text)


def _end_of_includes(text: str) -> int:
    """Return the length of what holds all includes of a file: to the next blank line, of which choices have none."""
    last = max(text.rfind("#include"), text.rfind(_ONCE))
    if last < 0:
        return 0
    blank = text.find("\n\n", last)
    return blank + 2 if blank >= 0 else len(text)


def _includes(folder: str, directives: str) -> Iterator[_Part]:
    """Yield the files that lines of directives include."""
    macro, when = "", True
    for word, value in _DIRECTIVE.findall(directives):
        if word == "include":
            yield _Part(normpath(join(folder, value)), True, macro, when)
        elif word == "else":
            when = not when
        else:
            macro, when = value, word != "ifndef"
