"""Weights stored in 16 bits: values, what is stored and what is not, sizes of bundles, refusals."""

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.records import from_bfloat16
from arignote.ops.elementwise.special import to_bfloat16

RNG = np.random.default_rng(4)
FORMATS = ["float16", "bfloat16"]


def numbers(*shape):
    return (RNG.standard_normal(shape) * 0.1).astype("float32")


def rounded(x, storage):
    if storage == "float16":
        return x.astype("float16").astype("float32")
    return from_bfloat16.evaluate(to_bfloat16(x))[0]


def stored(f):
    return sorted(c.dtype for c in f.graph.constants if c.data.size >= 1024)


W, V, TABLE = numbers(64, 100), numbers(100, 40), numbers(300, 64)
X = T.fmatrix("x")
CASES = {
    "unknown rows": (X, lambda w, v, t: T.tanh(X @ w) @ v, numbers(7, 64)),
    "one row": (Y := T.tensor("x", "float32", (1, 64)), lambda w, v, t: T.tanh(Y @ w) @ v, numbers(1, 64)),
    "a vector": (Z := T.fvector("x"), lambda w, v, t: T.tanh(Z @ w) @ v, numbers(64)),
    "rows of a table": (I := T.lvector("x"), lambda w, v, t: t[I] @ w, np.array([0, 299, 7])),
    "a loop": (
        X, lambda w, v, t: ag.scan(lambda s: T.tanh(s @ t[:64]), outputs_info=X, n_steps=3)[0][-1] @ w, W[:5, :64]
    ),
}  # fmt: skip


@pytest.mark.parametrize("storage", mostly_long(FORMATS, {"bfloat16"}))
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_rounded_weights(name, storage):
    x, network, value = CASES[name]
    weights = [ag.shared(w) for w in (W, V, TABLE)]
    f = ag.freeze(network(*weights), inputs=[x], storage=storage)
    exact = ag.freeze(network(*(T.constant(rounded(w, storage)) for w in (W, V, TABLE))), inputs=[x], mode="NUMPY")
    np.testing.assert_allclose(f(value), exact(value), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ag.freeze(network(*weights), inputs=[x], storage=storage, mode=ag.Mode(backend="numpy"))(
        value), exact(value), rtol=1e-5, atol=1e-6)  # fmt: skip
    assert name == "a loop" or set(stored(f)) == {"float16" if storage == "float16" else "uint16"}


def test_normalizations_are_folded_before_weights_are_rounded():
    x, kernels, scale = T.ftensor4("x"), numbers(32, 8, 3, 3), numbers(32) + 1
    y = T.nn.conv2d(x, ag.shared(kernels), padding=1) * ag.shared(scale.reshape(-1, 1, 1))
    folded = (kernels.astype("float64") * scale.reshape(-1, 1, 1, 1)).astype("float32")
    expected = ag.freeze(T.nn.conv2d(x, rounded(folded, "float16"), padding=1), mode="NUMPY")
    f, image = ag.freeze(y, storage="float16"), numbers(2, 8, 6, 7)
    np.testing.assert_allclose(f(image), expected(image), rtol=1e-5, atol=1e-5)
    assert stored(f) == ["float16"]


def test_what_the_format_cannot_hold_stays_float32():
    big, small = np.full((64, 64), 7e4, "float32"), numbers(8, 8)
    f = ag.freeze(T.fmatrix("a") @ ag.shared(big) + T.fmatrix("b") * ag.shared(small).sum(), storage="float16")
    assert {c.dtype for c in f.graph.constants if c.data.ndim} <= {"float32"}
    infinite = np.full((64, 64), np.inf, "float32")
    infinite[0, 0] = np.nan
    g = ag.freeze(T.fmatrix("a") @ ag.shared(infinite), storage="bfloat16")
    assert stored(g) == ["uint16"]
    np.testing.assert_array_equal(g(np.ones((1, 64), "float32"))[0, :2], [np.nan, np.inf])


def test_the_bundle_halves(tmp_path):
    if ag.function([X], X + 1).backend != "c":
        pytest.skip("no compiler")
    y = T.tanh(X @ ag.shared(W)) @ ag.shared(V)
    sizes = [(ag.freeze(y, storage=s).export(tmp_path / str(s)), s)[0] for s in (None, "float16", "bfloat16")]
    whole, *half = [sum(file.stat().st_size for file in folder.glob("*.weights")) for folder in sizes]
    assert all(size < 0.55 * whole for size in half)


