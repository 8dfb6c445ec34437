"""Calls of jitted functions that read arrays of their module."""

import numpy as np
import pytest

import arignote as ag
from arignote.tracing.jitted import NATIVE_AFTER

SCALE = np.arange(3.0)
OFFSET = np.ones(3)
TABLE = np.zeros(3)


@ag.jit
def scaled(x, y=1.0):
    return x * SCALE + OFFSET * y


@ag.jit
def counted(x):
    TABLE[1] += x.sum()
    return TABLE * 2


def is_native(f):
    return any(entry is not None and not isinstance(entry, int) for entry in f._entries.values())


@pytest.mark.long
def test_native_calls_read_arrays_of_the_module_anew(monkeypatch):
    module = globals()
    x = np.array([1.0, 2.0, 3.0])
    for _ in range(NATIVE_AFTER + 2):
        assert np.array_equal(scaled(x, 2.0), x * SCALE + OFFSET * 2.0)
    assert is_native(scaled)
    SCALE[0] = 7.0
    assert np.array_equal(scaled(x, 2.0), x * SCALE + OFFSET * 2.0)
    assert np.array_equal(scaled(x, y=3.0), x * SCALE + OFFSET * 3.0)
    assert np.array_equal(scaled(x), x * SCALE + OFFSET)
    for other in (np.arange(5.0)[::2], np.arange(3), np.float32([1, 2, 3]), np.ones((2, 3)), 2.5):
        monkeypatch.setitem(module, "SCALE", other)
        for _ in range(3):
            assert np.array_equal(scaled(x, 2.0), x * other + OFFSET * 2.0)
    monkeypatch.setitem(module, "SCALE", np.arange(4.0))
    with pytest.raises(ValueError, match=r"shape|length|broadcast"):
        scaled(x, 2.0)
    monkeypatch.delitem(module, "SCALE")
    with pytest.raises(NameError, match="SCALE"):
        scaled(x, 2.0)
    for wrong in ((), (x, 1.0, 2.0)):
        with pytest.raises(TypeError):
            scaled(*wrong)


@pytest.mark.long
def test_arrays_of_the_module_are_written():
    x, expected = np.ones(4), np.zeros(3)
    for _ in range(NATIVE_AFTER + 2):
        expected[1] += 4
        assert np.array_equal(counted(x), expected * 2) and np.array_equal(TABLE, expected)
    for _ in range(6):  # the argument is the array that is written
        expected[1] += expected.sum()
        assert np.array_equal(counted(TABLE), expected * 2) and np.array_equal(TABLE, expected)
