"""Files of the package that are read when they are first needed: C texts, and modules found by the list of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class CompileError(Exception):
    """The compiler was not found, failed, made no usable library, or took too long; the text shows its first lines.

    So is a file of the package that cannot be read when a compilation needs it.
    """


@contextmanager
def package_files() -> Iterator[None]:
    """Raise CompileError where a file of the package cannot be read, or a folder of it cannot be listed."""
    try:
        yield
    except OSError as error:
        raise CompileError(f"a file of the package cannot be read: {error}") from None


def package_text(path: str | Path) -> str:
    """Return the text of a file of the package.  Raises CompileError if it cannot be read."""
    with package_files():
        return Path(path).read_text(encoding="utf-8")
