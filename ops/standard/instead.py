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
    # NumPy: dtypes, files, settings
    **dict.fromkeys(("datetime64", "timedelta64", "busdaycalendar", "datetime_data"),
                    "T.as_tensor(np.array(['2020-01-01'], 'datetime64[D]').astype('int64'))"),
    "isnat": "T.eq(i, np.iinfo('int64').min)", **dict.fromkeys(("True_", "False_"), "T.as_tensor(True)"),
    **dict.fromkeys(("generic", "flexible", "ScalarType"), "T.TensorVariable"),
    **{name: f"np.{name}" for name in (
        "base_repr", "binary_repr", "busday_count", "busday_offset", "datetime_as_string",
        "format_float_positional", "format_float_scientific", "fromfile", "fromregex", "genfromtxt",
        "get_include", "get_printoptions", "info", "is_busday", "little_endian", "load", "loadtxt",
        "memmap", "mintypecode", "printoptions", "sctypeDict", "set_printoptions", "show_config",
        "show_runtime", "test", "typecodes", "typename",
    )}, "ComplexWarning": "T.real(x)",
    **dict.fromkeys(("str_", "bytes_", "character", "object_", "strings", "char"),
                    "T.as_tensor(np.unique(['a', 'b'], return_inverse=True)[1])"),
    **dict.fromkeys(("void", "record", "recarray", "rec"), "ag.function({'a': x, 'b': y}, x + y)"),
    "ufunc": "T.vectorize(lambda a: a + 1)", "nested_iters": "T.indices((2, 3))", "flatiter": "T.ravel(x)",
    **dict.fromkeys(("seterr", "geterr", "seterrcall", "geterrcall", "setbufsize", "getbufsize"), "T.isfinite(x)"),
    **dict.fromkeys(("save", "savez", "savez_compressed", "savetxt"), "ag.save"),
    **dict.fromkeys(("complex_", "csingle_"), "T.complex128"), "float_": "T.float64",
    **dict.fromkeys(("bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3b11fnuz",
                     "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn",
                     "float6_e3m2fn", "float4_e2m1fn"),
                    "ag.freeze(ag.function([w := T.fmatrix('w')], w @ w), compute='bfloat16')"),
    **dict.fromkeys(("int1", "int2", "int4", "uint1", "uint2", "uint4"), "T.quantize(x, 0.5, 3, 'int8')"),
    # JAX
    **dict.fromkeys(("psum", "psum_scatter"), "T.sum(x, axis=0)"), "pmean": "T.mean(x, axis=0)",
    "pmax": "T.max(x, axis=0)", "pmin": "T.min(x, axis=0)", "axis_index": "T.arange(3)", "axis_size": "x.shape[0]",
    **dict.fromkeys(("ppermute", "pshuffle"), "x[i]"), **dict.fromkeys(("pswapaxes", "all_to_all"), "x.T"),
    **dict.fromkeys(("all_gather", "pbroadcast", "pcast", "psend", "precv", "ragged_all_to_all",
                     "with_sharding_constraint", "optimization_barrier", "after_all", "create_token", "dce_sink",
                     "composite", "contiguous", "clone", "cpu", "cuda", "values", "data_ptr"), "x"),
    "platform_dependent": "ag.function([x], x + 1, target='host')",
    **dict.fromkeys(("approx_max_k", "top_k"), "T.topk(x, 2)"), "approx_min_k": "T.topk(-x, 2)",
    "associative_scan": "ag.scan(lambda a, b: a + b, sequences=v, outputs_info=s)",
    **dict.fromkeys(("batch_matmul", "ragged_dot", "ragged_dot_general", "scaled_dot"), "T.matmul(x, y)"),
    "bessel_i0e": "T.special.i0e(x)", "bessel_i1e": "T.special.i1e(x)",
    "bitcast_convert_type": "ag.pure_callback(lambda a: a.view('int64'), i[:, None] * T.ones((3, 3), 'int64'), x)",
    "broadcast_in_dim": "T.broadcast_to(v[:, None], (3, 4))", "broadcast_like": "T.broadcast_to(v, x.shape)",
    "broadcast_to_rank": "T.expand_dims(v, 0)", "broadcasted_iota": "T.broadcast_to(T.arange(3), (2, 3))",
    "iota": "T.arange(3)", "clz": "63 - T.floor(T.log2(i))", "collapse": "T.reshape(x, (-1,))", "complex": "x + 1j * y",
    **dict.fromkeys(("conv", "conv_general_dilated", "conv_general_dilated_local", "conv_with_general_padding"),
                    "T.nn.conv2d(x[None, None], y[None, None])"),
    "conv_transpose": "T.nn.conv_transpose2d(x[None, None], y[None, None])",
    "conv_general_dilated_patches": "T.nn.unfold(x[None, None], 2)",
    "convert_element_type": "T.cast(x, 'float32')",
    "cumlogsumexp": "T.log(T.cumsum(T.exp(x - T.max(x)), 0)) + T.max(x)", "cummax": "np.maximum.accumulate(x)",
    "cummin": "np.minimum.accumulate(x)", **dict.fromkeys(("custom_linear_solve",), "T.linalg.solve(x, v)"),
    "custom_root": "ag.root(lambda a: a**2 - s, 1.0)", "dot_general": "T.einsum('ij,jk->ik', x, y)",
    **dict.fromkeys(("dynamic_slice", "dynamic_slice_in_dim"), "x[i[0] : i[0] + 2]"),
    "dynamic_index_in_dim": "x[i[0]]",
    **dict.fromkeys(("dynamic_update_slice", "dynamic_update_slice_in_dim", "dynamic_update_index_in_dim"),
                    "T.set_subtensor(x[i[0]], 0.0)"),
    "erf_inv": "T.special.erfinv(x)", "igamma": "T.special.gammainc(x, y)", "igammac": "T.special.gammaincc(x, y)",
    **dict.fromkeys(("igamma_grad_a", "random_gamma_grad"), "ag.grad(T.sum(T.special.gammainc(x, y)), x)"),
    "index_in_dim": "x[0]", "index_take": "x[i]", "integer_pow": "x**3", "is_finite": "T.isfinite(x)",
    "logistic": "T.sigmoid(x)", "map": "ag.vmap(lambda r: T.sum(r))(x)",
    "mulhi": "T.right_shift(T.cast(i, 'int64') * i, 32)",
    "population_count": "T.bitwise_count(i)", "reduce": "T.sum(x)", "reduce_and": "T.all(x > 0)",
    "reduce_or": "T.any(x > 0)", "reduce_xor": "np.bitwise_xor.reduce(i)",
    "reduce_precision": "T.cast(T.cast(x, 'float16'), 'float64')",
    "reduce_window": "T.nn.max_pool2d(x[None, None], 2)", "rem": "T.fmod(x, y)", "rev": "T.flip(x, 0)",
    "rng_uniform": "T.random.RandomStream(0).uniform(size=(2,))",
    "rng_bit_generator": "T.random.RandomStream(0).integers(0, 9, size=(2,))",
    "scatter_apply": "T.set_subtensor(x[i], T.exp(x[i]))", "scatter_max": "x.at[i].max(y)",
    "scatter_min": "x.at[i].min(y)", "scatter_mul": "x.at[i].multiply(y)", "scatter_sub": "x.at[i].add(-y)",
    "select_n": "T.where(x > 0, x, y)", "shape_as_value": "x.shape", "shift_left": "T.left_shift(i, 1)",
    "shift_right_arithmetic": "T.right_shift(i, 1)",
    "shift_right_logical": "T.right_shift(T.cast(i, 'uint64'), 1)",
    **dict.fromkeys(("slice", "slice_in_dim"), "x[0:2]"),
    "sort_key_val": "x[T.argsort(v)]", "while_loop": "ag.while_loop(lambda a: a < 3, lambda a: a + 1, s)",
    # attributes of tensors of other libraries
    **dict.fromkeys(("numpy", "item", "tolist", "to_numpy", "block_until_ready", "realize"),
                    "ag.function([x], x)"),
    **dict.fromkeys(("backward", "requires_grad", "requires_grad_", "retain_grad"), "ag.grad(T.sum(x), x)"),
    "dim": "x.ndim",
    "inverse": "T.linalg.inv(x)", "loc": "x[0]", "iloc": "x[0]", "to": "T.cast(x, 'float32')", "t": "x.T",
    "index_add": "x.at[i].add(y)", "index_copy": "T.set_subtensor(x[i], y)", "add_": "x + y", "mul_": "x * y",
    "fill_": "T.full_like(x, 1.0)", "zero_": "T.zeros_like(x)",
}  # fmt: skip
"""For `T`."""

