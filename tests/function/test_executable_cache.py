"""A function that was compiled before runs without being optimized again, and is in every respect what it was."""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import warnings
from pathlib import Path
from random import Random

import numpy as np
import pytest
from draws import mostly_long
from random_graphs import random_graph

import arignote as ag
from arignote import ops as T
from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.calls.measured import Measured
from arignote.cbackend.ir.schedule import Schedule
from arignote.cli import cache_command
from arignote.function import executable_cache
from arignote.function.executable_cache import key_of
from arignote.function.function import find_toolchain, process_cache
from arignote.function.mode import as_mode
from arignote.function.optimization import Optimization
from arignote.graph import TensorType
from arignote.graph.digest import Unnamed, digest
from arignote.graph.types import ALIGNED
from arignote.ops.core.tensor import TensorOp
from arignote.optdb import rule, wilds
from arignote.record import package

pytestmark = pytest.mark.skipif(find_toolchain() is None, reason="needs a C compiler")
ROOT = Path(__file__).resolve().parents[2]


def recalled(function):
    """Whether a function runs although nothing was optimized for it."""
    return not function._optimization.is_done


def twice(*arguments, **options):
    """A function, and the same once more."""
    functions = ag.function(*arguments, **options), ag.function(*arguments, **options)
    assert recalled(functions[1])
    return functions


def vectors():
    return T.vector("x"), T.vector("y")


def key(inputs, output, query="FAST_RUN"):
    return key_of(ag.graph.FunctionGraph(inputs, [output]), as_mode(query), f"c {find_toolchain().fingerprint}")


# --- what it is


def test_a_function_with_megabytes_of_weights_is_recalled():
    x, w = T.matrix("x"), np.random.default_rng().normal(size=(1200, 640))  # such as no cache has seen
    value = np.ones((3, 1200))
    first, second = twice([x], T.dot(x, w))
    assert np.array_equal(first(value), second(value))
    other = w.copy()
    other[700, 5] += 1.0
    third = ag.function([x], T.dot(x, other))
    assert not recalled(third)
    np.testing.assert_allclose(third(value)[:, 5], first(value)[:, 5] + 1.0, rtol=1e-12)


def test_constants_of_all_kinds_are_recalled():
    """Of odd sizes, no elements, one number, another order, and a dtype that an op took from a variable."""
    x = T.vector("x", dtype="float32")
    kept = [np.arange(7, dtype="int8"), np.zeros((0, 3)), np.float64(2.5), np.asfortranarray(np.eye(3, 5)) * 1j]
    outputs = [*(T.constant(c) + T.cast(x.sum(), "float64") for c in kept), T.cast(x, T.constant(kept[0]).dtype)]
    first, second = twice([x], outputs)
    value = np.linspace(0, 3, 9, dtype="float32")
    for mine, its in zip(second(value), first(value), strict=True):
        assert mine.dtype == its.dtype and mine.shape == its.shape and mine.tobytes() == its.tobytes()


def test_a_network_is_recalled():
    x = T.tensor("x", "float32", (None, 3, 20, 20))
    w, v = (np.random.default_rng(8).normal(size=s).astype("float32") for s in ((32, 3, 3, 3), (10, 32)))
    h = T.nn.max_pool2d(T.nn.relu(T.nn.conv2d(x, w, padding=1)), 2).mean(axis=(2, 3))
    first, second = twice([x], T.nn.softmax(h @ v.T), mode="fast_run +bfloat16")
    value = np.ones((2, 3, 20, 20), "float32")
    assert first(value).tobytes() == second(value).tobytes()


def test_packed_weights_begin_with_a_cache_line():
    """Vectors of C that cross lines take two accesses each; NumPy's large arrays begin 16 bytes behind a line."""
    x = T.tensor("x", "float32", (None, 64, 20, 20))
    w = np.random.default_rng().normal(size=(256, 64, 5, 5)).astype("float32")  # such as no cache has seen
    first, second = twice([x], T.nn.relu(T.nn.conv2d(x, w)))
    value = np.ones((1, 64, 20, 20), "float32")
    assert first(value).tobytes() == second(value).tobytes()
    for function in (first, second):
        weights = [c for c in function._run._caller.interface.constants if c.size == w.size]
        assert len(weights) == 1 and weights[0].ctypes.data % ALIGNED == 0


def test_the_second_function_is_not_optimized_until_somebody_looks():
    x, y = vectors()
    first, second = twice([x, y], T.exp(x) * y + 17.5)
    assert second(np.ones(3), np.ones(3)).tolist() == first(np.ones(3), np.ones(3)).tolist()
    assert recalled(second) and second.backend == "c" and second.from_cache and second.c_path == first.c_path
    assert second.graph == first.graph and not recalled(second)
    assert second.c_source() == first.c_source() and second.c_source(lines=True).count("test_executable_cache.py")
    assert [r.rule for r in second.journal] == [r.rule for r in first.journal]
    assert second.optimizer_profile.nodes_after == first.optimizer_profile.nodes_after
    assert str(second.schedule()) == str(first.schedule()) and str(second.trace) == str(first.trace)
    assert repr(second) == repr(first)


