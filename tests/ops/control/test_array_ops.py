"""Ops of whole arrays from outside the package: in NumPy and in C, with examples, libraries, exports, refused."""

import pickle
import shutil
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T
from arignote.cbackend import CompileError
from arignote.function.function import find_toolchain
from arignote.graph import NoGradient
from arignote.graph.digest import digest

WITH_C = pytest.mark.skipif(find_toolchain() is None, reason="needs a C compiler")
MODES = ["FAST_RUN", "NUMPY"]
MATRIX = np.random.default_rng(3).normal(size=(6, 4))


def of_windows(x, k):
    found = np.lib.stride_tricks.sliding_window_view(x, int(k), axis=0)
    return found.sum(-1), np.asarray(found.max())


def windows():
    """Sums of k rows and the largest element: two results, strided operands, a number, a failure."""
    return ag.array_op(
        "windows", of_windows, strided=True, dtypes="float64, int64", errors={2: "k is not positive"},
        result=lambda x, k: (
            ag.ShapeDtypeStruct((x.shape[0] - k + 1, x.shape[1]), x.dtype), ag.ShapeDtypeStruct((), x.dtype)
        ),
        c="""
            if (k < 1) return 2;
            *y2 = -INFINITY;
            for (i64 i = 0; i < y1_shape[0]; i++)
                for (i64 j = 0; j < x_shape[1]; j++) {
                    double sum = 0;
                    for (i64 e = i; e < i + k; e++) {
                        const double v = x[e * x_strides[0] + j * x_strides[1]];
                        sum += v;
                        if (v > *y2) *y2 = v;
                    }
                    y1[i * y1_shape[1] + j] = sum;
                }
        """,
    )  # fmt: skip