PACKAGE: Mapping[str, str] = {
    # Theano, PyTensor
    **dict.fromkeys(("tensor", "numpy", "scalar"), "ag.ops"),
    **dict.fromkeys(("printing", "pp", "debugprint"), "ag.pprint(x)"), "pydotprint": "ag.draw(x)",
    **dict.fromkeys(("foldl", "foldr", "map", "reduce"), "ag.scan(lambda a: a + 1, sequences=v)[0]"),
    **dict.fromkeys(("clone_replace", "graph_replace", "clone"), "ag.function([y], x + 1, givens={x: y})"),
    "Rop": "ag.jvp(x**2, x, y)", "Lop": "ag.vjp(x**2, x, y)", "subgraph_grad": "ag.grad(T.sum(x), x)",
    **dict.fromkeys(("as_op", "Op", "Apply"), "ag.array_op"), "Variable": "T.TensorVariable",
    "Constant": "T.TensorConstant", **dict.fromkeys(("In", "Out", "Param"), "ag.function([x], x + 1)"),
    **dict.fromkeys(("config", "get_default_mode", "predefined_modes", "flags"), "ag.Mode('FAST_RUN')"),
    "gof": "ag.FunctionGraph",
    # JAX
    "remat": "ag.checkpoint", "tree_util": "ag.tree", "custom_gradient": "ag.custom_vjp", "debug": "ag.debug_print",
    "closure_convert": "ag.custom_vjp", "pmap": "ag.vmap(lambda r: T.sum(r))(x)", "typeof": "x.type",
    **dict.fromkeys(("make_jaxpr", "eval_shape", "named_call"), "ag.pprint(x + 1)"),
    **dict.fromkeys(("device_put", "Array"), "T.as_tensor([1.0])"), "device_get": "ag.function([x], x)",
    **dict.fromkeys(("debug_nans", "debug_infs"), "ag.function([x], x + 1, mode='NAN')"),
    **dict.fromkeys(("disable_jit", "checking_leaks"), "ag.function([x], x + 1, mode='NUMPY')"),
    **dict.fromkeys(("linear_transpose", "fwd_and_bwd"), "ag.vjp(x**2, x, y)"), "scipy": "T.special",
    # numba, PyTorch, TensorFlow
    **dict.fromkeys(("njit", "compile", "cfunc", "jit_module", "script", "trace", "stencil"),
                    "ag.jit(lambda a: a + 1)"), "guvectorize": "T.vectorize(lambda r: T.sum(r), signature='(n)->()')",
    **dict.fromkeys(("set_num_threads", "get_num_threads", "prange"), "ag.function([x], x + 1, threads=2)"),
    "objmode": "ag.pure_callback(np.cos, x, x)", "onnx": "ag.to_onnx", "autograd": "ag.grad(T.sum(x), x)",
}  # fmt: skip
"""For `ag`, beside what `INSTEAD` has."""

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
    "tril": "T.tril(x)", "triu": "T.triu(x)", "dot": "T.dot(x, y)", "householder_product": "T.linalg.qr(x)[0]",
    "cholesky_ex": "T.linalg.cholesky(x)", "solve_ex": "T.linalg.solve(x, y)", "lu_factor_ex": "T.linalg.lu_factor(x)",
    "ldl_factor_ex": "T.linalg.lu_factor(x)", "ldl_solve": "T.linalg.solve(x, y)",
    "matrix_sqrth": "T.linalg.sqrtm(x)", "get_lapack_funcs": "T.linalg.solve(x, y)", "get_blas_funcs": "T.matmul(x, y)",
    "find_best_blas_type": "T.result_type(x, y)", "LinAlgWarning": "T.linalg.cond(x)",
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
    **dict.fromkeys(("geterr", "seterr", "errstate", "SpecialFunctionError", "SpecialFunctionWarning"),
                    "T.isfinite(x)"),
    # PyTorch, JAX
    "airy_ai": "T.special.airyai(x)", "bessel_j0": "T.special.j0(x)", "bessel_j1": "T.special.j1(x)",
    "bessel_jn": "T.special.jv(s, x)", "bessel_y0": "T.special.y0(x)", "bessel_y1": "T.special.y1(x)",
    "modified_bessel_i0": "T.special.i0(x)", "modified_bessel_i1": "T.special.i1(x)",
    "modified_bessel_k0": "T.special.k0(x)", "modified_bessel_k1": "T.special.k1(x)",
    "scaled_modified_bessel_k0": "T.special.k0e(x)", "scaled_modified_bessel_k1": "T.special.k1e(x)",
    "spherical_bessel_j0": "T.sinc(x / 3.141592653589793)",
    "chebyshev_polynomial_t": "T.special.hyp2f1(-y, y, 0.5, (1 - x) / 2)",
    "chebyshev_polynomial_u": "(y + 1) * T.special.hyp2f1(-y, y + 2, 1.5, (1 - x) / 2)",
    "chebyshev_polynomial_v": "T.cos((y + 0.5) * T.arccos(x)) / T.cos(T.arccos(x) / 2)",
    "chebyshev_polynomial_w": "T.sin((y + 0.5) * T.arccos(x)) / T.sin(T.arccos(x) / 2)",
    "shifted_chebyshev_polynomial_t": "T.special.hyp2f1(-y, y, 0.5, 1 - x)",
    "shifted_chebyshev_polynomial_u": "(y + 1) * T.special.hyp2f1(-y, y + 2, 1.5, 1 - x)",
    "shifted_chebyshev_polynomial_v": "T.cos((y + 0.5) * T.arccos(2 * x - 1)) / T.cos(T.arccos(2 * x - 1) / 2)",
    "shifted_chebyshev_polynomial_w": "T.sin((y + 0.5) * T.arccos(2 * x - 1)) / T.sin(T.arccos(2 * x - 1) / 2)",
    "hermite_polynomial_h": "ag.pure_callback(scipy.special.eval_hermite, x, y, x)",
    "hermite_polynomial_he": "ag.pure_callback(scipy.special.eval_hermitenorm, x, y, x)",
    "laguerre_polynomial_l": "T.special.hyp1f1(-y, 1.0, x)",
    "legendre_polynomial_p": "T.special.hyp2f1(-y, y + 1, 1.0, (1 - x) / 2)",
}  # fmt: skip
"""For `T.special`."""

