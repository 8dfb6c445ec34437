"""The search for schedules: its model, its records and its notes, with times that a formula gives."""

import json

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.calls.trials import Trials
from arignote.cbackend.ir.schedule import DEFAULT, Schedule
from arignote.engines.compiler import find_toolchain
from arignote.tuning import measuring, records
from arignote.tuning import search as search_module
from arignote.tuning.alone import kernels_alone
from arignote.tuning.budget import as_seconds
from arignote.tuning.features import NAMES
from arignote.tuning.model import Network, rank_correlation
from arignote.tuning.search import Search
from arignote.tuning.table import LiveTable, Row

X = T.matrix("X")
A = np.random.default_rng(0).standard_normal((300, 500))


@pytest.fixture(scope="module")
def rows():
    """The kernel of a sum of rows, alone."""
    f = ag.function([X], (X * X * 3).sum(1), name="rows", threads=1)
    (found,) = kernels_alone(f, [A], f.program.kernels)
    return found


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch):
    """Fewer lowered kernels: each takes a millisecond."""
    monkeypatch.setattr(search_module, "POOL", 16)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    made = Cache.open(tmp_path / "cache")
    for module in (measuring, records):
        monkeypatch.setattr(module, "process_cache", lambda: made)
    return made


def formula(schedule, _kernel):
    """Half the time for unrolling by 8, a fifth less for vectors of 8, and twice for small tiles."""
    ratio = (0.5 if schedule.unroll == 8 else 1.0) * (0.8 if schedule.vector == 8 else 1.0)
    ratio *= 2.0 if schedule.tiles and min(n for _, n in schedule.tiles) < 64 else 1.0
    return 1e-4 * ratio, ratio


class Linear:
    """A model that knows the formula by the features of the loops: least squares."""

    def fit(self, found, targets):
        self.weights = np.linalg.lstsq(np.c_[found, np.ones(len(found))], targets, rcond=1e-6)[0]

    def predict(self, found):
        return np.c_[found, np.ones(len(found))] @ self.weights


class Nonsense(Linear):
    def predict(self, found):
        return np.full(len(found), np.nan)


class Backwards(Linear):
    def predict(self, found):
        return -super().predict(found)


def searched(rows, model, watch=formula, rounds=6, **more):
    search = Search(rows, watch, model, **more)
    for _ in range(rounds):
        search.round(lambda: False)
        if search.ended:
            break
    return search


def test_a_search_finds_what_is_fast_and_repeats_itself(rows):
    first, second = (searched(rows, Linear()) for _ in range(2))
    assert first.best.ratio <= 0.5 and first.best.schedule.unroll == 8
    assert [t.schedule for t in first.trials] == [t.schedule for t in second.trials]
    assert first.trials[0].schedule == DEFAULT and first.trials[0].ratio == 1.0
    assert len({t.schedule for t in first.trials}) == len(first.trials) and not first.notes


@pytest.mark.parametrize(("model", "note"), [(Nonsense, "no number"), (Backwards, "worse than chance")])
def test_a_model_of_nonsense_is_named_and_left_out(rows, model, note):
    def smooth(schedule, kernel):
        return 1e-4, 2.0 ** (rows.row(kernel) @ weights - rows.row(rows.own) @ weights)

    weights = np.linspace(0, 0.1, len(NAMES))
    search = searched(rows, model(), watch=smooth, rounds=4)
    assert note in " ".join(search.notes)
    assert search.best.ratio <= 1.0


def test_what_is_slower_wrong_or_no_time_never_wins(rows):
    for answer in (None, (1.0, 3.0), (1.0, float("nan")), (1.0, -1.0), (float("inf"), 0.1)):

        def watch(schedule, kernel, answer=answer):
            return (1.0, 1.0) if schedule == DEFAULT else answer

        search = searched(rows, None, watch=watch, rounds=1, first=list(rows.space().singles())[:4])
        assert search.best.schedule == DEFAULT
        assert search.failed + len(search.trials) == 5 and (search.failed == 0) == (answer == (1.0, 3.0))


def test_the_network_ranks_held_out_rows():
    rng = np.random.default_rng(0)
    found = rng.standard_normal((120, 2 * len(NAMES)))
    targets = found[:, 0] - 0.5 * found[:, 1] ** 2
    model, again = Network(), Network()
    model.fit(found[:90], targets[:90])
    again.fit(found[:90], targets[:90])
    assert rank_correlation(model.predict(found[90:]), targets[90:]) > 0.5
    np.testing.assert_array_equal(model.predict(found), again.predict(found))
    model.fit(found[:3], targets[:3])
    assert (model.predict(found) == 0).all()


def test_rank_correlation():
    assert rank_correlation([1, 2, 3], [10, 20, 25]) == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert rank_correlation([1, 1, 1], [3, 2, 1]) == rank_correlation([1, float("nan")], [1, 2]) == 0.0


@pytest.mark.parametrize(("budget", "seconds"), [("2min", 120), ("30s", 30), (1.5, 1.5), ("0.5 h", 1800), (0, 0)])
def test_budgets(budget, seconds):
    assert as_seconds("tune", budget) == seconds


@pytest.mark.parametrize(("budget", "error"), [("2 weeks", ValueError), (-1, ValueError), (True, TypeError),
                                               (float("nan"), ValueError), (None, TypeError)])  # fmt: skip
def test_budgets_that_are_none(budget, error):
    with pytest.raises(error, match="tune: budget is"):
        as_seconds("tune", budget)


def test_a_budget_of_zero_measures_nothing():
    f = ag.function([X], X * 2)
    tuning = ag.tune(f, budget=0)
    assert tuning.function is f and tuning.gain == 1.0 and "nothing was measured" in str(tuning)


