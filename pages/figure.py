"""Figures: an SVG picture that notebooks show and that is saved as SVG, PNG or HTML."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ..record import record
from .markup import element, escaped

_PAGE = (
    "body{margin:16px;font:14px/1.5 system-ui,sans-serif;background:#fff;color:#1f2328}"
    "@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}}"
    "svg{max-width:100%;height:auto}summary{cursor:pointer;padding:4px 0}pre{overflow:auto}"
)
_ENDINGS = (".svg", ".png", ".html")
_SIZE = re.compile(r'width="([0-9.]+)" height="([0-9.]+)"')
_VARIABLE = re.compile(r"--([\w-]+):(#[0-9a-f]+)")
_SECONDS = 120


@record
class Figure:
    """A picture: its SVG text, its title, and what a page shows."""

    svg: str
    title: str
    html: str = ""

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.html or self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        found = _SIZE.search(self.svg)
        size = f", {found[1]} x {found[2]} pixels" if found else ""
        return f"<figure: {self.title}{size}; .save('x.svg'), .save('x.png') or .save('x.html')>"

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the picture as SVG, PNG or HTML by the ending of the path; return the path.

        Raises:
            ValueError: The path has another ending.
            RuntimeError: There is no program that draws a PNG.
        """
        target = Path(path)
        ending = target.suffix.lower()
        if ending not in _ENDINGS:
            raise ValueError(f"save: the path is {str(path)!r}; expected one that ends in {', '.join(_ENDINGS)}")
        if ending == ".png":
            target.write_bytes(png_of(self.svg))
        else:
            target.write_text(self.svg if ending == ".svg" else self._page(), encoding="utf-8")
        return str(target)

    def _page(self) -> str:
        head = [
            '<meta charset="utf-8">', '<meta name="viewport" content="width=device-width,initial-scale=1">',
            element("title", escaped(self.title)), element("style", _PAGE),
        ]  # fmt: skip
        body = element("h1", escaped(self.title), style="font-size:16px") + self._repr_html_()
        return "<!DOCTYPE html>\n" + element("html", [element("head", head), element("body", body)], lang="en") + "\n"


# --- PNG


def plain_svg(svg: str) -> str:
    """The picture in its light colours, without variables of style sheets, which few programs know."""
    begin, end = svg.find("<style>"), svg.find("</style>")
    if begin < 0:
        return svg
    style = svg[begin:end]
    colours = dict(_VARIABLE.findall(style.split("@media")[0]))
    style = re.sub(r"@media[^{]*\{([^{}]|\{[^{}]*\})*\}", "", style)
    style = re.sub(r"var\(--([\w-]+)\)", lambda found: colours.get(found[1], "#888"), style)
    return svg[:begin] + re.sub(r"--[\w-]+:#[0-9a-f]+;", "", style) + svg[end:]


def png_of(svg: str) -> bytes:
    """The picture as PNG, of twice its size.  Raises RuntimeError if no program that draws it is there."""
    if find_spec("cairosvg"):
        drawn: bytes = import_module("cairosvg").svg2png(bytestring=plain_svg(svg).encode(), scale=2)
        return drawn
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "figure.svg"), Path(folder, "figure.png")
        failures = []
        for name, command in _PROGRAMS.items():
            program = shutil.which(name)
            if program is None:
                continue
            browser = "chrom" in name
            source.write_text(svg if browser else plain_svg(svg), encoding="utf-8")
            ran = subprocess.run(
                [program, *command(source, target, svg)], capture_output=True, timeout=_SECONDS, check=False,
            )  # fmt: skip
            if target.exists():
                return target.read_bytes()
            failures.append(f"{name} ended with {ran.returncode}")
    tried = f" ({'; '.join(failures)})" if failures else ""
    raise RuntimeError(
        f"save: no program draws a PNG{tried}; pip install cairosvg, install rsvg-convert or chromium, or save an .svg"
    )


def _chromium(source: Path, target: Path, svg: str) -> list[str]:
    found = _SIZE.search(svg)
    width, height = (max(1, round(float(n))) for n in found.groups()) if found else (800, 600)
    return [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={source.parent / 'profile'}", "--force-device-scale-factor=2",
        f"--window-size={width},{height}", f"--screenshot={target}", source.as_uri(),
    ]  # fmt: skip


_PROGRAMS: Mapping[str, Callable[[Path, Path, str], list[str]]] = {
    "rsvg-convert": lambda source, target, svg: ["--zoom=2", f"--output={target}", str(source)],
    "inkscape": lambda source, target, svg: [f"--export-filename={target}", "--export-dpi=192", str(source)],
    **dict.fromkeys(("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"), _chromium),
}
