"""The colours of all pictures, light and dark: one style sheet, which every picture carries so that it stands alone."""

from __future__ import annotations

ENGINES = ("numpy", "onnxruntime", "opencl")
"""Engines whose regions have a colour of their own; those of others share one."""
REGIONS = (*(f"region-{name}" for name in ENGINES), "region")
KINDS = ("input", "elementwise", "reduction", "product", "shape", "index", "fused", "other", *REGIONS)
"""Kinds of boxes and of kernels; each has a colour.  Classes of ops name theirs (`graph/facets.py`)."""


def region_of(engine: str) -> str:
    """The kind of a region that an engine runs."""
    return f"region-{engine}" if engine in ENGINES else "region"


STYLE = """
.ag-figure{--ink:#1f2328;--soft:#656d76;--line:#afb8c1;--paper:#ffffff;--mark:#0969da;
--input:#eaeef2;--elementwise:#d3e5fb;--reduction:#fde3c4;--product:#f9d2da;--shape:#e6e9ed;--index:#d6f0d9;
--fused:#dcd6f7;--other:#f1e9c8;--region-numpy:#ffd8a8;--region-onnxruntime:#8ce0c4;--region-opencl:#f4a6d7;
--region:#c3c9f0;--good:#1a7f37;--bad:#cf222e;
font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media (prefers-color-scheme:dark){.ag-figure{--ink:#e6edf3;--soft:#9aa4b0;--line:#57606a;--paper:#0d1117;
--mark:#58a6ff;--input:#272e38;--elementwise:#163a63;--reduction:#5a3a12;--product:#5d2330;--shape:#30363e;
--index:#17452a;--fused:#3b3370;--other:#4a4420;--region-numpy:#7a4a10;--region-onnxruntime:#0b6b50;--region-opencl:#7d2a62;
--region:#474f8f;--good:#3fb950;--bad:#f85149}}
.ag-figure .paper{fill:var(--paper)}
.ag-figure text{fill:var(--ink);font-size:12px}
.ag-figure .small{font-size:10px;fill:var(--soft)}
.ag-figure .middle{text-anchor:middle}
.ag-figure .end{text-anchor:end}
.ag-figure .edge{fill:none;stroke:var(--line);stroke-width:1.2}
.ag-figure .axis{stroke:var(--line);stroke-width:1}
.ag-figure .grid{stroke:var(--line);stroke-width:1;opacity:.35}
.ag-figure .box rect{stroke:var(--line);stroke-width:1;fill:var(--other)}
.ag-figure .output rect{stroke:var(--ink);stroke-width:2}
.ag-figure .folded rect{stroke-dasharray:5 3}
.ag-figure .chosen rect{stroke:var(--mark);stroke-width:3}
.ag-figure .found rect{stroke:var(--bad);stroke-width:3}
.ag-figure .roof{fill:none;stroke:var(--mark);stroke-width:2}
.ag-figure .dot{stroke:var(--ink);stroke-width:1}
"""
STYLE += "".join(f".ag-figure .box rect.{kind},.ag-figure circle.{kind}{{fill:var(--{kind})}}\n" for kind in KINDS)
STYLE = STYLE.strip()