@pytest.fixture(scope="module")
def trials(rows):
    return tuple(searched(rows, None, rounds=2).trials)


@pytest.fixture
def group(rows, trials, own_cache):
    """Makes a group of trials for the kernel as it stands in a file, with changes."""
    known = Trials(find_toolchain(), own_cache)
    plain = records.Group(
        rows.kernel, rows.own.title, measuring._dtypes(rows.own), records.target_name(), known.machine, known.compiler,
        records.FEATURES, trials, Schedule(unroll=8), 1.9,
    ).to_dict()  # fmt: skip
    return lambda **changes: {**plain, **changes}


def test_records_are_saved_loaded_and_merged(rows, group, own_cache, tmp_path):
    path, other, both = (tmp_path / f"{name}.json" for name in ("one", "other", "both"))
    path.write_text(json.dumps({"arignote_trials": [group()]}))
    loaded = ag.tune.load(path)
    assert (loaded.kernels, loaded.hints, loaded.skipped) == (1, 0, {})
    saved = ag.tune.save(other)
    assert saved.trials == loaded.trials > 1
    merged = ag.tune.merge(both, path, other)
    assert (merged.kernels, merged.trials) == (1, saved.trials)
    measured = measuring.Measured(find_toolchain(), own_cache)
    assert measured(rows.kernel) == Schedule(unroll=8)


@pytest.mark.parametrize(("change", "reason"), [
    ({"version": 0}, "version 0"), ({"target": "other"}, "target other"), ({"features": "1 old"}, "features 1 old"),
    ({"schedule": {"unroll": 3}}, "unreadable"), ({"trials": [{"row": [1]}]}, "unreadable"), ({"kernel": 5}, "no text"),
])  # fmt: skip
def test_records_that_do_not_fit_are_skipped_and_named(group, tmp_path, change, reason):
    path = tmp_path / "records.json"
    path.write_text(json.dumps({"arignote_trials": [group(**change), group()]}))
    loaded = ag.tune.load(path)
    assert loaded.kernels == 1 and reason in next(iter(loaded.skipped)) and "skipped 1" in str(loaded)


def test_records_of_another_processor_are_measured_before_they_are_used(rows, group, own_cache, tmp_path):
    path = tmp_path / "records.json"
    path.write_text(json.dumps({"arignote_trials": [group(machine="f" * 64)]}))
    assert ag.tune.load(path).hints == 1
    assert measuring.Measured(find_toolchain(), own_cache)(rows.kernel) is None
    tuner = measuring._Tuner(ag.function([X], (X * X * 3).sum(1), threads=1), [A], 1000)
    assert Schedule(unroll=8) in tuner._hints(rows)[:2]
    tuner._groups = [records.group_from(group(dtypes=["float32", "float32"]))]
    assert tuner._hints(rows) == []
    assert any("skipped records" in note for note in tuner.notes)


@pytest.mark.parametrize("content", ["", "[]", '{"arignote_trials": 7}', "\udcff"])
def test_files_that_are_no_records_are_refused(own_cache, tmp_path, content):
    path = tmp_path / "records.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    for read in (ag.tune.load, lambda p: ag.tune.merge(tmp_path / "m.json", p)):
        with pytest.raises(ValueError, match=r"tune\.\w+: .*records\.json is"):
            read(path)


def test_ctrl_c_keeps_the_best_so_far(rows, own_cache, monkeypatch):
    class Watch:
        def __init__(self, function, alone):
            self.calls = 0

        def __call__(self, schedule, kernel):
            self.calls += 1
            if self.calls == 4:
                raise KeyboardInterrupt
            return formula(schedule, kernel)

        def gain(self, one, other):
            return 2.0

    monkeypatch.setattr(measuring, "Stopwatch", Watch)
    monkeypatch.setattr(measuring, "Network", lambda: None)
    monkeypatch.setattr(measuring, "alternatives", lambda *_: iter([{"unroll": 8}, {"unroll": 4}, {"unroll": 2}]))
    monkeypatch.setattr(measuring._Race, "seconds", lambda *_: (2.0, 1.0))
    f = ag.function([X], (X * X * 3).sum(1), threads=1)
    tuning = ag.tune(f, [A], budget=1000, keep=False)
    assert "interrupted" in str(tuning) and [t.schedule for t in tuning.found] == [Schedule(unroll=8)]
    np.testing.assert_array_equal(tuning.function(A), f(A))


def test_the_live_table_rewrites_its_lines():
    class Terminal:
        text = ""

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    stream = Terminal()
    table = LiveTable("tuning f", stream)
    row = Row("k_1", "y0 = x0", 2e-6, 1e-6, 3, "unroll=4")
    table.show([row])
    table.show([row, row])
    assert "unroll=4" in stream.text and "2.00" in stream.text and "\x1b[3A" in stream.text


def test_pools_are_measured_by_their_windows():
    x = T.tensor4("x", dtype="float32")
    values = np.random.default_rng(0).random((2, 8, 9, 9), dtype=np.float32)
    for y in (T.nn.max_pool2d(x, 3, stride=2), T.nn.avg_pool2d(x, (2, 3)), ag.grad(T.nn.max_pool2d(x, 3).sum(), x)):
        f = ag.function([x], y, threads=1)
        pools = [a for a in kernels_alone(f, f.arrays([values]), f.program.kernels) if "pool" in a.own.title]
        assert pools
        for alone in pools:
            assert alone.sizes.extents[-2:] == alone.node.op.kernel
            assert np.isfinite(alone.row(alone.own)).all()
