"""Products of bfloat16 pairs by tiles of AMX: their emulation and the instructions beside vectors; refused tiles."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import machines
import numpy as np
import pytest
from pairs_cases import by_definition, pairs_case

import arignote as ag
from arignote import ops as T
from arignote.cbackend.build.units import Unit
from arignote.cbackend.runtime.sources import product_source
from arignote.explain import remarks
from arignote.ops.elementwise.special import to_bfloat16
from arignote.targets.current import current
from arignote.targets.named import host
from arignote.targets.units import has_tiles, tiles_refused, unit_for

LIB = Path(machines.__file__).parents[1]
KERNEL = LIB.parents[1] / "cbackend" / "kernels" / "products" / "pair_tiles.c"
GCC = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
needs_tiles = pytest.mark.skipif(
    not has_tiles(host(), "bfloat16") or tiles_refused(), reason="needs AMX for bfloat16, and Linux's permission"
)
RNG = np.random.default_rng(6)


def numbers(*shape):
    return RNG.standard_normal(shape).astype("float32")


@pytest.mark.long
@GCC
@pytest.mark.parametrize("kind", ["emulated", pytest.param("real", marks=needs_tiles)])
def test_tiles_have_the_bits_of_vectors(tmp_path, kind):
    source, program = tmp_path / "tiles.c", tmp_path / "tiles"
    text = Unit(KERNEL, {"T": "float", "REAL": "float", "COMPLEX": "0"}).text() + (LIB / "pair_tiles.c").read_text()
    source.write_text(("#define AG_EMULATED_TILES 1\n" if kind == "emulated" else "") + text)
    own = ("-fsanitize=address,undefined",) if kind == "emulated" else ("-march=native",)
    flags = ("-std=gnu11", "-O1", "-Wall", "-Werror", "-fwrapv", "-ffp-contract=off", *own)
    subprocess.run(["gcc", *flags, str(source), "-o", str(program)], check=True, timeout=200)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("0 of "), done.stdout + done.stderr


@needs_tiles
def test_a_row_of_a_product_depends_on_no_other():
    """One row, fewer than a tile, several tiles; one number below 2^-126 changes no other row."""
    x = T.fmatrix("x")
    f = ag.function([x], T.dot(x, numbers(80, 70)), mode=ag.Mode().including("bfloat16"))
    given = numbers(70, 80)
    whole = f(given)
    for first, end in ((0, 1), (3, 20), (16, 49), (69, 70)):
        np.testing.assert_array_equal(f(given[first:end]), whole[first:end])
    given[5, 3] = 1e-44
    others = np.arange(70) != 5
    np.testing.assert_array_equal(f(given)[others], whole[others])


PROGRAM = """
import ctypes, sys
import numpy as np
libc = ctypes.CDLL(None)
if sys.argv[1] == "refused":  # a process that may use vectors alone: seccomp answers the request with EPERM
    import struct
    PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
    code = [(0x20, 0, 0, 0), (0x15, 0, 3, 158), (0x20, 0, 0, 16), (0x15, 0, 1, 0x1023), (6, 0, 0, 0x50001),
            (6, 0, 0, 0x7FFF0000)]
    raw = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(raw)))
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and libc.prctl(PR_SET_SECCOMP, FILTER, program) == 0
import arignote as ag
from arignote import ops as T
rng = np.random.default_rng(1)
x = T.tensor("x", "float32", (2, 3, 20, 20))
def weights(*shape):
    return ag.shared((rng.standard_normal(shape) / np.prod(shape[1:]) ** 0.5).astype("float32"), shape=shape)
