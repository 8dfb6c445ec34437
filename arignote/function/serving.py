"""`ag.batched`: calls of many threads or tasks with one example each, computed together as one batch.

    caller --submit--> queue by shapes and dtypes --batch--> one worker --> `ag.vectorize`d function --> futures

The worker takes the oldest group as soon as it is full, or its first call has waited for `max_delay`, or there is no
room for further calls.  Calls that arrive while it computes wait for less, since their time already runs.  Callbacks of
futures run in a thread of their own, so they may call the same function.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from .. import later
from ..export.sources import function_of
from ..ops.core.checks import shown
from ..ops.core.tensor import TensorVariable
from ..record.ending import interpreter_ends
from ..record.forks import ProcessLock
from ..record.spelling import counted
from .compiled import Function
from .function import function

_children = ProcessLock()
"""Lock held while a child process starts a queue anew."""
Key = tuple[tuple[str, tuple[int, ...]], ...]
"""dtype and shape of each argument: equal for calls that fit into one batch."""


def batched(source: Any, *, max_batch: int = 32, max_delay: float = 0.002, max_waiting: int | None = None) -> Batched:
    """Return `source` for callers with one example each: calls are gathered along a new first axis and run as one.

        with ag.batched(predict, max_batch=64) as serve:
            label = serve(image)                      # from any thread; returns what predict(image) returns
            future = serve.submit(image)              # a concurrent.futures.Future
            label = await serve.ask(image)            # from an asyncio task

    Args:
        source: a function of `ag.function` without updates, all of whose inputs are parts of an example.  Weights are
            shared variables or constants (`ag.freeze`).
        max_batch: the most examples of one call.
        max_delay: seconds that a call waits for others, at most, while the worker is idle.
        max_waiting: calls that may wait; further ones block in `submit` until there is room.  By default
            16 * max_batch.

    Examples of other shapes or dtypes form batches of their own.  A result may differ by rounding from that of
    `source`, and with the other examples of its batch, since sums of products depend on the number of rows.  If a batch
    fails, each of its examples is computed alone, and only the callers at fault get an error.

    Raises TypeError for what is no function or has updates or no results, and for an op whose results would have
    lengths that differ from example to example, naming it; ValueError for numbers out of range.
    """
    source = function_of(source)
    if not isinstance(source, Function):
        raise TypeError(f"batched: expected a function that ag.function made, got {shown(source)}")
    if source.unoptimized_graph.updates:
        raise TypeError(f"batched: {source.name} updates shared variables; a batch does not keep the order of calls")
    if not source.inputs or not source.unoptimized_graph.outputs:
        raise TypeError(f"batched: {source.name} has no {'outputs' if source.inputs else 'inputs'}")
    most = 16 * max_batch if max_waiting is None and isinstance(max_batch, int) else max_waiting
    for name, value in (("max_batch", max_batch), ("max_waiting", most)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ValueError(f"batched: {name} is {shown(value)}; expected an integer from 1 on")
    if not isinstance(max_delay, (int, float)) or not 0 <= max_delay < 3600:
        raise ValueError(f"batched: max_delay is {shown(max_delay)}; expected seconds, from 0 on and below 3600")
    assert most is not None
    return Batched(source, int(max_batch), float(max_delay), int(most))


def _set(loop: asyncio.AbstractEventLoop, room: asyncio.Event) -> None:
    """Set an event from another thread, unless its loop has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(room.set)


def _of_many(source: Function) -> Function:
    """Return `source` with a further first axis of each input and output."""
    known = source.unoptimized_graph
    many = {v: TensorVariable(v.type.with_shape((None, *v.type.shape)), name=v.name) for v in source.inputs}
    outputs = later.vectorizing.vectorized(list(known.outputs), many)
    return function(list(many.values()), outputs, **source.compilation.options(name=f"{source.name} of many"))


class _Request(Future[Any]):
    """Future of one call.  `is_quick`: its callbacks only wake an event loop, so the worker runs them itself."""

    def __init__(self, queue: _Queue, values: tuple[np.ndarray, ...], is_quick: bool) -> None:
        super().__init__()
        self.queue, self.values, self.is_quick = queue, values, is_quick
        self.key: Key = tuple((v.dtype.str, v.shape) for v in values)
        self.arrived = time.monotonic()

    def cancel(self) -> bool:
        """Cancel the call unless it is computed already; its place in the queue is free at once."""
        is_cancelled = super().cancel()
        if is_cancelled:
            self.queue.leave(self)
        return is_cancelled

    def add_done_callback(self, fn: Callable[[Future[Any]], object]) -> None:
        """Call `fn` with the future once it is done: never in the worker, unless the future is quick."""
        super().add_done_callback(fn if self.is_quick else partial(self.queue.tell, fn))


