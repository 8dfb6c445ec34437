"""PyTensor's graphs under `mode="ARIGNOTE"`: results beside those of PyTensor's own Python linker."""

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")

import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.mode import Mode, get_mode  # noqa: E402
from pytensor.raise_op import Assert, CheckAndRaise  # noqa: E402
from pytensor.scalar.basic import UnaryScalarOp, upgrade_to_float_no_complex  # noqa: E402
from pytensor.scan.utils import until as until_  # noqa: E402
from pytensor.tensor.elemwise import Elemwise  # noqa: E402

import arignote.frontends.pytensor as door  # noqa: E402
from arignote.frontends.pytensor import building, table, versions  # noqa: E402
from arignote.ops.random.numpy_draws import DISTRIBUTIONS, NumpyDraw  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning"),
    pytest.mark.filterwarnings("ignore:RandomVariable Ops will stop hiding the rng:DeprecationWarning"),
]
OWN = Mode("py", None)
"""PyTensor's graph as it is, by the `perform` of each op."""
STRICT = Mode(door.ArignoteLinker(strict=True), door.QUERY)


@pytest.fixture(autouse=True)
def _without_cxx():
    """Inner graphs of PyTensor's own run compile no C."""
    with pytensor.config.change_flags(cxx="", linker="py", mode="FAST_COMPILE"):
        yield


def same(inputs, outputs, values, mode=STRICT, tolerance=1e-12):
    """Compile both ways and compare dtypes, shapes and values."""
    ours = pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*values)
    theirs = pytensor.function(inputs, outputs, mode=OWN, on_unused_input="ignore")(*values)
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert (np.asarray(a).dtype, np.shape(a)) == (np.asarray(b).dtype, np.shape(b)), outputs[k]
        close = max(tolerance, 3 * np.finfo(a.dtype).eps if np.asarray(a).dtype.kind in "fc" else 0)
        np.testing.assert_allclose(a, b, rtol=close, atol=close, err_msg=str(outputs[k]))
    return ours


x, y, m, q = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m"), pt.dtensor3("q")
i, b, k = pt.lvector("i"), pt.bvector("b"), pt.lscalar("k")
INPUTS = [x, y, m, q, i, b, k]
VALUES = [
    np.array([0.3, -1.7, 2.5, 0.9]), np.array([1.2, 0.4, -0.6, 0.9]), np.arange(12.0).reshape(3, 4) / 7 - 0.5,
    np.sin(np.arange(24.0)).reshape(2, 3, 4), np.array([2, 0, 3, 2]), np.array([3, -4, 7, 2], np.int8), np.int64(2),
]  # fmt: skip

ELEMENTWISE = [
    x + y, x - i, b * i, x / y, i / b, i // b, x // y, i % b, x % y, x**2, abs(x) ** y, i**2, pt.maximum(x, y),
    pt.minimum(i, b), pt.clip(x, -1, y), pt.switch(i > 1, x, b), pt.abs(b), pt.sign(x), pt.sign(b), pt.ceil(x),
    pt.floor(x), pt.trunc(x), pt.round(x, mode="half_to_even"), pt.round(x, mode="half_away_from_zero"), -x, 1 / y,
    pt.exp(b), pt.exp(x), pt.exp2(x), pt.expm1(x), pt.log(abs(x)), pt.log2(abs(x)), pt.log10(abs(x)), pt.log1p(abs(x)),
    pt.sqrt(abs(b)), pt.sqr(x), pt.deg2rad(x), pt.rad2deg(x), pt.sin(x), pt.cos(x), pt.tan(x), pt.arcsin(x / 3),
    pt.arccos(x / 3), pt.arctan(x), pt.arctan2(x, y), pt.sinh(x), pt.cosh(x), pt.tanh(x), pt.arcsinh(x),
    pt.arccosh(abs(x) + 1), pt.arctanh(x / 3), pt.eq(i, b), pt.neq(x, y), x < y, x <= y, x > y, x >= i, pt.isnan(x / 0),
    pt.isinf(x / 0), i & b, i | b, i ^ b, ~i, pt.and_(x > 0, y > 0), pt.erf(x), pt.erfc(x), pt.gamma(abs(x)),
    pt.gammaln(abs(x)), pt.psi(abs(x)), pt.tri_gamma(abs(x)), pt.sigmoid(x), pt.softplus(x), pt.log1mexp(-abs(x)),
    pt.cast(x, "int32"), pt.cast(x, "float32"), pt.second(x, y),
    pt.complex(x, y).real, pt.imag(pt.complex(x, y) * 2), pt.angle(pt.complex(x, y)), pt.conj(pt.complex(x, y)).imag,
    *([pt.special.xlogy(i, abs(x)), pt.special.xlog1py(i, abs(x)), pt.logaddexp(x, y), pt.special.xlogy(i, np.nan * x)]
      if versions.THIRD else [pt.xlogx.xlogx(abs(x)), pt.xlogx.xlogy0(i, abs(x)), pt.xlogx.xlogy0(i, np.nan * x)]),
]  # fmt: skip


