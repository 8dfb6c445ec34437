"""What compiling may cost at most: long chains fall into groups of one text."""

import numpy as np

import arignote as ag
from arignote import ops as T


def test_a_chain_of_2000_operations_has_few_kernels_and_little_text():
    x = T.vector("x")
    z = x
    for k in range(2000):
        z = T.sin(z) if k % 5 == 0 else z * 1.01 if k % 2 else z + 0.5
    f = ag.function([x], z)
    assert len(f.program.kernels) <= 3
    assert len(f.c_source()) < 100_000
    want = values = np.linspace(-1, 1, 9)
    for k in range(2000):
        want = np.sin(want) if k % 5 == 0 else want * 1.01 if k % 2 else want + 0.5
    np.testing.assert_allclose(f(values), want, rtol=1e-10)
