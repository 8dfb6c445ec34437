"""Tuning keeps what wins beyond doubt, for later compilations and other processes; results stay what they were."""

import importlib
import math
import os
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.cache.upkeep import entries
from arignote.cbackend.ir.schedule import DEFAULT, Schedule
from arignote.cli import cache_command
from arignote.options import process_options
from arignote.tuning import measuring as tuning_module
from arignote.tuning import records, search
from arignote.tuning.measuring import _Race, alternatives

X = T.matrix("X")


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    return Cache.open(tmp_path_factory.mktemp("tune") / "cache")


@pytest.fixture(autouse=True)
def kept_separate(own_cache, monkeypatch):
    """Schedules go into a cache of this file's: other workers tune, and forget, at the same time."""
    options = replace(process_options(), cache=own_cache.folder.root)
    monkeypatch.setattr(cache_command, "process_options", lambda: options)
    for module in (importlib.import_module("arignote.engines.c"), tuning_module, records):
        monkeypatch.setattr(module, "process_cache", lambda: own_cache)


@pytest.fixture
def forget():
    """Nothing is tuned before, nor after."""
    cache_command.main("untune")
    yield
    cache_command.main("untune")


@pytest.fixture
def wins(monkeypatch, forget):
    """Measurement in which unrolling by 4 is twice as fast."""

    class Watch:
        def __init__(self, function, alone):
            pass

        def __call__(self, schedule, kernel):
            return (0.5, 0.5) if schedule.unroll == 4 else (1.0, 1.0)

        def gain(self, one, other):
            return 2.0 if other.unroll == 4 != one.unroll else 1.0

    monkeypatch.setattr(tuning_module, "Stopwatch", Watch)
    monkeypatch.setattr(tuning_module, "Network", lambda: None)
    monkeypatch.setattr(search, "PATIENCE", 1)
    monkeypatch.setattr(search, "POOL", 8)
    monkeypatch.setattr(_Race, "seconds", lambda *_: (2.0, 1.0))
    monkeypatch.setattr(tuning_module, "alternatives", lambda *_: iter([{"vector": 8}, {"unroll": 4}]))


def rows(name="f"):
    return ag.function([X], (X * X * 3).sum(1), name=name)


A = np.random.default_rng(0).standard_normal((40, 30))


def test_winners_are_kept_for_later_compilations(wins):
    f = rows()
    tuning = ag.tune(f, [A], seconds=1000)
    assert [t.schedule for t in tuning.found] == [Schedule(unroll=4)] and tuning.kept
    assert list(f.schedule().values()) == [DEFAULT]
    for g in (tuning.function, rows()):
        assert list(g.schedule().values()) == [Schedule(unroll=4)]
        np.testing.assert_array_equal(g(A), f(A))
    assert "unroll=4, 2.00 times as fast" in str(tuning) and "unroll=4" in tuning._repr_html_()


def test_other_processes_use_them_and_measure_nothing(wins, own_cache):
    ag.tune(rows(), [A], seconds=1000)
    program = """
        import arignote as ag
        from arignote import ops as T
        X = T.matrix("other")
        print(*ag.function([X], (X * X * 3).sum(1)).schedule().values())
    """
    env = {**os.environ, "ARIGNOTE_CACHE": str(own_cache.folder.root)}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=env, text=True, check=False,
                          capture_output=True)  # fmt: skip
    assert done.stdout == "unroll=4\n", done.stderr


def test_what_is_given_is_stronger_than_what_was_measured(wins):
    f = rows()
    ag.tune(f, [A], seconds=1000)
    assert list(ag.function([X], (X * X * 3).sum(1), schedule=f.schedule()).schedule().values()) == [DEFAULT]


def test_nothing_is_kept_that_nobody_wants_kept(wins):
    tuning = ag.tune(rows(), [A], seconds=1000, keep=False)
    assert not tuning.kept and list(tuning.function.schedule().values()) == [Schedule(unroll=4)]
    assert list(rows().schedule().values()) == [DEFAULT]


def test_damaged_records_are_a_miss(wins, own_cache):
    ag.tune(rows(), [A], seconds=1000)
    (entry,) = [e for e in entries(own_cache) if e.kind is Kind.SCHEDULE]
    content = bytearray(entry.path.read_bytes())
    content[5] ^= 1
    entry.path.chmod(0o600)
    entry.path.write_bytes(content)
    with pytest.warns(UserWarning, match="moved aside"):
        f = rows()
    assert list(f.schedule().values()) == [DEFAULT] and not entry.path.exists()


@pytest.mark.parametrize("content", [b"", b"{}", b'{"schedule": {"colour": 1}}', b'{"schedule": {"unroll": 3}}',
                                     b'{"schedule": {"order": [5]}}', b'{"schedule": 7}'])  # fmt: skip
