"""The C of a function and the user's lines: which lines of the C file belong to which node, and the way back.

The driver's comments `/* 3: v3 = ... */` begin the lines of node 3; a kernel belongs to the nodes that launch it.  With
`debug_info` the text gets `#line` directives, so that gdb, sanitizers and compilers speak of the user's program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...graph import Apply, SourceLine
from ...record import record
from .program import Call, Choice, Loop, Program, bodies_of

LINES = 3
"""The user's lines that a comment names."""

_SITE = r"^    /\* (\d+): "
_KERNEL = r"^(?:__attribute__\(\(noinline(?: AG_ALL_LOOPS)?\)\) )?(?:static|AG_SHARED) (?:void|i32) (k_[0-9a-f]{16})\("


@record
class Place:
    """Lines `first` to `last` of a C file, counted from 1, with the numbers of the nodes they work for."""

    first: int
    last: int
    sites: tuple[int, ...]
    kernel: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The place as plain data."""
        return {"first": self.first, "last": self.last, "sites": list(self.sites), "kernel": self.kernel}


def places(source: str, program: Program) -> list[Place]:
    """The parts of a C file that belong to nodes, from the top down."""
    users: dict[str, list[int]] = {}
    for step in program.steps:
        if isinstance(step, Call) and step.kernel:
            users.setdefault(step.function, []).append(step.site)
        elif isinstance(step, (Loop, Choice)):
            for inner in (kernel for body in bodies_of(step) for kernel in program.bodies[body].kernels):
                users.setdefault(inner.name, []).append(step.site)
    lines, found = source.split("\n"), []
    open_at: tuple[int, tuple[int, ...], str] | None = None
    for number, line in enumerate(lines, start=1):
        site, kernel = re.match(_SITE, line), re.match(_KERNEL, line)
        if open_at is not None and (site or kernel or line == "}" or line == "    return 0;"):
            end = number if line == "}" and open_at[2] else number - 1
            found.append(Place(open_at[0], end, open_at[1], open_at[2]))
            open_at = None
        if site and int(site[1]) < len(program.sites):
            open_at = (number, (int(site[1]),), "")
        elif kernel and not line.endswith(";"):
            open_at = (number, tuple(dict.fromkeys(users.get(kernel[1], ()))), kernel[1])
    return found


def commented(source: str, program: Program) -> str:
    """The C file with the user's lines in the comments of nodes and kernels; each line keeps its number.

    The compiled text lacks them: it is the same, and found in the cache, wherever the program has moved to.
    """
    lines = source.split("\n")
    for place in places(source, program):
        said = [str(line) for s in place.sites if s < len(program.sites) for line in program.sites[s].node.origin]
        at = place.first - (2 if place.kernel else 1)
        if said and lines[at].endswith("*/"):
            shown = ", ".join(dict.fromkeys(said[:LINES]))
            lines[at] = f"{lines[at][:-2]} [{shown.replace('*/', '* /')}] */"
    return "\n".join(lines)


def with_lines(source: str, program: Program, name: str = "function.c") -> str:
    """The C file with `#line` directives: the lines of a node are said to be the user's, all others those of `name`."""
    origin: dict[int, SourceLine] = {}
    for place in places(source, program):
        line = _origin([program.sites[s].node for s in place.sites if s < len(program.sites)])
        if line is not None:
            origin.update(dict.fromkeys(range(place.first, place.last + 1), line))
    out: list[str] = []
    inside = False
    for number, text in enumerate(source.split("\n"), start=1):
        line = origin.get(number)
        if line is not None and not text.startswith("#"):
            out.append(f"#line {line.line} {_quoted(line.file)}")
            inside = True
        elif line is None and inside:
            out.append(f"#line {number} {_quoted(name)}")
            inside = False
        out.append(text)
    return "\n".join(out)


def _origin(nodes: Sequence[Apply]) -> SourceLine | None:
    """The line to name for some nodes: the first that any of them has."""
    return next((node.origin[0] for node in nodes if node.origin), None)


def _quoted(file: str) -> str:
    escaped = file.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'
