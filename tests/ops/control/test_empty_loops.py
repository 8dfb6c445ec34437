"""Loops over an empty sequence: results of no steps have the lengths that a step would give."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import same_shape

MODES = ["NUMPY", "FAST_RUN", "FAST_COMPILE"]
X, W, K = T.dmatrix("x"), T.dmatrix("w"), T.lscalar("k")


def _looped(step, *others):
    return ag.scan(step, sequences=X, non_sequences=list(others))[0]


def _nested(r):
    return ag.scan(lambda e, row: T.concatenate([row, row]) * e, sequences=r, non_sequences=r)[0]


def _nested_without_steps(r):
    return ag.scan(lambda e, row: T.tile(row, 2) * e, sequences=r[:0], non_sequences=r)[0]


def _with_condition(r, w):
    return T.concatenate([r, w[0]]), ag.until(T.sum(r) > 1e9)


LOOPS = {
    "concatenate": lambda: _looped(lambda r: T.concatenate([r, r])),
    "stack": lambda: _looped(lambda r: T.stack([r, r, r])),
    "pad": lambda: _looped(lambda r: T.pad(r, (1, 2))),
    "tile": lambda: _looped(lambda r: T.tile(r, (2, 2))),
    "repeat": lambda: _looped(lambda r: T.repeat(r, 3)),
    "slices": lambda: _looped(lambda r: r[1:][::2]),
    "reshape": lambda: _looped(lambda r: T.reshape(T.concatenate([r, r]), (2, -1))),
    "outer product": lambda: _looped(lambda r, w: T.dot(w, T.concatenate([r, r]))[None, :] * r[:, None], W),
    "product": lambda: _looped(lambda r, w: T.dot(w[:, :3], T.outer(r, r)), W),
    "a length as a value": lambda: _looped(lambda r, k: T.arange(k) + r[0], K),
    "a bound as a value": lambda: _looped(lambda r, k: T.concatenate([r, r])[: T.maximum(k, 0)], K),
    "a bound as a length": lambda: _looped(lambda r, w: T.concatenate([w[0], r])[w.shape[1] :], W),
    "lengths as values": lambda: _looped(lambda r, k: T.zeros((k, k + 1)) + r[0], K),
    "one element less": lambda: _looped(lambda r: T.diff(T.concatenate([r, r]))),
    "convolution": lambda: _looped(lambda r, w: T.convolve(r, w[0], "full"), W),
    "joint length": lambda: _looped(lambda r, w: T.concatenate([w[:, :1] + r, w[:, :3]]), W),
    "a loop": lambda: _looped(_nested),
    "a loop without steps": lambda: _looped(_nested_without_steps),
    "a condition": lambda: _looped(_with_condition, W),
    "a branch": lambda: _looped(
        lambda r: ag.cond(r[0] > 0, lambda: T.concatenate([r, r]), lambda: T.concatenate([-r, r]))
    ),
    "a state": lambda: ag.scan(
        lambda r, s: (s * T.sum(r), T.concatenate([s, r])), sequences=X, outputs_info=[W[0], None]
    )[0][1],
}


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", MODES)
def test_lengths_of_the_results_of_no_steps(mode):
    loops = [build() for build in LOOPS.values()]
    sums = [T.sum(loop, axis=0) for loop in loops]
    gradients = ag.grad(sum(T.sum(s) for s in sums), [X, W], disconnected="zero")
    f = ag.function([X, W, K], [*loops, *sums, *gradients], mode=mode)
    w = np.ones((5, 6))
    none, one = (f(np.ones((n, 3)), w, 4) for n in (0, 1))
    for name, found, like in zip(LOOPS, none, one):
        assert found.shape == (0, *like.shape[1:]), name
    for name, found, like in zip(LOOPS, none[len(loops) :], one[len(loops) :]):
        assert found.shape == like.shape, name
        assert not found.any(), name
    by_x, by_w = none[-2:]
    assert by_x.shape == (0, 3)
    np.testing.assert_array_equal(by_w, np.zeros(w.shape))


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives_and_examples_of_loops_without_steps(mode):
    x, xs, s = T.dmatrix("x"), T.dtensor3("xs"), T.dvector("s")

    def cost(rows):
        states, _ = ag.scan(lambda r, t: t * T.sum(T.concatenate([r, r]) ** 2), sequences=rows, outputs_info=s)
        return T.sum(T.concatenate([s[None], states])[-1] ** 2)

    f = ag.function(
        [x, xs, s],
        [ag.hessian(cost(x), s), ag.hvp(cost(x), x, x), ag.vmap(lambda r: ag.grad(cost(r), s))(xs),
         ag.vmap(lambda rows: ag.scan(lambda r: T.concatenate([r, r]), sequences=rows)[0])(xs)],
        mode=mode,
    )  # fmt: skip
    hessian, product, gradients, mapped = f(np.ones((0, 3)), np.ones((2, 0, 3)), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(hessian, 2 * np.eye(2))
    assert product.shape == (0, 3)
    np.testing.assert_array_equal(gradients, [[2, 4], [2, 4]])
    assert mapped.shape == (2, 0, 6)


def test_lengths_of_a_step_are_known_outside_of_the_loop():
    loop = _looped(lambda r: T.concatenate([r, r]))
    assert same_shape(loop, T.concatenate([X, X], axis=1))