def test_records_of_other_versions_are_a_miss(wins, content, own_cache):
    ag.tune(rows(), [A], seconds=1000)
    (entry,) = [e for e in entries(own_cache) if e.kind is Kind.SCHEDULE]
    own_cache.store(Kind.SCHEDULE, entry.key, content)
    assert list(rows().schedule().values()) == [DEFAULT]


def test_the_command_line_counts_and_forgets(wins, capsys):
    ag.tune(rows(), [A], seconds=1000)
    assert cache_command.main("size") == 0
    assert "1 tuned schedules" in capsys.readouterr().out
    cache_command.main("untune")
    assert "removed 1 entry" in capsys.readouterr().out
    assert list(rows().schedule().values()) == [DEFAULT]


def test_shared_variables_stay_what_they_are(wins):
    w = ag.shared(np.ones((40, 30)), name="w", shape=(40, 30))
    step = ag.function([X], (w * X).sum(0), updates=[(w, w - 0.1 * X)])
    ag.tune(step, [A], seconds=1000)
    assert (w.get_value() == 1).all()


def test_luck_is_not_taken_for_speed(forget):
    f = rows()
    race = _Race(f, [A], math.inf)
    one = dict(f.schedule())
    lucky = [(1.0, 1.0 + 0.2 * (-1) ** k) for k in range(20)]
    for times, expected in [
        ([(1.0, 0.5)] * 20, 2.0), ([(1.0, 1.1)] * 20, 1.0), (lucky, 1.0), ([(1.0, 0.1), *[(1.0, 1.01)] * 19], 1.0),
    ]:  # fmt: skip
        race._times = lambda a, b, rounds, times=times: iter(times)
        assert race.gain(one, one, 20) == pytest.approx(expected)


def test_a_function_that_is_slower_with_the_winners_stays_as_it_is(wins, monkeypatch, own_cache):
    monkeypatch.setattr(_Race, "seconds", lambda *_: (1.0, 1.1))
    f = rows()
    tuning = ag.tune(f, [A], seconds=1000)
    assert tuning.function is f and tuning.gain == 1.0 and not tuning.kept
    assert [t.schedule for t in tuning.found] == [DEFAULT] and "1.00 times" in str(tuning)
    assert not [e for e in entries(own_cache) if e.kind is Kind.SCHEDULE]


def test_wrong_results_do_not_win(wins, monkeypatch):
    monkeypatch.setattr(_Race, "equal", lambda *_, **__: False)
    tuning = ag.tune(rows(), [A], seconds=1000)
    assert list(tuning.function.schedule().values()) == [DEFAULT] and not tuning.kept
    assert "does not fit into the whole function" in str(tuning)


def test_a_real_race_ends_in_time_and_keeps_the_bits(forget):
    f = ag.function([X], T.exp(X) + X.T)
    x = np.random.default_rng(0).standard_normal((60, 60))
    tuning = ag.tune(f, [x], seconds=1.0)
    np.testing.assert_array_equal(tuning.function(x), f(x))
    assert tuning.gain >= 1.0 and sum(t.tried for t in tuning.found) >= 1


def test_functions_that_numpy_runs_are_refused():
    with pytest.raises(ValueError, match="run by NumPy"):
        ag.tune(ag.function([X], X + 1, mode="NUMPY"), [A])


def test_another_order_is_the_first_thought_where_operands_are_strided():
    for f in (rows(), ag.function([X], X + X.T), ag.function([X], T.exp(X))):
        for kernel in f.program.kernels:
            assert len({Schedule(**choices) for choices in alternatives(kernel)}) > 5
            assert "order" in next(alternatives(kernel, strided=True)) and "order" not in next(alternatives(kernel))


def test_a_jitted_function_uses_what_wins_from_then_on(wins):
    f = ag.jit(lambda v, k: (v * v * k).sum(1))
    before = f(A, 3)
    tuning = ag.tune(f, [A, 3], seconds=1)
    (trace,) = f.traces.values()
    assert trace.function is tuning.function
    assert 4 in [s.unroll for s in trace.function.schedule().values()]
    np.testing.assert_allclose(f(A, 3), before, rtol=1e-14)
    assert f(A[:2], 3).shape == (2,) and len(f.traces) == 1


def test_a_jitted_function_is_tuned_for_the_arguments_of_a_call():
    f = ag.jit(lambda v: v.sum())
    with pytest.raises(TypeError, match=r"tune: inputs is None; expected the arguments of a call"):
        ag.tune(f)
    with pytest.raises(TypeError, match=r"expected arrays and numbers, got symbolic arguments"):
        ag.tune(f, [X])
