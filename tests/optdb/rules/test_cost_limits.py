"""Upper bounds of compile time: long chains fall into groups of one text."""

import numpy as np
import pytest

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


@pytest.mark.long
def test_a_sum_of_many_vectors_of_unknown_lengths_is_compiled_at_once():
    for count in (40, 300):
        inputs = [T.vector(f"x{k}") for k in range(count)]
        f = ag.function(inputs, sum(inputs[1:], inputs[0]))
        arrays = [np.ones(3 if k % 2 else 1) for k in range(count)]
        np.testing.assert_array_equal(f(*arrays), np.full(3, float(count)))


@pytest.mark.long
def test_a_chain_of_softmaxes_of_the_same_rows_has_one_kernel_of_a_few():
    x = T.matrix("x")
    z = x
    for _ in range(40):
        z = T.softmax(z * 2.0)
    f = ag.function([x], z)
    assert len(f.program.kernels) <= 3
    assert len(f.c_source()) < 100_000
    want = values = np.random.default_rng(0).normal(size=(5, 50))
    for _ in range(40):
        want = np.exp(want * 2 - np.max(want * 2, axis=1, keepdims=True))
        want /= want.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(f(values), want, rtol=1e-10)
