"""The state that all tests of a process share, held: a test that changes it is blamed, and the change is undone.

    process_state = ProcessState()
    before = process_state.read()
    ...                                     # a test runs
    changes = process_state.restore(before)  # one line for each change

This file holds the interpreter, NumPy and what a test may leave behind; `held_product.py` holds the product itself.
pytest holds the filters of `warnings`.
"""

from __future__ import annotations

import ctypes
import gc
import locale
import operator
import os
import random
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from held_product import Called, HeldProduct, difference, overwrite
from threadpoolctl import ThreadpoolController

PATIENCE = 30.0
"""Seconds that a thread or a child process may take to end after its test."""


def _became(before: Any, after: Any) -> str:
    return f"{before!r} became {after!r}"


class Aspect(NamedTuple):
    """One part of the state: how to read it, to bring it back, and to tell two readings apart."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object]
    tell: Callable[[Any, Any], str] = _became
    is_other: Callable[[Any, Any], Any] = operator.ne


class ProcessState:
    """The state that tests share in this process."""

    def __init__(self) -> None:
        self.aspects = (*_interpreter(), *_libraries(), _CALLED)
        self.product = HeldProduct()

    def read(self) -> list[Any]:
        """The state now, for `restore`."""
        return [*(aspect.read() for aspect in self.aspects), _Remains.now()]

    def restore(self, before: list[Any], with_product: bool = True) -> list[str]:
        """Bring back the state `before`, of the product if asked; one line for each change that a test made."""
        *readings, remains = before
        changes = remains.end_new()
        for aspect, old in zip(self.aspects, readings, strict=True):
            new = aspect.read()
            if aspect.is_other(old, new):
                changes.append(f"{aspect.name}: {aspect.tell(old, new)}")
                aspect.write(old)
        return changes + (self.product.restore() if with_product else [])


# --- the interpreter


def _interpreter() -> Iterator[Aspect]:
    yield Aspect("os.environ", _environment, _write_environment, _changed_variables)
    yield Aspect("working folder", _folder, os.chdir)
    yield Aspect("umask", _umask, os.umask)
    yield Aspect("temporary folder", lambda: tempfile.tempdir, partial(setattr, tempfile, "tempdir"))
    yield Aspect("sys.path", lambda: list(sys.path), partial(sys.path.__setitem__, slice(None)))
    yield Aspect("recursion limit", sys.getrecursionlimit, sys.setrecursionlimit)
    yield Aspect("switch interval", sys.getswitchinterval, sys.setswitchinterval)
    yield Aspect("profile function", sys.getprofile, sys.setprofile)
    yield Aspect("hooks of sys", _hooks, _write_hooks, difference)
    yield Aspect("signal handlers", _handlers, _write_handlers, difference)
    yield Aspect("alarm", lambda: signal.getitimer(signal.ITIMER_REAL)[0], lambda _: signal.alarm(0))
    yield Aspect("gc enabled", gc.isenabled, lambda enabled: gc.enable() if enabled else gc.disable())
    yield Aspect("gc thresholds", gc.get_threshold, lambda thresholds: gc.set_threshold(*thresholds))
    yield Aspect("gc callbacks", _callbacks, _write_callbacks)
    yield Aspect("objects frozen by gc", lambda: gc.unfreeze is _unfreeze and _Frozen.still, lambda _: _Frozen.again())
    yield Aspect("locale", partial(locale.setlocale, locale.LC_ALL), partial(locale.setlocale, locale.LC_ALL))
    yield Aspect("warnings.showwarning", lambda: warnings.showwarning, partial(setattr, warnings, "showwarning"))
    if hasattr(os, "sched_getaffinity"):
        yield Aspect("processors", partial(os.sched_getaffinity, 0), partial(os.sched_setaffinity, 0))


def _environment() -> dict[Any, Any]:
    """All variables as the system spells them, but the one that pytest itself writes.

    The private table spares the decoding of each variable, twice a test.
    """
    variables = os.environ._data.copy()  # type: ignore[attr-defined]
    variables.pop(os.environ.encodekey("PYTEST_CURRENT_TEST"), None)
    return variables


def _decoded(variables: dict[Any, Any]) -> dict[str, str]:
    return {os.environ.decodekey(name): os.environ.decodevalue(value) for name, value in variables.items()}


def _changed_variables(before: dict[Any, Any], after: dict[Any, Any]) -> str:
    return difference(_decoded(before), _decoded(after))


def _write_environment(variables: dict[Any, Any]) -> None:
    current = {n: os.environ[n] for n in ("PYTEST_CURRENT_TEST",) if n in os.environ}
    overwrite(os.environ, {**_decoded(variables), **current})


def _folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _callbacks() -> list[Any]:
    """All but the one by which hypothesis measures."""
    return [callback for callback in gc.callbacks if not callback.__module__.startswith("hypothesis")]


def _write_callbacks(callbacks: list[Any]) -> None:
    gc.callbacks[:] = callbacks


def _hooks() -> dict[str, Any]:
    return {name: getattr(sys, name) for name in ("excepthook", "displayhook", "unraisablehook")}


def _write_hooks(hooks: dict[str, Any]) -> None:
    for name, hook in hooks.items():
        setattr(sys, name, hook)


class _Frozen:
    """Whether objects are still frozen.  Counting them takes 20 ms in a process that has collected all tests."""

    still = True

    @classmethod
    def again(cls) -> None:
        gc.unfreeze = _unfreeze
        gc.freeze()
        cls.still = True


_thaw = gc.unfreeze


def _unfreeze() -> None:
    _Frozen.still = False
    _thaw()


gc.unfreeze = _unfreeze


_SIGNALS = [s for s in signal.Signals if s.name in ("SIGINT", "SIGTERM", "SIGALRM", "SIGCHLD", "SIGPIPE", "SIGSEGV")]


def _handlers() -> dict[str, Any]:
    return {number.name: signal.getsignal(number) for number in _SIGNALS}


def _write_handlers(handlers: dict[str, Any]) -> None:
    for name, handler in handlers.items():
        if handler is not None:
            signal.signal(signal.Signals[name], handler)


@contextmanager
def same_recursion_limit() -> Iterator[None]:
    """A block after which the recursion limit is what it was: jedi, which notebooks load, raises it."""
    limit = sys.getrecursionlimit()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


# --- libraries


def _libraries() -> Iterator[Aspect]:
    pools = ThreadpoolController().lib_controllers
    yield Aspect("np.errstate", np.geterr, lambda state: np.seterr(**state), difference)
    yield Aspect("np.seterrcall", np.geterrcall, np.seterrcall)
    yield Aspect("np.printoptions", np.get_printoptions, lambda options: np.set_printoptions(**options), difference)
    yield Aspect("random", random.getstate, random.setstate, _drawn)
    yield Aspect("np.random", _numpy_state, _write_numpy_state, _drawn)
    yield Aspect("threads of BLAS", lambda: [pool.num_threads for pool in pools], partial(_write_threads, pools))


KEYS = 624
"""Words of the state of NumPy's global generator, a Mersenne Twister; the position among them follows."""