def test_scalar_ops_mean_the_scipy_function_that_they_name():
    """As PyMC's `i1e` does, of the density of Rice's distribution."""

    class Named(UnaryScalarOp):
        nfunc_spec = ("scipy.special.i1e", 1, 1)

        def impl(self, v):
            raise AssertionError("scipy.special.i1e is called in its place")

    named = Elemwise(Named(upgrade_to_float_no_complex, name="named"))
    same([x, b], [named(x), named(b)], VALUES[:1] + VALUES[5:6])


def test_elementwise():
    same(INPUTS, ELEMENTWISE, VALUES)


REDUCTIONS = [
    m.sum(), m.sum(0), m.sum((0, 1)), q.sum((0, 2)), m.prod(1), m.max(0), m.min(), q.max((1, 2)), (m > 0).all(1),
    (m > 0).any(), b.sum(), b.prod(), (b > 0).sum(), m.mean(0), m.var(1), pt.argmax(m, 1), pt.argmin(m), pt.argmax(m),
    pt.max_and_argmax(m, 0)[1], pt.special.softmax(m, axis=1), pt.special.log_softmax(m, axis=0),
    pt.special.softmax(m, axis=None), pt.logsumexp(m, axis=1), pt.cumsum(m, 0), pt.cumprod(m), pt.sort(m, 1),
    pt.argsort(x, kind="stable"), pt.searchsorted(pt.sort(y), x), pt.unique(i), *pt.unique(i, True, True, True),
    pt.dot(m, x), pt.dot(m, m.T), pt.dot(x, y), pt.matmul(q, x), pt.outer(x, y), pt.tensordot(q, m, [[1, 2], [0, 1]]),
    pt.matmul(q, q.transpose(0, 2, 1)), pt.einsum("ijk,jk->ik", q, m), pt.diff(x), pt.bincount(i), pt.median(x),
]  # fmt: skip


def test_reductions_and_products():
    same(INPUTS, REDUCTIONS, VALUES)


SHAPES = [
    m.T, q.transpose(2, 0, 1), m.dimshuffle(0, "x", 1), m.reshape((2, -1)), m.reshape((k, 6)), q.flatten(2), m.shape,
    m.shape[0], pt.specify_shape(m, (3, None)), pt.stack([x, y]), pt.concatenate([m, m[:1]], axis=0),
    *pt.split(m, [1, 2], n_splits=2, axis=0), pt.alloc(x, 3, 4), pt.full((k, 2), 1.5), pt.zeros_like(m),
    pt.arange(k + 3),
    pt.arange(0.0, 2.0, 0.3), pt.eye(3, k + 2, 1), pt.diagonal(m), pt.diag(x), pt.tril(m), pt.triu(m, 1),
    pt.repeat(x, 2), pt.repeat(x, i), pt.tile(m, (2, 1)), pt.roll(x, 1), pt.flip(x), *pt.nonzero(m > 0),
    pt.broadcast_to(x, (3, 4)), pt.squeeze(m[:1]), pt.expand_dims(m, 1), pt.atleast_2d(x),
    pt.pad(x, 2, mode="constant"),
    pt.pad(m, ((1, 0), (0, 2)), mode="edge"), pt.fill_diagonal(m, 9.0), pt.extra_ops.fill_diagonal_offset(m, 9.0, 1),
    *pt.unravel_index(i, (2, 3)), pt.ravel_multi_index((i % 2, i % 3), (2, 3)), pt.bartlett(7), pt.linspace(0, 1, 5),
    pt.geomspace(1, 8, 4), pt.join_dims(q, 1, 2), pt.basic.alloc_diag(q, offset=-1, axis1=1, axis2=3),
]  # fmt: skip


def test_shapes():
    same(INPUTS, SHAPES, VALUES)


