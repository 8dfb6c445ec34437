"""The floating-point control word: what the process had before, it has after every load and every call."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import arignote as ag
from arignote import ops as T

from ..scorecard import Row, Trials
from .zoo import MOVING, elementwise, values

# MXCSR without its six sticky status bits, and the control word of the x87.
_X86 = """
unsigned control(void)
{
    unsigned short x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (__builtin_ia32_stmxcsr() & 0xffc0u) << 16 | x87;
}
"""


def reader() -> Callable[[], int]:
    """A function that reads it; where there is no such register or compiler, whether subnormal numbers work."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if platform.machine() not in ("x86_64", "AMD64") or compiler is None:
        return lambda: int(np.float64(5e-324) * np.float64(1.0) != 0)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "c.c"), Path(folder, "c.so")
        source.write_text(_X86)
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", target, source], check=True)
        function = ctypes.CDLL(str(target)).control
    function.restype = ctypes.c_uint
    return lambda: int(function())


def run(full: bool) -> list[Row]:
    trials = Trials("G8", "MXCSR and x87 control word after each load and each call: unchanged")
    control = reader()
    before = control()

    def unchanged(what: str) -> None:
        trials.check(control() == before, f"{what}: {control():#x}, not {before:#x}")
        trials.check(np.float64(5e-324) * np.float64(1.0) != 0, f"{what}: subnormal numbers are off")

    for dtype in ("float32", "float64", "complex128", "int32") if full else ("float64",):
        function, _ = elementwise(dtype)
        unchanged(f"load of elementwise {dtype}")
        for count in (0, 1, 9, 1000):
            function(np.zeros(count, bool), values(dtype, count), values(dtype, count))
            unchanged(f"call of elementwise {dtype}, {count} elements")
    x = T.matrix("x")
    for name, expression in list(MOVING.items())[:: 1 if full else 4]:
        f = ag.function([x], expression(x))
        unchanged(f"load of {name}")
        with np.errstate(all="ignore"):
            f(values("float64", 36).reshape(6, 6))
        unchanged(f"call of {name}")
    return [trials.row()]