class _Queue:
    """Waiting requests and the thread that computes them.  It holds no reference to its `Batched`."""

    def __init__(self, source: Function, many: Function, max_batch: int, max_delay: float, most: int) -> None:
        self.source, self.many = source, many
        self.max_batch, self.max_delay, self.most = max_batch, max_delay, most
        self.calls = self.batches = self.largest = 0
        self.begin()

    def begin(self) -> None:
        """Start without the requests that a parent process left."""
        self.changed = threading.Condition()
        self.groups: dict[Key, deque[_Request]] = {}
        self.waiting = 0
        self.closed = False
        self.thread: threading.Thread | None = None
        self.listeners: deque[Callable[[], None]] = deque()
        self.callbacks = ThreadPoolExecutor(1, f"{self.source.name} callbacks")
        self.teller: threading.Thread | None = None
        """The thread of the callbacks, while one runs."""
        self.process = os.getpid()  # last: who sees it finds all else

    # --- callers

    def put(self, values: tuple[np.ndarray, ...], blocks: bool) -> Future[Any] | None:
        """Return the future of a call; None if the queue is full and may not block.  Raises RuntimeError if closed."""
        with self.changed:
            while self.waiting >= self.most and not self.closed:
                if not blocks:
                    return None
                self.changed.wait()
            if self.closed:
                raise RuntimeError(f"batched: {self.source.name} is closed; it takes no further calls")
            request = _Request(self, values, is_quick=not blocks)
            self.groups.setdefault(request.key, deque()).append(request)
            self.waiting += 1
            if self.thread is None:
                self.thread = threading.Thread(target=self.serve, name=f"{self.source.name} batches", daemon=True)
                self.thread.start()
            self.changed.notify_all()
        return request

    def leave(self, request: _Request) -> None:
        """Remove a cancelled request, if it still waits."""
        with self.changed:
            group = self.groups.get(request.key)
            if group is None or request not in group:
                return
            group.remove(request)
            request.values, listeners = (), self.left(request.key, 1)
        for listener in listeners:
            listener()

    def left(self, key: Key, count: int) -> list[Callable[[], None]]:
        """Make room after requests of a group have left it; return the listeners to call without the lock."""
        if not self.groups[key]:
            del self.groups[key]
        self.waiting -= count
        listeners = list(self.listeners)
        self.listeners.clear()
        self.changed.notify_all()
        return listeners

    def tell_of_room(self, listener: Callable[[], None]) -> bool:
        """Call `listener` once when there may be room, or at the end; return whether the queue is still full."""
        with self.changed:
            if self.waiting < self.most or self.closed:
                return False
            self.listeners.append(listener)
            return True

    def close(self) -> None:
        """Compute the waiting calls, and end."""
        if self.process != os.getpid():
            return
        with self.changed:
            self.closed = True
            listeners = list(self.listeners)
            self.listeners.clear()
            self.changed.notify_all()
        for listener in listeners:
            listener()
        current = threading.current_thread()
        if self.thread is not None and self.thread is not current:
            self.thread.join()
            self.callbacks.shutdown(wait=self.teller is not current)

    # --- the worker

    def serve(self) -> None:
        while (batch := self.take()) is not None:
            ready = [r for r in batch if r.set_running_or_notify_cancel()]
            if ready:
                self.run(ready)
            for request in batch:
                request.values = ()
            del batch, ready, request  # keep no results alive while waiting

    def take(self) -> list[_Request] | None:
        """The next batch; None once closed and empty."""
        with self.changed:
            while True:
                now = time.monotonic()
                key, due = self.next_group(now)
                if key is not None and due <= now:
                    break
                if key is None and self.closed:
                    return None
                self.changed.wait(None if key is None else due - now)
            group = self.groups[key]
            batch = [group.popleft() for _ in range(min(self.max_batch, len(group)))]
            listeners = self.left(key, len(batch))
        for listener in listeners:
            listener()
        return batch

    def next_group(self, now: float) -> tuple[Key | None, float]:
        """Return the group to run next and its time: the oldest if it is due, else a full one, else the oldest.

        If the queue is full, no call can join the oldest group, so it does not wait.
        """
        oldest = min(self.groups, key=lambda key: self.groups[key][0].arrived, default=None)
        if oldest is None:
            return None, now
        due = now if self.closed else self.groups[oldest][0].arrived + self.max_delay
        full = next((key for key, group in self.groups.items() if len(group) >= self.max_batch), None)
        if due > now and full is not None:
            return full, now
        return oldest, min(due, now) if self.waiting >= self.most else due

    def run(self, batch: list[_Request]) -> None:
        """Compute a batch as one call, or call by call if that fails."""
        self.calls, self.batches, self.largest = (
            self.calls + len(batch), self.batches + 1, max(self.largest, len(batch)),
        )  # fmt: skip
        try:
            results = self.together(batch) if len(batch) > 1 else [self.source(*batch[0].values)]
        except BaseException:  # no exception of a call may end the worker, for which callers wait
            for request in batch:
                self.alone(request)
            return
        for request, result in zip(batch, results, strict=True):
            request.set_result(result)

    def together(self, batch: list[_Request]) -> list[Any]:
        """Return the results of several calls, in the form of the function's."""
        columns = zip(*(request.values for request in batch), strict=True)
        found = [np.asarray(f) for f in self.many(*map(np.stack, columns))]
        formed = self.source.compilation.signature.formed
        return [formed([f[k, ...].copy() for f in found], request.values) for k, request in enumerate(batch)]

    def alone(self, request: _Request) -> None:
        try:
            result = self.source(*request.values)
        except BaseException as error:
            request.set_exception(error)
        else:
            request.set_result(result)

    # --- callbacks

    def tell(self, fn: Callable[[Future[Any]], object], future: Future[Any]) -> None:
        """Run a callback: in the thread of callbacks if the worker is here, which other calls wait for."""
        if threading.current_thread() is not self.thread or interpreter_ends():
            fn(future)
        else:
            self.callbacks.submit(self.reported, fn, future)

    def reported(self, fn: Callable[[Future[Any]], object], future: Future[Any]) -> None:
        self.teller = threading.current_thread()
        try:
            fn(future)
        except Exception:  # as a Future does
            logging.getLogger("concurrent.futures").exception("exception calling callback for %r", future)
        finally:
            self.teller = None


