"""Calls of a compiled graph with tensors: memory is shared, and mutated buffers are written in place."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ...ops.core.shared import Container
from .dtypes import array_of

pointer_of = torch.Tensor.data_ptr


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
        self.place, self.container, self.mutated = place, container, mutated
        self.home: np.ndarray = container.value
        self.pointer = -1

    def take(self, value: torch.Tensor) -> None:
        """Let the shared variable read this tensor from now on."""
        self.pointer = value.data_ptr()
        self.home = array_of(value)
        self.container.value = self.home if self.home.flags.carray else np.array(self.home, order="C")

    @property
    def is_copy(self) -> bool:
        """Return whether the elements lie in another order in memory, so that each call copies them."""
        return not self.home.flags.carray

    def give_back(self) -> None:
        """Write the new value into the tensor, unless it is there already."""
        if self.container.value is not self.home:
            np.copyto(self.home, self.container.value)
            if self.home.flags.carray:
                self.container.value = self.home


def runner(
    function: Any, passed: Sequence[tuple[int, bool]], held: Sequence[Held], results: Sequence[Any]
) -> Callable[[list[Any]], list[Any]]:
    """Return the call of a function.

    `passed`: for each input of the function the place of its argument, and whether it is a tensor; `held`: the tensors
    that shared variables read; `results`: for each result of the graph how it is made, see `Result`.
    """
    mutated = [h for h in held if h.mutated]
    arrays_of = _reader(passed)
    needs_args = any(type(r) is Given for r in results)
    watching = _Watch(function, held)
    one = len(results) == 1 and type(results[0]) is Whole
    as_is = all(type(r) is Whole for r in results)
    from_numpy, asarray = torch.from_numpy, np.asarray

    def run(args: list[Any]) -> list[Any]:
        if held and not watching.holds(args):
            watching.take(args)
        arrays = arrays_of(args)
        kept = args[:] if needs_args else None
        args.clear()
        found = function(*arrays)
        for h in mutated:
            h.give_back()
        if one:
            return [from_numpy(asarray(found[0]))]
        if as_is:
            return [from_numpy(asarray(v)) for v in found]
        given = iter(found)
        return [r.made(given, kept) for r in results]

    return run


def _reader(passed: Sequence[tuple[int, bool]]) -> Callable[[list[Any]], list[np.ndarray]]:
    """Return a function from the arguments of a call to the arrays of the function's inputs, over the same memory."""
    asarray = np.asarray
    if len(passed) == 1 and passed[0][1]:
        place = passed[0][0]

        def single(args: list[Any]) -> list[np.ndarray]:
            t = args[place]
            return [(t.detach() if t.requires_grad else t).numpy()]

        return single
    if all(is_tensor for _, is_tensor in passed):
        places = [place for place, _ in passed]
        return lambda args: [(t.detach() if t.requires_grad else t).numpy() for t in [args[k] for k in places]]
    return lambda args: [args[k].detach().numpy() if t else asarray(args[k]) for k, t in passed]


class _Watch:
    """The tensors that shared variables read.  `holds`: whether those of a call lie where the last ones did."""

    def __init__(self, function: Any, held: Sequence[Held]) -> None:
        self.function, self.held = function, held
        self.places: list[int] = [h.place for h in held]
        self.holds: Callable[[list[Any]], bool] = _never

    def take(self, args: list[Any]) -> None:
        """Let the shared variables read the tensors of this call from now on."""
        for h in self.held:
            h.take(args[h.place])
        self.holds = _never if any(h.is_copy for h in self.held) else self._same_memory([h.pointer for h in self.held])

    def _same_memory(self, expected: list[int]) -> Callable[[list[Any]], bool]:
        """Return whether tensors of a list lie there: a builtin, or a function of Python without a C compiler."""
        memory = getattr(torch._C._dynamo.guards, "_torchinductor_pyobject_tensor_data_ptr", None)
        types = (torch.Tensor, torch.nn.Parameter)
        found = None if memory is None else self.function.executable.watch(self.places, expected, memory, types)
        if found is not None:
            return found  # type: ignore[no-any-return]
        several = _getter(self.places)
        return lambda args: [*map(pointer_of, several(args))] == expected


def _never(args: list[Any]) -> bool:
    return False


def _getter(places: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return a function from a list to its elements at these places."""
    if len(places) == 1:
        return lambda values: (values[places[0]],)
    return operator.itemgetter(*places) if places else lambda values: ()


class Whole:
    """A result that is a tensor, its elements in the order of C."""

    def made(self, values: Any, args: Any) -> Any:
        return torch.from_numpy(np.asarray(next(values)))


class Permuted:
    """A result that is a tensor whose elements lie in the order of other axes."""

    def __init__(self, order: Sequence[int]) -> None:
        self.back: list[int] = [int(k) for k in np.argsort(order)]

    def made(self, values: Any, args: Any) -> Any:
        return torch.from_numpy(np.asarray(next(values))).permute(self.back)


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
