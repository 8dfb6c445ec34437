"""Writes the headers of kernels from their specs, and `_abi.py`: `python -m arignote.cbackend.abi.generate`."""

from __future__ import annotations

import tempfile
from importlib import reload
from pathlib import Path
from types import ModuleType

from cffi import FFI

from ..kernels.headers import headers
from . import declarations

HEADER = "# Written by generate.py from declarations.py: do not edit.\n# ruff: noqa\n# mypy: ignore-errors\n"


def module_text(abi: ModuleType = declarations) -> str:
    """The text of `_abi.py`."""
    ffi = FFI()
    ffi.cdef("typedef int32_t i32;\ntypedef int64_t i64;\n")
    ffi.cdef(abi.RUNTIME_DECLARATIONS + abi.CALL_DECLARATIONS + abi.NATIVE_DECLARATIONS + abi.LIBRARY_DECLARATIONS)
    ffi.set_source("arignote.cbackend.abi._abi", None)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "_abi.py")
        ffi.emit_python_code(str(target))
        return HEADER + target.read_text().partition("\n")[2]


def write() -> None:
    """Write the headers, then `_abi.py`, which is made from them."""
    for path, text in headers().items():
        path.write_text(text)
    Path(__file__).with_name("_abi.py").write_text(module_text(reload(declarations)))


if __name__ == "__main__":
    write()
