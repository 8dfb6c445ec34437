"""Elementwise ops from outside the package: in NumPy and in C, fused, differentiated, pickled, cached, refused."""

import inspect
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T
from arignote.cbackend import CompileError
from arignote.function.function import find_toolchain
from arignote.graph import NoGradient
from arignote.graph.digest import Unnamed, digest
from arignote.ops.elementwise import records as elementwise
from arignote.ops.elementwise.code_digest import code_digest

WITH_C = pytest.mark.skipif(find_toolchain() is None, reason="needs a C compiler")
MODES = ["FAST_RUN", "FAST_COMPILE", "NUMPY"]


def softsign():
    return ag.elementwise_op(
        "softsign", lambda x: x / (1 + np.abs(x)), c="x / (1 + fabs{f}(x))", cost=6,
        derivative=lambda g, y, x: g / T.square(1 + T.abs(x)), doc="x / (1 + |x|), in (-1, 1).",
    )  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_an_op_in_c_is_like_those_of_the_package(mode):
    op, x = softsign(), T.matrix("x")
    y = T.exp(op(x)) + op(3)
    f = ag.function([x], [y, ag.grad(y.sum(), x)], mode=mode)
    values = np.linspace(-3, 3, 12).reshape(3, 4)[:, ::2]
    inner = values / (1 + np.abs(values))
    np.testing.assert_allclose(f(values)[0], np.exp(inner) + 0.75, rtol=1e-15)
    np.testing.assert_allclose(f(values)[1], np.exp(inner) / (1 + np.abs(values)) ** 2, rtol=1e-15)
    assert op.__doc__.startswith("softsign(x)\n\nx / (1 + |x|)") and str(op(x)).startswith("softsign(x):")


@pytest.mark.long
@WITH_C
def test_it_fuses_for_every_float_and_two_versions_do_not_meet():
    op = softsign()
    for dtype in ("float32", "float64", "float16", "int16"):
        x = T.tensor("x", dtype, (None,))
        f = ag.function([x], T.exp(op(x)) * 2)
        assert [n.op.name for n in f.graph.order] == ["fused"] and op.symbol in f.c_source() and f.backend == "c"
        values = np.array([1, -3, 0], dtype)
        expected = np.exp((values / (1 + np.abs(values))).astype(f(values).dtype)) * 2
        assert op(x).dtype == np.cbrt(values).dtype
        np.testing.assert_allclose(f(values), expected, rtol=4 * np.finfo(expected.dtype).eps)
    other = ag.elementwise_op("softsign", lambda x: x / (2 + np.abs(x)), c="x / (2 + fabs{f}(x))")
    x = T.vector("x")
    np.testing.assert_allclose(ag.function([x], [op(x), other(x)])([1.0]), [[0.5], [1 / 3]])


def test_gradients_of_any_order_and_examples():
    op, x, m = softsign(), T.vector("x"), T.matrix("m")
    assert_gradient(op, np.array([0.3, 1.7, -2.0]))
    values = np.array([[1.0, -1.0], [3.0, 0.0]])
    rows = ag.vmap(lambda v: op(v) * v)(m)
    np.testing.assert_allclose(rows.eval({m: values}), values**2 / (1 + np.abs(values)))
    np.testing.assert_allclose(ag.hessian(op(x).sum(), x).eval({x: [1.0]}), [[-0.25]])


@WITH_C
def test_several_operands_kinds_bodies_and_functions():
    clamp = ag.elementwise_op(
        "clamp_to", np.minimum, c={"f": "x1 < x2 || x1 != x1 ? x1 : x2", "i": "if (x1 < x2) return x1;\nreturn x2;"},
        dtypes=["int32", "int64", "float64"], derivative=[lambda g, y, a, b: T.switch(a < b, g, 0), None],
    )  # fmt: skip
    steep = ag.elementwise_op(
        "steep", lambda a, b, n: np.tanh(a * b) > n, c="helper_{T}(a, b) > n", dtypes=["float64,float64,int64->bool"],
        c_functions="static {T} helper_{T}({T} a, {T} b)\n{\n    return tanh{f}(a * b);\n}",
    )  # fmt: skip
    assert steep.__doc__.startswith("steep(a, b, n)") and list(inspect.signature(steep).parameters) == ["a", "b", "n"]
    i, x, n = T.ivector("i"), T.vector("x"), T.lscalar("n")
    f = ag.function([i, x, n], [clamp(i, 2), clamp(i, x), steep(x, i, n), T.switch(steep(x, n=n, b=i), x, -x)])
    whole, mixed, truth, chosen = f(np.array([1, 5], "int32"), [3.0, np.nan], 0)
    assert whole.dtype == "int32" and whole.tolist() == [1, 2] and truth.tolist() == [True, False]
    np.testing.assert_array_equal(mixed, [1.0, np.nan])
    np.testing.assert_array_equal(chosen, [3.0, np.nan])
    np.testing.assert_array_equal(ag.grad(clamp(x, 2.0).sum(), x).eval({x: [1.0, 3.0]}), [1, 0])


