"""Writes `_abi.py` from the texts of `declarations.py`: `python -m arignote.cbackend.abi.generate`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from cffi import FFI

from . import declarations as abi

HEADER = "# Written by generate.py from declarations.py: do not edit.\n# ruff: noqa\n# mypy: ignore-errors\n"


def module_text() -> str:
    """The text of `_abi.py`."""
    ffi = FFI()
    ffi.cdef("typedef int32_t i32;\ntypedef int64_t i64;\n")
    ffi.cdef(abi.RUNTIME_DECLARATIONS + abi.CALL_DECLARATIONS + abi.NATIVE_DECLARATIONS + abi.LIBRARY_DECLARATIONS)
    ffi.set_source("arignote.cbackend.abi._abi", None)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "_abi.py")
        ffi.emit_python_code(str(target))
        return HEADER + target.read_text().partition("\n")[2]


if __name__ == "__main__":
    Path(__file__).with_name("_abi.py").write_text(module_text())
