"""Products of bytes by the tiles of AMX: their emulation beside the definition, and the text of the instructions."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import machines
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.build.units import Unit
from arignote.cbackend.runtime.sources import product_source
from arignote.explain import remarks
from arignote.targets.current import current
from arignote.targets.named import host
from arignote.targets.units import TILES, UNITS, tiles_refused

LIB = Path(machines.__file__).parents[1]
KERNEL = LIB.parents[1] / "cbackend" / "kernels" / "quantized" / "tiles.c"
needs_tiles = pytest.mark.skipif(
    not TILES.belongs_to(host()) or tiles_refused(), reason="needs AMX, and Linux's permission"
)
GCC = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


@pytest.mark.few(1)
@GCC
@pytest.mark.parametrize("kind", ["emulated", pytest.param("real", marks=needs_tiles)])
def test_tiles_multiply_as_the_definition_says(tmp_path, kind):
    source, program = tmp_path / "tiles.c", tmp_path / "tiles"
    text = Unit(KERNEL, {}).text() + (LIB / "byte_tiles.c").read_text()
    source.write_text(("#define AG_EMULATED_TILES 1\n" if kind == "emulated" else "") + text)
    own = ("-fsanitize=address,undefined",) if kind == "emulated" else ("-mamx-tile", "-mamx-int8")
    flags = ("-std=gnu11", "-O1", "-Wall", "-Werror", "-fwrapv", *own)
    subprocess.run(["gcc", *flags, str(source), "-o", str(program)], check=True, timeout=200)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("0 of "), done.stdout + done.stderr


def test_a_remark_says_that_linux_refuses_tiles(monkeypatch):
    monkeypatch.setattr(remarks, "tiles_refused", lambda: True)
    monkeypatch.setattr(remarks, "current", lambda: replace(current(), features=("amx_int8", "amx_tile"), vector=64))
    a, b = T.matrix("a", "uint8"), T.matrix("b", "int8")
    f = ag.function([a, b], T.matmul(a, b, out_dtype="int32"))
    (remark,) = f.remarks.of("in vectors")
    assert "Linux refuses" in remark.reason and "byte_product" in remark.what
    monkeypatch.setattr(remarks, "tiles_refused", lambda: False)
    assert not ag.function([a, b], T.matmul(a, b, out_dtype="int32")).remarks.of("in vectors")


@GCC
@pytest.mark.long
def test_the_library_asks_linux_and_has_the_instructions(tmp_path):
    flags = ["-march=sapphirerapids"]
    if subprocess.run(["gcc", *flags, "-E", "-x", "c", "/dev/null"], capture_output=True, check=False).returncode:
        pytest.skip("this gcc knows no such processor")
    source, library = tmp_path / "bytes.c", tmp_path / "bytes.o"
    source.write_text(product_source("int8"))
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-w", *flags, "-c", source, "-o", library], check=True, timeout=500)
    text = subprocess.run(["objdump", "-d", library], capture_output=True, text=True, check=True).stdout
    wanted = ("ldtilecfg", "tileloadd", "tdpbusd", "tdpbssd", "tilestored", "tilerelease", "syscall", "vpdpbusd")
    assert [name for name in wanted if name not in text] == []
    assert any(u.instruction == "tdpbusd" and u.used for u in UNITS)


def test_linux_is_asked_once():
    tiles_refused.cache_clear()
    first = tiles_refused()
    assert first == tiles_refused() and tiles_refused.cache_info().misses == 1
    assert first or "amx_tile" in current().features