INDEXING = [
    x[k], x[1:], x[::-1], x[k:], x[-k:], x[:k:2], m[1], m[:, 1], m[::2, ::-1], m[k, 1:k], x[i], m[:, i], m[[0, 2], 1:],
    m[pt.as_tensor([0, 2]), i[:2]], m[m > 0], q[:, i % 3, i % 4], q[1, :, i % 4], q[i % 2, :, i % 4], x[i > 1],
    m[None, 1], q[..., 0], x[1:].set(7.0), x[i].set(y), x[i].inc(y), m[1].inc(x), m[:, 1].set(y[:3]),
    m[1:, ::2].inc(1.0),
    m[m > 0].set(0.0), q[:, i % 3].inc(1.0), m[pt.as_tensor([0, 0, 2]), 1].inc(2.0), m[i % 3, i].set(x), b[i],
    pt.take(m, i, axis=1), pt.take_along_axis(m, m.argsort(axis=1), axis=1), x[:0], m[k:k, 0],
]  # fmt: skip


def test_indexing():
    same(INPUTS, INDEXING, VALUES)


def test_linear_algebra():
    p, r, t = pt.dmatrix("p"), pt.dvector("r"), pt.dtensor3("t")
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 4))
    batch = np.stack([root @ root.T + 4 * np.eye(4), np.eye(4) * 2])
    lower, columns = pt.linalg.cholesky(p), pt.stack([r, 2 * r], axis=1)
    outputs = [
        lower, pt.linalg.cholesky(p, lower=False), pt.linalg.cholesky(t), pt.linalg.solve(p, r),
        pt.linalg.solve(p, columns, b_ndim=2), pt.linalg.solve(p, r, assume_a="pos"), pt.linalg.solve(t, r, b_ndim=1),
        pt.linalg.solve_triangular(lower, r, lower=True, b_ndim=1),
        pt.linalg.solve_triangular(lower.T, columns, b_ndim=2),
        pt.linalg.cho_solve((lower, True), r, b_ndim=1), pt.linalg.inv(p), pt.linalg.inv(t), pt.linalg.det(p),
        pt.linalg.det(t), *pt.linalg.slogdet(p), pt.linalg.pinv(p), pt.linalg.eigh(p)[0], abs(pt.linalg.eigh(p)[1]),
        pt.linalg.svd(p, compute_uv=False), abs(pt.linalg.qr(p)[1]), pt.linalg.block_diag(p, columns),
        pt.linalg.kron(p, p),
        pt.grad(pt.linalg.cholesky(p).sum(), p), pt.grad(pt.linalg.solve(p, r).sum(), p), pt.linalg.matrix_power(p, 3),
        pt.grad(pt.log(pt.linalg.det(p)), p), pt.linalg.pinv(t, hermitian=True),
        pt.vectorize(pt.dot, signature="(m,n),(n)->(m)")(t, r),
    ]  # fmt: skip
    same([p, r, t], outputs, [batch[0], rng.normal(size=4), batch], tolerance=1e-9)


def test_hermitian_systems_mirror_conjugates():
    z = pt.zmatrix("z")
    hermitian = np.array([[4, 1j, 0], [-1j, 3, 0.5], [0, 0.5, 2]])
    for kind in ("her", "pos", "sym"):  # PyTensor 3 makes one solver of several that read the same matrix
        same([z], [pt.linalg.solve(z, z[:, :1] + 1, assume_a=kind)], [hermitian])


def _scan(*args, **options):
    return pytensor.scan(*args, **options, return_updates=False)


def test_loops():
    n = pt.lscalar("n")
    powers = _scan(lambda before, v: before * v, outputs_info=pt.ones_like(x), non_sequences=x, n_steps=n)
    taps = _scan(
        lambda s2, s0, two, one: 0.5 * one - 0.2 * two + s2 * s0,
        sequences={"input": y, "taps": [-2, 0]}, outputs_info={"initial": x[:2], "taps": [-2, -1]},
    )  # fmt: skip
    mapped = _scan(lambda row: row.sum(), sequences=m)
    until = _scan(
        lambda before: (before * 2, until_(before * 2 > 40)), outputs_info=x.sum() + 3, n_steps=20
    )
    backwards = _scan(lambda v, s: s + v**2, sequences=x, outputs_info=pt.constant(0.0, dtype="float64"),
    go_backwards=True)
    short = _scan(
        lambda v, s: pt.tanh(s + v), sequences=x, outputs_info=pt.constant(0.1, dtype="float64"), truncate_gradient=2
    )
    outputs = [
        powers, powers[-1], taps, mapped, until, until[-1], backwards, pt.grad(powers[-1].sum(), x),
        pt.grad((taps**2).sum(), x), pt.grad((taps**2).sum(), y), pt.grad(backwards[-1], x), pt.grad(short[-1], x),
        pt.grad(mapped.sum(), m),
    ]  # fmt: skip
    same([x, y, m, n], outputs, [VALUES[0], VALUES[1], VALUES[2], np.int64(5)])


