"""Units: C files of the package that compile alone, each as one text, and the digests of these texts.

A start from the cache needs digests alone, as keys; putting the texts together would take a quarter of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ...record import record
from ...record.package import identity
from ..abi.amalgamation import self_contained
from ..cache.entry import Kind
from ..cache.store import Cache


@record
class Unit:
    """C file that compiles alone, and the macros in front of it; they choose among its includes as well."""

    path: Path
    macros: Mapping[str, str]

    def text(self) -> str:
        """Return the unit as one self-contained text.

        Raises:
            CompileError: a file of ours cannot be read.
        """
        text = self_contained(self.path, macros=self.macros)
        return "".join(f"#define {name} {value}\n" for name, value in self.macros.items()) + text

    def digest(self, cache: Cache) -> str:
        """Return the `text_digest` of the text, which `cache` remembers for as long as the package is the same.

        Raises:
            CompileError: a file of ours cannot be read.
        """
        package = identity()
        if package is None:
            return text_digest(self.text())
        parts = ("unit", package, self.path.name, *(f"{name} {value}" for name, value in self.macros.items()))
        key = hashlib.sha256("\0".join(parts).encode()).digest()
        known = cache.load(Kind.RECORD, key)
        if known is None:
            known = text_digest(self.text()).encode()
            cache.store(Kind.RECORD, key, known)
        return known.decode()


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
