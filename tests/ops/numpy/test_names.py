"""Every name of NumPy's main namespace is in `T` or left out with a reason; the standard's names; advice for others."""

import functools
import importlib.util
import inspect
import json
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from array_api import eager
from campaign.values.parity import FAILURES, LEFT_OUT, standard_summary

import arignote as ag
from arignote import ops as T
from arignote.ops.standard.instead import (
    DISTRIBUTION,
    DISTRIBUTIONS,
    INSTEAD,
    JITTED,
    LINALG,
    NETWORKS,
    PACKAGE,
    SPARSE,
    SPARSE_MATRIX,
    SPECIAL,
    STREAM,
)
from arignote.ops.standard.scipy_names import DENSITIES, ELEMENTWISE, NUMBERS, STATISTICS

WITHOUT = {name for names in LEFT_OUT.values() for name in names.split()}


def test_every_name_of_numpys_main_namespace_is_there_or_left_out_with_a_reason():
    names = {n for n in np.__all__ if not n.startswith("_")}  # other packages add names to the module
    assert not names - WITHOUT - set(dir(T))
    assert not WITHOUT & set(dir(T)) - {"matrix"}
    assert len(names - WITHOUT) > 350


JIT_OF_EXP = ag.jit(np.exp)
STREAM_OF_DRAWS, NORMAL, MATRIX = T.random.RandomStream(1), T.distributions.Normal(), T.sparse.csr_matrix("m")


@pytest.mark.parametrize(("space", "table"), [
    (T, INSTEAD), (T.linalg, LINALG), (T.special, SPECIAL), (T.sparse, SPARSE), (MATRIX, SPARSE_MATRIX),
    (T.nn, NETWORKS), (T.distributions, DISTRIBUTIONS), (ag, PACKAGE),
    (NORMAL, DISTRIBUTION), (STREAM_OF_DRAWS, STREAM), (JIT_OF_EXP, JITTED),
])  # fmt: skip
def test_the_advice_for_a_name_that_is_missing_works(space, table):
    x, y = (T.matrix(n, shape=(3, 3)) for n in "xy")
    pytest.importorskip("scipy.sparse")
    known = {"T": T, "ag": ag, "np": np, "x": x, "y": y, "v": T.vector("v", shape=(3,)),
             "i": T.lvector("i", shape=(3,)),
             "s": T.scalar("s"), "m": MATRIX, "d": NORMAL, "r": STREAM_OF_DRAWS,
             "g": JIT_OF_EXP, "a": np.ones(2),
             "scipy": sys.modules["scipy"]}  # fmt: skip
    for name, advice in table.items():
        with pytest.raises(AttributeError) as error:
            getattr(space, name)
        assert f"use {advice}" in str(error.value) or "it is T." in str(error.value), name
        assert eval(advice, dict(known)) is not None, name
    with pytest.raises(AttributeError, match=r"no attribute 'eigh'; it is T\.linalg\.eigh"):
        T.eigh  # noqa: B018
    for owner, name, words in ((ag, "softmax", "it is T.softmax"), (ag, "cat", "use T.concatenate"), (ag, "funtion",
         "did you mean 'function'"), (T, "value_and_grad", "it is ag.value_and_grad")):  # fmt: skip
        with pytest.raises(AttributeError, match=f"no attribute '{name}'; {words}"):
            getattr(owner, name)


INTERNAL = frozenset((
    "assert_int_or_pair", "boolean_dispatch", "handle_torch_function", "has_torch_function",
    "has_torch_function_unary", "has_torch_function_variadic", "reproducibility_notes", "sparse_support_notes",
    "tf32_notes", "common_notes", "conv_dimension_numbers", "conv_general_permutations", "conv_general_shape_tuple",
    "conv_shape_tuple", "conv_transpose_shape_tuple", "padtype_to_pads", "reduce_window_shape_tuple", "stage",
))  # fmt: skip
"""Public names of PyTorch and JAX that only their own code calls."""
NAMES = """
import importlib, json, sys
def names(module):
    there = importlib.import_module(module)
    return [n for n in getattr(there, "__all__", dir(there)) if type(getattr(there, n)) is not type(sys)]
"""


@functools.cache
def names_of_jax():
    """The public names of JAX's modules, from another process, for JAX changes the environment of its own."""
    modules = ["jax.numpy", "jax.nn", "jax.lax", "jax.scipy.special"]
    code = f"{NAMES}\nprint(json.dumps({{m: names(m) for m in {modules}}}))"
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True)
    return json.loads(found.stdout)