SPARSE: Mapping[str, str] = {
    # SciPy; m and c are sparse matrices
    **dict.fromkeys(("bsr_matrix", "bsr_array", "dok_matrix", "dok_array", "lil_matrix", "lil_array"),
                    "T.sparse.csr_matrix('m')"),
    "dia_matrix": "T.sparse.diags(v)", "dia_array": "T.sparse.diags(v)",
    "spdiags": "T.sparse.diags([v, v[:-1]], [0, 1])",
    "norm": "T.linalg.norm(m.data)", "linalg": "T.linalg.solve(m.toarray(), v)",
    **dict.fromkeys(("random", "rand", "random_array"),
                    "T.sparse.constant(scipy.sparse.random(3, 3, random_state=0))"),
    "isspmatrix": "T.sparse.issparse(m)",
    "spmatrix": "T.sparse.SparseMatrix", "sparray": "T.sparse.SparseMatrix",
    **dict.fromkeys(("isspmatrix_bsr", "isspmatrix_coo", "isspmatrix_csc", "isspmatrix_csr", "isspmatrix_dia",
                     "isspmatrix_dok", "isspmatrix_lil"), "m.format"),
    "load_npz": "T.sparse.constant(scipy.sparse.eye_array(3))", "save_npz": "ag.function([m], m)",
    **dict.fromkeys(("get_index_dtype", "safely_cast_index_arrays"), "m.parts[1].dtype"),
    **dict.fromkeys(("SparseWarning", "SparseEfficiencyWarning"), "m.tocsr()"),
    "expand_dims": "m.toarray()[None]", "permute_dims": "m.T", "swapaxes": "m.T",
}  # fmt: skip
"""For `T.sparse`."""

