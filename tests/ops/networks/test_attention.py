"""Attention as one op: the graphs that become it, NumPy's meaning, special values, any strides and lengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops import nn
from arignote.ops.lowered.attention import Attention

RNG = np.random.default_rng(5)
ANY = (None,) * 4


def ops_of(f):
    return [node.op for node in f.graph.order]


def attention_of(f):
    found = [op for op in ops_of(f) if isinstance(op, Attention)]
    return found[0] if found else None


def stacks(dtype, *shapes):
    return [T.tensor(name, dtype, shape) for name, shape in zip("qkv", shapes, strict=True)]


def meaning(q, k, v, scale=1.0, mask=None, fill=-np.inf, added=0.0):
    """In long double, by NumPy, of k with positions along its second last axis."""
    with np.errstate(all="ignore"):
        scores = np.matmul(q.astype("longdouble"), np.swapaxes(k, -1, -2)) * scale
        scores = (scores if mask is None else np.where(mask, scores, fill)) + added
        e = np.exp(scores - np.max(scores, axis=-1, keepdims=True, initial=-np.inf))
        return np.matmul(e / e.sum(axis=-1, keepdims=True), v)


def spellings(qs, k, v, mask, added):
    """name -> (attention as users write it, op expected, as `meaning` is told); each of a q of its own."""
    products = (T.matmul(q, T.transpose(k, (0, 1, 3, 2))) for q in qs)
    low = np.array(-np.inf, k.dtype)
    return {
        "plain": (T.matmul(nn.softmax(next(products)), v), Attention(), {}),
        "scaled": (T.matmul(nn.softmax(next(products) * 0.25), v), Attention(), {"scale": 0.25}),
        "divided": (T.matmul(nn.softmax(next(products) / 3), v), Attention(), {"scale": 1 / 3}),
        "keep": (T.matmul(nn.softmax(T.where(mask, next(products) / 4, low)), v), Attention("keep"),
                 {"scale": 0.25, "mask": True}),
        "drop": (T.matmul(nn.softmax(T.where(mask, -9.0, next(products))), v), Attention("drop"),
                 {"mask": False, "fill": -9.0}),
        "added": (T.matmul(nn.softmax(next(products) * 0.5 + added), v), Attention("", True),
                  {"scale": 0.5, "added": True}),
        "both": (T.matmul(nn.softmax(added + T.where(mask, next(products), low)), v), Attention("keep", True),
                 {"mask": True, "added": True}),
    }  # fmt: skip


@pytest.fixture(scope="module", params=["float32", "float64"])
def compiled(request):
    dtype = request.param
    qs, (_, k, v) = [T.tensor(f"q{i}", dtype, ANY) for i in range(7)], stacks(dtype, ANY, ANY, ANY)
    mask, added = T.tensor("mask", "bool", (None, None)), T.tensor("added", dtype, (None, 1, None, None))
    found = spellings(qs, k, v, mask, added)
    inputs, outputs = [*qs, k, v, mask, added], [y for y, _, _ in found.values()]
    f, two = (ag.function(inputs, outputs, threads=threads) for threads in (1, 2))
    made = [op for op in ops_of(f) if isinstance(op, Attention)]
    assert sorted(map(repr, made)) == sorted(repr(op) for _, op, _ in found.values())
    return dtype, found, f, two


@given(
    st.tuples(st.integers(1, 2), st.integers(1, 3)), st.sampled_from([1, 2, 3, 65, 130]),
    st.sampled_from([0, 1, 5, 17, 256, 300]), st.sampled_from([0, 1, 4, 33]), st.sampled_from([0, 1, 19, 40]),
    st.booleans(), st.randoms(use_true_random=True),
)  # fmt: skip
@settings(max_examples=25)
def test_values_are_numpys(compiled, batch, m, n, d, e, strided, random):
    dtype, found, f, two = compiled
    rng = np.random.default_rng(random.getrandbits(32))
    shapes = [(*batch, m, d), (1, batch[1], n, d), (*batch, n, e)]
    arrays = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    if strided:
        arrays = [np.asfortranarray(a) for a in arrays[:2]] + [np.repeat(arrays[2], 2, axis=3)[..., ::2]]
    mask = rng.random((m, n)) < 0.5
    mask[: m // 2, : n // 2] = False
    added = rng.normal(size=(1, 1, 1, n)).astype(dtype)
    given = [arrays[0]] * 7 + [*arrays[1:], mask, added]
    got = f(*given)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(two(*given), got, strict=True))
    for y, (name, (_, _, reported)) in zip(got, found.items(), strict=True):
        reported = dict(reported, **({"mask": mask == reported["mask"]} if "mask" in reported else {}))
        reported = dict(reported, **({"added": added} if "added" in reported else {}))
        expected = meaning(*arrays, **reported) if n else np.zeros((*batch, m, e))
        assert y.dtype == dtype and y.shape == expected.shape, name
        np.testing.assert_allclose(y, expected, rtol=0, atol=40 * np.finfo(dtype).eps * max(n, d, 4), err_msg=name)


def test_special_values_are_those_of_the_graph():
    q, k, v = stacks("float32", (2, None, 8), (2, None, 8), (2, None, 5))
    mask = T.tensor("mask", "bool", (None, None))
    y = T.matmul(nn.softmax(T.where(mask, T.matmul(q, T.transpose(k, (0, 2, 1))), np.float32(-np.inf))), v)
    f, plain = ag.function([q, k, v, mask], y), ag.function([q, k, v, mask], y, mode="fast_run -attention")
    assert attention_of(f) and not attention_of(plain)
    arrays = [RNG.normal(size=(2, 600, size)).astype("float32") for size in (8, 8, 5)]
    causal = np.tri(600, dtype=bool)
    causal[5] = False  # a row of -inf alone
    for stack, place, value in (
        (0, (0, 3, 2), np.nan), (0, (1, 4, 2), np.inf), (1, (0, 400, 1), np.nan), (1, (1, 0, 1), 3e38),
        (2, (0, 599, 0), np.inf), (2, (1, 300, 4), np.nan), (2, (1, 0, 1), -np.inf), (0, (1, 9, 3), -3e38),
    ):  # fmt: skip
        given = [a.copy() for a in arrays]
        given[stack][place] = value
        got, expected = f(*given, causal), plain(*given, causal)
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5, err_msg=f"{stack} {place} {value}")
        assert np.isnan(got[:, 5]).all()


@pytest.mark.parametrize("dtype, low", [("float32", -95.0), ("float64", -725.0)])
@pytest.mark.parametrize("large", [(), (0,), (300,), (0, 300)])
def test_small_shares_keep_their_digits_beside_any_values(dtype, low, large):
    """Shares that are subnormal; the blocks from 0 and from 256 on have values too large for lifted exponentials."""
    q, k, v, added = (T.tensor(name, dtype, ANY[1:]) for name in "qkva")
    f = ag.function([q, k, v, added], T.matmul(nn.softmax(T.matmul(q, k) + added), v))
    assert attention_of(f) == Attention("", True)
    top = float(np.finfo(dtype).max) / 4
    arrays = [RNG.normal(size=shape).astype(dtype) for shape in ((1, 40, 3), (1, 3, 400), (1, 400, 5))]
    arrays[2][:, :, 1] = 0
    arrays[2][:, list(large), 0] = top
    shares = np.where(np.arange(400) == 7, 0, low).astype(dtype) * np.ones((1, 40, 1), dtype)
    arrays[2][:, 7, 2] = 0  # only small shares meet numbers of this column
    arrays[2][:, :, 2] *= 1e8
    got, expected = f(*arrays, shares), meaning(arrays[0], np.swapaxes(arrays[1], 1, 2), arrays[2], added=shares)
    eps, tiny = np.finfo(dtype).eps, np.finfo(dtype).smallest_subnormal
    errors = np.abs(got - expected) / (np.abs(expected).max(axis=(0, 1)) + tiny)
    assert np.isfinite(got).all() and (errors[..., (0, 1, 3, 4)] < 200 * eps).all()
    assert (errors[..., 2] < (0.5 if large else 1000 * eps)).all()


def test_mask_of_more_rows_than_scores_widens_them():
    q, k, v = stacks("float64", (None, 3), (None, 3), (None, 2))
    added = T.matrix("added")
    f = ag.function([q, k, v, added], T.dot(nn.softmax(T.dot(q, k.T) + added), v))
    assert attention_of(f)
    arrays = [RNG.normal(size=shape) for shape in ((1, 3), (7, 3), (7, 2), (4, 7))]
    np.testing.assert_allclose(f(*arrays), meaning(*arrays[:3], added=arrays[3]).astype("float64"), rtol=1e-12)
    with pytest.raises(ValueError, match="length"):
        f(arrays[0], arrays[1], arrays[2][:6], arrays[3])


@pytest.mark.long
def test_constant_addends_are_added_ahead():
    """A bias and the mask of shifted windows, whose scores of -100 or -inf are left out; sums that overflow are not."""
    x, k, v = stacks("float32", (4, 40, 8), (4, 8, 40), (4, 40, 8))
    bias, far = RNG.normal(size=(1, 40, 40)).astype("float32"), np.float32(-3e38)
    masked = np.where(np.arange(40) < 30, 0, -np.inf).astype("float32")
    near = np.where(np.arange(4)[:, None, None] < 2, -100, RNG.normal(size=(4, 40, 1))).astype("float32")
    arrays = [RNG.normal(size=i.type.shape).astype("float32") for i in (x, k, v)]
    for addends, fuses in (([bias, near], True), ([bias, masked, near], True), ([near + far, bias * 0 + far], False)):
        scores = T.matmul(x, k)
        for addend in addends:
            scores = T.constant(addend) + scores
        y = T.matmul(nn.softmax(scores), v)
        f, plain = ag.function([x, k, v], y), ag.function([x, k, v], y, mode="fast_run -attention")
        assert (attention_of(f) is not None) == fuses and not attention_of(plain)
        np.testing.assert_allclose(f(*arrays), plain(*arrays), rtol=1e-4, atol=1e-5)


def test_graphs_that_keep_their_scores():
    q, k, v = stacks("float64", (None, 3), (None, 3), (None, 2))
    shares = nn.softmax(T.dot(q, k.T))
    few = T.tensor("few", "float64", (1, 3))
    little = [T.tensor(name, "float64", (20, 6)) for name in "abc"]
    for inputs, outputs in (
        ([q, k, v], [T.dot(shares, v), shares]),  # read elsewhere
        ([q, k, v], [T.dot(nn.softmax(T.dot(q, k.T), axis=0), v)]),
        ([few, k, v], [T.dot(nn.softmax(T.dot(few, k.T)), v)]),  # one row
        (little, [T.dot(nn.softmax(T.dot(little[0], little[1].T)), little[2])]),
        ([q, k, v], [T.dot(nn.softmax(T.tanh(T.dot(q, k.T))), v)]),
        ([q, k, v], [ag.grad(T.sum(T.dot(shares, v) ** 2), k)]),  # derivatives read the shares
    ):
        assert attention_of(ag.function(inputs, outputs)) is None


def test_onnx_has_the_unfused_graph_which_becomes_one_op_again():
    pytest.importorskip("onnx")
    q, k, v = stacks("float32", (1, 2, None, 8), (1, 2, None, 8), (1, 2, None, 5))
    mask = T.tensor("mask", "bool", (None, None))
    scores = T.matmul(q, T.transpose(k, (0, 1, 3, 2))) / np.float32(8**0.5)
    y = T.matmul(nn.softmax(T.where(mask, scores, np.float32(-1e9))), v)
    for optimized in (False, True):
        model = ag.to_onnx({"y": y}, optimized=optimized)
        assert [node.op_type for node in model.graph.node].count("Softmax") == 1
    f = ag.from_onnx(model).function()
    assert attention_of(f) == Attention("keep")
    assert attention_of(ag.function([q, k, v, mask], y, mode="NUMPY")) is None  # which holds the scores anyway
    arrays = [RNG.normal(size=(1, 2, 40, size)).astype("float32") for size in (8, 8, 5)]
    causal = np.tri(40, dtype=bool)
    by_name = dict(zip("qkv", arrays, strict=True), mask=causal)
    expected = meaning(*arrays, scale=8**-0.5, mask=causal, fill=-1e9).astype("float64")
    np.testing.assert_allclose(f(**by_name), expected, rtol=1e-5, atol=1e-6)


def test_meaning_and_derivative_are_those_of_the_unfused_graph():
    arrays = [RNG.normal(size=shape) for shape in ((2, 4, 3), (3, 5), (2, 5, 2), (), (4, 5), (), (2, 1, 5))]
    arrays[4] = arrays[4] > 0
    op = Attention("drop", True)
    inputs = [T.tensor(f"x{i}", a.dtype.name, a.shape) for i, a in enumerate(arrays)]
    y = op(*inputs)
    assert T.evaluate([y], dict(zip(inputs, arrays, strict=True)))[0].shape == (2, 4, 2)
    f = ag.function(inputs, [y, op.meaning(*inputs), ag.grad(T.sum(y), inputs[0]),
                             ag.grad(T.sum(op.meaning(*inputs)), inputs[0])], mode="NUMPY")  # fmt: skip
    got, expected, gradient, wanted = f(*arrays)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-12)


def test_wrong_operands_are_named():
    q, k, v = stacks("float64", (4, 3), (3, 5), (5, 2))
    one = T.constant(1.0)
    for op, inputs, message in (
        (Attention("some"), (q, k, v, one), "mask must be one of"), (Attention(), (q, k, v), "takes 4 inputs, got 3"),
        (Attention(), (q, k, v, T.vector()), "a scale that is a number"),
        (Attention("keep"), (q, k, v, one, q, one), "a mask of bools"),
        (Attention(), (q, k, T.matrix("w", "float32"), one), "float32 or float64"),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=message):
            op(*inputs)
