"""Links of a finished site: those that lead to nothing, and files of other hosts that a page loads."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
GENERATED = ("404.html", "search.html", "genindex.html", "py-modindex.html")


class Page(HTMLParser):
    """Names of anchors, links, and files that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.names |= {value for key in ("id", "name") if (value := found.get(key))}
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if tag in LOADED and found.get(LOADED[tag]) and found.get("rel") != "canonical":
            self.loaded.append(str(found[LOADED[tag]]))


def complaints(site: Path) -> list[str]:
    """Links to nothing, and files of other hosts, in the pages below a folder."""
    pages = {path: _parsed(path) for path in sorted(site.rglob("*.html")) if path.name not in GENERATED}
    return [f"{path.relative_to(site)}: {bad}" for path, page in pages.items() for bad in _bad(path, page, pages)]


def _parsed(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _bad(path: Path, page: Page, pages: dict[Path, Page]) -> list[str]:
    found = [f"loads {url}" for url in page.loaded if urlsplit(url).scheme in ("http", "https") or url.startswith("//")]
    for url in [*page.links, *page.loaded]:
        parts = urlsplit(url)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.exists():
            found.append(f"links to {url}, which does not exist")
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
            found.append(f"links to {url}, which has no such anchor")
    return found