def test_choices_checks_and_graphs():
    choice = versions.conditional.ifelse(k > 1, x * 2, pt.zeros_like(x))
    inner = pytensor.compile.builders.OpFromGraph([x, y], [x * pt.exp(y), x.sum()])
    outputs = [choice, *inner(x, y), inner(y, x)[1], Assert("positive")(x, pt.gt(k, 0)),
    pt.grad(inner(x, y)[0].sum(), y)]
    same(INPUTS, outputs, VALUES)

    class Refused(Exception):
        pass

    f = pytensor.function([x], CheckAndRaise(Refused, "below zero")(x * 2, pt.all(x >= 0)), mode="ARIGNOTE")
    assert f(np.ones(2)).tolist() == [2, 2]
    with pytest.raises(Refused, match=r"^below zero$"):
        f(-np.ones(2))
    both = [Assert("x > 0")(x, pt.all(x > -9)), Assert("x > 0, y > 0")(y, pt.all(y > 0))]
    with pytest.raises(AssertionError, match=r"^x > 0, y > 0$"):
        pytensor.function([x, y], both, mode="ARIGNOTE")(np.ones(2), -np.ones(2))


def test_streams_are_numpys():
    generator = pytensor.shared(np.random.default_rng(7))
    size, p = pt.lscalar("size"), pt.dvector("p")
    next_state, draws = generator, []
    for make in (
        lambda rng: pt.random.normal(x, 2.0, rng=rng), lambda rng: pt.random.uniform(0, 1, size=(2, size), rng=rng),
        lambda rng: pt.random.gamma(2.0, scale=1.0, size=3, rng=rng), lambda rng: pt.random.poisson(abs(x), rng=rng),
        lambda rng: pt.random.binomial(10, 0.3, size=4, rng=rng), lambda rng: pt.random.categorical(p, size=5, rng=rng),
        lambda rng: pt.random.dirichlet(p, rng=rng), lambda rng: pt.random.multinomial(6, p, rng=rng),
        lambda rng: pt.random.integers(0, 10, size=3, rng=rng), lambda rng: pt.random.permutation(5, rng=rng),
        lambda rng: pt.random.multivariate_normal(pt.zeros(2), pt.eye(2), rng=rng),
        lambda rng: pt.random.t(4.0, 0.0, 1.0, size=2, rng=rng), lambda rng: pt.random.beta(2, abs(x), rng=rng),
        lambda rng: pt.random.normal(x, abs(x), size=(3, 4), rng=rng), lambda rng: pt.random.normal(0.5, 2.0, rng=rng),
        lambda rng: pt.random.normal(0, 1, size=(0, 3), rng=rng), lambda rng: pt.random.exponential(abs(x), rng=rng),
        lambda rng: pt.random.uniform(-abs(x), 3, rng=rng), lambda rng: pt.random.weibull(abs(x), rng=rng),
        lambda rng: pt.random.lognormal(x, 0.3, rng=rng), lambda rng: pt.random.laplace(x, 0.3, rng=rng),
        lambda rng: pt.random.logistic(x, 0.3, rng=rng), lambda rng: pt.random.vonmises(x, 0.3, rng=rng),
        lambda rng: pt.random.wald(abs(x), 0.3, rng=rng), lambda rng: pt.random.triangular(-3, x / 4, 4, rng=rng),
        lambda rng: pt.random.geometric(abs(x) / 3, rng=rng), lambda rng: pt.random.gamma(abs(x), scale=x**2, rng=rng),
        lambda rng: pt.random.binomial([1, 2, 50, 3], abs(x) / 3, size=(3, 4), rng=rng),
        lambda rng: pt.random.bernoulli(abs(x) / 3, rng=rng), lambda rng: pt.random.invgamma(abs(x) + 1, 2.0, rng=rng),
        lambda rng: pt.random.halfnormal(0, abs(x), rng=rng), lambda rng: pt.random.halfnormal(0.5, 2, rng=rng),
        lambda rng: pt.random.halfcauchy(0, abs(x), rng=rng), lambda rng: pt.random.integers(-5, 2**62, 3, rng=rng),
        lambda rng: pt.random.integers(0, [10, 20, 2**40, 1], rng=rng),
        lambda rng: pt.random.normal(x, 2.0, dtype="float32", rng=rng),
    ):  # fmt: skip
        next_state, draw = make(next_state).owner.outputs
        draws.append(draw)
    found = []
    for mode in (OWN, STRICT):
        generator.set_value(np.random.default_rng(7))
        f = pytensor.function([x, p, size], draws, updates={generator: next_state}, mode=mode)
        found.append([*f(VALUES[0], np.array([0.2, 0.8]), 2), *f(VALUES[0], np.array([0.5, 0.5]), 3)])
        assert isinstance(generator.get_value(), np.random.Generator)
    for a, b_ in zip(*found, strict=True):
        assert a.dtype == b_.dtype
        np.testing.assert_array_equal(a, b_)
    ours = [n.op for n in f.arignote.graph.order if isinstance(n.op, NumpyDraw)]
    assert len({op.distribution for op in ours}) == len(DISTRIBUTIONS)