def product():
    return ag.array_op(
        "product", lambda a, b: np.asarray(a @ b), result=lambda a, b: ag.ShapeDtypeStruct((), a.dtype),
        c="{T} sum = 0;\nfor (i64 i = 0; i < a_shape[0]; i++) sum += a[i] * b[i];\n*y = sum;",
        derivative=[lambda g, y, a, b: g * b, lambda g, y, a, b: g * a],
    )  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_c_sees_shapes_strides_and_numbers(mode):
    x, k = T.matrix("x"), T.lscalar("k")
    f = ag.function([x, k], list(windows()(x, k)), mode=mode)
    for values in (MATRIX, np.asfortranarray(MATRIX), MATRIX[::2], MATRIX[:, ::-1]):
        for found, expected in zip(f(values, 2), of_windows(values, 2), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert mode == "NUMPY" or (f.backend == "c" and "in Python" not in str(f.remarks))


@WITH_C
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_operands_are_cast_to_the_first_dtypes_that_hold_them(dtype):
    a = T.tensor("a", dtype, (None,))
    y = product()(a, 2 * a)
    assert y.dtype == {"float16": "float32", "float32": "float32"}.get(dtype, "float64")
    assert float(ag.function([a], y)(np.array([1, 2, 3], dtype))) == 28


@pytest.mark.parametrize("mode", MODES)
def test_gradients_of_any_order(mode):
    op, v = product(), T.vector("v")
    a = np.array([1.0, -2.0, 0.5])
    assert_gradient(lambda x: op(x, x) * x, a)
    hessian = ag.function([v], ag.hessian(op(v, v) ** 2, v), mode=mode)(a)
    np.testing.assert_allclose(hessian, 8 * np.outer(a, a) + 4 * (a @ a) * np.eye(3))


@pytest.mark.parametrize("mode", MODES)
def test_examples_run_one_by_one_also_within_examples(mode):
    op, p, q = product(), T.matrix("p"), T.matrix("q")
    all_pairs = ag.vmap(lambda a: ag.vmap(lambda b: op(a, b))(q))(p)
    f = ag.function([p, q], [all_pairs, *ag.grad((all_pairs**2).sum(), [p, q])], mode=mode)
    a, b = MATRIX[:3], MATRIX[2:]
    for found, expected in zip(f(a, b), (a @ b.T, 2 * (a @ b.T) @ b, 2 * (b @ a.T) @ a), strict=True):
        np.testing.assert_allclose(found, expected)
    assert f(a[:0], b)[0].shape == (0, 4)
    t, k = T.tensor3("t"), T.lscalar("k")
    sums, largest = ag.function([t, k], list(ag.vmap(lambda x: windows()(x, k))(t)), mode=mode)([MATRIX, -MATRIX], 3)
    np.testing.assert_allclose(sums[1], of_windows(-MATRIX, 3)[0])
    np.testing.assert_array_equal(largest, [MATRIX.max(), (-MATRIX).max()])


def test_a_loop_runs_it_each_step():
    op, p = product(), T.matrix("p")
    total = ag.scan(lambda row, sum_: sum_ + op(row, row), p, T.constant(0.0))[0]
    np.testing.assert_allclose(ag.function([p], total)(MATRIX), np.cumsum((MATRIX**2).sum(1)))


@WITH_C
def test_debug_mode_finds_c_that_differs_from_numpy():
    wrong = ag.array_op("wrong", lambda x: x, result=lambda x: x, c="for (i64 i = 0; i < x_shape[0]; i++) y[i] = 2;")
    x = T.vector("x")
    with pytest.raises(Exception, match="wrong"):
        ag.function([x], wrong(x), mode="DEBUG")([1.0, 3.0])


@WITH_C
def test_a_failure_has_the_message_of_its_number_and_the_line():
    x, k = T.matrix("x"), T.lscalar("k")
    f = ag.function([x, k], list(windows()(x, k)))
    with pytest.raises(ValueError, match=r"k is not positive\n  in windows\(x, k, .*test_array_ops.py"):
        f(MATRIX, 0)
    with pytest.raises(ValueError, match="a length is negative"):
        f(MATRIX, 8)
    silent = ag.array_op("silent", lambda x: x, result=lambda x: x, c="return 7;")
    with pytest.raises(ValueError, match="its C returned 7"):
        ag.function([x], silent(x))(MATRIX)


@WITH_C
@pytest.mark.parametrize(
    ("c", "functions", "message"),
    [
        ("y[0] = 1;\ny[1] = missing(x);", "", "line 2 of c: error: implicit declaration of function 'missing'"),
        ("y[0] = z;", "", "line 1 of c: error: 'z' undeclared"),
        ("y[0] = f(x[0]);", "static double f(double x)\n{\n    retrun x;\n}", "line 3 of c_functions: error: "),
    ],
)
def test_c_that_does_not_compile_is_reported_by_op_and_line(c, functions, message):
    broken = ag.array_op("broken", lambda x: x, result=lambda x: x, c=c, c_functions=functions, dtypes="float64")
    x = T.vector("x")
    with pytest.raises(CompileError) as caught:
        ag.function([x], T.exp(broken(x)))
    notice = str(caught.value).translate({0x2018: "'", 0x2019: "'"})
    assert notice.startswith(f"broken: its C does not compile: {message}") and "test_array_ops.py" in notice


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A shared library with one function."""
    folder = tmp_path_factory.mktemp("library")
    text = "void scale(const double *x, double *y, long n, double f) { for (long i = 0; i < n; i++) y[i] = f * x[i]; }"
    (folder / "scale.c").write_text(text)
    compiler = find_toolchain().command[0]
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "libscale.so", folder / "scale.c"], check=True)
    return str(folder / "libscale.so")


PROTOTYPE = "void scale(const double *x, double *y, long n, double f);"


def scaled(library, prototypes=PROTOTYPE):
    return ag.array_op(
        "scaled_by", lambda x, f: x * f, result=lambda x, f: x, dtypes="float64", library=library,
        prototypes=prototypes, c="scale(x, y, x_shape[0], f);", derivative=[lambda g, y, x, f: g * f, None],
    )  # fmt: skip


@pytest.mark.long
@WITH_C
def test_c_calls_a_shared_library_also_when_exported(shared, tmp_path):
    x, scale = T.dvector("x"), T.dscalar("scale")
    op = scaled(shared)
    f = ag.function([x, scale], [op(x, scale) + 1, ag.grad(op(x, scale).sum(), x)], name="scaled")
    np.testing.assert_array_equal(f([1.0, 3.0], 2.0)[0], [3, 7])
    np.testing.assert_array_equal(f([1.0, 3.0], 2.0)[1], [2, 2])
    f.export(tmp_path)
    assert "dlopen" in (tmp_path / "scaled_program.c").read_text()
    subprocess.run(["make", "-C", tmp_path], check=True, capture_output=True)


def test_mistakes_in_a_library(shared, tmp_path):
    with pytest.raises(OSError, match=r"array_op: 'scaled_by': library: .*none\.so: cannot open"):
        scaled(str(tmp_path / "none.so"))
    with pytest.raises(AttributeError, match="has no function shrink"):
        scaled(shared, "int shrink(int);")
    for text in ("int f(", "", "no C"):
        with pytest.raises(ValueError, match=r"prototypes.*expected C declarations such as"):
            scaled(shared, text)


@WITH_C
def test_a_library_that_is_gone_is_an_error_of_the_call(shared, tmp_path):
    moved = tmp_path / "libmoved.so"
    shutil.copy(shared, moved)
    x = T.vector("x")
    f = ag.function([x], scaled(str(moved))(x, 2.0))
    moved.unlink()
    with pytest.raises(ValueError, match=r"the library .*libmoved\.so or one of its functions cannot be loaded"):
        f([1.0])


@pytest.mark.long
@WITH_C
def test_it_is_pickled_by_name_read_from_text_and_recalled(tmp_path):
    op, v = product(), T.vector("v")
    graph = ag.FunctionGraph([v], [op(v, v) + 1, ag.vmap(lambda x: op(x, v))(T.outer(v, v))])
    assert pickle.loads(pickle.dumps(graph)) == graph == ag.parse(str(graph))
    assert digest(graph) != digest(ag.FunctionGraph([v], [windows()(T.outer(v, v), 1)[0]]))
    program = textwrap.dedent("""
        import numpy as np, arignote as ag
        from arignote import ops as T
        thrice = ag.array_op("thrice", lambda x: 3 * x, result=lambda x: x,
                             c="for (i64 i = 0; i < x_shape[0]; i++) y[i] = 3 * x[i];")
        x = T.vector("x")
        f = ag.function([x], T.exp(thrice(x)) + 41.5)
        print(f([0.0]), not f._optimization.is_done)
    """)
    (tmp_path / "program.py").write_text(program)
    printed = [
        subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert printed[1] == "[42.5] True\n" and printed[0].startswith("[42.5]")


@WITH_C
def test_several_threads_run_it_at_once():
    a, b = T.vector("a"), T.vector("b")
    f = ag.function([a, b], product()(a, b))
    found = {}

    def work(k):
        found[k] = [float(f(np.full(1000, float(k)), np.ones(1000))) for _ in range(50)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: [1000.0 * k] * 50 for k in range(4)}


def test_without_c_python_runs_it():
    sorted_ = ag.array_op("sorted_again", lambda a: np.sort(a) + 0, result=lambda a: a)
    x = T.vector("x")
    f = ag.function([x], T.exp(sorted_(x)))
    np.testing.assert_allclose(f([2.0, 1.0]), np.exp([1, 2]))
    assert f.backend != "c" or "pass c= to ag.array_op('sorted_again', ...)" in str(f.remarks)


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        (("exp", lambda x: x), {}, ValueError, "'exp' is an op of Arignote, T.exp; choose another name"),
        (("two words", lambda x: x), {}, ValueError, "must be an identifier, got 'two words'"),
        (("many", lambda *x: x), {}, TypeError, "must have a parameter for each operand"),
        (("one", lambda y: y), {}, ValueError, "the operand 'y' has a name of the C; rename the parameter"),
        (("pair", lambda a, b: a), {"derivative": lambda g: g}, TypeError, "expected 2 derivatives, one an operand"),
        (("pair", lambda a, b: a), {"dtypes": "int8, int8, int8"}, ValueError, "one for each of 2 operands"),
        (("none", lambda x: x), {"dtypes": []}, ValueError, "dtypes is empty; name one at least"),
        (("halved", lambda x: x), {"dtypes": "float16", "c": "y[0] = 1;"}, ValueError, "C has no arrays of float16"),
        (("blank", lambda x: x), {"c": "  "}, TypeError, "c must be the body of a C function"),
        (("alone", lambda x: x), {"c_functions": "int f;"}, TypeError, "c_functions needs c="),
    ],
)
def test_mistakes_in_a_definition(arguments, options, kind, message):
    with pytest.raises(kind, match=message):
        ag.array_op(*arguments, result=lambda *x: x[0], **options)


def test_mistakes_in_use():
    x, z = T.vector("x"), T.zvector("z")
    plain = ag.array_op("plain", lambda x: x[1:], result=lambda x: x)
    with pytest.raises(TypeError, match="plain takes 1 operand, got 2"):
        plain(x, x)
    with pytest.raises(TypeError, match=r"plain: expected operands of \(float32\) or \(float64\), got z"):
        plain(z)
    with pytest.raises(NoGradient, match=r"plain has no derivative; pass derivative= to ag.array_op\('plain', ...\)"):
        ag.grad(plain(x).sum(), x)
    with pytest.raises(ValueError, match=r"plain: result 0 is float64 of shape \(1,\); declared is float64 of shape"):
        ag.function([x], plain(x), mode="NUMPY")([1.0, 2.0])
    unclear = ag.array_op("unclear", lambda x: x, result=lambda x: 3)
    with pytest.raises(TypeError, match="unclear: result= declares result 0 by 3; expected a value with shape and dty"):
        unclear(x)
    flat = ag.array_op("flat_", lambda x: x, result=lambda x: x, derivative=lambda g, y, x: g.sum())
    with pytest.raises(TypeError, match=r"flat_: derivative 0 gave .*; expected the shape of operand x"):
        ag.grad(flat(x).sum(), x)
