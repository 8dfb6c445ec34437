"""The Python files of the product, and how its folders lie under `arignote`."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOP = sorted(path.name for path in (ROOT / "arignote").iterdir() if path.is_symlink())
"""Folders beside `arignote/`, into which it has links."""
FILES = sorted(path for folder in ("arignote", *TOP) for path in (ROOT / folder).rglob("*.py"))


def module_of(path):
    """The dotted name of a file's module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "arignote" else ("arignote", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(path):
    """The dotted name of the package that relative imports of a file begin at."""
    module = module_of(path)
    return module if path.name == "__init__.py" else module.rpartition(".")[0]