def test_draws_that_c_refuses_are_numpys():
    scale = pt.dvector("scale")
    generator = pytensor.shared(np.random.default_rng(7))
    after, draw = pt.random.normal(0.0, scale, rng=generator).owner.outputs
    f = pytensor.function([scale], draw, updates={generator: after}, mode="ARIGNOTE")
    first, kept = f(np.ones(3)), generator.get_value(borrow=True)
    assert f(np.ones(3)).tolist() != first.tolist() and generator.get_value(borrow=True) is kept
    before = kept.bit_generator.state
    with pytest.raises(ValueError, match="scale < 0"):
        f(-np.ones(3))
    assert generator.get_value(borrow=True).bit_generator.state == before
    for kind in (np.random.MT19937, np.random.Philox, np.random.PCG64DXSM, np.random.SFC64):
        generator.set_value(np.random.Generator(kind(3)))
        expected = np.random.Generator(kind(3))
        for _ in range(3):
            np.testing.assert_array_equal(f(np.ones(2)), expected.normal(0.0, np.ones(2)))


def test_sparse_matrices():
    from scipy.sparse import csr_matrix

    sparse = pytest.importorskip("pytensor.sparse")
    a, c, d = sparse.csr_matrix("a", dtype="float64"), sparse.csr_matrix("c", dtype="float64"), pt.dmatrix("d")
    outputs = [
        sparse.dot(a, d), sparse.dense_from_sparse(sparse.add(a, c)), sparse.dense_from_sparse(sparse.transpose(a)),
        sparse.sp_sum(a, axis=1), sparse.sp_sum(a), sparse.dense_from_sparse(sparse.multiply(a, c)), sparse.csm_data(a),
        pt.grad(sparse.dot(a, d).sum(), d), sparse.dense_from_sparse(sparse.csr_from_dense(d)),
    ]  # fmt: skip
    matrix = csr_matrix(np.array([[0.0, 2, 0, 1], [3, 0, 0, 0], [0, 0, 4, 5]]))
    same([a, c, d], outputs, [matrix, matrix.copy() * 2, np.arange(12.0).reshape(4, 3)])
    f = pytensor.function([a], sparse.neg(a), mode="ARIGNOTE")
    assert (f(matrix) + matrix).nnz == 0


def test_a_function_is_pytensors():
    state, data = pytensor.shared(np.zeros(4), name="state"), pytensor.shared(np.ones((2, 2)), shape=(None, None))
    f = pytensor.function([x], [x + state, data.sum()], updates=[(state, state + x)], mode="ARIGNOTE", name="f")
    assert f(np.ones(4))[0].tolist() == [1] * 4 and f(np.ones(4))[0].tolist() == [2] * 4
    data.set_value(np.ones((3, 5)))
    assert f(x=np.ones(4))[1] == 15 and state.get_value().tolist() == [3] * 4
    with pytest.raises(TypeError, match=r"(?i)bad input argument|invalid argument"):
        f(np.ones((2, 2)))
    state.set_value(np.zeros(4))
    g = pickle.loads(pickle.dumps(f))
    assert type(g) is door.ArignoteFunction and g(np.ones(4))[1] == 15 and not state.get_value().any()
    assert f.copy(delete_updates=True)(np.ones(4))[0].tolist() == [1] * 4 and not state.get_value().any()
    one = pytensor.function([x], x.sum(), mode=get_mode("ARIGNOTE").excluding("fusion"))
    assert one.copy()(np.ones(3)) == 3 and "-fusion" in str(one.arignote.mode.optimizer)
    assert one.maker.fgraph.outputs and f.arignote.graph.outputs


