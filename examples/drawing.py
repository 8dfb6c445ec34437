"""Pictures for the notebooks of this folder: grey images as PNG, lines and points as SVG; no plotting package."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence

import numpy as np


class Picture:
    """HTML that a notebook shows."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        return self.html


def image(*arrays: np.ndarray, width: int = 220) -> Picture:
    """Matrices side by side in grey, each from its least number (black) to its greatest (white)."""
    return Picture(" ".join(f'<img width="{width}" src="data:image/png;base64,{_png(a)}"/>' for a in arrays))


def _png(array: np.ndarray) -> str:
    low, high = float(np.min(array)), float(np.max(array))
    grey = ((np.asarray(array, float) - low) / ((high - low) or 1) * 255).round().astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    head = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
    chunks = (struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in parts)
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#000000")


def plot(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]] = {},
    points: Mapping[str, tuple[Sequence[float], Sequence[float]]] = {},
    title: str = "",
) -> Picture:
    """Lines and points by name, each (x, y), on linear axes that fit them; up to 20 points are large."""
    every = [*lines.values(), *points.values()]
    xs, ys = (np.concatenate([np.asarray(pair[k], float) for pair in every]) for k in (0, 1))
    (x0, x1), (y0, y1) = ((float(v.min()), float(v.max())) for v in (xs, ys))

    def place(x: float, y: float) -> str:
        return f"{60 + 490 * (x - x0) / ((x1 - x0) or 1):.1f},{270 - 240 * (y - y0) / ((y1 - y0) or 1):.1f}"

    parts = [f'<text x="60" y="16" font-weight="bold">{title}</text>']
    parts += ['<path d="M60 30V270H550" fill="none" stroke="#888"/>']
    parts += [f'<text x="56" y="{270 - 240 * k}" text-anchor="end">{v:.3g}</text>' for k, v in ((0, y0), (1, y1))]
    parts += [f'<text x="{60 + 490 * k}" y="286" text-anchor="middle">{v:.3g}</text>' for k, v in ((0, x0), (1, x1))]
    for n, (name, (x, y)) in enumerate([*lines.items(), *points.items()]):
        colour = COLOURS[n % len(COLOURS)]
        if name in lines:
            path = " ".join(place(*pair) for pair in zip(x, y, strict=True))
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        else:
            dots = (place(*pair).split(",") for pair in zip(x, y, strict=True))
            size = 2.4 if len(x) > 20 else 6
            parts += [f'<circle cx="{a}" cy="{b}" r="{size}" fill="{colour}" stroke="#fff"/>' for a, b in dots]
        parts.append(f'<text x="560" y="{44 + 18 * n}" fill="{colour}">{name}</text>')
    style = "font:12px sans-serif;background:#fff"
    return Picture(f'<svg width="720" height="296" viewBox="0 0 720 296" style="{style}">{"".join(parts)}</svg>')