@pytest.mark.parametrize(("module", "space"), [
    ("numpy", T), ("numpy.linalg", T.linalg), ("numpy.fft", T.fft), ("scipy.special", T.special),
    ("scipy.linalg", T.linalg), ("scipy.sparse", T.sparse), ("scipy.stats", T.distributions),
    ("torch.nn.functional", T.nn), ("torch.special", T.special), ("torch.linalg", T.linalg), ("jax.numpy", T),
    ("jax.nn", T.nn), ("jax.lax", T), ("jax.scipy.special", T.special),
])  # fmt: skip
def test_every_name_of_other_libraries_is_there_or_has_an_advice(module, space):
    if importlib.util.find_spec(module.split(".")[0]) is None:
        pytest.skip(f"{module} is not installed")
    here: dict[str, Any] = {}
    exec(NAMES, here)
    names = names_of_jax()[module] if module.startswith("jax") else here["names"](module)
    lacking = []
    for name in sorted({*names} - INTERNAL):
        if name[0] == "_" or name[0].isupper() or name.endswith("_p"):
            continue
        try:
            getattr(space, name)
        except AttributeError as error:
            if "; use " not in str(error) and "; it is T." not in str(error):
                lacking.append(name)
    assert len(names) > 10 and not lacking


def test_distributions_and_statistics_of_scipy_are_called_by_name():
    stats = pytest.importorskip("scipy.stats")
    known: dict[str, Any] = {"ag": ag, "scipy": sys.modules["scipy"], **{n: T.vector(n) for n in "xys"}}
    for (method, parameters), names in DENSITIES.items():
        for name in names.split():
            words = rf"use ag\.pure_callback\(scipy\.stats\.{name}\.{method}, x"
            with pytest.raises(AttributeError, match=words) as error:
                getattr(T.distributions, name)
            assert eval(str(error.value).split("; use ")[1], dict(known)).ndim == 1
            assert getattr(stats, name).numargs == parameters
    assert all(hasattr(stats, name) for name in STATISTICS.split())
    rice = ag.pure_callback(stats.rice.logpdf, known["x"], known["x"], known["y"])
    values = ag.function([known["x"], known["y"]], rice)(np.array([1.0, 2.0]), np.array([0.5, 0.7]))
    np.testing.assert_allclose(values, stats.rice.logpdf([1.0, 2.0], [0.5, 0.7]))


@pytest.mark.parametrize(("call", "message"), [
    (lambda x: T.nn.softmax(x, dim=1), "softmax: there is no argument dim; use axis=1"),
    (lambda x: T.sum(x, axis=0, keepdim=True), "sum: there is no argument keepdim; use keepdims=True"),
    (lambda x: x.mean(dim=0), "mean: there is no argument dim; use axis=0"),
    (lambda x: T.concatenate([x, x], dim=1), "concatenate: there is no argument dim; use axis=1"),
    (lambda x: T.nn.max_pool2d(x[None, None], kernel_size=2), "max_pool2d: there is no argument kernel_size; use ker"),
    (lambda x: T.nn.conv2d(x[None, None], weight=x), "conv2d: there is no argument weight; use w="),
    (lambda x: T.nn.relu(x, inplace=True), "relu: there is no argument inplace; leave it out: tensors are values"),
    (lambda x: T.nn.normalize(x, something=1), "normalize: there is no argument something; expected x, p, axis, eps"),
    (lambda x: T.logsumexp(x, dim=(0, 1)), r"logsumexp: there is no argument dim; use axis=\(0, 1\)"),
    (lambda x: T.nn.embedding([0], x, max_norm=1.0), r"no argument max_norm; scale the rows first: weights \*"),
    (lambda x: T.nn.embedding([0], x, sparse=True), "there is no argument sparse; leave it out: the gradient is a den"),
    (lambda x: T.nn.embedding_bag([[0]], x, scale_grad_by_freq=True), "scale_grad_by_freq; divide the gradient's rows"),
    (lambda x: x.std(axis=0, unbiased=True), "std: there is no argument unbiased; use ddof="),
])  # fmt: skip
def test_arguments_of_other_libraries_are_named_as_here(call, message):
    with pytest.raises(TypeError, match=message):
        call(T.matrix("x"))