def test_misaligned_arguments_raise_pytensors_error():
    misaligned = np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float64)
    f = pytensor.function([x], x * 2, mode="ARIGNOTE")
    for _ in range(20):
        assert f(np.zeros(3)).tolist() == [0] * 3
        with pytest.raises(TypeError, match="not aligned"):
            f(misaligned)
    f.trust_input = True
    assert f(misaligned).tolist() == [0] * 3


def test_factorizations_that_fail_give_nan():
    f = pytensor.function([m], [pt.linalg.cholesky(m), m.sum()], mode="ARIGNOTE")
    assert f(np.eye(2))[0].tolist() == [[1, 0], [0, 1]]
    factor, total = f(-np.eye(2))
    assert np.isnan(factor).all() and total == -2


def test_ops_without_a_converter(monkeypatch):
    monkeypatch.setattr(table, "CONVERTERS", dict(table.CONVERTERS))
    monkeypatch.setattr(building, "CONVERTERS", table.CONVERTERS)

    class Twice(pytensor.graph.Op):
        def make_node(self, v):
            return pytensor.graph.Apply(self, [v], [v.type()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = 2 * inputs[0]

    expression = Twice()(x) + 1
    f = pytensor.function([x], expression, mode="ARIGNOTE")
    assert f(np.ones(2)).tolist() == [3, 3] and "Twice" in f.remarks[0]
    with pytest.raises(door.ConversionError, match=r"Twice.* has no converter; register one"):
        pytensor.function([x], expression, mode=STRICT)

    @door.converter(Twice)
    def twice(call, v):
        return v + v

    f = pytensor.function([x], expression, mode=STRICT)
    assert f(np.ones(2)).tolist() == [3, 3] and not f.remarks

    class Thrice(Twice):
        def perform(self, node, inputs, outputs):
            outputs[0][0] = 3 * inputs[0]

    assert pytensor.function([x], Thrice()(x), mode="ARIGNOTE")(np.ones(2)).tolist() == [3, 3]


def _counting():
    state, generator = pytensor.shared(np.zeros(3), name="state"), pytensor.shared(np.random.default_rng(3))
    after, draw = pt.random.normal(x, 1.0, rng=generator).owner.outputs
    f = pytensor.function([x], [x + state, draw], updates=[(state, state + x), (generator, after)], mode="ARIGNOTE")
    g = pytensor.function([x], [x + state, x.sum()], updates=[(state, state + x)], mode="ARIGNOTE", name="g")
    return state, generator, f, g


def test_native_calls_read_and_write_the_cells_of_shared_variables():
    state, _, _, g = _counting()
    for k in range(40):
        assert g(np.ones(3))[0].tolist() == [1 + k] * 3
    assert type(g._entry).__name__ == "builtin_function_or_method"
    assert state.get_value().tolist() == [40] * 3
    state.set_value(np.zeros(4))
    assert g(np.ones(4))[0].tolist() == [1] * 4 and g([1.0, 2, 3, 4])[1] == 10
    assert g(x=np.ones(4))[0].tolist() == [3, 4, 5, 6]
    with pytest.raises(TypeError, match=r"(?i)bad input argument|invalid argument"):
        g(np.ones((2, 2)))
    with pytest.raises(ValueError, match="Runtime broadcasting not allowed"):
        g(np.ones(1))
    assert state.get_value().tolist() == [3, 4, 5, 6], "a call that fails changes nothing"
    assert pytensor.function([], state * 2, mode="ARIGNOTE")().tolist() == [6, 8, 10, 12]


@pytest.mark.filterwarnings("ignore:output_(subset|keys) is deprecated")
@pytest.mark.skipif(versions.THIRD, reason="PyTensor 3 returns all results")
def test_a_part_of_the_results():
    state = pytensor.shared(np.zeros(3))
    f = pytensor.function([x], [x + 1, x * 2], updates={state: state + x}, mode="ARIGNOTE")
    assert [v.tolist() for v in f(np.ones(3), output_subset=[1])] == [[2] * 3]
    assert state.get_value().tolist() == [1] * 3
    named = pytensor.function([x], {"a": x + 1, "b": x * 2}, mode="ARIGNOTE")
    assert {key: v.tolist() for key, v in named(np.ones(3), output_subset=["b"]).items()} == {"b": [2] * 3}


def test_no_rewrite_asks_for_a_blas(monkeypatch):
    """PyTensor finds out by gcc whether there is one, and warns its users if not."""
    asked = []
    parameter = pytensor.config._config_var_dict["blas__ldflags"]
    monkeypatch.setattr(type(parameter), "__get__", _noting(type(parameter).__get__, parameter, asked))
    scale = pt.scalar("scale")
    f = pytensor.function([x, y, scale], x - scale * y, mode="ARIGNOTE")
    assert f(np.ones(3), np.ones(3), 2.0).tolist() == [-1] * 3 and not asked


def _noting(get, parameter, asked):
    """Return a getter of options that notes when one of them is read."""

    def noting(self, *args):
        if self is parameter:
            asked.append(self)
        return get(self, *args)

    return noting


def test_pickles_and_copies():
    cloudpickle = pytest.importorskip("cloudpickle")
    state, _, f, g = _counting()
    g(np.ones(3))
    for dumps in (pickle.dumps, cloudpickle.dumps):
        own, drawn = pickle.loads(dumps(g)), pickle.loads(dumps(f))
        assert type(own) is door.ArignoteFunction and own.arignote.graph.outputs
        for k in range(20):
            assert own(np.ones(3))[0].tolist() == [2 + k] * 3
        np.testing.assert_array_equal(drawn(np.zeros(3))[1], np.random.default_rng(3).normal(np.zeros(3), 1.0))
    assert state.get_value().tolist() == [1] * 3
    other = pytensor.shared(np.full(3, 5.0))
    swapped, kept = g.copy(swap={state: other}), g.copy(delete_updates=True)
    assert swapped(np.ones(3))[0].tolist() == [6] * 3 and other.get_value().tolist() == [6] * 3
    for _ in range(20):
        assert kept(np.ones(3))[0].tolist() == [2] * 3
    assert state.get_value().tolist() == [1] * 3


def test_profiles_and_prints():
    import io

    f = pytensor.function([x], pt.exp(x).sum(), mode="ARIGNOTE", profile=True)
    for _ in range(5):
        f(np.ones(3))
    text = io.StringIO()
    f.profile.summary(file=text)
    assert "5 calls to Function.__call__" in text.getvalue()
    assert f.arignote.profile.calls == 5 and "test_pytensor.py" in str(f.arignote.profile)
    printed = pytensor.printing.debugprint(f, file="str")
    assert "Exp" in printed or "Composite" in printed


def test_pages_of_d3viz():
    pytest.importorskip("pydot")
    from pytensor.d3viz import d3viz

    with tempfile.TemporaryDirectory() as folder:
        try:
            d3viz(pytensor.function([x], pt.exp(x).sum(), mode="ARIGNOTE"), f"{folder}/graph.html")
        except ImportError as error:
            pytest.skip(str(error))  # graphviz is missing
        assert "d3" in Path(folder, "graph.html").read_text()


def test_threads_lose_no_update_and_no_draw():
    from concurrent.futures import ThreadPoolExecutor

    state, _, f, g = _counting()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: [g(np.ones(3)) for _ in range(100)], range(4)))
        assert state.get_value().tolist() == [400] * 3
        found = [v for part in pool.map(lambda _: [f(np.zeros(3))[1] for _ in range(25)], range(4)) for v in part]
    expected = np.random.default_rng(3).normal(size=(100, 3))
    np.testing.assert_array_equal(sorted(map(tuple, found)), sorted(map(tuple, expected)))


