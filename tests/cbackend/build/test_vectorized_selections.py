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


def both(x, y):
    """Selections by a condition and by another one that it is part of."""
    first, second = T.lt(x, y), T.isnan(x)
    chosen = T.switch(second, y, x)
    return T.switch(T.and_(first, second), x, T.switch(T.isnan(chosen), 1.0, chosen * y))


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
    f = ag.function([x, y], both(x, y))
    assert vectorized_loops(f, tmp_path)
    assert all(vectorized_loops(f, tmp_path))
    a = np.array([[np.nan, 1.0, -0.0, np.inf, np.nan], [2.0, np.nan, np.nan, -np.inf, 0.0]])
    c = a[::-1].copy()
    chosen = np.where(np.isnan(a), c, a)
    with np.errstate(invalid="ignore"):
        expected = np.where((a < c) & np.isnan(a), a, np.where(np.isnan(chosen), 1.0, chosen * c))
    assert np.array_equal(f(a, c), expected, equal_nan=True)
