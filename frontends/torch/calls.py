"""Calls of a compiled graph with tensors: memory is shared, and mutated buffers are written in place."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from ...function.compiled import Function
from ...ops.core.shared import Container
from .dtypes import array_of
from .watching import LENT_BYTES, lent, unchanged

Reading = Callable[[Any], np.ndarray]
"""A function from an argument of a graph to the array that our function takes."""


class CompiledGraph:
    """A graph of PyTorch, compiled: called with the list of its arguments, it returns the list of its results.

    `function`: our function; `remarks`: one line for each op that runs in PyTorch; `graph`: the graph of PyTorch.
    """

    def __init__(self, name: str, graph: Any, remarks: Sequence[str]) -> None:
        self._boxed_call = True
        """A mark that PyTorch looks for: arguments come in one list, which a call may empty."""
        self.name = name
        self.graph = graph
        self.function: Any = None
        self.remarks: tuple[str, ...] = tuple(remarks)
        self.run: Callable[[list[Any]], Any] = _not_ready

    def __call__(self, args: list[Any]) -> Any:
        return self.run(args)

    @property
    def profile(self) -> Any:
        """The run profile of the function."""
        return self.function.profile

    def __repr__(self) -> str:
        return f"<graph {self.name} of PyTorch, compiled by Arignote>"


def _not_ready(args: list[Any]) -> Any:
    raise RuntimeError("the graph is not compiled yet")


class Held:
    """A tensor argument whose memory a shared variable reads."""

    def __init__(self, place: int, container: Container, mutated: bool) -> None:
        self.place: int = place
        self.container: Container = container
        self.mutated: bool = mutated
        self.home: np.ndarray = container.value
        self.pointer: int = -1

    def take(self, value: torch.Tensor) -> None:
        """Let the shared variable read this tensor from now on."""
        self.pointer = value.data_ptr()
        self.home = array_of(value)
        self.container.value = self.home if self.home.flags.carray else np.array(self.home, order="C")

    def take_back(self, home: np.ndarray) -> None:
        """Let the shared variable read an earlier array again."""
        self.home = self.container.value = home

    @property
    def is_copy(self) -> bool:
        """Return whether the elements lie in another order in memory, so that each call copies them."""
        return not self.home.flags.carray

    def is_lent(self, value: torch.Tensor) -> bool:
        """Return whether a frozen graph reads this tensor in its own memory, and PyTorch counts the writes to it."""
        return self.home.nbytes >= LENT_BYTES and not self.is_copy and not value.is_inference()

    def give_back(self) -> None:
        """Write the new value into the tensor, unless it is there already."""
        if self.container.value is not self.home:
            np.copyto(self.home, self.container.value)
            if self.home.flags.carray:
                self.container.value = self.home


def runner(
    function: Any, passed: Sequence[tuple[int, Reading]], held: Sequence[Held], results: Sequence[Any]
) -> Callable[[list[Any]], list[Any]]:
    """Return the call of a function.

    `passed`: for each input of the function the place of its argument, and how it is read; `held`: the tensors that
    shared variables read; `results`: for each result of the graph how it is made, such as `Whole`.
    """
    arrays_of = _reader(passed)
    needs_args = any(type(r) is Given for r in results)
    watching = _Watch(function, held) if held else None
    one = len(results) == 1 and type(results[0]) is Whole
    as_is = all(type(r) is Whole for r in results)
    from_numpy, asarray = torch.from_numpy, np.asarray

    def run(args: list[Any]) -> list[Any]:
        kept = args[:] if needs_args else None
        if watching is not None:
            found = watching.call(args, arrays_of)
        else:
            arrays = arrays_of(args)
            args.clear()
            found = function(*arrays)
        if one:
            return [from_numpy(asarray(found[0]))]
        if as_is:
            return [from_numpy(asarray(v)) for v in found]
        given = iter(found)
        return [r.made(given, kept) for r in results]

    return run


def plain_array(value: torch.Tensor) -> np.ndarray:
    """Return a tensor of a dtype of NumPy's as an array over the same memory."""
    array: np.ndarray = (value.detach() if value.requires_grad else value).numpy()
    return array


