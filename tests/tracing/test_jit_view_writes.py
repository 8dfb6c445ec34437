"""Writes through views in loops: the values of NumPy, in the array itself, with no copy in a step."""

import re

import numpy as np
import pytest

import arignote as ag


def by_rows(x):
    x = x.copy()
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            x[i][j] = x[i][j - 1] + j
    return x


def exchanged(x):
    x = x.copy()
    for i in range(x.shape[0]):
        for j in range(x.shape[1] - 1):
            x[i][j], x[i][j + 1] = x[i][j + 1], x[i][j]
    return x


def transposed(x):
    x = x.copy()
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x.T[j, i] += i + 2 * j
    return x


def flat(x):
    x = x.copy()
    y = x.ravel()
    for k in range(y.size):
        y[k] = 2 * k
        x.flat[-1 - k] += 1
    return x


def backwards(x):
    x = x.copy()
    y = x[::-1, ::-1]
    for i in range(y.shape[0]):
        for j in range(-1, 1):
            y[i, j] = 10 * i + j
    return x


def inside(x):
    x = x.copy()
    y = x[1:-1, 1:-1]
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] += x[i, j]
    return x


def every_second(x):
    x = x.copy()
    y = x[1::2]
    for i in range(len(y)):
        y[-1 - i, 0] = i
    return x


def columns(x):
    x = x.copy()
    for k in range(x.shape[1]):
        column = x[:, k]
        for i in range(1, len(column)):
            column[i] += column[i - 1] * 0.5
    return x


def reshaped(x):
    x = x.copy()
    y = x.reshape(1, *x.shape)
    for k in range(len(x)):
        for j in range(x.shape[1]):
            y[0, k, j] = y[0, k - 1, -1 - j] + k
    return x


PROGRAMS = [by_rows, exchanged, transposed, flat, backwards, inside, every_second, columns, reshaped]
SHAPES = [(4, 6), (1, 2), (5, 4), (0, 2), (3, 2)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_views_are_written(f):
    jitted = ag.jit(f)
    for shape in SHAPES:
        x = np.random.default_rng(0).random(shape)
        np.testing.assert_array_equal(jitted(x), f(x))
    for trace in jitted.traces.values():
        text = str(trace.function.graph)
        views = re.findall(r"\n( {4,}v\d+): \S+\[.* = (?:subtensor|reshape|dimshuffle)", text)
        written = re.findall(r"\n( {4,})v\d+: .*inc_subtensor\{.*?\}(?:, pairs=.*\})?\((v\d+)", text)
        assert written and not {*views} & {a + b for a, b in written}, "a step copies the array"


def beyond(x, i, j):
    for k in range(1):
        y = x[1:3, ::-1]
        y[i + k, j] = 7
    return x


@pytest.mark.parametrize("place", [(0, 0), (-1, 2), (1, -4), (-2, 3), (2, 0), (-3, 0), (0, 4), (0, -5)])
def test_an_index_beyond_the_view_is_an_error(place):
    x = np.zeros((5, 4))
    try:
        expected = beyond(x.copy(), *place)
    except IndexError:
        with pytest.raises(IndexError):
            ag.jit(beyond)(x, *place)
    else:
        assert np.array_equal(ag.jit(beyond)(x, *place), expected)


def flooded(image, i, j, new):
    """A choice that appends to a list, which has room."""
    old = image[i, j]
    todo = [(i, j)]
    while todo:
        y, x = todo.pop()
        if y < 0 or x < 0 or y >= image.shape[0] or x >= image.shape[1] or image[y, x] != old:
            continue
        image[y, x] = new
        todo.extend([(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)])
    return image


@pytest.mark.long
def test_a_choice_that_writes_a_list():
    image = np.random.default_rng(0).integers(0, 2, (12, 12))
    assert np.array_equal(ag.jit(flooded)(image.copy(), 3, 3, 7), flooded(image.copy(), 3, 3, 7))
