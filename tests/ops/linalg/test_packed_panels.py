"""Panels of columns that matrix products copy, beside their definition, with sanitizers around their memory."""

import shutil
import subprocess
from pathlib import Path

import matrices
import pytest
from draws import mostly_long

from arignote.cbackend.build.units import Unit
from arignote.cbackend.runtime.blas import DTYPES
from arignote.cbackend.runtime.sources import product_unit

LIB = Path(matrices.__file__).parent
PANELS = LIB.parents[1] / "cbackend" / "kernels" / "products" / "panels.c"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("dtype", mostly_long(DTYPES, {"complex128"}))
def test_columns_behind_the_last_are_zeros(dtype, tmp_path):
    source, program = tmp_path / "panels.c", tmp_path / "panels"
    macros = product_unit(dtype).macros
    source.write_text(Unit(PANELS, macros).text() + (LIB / "packed_panels.c").read_text())
    flags = ("-std=gnu11", "-march=native", "-Wall", "-Wno-unused-function", "-Werror", "-fwrapv")
    checks = "-fsanitize=address,undefined"
    subprocess.run(["gcc", *flags, checks, str(source), "-o", str(program)], check=True, timeout=200)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("0 of "), done.stdout + done.stderr
