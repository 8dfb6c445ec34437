"""Names that other libraries have and this one lacks: what to write in their place.

Each advice is an expression of `T`, `ag`, the tensors x, y (matrices), v (a vector), i (integers) and s (a scalar),
which a test calls.  Loaded when a name is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

INSTEAD: Mapping[str, str] = {
    # PyTorch
    "cat": "T.concatenate([x, y])", "unsqueeze": "T.expand_dims(x, 0)", "permute": "T.transpose(x, (1, 0))",
    "view": "T.reshape(x, (-1,))", "view_as": "T.reshape(x, T.shape(y))", "expand": "T.broadcast_to(v, x.shape)",
    "chunk": "T.array_split(x, 2)", "narrow": "x[:, 0:2]", "index_select": "T.take(x, i, axis=0)",
    "gather": "T.take_along_axis(x, i[:, None], 1)", "scatter": "T.put_along_axis(x, i[:, None], 0.0, 1)",
    "masked_select": "x[x > 0]", "masked_fill": "T.where(x > 0, 0.0, x)", "mm": "T.matmul(x, y)",
    "bmm": "T.matmul(x, y)", "mv": "T.matmul(x, v)", "addmm": "y + T.matmul(x, x)", "clamp": "T.clip(x, 0, 1)",
    "lerp": "x + s * (y - x)", "rsqrt": "1 / T.sqrt(x)", "logdet": "T.linalg.slogdet(x)[1]",
    "numel": "T.size(x)", "randn": "T.random.RandomStream(0).normal(size=(2,))",
    "rand": "T.random.RandomStream(0).uniform(size=(2,))", "from_numpy": "T.as_tensor([1.0, 2.0])",
    "float": "T.cast(x, 'float32')", "no_grad": "T.stop_gradient(x)", "detach": "T.stop_gradient(x)",
    "kthvalue": "T.sort(x, axis=1)[:, 1]", "cdist": "T.sqrt(T.sum((x[:, None] - y[None]) ** 2, -1))",
    "std_mean": "(T.std(x), T.mean(x))", "var_mean": "(T.var(x), T.mean(x))",
    "is_tensor": "isinstance(x, T.TensorVariable)",
    # TensorFlow
    "reduce_sum": "T.sum(x)", "reduce_mean": "T.mean(x)", "reduce_max": "T.max(x)", "reduce_min": "T.min(x)",
    "reduce_prod": "T.prod(x)", "reduce_any": "T.any(x)", "reduce_all": "T.all(x)",
    "reduce_logsumexp": "T.logsumexp(x)",
    "matrix_inverse": "T.linalg.inv(x)", "boolean_mask": "x[x > 0]", "Variable": "ag.shared(1.0)",
    "placeholder": "T.matrix('x')", "range": "T.arange(3)", "convert_to_tensor": "T.as_tensor([1.0])",
    "tensor_scatter_nd_update": "T.set_subtensor(x[i], 0.0)", "squared_difference": "T.square(x - y)",
    "function": "ag.function([x], x + 1)", "GradientTape": "ag.grad(T.sum(x), x)", "reverse": "T.flip(x, 0)",
    # JAX
    "fori_loop": "ag.scan(lambda a: a + 1, outputs_info=s, n_steps=3)[-1]", "lax": "T.add(x, y)",
    "vmap": "ag.vmap(lambda r: T.sum(r))(x)", "grad": "ag.grad(T.sum(x), x)", "jit": "ag.jit(lambda a: a + 1)",
    "jacfwd": "ag.jacobian(T.sum(x, axis=0), x)", "jacrev": "ag.jacobian(T.sum(x, axis=0), x)",
    # Theano, PyTensor
    "ifelse": "ag.cond(s > 0, lambda: x, lambda: y)", "batched_dot": "T.matmul(x, y)",
    "alloc_diag": "T.diag(v)", "extract_diag": "T.diag(x)", "matrix_dot": "T.linalg.multi_dot([x, y])",
    "advanced_subtensor": "x[i]", "nonzero_values": "x[T.nonzero(x)]", "iround": "T.cast(T.round(x), 'int64')",
    "scan": "ag.scan(lambda a: a + 1, sequences=v)[0]",
    # NumPy
    "array2string": "str(x)", "array_repr": "repr(x)", "array_str": "str(x)", "asmatrix": "T.atleast_2d(v)",
    "bmat": "T.block([[x, y]])", "broadcast": "T.broadcast_arrays(x, v)", "frompyfunc": "T.vectorize(lambda a: a + 1)",
    "may_share_memory": "x is y", "shares_memory": "x is y", "ndarray": "T.TensorVariable",
    "poly1d": "T.polyval([1.0, 2.0], x)", "longdouble": "T.float64",
    "float128": "T.float64", "complex256": "T.complex128", "clongdouble": "T.complex128",
    "errstate": "T.isfinite(x)", "fromstring": "T.as_tensor([1.0, 2.0])", "frombuffer": "T.as_tensor([1.0, 2.0])",
    "nditer": "ag.scan(lambda a: a + 1, sequences=v)[0]", "ndenumerate": "T.indices((2, 3))",
    "ndindex": "T.indices((2, 3))", "in1d": "T.isin(v, [1.0])", "trapz": "T.trapezoid(v)", "product": "T.prod(x)",
    "cumproduct": "T.cumprod(x)", "sometrue": "T.any(x)", "alltrue": "T.all(x)", "msort": "T.sort(x, axis=0)",
    "asscalar": "T.squeeze(x[:1, :1])", "find_common_type": "T.result_type(x, y)", "round_": "T.round(x)",
}  # fmt: skip
"""For `T`."""

LINALG: Mapping[str, str] = {
    "cosm": "T.real(T.linalg.expm(1j * x))", "sinm": "T.imag(T.linalg.expm(1j * x))",
    "coshm": "(T.linalg.expm(x) + T.linalg.expm(-x)) / 2", "sinhm": "(T.linalg.expm(x) - T.linalg.expm(-x)) / 2",
    "tanm": "T.linalg.solve(T.real(T.linalg.expm(1j * x)), T.imag(T.linalg.expm(1j * x)))",
    "tanhm": "T.linalg.solve(T.linalg.expm(x) + T.linalg.expm(-x), T.linalg.expm(x) - T.linalg.expm(-x))",
    "signm": "T.linalg.solve(T.linalg.sqrtm(x @ x), x)",
    "fractional_matrix_power": "T.linalg.expm(0.5 * T.linalg.logm(x))",
    "funm": "(lambda w, q: (q * T.exp(w)) @ q.T)(*T.linalg.eigh(x))",
    "expm_cond": "T.linalg.expm_frechet(x, y)", "pinvh": "T.linalg.pinv(x)", "ldl": "T.linalg.lu(x)",
    "hessenberg": "T.linalg.schur(x)", "rq": "T.linalg.qr(x.T)", "solveh_banded": "T.linalg.solve_banded((1, 1), x, v)",
    "cholesky_banded": "T.linalg.cholesky(x)", "cho_solve_banded": "T.linalg.cho_solve((x, True), v)",
    "solve_toeplitz": "T.linalg.solve(T.linalg.toeplitz(v), v)",
    "solve_circulant": "T.real(T.fft.ifft(T.fft.fft(v) / T.fft.fft(v)))",
    "matmul_toeplitz": "T.linalg.toeplitz(v) @ v", "ordqz": "T.linalg.qz(x, y)", "subspace_angles":
    "T.arccos(T.clip(T.linalg.svdvals(T.linalg.orth(x).T @ T.linalg.orth(y)), -1, 1))",
    "orthogonal_procrustes": "T.linalg.polar(x.T @ y)[0]",
    "khatri_rao": "(x[:, None] * y[None]).reshape((-1, x.shape[1]))",
    "eigh_tridiagonal": "T.linalg.eigh(T.diag(v) + T.diag(v[1:], 1) + T.diag(v[1:], -1))",
    "eig_banded": "T.linalg.eigh(x)", "eigvals_banded": "T.linalg.eigvalsh(x)",
    "dft": "T.fft.fft(T.eye(3))", "companion": "T.roots(v)", "hilbert": "1 / (T.arange(3)[:, None] + T.arange(3) + 1)",
    "diagsvd": "T.diag(v)", "cholesky_inverse": "T.linalg.inv(x)", "matrix_exp": "T.linalg.expm(x)",
    "eigvalsh_tridiagonal": "T.linalg.eigvalsh(T.diag(v) + T.diag(v[1:], 1) + T.diag(v[1:], -1))",
    "issymmetric": "T.array_equal(x, x.T)", "ishermitian": "T.array_equal(x, T.conj(x.T))",
    "qr_multiply": "T.linalg.qr(x)[0] @ y", "qr_update": "T.linalg.qr(x)", "qr_insert": "T.linalg.qr(x)",
    "qr_delete": "T.linalg.qr(x)", "matrix_sqrt": "T.linalg.sqrtm(x)",
    "lu_unpack": "T.linalg.lu(x)", "ldl_factor": "T.linalg.lu_factor(x)", "vander": "T.vander(v)",
    "inv_ex": "T.linalg.inv(x)", "logdet": "T.linalg.slogdet(x)[1]", "kron": "T.kron(x, y)", "tri": "T.tri(3)",
    "tril": "T.tril(x)", "triu": "T.triu(x)", "dot": "T.dot(x, y)",
}  # fmt: skip
"""For `T.linalg`."""

SPECIAL: Mapping[str, str] = {
    # SciPy
    "airye": "T.special.airyai(x) * T.exp(2 / 3 * x**1.5)", "bdtr": "T.special.betainc(y - x, x + 1, 0.5)",
    "bdtrc": "T.special.betainc(x + 1, y - x, 0.5)",
    "binom": "1 / ((x + 1) * T.special.beta(x - y + 1, y + 1))", "boxcox": "T.expm1(s * T.log(x)) / s",
    "boxcox1p": "T.expm1(s * T.log1p(x)) / s", "btdtr": "T.special.betainc(x, y, 0.5)", "cbrt": "T.cbrt(x)",
    "chdtr": "T.special.gammainc(x / 2, y / 2)", "chdtrc": "T.special.gammaincc(x / 2, y / 2)",
    "chdtri": "2 * T.special.gammainccinv(x / 2, y)",
    "comb": "1 / ((x + 1) * T.special.beta(x - y + 1, y + 1))", "cosdg": "T.cos(T.deg2rad(x))",
    "cosm1": "-2 * T.square(T.sin(x / 2))", "cotdg": "1 / T.tan(T.deg2rad(x))",
    "diric": "T.sin(3 * x / 2) / (3 * T.sin(x / 2))",
    "erfi": "2 / 3.141592653589793**0.5 * T.exp(x**2) * T.special.dawsn(x)",
    "eval_chebyt": "T.special.hyp2f1(-x, x, 0.5, (1 - y) / 2)",
    "eval_chebyu": "(x + 1) * T.special.hyp2f1(-x, x + 2, 1.5, (1 - y) / 2)",
    "eval_laguerre": "T.special.hyp1f1(-x, 1.0, y)",
    "eval_legendre": "T.special.hyp2f1(-x, x + 1, 1.0, (1 - y) / 2)", "exp10": "10.0**x", "exp2": "T.exp2(x)",
    "factorial": "T.special.gamma(x + 1)", "fdtr": "T.special.betainc(x / 2, y / 2, x * s / (x * s + y))",
    "fdtri": "(lambda z: z / (1 - z) * y / x)(T.special.betaincinv(x / 2, y / 2, s))",
    "fdtrc": "T.special.betaincc(x / 2, y / 2, x * s / (x * s + y))", "gammasgn": "T.sign(T.special.gamma(x))",
    "gdtr": "T.special.gammainc(y, s * x)", "gdtrc": "T.special.gammaincc(y, s * x)",
    "hankel1": "T.special.jv(x, y) + 1j * T.special.yv(x, y)",
    "hankel1e": "(T.special.jv(x, y) + 1j * T.special.yv(x, y)) * T.exp(-1j * y)",
    "hankel2e": "(T.special.jv(x, y) - 1j * T.special.yv(x, y)) * T.exp(1j * y)",
    "hankel2": "T.special.jv(x, y) - 1j * T.special.yv(x, y)",
    "hyp0f1": "T.special.gamma(x) * y**((1 - x) / 2) * T.special.iv(x - 1, 2 * T.sqrt(y))",
    "inv_boxcox": "T.exp(T.log1p(s * x) / s)", "inv_boxcox1p": "T.expm1(T.log1p(s * x) / s)",
    "ivp": "(T.special.iv(x - 1, y) + T.special.iv(x + 1, y)) / 2",
    "jvp": "(T.special.jv(x - 1, y) - T.special.jv(x + 1, y)) / 2",
    "kvp": "-(T.special.kv(x - 1, y) + T.special.kv(x + 1, y)) / 2",
    "yvp": "(T.special.yv(x - 1, y) - T.special.yv(x + 1, y)) / 2",
    "jn": "T.special.jv(x, y)", "jve": "T.special.jv(x, y)", "kn": "T.special.kv(x, y)",
    "log_softmax": "T.log_softmax(x)", "loggamma": "T.special.gammaln(x)", "logsumexp": "T.logsumexp(x)",
    "nbdtr": "T.special.betainc(y, x + 1, 0.5)", "nbdtrc": "T.special.betaincc(y, x + 1, 0.5)",
    "pdtr": "T.special.gammaincc(x + 1, y)", "pdtrc": "T.special.gammainc(x + 1, y)",
    "pdtri": "T.special.gammainccinv(x + 1, y)", "perm": "T.special.gamma(x + 1) / T.special.gamma(x - y + 1)",
    "poch": "T.special.gamma(x + y) / T.special.gamma(x)", "powm1": "T.expm1(y * T.log(x))",
    "radian": "T.deg2rad(x)", "rgamma": "1 / T.special.gamma(x)", "round": "T.round(x)", "sinc": "T.sinc(x)",
    "sindg": "T.sin(T.deg2rad(x))", "softmax": "T.softmax(x)", "softplus": "T.softplus(x)",
    "spherical_in": "T.sqrt(1.5707963267948966 / y) * T.special.iv(x + 0.5, y)",
    "spherical_jn": "T.sqrt(1.5707963267948966 / y) * T.special.jv(x + 0.5, y)",
    "spherical_kn": "T.sqrt(1.5707963267948966 / y) * T.special.kv(x + 0.5, y)",
    "spherical_yn": "T.sqrt(1.5707963267948966 / y) * T.special.yv(x + 0.5, y)",
    "stdtrit":
    "T.sign(y - 0.5) * T.sqrt(x * (1 / T.special.betaincinv(x / 2, 0.5, 2 * T.minimum(y, 1 - y)) - 1))",
    "stdtr": "0.5 + T.sign(y) / 2 * T.special.betaincc(x / 2, 0.5, x / (x + y**2))",
    "tandg": "T.tan(T.deg2rad(x))", "wofz": "T.special.voigt_real(x, y) + 1j * T.special.voigt_imag(x, y)",
    "yn": "T.special.yv(x, y)", "yve": "T.special.yv(x, y)", "zetac": "T.special.zeta(x) - 1",
}  # fmt: skip
"""For `T.special`."""

SPARSE: Mapping[str, str] = {
    # SciPy; m and c are sparse matrices
    **dict.fromkeys(("csr_array", "bsr_matrix", "bsr_array", "dok_matrix", "dok_array", "lil_matrix", "lil_array"),
                    "T.sparse.csr_matrix('m')"),
    "csc_array": "T.sparse.csc_matrix('m')", "coo_array": "T.sparse.coo_matrix('m')",
    "dia_matrix": "T.sparse.diags(v)", "dia_array": "T.sparse.diags(v)",
    "diags_array": "T.sparse.diags(v)", "spdiags": "T.sparse.diags(v)",
    "identity": "T.sparse.eye(3)", "eye_array": "T.sparse.eye(3)",
    "bmat": "T.sparse.vstack([T.sparse.hstack([m, m]), T.sparse.hstack([m, m])])",
    "block_array": "T.sparse.vstack([T.sparse.hstack([m, m]), T.sparse.hstack([m, m])])",
    "kron": "T.kron(m.toarray(), m.toarray())", "find": "T.nonzero(m.toarray())", "tril": "T.tril(m.toarray())",
    "triu": "T.triu(m.toarray())", "norm": "T.linalg.norm(m.data)",
    "linalg": "T.linalg.solve(m.toarray(), v)",
    **dict.fromkeys(("random", "rand", "random_array"),
                    "T.sparse.constant(scipy.sparse.random(3, 3, random_state=0))"),
    "block_diag": "T.linalg.block_diag(m.toarray(), m.toarray())", "isspmatrix": "T.sparse.issparse(m)",
    "spmatrix": "T.sparse.SparseMatrix", "sparray": "T.sparse.SparseMatrix",
}  # fmt: skip
"""For `T.sparse`."""

SPARSE_MATRIX: Mapping[str, str] = {
    "A": "m.toarray()", "todense": "m.toarray()", "to_dense": "m.toarray()", "H": "m.T", "getrow": "m[0]",
    "getcol": "m[:, 0]", "getnnz": "m.nnz", "copy": "m", "reshape": "m.toarray().reshape((-1,))",
    "eval": "ag.function([m], m)",
}  # fmt: skip
"""For attributes of a sparse matrix m."""

DISTRIBUTION: Mapping[str, str] = {
    # SciPy, PyTorch, TensorFlow, PyMC
    **dict.fromkeys(("logpdf", "logpmf", "log_prob", "logp"), "d.log_density(x)"),
    **dict.fromkeys(("pdf", "pmf", "prob"), "d.density(x)"),
    **dict.fromkeys(("rvs", "rsample", "random", "draw"), "d.sample(T.random.RandomStream(0))"),
    **dict.fromkeys(("ppf", "icdf", "quantile"), "ag.root(lambda q: d.cdf(q) - s, d.mean())"),
    **dict.fromkeys(("sf", "survival_function"), "1 - d.cdf(x)"), "logcdf": "d.log_cdf(x)",
    **dict.fromkeys(("logsf", "log_survival_function"), "T.log1p(-d.cdf(x))"), "expect": "d.mean()", "loc": "d.mean()",
}  # fmt: skip
"""For attributes of a distribution d of scalar parameters."""

STREAM: Mapping[str, str] = {
    # NumPy's old functions, SciPy, PyTorch, JAX
    "rand": "r.uniform(size=(2,))", "randn": "r.normal(size=(2,))", "randint": "r.integers(0, 3, size=(2,))",
    "random_integers": "r.integers(0, 3, size=(2,))", "random_sample": "r.uniform(size=(2,))",
    "rvs": "T.distributions.Normal().sample(r, (2,))", "categorical": "r.choice(3, size=(2,))",
    "truncated_normal": "T.distributions.TruncatedNormal(0.0, 1.0, -1.0, 1.0).sample(r, (2,))",
    "randperm": "r.permutation(3)",
}  # fmt: skip
"""For attributes of a stream of random numbers r."""
