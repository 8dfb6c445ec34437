"""`f.export(folder)`: make builds it with nothing but a C compiler, and it computes what the function does."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.function.function import find_toolchain
from arignote.targets.processor import architecture

pytestmark = [
    pytest.mark.skipif(find_toolchain() is None, reason="needs a C compiler"),
    pytest.mark.skipif(shutil.which("make") is None, reason="needs make"),
]
CHECKED = "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
"""Of the compiler's own, for everything in the folder."""
x, y, v, n = T.matrix("x"), T.matrix("y"), T.vector("v"), T.lscalar("n")
fx, labels = T.matrix("x", dtype="float32"), T.lvector("labels")
z, b = T.tensor("z", "complex128", (None,)), T.tensor("b", "bool", (None,))
rng = np.random.default_rng(7)
X, Y, V = rng.standard_normal((5, 5)) + 4 * np.eye(5), rng.standard_normal((5, 5)), rng.standard_normal(5)


def run(command, folder, *, succeeds=True):
    """Output of a command in `folder`; its errors if it is to fail."""
    done = subprocess.run(command, cwd=folder, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == succeeds, done.stdout + done.stderr
    return done.stdout if succeeds else done.stderr


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """A function that runs make in a folder; what is the same in all of them is compiled once."""
    kept = {}

    def make(folder, arch="-march=native"):
        kept.setdefault(arch, tmp_path_factory.mktemp("objects"))
        for path in kept[arch].iterdir():
            if (folder / path.name).with_suffix(".c").exists():
                shutil.copyfile(path, folder / path.name)
        run(f'make -j2 CC=gcc ARCH="{arch}"', folder)
        for path in folder.glob("ag_*.o"):
            shutil.copyfile(path, kept[arch] / path.name)

    return make


def called(function, arrays, folder):
    """The outputs of one call of the example program."""
    arguments = []
    for k, array in enumerate(arrays):
        np.asarray(array).tofile(folder / f"in{k}.bin")
        arguments.append(f"in{k}.bin:{','.join(map(str, np.shape(array)))}")
    printed = run(" ".join([f"./{function.name} {function.name}.weights", *arguments]), folder)
    found = []
    for k, line in enumerate(printed.splitlines()):
        dtype, _, shape = line.partition(": ")[2].partition("[")
        lengths = [int(length) for length in shape.rstrip("]").split(",") if length]
        found.append(np.fromfile(folder / f"{function.name}.out{k}", dtype).reshape(lengths))
    return found


FUNCTIONS = {
    "values": (
        [x, v, n, z, b],
        {
            "fused": T.exp(x) * v + T.tanh(x.T), "sums": x.sum(0), "soft": T.nn.softmax(x), "part": x[n, ::2],
            "whole": n // 3, "where": T.where(b, v, 0.5), "complex": z * z + 1, "joined": T.concatenate([v, v[::-1]]),
            "where from": x[T.argmax(v)], "constant": v + np.linspace(0, 1, 5), "none": v[:0],
        },
        [X, V, np.int64(3), V + 1j, V > 0],
    ),
    "algebra": (
        [x, y, v],
        [x @ y, T.nn.relu(x @ y + v), T.linalg.solve(x, v), T.linalg.det(x), T.linalg.cholesky(x @ x.T), T.dot(v, v)],
        [X, Y, V],
    ),
    "loops": (
        [v],
        [ag.scan(lambda e, s: s * 0.5 + e, v, T.constant(0.0))[0], ag.cond(v.sum() > 0, T.exp(v), v),
         ag.while_loop(lambda s: s < 100.0, lambda s: s * 3.0, T.constant(1.5))],
        [V],
    ),
}  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_those_of_the_function_and_no_sanitizer_complains(name, make, tmp_path):
    inputs, outputs, arrays = FUNCTIONS[name]
    function = ag.function(inputs, outputs, name=name)
    expected = function(*arrays)
    expected = list(expected.values()) if isinstance(expected, dict) else expected
    assert function.export(tmp_path / "made") == tmp_path / "made"
    make(tmp_path / "made", CHECKED)
    for mine, its in zip(called(function, arrays, tmp_path / "made"), expected, strict=True):
        assert mine.dtype == its.dtype and mine.shape == its.shape
        np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-12)