_IN_PLACE = ("celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "rrelu_", "selu_", "threshold_")
NETWORKS: Mapping[str, str] = {
    # PyTorch
    **{name: f"T.nn.{name[:-1]}({'x, 0.1, 0.0' if name == 'threshold_' else 'x'})" for name in _IN_PLACE},
    **{f"adaptive_max_pool{n}d_with_indices":
       f"T.nn.adaptive_max_pool{n}d(x[{'None, ' * n}], 2, return_indices=True)" for n in (1, 2, 3)},
    **{f"max_pool{n}d_with_indices":
       f"T.nn.max_pool{n}d(x[{'None, ' * n}], 2, return_indices=True)" for n in (1, 2)},
    "max_pool3d_with_indices": "T.nn.max_pool3d(T.ones((1, 1, 4, 4, 4)), 2, return_indices=True)",
    "fractional_max_pool2d_with_indices": "T.nn.fractional_max_pool2d(x[None, None], 2, 2, rng=r)",
    "fractional_max_pool3d_with_indices": "T.nn.fractional_max_pool3d(T.ones((1, 1, 4, 4, 4)), 2, 2, rng=r)",
    **dict.fromkeys(("upsample", "upsample_nearest"), "T.nn.interpolate(x[None, None], scale_factor=2)"),
    "upsample_bilinear": "T.nn.interpolate(x[None, None], scale_factor=2, mode='bilinear', align_corners=True)",
    "multi_head_attention_forward": "T.nn.multi_head_attention(x[None], x[None], x[None], 1, T.ones((9, 3)))",
    "native_channel_shuffle": "T.nn.channel_shuffle(T.ones((1, 4, 3, 3)), 2)",
    "linear_cross_entropy": "T.nn.cross_entropy(T.nn.linear(x, y), i)",
    "conv_tbc": "T.nn.conv1d(T.transpose(x[None], (0, 2, 1)), y[None])",
    **dict.fromkeys(("grouped_mm", "scaled_mm", "scaled_grouped_mm", "scaled_matmul", "scaled_dot_general"),
                    "T.matmul(x, y)"),
    "Tensor": "T.TensorVariable",
    # JAX
    "dot_product_attention": "T.nn.scaled_dot_product_attention(x, x, x)", "hard_sigmoid": "T.nn.hardsigmoid(x)",
    **dict.fromkeys(("hard_silu", "hard_swish"), "T.nn.hardswish(x)"), "hard_tanh": "T.nn.hardtanh(x)",
    "log_sigmoid": "T.nn.logsigmoid(x)", "logmeanexp": "T.logsumexp(x) - T.log(x.size)",
    "soft_sign": "T.nn.softsign(x)", "sparse_plus": "T.where(x < 1, T.square(T.maximum(x + 1, 0)) / 4, x)",
    "sparse_sigmoid": "T.clip((x + 1) / 2, 0, 1)", "swish": "T.nn.silu(x)",
    "squareplus": "(x + T.sqrt(T.square(x) + 4)) / 2", "get_scaled_dot_general_config": "T.matmul(x, y)",
    "standardize": "(x - T.mean(x, -1, keepdims=True)) / T.std(x, -1, keepdims=True)",
}  # fmt: skip
"""For `T.nn`."""

DISTRIBUTIONS: Mapping[str, str] = {
    # SciPy
    **{name: f"T.distributions.{ours}" for name, ours in {
        "norm": "Normal()", "uniform": "Uniform()", "expon": "Exponential(1.0)", "gamma": "Gamma(2.0, 1.0)",
        "erlang": "Gamma(2.0, 1.0)", "beta": "Beta(2.0, 3.0)", "t": "StudentT(4.0)", "cauchy": "Cauchy(0.0, 1.0)",
        "laplace": "Laplace(0.0, 1.0)", "logistic": "Logistic(0.0, 1.0)", "gumbel_r": "Gumbel(0.0, 1.0)",
        "lognorm": "LogNormal(0.0, 1.0)", "halfnorm": "HalfNormal(1.0)", "halfcauchy": "HalfCauchy(1.0)",
        "invgamma": "InverseGamma(2.0, 1.0)", "levy": "Levy(0.0, 1.0)", "maxwell": "Maxwell(1.0)",
        "pareto": "Pareto(2.0, 1.0)", "rayleigh": "Rayleigh(1.0)", "wald": "Wald(1.0, 1.0)",
        "invgauss": "Wald(1.0, 1.0)", "weibull_min": "Weibull(2.0, 1.0)", "chi2": "ChiSquared(3.0)",
        "f": "FDistribution(3.0, 4.0)", "skewnorm": "SkewNormal(0.0, 1.0, 2.0)", "triang": "Triangular(0.0, 0.5, 1.0)",
        "truncnorm": "TruncatedNormal(0.0, 1.0, -1.0, 1.0)", "vonmises": "VonMises(0.0, 1.0)",
        "laplace_asymmetric": "AsymmetricLaplace(1.0)", "exponnorm": "ExGaussian(0.0, 1.0, 1.0)",
        "bernoulli": "Bernoulli(0.3)", "binom": "Binomial(5, 0.3)", "betabinom": "BetaBinomial(5, 2.0, 3.0)",
        "geom": "Geometric(0.3)", "hypergeom": "Hypergeometric(5, 4, 3)", "logser": "LogSeries(0.3)",
        "nbinom": "NegativeBinomial(5.0, 0.3)", "poisson": "Poisson(3.0)", "randint": "DiscreteUniform(0, 5)",
        "zipf": "Zipf(2.0)", "dirichlet": "Dirichlet(v)", "multinomial": "Multinomial(5, T.softmax(v))",
        "multivariate_normal": "MultivariateNormal(v, T.eye(3))", "rv_continuous": "Distribution",
        "rv_discrete": "Distribution", "make_distribution": "Distribution",
    }.items()},
    "gmean": "T.exp(T.mean(T.log(x), axis=0))", "hmean": "1 / T.mean(1 / x, axis=0)",
    "pmean": "T.mean(x**3, axis=0) ** (1 / 3)", "zscore": "(x - T.mean(x, axis=0)) / T.std(x, axis=0)",
    "zmap": "(x - T.mean(y, axis=0)) / T.std(y, axis=0)", "gstd": "T.exp(T.std(T.log(x), axis=0, ddof=1))",
    "gzscore": "(T.log(x) - T.mean(T.log(x), axis=0)) / T.std(T.log(x), axis=0)",
    "sem": "T.std(x, axis=0, ddof=1) / T.sqrt(x.shape[0])", "variation": "T.std(x, axis=0) / T.mean(x, axis=0)",
    "moment": "T.mean((x - T.mean(x, axis=0)) ** 3, axis=0)",
    "skew": "T.mean((x - T.mean(x, axis=0)) ** 3, axis=0) / T.std(x, axis=0) ** 3",
    "kurtosis": "T.mean((x - T.mean(x, axis=0)) ** 4, axis=0) / T.var(x, axis=0) ** 2 - 3",
    "iqr": "T.percentile(x, 75) - T.percentile(x, 25)", "tmean": "T.mean(x)", "tvar": "T.var(x, ddof=1)",
    "tstd": "T.std(x, ddof=1)", "tmin": "T.min(x, axis=0)", "tmax": "T.max(x, axis=0)",
    "tsem": "T.std(x, ddof=1) / T.sqrt(x.size)", "trim_mean": "T.mean(T.sort(x, axis=0)[1:-1], axis=0)",
    "median_abs_deviation": "T.median(T.abs(x - T.median(x, axis=0)), axis=0)", "quantile": "T.quantile(x, 0.5)",
    "scoreatpercentile": "T.percentile(x, 50)", "percentileofscore": "100 * T.mean(v <= s)",
    "entropy": "-T.sum(T.special.xlogy(v / T.sum(v), v / T.sum(v)))", "mode": "T.argmax(T.bincount(i))",
    "rankdata":
    "(T.searchsorted(T.sort(v), v) + T.searchsorted(T.sort(v), v, side='right') + 1) / 2",
    "pearsonr": "T.corrcoef(v, x[0])[0, 1]",
    "circmean": "T.arctan2(T.mean(T.sin(v)), T.mean(T.cos(v)))",
    "circvar": "1 - T.hypot(T.mean(T.sin(v)), T.mean(T.cos(v)))",
    "circstd": "T.sqrt(-2 * T.log(T.hypot(T.mean(T.sin(v)), T.mean(T.cos(v)))))",
    "linregress": "T.polyfit(v, x[0], 1)", "boxcox": "T.expm1(s * T.log(x)) / s",
    "sigmaclip": "x[T.abs(x - T.mean(x)) < 4 * T.std(x)]",
}  # fmt: skip
"""For `T.distributions`."""

SPARSE_MATRIX: Mapping[str, str] = {
    "A": "m.toarray()", "todense": "m.toarray()", "to_dense": "m.toarray()", "H": "m.T", "getrow": "m[0]",
    "getcol": "m[:, 0]", "getnnz": "m.nnz", "copy": "m", "reshape": "m.toarray().reshape((-1,))",
    "eval": "ag.function([m], m)", "argmax": "T.argmax(m.toarray())", "argmin": "T.argmin(m.toarray())",
    "nanmax": "T.nanmax(m.toarray())", "nanmin": "T.nanmin(m.toarray())", "sort_indices": "m.sorted_indices()",
    "has_canonical_format": "m.sum_duplicates()", "has_sorted_indices": "m.sorted_indices()", "prune": "m",
    "check_format": "m", "resize": "m[:2, :2]", "setdiag": "m - T.sparse.diags(m.diagonal()) + T.sparse.diags(v)",
    **dict.fromkeys(("tobsr", "todia", "todok", "tolil"), "m.tocsr()"), "coords": "m.places",
    "getformat": "m.format", "asfptype": "m.astype('float64')", "get_shape": "m.shape", "set_shape": "m[:2, :2]",
}  # fmt: skip
"""For attributes of a sparse matrix m."""

DISTRIBUTION: Mapping[str, str] = {
    # SciPy, PyTorch, TensorFlow, PyMC
    **dict.fromkeys(("logpdf", "logpmf", "log_prob", "logp"), "d.log_density(x)"),
    **dict.fromkeys(("pdf", "pmf", "prob"), "d.density(x)"),
    **dict.fromkeys(("rvs", "rsample", "random", "draw"), "d.sample(T.random.RandomStream(0))"),
    **dict.fromkeys(("ppf", "icdf"), "d.quantile(s)"), "survival_function": "d.sf(x)", "logcdf": "d.log_cdf(x)",
    **dict.fromkeys(("logsf", "log_survival_function"), "d.log_sf(x)"), "expect": "d.mean()", "loc": "d.mean()",
    **dict.fromkeys(("variance", "moment"), "d.var()"), "stddev": "d.std()", "support": "d.interval(1.0)",
}  # fmt: skip
"""For attributes of a distribution d of scalar parameters."""

JITTED: Mapping[str, str] = {
    # the functions of `ag.function`, Theano, PyTensor, JAX, numba
    **{name: f"g.compiled(a).{name}" for name in (
        "graph", "profile", "optimizer_profile", "remarks", "explain", "trace", "why_not", "why", "report", "export",
        "mode", "program", "proof", "journal", "c_path", "low_level", "unoptimized_graph", "backend",
    )}, "py_func": "g.__wrapped__",
    **dict.fromkeys(("maker", "fgraph", "jaxpr", "inspect_types"), "g.compiled(a).graph"),
    **dict.fromkeys(("c_source", "lower", "as_text", "inspect_asm", "inspect_llvm"), "g.compiled(a).c_source()"),
    **dict.fromkeys(("cost_analysis", "memory_analysis", "stats"), "g.compiled(a).profile"),
    **dict.fromkeys(("signatures", "nopython_signatures", "cache_info", "overloads"), "g.traces"),
}  # fmt: skip
"""For attributes of a function g that `ag.jit` made; a: the arguments of a call."""

STREAM: Mapping[str, str] = {
    # NumPy's old functions, SciPy, PyTorch, JAX
    "rand": "r.uniform(size=(2,))", "randn": "r.normal(size=(2,))", "randint": "r.integers(0, 3, size=(2,))",
    "random_integers": "r.integers(0, 3, size=(2,))", "random_sample": "r.uniform(size=(2,))",
    "rvs": "T.distributions.Normal().sample(r, (2,))", "categorical": "r.choice(3, size=(2,))",
    "truncated_normal": "T.distributions.TruncatedNormal(0.0, 1.0, -1.0, 1.0).sample(r, (2,))",
    "randperm": "r.permutation(3)",
}  # fmt: skip
"""For attributes of a stream of random numbers r."""