def test_functions_that_share_a_generator_draw_in_threads():
    from concurrent.futures import ThreadPoolExecutor

    generator = pytensor.shared(np.random.default_rng(5), name="rng")
    functions = []
    for _ in range(2):
        after, draw = pt.random.normal(size=(3,), rng=generator).owner.outputs
        functions.append(pytensor.function([], draw, updates={generator: after}, mode="ARIGNOTE"))
    with ThreadPoolExecutor(4) as pool:
        own = generator.get_value(borrow=True)
        tasks = [functions[0], functions[1], functions[0], lambda: own.normal(size=3)]
        found = [v for part in pool.map(lambda draw: [draw() for _ in range(50)], tasks) for v in part]
    expected = np.random.default_rng(5).normal(size=(200, 3))
    np.testing.assert_array_equal(sorted(map(tuple, found)), sorted(map(tuple, expected)))


def test_broken_promises_of_shapes():
    given = pt.tensor("given", shape=(3,), dtype="float64")
    stored = pytensor.shared(np.ones(3), name="stored", shape=(3,))
    f = pytensor.function([given], given + stored, mode="ARIGNOTE")
    for call in (lambda: f(np.ones(4)), lambda: (stored.container.storage.__setitem__(0, np.ones(4)), f(np.ones(3)))):
        with pytest.raises(TypeError, match=r"shape is not compatible.*(given|stored)\): .*axis 0 has length 4, not 3"):
            call()