SHAPES = [
    lambda x, y: T.cumsum(x, axis=0)[::2], T.outer, lambda x, y: T.concatenate([x, y, x]),
    lambda x, y: [x.sum(), T.max(y), x.shape[0]], lambda x, y: x[T.nonzero(y > 0)[0]],
    lambda x, y: T.linalg.solve(T.outer(x, x) + T.eye(x.shape[0]), y), lambda x, y: T.outer(x, y) @ T.outer(y, x),
    lambda x, y: ag.scan(lambda a, c: c * 0.5 + a, x, T.constant(0.25))[0], lambda x, y: ag.cond(x.sum() > 0, x, y),
    lambda x, y: x + np.linspace(0, 1, 5), lambda x, y: {"a": x * True, "b": T.arange(7)},
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_results_are_the_same_bits(number):
    x, y = vectors()
    outputs = SHAPES[number](x, y)
    first, second = (ag.function([x, y], outputs, on_unused_input="ignore", name="f") for _ in range(2))
    random = np.random.default_rng(number)
    for _ in range(3):
        values = random.standard_normal((2, 5))
        for mine, its in zip(as_list(second(*values)), as_list(first(*values)), strict=True):
            assert mine.dtype == its.dtype and mine.shape == its.shape and mine.tobytes() == its.tobytes()


def as_list(result):
    return list(result.values()) if isinstance(result, dict) else result if isinstance(result, list) else [result]


@pytest.mark.parametrize("seed", mostly_long(range(12), range(4)))
def test_random_graphs(seed):
    graph, arrays = random_graph(Random(seed))
    first, second = twice(list(graph.inputs), list(graph.outputs), on_unused_input="ignore")
    for mine, its in zip(second(*arrays), first(*arrays), strict=True):
        assert mine.tobytes() == its.tobytes() and mine.shape == its.shape
    assert second.graph == first.graph and second.c_source() == first.c_source()


def test_shared_variables_are_updated_each_by_its_own_function():
    def counter():
        w = ag.shared(np.zeros(4), name="w")
        x = T.vector("x")
        return w, ag.function([x], (w * x).sum(), updates=[(w, w + x)], name="counter")

    (w1, f1), (w2, f2) = counter(), counter()
    assert recalled(f2)
    for n in range(3):
        assert f1(np.arange(4.0)) == f2(np.arange(4.0)) == n * 14
    assert w1.get_value().tolist() == w2.get_value().tolist() == [0, 3, 6, 9]
    f2(np.arange(4.0))
    assert w1.get_value()[1] == 3 and w2.get_value()[1] == 4


# --- what goes wrong


@pytest.mark.parametrize("values", [(np.ones(3), np.ones(2)), (np.ones((2, 2)), np.ones(2)), ("a", np.ones(2)), (1.0,)])
def test_messages_are_the_same(values):
    x, y = vectors()
    message = []
    for function in twice([x, y], T.exp(x) / y - 3, name="quotient"):
        with pytest.raises((TypeError, ValueError)) as caught:
            function(*values)
        message.append(str(caught.value))
    assert message[0] == message[1]


def test_an_index_out_of_range_names_the_line():
    x, i = T.vector("x"), T.lscalar("i")
    functions = twice([x, i], x[i] * 2)
    message = []
    for function in functions:
        with pytest.raises(IndexError) as caught:
            function(np.ones(3), 7)
        message.append(str(caught.value) + "".join(getattr(caught.value, "__notes__", ())))
    assert message[0] == message[1] and not recalled(functions[1])


def test_threads_that_look_at_once_see_one_graph():
    x, y = vectors()
    _, function = twice([x, y], T.tanh(x * y) + T.tanh(x + y))
    seen, barrier = [], threading.Barrier(8)

    def look():
        barrier.wait()
        seen.append((id(function.graph), id(function.program.graph)))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1 and seen[0][0] == seen[0][1]


def test_copies_and_bindings():
    x, y = vectors()
    _, function = twice([x, y], T.exp(x) * y)
    again = pickle.loads(pickle.dumps(function))
    values = np.arange(3.0), np.ones(3)
    assert function.bind(*values)().tolist() == again(*values).tolist() == function(*values).tolist()
    np.testing.assert_allclose(function(*values), np.exp(np.arange(3.0)), rtol=1e-14)


# --- what it is known by


def test_all_that_distinguishes_functions_is_in_the_key():
    x, y = vectors()
    matrix, single, fixed = T.matrix("x"), T.vector("x", dtype="float32"), T.tensor("x", "float64", (3,))
    keys = [
        key([x, y], x + y), key([x, y], x - y), key([x, y], y + x), key([y, x], x + y), key([x, y], x + y + 1.0),
        key([x, y], x + y + 2.0), key([x, y], x + y, "fast_run -fusion"), key([x, y], x + y, "FAST_COMPILE"),
        key([x], x + 1), key([matrix], matrix + 1), key([single], single + 1), key([fixed], fixed + 1),
        key([x], x.sum(axis=0)), key([x], x.sum(keepdims=True)), key([x], x[::2]), key([x], x[::3]),
        key([x], x + 0.0), key([x], x + -0.0), key([x], x + np.nan), key([x], x + np.arange(3.0)),
    ]  # fmt: skip
    assert len(set(keys)) == len(keys) and None not in keys
    again_x, again_y = vectors()
    assert key([again_x, again_y], again_x + again_y) == keys[0]


def test_inner_graphs_are_in_the_key():
    x = T.vector("x")
    keys = {key([x], ag.scan(lambda a, c, k=k: c * k + a, x, T.constant(0.0))[0]) for k in (0.5, 0.25)}
    assert len(keys) == 2 and None not in keys


def test_updates_limits_and_files_are_in_the_key(monkeypatch):
    x, y = vectors()
    updates = [(), ((0, 0),), ((1, 0),)]
    assert len({digest(ag.graph.FunctionGraph([x, y], [x + y], each)) for each in updates}) == 3
    before = key([x], x + 1)
    assert len({before, *(key([x], x + 1, as_mode("FAST_RUN").limit(n)) for n in (0, 1))}) == 3
    monkeypatch.setattr(package, "identity", lambda: "another")
    assert key([x], x + 1) not in (before, None)


class Halved(TensorOp):
    name = "halved"

    def infer(self, inputs):
        return (TensorType("float64", inputs[0].type.shape),)

    def evaluate(self, x):
        return (x / 2,)


def test_ops_and_rules_of_the_users_have_no_key(monkeypatch):
    x = T.vector("x")
    assert key([x], Halved()(x)) is None
    with pytest.raises(Unnamed):
        digest(ag.graph.FunctionGraph([x], [Halved()(x)]))
    (a,) = wilds("a")
    mine = rule("mine", T.exp(a), T.log(a))
    assert key([x], T.exp(x), as_mode("FAST_RUN").register((mine, 1.5))) is None
    before = ag.function([x], T.exp(x) + 1.5)
    edited = ag.optdb.copy().register("mine", mine, "fast_run", position=1.5)
    monkeypatch.setattr(executable_cache, "optdb", edited)
    assert key([x], T.exp(x)) is None
    assert before(np.zeros(1)) == 2.5


def test_a_rule_that_is_removed_again_leaves_functions_remembered():
    x, (a,) = T.vector("x"), wilds("a")
    before = key([x], T.exp(x))
    ag.optdb.register("mine", rule("mine", T.exp(a), T.log(a)), "mine_only", position=1.5)
    try:
        assert key([x], T.exp(x)) is None
    finally:
        ag.optdb.unregister("mine")
    assert key([x], T.exp(x)) == before is not None
    twice([x], T.exp(x) * 3.25)


def test_a_database_that_is_edited_later_is_not_asked():
    x = T.vector("x")
    (a,) = wilds("a")
    database = ag.optdb.copy()
    made = Optimization(ag.graph.FunctionGraph([x], [T.exp(x) + 0.0]), as_mode("FAST_RUN"), database=database)
    database.register("mine", rule("mine", T.exp(a), T.log(a)), "fast_run", position=1.5)
    assert [n.op.name for n in made.graph.order] == [n.op.name for n in ag.function([x], T.exp(x) + 0.0).graph.order]


def test_another_file_of_the_package_is_another_key(tmp_path):
    (tmp_path / "inner").mkdir()
    for name in ("a.py", "inner/b.c", "inner/notes.txt"):
        (tmp_path / name).write_text("1")
    before, digest = package.sizes_and_times(str(tmp_path))[0], package.digest_of(str(tmp_path))
    first, second = before.splitlines()
    assert first.startswith(f"{tmp_path}/a.py 1 ") and second.startswith(f"{tmp_path}/inner/b.c 1 ")
    os.utime(tmp_path / "a.py", (1, 1))
    assert package.sizes_and_times(str(tmp_path))[0] != before and package.digest_of(str(tmp_path)) == digest
    (tmp_path / "a.py").rename(tmp_path / "c.py")
    assert package.digest_of(str(tmp_path)) != digest
    (tmp_path / "c.py").rename(tmp_path / "a.py")
    (tmp_path / "inner" / "b.c").write_text("12")
    assert package.sizes_and_times(str(tmp_path))[0] != before and package.digest_of(str(tmp_path)) != digest


def test_an_edited_rule_is_another_key(tmp_path, monkeypatch):
    """Only of a process that began after the edit: one that began before may run the old rule."""
    for item in (ROOT / "arignote").iterdir():
        if item.name != "optdb":
            (tmp_path / item.name).symlink_to(item)
    shutil.copytree(ROOT / "optdb", tmp_path / "optdb")
    rules = tmp_path / "optdb" / "rules" / "fusion" / "elementwise.py"
    monkeypatch.setattr(package, "PACKAGE", f"{tmp_path}{os.sep}")
    monkeypatch.setattr(package, "identity", package.identity.__wrapped__)
    monkeypatch.setattr(package, "_LOADED", rules.stat().st_ctime_ns + 10**9)
    x = T.vector("x")
    before = key([x], x + 1)
    assert before == key([x], x + 1) is not None
    rules.write_text(rules.read_text() + "# edited\n")
    edited = rules.stat().st_ctime_ns
    monkeypatch.setattr(package, "_LOADED", edited - 1)
    assert key([x], x + 1) is None
    monkeypatch.setattr(package, "_LOADED", edited)
    assert key([x], x + 1) not in (before, None)


def test_an_installed_package_is_known_by_its_digest(tmp_path, monkeypatch):
    monkeypatch.setattr(package, "PACKAGE", f"{tmp_path}{os.sep}")
    (tmp_path / "a.py").write_text("1")
    read = package.identity.__wrapped__
    monkeypatch.setattr(package, "_LOADED", (tmp_path / "a.py").stat().st_ctime_ns)
    before = read()
    (tmp_path / package.DIGEST).write_text(package.digest_of(str(tmp_path)))
    assert read() == package.digest_of(str(tmp_path)) != before
    (tmp_path / package.DIGEST).write_bytes(b"\xff")
    assert read() is None


# --- what the cache does with it


def test_a_function_that_calls_python_is_optimized_each_time():
    x = T.vector("x")
    for _ in range(2):
        function = ag.function([x], T.unique((x * 2.5)[:, None], axis=0))
        assert "ag_call" in function.c_source() and function.program.calls_back and not recalled(function)


def test_a_library_that_has_gone_is_compiled_again():
    printed = processes("T.exp(x) * 3.5 + T.sin(x) * 1.25", "import os; os.unlink(f.c_path)", "pass", "pass")
    assert printed == ["False", "False", "True"]


def test_damage_is_a_miss():
    code = "T.exp(x) * 7.5"
    spoil = """
    for path in f.c_path.parent.iterdir():
        if path.suffix not in (".c", ".so"):
            path.write_bytes(path.read_bytes()[:-3])
    """
    printed = processes(code, spoil, "pass", "pass")
    assert printed == ["False", "False", "True"]


def processes(code, *then):
    """For each text of Python that runs `then`: whether a process of its own found the function of `code`."""
    printed = []
    with tempfile.TemporaryDirectory() as cache:
        for number, more in enumerate(then):
            program = (
                "import sys, numpy as np, arignote as ag\nfrom arignote import ops as T\nx = T.vector('x')\n"
                f"f = ag.function([x], {code})\nprint(not f._optimization.is_done)\n"
                f"assert f(np.zeros(2)).shape == (2,)\n{textwrap.dedent(more)}\n"
            )
            settings = {
                **os.environ, "ARIGNOTE_CACHE": cache, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(number),
            }  # fmt: skip
            command = [sys.executable, "-W", "ignore", "-c", program]
            done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            printed += done.stdout.split()
    return printed


def test_another_process_finds_it():
    assert processes("(x * x).sum() + x", "pass", "pass", "assert f.graph") == ["False", "True", "True"]


def test_a_tuned_kernel_is_found_under_its_schedule():
    cache_command.main("untune")
    X = T.matrix("X")

    def columns():
        return ag.function([X], (X * X * 5).sum(0))

    first = columns()
    (name,) = first.schedule()
    Measured(find_toolchain(), process_cache()).keep(name, Schedule(unroll=4), 2.0)
    try:
        tuned, again = columns(), columns()
        assert not recalled(tuned) and recalled(again)
        assert list(again.schedule().values()) == [Schedule(unroll=4)]
        assert again.c_source() == tuned.c_source() != first.c_source()
    finally:
        cache_command.main("untune")
    assert list(columns().schedule().values()) != [Schedule(unroll=4)]


def test_records_are_not_warnings():
    x = T.vector("x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twice([x], x * 11.5)
    assert process_cache().path(Kind.RECORD, key([x], x * 11.5)).exists()
