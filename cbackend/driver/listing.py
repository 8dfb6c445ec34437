"""The C of a function with the user's lines: in comments, or in `#line` directives.

The printer tells which lines of the C file belong to which node (page.py); a kernel belongs to the nodes that launch
it.  With `debug_info` the text gets `#line` directives, so that gdb, sanitizers and compilers name the user's program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...graph import Apply, SourceLine
from ...record.quoting import c_comment, c_string
from ..program.program import Program
from .page import CFile

LINES = 3
"""The most lines of the user that a comment names."""


def commented(source: CFile, program: Program) -> str:
    """The C file with the user's lines in the comments of nodes and kernels; each line keeps its number.

    The compiled text lacks them: it is the same, and found in the cache, wherever the program has moved to.
    """
    lines = source.text.split("\n")
    for place in source.places:
        origin = [str(line) for s in place.sites if s < len(program.sites) for line in program.sites[s].node.origin]
        at = place.first - (2 if place.kernel else 1)
        if origin and lines[at].endswith("*/"):
            shown = ", ".join(dict.fromkeys(origin[:LINES]))
            lines[at] = f"{lines[at][:-2]} [{c_comment(shown)}] */"
    return "\n".join(lines)


def with_lines(source: CFile, program: Program, name: str = "function.c") -> CFile:
    """Return the C file with `#line` directives: lines of a node point to the user's code, all others to `name`."""
    origin: dict[int, SourceLine] = {}
    for place in source.places:
        line = _origin([program.sites[s].node for s in place.sites if s < len(program.sites)])
        if line is not None:
            origin.update(dict.fromkeys(range(place.first, place.last + 1), line))
    out: list[str] = []
    moved: dict[int, int] = {}  # the new number of each line
    inside = False
    for number, text in enumerate(source.text.split("\n"), start=1):
        line = origin.get(number)
        if line is not None and not text.startswith("#"):
            out.append(f"#line {line.line} {c_string(line.file)}")
            inside = True
        elif line is None and inside:
            out.append(f"#line {number} {c_string(name)}")
            inside = False
        out.append(text)
        moved[number] = len(out)
    places = (replace(p, first=moved[p.first], last=moved[p.last]) for p in source.places)
    return CFile("\n".join(out), tuple(places))


def _origin(nodes: Sequence[Apply]) -> SourceLine | None:
    """Return the line to name for several nodes: the first that any of them has."""
    return next((node.origin[0] for node in nodes if node.origin), None)
