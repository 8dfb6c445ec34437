"""Products of bytes and of weights of 4 bits on an emulated aarch64: right, and bit for bit those of x86."""

import shutil
import subprocess
from pathlib import Path

import machines
import pytest
from machines import EMULATORS, compiler, missing

from arignote.cbackend.runtime.sources import product_source

pytestmark = pytest.mark.long

TARGET = "aarch64-linux"
FLAGS = ("-std=gnu11", "-O1", "-ffp-contract=off", "-fwrapv", "-w")
TRIALS = "40"


UNITS = {"byte_sums": "int8", "nibble_products": "nibbles_float32"}
"""Programs of tests/lib, and the library of products whose C they stand behind."""


def built(folder, program_name, command, *flags):
    """A program behind the C of its products."""
    source, program = folder / f"{program_name}.c", folder / f"{program_name}{'-'.join(flags)}"
    trials = Path(machines.__file__).parents[1] / f"{program_name}.c"
    source.write_text(product_source(UNITS[program_name]) + "\n" + trials.read_text())
    subprocess.run([command, *FLAGS, *flags, str(source), "-o", str(program), "-lm"], check=True, timeout=500)
    return program


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The digests of this machine's results."""
    folder, gcc = tmp_path_factory.mktemp("here"), shutil.which("gcc") or "cc"
    programs = {name: built(folder, name, gcc, "-march=native") for name in UNITS}
    return {name: run(program) for name, program in programs.items()}


def run(program, *emulator):
    return subprocess.run([*emulator, program, TRIALS], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.skipif(missing(TARGET) is not None, reason=str(missing(TARGET)))
@pytest.mark.skipif(compiler(TARGET) is None, reason="needs aarch64-linux-gnu-gcc")
@pytest.mark.parametrize(
    ("architecture", "processor", "instruction"),
    [("armv8.2-a+dotprod", "cortex-a76", "sdot"), ("armv8.6-a", "max", "usdot"), ("armv8-a", "cortex-a53", None)],
)
def test_every_extension_has_the_same_bits(architecture, processor, instruction, expected, tmp_path):
    emulator = [EMULATORS[TARGET], "-cpu", processor]
    for name, wanted in expected.items():
        program = built(tmp_path, name, compiler(TARGET), f"-march={architecture}", "-static")
        assert run(program, *emulator) == wanted and wanted.startswith("0 differ")
        if name == "byte_sums":
            listing = ["aarch64-linux-gnu-objdump", "-d", program]
            text = subprocess.run(listing, capture_output=True, text=True, check=True).stdout
            found = {name for name in ("sdot", "usdot") if f"\t{name}\t" in text}
            assert found == ({instruction} if instruction else set())