@pytest.mark.parametrize("mode", MODES)
def test_an_op_in_numpy_runs_under_every_engine(mode):
    row = [lambda g, y, a, b: 2 * g, None]
    double = ag.elementwise_op("larger_twice", lambda a, b: np.maximum(a, b) * 2, derivative=row)
    x = T.vector("x")
    f = ag.function([x], [T.exp(double(x, 1.0)) + 1, ag.grad(double(x, 1.0).sum(), x)], mode=mode)
    np.testing.assert_allclose(f([0.0, 1.5])[0], np.exp([2.0, 3.0]) + 1)
    assert f([0.0, 1.5])[1].tolist() == [2, 2]
    assert ag.vmap(lambda v: double(v, v))(T.matrix("m")).ndim == 2
    if f.backend == "c":
        assert "NumPy for it; pass c= to ag.elementwise_op('larger_twice', ...)" in str(f.remarks)


def test_a_scipy_ufunc_keeps_its_dtypes():
    special = pytest.importorskip("scipy.special")
    ndtr = ag.elementwise_op("ndtr", special.ndtr)
    assert ndtr(T.fvector("x")).dtype == "float32" and ndtr.fingerprint
    x = T.vector("x")
    np.testing.assert_array_equal(ag.function([x], ndtr(x), mode="NUMPY")([0.0]), [0.5])


def test_it_is_pickled_by_name_and_read_from_text():
    op, x = softsign(), T.vector("x")
    graph = ag.FunctionGraph([x], [op(x) + 1])
    assert pickle.loads(pickle.dumps(op)) is op
    assert pickle.loads(pickle.dumps(graph)) == graph == ag.parse(str(graph))
    gone = ag.elementwise_op("gone", lambda x: x + 1)
    text = pickle.dumps(gone)
    del elementwise._defined[gone.symbol]
    with pytest.raises(ValueError, match=r"'gone' is not defined here, or has changed .*elementwise_op\('gone'"):
        pickle.loads(text)


def graph_of(op):
    x = T.vector("x")
    return ag.FunctionGraph([x], [op(x)])


def test_the_key_of_a_function_covers_c_and_meaning():
    def scaled(scale=2.0, c="x * 2", **options):
        return ag.elementwise_op("scaled", lambda x: x * scale, c=c, **options)

    changed = [scaled(c="x * 2.0"), scaled(cost=3), scaled(dtypes=["float64"]), scaled(c=None), scaled(3.0)]
    changed.append(ag.elementwise_op("scaled", lambda x: 2.0 * x, c="x * 2"))
    assert digest(graph_of(scaled())) == digest(graph_of(scaled()))
    assert len({digest(graph_of(op)) for op in (scaled(), *changed)}) == len(changed) + 1
    with pytest.raises(Unnamed, match=r"scaled .* no digest"):
        digest(graph_of(scaled(object())))


def test_digests_of_functions():
    def outer(value):
        def inner(x):
            return np.exp(x) * value + sum(k for k in range(3))

        return inner

    assert code_digest(outer(1.0)) == code_digest(outer(1.0)) != code_digest(outer(2.0))
    assert code_digest(outer(np.arange(3))) == code_digest(outer(np.arange(3))) != code_digest(outer(np.arange(4)))
    assert code_digest(np.exp) != code_digest(np.log) and code_digest(np.where) and code_digest(outer(outer(1)))
    assert code_digest(outer(object())) is None and code_digest(np.frompyfunc(abs, 1, 1)) is None


