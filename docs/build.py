"""Builds the documentation site: `python docs/build.py [--site-dir FOLDER]`, by default into build/site.

It needs the extra [docs].  The pages are those of this folder, the generated ones of the reference and the rules, and
a table of contents, which is here (CONTENTS).  A warning, or a link to nothing, ends it with exit code 1.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

import links
import parts
from sphinx.cmd.build import build_main

HERE = Path(__file__).parent
CONTENTS = {
    "Learn": ("tutorials/tour", "tutorials/numpy", "tutorials/theano", "tutorials/jax", "gallery"),
    "How to": tuple(
        f"howto/{name}"
        for name in (
            "read-an-expression", "filter-by-tag", "read-a-profile", "write-a-rule", "write-an-op",
            "derivatives-and-memory", "make-it-faster", "debug-nan", "several-engines", "run-on-opencl", "run-on-dask",
            "run-an-onnx-model", "build-a-network", "run-a-pytorch-model", "run-a-numpy-program",
            "run-a-theano-program", "deploy", "deploy-anywhere", "serve", "generate-text", "freeze-and-prune",
            "quantize", "quantize-a-model", "compute-in-16-bits", "use-trees", "name-axes",
            "use-sparse-matrices", "work-with-other-libraries",
        )
    ),
    "Reference": ("rules", "proofs", "reference/index", "options", "glossary", "stability", "changelog"),
    "Explanation": (
        "architecture", "design", "reliability", "mutants", "benchmarks", "numpy_parity", "onnx-conformance", "theano",
        "pytensor",
    ),
    "Contribute": (
        "contributing/index", "contributing/first-rule", "contributing/first-op", "contributing/first-target",
        "contributing/debugging-a-wrong-number", "development/report",
    ),
}  # fmt: skip
"""The pages in the order of the menu, by heading."""
PICTURE = re.compile(r"^!\[([^\]]*)\]\(([\w/-]+\.svg)\)$", re.MULTILINE)


def main(arguments: list[str] | None = None) -> int:
    """Build the site; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site-dir", type=Path, default=HERE.parent / "build" / "site")
    site: Path = parser.parse_args(arguments).site_dir.resolve()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        write_source(source)
        doctrees = str(Path(folder) / "doctrees")
        shutil.rmtree(site, ignore_errors=True)
        strict = ["-q", "-W", "--keep-going", "-j", "auto"]
        code = build_main([*strict, "-d", doctrees, "-b", "html", str(source), str(site)])
    complaints = links.complaints(site)
    for complaint in complaints:
        print(f"WARNING: {complaint}", file=sys.stderr)
    if not (code or complaints):
        print(f"{len(list(site.rglob('*.html')))} pages in {site}")
    return code or bool(complaints)


def write_source(source: Path) -> None:
    """Write the folder that Sphinx reads: pages of this folder, generated pages, table of contents."""
    left_out = shutil.ignore_patterns("*.py", "*.pyc", "__pycache__", "public-names.txt", "theano-names.txt")
    shutil.copytree(HERE, source, ignore=left_out)
    shutil.copyfile(HERE / "conf.py", source / "conf.py")
    changes = (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8").replace("(docs/", "(")
    (source / "changelog.md").write_text(changes, encoding="utf-8")
    pages = {str(path.relative_to(source)): path.read_text(encoding="utf-8") for path in source.rglob("*.md")}
    for file, text in parts.pages(pages).items():
        path = source / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_with_pictures(text, path.parent), encoding="utf-8")
    with (source / "index.md").open("a", encoding="utf-8") as index:
        for caption, names in CONTENTS.items():
            listed = "\n".join(names)
            index.write(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n")


def _with_pictures(text: str, folder: Path) -> str:
    """Return the page with its drawings inline, so that they follow the colours of the page."""

    def inline(found: re.Match[str]) -> str:
        drawing = (folder / found.group(2)).read_text(encoding="utf-8").strip()
        return f'<div role="img" aria-label="{found.group(1)}">\n{re.sub(chr(10) + "+", chr(10), drawing)}\n</div>'

    return PICTURE.sub(inline, text)


if __name__ == "__main__":
    sys.exit(main())
