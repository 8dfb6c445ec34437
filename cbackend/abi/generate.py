"""Writes the headers of kernels from their specs, and `_abi.py`: `python -m arignote.cbackend.abi.generate`."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from cffi import FFI

from ..kernels.headers import headers
from .declarations import declarations

HEADER = "# Written by generate.py from library.h: do not edit.\n# ruff: noqa\n# mypy: ignore-errors\n"


def module_text() -> str:
    """Return the text of `_abi.py`."""
    ffi = FFI()
    ffi.cdef("typedef int32_t i32;\ntypedef int64_t i64;\n")
    ffi.cdef(re.sub(r"(?m)^#.*\n", "", declarations("library.h", types=False)))
    ffi.set_source("arignote.cbackend.abi._abi", None)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "_abi.py")
        ffi.emit_python_code(str(target))
        return HEADER + target.read_text().partition("\n")[2]


if __name__ == "__main__":
    for path, text in headers().items():
        path.write_text(text)
    Path(__file__).with_name("_abi.py").write_text(module_text())
