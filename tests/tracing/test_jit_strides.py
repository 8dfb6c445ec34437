"""Memory of arrays in a trace: strides, flags, views, `as_strided`, and reshapes that copy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import arignote as ag

X = np.arange(24.0).reshape(4, 6)
V = np.arange(7.0)


def _means(z: Any, w: int) -> Any:
    n, (step,) = z.shape[0], z.strides
    return as_strided(z, (n - w + 1, w), (step, step)).mean(axis=1)


def _blocks(x: Any) -> Any:
    (n, m), (down, along) = x.shape, x.strides
    return as_strided(x, (n // 2, m // 2, 2, 2), (2 * down, 2 * along, down, along)).sum(axis=(2, 3))


def _correlation(x: Any, k: Any) -> Any:
    shape = tuple(np.subtract(x.shape, k.shape) + 1) + k.shape
    return np.einsum("ijkl,kl->ij", as_strided(x, shape, x.strides * 2), k)


def _repeated(x: Any) -> Any:
    return as_strided(x, shape=(3, 4), strides=(0, x.itemsize))


def _memory(x: Any) -> Any:
    layouts = [np.array(a.strides) for a in (x, x.T, x[::2, 1:], x[:, ::-1])]
    return (*layouts, x.nbytes, x.flags.c_contiguous, x.T.flags["F_CONTIGUOUS"], np.isfortran(x.T))


def _bytes(x: Any) -> Any:
    return (x > 2).view(np.uint8).sum(), (x > 1).view("i1")


def _methods(x: Any) -> Any:
    x.partition(2)
    x.put([0, 1], [5.0, 6.0])
    return x.argpartition(1)


@pytest.mark.parametrize(
    ("f", "arguments"),
    [
        (_means, (V, 3)), (_means, (V, 7)), (_blocks, (X,)), (_blocks, (X.astype("f4"),)),
        (_correlation, (X, np.ones((2, 3)))), (_repeated, (V,)), (_memory, (X,)), (_memory, (np.zeros((3, 0)),)),
        (_memory, (np.asfortranarray(X),)), (_bytes, (V,)), (_methods, (V[::-1].copy(),)),
    ],
)  # fmt: skip
def test_memory_is_that_of_numpy(f: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    found, expected = ag.jit(f)(*ours), f(*theirs)
    several = isinstance(expected, tuple)
    for a, b in zip(found if several else [found], expected if several else [expected], strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-12)
    for a, b in zip(ours, theirs, strict=True):
        assert np.array_equal(a, b)


def _outside(x: Any) -> Any:
    return as_strided(x, (200,), (8,))


def _between(x: Any) -> Any:
    return as_strided(x, (2,), (3,))


def _backwards(x: Any) -> Any:
    return as_strided(x, (2,), (-8,))


def _of_view(x: Any) -> Any:
    return as_strided(x[::2], (2,), (8,))


def _written(x: Any) -> Any:
    windows = as_strided(x, (2, 2), (8, 8))
    windows[0] = 1
    return windows


def _written_before(x: Any) -> Any:
    windows = as_strided(x, (2, 2), (8, 8))
    x[0] = 1
    return windows


def _as_bits(x: Any) -> Any:
    return x.view(np.int64)


def _address(x: Any) -> Any:
    return x.ctypes


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (_outside, "index 199 is out of bounds"), (_between, "multiple of 8.*sliding_window_view"),
        (_backwards, "not negative.*sliding_window_view"), (_of_view, "ascontiguousarray"),
        (_written, "cannot be written; write to a copy"), (_written_before, "cannot be written; write to a copy"),
        (_as_bits, r"x\.astype\('int64'\)"), (_address, "ctypes: x.* is symbolic .*; use the array outside"),
    ],
)  # fmt: skip
def test_refusals_name_the_way_round(f: Callable[..., Any], message: str) -> None:
    with pytest.raises(Exception, match=message):
        ag.jit(f)(V.copy())


def _reshaped(x: Any) -> Any:
    y = x.T.reshape(-1)
    y[0] = 5
    return y


def test_a_reshape_copies_for_some_lengths() -> None:
    jitted = ag.jit(_reshaped)
    for shape in ((1, 4), (2, 4), (4, 1), (3, 3)):
        ours = np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape)
        theirs = ours.copy()
        assert np.array_equal(jitted(ours), _reshaped(theirs))
        assert np.array_equal(ours, theirs)


def _flattened(x: Any) -> Any:
    y = x.reshape(-1)
    y[0] = 5
    return y


@pytest.mark.parametrize("f", [_flattened, _memory])
@pytest.mark.parametrize("orders", ["CF", "FC"])
def test_one_function_for_both_orders(f: Callable[..., Any], orders: str) -> None:
    jitted = ag.jit(f)
    for order in orders:
        ours = np.asfortranarray(X) if order == "F" else X.copy()
        theirs = ours.copy(order="K")
        found, expected = jitted(ours), f(theirs)
        for a, b in zip(*([v] if isinstance(v, np.ndarray) else v for v in (found, expected)), strict=True):
            assert np.array_equal(a, b)
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 4), (4,), (3, 0, 2), (2, 3, 4, 5), (0, 2)])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("concatenate", {}), ("concatenate", {"axis": 1}), ("concatenate", {"axis": -1}),
        ("concatenate", {"axis": None}), ("stack", {"axis": 1}), ("stack", {"axis": -1}), ("vstack", {}),
        ("hstack", {}), ("dstack", {}), ("column_stack", {}),
    ],
)  # fmt: skip
def test_one_array_is_a_sequence_of_its_parts(name: str, options: dict[str, Any], shape: tuple[int, ...]) -> None:
    x = np.arange(float(np.prod(shape))).reshape(shape)
    join = getattr(np, name)
    try:
        expected = join(x, **options)
    except ValueError:
        if shape[0] or name != "stack":
            with pytest.raises(ValueError):
                ag.jit(lambda a: join(a, **options))(x)
        return
    found = ag.jit(lambda a: join(a, **options))(x)
    assert found.shape == expected.shape and np.array_equal(found, expected)
