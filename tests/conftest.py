"""Fixtures of all tests.

- Golden texts lie in `tests/golden/`; `--update-golden` writes them anew.
- Two runs do the same: tests run in the order of the files, hypothesis draws the same examples, and a generator of
  random numbers in a test module starts each test where its seed puts it.
- `--order=reversed` reverses the order. `--order=random` chooses a seed, and `--order=SEED` repeats it: the seed
  decides the order of the files, the order of the tests of each file, and the examples of hypothesis.
- A campaign draws a few examples or cases, and all of them among the long tests; see `draws.py`.
- `--share=2/3` takes the second third of the long tests.
- A test that changes what all tests share fails, and the change is undone; see `isolation.py`.
- One compiler takes a long C file as a whole, except for long tests and those of `in_halves`: other tests keep the
  processors busy that a second one would need, and two take a seventh more time together.
- A rule that fails is an error in every test; the fixture `lenient` gives the behaviour of programs, a warning.
  Processes that a test starts are lenient unless their environment says otherwise.
"""

from __future__ import annotations

import gc
import importlib
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache as cached
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import hypothesis
import numpy as np
import pytest
from ckernel import SHARED_FOLDER
from draws import draw_no_constants, few_examples, leave_few, share_of_cases, with_all_examples
from isolation import ProcessState
from wide_target import WIDE

from arignote.cbackend.build import compilation
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.store import Cache
from arignote.function import function
from arignote.options import process_options
from arignote.record.package import identity
from arignote.targets.current import using
from arignote.targets.named import host

FOLDER = str(Path(__file__).parent)
GOLDEN = Path(FOLDER, "golden")
IS_LAST = pytest.StashKey[bool]()
WHOLE, HALVES = (0,), compilation.UNITS
compilation.UNITS = WHOLE  # before the state that all tests share is read
FIXED_ORDERS = ("file", "reversed")
"""Orders that draw nothing."""
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):  # else each of hundreds of processes would compile every module
    BYTECODE = tempfile.TemporaryDirectory(prefix="arignote-bytecode-")  # removed when the tests are over
    os.environ["PYTHONPYCACHEPREFIX"] = BYTECODE.name
if SHARED_FOLDER not in os.environ:  # the process that starts the workers
    SHARED = tempfile.TemporaryDirectory(prefix="shared-by-test-workers-")
    os.environ[SHARED_FOLDER] = SHARED.name


def _be_strict() -> None:
    """Read the options of this process with ARIGNOTE_STRICT=1, unless the environment has a value for it."""
    given = os.environ.get("ARIGNOTE_STRICT")
    os.environ["ARIGNOTE_STRICT"] = given or "1"
    process_options()
    if given is None:
        del os.environ["ARIGNOTE_STRICT"]


_be_strict()
identity()  # before somebody edits a file: a process that cannot be sure of its code keeps nothing on disk


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden texts instead of comparing with them"
    )
    parser.addoption(
        "--order", default="file", help="order of the tests: 'file' (the default), 'reversed', 'random', or a seed"
    )
    parser.addoption("--share", default="1/1", help="the K-th of N parts of the long tests, as in 2/3")
    parser.addoption("--blame", action="store_true", help="look after each test for what it changes of the product")


def pytest_configure(config: pytest.Config) -> None:
    """Choose a seed if one is asked for; a worker of pytest-xdist takes that of the process that started it."""
    config.option.order = getattr(config, "workerinput", {}).get("order") or config.option.order
    if config.option.order == "random":
        config.option.order = str(random.SystemRandom().randrange(10**6))
    fixed = config.option.order in FIXED_ORDERS
    on_time_or_fixtures = [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture]
    hypothesis.settings.register_profile(
        "arignote", deadline=None, database=None, derandomize=fixed, suppress_health_check=on_time_or_fixtures
    )
    hypothesis.settings.load_profile("arignote")
    if "not long" in config.option.markexpr:
        draw_no_constants()
    if not fixed:
        hypothesis.core.global_force_seed = config.option.order
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a shell starts in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker the seed."""
    node.workerinput["order"] = node.config.option.order


def pytest_report_header(config: pytest.Config) -> str:
    return f"--order={config.option.order}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which order it was where the header is not shown."""
    if terminalreporter.no_header or config.option.verbose < 0:
        terminalreporter.write_line(f"in the order of --order={config.option.order}")