def _reader(passed: Sequence[tuple[int, Reading]]) -> Callable[[list[Any]], list[np.ndarray]]:
    """Return a function from the arguments of a call to the arrays of the function's inputs, over the same memory."""
    if len(passed) == 1 and passed[0][1] is plain_array:
        place = passed[0][0]

        def single(args: list[Any]) -> list[np.ndarray]:
            t = args[place]
            return [(t.detach() if t.requires_grad else t).numpy()]

        return single
    if all(reading is plain_array for _, reading in passed):
        places = [place for place, _ in passed]
        return lambda args: [(t.detach() if t.requires_grad else t).numpy() for t in [args[k] for k in places]]
    return lambda args: [reading(args[k]) for k, reading in passed]


ENTRY_AFTER = 3
"""Calls with the same tensors before an entry is made for their arrays: making it takes as long as a hundred calls."""


class _Read:
    """The tensors that shared variables read: whether those of a call lie there, and the arrays over them."""

    def __init__(self, holds: Callable[[list[Any]], bool], homes: Sequence[np.ndarray]) -> None:
        self.holds, self.homes = holds, homes
        self.calls: int = 0
        self.run: Callable[..., Any] | None = None
        """The function for these arrays; None in the first calls."""


class _Watch:
    """Calls of a function whose shared variables read the tensors that a call gives.

    PyTorch calls one graph with the parameters of several modules, from several threads as well.
    """

    def __init__(self, function: Any, held: Sequence[Held]) -> None:
        self.function, self.held = function, held
        self.mutated = [h for h in held if h.mutated]
        self.lock = threading.Lock()
        """The thread that has it changes what is read."""
        self.read: _Read | None = None
        """None while it changes."""

    def call(self, args: list[Any], arrays_of: Callable[[list[Any]], list[np.ndarray]]) -> Any:
        """Return the results for these arguments, a list that is emptied."""
        read = self.read
        if self.mutated or read is None or not read.holds(args):
            return self._alone(args, arrays_of)
        arrays = arrays_of(args)
        args.clear()
        found = (read.run or self._run(read))(*arrays)
        return found if self.read is read else self._once_more(read, arrays)

    def _run(self, read: _Read) -> Callable[..., Any]:
        """Return the function for a call with these tensors, one of the first."""
        read.calls += 1
        if read.calls > ENTRY_AFTER:
            values = {h.container: home for h, home in zip(self.held, read.homes, strict=True)}
            entry = self.function.executable.entry_on(values) if type(self.function) is Function else None
            read.run = entry or self.function
        return read.run or self.function

    def _alone(self, args: list[Any], arrays_of: Callable[[list[Any]], list[np.ndarray]]) -> Any:
        """Return the results while no other thread changes what is read, or writes to it."""
        with self.lock:
            if self.read is None or not self.read.holds(args):
                self._take(args)
            assert self.read is not None
            arrays, read = arrays_of(args), self.read
            args.clear()
            found = (read.run or self._run(read))(*arrays)
            for h in self.mutated:
                h.give_back()
            return found

    def _once_more(self, read: _Read, arrays: list[np.ndarray]) -> Any:
        """Return the results of a call during which another thread changed what is read."""
        with self.lock:
            self.read = None
            for h, home in zip(self.held, read.homes, strict=True):
                h.take_back(home)
            self.read = _Read(read.holds, read.homes)  # another object, so that calls of other threads see the change
            return self.function(*arrays)

    def _take(self, args: list[Any]) -> None:
        """Let the shared variables read the tensors of this call from now on."""
        self.read = None
        for h in self.held:
            h.take(args[h.place])
        holds = _never if any(h.is_copy for h in self.held) else self._same_memory()
        self.read = _Read(holds, [h.home for h in self.held])

    def _same_memory(self) -> Callable[[list[Any]], bool]:
        return unchanged(self.function.executable, [h.place for h in self.held], [h.pointer for h in self.held])