def test_density():
    import ctypes

    from arignote.frontends.pytensor.density import DENSITY, GRADIENT_NOT_FINITE, LENGTHS_DIFFER, density

    point, data = pt.vector("point", shape=(3,)), pytensor.shared(np.array([1.0, 2.0]), name="data")
    value = -0.5 * (point**2).sum() + pt.log(point[0]) * data.sum()
    f = pytensor.function([point], [value, pt.grad(value, point)], mode="ARIGNOTE")
    d = density(f)
    at = np.array([0.5, -1.0, 2.0])
    expected = -0.5 * (at**2).sum() + np.log(0.5) * 3, [-0.5 + 3 / 0.5, 1.0, -2.0]
    np.testing.assert_allclose(d(at)[0], expected[0])
    step = d.bind(at)
    out = step()
    assert step() is out and np.allclose(out[1], expected[1])
    at[1] = 0.0
    assert step()[1][1] == 0
    with pytest.raises(TypeError, match=r"expected an array float64\[3\].*got float64\[2\]"):
        d.bind(np.ones(2))

    c = DENSITY(d.address)
    gradient, number = np.empty(3), np.empty(())
    places = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (at, gradient, number)]
    assert c(3, *places, d.data) == 0 and not d.calls_python
    np.testing.assert_allclose(gradient, d(at)[1])
    np.testing.assert_allclose(number, d(at)[0])
    assert c(2, *places, d.data) == LENGTHS_DIFFER
    data.set_value(np.array([5.0, 5.0, 5.0]))
    assert c(3, *places, d.data) == 0 and abs(gradient[0] - 5.5) < 1e-12, "the data of then"
    d.refresh()
    assert DENSITY(d.address)(3, *places, d.data) == 0 and abs(gradient[0] - 29.5) < 1e-12
    at[0] = 0.0
    assert DENSITY(d.address)(3, *places, d.data) == GRADIENT_NOT_FINITE

    rows = np.abs(np.random.default_rng(0).normal(size=(5, 3)))
    values, gradients = d.many(rows)
    for k, row in enumerate(rows):
        np.testing.assert_allclose(values[k], d(row)[0], rtol=1e-14)
        np.testing.assert_allclose(gradients[k], d(row)[1], rtol=1e-14)
    with pytest.raises(ValueError, match=r"many: expected an array of shape \(chains, 3\)"):
        d.many(np.ones(3))


def test_lengths_of_1_do_not_broadcast_at_run_time():
    a, c, runtime = pt.dmatrix("a"), pt.dvector("c"), "Runtime broadcasting not allowed"
    a0 = np.ones((1, 1))
    cases = [
        (a - c, (np.ones((2, 1)), np.ones(3)), ValueError, runtime),
        (pt.alloc(c, 2, 3) + a, (np.ones((2, 3)), np.ones(1)), ValueError, runtime),
        (pt.squeeze(a, axis=0) + c, (np.ones((2, 3)), np.ones(3)), ValueError, "Attempting to squeeze axes"),
        (pt.specify_shape(c, (3,)) + a, (np.ones((2, 2)), np.ones(2)), AssertionError, "SpecifyShape"),
        (pt.split(c, [1, 2], n_splits=2)[0] + a, (a0, np.ones(4)), ValueError, "Split sizes sum to 3; expected 4"),
        (pt.matmul(a[None], pt.stack([a, a]).T), (np.ones((2, 3)), np.ones(4)), ValueError, "do not agree"),
    ]
    for output, values, kind, words in cases:
        f = pytensor.function([a, c], output, mode="ARIGNOTE", on_unused_input="ignore")
        with pytest.raises(kind, match=words):
            f(*values)


def test_a_mask_of_another_length_is_an_index_error():
    mask = pt.vector("mask", dtype="bool")
    f = pytensor.function([x, mask], x[mask].sum(), mode="ARIGNOTE")
    with pytest.raises(IndexError, match="boolean index did not match"):
        f(np.ones(4), np.ones(3, bool))