@pytest.mark.parametrize("part", ["default", "keyword", "constant", "read", "called"])
def test_each_part_of_a_function_is_in_its_digest(part):
    def made(**changed):
        value = {"default": 1.5, "keyword": 2.5, "constant": 3.5, "read": 4.5, "called": 5.5} | changed
        scope = {"READ": value["read"]}
        exec(f"def called(x):\n    return x + {value['called']}", scope)
        text = f"called(x) * by + more - READ + {value['constant']}"
        exec(f"def f(x, by={value['default']}, *, more={value['keyword']}):\n    return {text}", scope)
        return scope["f"]

    assert code_digest(made()) == code_digest(made()) != code_digest(made(**{part: 6.5}))
    assert made(**{part: 6.5})(1.0) != made()(1.0)


@pytest.mark.long
@WITH_C
def test_a_second_process_recalls_a_function(tmp_path):
    program = textwrap.dedent("""
        import numpy as np, arignote as ag
        from arignote import ops as T
        cubed = ag.elementwise_op("cubed", lambda x: x * x * x, c="x * x * x", derivative=lambda g, y, x: 3 * g * x * x)
        x = T.vector("x")
        f = ag.function([x], T.exp(cubed(x)) + 41.5)
        print(f([0.0]), not f._optimization.is_done)
    """)
    (tmp_path / "program.py").write_text(program)
    notice = [
        subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert notice[1] == "[42.5] True\n" and notice[0].startswith("[42.5]")


@WITH_C
@pytest.mark.parametrize(
    ("c", "functions", "message"),
    [
        ("x +\n missing(x)", "", "line 2 of c: error: implicit declaration of function 'missing'"),
        ("x + y", "", "line 1 of c: error: 'y' undeclared"),
        ("f(x)", "static double f(double x)\n{\n    retrun x;\n}", "line 3 of c_functions: error: "),
    ],
)
def test_c_that_does_not_compile_is_reported_by_op_and_line(c, functions, message):
    broken = ag.elementwise_op("broken", lambda x: x, c=c, c_functions=functions)
    x = T.vector("x")
    with pytest.raises(CompileError) as caught:
        ag.function([x], T.exp(broken(x)))
    notice = str(caught.value).translate({0x2018: "'", 0x2019: "'"})
    assert notice.startswith(f"broken: its C does not compile: {message}") and len(notice.splitlines()) == 2
    assert "test_user_ops.py" in notice


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        (("exp", np.exp), {}, ValueError, "'exp' is an op of Arignote, T.exp; choose another name"),
        (("two words", np.exp), {}, ValueError, "must be an identifier, got 'two words'"),
        (("many", lambda *x: x), {}, TypeError, "must have a parameter for each operand"),
        (("pair", np.divmod), {}, ValueError, "divmod has 2 results; expected one"),
        (("p", np.add), {"derivative": lambda g: g}, TypeError, "expected 2 derivatives, one an operand"),
        (("p", np.sin), {"smooth": True}, TypeError, "unknown fact 'smooth'; expected one of commutative"),
        (("p", np.sin), {"dtypes": []}, ValueError, "dtypes is empty; name one at least"),
        (("p", np.add), {"dtypes": ["int8->bool"]}, ValueError, "a dtype or 2 of them and a result"),
        (("p", np.abs), {"c": {"f": "x"}}, ValueError, "no C for .*; add c"),
        (("p", np.sin), {"c": {"float": "x"}}, ValueError, "c has the kind 'float'; expected one of b, i, u, f, c"),
    ],
)
def test_mistakes_in_a_definition(arguments, options, kind, message):
    with pytest.raises(kind, match=message):
        ag.elementwise_op(*arguments, **options)


def test_mistakes_in_use():
    flat = ag.elementwise_op("flat", lambda x: x.sum(), dtypes=["float64"])
    x = T.vector("x")
    with pytest.raises(ValueError, match=r"flat: its NumPy function made shape \(\) of \(2,\); expected \(2,\)"):
        ag.function([x], flat(x), mode="NUMPY")([1.0, 2.0])
    with pytest.raises(TypeError, match=r"flat does not take z .*: expected an operand of bool or integer or"):
        flat(T.zvector("z"))
    with pytest.raises(NoGradient, match=r"flat of x .* no derivative; pass derivative= to ag.elementwise_op\('flat'"):
        ag.grad(flat(x).sum(), x)
