"""Parts of shared variables written in place before the call is through: a call that fails restores them."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.program.plan import plan
from arignote.cbackend.program.program import Commit, Restore
from arignote.cbackend.program.text.parsing import parse_program
from arignote.cbackend.program.text.printing import program_text

BEFORE = np.arange(60.0).reshape(3, 5, 4)
PARTS = [
    lambda a, t: T.set_subtensor(a[:, t : t + 2], -1.0),
    lambda a, t: T.set_subtensor(a[t], a[t] * 2),
    lambda a, t: T.inc_subtensor(a[::-1, ::2, t], 7.0),
    lambda a, t: T.set_subtensor(a[0, t, 1], 5.0),
    lambda a, t: T.inc_subtensor(a[2:, :, ::-3], T.sum(a)),
]


def address(shared):
    return shared.get_value(borrow=True).ctypes.data


def written_parts(shape=None):
    """A function that writes a part of each container and reads all; it fails if `w` is no vector of five."""
    caches = [ag.shared(BEFORE.copy(), shape=shape) for _ in PARTS]
    t, w = T.lscalar("t"), T.vector("w")
    updates = {a: write(a, t) for a, write in zip(caches, PARTS)}
    sums = T.stack([T.exp(T.sum(a) * -0.01) for a in updates.values()])
    return caches, ag.function([t, w], T.dot(sums, w), updates=updates)


@pytest.mark.parametrize("shape", [None, (3, 5, 4)])
def test_parts_are_written_where_they_lie_and_restored_after_an_error(shape):
    caches, f = written_parts(shape)
    expected = [write(T.as_tensor(BEFORE), T.constant(1)).eval() for write in PARTS]
    places = [address(a) for a in caches]
    for t, count in ((1, 4), (9, 5), (-9, 5)):
        with pytest.raises((IndexError, ValueError)):
            f(t, np.ones(count))
        assert all(np.array_equal(a.get_value(), BEFORE) for a in caches)
    np.testing.assert_allclose(f(1, np.ones(5)), sum(np.exp(e.sum() * -0.01) for e in expected))
    for a, e in zip(caches, expected):
        np.testing.assert_array_equal(a.get_value(), e)
    assert places == [address(a) for a in caches]


def test_the_program_of_a_write_in_place_is_text_and_copies_no_whole():
    a, b = ag.shared(BEFORE, name="a"), ag.shared(np.zeros((3, 4)), name="b", shape=(3, 4))
    t = T.lscalar("t")
    new = T.set_subtensor(a[:, t], 1.0)
    f = ag.function([t], T.exp(new)[t].sum(), updates={a: new, b: b + 1})
    program = plan(f.graph, strict=True)
    assert sorted(program.in_place.values()) == [1, 2]
    assert parse_program(program_text(program), program.graph, program.kernels).steps == program.steps
    kinds = [type(step) for step in program.steps]
    assert kinds.count(Restore) == 1 and kinds.index(Restore) < kinds.index(Commit)
    assert "f->part" in f.c_source()


def test_a_container_read_as_it_was_is_copied():
    a, t = ag.shared(np.zeros(4)), T.lscalar("t")
    new = T.set_subtensor(a[t : t + 1], 1.0)
    f = ag.function([t], [T.exp(a) + T.exp(new)[::-1], new], updates={a: new})
    one, other = f(0)
    np.testing.assert_allclose(one, [2, 2, 2, 1 + np.e])
    np.testing.assert_array_equal(other, [1, 0, 0, 0])
    other[:] = 9
    np.testing.assert_array_equal(a.get_value(), [1, 0, 0, 0])


@pytest.mark.parametrize("is_read", [False, True])
def test_several_parts_of_one_container(is_read):
    """The cache of all layers as one array: each layer writes its part and reads it."""
    a, t, w = ag.shared(BEFORE), T.lscalar("t"), T.vector("w")
    place, new, found = address(a), a, []
    for layer in range(3):
        before, new = new, T.set_subtensor(new[layer, t], T.sum(new[layer]) + layer)
        found.append(T.exp(T.sum(new[layer]) * -0.001))
    more = [T.exp(before * 0.01)[::-1]] if is_read else []
    f = ag.function([t, w], [T.dot(T.stack(found), w), *more], updates={a: new})
    expected, kept = BEFORE.copy(), BEFORE.copy()
    for layer in range(3):
        kept = expected.copy()
        expected[layer, 1] = expected[layer].sum() + layer
    with pytest.raises(ValueError):
        f(1, np.ones(2))
    np.testing.assert_array_equal(a.get_value(), BEFORE)
    total, *other = f(1, np.ones(3))
    np.testing.assert_allclose(total, np.exp(expected.sum((1, 2)) * -0.001).sum())
    np.testing.assert_array_equal(a.get_value(), expected)
    assert all(np.allclose(o, np.exp(kept * 0.01)[::-1]) for o in other)
    assert (address(a) == place) or is_read