h = T.relu(T.nn.conv2d(x, weights(32, 3, 3, 3), stride=2))
h = T.relu(T.nn.conv2d(h, weights(32, 32, 3, 3), padding=1))
q = T.transpose(T.reshape(h, (2, 32, 81)), (0, 2, 1))
h = T.nn.scaled_dot_product_attention(q, q, q)
f = ag.freeze(T.mean(h, axis=1) @ weights(32, 10), compute="bfloat16")
y = f(rng.standard_normal((2, 3, 20, 20)).astype("float32"))
from arignote.targets.units import tiles_refused
assert tiles_refused() == (sys.argv[1] == "refused")
print(len(f.remarks.of("in vectors")), y.tobytes().hex())
"""


@pytest.mark.long
@needs_tiles
def test_a_process_that_linux_refuses_tiles_has_the_same_bits(tmp_path):
    path = os.pathsep.join(p for p in sys.path if p)
    found = []
    for way in ("allowed", "refused"):
        done = subprocess.run([sys.executable, "-c", PROGRAM, way], capture_output=True, text=True, check=False,
                              timeout=300, env={**os.environ, "PYTHONPATH": path})  # fmt: skip
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
    (without, bits), (remarks_of_refused, same) = found
    assert bits == same and (without, remarks_of_refused) == ("0", "1")


def test_a_remark_says_that_linux_refuses_tiles(monkeypatch):
    op = pairs_case(16, 16, 16, (1, 1), tile_words=16)
    tiled = replace(current(), features=("amx_bf16", "amx_tile", "avx512_bf16"), vector=64)
    monkeypatch.setattr(remarks, "current", lambda: tiled)
    x, w = T.tensor("x", "uint16", (1, 1, 2, 2, 16)), to_bfloat16(numbers(16, 16, 1, 1))
    y = op(x, T.constant(op.packed(w)), T.constant(np.zeros(16, "float32")))
    for refused in (True, False):
        monkeypatch.setattr(remarks, "tiles_refused", lambda: refused)  # noqa: B023
        assert len(ag.function([x], y).remarks.of("in vectors")) == refused


def test_infinities_and_nan_stay_with_their_outputs():
    """Zeros that fill up channels, borders and rows of tiles meet none of them."""
    for op, shape in (
        (pairs_case(16, 16, 16, (3, 3), padding=((1, 1), (1, 1)), tile_words=16), (1, 1, 6, 7, 16)),
        (pairs_case(16, 16, 4, (3, 3), 4, ((1, 1), (1, 1)), tile_words=8, panel=1), (1, 1, 6, 7, 16)),
        (pairs_case(16, 16, 3, (3, 3), padding=((1, 1), (1, 1)), stride=(1, 2), tile_words=2), (1, 3, 6, 7)),
    ):
        bits = to_bfloat16(numbers(*shape))
        awkward = to_bfloat16(np.array([np.inf, np.nan, -np.inf], "float32"))
        bits[0, 0, 2, 3] = np.resize(awkward, bits[0, 0, 2, 3].shape)
        w, b = to_bfloat16(numbers(*op.weights)), numbers(16)
        x = T.tensor("x", "uint16", shape)
        y = ag.function([x], op(x, T.constant(op.packed(w)), T.constant(b)))(bits)
        with np.errstate(invalid="ignore"):
            exact = by_definition(op, bits, w, b)
        np.testing.assert_array_equal(np.moveaxis(y[0, 0], 2, 0), exact[0])
        assert np.isfinite(exact).any() and not np.isfinite(exact).all()


@pytest.mark.parametrize("stride", [1, 2])
def test_a_sum_of_products_is_a_product_of_joined_channels(stride):
    """A residual block that changes channels: sums stay in float32, NaN and infinities stay where they are."""
    x, conv = T.tensor("x", "float32", (2, 3, 15, 18)), T.nn.conv2d
    shapes = (32, 3, 3, 3), (16, 32, 1, 1), (64, 16, 1, 1), (64, 32, 1, 1), (8, 64, 1, 1)
    w = [ag.shared(numbers(*shape) / 4, shape=shape) for shape in shapes]
    h = T.relu(conv(x, w[0]))
    y = T.relu(conv(T.relu(conv(h, w[1], stride=stride)), w[2]) + conv(h, w[3], stride=stride))
    y = conv(y, w[4])
    value = numbers(2, 3, 15, 18)
    value[0, 1, 5, 7], value[1, 2, 0, 0] = np.nan, np.inf
    one = ag.freeze(y, compute="bfloat16", threads=1)
    two = ag.freeze(y, compute="bfloat16", mode=ag.Mode().excluding("local_bfloat16_sum"))
    convolutions = [sum("convolution" in str(node.op) for node in f.graph.order) for f in (one, two)]
    assert convolutions[0] == convolutions[1] - bool(has_unit())
    np.testing.assert_allclose(one(value), two(value), rtol=2e-2, atol=2e-2)
    np.testing.assert_array_equal(one(value), ag.freeze(y, compute="bfloat16", threads=3)(value))


def has_unit():
    """Whether the machine multiplies bfloat16 numbers."""
    return unit_for(host(), "bfloat16")


@GCC
@pytest.mark.long
def test_the_libraries_have_the_instructions(tmp_path):
    flags = ["-march=sapphirerapids"]
    if subprocess.run(["gcc", *flags, "-E", "-x", "c", "/dev/null"], capture_output=True, check=False).returncode:
        pytest.skip("this gcc knows no such processor")
    for library in ("narrow", "bfloats_float32"):
        source, made = tmp_path / f"{library}.c", tmp_path / f"{library}.o"
        source.write_text(product_source(library))
        subprocess.run(["gcc", "-std=gnu11", "-O2", "-w", *flags, "-c", source, "-o", made], check=True, timeout=500)
        text = subprocess.run(["objdump", "-d", made], capture_output=True, text=True, check=True).stdout
        for wanted in ("ldtilecfg", "tileloadd", "tdpbf16ps", "tilestored", "tilerelease", "syscall"):
            assert wanted in text, (library, wanted)
