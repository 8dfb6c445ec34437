"""The notebooks of `examples/` as pages of the site, with the outputs that they hold, and the gallery of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "examples"
ROW = re.compile(r"^\| `(\w+)\.ipynb` \| (.+) \|$", re.MULTILINE)
TABLE = re.compile(r"^\| notebook \|.*?\n\n", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"<svg\b.*?</svg>|<img\b[^>]*>", re.DOTALL)


def pages() -> dict[str, str]:
    """Return file -> Markdown of each notebook."""
    return {f"gallery/{path.stem}.md": _page(path) for path in sorted(FOLDER.glob("*.ipynb"))}


def gallery(text: str) -> str:
    """Return the page of the gallery with a card for each row of its table, and the menu of the notebooks."""
    cards = "\n".join(_card(name, subject) for name, subject in ROW.findall(text))
    listed = "\n".join(f"gallery/{path.stem}" for path in sorted(FOLDER.glob("*.ipynb")))
    menu = f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    return TABLE.sub(lambda found: f'<div class="cards">\n{cards}\n</div>\n\n', text, count=1) + menu


def _card(name: str, subject: str) -> str:
    cells = _cells(FOLDER / f"{name}.ipynb")
    title = next(line[2:] for cell in cells for line in _text(cell["source"]).splitlines() if line.startswith("# "))
    shown = next(_pictures(cells), "<code>f.trace</code>")
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(subject, quote=False))
    return (
        f'<a class="card" href="gallery/{name}.html"><span class="card-picture" aria-hidden="true">{shown}</span>'
        f"<strong>{escape(title)}</strong><span>{words}</span></a>"
    )


def _pictures(cells: list[dict[str, Any]]) -> Iterator[str]:
    for cell in cells:
        for output in cell.get("outputs", []):
            found = PICTURE.findall(_text(output.get("data", {}).get("text/html", "")))
            if found:
                yield re.sub(r"\s*\n\s*", " ", "".join(found[:1] if "<svg" in found[0] else found[:8]))


def _page(path: Path) -> str:
    parts = []
    for cell in _cells(path):
        source = _text(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif source:
            parts += [f"```python\n{source}\n```", *map(_output, cell["outputs"])]
    parts.insert(1, f"The notebook is `examples/{path.name}`.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        html = re.sub(r"\n\s*\n", "\n", _text(data["text/html"]).strip())
        return f'<div class="output">\n{html}\n</div>'
    text = _text(output.get("text", data.get("text/plain", ""))).rstrip()
    return f"```text\n{text}\n```" if text else ""


def _cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