@pytest.hookimpl(tryfirst=True)  # pytest then brings together what shares a fixture of a module with parameters
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases of other shares; shuffle the files, and the tests of each, if a seed is asked for."""
    leave_few(items)
    here = share_of_cases(items, config.option.share)
    config.hook.pytest_deselected(items=sorted({*items} - {*here}, key=lambda item: item.nodeid))
    items[:] = here
    if config.option.order == "reversed":
        items.reverse()
    if config.option.order in FIXED_ORDERS:
        return
    chance = random.Random(config.option.order)
    files = sorted({item.path for item in items})
    rank = {path: chance.random() for path in files}
    items.sort(key=lambda item: item.nodeid)
    chance.shuffle(items)
    items.sort(key=lambda item: rank[item.path])


@pytest.fixture(scope="session")
def process_state(tmp_path_factory: pytest.TempPathFactory) -> ProcessState:
    """Fixture of all tests; temporary files go into a folder of this process."""
    tempfile.tempdir = os.environ["TMPDIR"] = str(tmp_path_factory.mktemp("temporary"))
    for name in ("special.functions", "sparse.scipys"):  # they register what they have when a test first needs them
        importlib.import_module(f"arignote.ops.{name}")
    return ProcessState()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Note whether the next test stands in another file."""
    item.stash[IS_LAST] = nextitem is None or item.path != nextitem.path or item.config.option.blame


@pytest.fixture(autouse=True)
def isolated(process_state: ProcessState, request: pytest.FixtureRequest) -> Iterator[None]:
    """Undo what a test changes of the process state, and blame the test.

    The product is compared after the last test of a file, since that takes 5 ms; with `--blame` after each test.
    """
    before = process_state.read()
    with in_units(HALVES if request.node.get_closest_marker("long") else WHOLE):
        yield
    changes = process_state.restore(before, with_product=request.node.stash[IS_LAST])
    if changes:
        culprit = "this test, or one before it in this file (--blame says which), changes what other tests meet"
        pytest.fail(f"{culprit}:\n  " + "\n  ".join(changes), pytrace=False)


@contextmanager
def in_units(units: tuple[int, ...]) -> Iterator[None]:
    """A block in which these units of a long C file are compiled."""
    before, compilation.UNITS = compilation.UNITS, units
    try:
        yield
    finally:
        compilation.UNITS = before


@pytest.fixture
def in_halves() -> Iterator[None]:
    """Two compilers for a long C file, as in programs."""
    with in_units(HALVES):
        yield


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that leave out a rule that fails, with a warning, as in programs."""
    options = replace(process_options(), strict=False)
    monkeypatch.setattr(function, "process_options", lambda: options)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Iterator[Callable[[str, str], None]]:
    """A function (file name, text) that compares the text with the golden one of that name.

    Golden texts are those of vectors of 64 bytes, which every test that asks for this fixture has as its target.
    """

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert path.is_file(), f"there is no golden text {name}: run pytest with --update-golden and review it"
        assert text == path.read_text(), f"{name} differs: run pytest with --update-golden and review the difference"

    with using(replace(host(), vector=64)):
        yield compare


@pytest.fixture
def on_wide_target() -> Iterator[None]:
    """The target of the tables of rules."""
    with using(WIDE):
        yield


@pytest.fixture(scope="module")
def probed(tmp_path_factory) -> Cache:
    """A cache that remembers the toolchain."""
    cache = Cache.open(tmp_path_factory.mktemp("probed") / "cache")
    if Toolchain.find(cache) is None:
        pytest.skip("needs a C compiler")
    return cache


@pytest.fixture(scope="module")
def toolchain(probed) -> Toolchain:
    return Toolchain.find(probed)


@pytest.fixture
def cache(tmp_path) -> Cache:
    """An empty one."""
    return Cache.open(tmp_path / "cache")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note the states of generators; keep the garbage collector off the thousands of tests that exist by now.

    It also collects less often than every 700 objects: that was 3 % of the time of the tests.
    """
    modules = {item.module for item in session.items if isinstance(item, pytest.Function)}
    STATES.update((g, g.bit_generator.state) for module in modules for g in _generators(module))
    hypothesis.given(hypothesis.strategies.none())(lambda _: None)()  # its generator is registered unfrozen
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _reseed(item)  # for fixtures, which may live longer than the test


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    _reseed(item)
    with few_examples(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> Iterator[Any]:
    """Add the long tests that draw all examples of a campaign."""
    found = yield
    if not isinstance(found, list):
        return found
    each = (with_all_examples(item) if isinstance(item, pytest.Function) else [item] for item in found)
    return [item for both in each for item in both]


STATES: dict[np.random.Generator, Mapping[str, Any]] = {}
"""Generators of the test modules, with their states after the import."""


def _reseed(item: pytest.Item) -> None:
    """Put back the generators that a test may draw from, so that it does not depend on the tests that ran before it."""
    if isinstance(item, pytest.Function):
        for generator in _generators(item.module):
            generator.bit_generator.state = STATES[generator]


@cached
def _generators(module: ModuleType) -> frozenset[np.random.Generator]:
    """The generators among the globals of a test module, and of modules of this folder that it imports names from."""
    reached = [module]
    for one in reached:
        names = {value.__module__ for value in vars(one).values() if isinstance(value, FunctionType | type)}
        found = (sys.modules.get(name) for name in sorted(names))
        reached += [m for m in found if m not in reached and (getattr(m, "__file__", None) or "").startswith(FOLDER)]
    return frozenset(v for one in reached for v in vars(one).values() if isinstance(v, np.random.Generator))
