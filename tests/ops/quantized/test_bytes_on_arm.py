"""Products of bytes and of weights of 4 bits on an emulated aarch64: right, and bit for bit those of x86."""

import shutil
import subprocess
from pathlib import Path

import pytest
from machines import EMULATORS, compiler, missing

from arignote.cbackend.runtime.sources import product_source

pytestmark = pytest.mark.long

TARGET = "aarch64-linux"
FLAGS = ("-std=gnu11", "-O1", "-ffp-contract=off", "-fwrapv", "-w")
TRIALS = "40"


def built(folder, command, *flags):
    """The program of tests/lib/byte_sums.c behind the C of the products."""
    source, program = folder / "sums.c", folder / f"sums{'-'.join(flags)}"
    source.write_text(product_source("int8") + "\n" + (Path(__file__).parent / "byte_sums.c").read_text())
    subprocess.run([command, *FLAGS, *flags, str(source), "-o", str(program), "-lm"], check=True, timeout=500)
    return program


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The digest of this machine's results."""
    program = built(tmp_path_factory.mktemp("here"), shutil.which("gcc") or "cc", "-march=native")
    return subprocess.run([program, TRIALS], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.skipif(missing(TARGET) is not None, reason=str(missing(TARGET)))
@pytest.mark.skipif(compiler(TARGET) is None, reason="needs aarch64-linux-gnu-gcc")
@pytest.mark.parametrize(
    ("architecture", "processor", "instruction"),
    [("armv8.2-a+dotprod", "cortex-a76", "sdot"), ("armv8.6-a", "max", "usdot"), ("armv8-a", "cortex-a53", None)],
)
def test_every_extension_has_the_same_bits(architecture, processor, instruction, expected, tmp_path):
    program = built(tmp_path, compiler(TARGET), f"-march={architecture}", "-static")
    text = subprocess.run(["aarch64-linux-gnu-objdump", "-d", program], capture_output=True, text=True, check=True)
    found = {name for name in ("sdot", "usdot") if f"\t{name}\t" in text.stdout}
    assert found == ({instruction} if instruction else set())
    command = [EMULATORS[TARGET], "-cpu", processor, str(program), TRIALS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == expected
    assert expected.startswith("0 differ")