def test_bfloat16_is_the_upper_half_of_float32():
    bits = np.arange(65536, dtype="uint16")
    f = ag.function([b := T.vector("b", "uint16")], from_bfloat16(b))
    np.testing.assert_array_equal(f(bits).view("uint32"), bits.astype("uint32") << 16)
    values = RNG.integers(0, 2**32, 20000, dtype="uint64").astype("uint32").view("float32")
    assert np.isnan(from_bfloat16.evaluate(to_bfloat16(values))[0][np.isnan(values)]).all()
    values = values[(np.abs(values) < 3.3e38) & (np.abs(values) > 1e-37)]
    again = from_bfloat16.evaluate(to_bfloat16(values))[0]
    assert (np.abs(again - values) <= 2.0**-8 * np.abs(values)).all()
    np.testing.assert_array_equal(
        to_bfloat16(np.array([1 + 2**-8, 1 + 3 * 2**-8, np.inf], "float32")), [0x3F80, 0x3F82, 0x7F80]
    )


@pytest.mark.parametrize("storage", FORMATS)
def test_products_read_weights_of_16_bits_for_any_number_of_rows(storage):
    """Bits of a row depend neither on other rows nor on threads; a narrow matrix is widened before its product."""
    table, w = numbers(1101, 333), numbers(1101, 3)
    wide = [ag.freeze(X @ ag.shared(table), storage=storage, threads=n) for n in (1, 2)]
    assert all([node.op.name for node in f.graph.order].count("widened_dot") == 1 for f in wide)
    x = numbers(17, 1101)
    whole = wide[0](x)
    np.testing.assert_allclose(whole, x @ rounded(table, storage), rtol=1e-5, atol=1e-5)
    for f in wide:
        for first, end in ((0, 1), (3, 5), (2, 9), (16, 17), (0, 0)):
            np.testing.assert_array_equal(f(x[first:end]).view("uint32"), whole[first:end].view("uint32"))
    np.testing.assert_array_equal(wide[1](np.asfortranarray(x)), whole)
    narrow = ag.freeze(X @ ag.shared(w), storage=storage)
    assert "widened_dot" not in [node.op.name for node in narrow.graph.order]
    np.testing.assert_allclose(narrow(x), x @ rounded(w, storage), rtol=1e-5, atol=1e-6)


@pytest.mark.few(2)
@pytest.mark.parametrize("storage", FORMATS)
@pytest.mark.parametrize("rows", [(), (1,), (5,), (None,)])
def test_sums_with_products_read_weights_of_16_bits(rows, storage):
    """Products that BLAS adds to another operand: a bias of many numbers, a residual, a scaled one."""
    x, r = T.tensor("x", "float32", (*rows, 70)), T.tensor("r", "float32", (*rows, 1200))
    w, v, bias = numbers(70, 1200), numbers(1200, 70), numbers(1200)
    given = [numbers(*(n or 3 for n in rows), length) for length in (70, 1200)]

    def network(w, v, bias):
        return [x @ w + bias, r + x @ w, 2 * (x @ w) - 3 * r, x + (r + x @ w) @ v, 0.5 * (r @ v)]

    f = ag.freeze(network(*map(ag.shared, (w, v, bias))), inputs=[x, r], storage=storage)
    exact = ag.freeze(network(*(T.constant(rounded(a, storage)) for a in (w, v, bias))), inputs=[x, r], mode="NUMPY")
    for found, wanted in zip(f(*given), exact(*given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    assert not {node.op.name for node in f.graph.order} & {"dot", "dot22", "dot22scalar", "gemm", "gemv"}


@pytest.mark.parametrize("storage", FORMATS)
def test_the_product_of_one_row_has_the_weights_of_all_bits(storage):
    """Each finite weight of 16 bits times 1, subnormal ones too."""
    bits = np.arange(65536, dtype="uint16")
    w = bits.view("float16").astype("float32") if storage == "float16" else from_bfloat16.evaluate(bits)[0]
    w = w[np.isfinite(w)][None]
    f = ag.freeze(T.tensor("x", "float32", (1, 1)) @ ag.shared(w), storage=storage)
    np.testing.assert_array_equal(f(np.ones((1, 1), "float32")), w)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"storage": "int8"}, "storage is 'int8'; expected one of float16, bfloat16, or None"),
        ({"storage": "float16", "mode": "NUMPY"}, "the mode NUMPY runs no optimizer"),
        ({"storage": "float16", "mode": "DEBUG"}, "the mode DEBUG compares each call with unrounded weights"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(ValueError, match=message):
        ag.freeze(X + 1, **options)