def _numpy_state() -> bytes:
    """The memory of the generator: `get_state` makes 624 Python numbers of it, twice a test."""
    return ctypes.string_at(np.random.get_bit_generator().ctypes.state_address, 4 * (KEYS + 1))


def _write_numpy_state(state: bytes) -> None:
    """Write the state; a second normal number that the generator keeps is forgotten."""
    *keys, position = np.frombuffer(state, np.uint32)
    np.random.set_state(("MT19937", np.array(keys), int(position), 0, 0.0))


def _drawn(before: Any, after: Any) -> str:
    return "the test draws from the global generator, or seeds it"


def _write_threads(pools: Iterable[Any], numbers: list[int]) -> None:
    for pool, number in zip(pools, numbers, strict=True):
        pool.set_num_threads(number)


_CALLED = Aspect(
    "functions that compiled code calls", Called.read, Called.write, Called.changed, Called.changed
)


# --- what a test leaves behind


_OF_ONNX_RUNTIME = ".ses"
"""A temporary file that each process with a session of ONNX Runtime leaves."""


class _Remains(NamedTuple):
    """Threads, child processes and temporary files that exist at one moment."""

    threads: set[threading.Thread]
    children: set[int]
    folder: str
    files: set[str]

    @classmethod
    def now(cls) -> _Remains:
        folder = tempfile.gettempdir()
        return cls(set(threading.enumerate()), child_processes(), folder, set(os.listdir(folder)))

    def end_new(self) -> list[str]:
        """Wait for new threads and processes to end, and kill processes that do not; a line for each thing left.

        Files stay where they are: pytest removes the folder of this process as a whole.
        """
        deadline = time.monotonic() + PATIENCE
        lines = []
        for thread in set(threading.enumerate()) - self.threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                lines.append(f"thread {thread.name!r} still runs")
        while (new := child_processes() - self.children) and time.monotonic() < deadline and not lines:
            time.sleep(0.01)
        lines += [_end(child) for child in sorted(new)]
        left = {*os.listdir(self.folder)} - self.files - {_OF_ONNX_RUNTIME}
        return lines + [f"temporary file {name!r} is left" for name in sorted(left)]


def child_processes() -> set[int]:
    """The child processes of all threads, those included that have ended and were not waited for."""
    with suppress(AttributeError):  # macOS of Python 3.12 and older has no waitid
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # there are none: one call of the system in place of a file for each thread
            return set()
    children: set[int] = set()
    for task in os.listdir("/proc/self/task") if sys.platform == "linux" else ():
        with suppress(OSError), open(f"/proc/self/task/{task}/children") as listed:  # the thread may have ended by now
            children.update(map(int, listed.read().split()))
    return children - {resource_tracker._resource_tracker._pid}  # type: ignore[attr-defined]


def _end(child: int) -> str:
    """End a child process; a line about it."""
    state = "ended by itself"
    with suppress(OSError):
        command = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ").strip()
        state = f"{command!r} still runs" if command else "was not waited for"
    with suppress(OSError):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return f"child process {child} {state}"

