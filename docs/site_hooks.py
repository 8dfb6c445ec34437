"""Hooks of the site's build (`mkdocs build --strict`).

They add the generated pages, put pictures inline, make the search work offline, and check all links.
"""

from __future__ import annotations

import logging
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mkdocs.structure.files import File, Files

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
try:
    import catalogue
    import reference
finally:
    sys.path.pop(0)

log = logging.getLogger("mkdocs.hooks.arignote")
PICTURE = re.compile(r'<p><img alt="[^"]*" src="[^"]*?(\w+\.svg)"\s*/?></p>')
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


# --- events of MkDocs


def on_config(config: Any) -> Any:
    """The navigation with the pages of the reference in it."""
    section = next(entry["Reference"] for entry in config.nav if "Reference" in entry)
    section[:0] = [{title: file} for title, file in reference.titles()]
    return config


def on_files(files: Files, config: Any) -> Files:
    """The pages with those of the reference."""
    for path, text in reference.pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The rule catalogue as cards in place of the table."""
    return catalogue.page() if page.file.src_uri == "rules.md" else markdown


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """The page with its pictures inline, so that they follow the colours of the page."""
    folder = Path(page.file.abs_src_path).parent if page.file.abs_src_path else HERE
    return PICTURE.sub(lambda found: (folder / found.group(1)).read_text(encoding="utf-8"), html)


def on_post_build(config: Any) -> None:
    """The search index as a script, which pages can load from the file system; a warning for each bad link."""
    site = Path(config.site_dir)
    index = (site / "search/search_index.json").read_text(encoding="utf-8")
    (site / "search/search_index.js").write_text(f"var __index = {index}", encoding="utf-8")
    for complaint in complaints(site):
        log.warning(complaint)


# --- links


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
    pages = {path: _parsed(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
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