ORDER = {
    "sorted": T.sort(x, 0), "order": T.argsort(x), "median": T.median(x), "places": T.quantile(x, [0.1, 0.7]),
    "greatest": T.topk(x, 2)[1], "distinct": T.unique(v, True)[1], "nonzero": T.nonzero(x > 0)[1],
    "masked": x[x > 0], "found": T.searchsorted(T.sort(v), x), "spectrum": T.fft.rfft(x), "back": T.fft.ifft(z),
    "prime": T.fft.fft(T.concatenate([v, v, v])[:127]),
}  # fmt: skip
"""Results whose kernels lie in the libraries of sorts and of Fourier transforms."""


@pytest.mark.long
def test_sorts_and_transforms_leave_python(make, tmp_path):
    function = ag.function([x, v, z], ORDER, name="order")
    arrays = [X, np.tile(V, 9), np.tile(V + 1j, 11)]
    expected = list(function(*arrays).values())
    function.export(tmp_path / "made")
    make(tmp_path / "made", CHECKED)
    for mine, its in zip(called(function, arrays, tmp_path / "made"), expected, strict=True):
        assert mine.dtype == its.dtype and mine.shape == its.shape
        np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-12)


def test_sorts_and_transforms_have_files(tmp_path):
    function = ag.function([x, v, z], ORDER, name="order")
    function.export(tmp_path)
    assert {"ag_products_sorts.c", "ag_products_fourier.c"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.long
def test_equal_numbers_give_equal_bits(make, tmp_path):
    """Wherever they stand, and the bits of the function itself: a bundle has the same text."""
    ops = (T.sin, T.tan, T.log, T.log2, T.exp2, T.expm1, T.arctan, T.erf, T.cbrt)
    function = ag.function([v, z], [*(op(v) for op in ops), abs(z)], name="bits")
    numbers = np.array([0.3, -2.6, 1e22, 4e4, np.inf, 5e-324, 700.0])
    arrays = [np.tile(numbers, 5)[:33], np.tile(numbers, 5)[:33] + 1j]
    expected = function(*arrays)
    function.export(tmp_path / "made")
    make(tmp_path / "made")
    for mine, its in zip(called(function, arrays, tmp_path / "made"), expected, strict=True):
        bits = mine.view("uint64")
        assert np.array_equal(bits, its.view("uint64"))
        assert np.array_equal(bits, np.tile(bits[:7], 5)[:33])


TRAINING = """
#include <stdio.h>
#include "train.h"
int main(void)
{
    train_function *f = train_open("train.weights", 2);
    if (!f) return 1;
    float data[6 * 4];
    int64_t labels[6] = {0, 1, 2, 0, 1, 2};
    for (int k = 0; k < 24; k++) data[k] = (float)(k % 5) - 2;
    train_array inputs[] = {{data, {6, 4}}, {labels, {6}}};
    float loss;
    for (int step = 0; step < 5; step++) {
        train_array output = {&loss, {0}};
        if (train_run(f, inputs, &output) || output.data != &loss) return 2;
        printf("%.9g\\n", (double)loss);
    }
    inputs[0].shape[1] = 3;
    train_array output = {0};
    char text[200];
    train_message(train_run(f, inputs, &output), text, sizeof text);
    puts(text);
    const float *w = train_value(f, 0)->data;
    for (int k = 0; k < 12; k++) printf("%.9g\\n", (double)w[k]);
    train_close(f);
    return 0;
}
"""


def train():
    w = ag.shared((np.arange(12).reshape(4, 3) / 10).astype("float32"), name="w")
    loss = -T.nn.log_softmax(fx @ w)[T.arange(labels.shape[0]), labels].mean()
    updates = ag.optim.momentum([w], [ag.grad(loss, w)], 0.1)
    return w, ag.function([fx, labels], loss, updates=updates, name="train")


@pytest.mark.long
def test_a_model_is_trained_without_python(make, tmp_path):
    w, function = train()
    function.export(tmp_path)
    (tmp_path / "train_main.c").write_text(TRAINING)
    make(tmp_path, CHECKED)
    printed = run("./train", tmp_path).split("\n")
    data, given = (np.arange(24) % 5 - 2).astype("float32").reshape(6, 4), np.arange(6) % 3
    losses = [function(data, given) for _ in range(5)]
    np.testing.assert_allclose(list(map(float, printed[:5])), losses, rtol=1e-6)
    assert losses[4] < losses[0] and printed[5] == "train: lengths that must agree do not, in v0 = dot22(x, w)"
    np.testing.assert_allclose(list(map(float, printed[6:18])), w.get_value().ravel(), rtol=1e-5)


@pytest.mark.long
def test_the_runtime_is_small_and_strict_compilers_are_content(make, tmp_path):
    train()[1].export(tmp_path)
    make(tmp_path)
    run("strip -o small train", tmp_path)
    assert os.path.getsize(tmp_path / "small") <= 180_000
    for file in ("train.c", "train_main.c"):
        run(f"gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wno-pedantic -Werror -c -o strict.o {file}", tmp_path)
    assert "train(x: float32[?, ?], labels: int64[?]) -> float32" in (tmp_path / "train.h").read_text()
    assert not any(str(tmp_path.parent) in path.read_text(errors="ignore") for path in tmp_path.glob("*.[ch]"))


def test_a_broken_promise_is_refused(make, tmp_path):
    q, d, s = T.matrix("q", shape=(4, 2)), ag.shared(np.ones((6, 2)), "d"), ag.shared(np.zeros(3), "s", shape=(3,))
    outputs, givens = [q.mean(), x[np.ones(2, bool)].sum()], {q: d[n:], x: d[n:, :1][:2]}
    kept = ag.function([n, v], outputs, [(s, v * 2)], givens, name="kept")
    kept.export(tmp_path)
    make(tmp_path)
    assert [float(a) for a in called(kept, [np.int64(2), np.ones(3)], tmp_path)] == [1, 2]
    np.ones(5).tofile(tmp_path / "in1.bin")
    for arguments in ("in0.bin: in1.bin:5", "in1.bin: in1.bin:3"):  # an update of five elements; all of d from 1.0 on
        message = run(f"./kept kept.weights {arguments}", tmp_path, succeeds=False)
        assert "a value does not have the lengths that were promised" in message


def test_weights_of_another_function_are_refused(make, tmp_path):
    train()[1].export(tmp_path)
    make(tmp_path)
    whole = (tmp_path / "train.weights").read_bytes()
    for wrong in (b"", whole[:-1], whole + b"1", b"x" + whole[1:]):
        (tmp_path / "train.weights").write_bytes(wrong)
        assert "not the weights of train" in run("./train train.weights a b", tmp_path, succeeds=False)


def test_two_functions_in_one_program(make, tmp_path):
    for name, factor in (("twice", 2.0), ("thrice", 3.0)):
        ag.function([v], T.exp(v) * factor, name=name).export(tmp_path / name)
        make(tmp_path / name)
    (tmp_path / "both.c").write_text("""
        #include <stdio.h>
        #include "twice/twice.h"
        #include "thrice/thrice.h"
        int main(void)
        {
            double one = 0;
            twice_array x = {&one, {1}}, y = {0};
            thrice_array u = {&one, {1}}, w = {0};
            twice_function *f = twice_open("twice/twice.weights", 1);
            thrice_function *g = thrice_open("thrice/thrice.weights", 1);
            if (!f || !g || twice_run(f, &x, &y) || thrice_run(g, &u, &w)) return 1;
            printf("%g %g\\n", *(double *)y.data, *(double *)w.data);
            return 0;
        }
    """)
    run("gcc both.c twice/libtwice.a thrice/libthrice.a -lm -ldl -lpthread -o both", tmp_path)
    assert run("./both", tmp_path) == "2 3\n"


CPP = """
#include <cstdio>
#include <fstream>
#include <iterator>
#include "train.hpp"
int main()
{
    std::ifstream file("train.weights", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    train_model model(bytes.data(), bytes.size(), 1), other(std::move(model));
    float data[6 * 4];
    std::int64_t labels[6] = {0, 1, 2, 0, 1, 2};
    for (int k = 0; k < 24; k++) data[k] = (float)(k % 5) - 2;
    auto kept = other.run({train_input(data, {6, 4}), train_input(labels, {6})});
    auto results = other.run({train_input(data, {6, 4}), train_input(labels, {6})});
    kept = std::move(results);
    const train_result &loss = kept[0];
    std::printf("%.9g %s %d %d\\n", (double)*loss.data<float>(), loss.dtype(), loss.rank(), (int)loss.size());
    try { kept[0].data<double>(); } catch (const train_error &error) { std::puts(error.what()); }
    try { other.run({train_input(data, {3, 3}), train_input(labels, {3})}); }
    catch (const train_error &error) { std::puts(error.what()); }
    try { train_model("train.h"); } catch (const train_error &error) { std::puts(error.what()); }
    std::printf("%d\\n", (int)other.value(0).shape[0]);
}
"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_a_function_is_called_from_cpp(make, tmp_path):
    """Nothing leaks or is freed twice, whatever is moved or thrown."""
    _, function = train()
    function.export(tmp_path)
    make(tmp_path, CHECKED)
    (tmp_path / "call.cpp").write_text(CPP)
    build = f"g++ -std=c++17 -Wall -Wextra -Werror -pedantic {CHECKED} call.cpp libtrain.a -lm -ldl -lpthread -o call"
    run(build, tmp_path)
    data = (np.arange(24) % 5 - 2).astype("float32").reshape(6, 4)
    loss = [function(data, np.arange(6) % 3) for _ in range(2)][1]
    first, *rest = run("./call", tmp_path).splitlines()
    np.testing.assert_allclose(float(first.split()[0]), loss, rtol=1e-6)
    assert first.split()[1:] == ["float32", "0", "1"]
    assert rest == [
        "train: a result has another type", "train: lengths that must agree do not, in v0 = dot22(x, w)",
        "these are not the weights of train", "4",
    ]  # fmt: skip


FLAGS = (
    "-O2", "-Ofast", "-O1 -ffast-math -ftrapv", "-O2 -std=c99 -fno-wrapv -fstrict-aliasing -ffp-contract=fast",
    "-O3 -funsafe-math-optimizations -ffinite-math-only -fno-signed-zeros -march=native",
)  # fmt: skip


@pytest.mark.long
def test_flags_of_the_users_change_no_result(make, tmp_path):
    """Neither on the command line nor in the environment: the largest integer wraps, NaN and -0 are what they are."""
    u = T.lvector("u")
    outputs = {"above": u + 1 > u, "double": u * 2 // 2, "sum": (v + 1e16) - 1e16, "contracted": v * 1.1 + v}
    outputs |= {"nan": T.isnan(v), "sign": 1 / (v * -0.0)}
    f = ag.function([u, v], outputs, name="flags")
    arrays = [np.array([2**63 - 1, -(2**63), 5]), np.array([1.5, np.nan, np.inf, -0.0, 5e-324])]
    expected = f(*arrays).values()
    assert not f(*arrays)["above"][0]
    f.export(tmp_path)
    make(tmp_path)
    for n, flags in enumerate(FLAGS):
        words = f'CFLAGS="{flags}" LDFLAGS=-s LDLIBS=-lc'
        run(f"touch flags.h && {f'make CC=gcc {words}' if n % 2 else f'{words} make CC=gcc'}", tmp_path)
        for mine, its in zip(called(f, arrays, tmp_path), expected, strict=True):
            assert mine.tobytes() == its.tobytes(), flags


def test_a_file_that_no_export_wrote_is_never_replaced(tmp_path):
    f = ag.function([v], v + 1, name="careful")
    for file in ("Makefile", "careful.weights"):
        folder = tmp_path / file
        folder.mkdir()
        (folder / file).write_text("mine")
        with pytest.raises(FileExistsError, match=f"{file} was not written by an export, and would be replaced"):
            f.export(folder)
        assert [path.name for path in folder.iterdir()] == [file] and (folder / file).read_text() == "mine"
    f.export(tmp_path / "made")
    f.export(tmp_path / "made")
    ag.function([v], v + 2, name="careful").export(tmp_path / "made")
    (tmp_path / "made" / "careful_main.c").write_text("mine")
    with pytest.raises(FileExistsError, match=r"careful_main\.c was changed since it was exported"):
        f.export(tmp_path / "made")
    (tmp_path / "made" / "careful_main.c").unlink()
    (tmp_path / "elsewhere").write_text("mine")
    (tmp_path / "made" / "careful_main.c").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        f.export(tmp_path / "made")
    assert (tmp_path / "elsewhere").read_text() == "mine"


def test_a_folder_holds_one_function_and_no_file_of_an_earlier_one(tmp_path):
    ag.function([x, y], x @ y, name="first").export(tmp_path / "made")
    assert (tmp_path / "made" / "ag_products_f64.c").is_file()
    before = {path.name: path.read_bytes() for path in (tmp_path / "made").iterdir()}
    for other in ("second", "FIRST"):
        with pytest.raises(FileExistsError, match=f"holds the export of 'first'; '{other}' needs a folder of its own"):
            ag.function([v], v + 1, name=other).export(tmp_path / "made")
    assert {path.name: path.read_bytes() for path in (tmp_path / "made").iterdir()} == before
    ag.function([x, y], x + y, name="first").export(tmp_path / "made")
    assert not (tmp_path / "made" / "ag_products_f64.c").exists()
    assert "OK" in run("sha256sum -c ag_files.sha256", tmp_path / "made")
    (tmp_path / "made" / "ag_files.sha256").write_text("nonsense")
    with pytest.raises(FileExistsError, match="lists no export"):
        ag.function([x, y], x + y, name="first").export(tmp_path / "made")


NAMES = {"my model-1": "my_model_1", "double": "double", "ag_runtime": "f_ag_runtime", "2nd": "f_2nd", "": "function"}


@pytest.mark.parametrize("name, file", NAMES.items())
def test_names_are_identifiers_of_c(name, file, make, tmp_path):
    ag.function([v], v + 1, name=name).export(tmp_path)
    make(tmp_path)
    assert f"int {file}_run(" in (tmp_path / f"{file}.h").read_text() and (tmp_path / f"lib{file}.a").is_file()


def test_what_cannot_be_exported(tmp_path):
    with pytest.raises(ValueError, match="slow: there is no C for unique_parts"):
        ag.function([v], T.unique(v[:, None], axis=0), name="slow").export(tmp_path)
    with pytest.raises(ValueError, match="is run by NumPy, so there is no C"):
        ag.function([v], v + 1, mode="NUMPY").export(tmp_path)
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        ag.function([v], v + 1).export(tmp_path / "file")


def test_a_folder_that_could_lie_nowhere_is_refused_and_not_made(tmp_path):
    f = ag.function([v], v + 1, name="lost")
    with pytest.raises(FileNotFoundError) as reported:
        f.export(tmp_path / "mistyped" / "deeper" / "made")
    lost = tmp_path / "mistyped" / "deeper"
    assert f"{lost} does not exist; the nearest folder that does is {tmp_path}." in str(reported.value)
    assert str(reported.value).endswith(f"mkdir -p {lost}")
    assert not list(tmp_path.iterdir())
    assert f.export(tmp_path / "made") == tmp_path / "made"


@pytest.mark.skipif(architecture() != "x86_64", reason="needs a compiler for x86_64")
def test_no_number_passes_through_registers_of_mmx(tmp_path):
    """gcc 12 took MMX for the argmax where AVX is missing, without `emms`: the next function read NaN."""
    f = ag.function([x], {"where": T.argmax(x, axis=1), "most": T.nanmax(T.log(x))}, name="most")
    f.export(tmp_path, target="x86_64-linux-v2")
    run('make most_program.o CC="gcc -S"', tmp_path)  # the text of what it would assemble
    text = (tmp_path / "most_program.o").read_text()
    assert "%xmm" in text and not re.search(r"%mm\d", text)
