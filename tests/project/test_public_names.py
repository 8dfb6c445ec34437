"""The public interface: names that users' programs are written against stay, and each says what it is."""

import inspect

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

VARIABLES = "scalar vector matrix tensor3 tensor4 row col tensor constant as_tensor"
EXPRESSIONS = """
    add sub mul true_div floor_div mod divmod pow neg abs sign square sqrt reciprocal maximum minimum
    eq ne lt le gt ge logical_and logical_or logical_xor logical_not isnan isinf isfinite
    bitwise_and bitwise_or bitwise_xor bitwise_not left_shift right_shift floor ceil trunc round rint
    exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh
    erf erfc gamma gammaln lgamma digamma polygamma xlogy where switch clip cast stop_gradient
    sum prod mean var std max min argmax argmin any all cumsum cumprod logsumexp
    reshape transpose dimshuffle expand_dims squeeze broadcast_to concatenate stack split tile repeat flip roll pad
    ravel moveaxis set_subtensor inc_subtensor take take_along_axis scatter_add
    zeros ones full arange eye linspace zeros_like ones_like full_like dot matmul tensordot outer einsum nn random
    sort argsort nonzero searchsorted unique diag diagonal trace tril triu tri kron linalg assume specify_shape
    median quantile percentile average cov corrcoef count_nonzero bincount digitize histogram
    nansum nanprod nanmean nanvar nanstd nanmax nanmin nanmedian nancumsum nancumprod nan_to_num fmax fmin
    isclose allclose isin isposinf isneginf select heaviside sinc float_power logaddexp2 fix amax amin
    atleast_1d atleast_2d atleast_3d broadcast_arrays column_stack dstack append hsplit vsplit unstack concat
    fliplr flipud rot90 matrix_transpose permute_dims meshgrid tril_indices triu_indices diag_indices unravel_index
    argwhere extract compress empty_like logspace geomspace
    diff gradient trapezoid interp polyval vander convolve correlate cross vecdot
"""
LINEAR_ALGEBRA = """
    cholesky solve solve_triangular inv pinv det slogdet eigh eigvalsh svd svdvals qr norm matrix_power
    lstsq matrix_rank cond multi_dot trace diagonal outer matmul tensordot cross vecdot vector_norm matrix_norm
    matrix_transpose LinAlgError
"""
NETWORKS = """
    sigmoid softplus relu gelu silu softmax log_softmax binary_crossentropy categorical_crossentropy
    batch_norm layer_norm dropout embedding by_phase running_updates
"""
LIBRARY = """
    shared function jit Mode Query optdb parse rewrite dprint pprint grad value_and_grad vjp jvp hvp jacobian hessian
    progress vmap vectorize optim Function FunctionGraph from_nnef from_onnx to_nnef to_onnx elementwise_op register_op
    freeze prune quantize batched on_dask
"""
OPTIMIZERS = "sgd momentum nesterov adagrad adadelta rmsprop adam adamax nadam"
OF_A_VARIABLE = """
    name type dtype ndim shape owner eval T astype reshape transpose dimshuffle squeeze ravel flatten swapaxes
    sum prod mean var std max min argmax argmin any all cumsum cumprod clip round dot take repeat conj real imag
    set inc at
"""
OF_A_FUNCTION = "graph optimizer_profile profile c_source explain"
OF_THE_DATABASE = "query table register unregister state entries __contains__ __getitem__"
OF_AN_OPTIMIZER_PROFILE = "to_dict rules"

LETTERS = ["b", "w", "i", "l", "ub", "uw", "ui", "ul", "h", "f", "d", "c", "z", "bool"]
KINDS = ["scalar", "vector", "matrix", "row", "col", "tensor3", "tensor4", "tensor5"]


@pytest.mark.parametrize(
    ("namespace", "names"),
    [(T, VARIABLES), (T, EXPRESSIONS), (T.linalg, LINEAR_ALGEBRA), (T.nn, NETWORKS), (ag, LIBRARY)],
    ids=["variables", "expressions", "linear algebra", "networks", "library"],
)
def test_promised_names_are_exported(namespace, names):
    assert not set(names.split()) - set(namespace.__all__)
    assert not [name for name in namespace.__all__ if not hasattr(namespace, name)]


@pytest.mark.parametrize("letter", LETTERS)
def test_typed_forms_are_exported_and_called_what_they_are(letter):
    for kind in KINDS:
        assert letter + kind in T.__all__
        assert getattr(T, letter + kind).__name__ == letter + kind


@pytest.mark.parametrize("what", ["variable", "shared", "function", "database", "profile", "mode", "optim"])
def test_promised_attributes_are_there(what):
    x = T.matrix("x")
    owner, names = {
        "variable": lambda: (x, OF_A_VARIABLE),
        "shared": lambda: (ag.shared(np.zeros(3)), OF_A_VARIABLE + "get_value set_value"),
        "function": lambda: (ag.function([x], x + 1, mode="NUMPY"), OF_A_FUNCTION),
        "database": lambda: (ag.optdb, OF_THE_DATABASE),
        "profile": lambda: (ag.function([x], x + 1, mode="NUMPY").optimizer_profile, OF_AN_OPTIMIZER_PROFILE),
        "mode": lambda: (ag.Mode(), "including excluding requiring limit"),
        "optim": lambda: (ag.optim, OPTIMIZERS),
    }[what]()
    assert not [name for name in names.split() if not hasattr(owner, name)]


PUBLIC = [
    (f"{prefix}.{name}", getattr(namespace, name))
    for prefix, namespace in (("T", T), ("T.linalg", T.linalg), ("T.nn", T.nn), ("ag", ag))
    for name in namespace.__all__
    if callable(getattr(namespace, name))
] + [(f"ag.optim.{name}", getattr(ag.optim, name)) for name in OPTIMIZERS.split()]
METHODS = [
    (f"{kind.__name__}.{name}", method)
    for kind in (T.TensorVariable, T.SharedVariable, ag.Function, ag.FunctionGraph, ag.Mode, ag.Query)
    for name, method in vars(kind).items()
    if inspect.isfunction(method) and not name.startswith("_")
    # `x.sum()` is `T.sum(x)`: one docstring serves both
    if not (kind is T.TensorVariable and name in T.__all__)
]


@pytest.mark.parametrize(("name", "thing"), PUBLIC + METHODS, ids=[name for name, _ in PUBLIC + METHODS])
def test_what_is_public_says_what_it_is(name, thing):
    text = inspect.getdoc(thing)
    assert text, f"{name} has no docstring"
    assert text.split("\n")[0].strip()
    if not inspect.isclass(thing) and not inspect.isroutine(thing):
        assert text != inspect.getdoc(type(thing)), f"{name} has the docstring of its class"
