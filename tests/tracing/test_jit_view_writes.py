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


def rows_of_a_vector(x):
    for k in range(x.size // 3):
        x.reshape(-1, 3)[k] = x[3 * k] * k
    return x


def rows_added_to(x):
    y = x.reshape(-1, 3)
    for k in range(len(y)):
        y[-k - 1] += np.array([1.0, 2.0, 3.0]) * k
    return x


def parts_of_rows(x):
    y = x.reshape(-1, 2, 3)
    for k in range(len(y)):
        y[k, 1] = k
        y[k, 0, :] = y[k, 1] + 1.5
    return x


def one_row_too_many(x):
    y = x.reshape(-1, 3)
    for k in range(len(y) + 1):
        y[k] = 1.0
    return x


@pytest.mark.parametrize("program", [rows_of_a_vector, rows_added_to, parts_of_rows, one_row_too_many])
@pytest.mark.parametrize("count", [0, 6, 24])
def test_rows_of_a_vector_under_other_lengths(program, count):
    x = np.arange(float(count))
    compiled = ag.jit(program)
    if program is one_row_too_many:
        with pytest.raises(IndexError):
            compiled(x)
        return
    for values in (x, x[::-1].copy(), np.arange(count + 6.0)):
        np.testing.assert_array_equal(compiled(values.copy()), program(values.copy()))


@pytest.mark.parametrize("program", [rows_of_a_vector, rows_added_to])
def test_rows_of_a_vector_are_written_in_place(program):
    x = np.ones(24)
    compiled = ag.jit(program)
    compiled(x)
    text = str(compiled.compiled(x).graph)
    assert "advanced_inc_subtensor" in text
    assert not re.search(r"inc_subtensor\{spec=\('i'.*\}\(v\d+", text)
