"""Pages of the site beyond those written by hand: reference, catalogue of rules, notebooks, parts of long pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

import catalogue
import front
import notebooks
import plots
import reference

LONG = 300
"""Lines of a page from which on its sections become pages of their own."""
HEADING = re.compile(r"^(#{1,4}) (.+)$")
LINK = re.compile(r"\]\(([^)\s#:]*)(#[^)\s]*)?\)")
FENCE = "```"


def pages(written: dict[str, str]) -> dict[str, str]:
    """Return file -> Markdown of all pages.  `written`: those that are written by hand."""
    made = written | reference.pages() | notebooks.pages() | {"rules.md": catalogue.page()}
    made["index.md"] = front.with_picture(made["index.md"])
    made["benchmarks.md"] = plots.with_plots(made["benchmarks.md"])
    made["gallery.md"] = notebooks.gallery(made["gallery.md"])
    split = {file: list(_sections(text)) for file, text in made.items() if _is_long(file, text)}
    moved = {}
    for file, sections in split.items():
        for title, text in sections[1:]:
            own = f"{file.removesuffix('.md')}/{slug(title)}.md"
            moved |= {(file, anchor): own for anchor in _anchors(text)}
            moved[file, slug(title)] = own
    found = {}
    for file, text in made.items():
        if file not in split:
            found[file] = _relinked(text, file, file, moved)
            continue
        names = [slug(title) for title, _ in split[file][1:]]
        folder = posixpath.basename(file).removesuffix(".md")
        listed = "\n".join(f"{folder}/{name}" for name in names)
        head = _relinked(split[file][0][1], file, file, moved)
        found[file] = f"{head}\n```{{toctree}}\n:maxdepth: 2\n\n{listed}\n```\n"
        for title, part in split[file][1:]:
            own = moved[file, slug(title)]
            found[own] = _relinked(part, file, own, moved)
    return found


def slug(title: str) -> str:
    """Return the anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def _is_long(file: str, text: str) -> bool:
    whole = ("reference/", "tutorials/", "gallery/", "rules", "changelog")
    return text.count("\n") > LONG and not file.startswith(whole)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield title and text of what stands before the first section, and of each section, one level higher."""
    title, lines, first = "", [], True
    for line, heading in _headings(text):
        if heading == 2:
            yield title, "\n".join(lines) + "\n"
            title, lines, first = line[3:], [], False
        lines.append(line[1:] if heading >= 2 and not first else line)
    yield title, "\n".join(lines) + "\n"


def _headings(text: str) -> Iterator[tuple[str, int]]:
    """Yield each line, and its level if it is a heading, else 0."""
    inside = False
    for line in text.splitlines():
        inside ^= line.lstrip().startswith(FENCE)
        found = None if inside else HEADING.match(line)
        yield line, len(found[1]) if found else 0


def _anchors(text: str) -> list[str]:
    return [slug(line.lstrip("# ")) for line, heading in _headings(text) if heading]


def _relinked(text: str, old: str, new: str, moved: dict[tuple[str, str], str]) -> str:
    """Return the text of page `old`, which is now page `new`, with links that lead where their targets are now."""

    def link(found: re.Match[str]) -> str:
        path, anchor = found[1], (found[2] or "")[1:]
        if not path and not anchor:
            return found[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(old), path)) if path else old
        own = moved.get((target, anchor), target)
        if own == new:
            return f"](#{anchor})"
        relative = posixpath.relpath(own, posixpath.dirname(new) or ".")
        is_top = own != target and own.endswith(f"/{anchor}.md")
        return f"]({relative}{'#' + anchor if anchor and not is_top else ''})"

    return LINK.sub(link, text)
