"""Loops that select by conditions which other conditions are made of, or which are made of others."""

import re
import subprocess

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.function.function import find_toolchain
from arignote.targets.named import NAMED, host

vectorizes = pytest.mark.skipif(
    "gcc" not in find_toolchain().version.lower() or not host().runs(NAMED["x86_64-linux-v3"]),
    reason="needs gcc and AVX2",
)
x, y = T.matrix("x"), T.matrix("y")
k, b = T.lvector("k"), T.vector("b")


def invariant(dtype):
    """A selection by a condition of rows that is made of two."""
    ends = T.or_(T.eq(k, 0), T.eq(k, T.shape(k)[0] - 1))
    return T.switch(T.dimshuffle(ends, 0, "x"), T.cast(x, dtype), T.cast(y * 2, dtype))


def on_line(x, y, z):
    """Selections by conditions and by others that they are part of, as in an interpolation beside infinities."""
    first = y * x + z
    chosen = T.switch(T.isnan(first), y * z + x, first)
    flat = T.switch(T.and_(T.isnan(chosen), T.eq(z, y)), z, chosen)
    return T.switch(T.and_(T.eq(x, y), T.isnan(first)), z, flat)


def focal_loss(x, y):
    """The gradient of a loss that selects by a condition and by its opposite."""
    p = T.sigmoid(x)
    q = T.switch(T.gt(y, 0), p, 1 - p)
    return ag.grad((-((1 - q) ** 2) * T.log(q + 1e-6)).mean(), x)


def vectorized_loops(function, folder):
    """Return whether gcc vectorizes each loop that the text marks, in order."""
    toolchain = find_toolchain()
    text = function.c_source()
    (folder / "code.c").write_text(text)
    flags = [*toolchain.command, *toolchain.all_flags, "-fopt-info-vec-optimized", "-S", "-o", "code.s", "code.c"]
    done = subprocess.run(flags, cwd=folder, check=True, capture_output=True, text=True)
    found = {int(n) for n in re.findall(r"code\.c:(\d+):\d+: optimized: .*loop vectorized", done.stderr)}
    marks = [n for n, line in enumerate(text.splitlines(), 1) if "#pragma omp simd" in line]
    return [not found.isdisjoint(range(mark, mark + 4)) for mark in marks]


@vectorizes
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "int16", "uint8"])
def test_selections_by_joined_conditions_of_rows_are_vectorized(dtype, tmp_path):
    f = ag.function([x, y, k], invariant(dtype))
    assert vectorized_loops(f, tmp_path)
    assert all(vectorized_loops(f, tmp_path))
    a, c = (np.random.default_rng(n).standard_normal((5, 37)) * 9 for n in (0, 1))
    ends = np.array([True, False, False, False, True])
    assert np.array_equal(f(a, c, np.arange(5)), np.where(ends[:, None], a.astype(dtype), (c * 2).astype(dtype)))


@vectorizes
def test_selections_by_parts_of_conditions_are_vectorized(tmp_path):
    z = T.matrix("z")
    f = ag.function([x, y, z], on_line(x, y, z))
    assert vectorized_loops(f, tmp_path)
    assert all(vectorized_loops(f, tmp_path))
    values = [np.inf, -np.inf, np.nan, 0.0, 1.0, -0.0, 2.5]
    a, b, c = (v.reshape(7, 49) for v in np.meshgrid(values, values, values))
    with np.errstate(all="ignore"):
        first = b * a + c
        chosen = np.where(np.isnan(first), b * c + a, first)
        flat = np.where(np.isnan(chosen) & (c == b), c, chosen)
        expected = np.where((a == b) & np.isnan(first), c, flat)
    assert np.array_equal(f(a, b, c), expected, equal_nan=True)


@vectorizes
def test_selections_by_a_condition_and_its_opposite_are_vectorized(tmp_path):
    v, t = T.fvector("v"), T.fvector("t")
    f = ag.function([v, t], focal_loss(v, t))
    assert vectorized_loops(f, tmp_path)
    assert all(vectorized_loops(f, tmp_path))