def test_attributes_that_tensors_lack_are_named_as_here():
    x = T.matrix("x")
    for name, instead in {
        "softmax": "T.softmax(x)", "unsqueeze": "T.expand_dims(x, 0)", "backward": "ag.grad(T.sum(x), x)",
        "gelu": "T.gelu(x)", "hardswish": "T.nn.hardswish(x)", "slogdet": "T.linalg.slogdet(x)",
    }.items():  # fmt: skip
        with pytest.raises(AttributeError) as error:
            getattr(x, name)
        assert str(error.value) == f"'TensorVariable' object has no attribute '{name}'; use {instead}"
    assert not hasattr(x, "__array_interface__") and not hasattr(x, "toarray")
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_every_name_of_scipy_is_there_or_has_an_advice():
    special, linalg = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.linalg")
    x, y = T.matrix("x"), T.matrix("y")
    known = {"T": T, "ag": ag, "scipy": sys.modules["scipy"], "x": x, "y": y, "s": T.scalar("s")}
    numbers = {f"{space}.{name}" for space, names in NUMBERS.items() for name in names.split()}
    without = {"geterr", "seterr", "errstate", "find_best_blas_type", "get_blas_funcs", "get_lapack_funcs"}
    for space, module in (("special", special), ("linalg", linalg)):
        ours = getattr(T, space)
        for name in set(module.__all__) - set(dir(ours)) - without:
            if not callable(getattr(module, name)) or name.endswith(("Warning", "Error")):
                continue
            with pytest.raises(AttributeError, match=r"; (use|it is) ") as error:
                getattr(ours, name)
            if "pure_callback" in str(error.value):
                assert eval(str(error.value).partition("; use ")[2], dict(known)) is not None
            elif "(...)" in str(error.value):
                assert f"{space}.{name}" in numbers
    assert sum(len(names.split()) for names in ELEMENTWISE.values()) > 100
    assert ag.function([x, y], ag.pure_callback(special.agm, x, x, y))(np.eye(2), np.ones((2, 2)))[0, 0] == 1
    with pytest.raises(AttributeError, match=r"no attribute 'logaddexp'; it is T\.logaddexp"):
        T.special.logaddexp  # noqa: B018


def test_functions_of_numpy_and_scipy_on_variables_are_ours_or_name_what_is():
    x = T.vector("x")
    assert np.i0(x).owner.op is T.i0(x).owner.op is T.special.i0
    with pytest.raises(TypeError, match=r"numpy\.array2string does not take the symbolic x: .*; use str\(x\)"):
        np.array2string(x)
    scipy = pytest.importorskip("scipy.special")
    with pytest.raises(TypeError, match=r"scipy\.special\.pdtr .*; use T\.special\.gammaincc\(x \+ 1, y\)"):
        scipy.pdtr(2.0, x)


def test_a_variable_names_the_standards_namespace():
    x = T.matrix("x", dtype="float32")
    xp = x.__array_namespace__()
    assert xp is T
    assert x.__array_namespace__(api_version="2024.12") is T
    with pytest.raises(ValueError, match=r"api_version: expected one of 2021.12, .*, got '2030.12'"):
        x.__array_namespace__(api_version="2030.12")
    assert x.device == "cpu"
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="to_device: expected \"cpu\""):
        x.to_device("gpu")
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] == xp.float64
    assert set(info.dtypes(kind="complex floating")) == {"complex64", "complex128"}
    assert "float16" not in info.dtypes()
    with pytest.raises(ValueError, match="the only device"):
        info.dtypes(device="gpu")
    assert x.dtype == xp.float32
    assert xp.result_type(x, xp.int8, 2.0) == xp.float32
    assert xp.result_type(x, T.lvector()) == xp.float64
    assert isinstance(xp.finfo(x).eps, float)
    assert xp.iinfo(xp.int8).max == 127
    assert xp.isdtype(x.dtype, ("integral", "real floating"))
    assert not xp.isdtype(xp.int8, "unsigned integer")
    assert xp.can_cast(x, "float64")
    assert not xp.can_cast("float64", xp.float32)
    with pytest.raises(TypeError, match="can_cast: expected a dtype or a tensor, got 3"):
        xp.can_cast(3, "int8")
    assert list(inspect.signature(eager.zeros).parameters)[-2:] == ["device", "like"]
    assert len(FAILURES) == 14


def test_dtypes_and_questions_about_them_are_numpys():
    x, z = T.vector("x", dtype="int16"), T.vector("z", dtype="complex64")
    assert T.promote_types("int8", "uint8") == np.promote_types("int8", "uint8")
    assert T.common_type(x, z) == np.common_type(np.zeros(1, "int16"), np.zeros(1, "complex64"))
    assert (T.iscomplexobj(z), T.iscomplexobj(x), T.iscomplexobj(1j), T.isrealobj(z), T.isrealobj([1])) == (
        True, False, True, False, True,
    )  # fmt: skip
    assert T.min_scalar_type(300) == np.min_scalar_type(300)
    assert T.min_scalar_type(x) == "int16"
    assert T.issubdtype("int8", T.integer)
    assert (T.isscalar(3), T.isscalar(x), T.isfortran(x)) == (True, False, False)
    assert T.iterable(T.vector(shape=(3,)))
    assert not T.iterable(T.vector())
    assert T.broadcast_shapes((3, 1), (4,), 4) == (3, 4)
    with pytest.raises(TypeError, match="broadcast_arrays"):
        T.broadcast_shapes((T.lscalar(), 1), (4,))
    with pytest.raises(ValueError, match="mismatch"):
        T.broadcast_shapes((3,), (4,))