class _Snapshot(NamedTuple):
    """A function with constant parameters, for the tensors that hold them.

    `holds`: whether a call gives these tensors; `serves`: whether it does, with the values that those had whose memory
    the function reads; `tensors`: all of them, whose memory stays theirs; `lent`: those whose memory may be read.
    """

    holds: Callable[[list[Any]], bool]
    serves: Callable[[list[Any]], bool]
    run: Callable[[list[Any]], Any]
    tensors: list[torch.Tensor]
    lent: list[torch.Tensor]


class Frozen:
    """Calls of a graph whose parameters are constants: one function for each set of tensors that calls give.

    A function reads small parameters in copies, and large ones in packed copies or in the module's memory.  After a
    write to a large one some of its constants would be old and others new, so the next call freezes the graph again.
    `borrow`: it reads all of them in the module's memory, where nobody writes.
    """

    def __init__(
        self, held: Sequence[Held], freeze: Callable[[], tuple[Any, Callable[[list[Any]], Any]]], borrow: bool
    ) -> None:
        self.held, self.freeze, self.borrow = held, freeze, borrow
        self.lock = threading.Lock()
        self.known: list[_Snapshot] = []

    def __call__(self, args: list[Any]) -> Any:
        for snapshot in self.known:
            if snapshot.serves(args):
                return snapshot.run(args)
        with self.lock:
            found = next((s for s in self.known if s.serves(args)), None) or self._added(args)
        return found.run(args)

    def _added(self, args: list[Any]) -> _Snapshot:
        """Freeze the graph with the tensors of this call; a function with older values of them is dropped."""
        self.known = [s for s in self.known if not s.holds(args)]
        for h in self.held:
            h.take(args[h.place])
        of_module = [] if self.borrow else [h for h in self.held if h.is_lent(args[h.place])]
        watched = [lent(args[h.place], h.home) for h in of_module]
        for h in self.held:
            if not (self.borrow or h.is_copy or h.is_lent(args[h.place])):
                h.container.value = h.home.copy()
        places, pointers = [h.place for h in self.held], [h.pointer for h in self.held]
        function, run = self.freeze()
        tensors = [args[h.place].detach() for h in self.held]
        holds, serves = (unchanged(function.executable, places, pointers, some) for some in ((), watched))
        made = _Snapshot(holds, serves, run, tensors, [each.tensor for each in watched])
        self.known = [*self.known, made]
        return made


def _never(args: list[Any]) -> bool:
    return False


class Whole:
    """A result that is a tensor, its elements in the order of C."""

    def made(self, values: Any, args: Any) -> Any:
        return torch.from_numpy(np.asarray(next(values)))


class Permuted:
    """A result that is a tensor whose elements lie in the order of other axes."""

    def __init__(self, order: Sequence[int]) -> None:
        self.back: list[int] = [int(k) for k in np.argsort(order)]

    def made(self, values: Any, args: Any) -> Any:
        return torch.from_numpy(np.asarray(next(values)).transpose(self.back))


class Expanded:
    """A result that is a tensor whose elements repeat along some axes; our value has one of them."""

    def __init__(self, axes: Sequence[int], shape: Sequence[int]) -> None:
        self.axes: Sequence[int] = axes
        self.shape: Sequence[int] = shape

    def made(self, values: Any, args: Any) -> Any:
        return torch.from_numpy(np.asarray(next(values))).expand(self.shape)


class Viewed:
    """A result that is a tensor whose memory is read in a dtype that arrays lack."""

    def __init__(self, memory: Any, dtype: torch.dtype) -> None:
        self.memory, self.dtype = memory, dtype

    def made(self, values: Any, args: Any) -> Any:
        return self.memory.made(values, args).view(self.dtype)


class Number:
    """A result that is a number."""

    def made(self, values: Any, args: Any) -> Any:
        return np.asarray(next(values)).item()


class Known:
    """A result that is known, such as None."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def made(self, values: Any, args: Any) -> Any:
        return self.value


class Given:
    """A result that is an argument itself."""

    def __init__(self, place: int) -> None:
        self.place = place

    def made(self, values: Any, args: Any) -> Any:
        return args[self.place]
