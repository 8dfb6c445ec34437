"""Calls of a compiled program: frames, the general path for all other arguments, and the results."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...ops.core.interpret import interpret
from ...ops.lowered.assumed import BrokenAssumption
from ...profiling import RunProfile
from ...record.cached import cached_property
from ...record.quoting import one_line
from ..abi._abi import ffi
from ..build.build import Library
from ..build.compiler_process import CompileError
from ..program.accounts import room
from ..program.outcome import Outcome
from ..program.program import Program
from ..runtime.runtime import Runtime, build_unit
from ..runtime.sources import NATIVE
from .checks import MISSING, Parameter, scalar, too_many
from .entry_text import Traits, entry_text
from .failures import failure
from .host import HostSteps
from .interface import Interface
from .native import MOST_STEPS, native_bound, native_entry, native_watch
from .native_jit import Calls, native_jit
from .output_lengths import evaluated
from .outputs import BLOCKS, LARGE
from .plain import PlainCall
from .profile_rows import input_names
from .update_locks import with_update_locks

C_ORDER = -1
"""Stride value for a C-contiguous output."""
Frame = tuple[Any, Any, Any, tuple[Any, ...]]
"""Arguments of one call: ag_call *, its data, its lengths as a buffer, and (lengths, strides, profile)."""


class Caller:
    """Calls of a program that is loaded as `library`.

    `entry` is the function for the fast path, `text` its source.
    """

    name: str
    interface: Interface
    library: Library
    runtime: Runtime
    threads: int | None
    table: Any
    shared: tuple[Any, ...]
    profile: RunProfile | None

    def __init__(
        self, name: str, interface: Interface, program: Callable[[], Program], library: Library, runtime: Runtime,
        shared: Sequence[Any], profile: RunProfile | None, downcast: bool | None, threads: int | None = None,
    ) -> None:  # fmt: skip
        self.name, self.interface, self.library, self.runtime = name, interface, library, runtime
        self._make_program = program
        self.threads, self.table = threads, runtime.table_for(threads, ticking=profile is not None)
        self.shared, self.profile = tuple(shared), profile
        self.parameters: tuple[Parameter, ...] = parameters(name, interface, self.shared, downcast)
        self.host: HostSteps = HostSteps(program, interface.calls_back, name)
        self.inputs: int = len(interface.inputs)
        self.ranks: list[int] = [o.ndim for o in interface.outputs]
        self.first_length: int = sum(i.ndim for i in interface.inputs)
        self.guesses: list[tuple[int, ...]] = [(0,) * rank for rank in self.ranks]
        self.allocators: list[Callable[..., np.ndarray]] = [np.empty] * len(self.ranks)
        """The allocator of each output whose shape the entry cannot know; it starts with the last size."""
        self.falls_back = False
        """Whether a second function runs calls that break assumptions on lengths, so that nobody reads the message."""
        self._frames: list[Frame] = []
        self._constants = _constants(interface)
        declared = [-1 if n is None else n for i in interface.inputs for n in i.type.shape]
        self._declared = ffi.new("i64[]", declared or 1)
        numbers = [k for k, p in enumerate(self.parameters) if not p.type.shape and self.shared[k] is None]
        torn = bool(interface.in_place) and any(o not in interface.in_place for _, o in interface.updates)
        self._traits = Traits(numbers, profile is not None, torn)
        self.text: str = entry_text(interface, [c is not None for c in self.shared], self._traits)
        self.entry: Callable[..., list[np.ndarray]] = self._made_entry(self.text, {})

    @cached_property
    def program(self) -> Program:
        """The program, for messages and for readers; an executable from the cache plans it on first use."""
        return self._make_program()

    def entry_into(self, outputs: Mapping[int, np.ndarray]) -> Callable[..., list[np.ndarray]]:
        """Return an entry that computes some outputs, by number, in these arrays, which must have their shapes."""
        traits = replace(self._traits, given=frozenset(outputs))
        text = entry_text(self.interface, [c is not None for c in self.shared], traits)
        return self._made_entry(text, {f"o{k}": array for k, array in outputs.items()})

    def entry_on(self, values: Mapping[Any, np.ndarray]) -> Callable[..., list[np.ndarray]] | None:
        """Return an entry that reads containers in these arrays, which the containers hold at each call.

        It neither reads, checks nor addresses them again.  None if an array does not fit.
        """
        fixed = {k: values[c] for k, c in enumerate(self.shared) if c in values}
        for k, array in fixed.items():
            kind = self.interface.inputs[k].type
            if array.dtype != kind.numpy or array.ndim != kind.ndim or not array.flags.carray:
                return None
        frames: list[Frame] = []

        def pop() -> Frame:
            try:
                return frames.pop()
            except IndexError:
                frame = self._new_frame()
                for k, array in fixed.items():
                    frame[1][k] = ffi.from_buffer(array)
                return frame

        names: dict[str, Any] = {"pop": pop, "push": frames.append}
        for k, array in fixed.items():
            names[f"x{k}"] = array
            names.update((f"n{k}_{axis}", n) for axis, n in enumerate(array.shape))
        text = entry_text(self.interface, [c is not None for c in self.shared], replace(self._traits, fixed=fixed))
        return self._made_entry(text, names)

    def _made_entry(self, text: str, given: Mapping[str, np.ndarray]) -> Callable[..., list[np.ndarray]]:
        """Return the entry with this text; calls that write to a container hold its update lock."""
        interface = self.interface
        counts = self.first_length + sum(self.ranks)
        names: dict[str, Any] = {
            "MISSING": MISSING, "ndarray": np.ndarray, "empty": np.empty, "large": BLOCKS.empty,
            "allocate": self.allocators, "from_buffer": ffi.from_buffer,
            "pack": struct.Struct(f"{counts}q").pack_into, "run": self.library.lib.ag_entry, "pop": self._frames.pop,
            "push": self._frames.append, "general": self.general, "finish": self.finish, "guesses": self.guesses,
            "release": self.host.release, "scalar": scalar, "rescue": self.rescue,
        }  # fmt: skip
        if self.profile is not None:
            names["clock"] = self.runtime.clock.now
        names.update((f"d{k}", i.type.numpy) for k, i in enumerate(interface.inputs))
        names.update((f"numbers{k}", p.numbers) for k, p in enumerate(self.parameters))
        names.update((f"e{k}", o.numpy) for k, o in enumerate(interface.outputs))
        names.update((f"c{k}", c) for k, c in enumerate(self.shared) if c is not None)
        names.update(given)
        exec(compile(text, f"<entry of {one_line(self.name)}>", "exec"), names)
        entry: Callable[..., list[np.ndarray]] = names["entry"]
        updated = (i for i, _ in interface.updates)
        written = [self.shared[i] for i in sorted({*interface.in_place.values(), *updated})]
        return with_update_locks(entry, written) if written else entry

    def native(
        self, other: Callable[..., Any], as_list: bool, stored: Sequence[list[Any]] = (), kept: Sequence[list[Any]] = ()
    ) -> Callable[..., Any] | None:
        """The native entry; see Executable.native."""
        is_cheap = self.interface.sites <= MOST_STEPS or bool(stored) or bool(kept)
        native = self._native_library() if is_cheap else None
        if native is None:
            return None
        strided = self.profile is None and not self.interface.dense_inputs
        return native_entry(
            native, self.interface, self.library, self._new_frame(), other, as_list, strided, stored, kept
        )

    def native_jit(self, other: Callable[..., Any], calls: Calls) -> Callable[..., Any] | None:
        """Return the native entry of a jitted function; see native_jit.py."""
        is_cheap = self.interface.sites <= MOST_STEPS and self.profile is None
        native = self._native_library() if is_cheap else None
        if native is None:
            return None
        return native_jit(native, self.interface, self.library, self._new_frame(), other, calls)

    def plain_call(self, inputs: Sequence[Any] | None) -> PlainCall | None:
        """Return the call for C; see Executable.plain_call."""
        native, interface = self._native_library() if self.profile is None else None, self.interface
        if native is None:
            return None
        if inputs is None:
            unknown = [(0,) * a.ndim for several in (interface.inputs, interface.outputs) for a in several]
            return PlainCall(native, interface, self.library, self._new_frame(), unknown, [None] * self.inputs)
        bound = [i if isinstance(i, np.ndarray) else None for i in inputs]
        if any(a is not None and not a.flags.carray for a in bound):
            raise ValueError(f"{self.name}: an array that is bound must be aligned and C-contiguous")
        shapes = [i.shape if isinstance(i, np.ndarray) else tuple(i) for i in inputs]
        results = []
        for programs in interface.lengths:
            if programs is None:
                return None
            results.append(tuple(evaluated(program, shapes) for program in programs))
        return PlainCall(native, interface, self.library, self._new_frame(), [*shapes, *results], bound)

    def native_bound(
        self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], result: Any, other: Callable[..., Any]
    ) -> Callable[..., Any] | None:
        """Return the builtin for a function that is bound to these arrays; see Executable.bind."""
        native = self._native_library() if self.profile is None else None
        if native is None:
            return None
        return native_bound(native, self.library, self._new_frame(), inputs, outputs, result, other)

    def _native_library(self) -> Library | None:
        """Return the library of native entries; None for functions with side effects or if the toolchain fails."""
        shared = any(c is not None for c in self.shared)
        if self.host.any or self.interface.updates or self.interface.in_place or shared:
            return None
        return self._native_unit()

    def watch(self, *watched: Any) -> Callable[[list[Any]], bool] | None:
        """Return a builtin that watches the memory of objects in a list; see `native_watch`."""
        native = self._native_unit()
        return None if native is None else native_watch(native, *watched)

    def _native_unit(self) -> Library | None:
        """Return the library of builtins; None if the toolchain fails."""
        try:
            return build_unit(NATIVE, *self.runtime.source)
        except (CompileError, OSError):
            return None

    # --- frames
    def _frame(self) -> Frame:
        try:
            return self._frames.pop()
        except IndexError:
            return self._new_frame()

    def _new_frame(self) -> Frame:
        call = ffi.new("ag_call *")
        data = ffi.new("void *[]", self.inputs + len(self.ranks) or 1)
        lengths = ffi.new("i64[]", self.first_length + sum(self.ranks) or 1)
        strides = ffi.new("i64[]", self.first_length + sum(self.ranks) or 1)
        counts = ffi.new("i64[]", room(self.program)) if self.profile is not None else ffi.NULL
        call.rt, call.data, call.lengths, call.declared = self.table, data, lengths, self._declared
        call.profile = counts
        if self.profile is not None:
            self.profile.attach(np.frombuffer(ffi.buffer(counts), np.int64))
            call.warm_up = ffi.from_buffer("i64[]", self.profile.warm_up)
        call.constants, call.constant_lengths = self._constants
        call.host = self.host.callback
        return call, data, ffi.buffer(lengths), (lengths, strides, counts)

    # --- the general path
    def general(self, arguments: Sequence[Any]) -> list[np.ndarray]:
        """Run one call with any arguments.

        Raises TypeError or ValueError for arguments that do not fit; failures.py lists the other errors.
        """
        begun = self.runtime.clock.now() if self.profile is not None else 0
        arrays = bound(self.parameters, self.shared, arguments)
        given = [a for a, c in zip(arrays, self.shared, strict=True) if c is None]
        if any(a is not b for a, b in zip(given, arguments, strict=True)) and all(a.flags.c_contiguous for a in given):
            return self.entry(*given)  # converted; the second time nothing is
        arrays = self._for_program(arrays)
        frame = self._frame()
        call, data, _, (lengths, strides, _) = frame
        at = 0
        for k, array in enumerate(arrays):
            data[k] = ffi.cast("char *", array.__array_interface__["data"][0])
            for n, step in zip(array.shape, array.strides, strict=True):
                lengths[at], strides[at] = n, step // array.itemsize
                at += 1
        outputs = self._outputs(arrays)
        for k, output in enumerate(outputs):
            data[self.inputs + k] = ffi.from_buffer(output)
            for n in output.shape:
                lengths[at], strides[at] = n, C_ORDER
                at += 1
        strided = not all(a.flags.c_contiguous for a in arrays)
        call.strides, call.begun, call.outcome = strides if strided else ffi.NULL, begun, -1
        try:
            outcome = self.library.lib.ag_entry(call)
        except BaseException:
            call.strides = ffi.NULL
            self.rescue(frame, outputs)
            raise
        call.strides = ffi.NULL
        if self.profile is not None:
            odd = [name for name, a in zip(input_names(self.program), arrays, strict=True) if not a.flags.c_contiguous]
            self.profile.note_strided(odd)
        if outcome == Outcome.INTERRUPTED:
            return self._again(frame, arguments)
        if outcome == Outcome.UNREACHED:
            return self._by_numpy(frame, arguments)
        return self._results(outcome, frame, outputs, strided)

    def _outputs(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return arrays for the results: overwritten arguments, or new arrays of the last call's lengths."""
        in_place = self.interface.in_place
        return [
            arrays[in_place[k]] if k in in_place else BLOCKS.empty(guess, o.numpy)
            for k, (guess, o) in enumerate(zip(self.guesses, self.interface.outputs, strict=True))
        ]

    def _again(self, frame: Frame, arguments: Sequence[Any]) -> list[np.ndarray]:
        """Repeat a call that Ctrl-C ended although the handler of SIGINT raised nothing.

        Python's own handler never leads here: it raises as soon as the C returns.
        """
        if self.host.any:
            self.host.release(frame[0])
        self._frames.append(frame)
        return self.general(arguments)

    def rescue(self, frame: Frame, outputs: list[np.ndarray]) -> None:
        """Finish the updates of a call that had overwritten some containers when Ctrl-C ended the Python code."""
        outcome = frame[0].outcome
        if self.interface.in_place and outcome in (Outcome.DONE, Outcome.OTHER_OUTPUTS):
            self._results(outcome, frame, outputs)

    def _for_program(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Return the arrays, copied where the program needs other strides or would overwrite shared memory."""
        if self.interface.dense_inputs:
            arrays = [a if a.flags.c_contiguous else a.copy() for a in arrays]
        for k in self.interface.in_place.values():
            others = arrays[:k] + arrays[k + 1 :]
            if not arrays[k].flags.carray or any(np.may_share_memory(arrays[k], other) for other in others):
                arrays[k] = arrays[k].copy()
        return arrays

    def finish(
        self, outcome: int, frame: Frame, arguments: Sequence[Any], outputs: list[np.ndarray]
    ) -> list[np.ndarray]:
        """Return the result of a call that the fast path could not finish."""
        if outcome in (Outcome.MISALIGNED, Outcome.DECLARED):  # these say it before anything is done
            self._frames.append(frame)
            return self.general(arguments)
        if outcome == Outcome.INTERRUPTED:
            return self._again(frame, arguments)
        if outcome == Outcome.UNREACHED:
            return self._by_numpy(frame, arguments)
        return self._results(outcome, frame, outputs)

    def _by_numpy(self, frame: Frame, arguments: Sequence[Any]) -> list[np.ndarray]:
        """Compute the call by NumPy: the C met an empty array where another result has an element."""
        self._frames.append(frame)
        arrays = bound(self.parameters, self.shared, arguments)
        found = [np.array(r, order="C") for r in interpret(self.program.graph, arrays, self.name)]
        for i, o in self.interface.updates:
            self.shared[i].value = found[o]
        return [found[k] for k in self.interface.own_outputs]

    # --- what comes back
    def _results(
        self, outcome: int, frame: Frame, outputs: list[np.ndarray], strided: bool = False
    ) -> list[np.ndarray]:
        call, data, _, (lengths, strides, _) = frame
        error = self.host.release(call) if self.host.any else None
        if outcome not in (Outcome.DONE, Outcome.OTHER_OUTPUTS):
            if error is None and outcome == Outcome.PROMISED and self.falls_back and not self._as_assumed(lengths):
                self._frames.append(frame)
                raise BrokenAssumption
            message = list(call.detail)
            self._frames.append(frame)
            raise error or failure(self.name, self.program, outcome, call.step, call.operand, message)
        found: list[np.ndarray] = []
        at = self.first_length
        for k, (rank, output) in enumerate(zip(self.ranks, outputs, strict=True)):
            if k in self.interface.in_place:
                found.append(output)
            else:
                self.guesses[k] = tuple(lengths[at : at + rank])
                result = self._output(k, self.guesses[k], output, data)
                found.append(_in_order(result, strides[at : at + rank]) if strided else result)
                self.allocators[k] = BLOCKS.empty if found[k].nbytes >= LARGE else np.empty
            at += rank
        for i, o in self.interface.updates:
            self.shared[i].value = found[o]
        call.outcome = -1  # nothing is left to rescue
        self._frames.append(frame)
        return [found[k] for k in self.interface.own_outputs]

    def _as_assumed(self, lengths: Any) -> bool:
        """Return whether the lengths in a frame are those that the program assumes."""
        at = itertools.count()
        shapes = [tuple(lengths[next(at)] for _ in range(i.ndim)) for i in self.interface.inputs]
        return self.interface.agrees(shapes)

    def _output(self, k: int, shape: tuple[int, ...], guess: np.ndarray, data: Any) -> np.ndarray:
        """Return output number `k`: its array, or a copy out of a block of the runtime."""
        address = data[self.inputs + k]
        if address == ffi.from_buffer(guess):
            return guess.reshape(shape)
        try:
            result = BLOCKS.empty(shape, self.interface.outputs[k].numpy)
            ffi.memmove(ffi.from_buffer(result), address, result.nbytes)
        finally:
            self.runtime.table.release(address)
        return result


def _in_order(result: np.ndarray, strides: Sequence[int]) -> np.ndarray:
    """Return an array whose elements lie in the order of these strides."""
    if C_ORDER in strides:
        return result
    axes = sorted(range(result.ndim), key=lambda axis: -strides[axis])
    return result.reshape([result.shape[a] for a in axes]).transpose(sorted(axes, key=axes.__getitem__))


def bound(parameters: Sequence[Parameter], shared: Sequence[Any], arguments: Sequence[Any]) -> list[np.ndarray]:
    """Return an array for each input: from its container if it is shared, else the next argument.

    Raises TypeError or ValueError for arguments that do not fit, are missing or too many.
    """
    own = [p for p, c in zip(parameters, shared, strict=True) if c is None]
    if len(arguments) > len(own):
        raise too_many(parameters[0].function if parameters else "function", [p.name for p in own], len(arguments))
    given = iter([*arguments, *[MISSING] * (len(own) - len(arguments))])
    return [p.array(next(given) if c is None else c.value) for p, c in zip(parameters, shared, strict=True)]


def parameters(name: str, graph: Any, shared: Sequence[Any], downcast: bool | None) -> tuple[Parameter, ...]:
    """Return the requirements on each input of a graph or an interface; positions count arguments only."""
    position, found = 0, []
    for i, container in zip(graph.inputs, shared, strict=True):
        found.append(Parameter(name, position, i.name, i.type, downcast))
        position += container is None
    return tuple(found)


def _constants(interface: Interface) -> tuple[Any, Any]:
    """Return addresses and lengths of the constants, which the interface keeps alive."""
    arrays = interface.constants
    addresses = ffi.new("void *[]", [ffi.cast("char *", a.__array_interface__["data"][0]) for a in arrays] or 1)
    return addresses, ffi.new("i64[]", [n for a in arrays for n in a.shape] or 1)
