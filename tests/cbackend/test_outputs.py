"""Large results lie in blocks that are used again, and never while anybody can see them."""

import gc
import threading

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.calls.outputs import LARGE, PAGE, PLACES, Blocks

F8 = np.dtype("float64")
N = LARGE // 8


def address(array):
    return array.__array_interface__["data"][0]


def test_a_dropped_result_is_used_again():
    blocks = Blocks(100 * LARGE)
    first = blocks.empty((N,), F8)
    where = address(first)
    del first
    assert address(blocks.empty((N,), F8)) == where


def test_a_dropped_result_serves_other_shapes_and_dtypes_of_the_same_size():
    blocks = Blocks(100 * LARGE)
    where = address(blocks.empty((N,), F8))
    other = blocks.empty((2, N), np.dtype("float32"))
    assert address(other) == where and other.shape == (2, N) and other.flags.c_contiguous and other.flags.writeable


def test_several_results_lie_in_the_blocks_of_the_last_call():
    blocks = Blocks(100 * LARGE)
    held = [blocks.empty((N,), F8) for _ in range(6)]
    del held
    last = {address(r) for r in [blocks.empty((N,), F8) for _ in range(3)]}
    for _ in range(4):
        assert {address(r) for r in [blocks.empty((N,), F8) for _ in range(3)]} == last


@pytest.mark.few(2)
@pytest.mark.parametrize("hold", [
    lambda r: r, lambda r: r[3:4], lambda r: r.T, lambda r: r.view("int64")[::-1], memoryview,
    lambda r: np.frombuffer(r.data, "uint8"), iter, lambda r: r.__dlpack__(), lambda r: [r],
    lambda r: np.lib.stride_tricks.as_strided(r, (1,), (8,)), lambda r: r.ctypes,
], ids=range(11))  # fmt: skip
def test_whatever_can_still_see_a_result_keeps_it(hold):
    blocks = Blocks(100 * LARGE)
    result = blocks.empty((N,), F8)
    where = address(result)
    held = hold(result)
    del result
    assert address(blocks.empty((N,), F8)) != where
    del held
    gc.collect()


def test_small_results_and_those_beyond_the_capacity_own_their_memory():
    blocks = Blocks(4 * LARGE)
    assert blocks.empty((N - 1,), F8).flags.owndata
    assert blocks.empty((3 * N,), F8).flags.owndata
    assert not blocks.empty((N,), F8).flags.owndata


def test_results_are_aligned_to_parts_of_a_page_but_not_to_its_start():
    blocks = Blocks(100 * LARGE)
    held = [blocks.empty((N + k,), F8) for k in range(20)]
    places = {address(h) % PAGE for h in held}
    assert 0 not in places and all(place % (PAGE // PLACES) == 0 for place in places)


def test_blocks_stay_within_the_capacity():
    blocks = Blocks(8 * LARGE)
    held = [blocks.empty((N + k,), F8) for k in range(30)]
    assert blocks._held() <= 8 * LARGE
    assert len({address(h) for h in held}) == 30


def test_release_returns_what_no_result_lies_in():
    blocks = Blocks(100 * LARGE)
    held = blocks.empty((N,), F8)
    held[:] = 7
    blocks.empty((2 * N,), F8)
    assert blocks.release() == 2 * LARGE + PAGE
    assert blocks.release() == 0 and (held == 7).all()


def test_full_memory_lets_go_of_free_blocks(monkeypatch):
    blocks = Blocks(100 * LARGE)
    blocks.empty((N,), F8)
    failures = [MemoryError]
    make = np.empty

    def short_of_memory(*arguments):
        if failures:
            raise failures.pop()
        return make(*arguments)

    monkeypatch.setattr(np, "empty", short_of_memory)
    assert blocks.empty((2 * N,), F8).shape == (2 * N,)
    assert list(map(len, blocks._blocks.values())) == [0, 1]


def test_threads_never_share_a_block():
    blocks = Blocks(1000 * LARGE)
    wrong = []

    def work(mark):
        for _ in range(300):
            mine = blocks.empty((N,), F8)
            mine[:: N // 7] = mark
            other = blocks.empty((N,), F8)
            other[:: N // 7] = -mark
            if (mine[:: N // 7] != mark).any():
                wrong.append(mark)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("shape", [(2 * N,), (N, 2), (2, 2, N)])
def test_results_of_functions_keep_their_values(shape):
    x = T.tensor("x", shape=(None,) * len(shape))
    f = ag.function([x], [x + 1, (x * 2)[::2]])
    a = np.ones(shape)
    results = [f(a * k) for k in range(5)]
    for k, (one, two) in enumerate(results):
        assert (one == k + 1).all() and (two == 2 * k).all()


def test_a_result_may_be_the_next_argument():
    x = T.vector("x")
    f = ag.function([x], x + 1)
    r = np.zeros(N)
    for _ in range(5):
        r = f(r)
    assert (r == 5).all() and (f(f(f(np.zeros(N)))) == 3).all()
