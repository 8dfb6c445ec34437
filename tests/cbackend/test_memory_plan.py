"""The block that the intermediate values of a call share: its places, what calls learn, and what it costs nobody."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.cbackend.abi._abi import ffi
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.program.buffers import last_uses, lives_of
from arignote.cbackend.program.program import Loop, arrays_of
from arignote.cbackend.runtime.runtime import load_runtime

X = T.matrix("x")
ALIGNMENT = 64


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    cache = Cache.open(tmp_path_factory.mktemp("plan") / "cache")
    toolchain = Toolchain.find(cache)
    if toolchain is None:
        pytest.skip("needs a C compiler")
    return load_runtime(toolchain, cache)


# --- places


def places(runtime, lives, sizes):
    """The bytes of the block, and where each slot lies in it with how many bytes."""
    flat = ffi.new("i32[]", [n for life in lives for n in life])
    rooms = ffi.new("i64[]", [*sizes, *[0] * len(sizes)])
    end = runtime._library.lib.ag_places(len(sizes), flat, rooms)
    return end, list(zip(rooms[len(sizes) : 2 * len(sizes)], rooms[0 : len(sizes)], strict=True))


def largest_live_set(lives, sizes):
    moments = {moment for life in lives for moment in life}
    return max(sum(s for s, (a, b) in zip(sizes, lives, strict=True) if a <= m <= b) for m in moments)


LIVES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 12), st.integers(0, 5000)).map(lambda t: ((t[0], t[0] + t[1]), t[2])),
    min_size=1, max_size=25,
)  # fmt: skip


@settings(max_examples=150)
@given(LIVES)
def test_those_that_live_together_share_no_byte(runtime, drawn):
    lives, sizes = [life for life, _ in drawn], [size for _, size in drawn]
    end, found = places(runtime, lives, sizes)
    for n, (at, room) in enumerate(found):
        assert at % ALIGNMENT == 0 and sizes[n] <= room < sizes[n] + ALIGNMENT and at + room <= end
        for m, (other, bytes_) in enumerate(found[:n]):
            together = lives[n][0] <= lives[m][1] and lives[m][0] <= lives[n][1]
            assert not together or not room or not bytes_ or at + room <= other or other + bytes_ <= at
    assert end >= largest_live_set(lives, [room for _, room in found])


def test_slots_without_a_life_get_no_place(runtime):
    end, found = places(runtime, [(-1, -1), (0, 1), (2, 3)], [10_000, 128, 256])
    assert end == 256 and found[0][1] == 0


def test_a_gap_is_taken_only_by_what_fits(runtime):
    lives = [(0, 1), (0, 9), (2, 9), (2, 9)]  # the third takes most of the gap that the first leaves
    _, found = places(runtime, lives, [4 * ALIGNMENT, 4 * ALIGNMENT, 3 * ALIGNMENT, 2 * ALIGNMENT])
    ends = sorted((at, at + room) for at, room in found[1:])
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ends))


def test_those_of_a_residual_network_fit_into_the_largest_live_set(runtime):
    lives = [(4 * n, 4 * n + 9) for n in range(40)] + [(4 * n + 1, 4 * n + 3) for n in range(40)]
    sizes = [4096] * 40 + [16384 if n % 2 else 8192 for n in range(40)]
    end, _ = places(runtime, lives, sizes)
    assert end <= 1.1 * largest_live_set(lives, sizes)


# --- functions


def narrowing(widths=(300, 40, 200, 30, 100)):
    """A row of products of which each result has another size, and its meaning."""
    rng = np.random.default_rng(3)
    weights = [rng.standard_normal(pair) / 10 for pair in itertools.pairwise(widths)]
    y = X
    for w in weights:
        y = T.tanh(y) @ w

    def meant(a):
        for w in weights:
            a = np.tanh(a) @ w
        return a.sum(axis=1)

    return T.sum(y, axis=1), meant


@pytest.mark.long
def test_values_of_different_sizes_share_one_block_from_the_second_call_on():
    y, meant = narrowing()
    f = ag.function([X], y, profile=True)
    a = np.random.default_rng(1).standard_normal((64, 300))
    for _ in range(3):
        np.testing.assert_allclose(f(a), meant(a), rtol=1e-9)
    memory = f.profile.memory
    assert memory.peak <= memory.planned <= 1.1 * memory.peak
    assert f"planned in one block of {memory.planned / 1e3:.1f} kB" in str(f.profile)


def test_calls_of_any_size_in_any_order_get_their_values():
    y, meant = narrowing()
    f = ag.function([X], y)
    rng = np.random.default_rng(2)
    for rows in (1, 500, 3, 0, 501, 64, *[2] * 20, 700, 7):
        a = rng.standard_normal((rows, 300))
        np.testing.assert_allclose(f(a), meant(a), rtol=1e-9)


def test_a_block_that_is_far_too_large_for_many_calls_shrinks():
    y, _ = narrowing()
    f = ag.function([X], y, profile=True)
    f(np.ones((2000, 300)))
    f.profile.reset()
    f(np.ones((2, 300)))
    large = f.profile.memory.planned
    for _ in range(20):
        f(np.ones((2, 300)))
    f.profile.reset()
    f(np.ones((2, 300)))
    assert 0 < f.profile.memory.planned < large / 50


def test_calls_of_many_threads_have_a_block_each():
    y, meant = narrowing()
    f = ag.function([X], y)
    wrong = []

    def caller(seed):
        rng = np.random.default_rng(seed)
        for _ in range(60):
            a = rng.standard_normal((int(rng.integers(0, 90)), 300))
            if not np.allclose(f(a), meant(a), rtol=1e-9):
                wrong.append(seed)

    threads = [threading.Thread(target=caller, args=(seed,)) for seed in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_call_that_fails_gives_its_memory_back(runtime):
    i = T.ivector("i")
    y = T.sum(T.tanh((T.tanh(X @ np.ones((8, 40))) @ np.ones((40, 900)))[i]) @ np.ones((900, 5)), axis=1)
    f = ag.function([X, i], y)
    a = np.ones((6, 8))
    expected = f(a, np.array([0, 5], "int32"))
    f(a, np.array([1], "int32"))
    before = runtime.pool().live
    for _ in range(3):
        with pytest.raises(IndexError):
            f(a, np.array([6], "int32"))
    np.testing.assert_array_equal(f(a, np.array([0, 5], "int32")), expected)
    assert runtime.pool().live == before


def test_a_function_whose_values_all_live_at_once_has_no_plan():
    f = ag.function([X], T.exp(X) * 2)
    assert lives_of(f.program) == []


def test_blocks_of_loops_share_no_bytes_with_others():
    a = T.dot(X, X)
    b = T.dot(a, X)
    rows = T.dot(T.dot(b, a), b)
    states, _ = ag.scan(lambda r, s: T.tanh(T.dot(s, a) + r), sequences=rows, outputs_info=T.zeros_like(X[0]))
    program = ag.function([X], T.sum(T.dot(T.dot(states, X), states)) + T.sum(rows)).program
    lives, steps = lives_of(program), program.steps
    handed = {b for step in steps if isinstance(step, Loop) for array in arrays_of(step) for b in array.buffers}
    assert {lives[program.slots[b]] for b in handed} == {None}
    assert any(lives)


def test_memory_lives_until_the_last_step_that_may_read_it():
    flat = T.reshape(X, (-1,))
    steps = ag.function([X], T.dot(T.exp(flat), flat)).program.steps
    last = last_uses(steps)
    reads = [(m, k) for k, step in enumerate(steps) for a in arrays_of(step) for m in a.memory if len(a.memory) > 1]
    assert {m for m, _ in reads if not isinstance(m, str)}
    assert all(last[m] >= k for m, k in reads)
