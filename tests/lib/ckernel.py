"""Kernels compiled and run by themselves, without the driver: a small harness for the tests of the lowering.

library = Library([kernel, ...])
outputs = library.run(kernel, [array, ...])
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from arignote.cbackend.build.probe import first_groups, flags_of
from arignote.cbackend.ctext.emit import helpers, kernel_c
from arignote.cbackend.ctext.preamble import preamble
from arignote.cbackend.ir.kernel import Kernel, Status
from arignote.cbackend.ir.operands import Extent, Pointer

FLAGS = [
    *flags_of(first_groups()), "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-pedantic",
]  # fmt: skip
"""The flags of the product, and warnings."""
SHARED_FOLDER = "SHARED_BY_TEST_WORKERS"
"""The variable that names a folder for what the workers of one run share."""


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file or folder `name` of the shared folder; the first worker that needs it makes it by `make`."""
    folder = Path(os.environ[SHARED_FOLDER])
    finished, part = folder / name, folder / f"part-{name}"
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            make(part)
            part.rename(finished)
    return finished


class Library:
    """The kernels, each once, as one shared library.  Warnings of the compiler are errors."""

    def __init__(self, kernels: Sequence[Kernel], flags: Sequence[str] = ()) -> None:
        self.kernels = {k.name: k for k in kernels}
        argv = [shutil.which("gcc") or "cc", *FLAGS, *flags]
        self.library = ctypes.CDLL(str(_compiled(self.text(), argv)))

    def text(self) -> str:
        used = {h for k in self.kernels.values() for h in helpers(k)}
        parts = [preamble(used), *map(kernel_c, self.kernels.values()), *map(launcher, self.kernels.values())]
        return "\n".join(parts)

    def launch(self, kernel: Kernel, extents: Sequence[int], arrays: Sequence[np.ndarray]) -> Status:
        """Run a kernel on outputs and inputs (one array an operand) whose axes agree with the extents."""
        strides = []
        for operand, array in zip(kernel.operands, arrays, strict=True):
            along = {l: a for a, l in enumerate(operand.axes) if l is not None}
            for l in operand.loops:
                length, step = array.shape[along[l]], array.strides[along[l]]
                assert length in (1, extents[l]), (array.shape, extents, operand)
                assert step % array.itemsize == 0
                strides.append(0 if length != extents[l] else step // array.itemsize)
        pointers = (ctypes.c_void_p * (len(arrays) + 1))(*[a.ctypes.data for a in arrays])
        function = self.library["run_" + kernel.name]
        function.restype = ctypes.c_int32
        return Status(function(_longs(extents), pointers, _longs(strides)))

    def run(
        self, kernel: Kernel, values: Sequence[np.ndarray], over: dict[int, np.ndarray] | None = None
    ) -> list[np.ndarray]:
        """The outputs for the values of the node's inputs; `over`: arrays that outputs are written into.

        Raises ValueError with the status if the kernel refuses an element.
        """
        inputs = [np.asarray(values[o.source]) for o in kernel.inputs]
        for array, operand in zip(inputs, kernel.inputs, strict=True):
            assert array.dtype == operand.dtype, (array.dtype, operand)
            assert array.ndim == len(operand.axes), (array.shape, operand)
        extents = extents_of(kernel, inputs)
        outputs = [
            (over or {}).get(k, np.full([1 if l is None else extents[l] for l in o.axes], 77).astype(o.dtype))
            for k, o in enumerate(kernel.outputs)
        ]
        status = self.launch(kernel, extents, [*outputs, *inputs])
        if status is not Status.OK:
            raise ValueError(status)
        return outputs


def _compiled(text: str, argv: Sequence[str]) -> Path:
    """The library that `argv` makes of a C file; all workers of one run share it."""

    def make(library: Path) -> None:
        source = library.with_suffix(".c")
        source.write_text(text)
        command = [*argv, str(source), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr[:4000]

    return made_once(hashlib.sha256("\0".join([*argv, text]).encode()).hexdigest() + ".so", make)


def extents_of(kernel: Kernel, inputs: Sequence[np.ndarray]) -> list[int]:
    """The joint length along each loop."""
    extents = [1] * kernel.rank
    for array, operand in zip(inputs, kernel.inputs, strict=True):
        for length, l in zip(array.shape, operand.axes, strict=True):
            if l is None:
                assert length == 1, (array.shape, operand)
            elif length != 1:
                assert extents[l] in (1, length), (extents, array.shape, operand)
                extents[l] = length
    return extents


def launcher(kernel: Kernel) -> str:
    """An exported function that calls the kernel with its arguments taken from arrays."""
    arguments, strides = [], 0
    for argument in kernel.arguments:
        if isinstance(argument, Extent):
            arguments.append(f"n[{argument.loop}]")
        elif isinstance(argument, Pointer):
            arguments.append(f"p[{argument.operand}]")
        else:
            arguments.append(f"s[{strides}]")
            strides += 1
    call = f"{kernel.name}({', '.join(arguments)})"
    body = f"return {call};" if kernel.fallible else f"{call}; return 0;"
    head = f"i32 run_{kernel.name}(const i64 *n, void **p, const i64 *s)"
    return f"{head};\n{head} {{ (void)n; (void)p; (void)s; {body} }}\n"


def _longs(values: Sequence[int]) -> object:
    return (ctypes.c_int64 * (len(values) + 1))(*values)