class Batched:
    """A function whose calls are gathered into batches; see `ag.batched`.

    Attributes:
        source: the function of one example.
        many: the function of many, with a further first axis.
        calls, batches, largest: calls answered, the batches that answered them, and the examples of the largest.
    """

    def __init__(self, source: Function, max_batch: int, max_delay: float, max_waiting: int) -> None:
        self.source = source
        self.many: Function = _of_many(source)
        self._queue = _Queue(source, self.many, max_batch, max_delay, max_waiting)
        self._close = weakref.finalize(self, self._queue.close)  # at the end of the program at the latest

    @property
    def calls(self) -> int:
        return self._queue.calls

    @property
    def batches(self) -> int:
        return self._queue.batches

    @property
    def largest(self) -> int:
        return self._queue.largest

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result for one example; wait for its batch."""
        future = self.submit(*args, **kwargs)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return the future of the result for one example.  Blocks while `max_waiting` calls wait.

        Callbacks of the future run in one thread, in turn; they may call or submit.  `cancel` frees the call's place.

        Raises TypeError or ValueError for arguments that no example has, and RuntimeError after `close`, or if `close`
        runs while the call waits for room.
        """
        values = self._values(args, kwargs)
        if interpreter_ends():
            future: Future[Any] = Future()
            future.set_result(self.source(*values))
            return future
        found = self._living().put(values, blocks=True)
        assert found is not None
        return found

    async def ask(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result for one example, in a task of asyncio.  Errors are those of `submit`."""
        values, queue, loop = self._values(args, kwargs), self._living(), asyncio.get_running_loop()
        while (future := queue.put(values, blocks=False)) is None:
            room = asyncio.Event()
            if queue.tell_of_room(partial(_set, loop, room)):
                await room.wait()
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Answer the waiting calls, run their callbacks, and end the worker.

        Later calls raise RuntimeError, and so do those that wait for room in `submit` or `ask`.
        """
        self._living().close()

    def __enter__(self) -> Batched:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        queue = self._queue
        return (
            f"<batched {self.source.name}: {counted(queue.calls, 'call')} in {queue.batches} batches, the largest of "
            f"{queue.largest}; at most {queue.max_batch}, {1e3 * queue.max_delay:g} ms>"
        )

    def _living(self) -> _Queue:
        """The queue; a forked child process gets a new one."""
        if self._queue.process != os.getpid():
            with _children:
                if self._queue.process != os.getpid():
                    self._queue.begin()
        return self._queue

    def _values(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[np.ndarray, ...]:
        """Return arguments as arrays that no other code writes.  Raises TypeError or ValueError as a call would."""
        given = self.source._plain.values(args, kwargs)
        inputs = self.source.inputs
        if len(given) != len(inputs):
            self.source(*given)  # raises
        found = []
        for value, wanted in zip(given, inputs, strict=True):
            array = np.array(value)
            if not isinstance(value, (np.ndarray, np.generic)) and array.dtype != wanted.dtype:
                array = np.array(value, wanted.dtype) if np.can_cast(array.dtype, wanted.dtype, "same_kind") else array
            found.append(array)
        return tuple(found)
