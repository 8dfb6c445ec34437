"""`ag.quantize`: accuracy on the digits, values, layers kept in float32, the table, refusals."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from compiled import product_names
from digits_cnn import DIGITS, trained
from draws import mostly_long

import arignote as ag
from arignote import ops as T
from arignote.networks.calibration import SCHEMES

RNG = np.random.default_rng(5)
SAMPLES = [DIGITS.train_images[k * 100 : (k + 1) * 100] for k in range(4)]


def numbers(*shape):
    return RNG.standard_normal(shape).astype("float32")


@pytest.fixture(scope="module")
def net():
    return trained()


@pytest.mark.long
@pytest.mark.parametrize("scheme", mostly_long(SCHEMES, {*SCHEMES} & {"percentile"}))
def test_accuracy_on_the_digits_stays_within_a_third_of_a_point(net, scheme):
    f = ag.quantize(net.logits, SAMPLES, scheme)
    assert net.accuracy_on_variants(f) >= net.accuracy_on_variants(ag.freeze(net.logits)) - 0.003
    assert len(f.layers) == 4
    assert f.layers.error < 0.012
    assert not any(row.kept for row in f.layers)


@pytest.mark.long
def test_results_are_those_of_rounded_operands(net):
    f, images = ag.quantize(net.logits, SAMPLES), DIGITS.test_images[:50]
    by_numpy = ag.quantize(net.logits, SAMPLES, mode="NUMPY")(images)
    equal = np.isclose(f(images), by_numpy, rtol=1e-3, atol=1e-3 * np.abs(by_numpy).max()).all(axis=1)
    # The weights are trained here, so their bits depend on the processor: in one image an activation may lie so near a
    # tie that the sums of C and of NumPy round to different integers.
    assert equal.sum() >= len(images) - 1
    np.testing.assert_allclose(f(images), by_numpy, atol=0.01 * np.abs(by_numpy).max())
    exact = ag.freeze(net.logits)(images)
    assert 1e-4 < np.sqrt(np.square(f(images) - exact).mean() / np.square(exact).mean()) < 0.012


@pytest.mark.long
def test_layers_stay_in_float32_by_name_number_and_for_a_goal(net):
    named = ag.quantize(net.logits, SAMPLES[:1], keep=[0, "W2"])
    assert [row.kept for row in named.layers] == [True, False, False, True]
    goal = 0.7 * ag.quantize(net.logits, SAMPLES[:1]).layers.error
    near = ag.quantize(net.logits, SAMPLES[:1], goal=goal)
    assert near.layers.error <= goal
    worst = max(near.layers, key=lambda row: row.error)
    assert worst.kept
    assert sum(row.kept for row in near.layers) < 4
    asked = []
    by_score = ag.quantize(net.logits, SAMPLES[:1], goal=lambda f: asked.append(net.accuracy(f)) or len(asked) > 1)
    assert len(asked) == 2
    assert sum(row.kept for row in by_score.layers) == 1


@pytest.mark.long
def test_the_table_prints_draws_and_measures(net):
    layers = ag.quantize(net.logits, SAMPLES[:1], keep=[1]).layers
    text = str(layers)
    assert text.startswith("3 of 4 layers in 8 bits, relative error of the results")
    assert all(word in text for word in ("K1", "0 to 1", "int8", "float32"))
    assert layers.svg().count("<rect") == 5
    assert "<table" in layers._repr_html_()
    assert "us" in str(layers.measure(calls=1, rounds=1))
    assert "cnn.py" in layers[0].line


@pytest.mark.long
def test_bias_correction_restores_the_means():
    x, w = T.fmatrix("x"), np.full((64, 8), 0.3, "float32")
    w[0] = 127.4 / 127  # all others are rounded in the same direction
    samples = [np.abs(numbers(n, 64)) for n in (300, 0, 100)]
    off = []
    for correction in (False, True):
        f = ag.quantize(x @ w, samples, bias_correction=correction)
        off.append(np.abs(sum((f(s) - s @ w).sum(0) for s in samples)).max())
    assert off[1] < 0.05 * off[0]


@pytest.mark.long
def test_functions_with_several_inputs_and_results_keep_their_form():
    a, b = T.fmatrix("a"), T.fmatrix("b")
    w = ag.shared(numbers(6, 3), name="w")
    count = ag.shared(0)
    step = ag.function([a, b], {"y": a @ w + T.nn.dropout(b, 0.5, T.random.RandomStream(1)), "b": b},
                       updates=[(count, count + 1)])  # fmt: skip
    call = numbers(4, 6), numbers(4, 3)
    f = ag.quantize(step, [call])
    assert list(f(*call)) == ["y", "b"]
    np.testing.assert_allclose(f(*call)["y"], call[0] @ w.get_value() + call[1], atol=0.1)
    assert count.get_value() == 0
    assert f.layers[0].name == "w"
    assert ag.freeze(step).layers is None


@pytest.mark.long
def test_other_engines_get_integers_and_scales(net):
    f, images = ag.quantize(net.logits, SAMPLES), DIGITS.test_images[:50]
    pytest.importorskip("onnx")
    model = ag.to_onnx(f)
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("QuantizeLinear") == 4 and kinds.count("DequantizeLinear") == 8
    assert sum(w.data_type == w.INT8 and len(w.dims) > 1 for w in model.graph.initializer) == 4
    session = pytest.importorskip("onnxruntime").InferenceSession(model.SerializeToString())
    Path(tempfile.gettempdir(), ".ses").unlink(missing_ok=True)  # it leaves one
    (found,) = session.run(None, {session.get_inputs()[0].name: images})
    np.testing.assert_allclose(found, f(images), rtol=1e-3, atol=2e-2 * np.abs(found).max())


Y = T.fmatrix("y")
W = numbers(6, 3)
MISTAKES = {
    "no samples": (lambda: ag.quantize(Y @ W, []), ValueError, "samples is empty"),
    "an array": (lambda: ag.quantize(Y @ W, numbers(2, 6)), TypeError, "samples is ndarray; expected a list"),
    "arguments": (lambda: ag.quantize(Y @ W, [(W, W)]), TypeError, "sample 0 has 2 arguments, expected 1: y"),
    "shape": (lambda: ag.quantize(Y @ W, [numbers(2, 6), numbers(2, 5)]), ValueError, "sample 1 does not fit:"),
    "rank": (lambda: ag.quantize(Y @ W, [numbers(6)]), TypeError, "sample 0 does not fit:"),
    "NaN": (
        lambda: ag.quantize(Y @ W, [numbers(2, 6), np.full((1, 6), np.nan, "float32")]), ValueError,
        "sample 1 gives a NaN as input of layer 0",
    ),
    "infinity": (
        lambda: ag.quantize(T.exp(Y) @ W, [np.full((1, 6), 1e3, "float32")]), ValueError, "sample 0 gives an infinity"
    ),
    "no layers": (lambda: ag.quantize(Y + 1, [W]), ValueError, "there is no convolution or product"),
    "empty": (lambda: ag.quantize(Y @ W, [numbers(0, 6)]), ValueError, "the samples hold no values"),
    "scheme": (lambda: ag.quantize(Y @ W, [W.T], "best"), ValueError, "scheme is 'best'; expected one of minmax"),
    "keep": (lambda: ag.quantize(Y @ W, [numbers(2, 6)], keep=["u"]), ValueError, "keep has 'u'; expected numbers or"),
    "goal": (lambda: ag.quantize(Y @ W, [numbers(2, 6)], goal=0), TypeError, "goal is 0; expected a positive number"),
    "no way": (
        lambda: ag.quantize(Y @ W, [numbers(2, 6)], goal=lambda f: False), ValueError, "the goal is not met"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    call, error, message = MISTAKES[name]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme", ["minmax", "mse"])
def test_weights_of_4_bits_stay_packed(net, scheme):
    """Products alone, with inputs in float32; the table tells the bits."""
    f = ag.quantize(net.logits, SAMPLES[:2], scheme, weights="int4", block=16)
    assert net.accuracy_on_variants(f) >= net.accuracy_on_variants(ag.freeze(net.logits)) - 0.003
    assert [row.bits for row in f.layers] == [4] * len(f.layers)
    assert "of 2 layers in 4 bits" in str(f.layers)
    assert product_names(f).count("nibble_product") == 2
    assert f.layers.error < 0.1
    images = DIGITS.test_images[:20]
    by_numpy = ag.quantize(net.logits, SAMPLES[:2], scheme, weights="int4", block=16, mode="NUMPY")(images)
    np.testing.assert_allclose(f(images), by_numpy, rtol=1e-4, atol=1e-4 * np.abs(by_numpy).max())


def test_weights_of_4_bits_refuse_bad_input():
    x = T.tensor("x", "float32", (1, 1, 4, 4))
    y = T.nn.conv2d(x, numbers(2, 1, 3, 3))
    with pytest.raises(ValueError, match="there is no product of float32 with constant weights"):
        ag.quantize(y, [numbers(1, 1, 4, 4)], weights="int4")
    with pytest.raises(ValueError, match="weights is 'int2'; expected one of int8, int4"):
        ag.quantize(y, [numbers(1, 1, 4, 4)], weights="int2")
    with pytest.raises(ValueError, match="block is 12; expected a positive multiple of 8"):
        ag.quantize(y, [numbers(1, 1, 4, 4)], weights="int4", block=12)
