"""Long chains of operations: no recursion over a graph, and lengths that are known in linear time at any depth."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag
from arignote import ops as T
from arignote.graph import dims_of, toposort

VALUE = np.arange(5.0) + 0.5
NUMPY = ag.Mode("fast_run", backend="numpy")

STEPS = {
    "mean": lambda y, k: y - y.mean(),
    "where": lambda y, k: T.where(y > 0, y, -y),
    "softmax": lambda y, k: T.softmax(y),
    "at": lambda y, k: y.at[k % 3].set(1.0),
    "std": lambda y, k: y / (1 + y.std()),
    "first": lambda y, k: y - y[0],
    "largest": lambda y, k: y - y[T.argmax(y)] * 0.5,
    "length": lambda y, k: y + (y.shape[0] - 4) * 0.5,
    "cut": lambda y, k: y[: y.shape[0]] + 0.5,
    "choice": lambda y, k: ag.cond(y[0] > 0, lambda: y * 0.5, lambda: y + 1.0),
    "norm": lambda y, k: y / (1 + T.linalg.norm(y)),
}
"""Steps that read a value more than once, or its shape."""

AS_LONG = {
    "rolled": lambda y, k: T.concatenate([y[1:], y[:1]]),
    "from the back": lambda y, k: T.concatenate([y[-1:], y[:-1]]),
    "three parts": lambda y, k: T.concatenate([y[:1], y[1:3], y[3:]]),
    "stacked sideways": lambda y, k: T.hstack([y[2:], y[:2]]),
    "split": lambda y, k: T.concatenate(T.split(y, [2])[::-1]),
    "roll": T.roll,
    "padded": lambda y, k: T.pad(y, 1)[1:-1],
    "stacked": lambda y, k: T.stack([y, y]).sum(0) * 0.5,
    "reversed": lambda y, k: T.flip(y) * 1.0625,
    "reshaped": lambda y, k: T.tanh(y.reshape((1, -1))).reshape((-1,)),
}
"""Steps whose result is certainly as long as their operand."""

OTHERS = {
    "tiled": lambda y, k: T.tile(y, 2)[1:6],
    "repeated": lambda y, k: T.repeat(y, 2)[::2],
    "halves": lambda y, k: T.concatenate([y[::2], y[1::2]]),
    "grown": lambda y, k: T.pad(y, 1),
    "reflected": lambda y, k: T.pad(y, 1, mode="reflect")[:-2],
    "rows": lambda y, k: T.vstack([y, y * 0.5])[k % 2],
}
"""Steps whose result has a length that the algebra does not prove, or another one."""


def chain(step: Callable, links: int):
    x = T.dvector("x")
    y = x
    for k in range(links):
        y = step(y, k)
    return x, y


def by_numpy(x, outputs):
    """The unoptimized values."""
    return ag.function([x], outputs, mode=ag.Mode(None, backend="numpy"))(VALUE)


def without_recursion(work: Callable[[], None]) -> None:
    """Run `work` in a thread of its own, under a recursion limit of 200."""
    raised: list[BaseException] = []

    def guarded() -> None:
        sys.setrecursionlimit(200)
        try:
            work()
        except BaseException as error:
            raised.append(error)

    limit = sys.getrecursionlimit()
    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    sys.setrecursionlimit(limit)
    if raised:
        raise raised[0]


def value_and_gradient(step: Callable, links: int, mode: ag.Mode = NUMPY) -> None:
    x, y = chain(step, links)
    outputs = [y, ag.grad((y * T.arange(1, y.shape[0] + 1)).sum(), x)]
    f = ag.function([x], outputs, mode=mode)
    for found, expected in zip(f(VALUE), by_numpy(x, outputs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", mostly_long(STEPS, {"mean", "where", "at", "choice"}))
def test_steps_in_a_row_need_no_recursion(name):
    without_recursion(lambda: value_and_gradient(STEPS[name], 300))


def everything(step: Callable, links: int, folder) -> None:
    """Do all that can be done with a chain."""
    x, y = chain(step, links)
    cost, graph = y.sum(), ag.FunctionGraph([x], [y])
    gradient = ag.grad(cost, x)
    ag.jvp(y, x, x), ag.vjp(y, x, y), ag.hvp(cost, x, x), ag.jacobian(y, x), ag.value_and_grad(cost, x)
    ag.vmap(lambda v: v + T.sum(y))(T.dmatrix("m"))
    assert ag.pprint(y) and str(graph) and repr(y) and y._repr_html_() and ag.rewrite(y) is not None
    ag.dprint(y)
    assert ag.parse(str(graph)).outputs[0].type == y.type
    assert pickle.loads(pickle.dumps(y)).type == copy.deepcopy(y).type
    f = ag.function([x], [y, gradient])
    (
        f(VALUE),
        f.bind(VALUE)(),
        f.trace.graph(0),
        f.why(y),
        f.explain(),
        f.debug(VALUE),
        pickle.loads(pickle.dumps(f))(VALUE),
    )
    assert f.c_source() and str(f.program) and f.remarks is not None
    f.report(str(folder / "report.html"))
    f.export(str(folder / "exported"))
    ag.to_onnx(ag.function([x], y, mode=NUMPY), str(folder / "model.onnx"))
    ag.freeze(f)(VALUE)
    for mode in ("FAST_COMPILE", "DEBUG", None):
        ag.function([x], y, mode=mode, profile=mode is None)(VALUE)
    s = T.dvector("s")
    ag.function([x], ag.scan(lambda v: step(v, 0), outputs_info=x, n_steps=2)[0], mode=NUMPY)(VALUE)
    ag.function([x, s], ag.cond(s[0] > 0, y, s), mode=NUMPY)(VALUE, VALUE)


@pytest.mark.long
@pytest.mark.parametrize("name", mostly_long(["mean", "softmax"], {"mean"}))
def test_everything_that_can_be_done_with_a_chain_needs_no_recursion(name, tmp_path, capsys):
    without_recursion(lambda: everything(STEPS[name], 150, tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("name", STEPS)
def test_twenty_thousand_steps_need_no_recursion(name):
    def work() -> None:
        x, y = chain(STEPS[name], 20_000)
        gradient = ag.grad(y.sum(), x)
        assert len(toposort([gradient])) > 20_000
        assert len(dims_of(gradient)) == len(dims_of(y)) == 1
        assert pickle.loads(pickle.dumps(y)).type == y.type
        assert str(ag.FunctionGraph([x], [y, gradient]))
        f = ag.function([x], y, mode=NUMPY)
        np.testing.assert_allclose(f(VALUE), by_numpy(x, y), rtol=1e-9)

    without_recursion(work)


def test_choices_one_of_which_needs_the_one_before_are_nested_a_few_times():
    def work() -> None:
        x, s = T.dvector("x"), T.dvector("s")
        y = x
        for k in range(100):
            y = ag.cond(s[0] > k - 5, y * 0.5, x)
        f = ag.function([x, s], y, mode=NUMPY)
        np.testing.assert_array_equal(f(VALUE, VALUE), VALUE)
        np.testing.assert_array_equal(f(VALUE, VALUE + 99), VALUE * 0.5**100)

    without_recursion(work)


# --- lengths


@pytest.mark.parametrize("name", AS_LONG)
def test_parts_of_a_cut_axis_are_as_long_as_the_axis_at_any_depth(name):
    x, y = chain(AS_LONG[name], 30)
    assert dims_of(y) == dims_of(x)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", mostly_long(AS_LONG | OTHERS, {"rolled", "split", "padded", "tiled", "grown", "rows"}))
def test_chains_of_joins_and_paddings_and_their_gradients(name):
    without_recursion(lambda: value_and_gradient((AS_LONG | OTHERS)[name], 60))


@pytest.mark.long
def test_a_hundred_concatenations_with_their_gradient():
    value_and_gradient(AS_LONG["rolled"], 100, ag.Mode())


@pytest.mark.long
@pytest.mark.parametrize("name", ["rolled", "stacked sideways", "three parts", "roll", "padded", "tiled", "grown"])
@pytest.mark.parametrize("links", [200, 1000])
def test_longer_chains(name, links):
    value_and_gradient((AS_LONG | OTHERS)[name], links)


@pytest.mark.parametrize(
    "name", mostly_long(["rolled", "three parts", "tiled", "halves", "stacked", "grown"], {"rolled", "tiled"})
)
def test_rewrites_grow_with_the_links(name):
    def rewrites(links: int) -> int:
        x, y = chain((AS_LONG | OTHERS)[name], links)
        return len(ag.function([x], [y, ag.grad(y.sum(), x)], mode=NUMPY).journal)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few, many = rewrites(20), rewrites(80)
    assert many < 5 * few + 200


def test_joint_lengths_of_residual_layers_grow_with_the_layers():
    def nodes(layers: int) -> int:
        x = T.matrix("x")
        weights, biases = [T.matrix() for _ in range(layers)], [T.vector() for _ in range(layers)]
        joint, value = [], x
        for w, b in zip(weights, biases, strict=True):
            value = value + T.tanh(T.dot(value, w) + b)
            joint.append(T.dim_to_tensor(dims_of(value)[1]))  # as long as all biases so far
        return len(toposort(joint))

    assert nodes(80) - nodes(40) <= 2 * (nodes(40) - nodes(20))


def test_a_slice_of_slices_has_no_step_beyond_64_bits():
    x, y = chain(lambda v, k: v[::2], 70)
    z = x[:: 1 << 20][1 << 50 :: 1 << 20]
    f = ag.function([x], [y, z, ag.grad(y.sum(), x)], mode=NUMPY)  # a failing rule would warn
    for found, expected in zip(f(VALUE), ([0.5], [], [1, 0, 0, 0, 0]), strict=True):
        np.testing.assert_array_equal(found, expected)