def test_arrays_of_other_kinds_become_tensors():
    x = T.vector("x")
    assert T.asarray(x) is x
    assert T.asarray(x, copy=True) is not x
    assert T.asarray(x, "float32").dtype == "float32"
    assert T.array([1, 2], ndmin=3).type.shape == (1, 1, 2)
    assert T.asarray([[x[0], 1.0]], dtype="float32").eval({x: [3.0]}).tolist() == [[3.0, 1.0]]
    np.testing.assert_array_equal(T.from_dlpack(np.arange(3.0)).eval(), np.arange(3.0))
    np.testing.assert_array_equal(T.fromiter(iter([1, 2, 3]), "int8").eval(), np.int8([1, 2, 3]))
    for build in (lambda: T.asarray([1.0], copy=False), lambda: T.from_dlpack(np.zeros(1), copy=False),
                  lambda: T.asarray(x, "int8", copy=False), lambda: T.asarray_chkfinite([np.nan])):  # fmt: skip
        with pytest.raises(ValueError, match=r"copy=False|infs or NaNs"):
            build()
    with pytest.raises(TypeError, match=r"T\.real"):
        T.real_if_close(T.cvector())
    with pytest.raises(TypeError, match="given by slices"):
        T.mgrid[1]
    for got, want in (
        (T.mgrid[0:3, 0:1:5j], np.mgrid[0:3, 0:1:5j]), (T.mgrid[2:5], np.mgrid[2:5]), (T.ogrid[0:3, 0:2][1],
        np.ogrid[0:3, 0:2][1]), (T.r_[[1.0, 2.0], 0, 1:4], np.r_[[1.0, 2.0], 0, 1:4]),
        (T.c_[np.arange(3), np.ones(3)], np.c_[np.arange(3), np.ones(3)]),
        (T.fromfunction(lambda i, j: i - j, (2, 3), dtype=int), np.fromfunction(lambda i, j: i - j, (2, 3), dtype=int)),
    ):  # fmt: skip
        np.testing.assert_array_equal(got.eval(), want)


def test_the_wrapper_of_the_public_suite_computes_by_our_functions(capsys):
    x = eager.asarray(np.arange(6.0)).__array_namespace__().reshape(eager.asarray(np.arange(6.0)), (2, 3))
    x[0, 1] = 7.0
    assert float(eager.sum(x[x > 2.0])) == 7 + 2 * 0 + 3 + 4 + 5
    assert eager.linalg.eigh(eager.matmul(x, x.mT)).eigenvalues.shape == (2,)
    x += 1
    assert (bool(eager.all(x == x + 0)), x.dtype, len(x)) == (True, eager.float64, 2)
    assert standard_summary({"array_api_tests/test_a.py::b": "passed"}) == 0
    assert standard_summary({"array_api_tests/test_a.py::b": "failed", next(iter(FAILURES)): "passed"}) == 1
    assert "listed as failures, but passed" in capsys.readouterr().out


def test_the_standards_names_are_those_of_the_vocabulary():
    space = T.vector("x").__array_namespace__()
    assert space is T and len(dir(T.array_api)) > 150
    for name in dir(T.array_api):
        assert getattr(T.array_api, name) is getattr(T, name) or name == "floor_divide"
    a = np.float32([np.inf, -np.inf, 1, -1, np.inf, 7, np.nan, 0, np.inf])
    b = np.float32([2, 2, -np.inf, np.inf, -np.inf, 2, 1, np.inf, 0])
    x = T.vector("x", dtype="float32")
    values = ag.function([x], T.array_api.floor_divide(x, b))(a)
    np.testing.assert_array_equal(values, np.float32([np.inf, -np.inf, -0.0, -0.0, np.nan, 3, np.nan, 0, np.inf]))
    assert np.signbit(values[2:4]).all() and T.array_api.floor_divide(T.lvector("k"), 2).dtype == "int64"
    with pytest.raises(AttributeError, match="has no relu; T itself may have it"):
        T.array_api.relu  # noqa: B018
