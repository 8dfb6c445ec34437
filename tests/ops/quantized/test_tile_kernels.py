"""Products and convolutions of bytes by tiles of AMX: equal to vectors bit for bit, in any process and thread."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import machines
import numpy as np
import pytest
from campaign.values.quantized import FORMS, Form, convolution, forms, numbers, product

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.byte_sums import BYTES, ByteConvolution
from arignote.targets.named import host
from arignote.targets.units import TILES, tiles_refused

needs_tiles = pytest.mark.skipif(
    not TILES.belongs_to(host()) or tiles_refused(), reason="needs AMX, and Linux's permission"
)


HERE = [name for name in FORMS if "AMX" in name and name in forms() and not (name == "AMX" and tiles_refused())]
"""Real tiles and those in C, of which the second is enough where nothing else is."""


@pytest.fixture(scope="module", params=[HERE[:1], pytest.param(HERE[1:], marks=pytest.mark.long)], ids=str)
def form(request, tmp_path_factory):
    if not request.param:
        pytest.skip("this machine has no such vectors")
    return Form(tmp_path_factory.mktemp("units"), *request.param)


@pytest.mark.long
@pytest.mark.parametrize("kernel", [product, convolution])
def test_kernels_by_tiles_equal_their_definition(form, kernel):
    rng = np.random.default_rng(5)
    failed = [what for passed, what in (kernel(form, rng) for _ in range(400)) if not passed]
    assert failed == []


ROWS = (1, 3, 4, 15, 16, 17, 32, 33, 47, 65)
DEPTHS = (1, 4, 63, 64, 65, 128, 200, 516)
COLUMNS = (1, 15, 16, 17, 32, 64, 80)
VECTORS = replace(host(), features=tuple(f for f in host().features if not f.startswith("amx")))


def by_both(make):
    """The function that multiplies by tiles, and that of the same target without them."""
    return make(host()), make(VECTORS)


@pytest.mark.long
@needs_tiles
@pytest.mark.parametrize("second", BYTES)
@pytest.mark.parametrize("first", BYTES)
def test_products_have_the_bits_of_vectors(first, second):
    a, b = T.matrix("a", first), T.matrix("b", second)
    y = T.matmul(a, b, out_dtype="int32")
    tiles, vectors = by_both(lambda target: ag.function([a, b], y, target=target))
    rng = np.random.default_rng(6)
    for rows in ROWS:
        for depth in DEPTHS:
            for columns in COLUMNS:
                values = numbers(rng, first, (rows, depth)), numbers(rng, second, (depth, columns))
                found = tiles(*values)
                np.testing.assert_array_equal(found, vectors(*values), f"{rows}, {depth}, {columns}")
                np.testing.assert_array_equal(found, values[0].astype("int32") @ values[1].astype("int32"))


LAYERS = (
    # images, channels, side, outputs, kernel, stride, padding
    (1, 64, 7, 64, 3, 1, 1), (2, 64, 14, 32, 3, 2, 1), (1, 256, 9, 48, 1, 1, 0), (1, 128, 15, 16, 1, 2, 0),
    (1, 3, 33, 64, 7, 2, 3), (3, 96, 1, 17, 1, 1, 0), (1, 20, 11, 33, 5, 1, 2), (1, 64, 3, 16, 3, 1, 2),
)  # fmt: skip


@pytest.mark.few(1)
@needs_tiles
@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_convolutions_have_the_bits_of_vectors_on_one_thread_and_two(layer, dtype):
    images, channels, side, outputs, kernel, stride, pad = layer
    rng = np.random.default_rng(7)
    x = T.tensor("x", dtype, (None, channels, *((1, 1) if side == 1 else (None, None))))
    op = ByteConvolution((stride,) * 2, (1, 1), ((pad, pad),) * 2, 7, False, "uint8", 3, 0, 250)
    w = numbers(rng, "int8", (outputs, channels, kernel, kernel))
    constants = (
        w, rng.integers(-999, 999, outputs).astype("int32"), w.reshape(outputs, -1).sum(1, dtype="int32"),
        (rng.random(outputs) * 1e-2).astype("float32"), rng.normal(size=outputs).astype("float32"),
    )  # fmt: skip
    value = numbers(rng, dtype, (images, channels, side, side))
    (expected,) = op.evaluate(value, *constants)
    y = op(x, *map(T.constant, constants))
    for threads in (1, 2):
        functions = by_both(lambda target, threads=threads: ag.function([x], y, target=target, threads=threads))
        layouts = [[n.op.chunk for n in f.graph.order if isinstance(n.op, ByteConvolution)] for f in functions]
        assert layouts[0] != [0] and layouts[1] == [0]
        for f in functions:
            np.testing.assert_array_equal(f(value), expected, strict=True)


PROCESS = Path(machines.__file__).with_name("tile_process.py")


@pytest.mark.few(1)
@needs_tiles
@pytest.mark.parametrize("kind", ["refused", "forked"])
def test_a_process_that_linux_refuses_tiles_or_that_was_forked_has_the_same_bits(kind):
    done = subprocess.run([sys.executable, PROCESS, kind], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout.split()) == (0, ["equal", kind]), done.stdout + done.stderr


@needs_tiles
def test_threads_of_python_have_tiles_of_their_own():
    a, b = T.matrix("a", "uint8"), T.matrix("b", "int8")
    f = ag.function([a, b], T.matmul(a, b, out_dtype="int32"), threads=1)
    rng = np.random.default_rng(8)
    values = [(numbers(rng, "uint8", (m, 130)), numbers(rng, "int8", (130, 70))) for m in range(20, 60)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda pair: f(*pair), values * 3))
    for (x, y), z in zip(values * 3, found, strict=True):
        np.testing.assert_array_equal(z, x.astype("int32") @ y.astype("int32"))
