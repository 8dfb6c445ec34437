"""`mode="ARIGNOTE"`: the mode, its maker of functions, and functions whose calls go to C directly."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Any

import numpy as np
import pytensor
from pytensor.compile.mode import Mode, get_mode, predefined_modes

from ...database import optdb
from ...function.compiled import Function
from ...function.mode import as_mode
from ...record.forks import ProcessLock
from .forms import Form, GeneratorForm
from .linker import ArignoteLinker, Compiled
from .rewrites import QUERY
from .versions import THIRD, FunctionMaker, pickled
from .versions import Function as PyTensorFunction

NATIVE_AFTER = 16
"""Calls after which a function gets its native entry, which takes 50 ms to build once per machine."""
_UNKNOWN: Any = object()


class ArignoteFunction(PyTensorFunction):  # type: ignore[misc]  # PyTensor is not typed here
    """A function of PyTensor that Arignote compiled.

    A call runs `_entry` at once: the descriptor below is C, so no frame of Python stands between the caller and a
    builtin.  The first calls go through `_counted`, later ones through the native entry.
    """

    __call__: Any = property(attrgetter("_entry"))

    def __init__(self, vm: Any, *args: Any, **options: Any) -> None:
        super().__init__(vm, *args, **options)
        self._direct: Any = _UNKNOWN  # found at the first call: a copy gets its form of results after it was made
        self._calls: int = 0
        self._entry: Callable[..., Any] = self._counted
        self._one_at_a_time: Any = ProcessLock()

    @property
    def compiled(self) -> Compiled:
        """The compiled graph with the forms of its arguments and results."""
        return self.vm.jit_fn  # type: ignore[no-any-return]

    @property
    def arignote(self) -> Function:
        """Our function: its inputs are those of PyTensor's function, then its shared variables."""
        return self.compiled.function

    @property
    def remarks(self) -> tuple[str, ...]:
        """One line for each op that runs by its own `perform`, outside C."""
        return self.compiled.remarks

    def _kept(self, name: str) -> Any:
        """Return a field of PyTensor's function by its name in version 2; version 3 puts an underscore before it."""
        return getattr(self, f"_{name}" if THIRD else name)

    # --- calls
    def _counted(self, *args: Any, **kwargs: Any) -> Any:
        """Make one of the first calls; after some, build the native entry."""
        self._calls += 1
        if self._calls > NATIVE_AFTER:
            self._entry = self._native_entry() or self._through_python
        return self._through_python(*args, **kwargs)

    def _native_entry(self) -> Callable[..., Any] | None:
        """Return a builtin that serves plain calls and passes others to `_through_python`; None if there is none."""
        if not self._direct or not self.compiled.is_plain:
            return None
        executable = self.compiled.function._at_best
        kept = [container.storage for _, container in self._kept("update_input_storage")]
        return executable.native(  # type: ignore[no-any-return]
            self._through_python, not self.unpack_single, [c.storage for c in self._stored], kept
        )

    def _through_python(self, *args: Any, output_subset: Any = None, **kwargs: Any) -> Any:
        direct = self._direct
        if direct is _UNKNOWN:
            direct = self._direct = self._direct_call()
        given = None if direct is None else self._in_order(args, kwargs) if kwargs else args
        if given is None or output_subset is not None or not self._fits(given):
            with self._one_at_a_time, Drawing(self._generators()):  # PyTensor's cells of arguments belong to all calls
                if output_subset is not None:  # version 2 alone knows it
                    kwargs["output_subset"] = output_subset
                return super().__call__(*args, **kwargs)
        return direct(*given)

    def _in_order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        """Return positional and keyword arguments in the order of the inputs; None for names that PyTensor refuses."""
        given = {self._places.get(name, -1): value for name, value in kwargs.items()}
        missing = range(len(args), len(self._kinds))
        return (*args, *(given[k] for k in missing)) if given.keys() == set(missing) else None

    def _generators(self) -> list[list[Any]]:
        """Return the cells of generators among the inputs."""
        if self.compiled.is_plain:
            return []
        forms = zip(self.compiled.inputs, self.input_storage, strict=True)
        return [container.storage for form, container in forms if isinstance(form, GeneratorForm)]

    def _fits(self, args: tuple[Any, ...]) -> bool:
        """Return whether the arguments are aligned arrays of just the right dtype and rank."""
        kinds = self._kinds
        if len(args) != len(kinds):
            return False
        for arg, (dtype, ndim) in zip(args, kinds):
            if type(arg) is not np.ndarray or arg.dtype is not dtype or arg.ndim != ndim or not arg.flags.aligned:
                return False
        return True

    def _direct_call(self) -> Any:
        """Return the call without PyTensor's bookkeeping; None where that is needed."""
        compiled = self.compiled
        required = [container.required for container in self.input_storage]
        count = sum(required)
        has_defaults = any(not c.required and not c.implicit for c in self.input_storage)
        if has_defaults or getattr(self, "output_keys", None) is not None or self.return_none:
            return None
        returned = self._kept("n_returned_outputs")
        if not all(type(form) is Form for form in (*compiled.inputs[:count], *compiled.outputs[:returned])):
            return None
        if self.profile or required != sorted(required, reverse=True):
            return None
        if any(c.implicit for c in self.input_storage[:count]):
            return None
        types, finder = [self.maker.inputs[k].variable.type for k in range(count)], self._kept("finder")
        self._kinds = [(np.dtype(t.dtype), t.ndim) for t in types]
        named = ((self.maker.inputs[k].name, self.input_storage[k]) for k in range(count))
        self._places = {name: k for k, (name, cell) in enumerate(named) if name and finder[name] is cell}
        self._stored = self.input_storage[count:]
        storages = [container.storage for container in self._stored]
        updates = [(k, container.storage) for k, container in self._kept("update_input_storage")]
        single, run, after = self.unpack_single, compiled.function.results, compiled.after
        if not compiled.is_plain:
            return self._direct_with_forms(compiled.inputs[count:], storages, returned)

        def direct(*args: Any) -> Any:
            values = (*args, *[storage[0] for storage in storages])
            try:
                found = run(*values)
            except Exception as error:
                found = after(error, values)
            for k, storage in updates:
                storage[0] = found[k]
            return found[0] if single else found[:returned]

        def ordered(*args: Any) -> Any:
            with self._one_at_a_time:  # or one of two updates at the same time would be lost
                return direct(*args)

        return ordered if updates else direct

    def _direct_with_forms(
        self, forms: Sequence[Form], storages: Sequence[list[Any]], returned: int
    ) -> Callable[..., Any]:
        """Return the direct call of a function with shared variables that are no tensors, such as generators."""
        compiled, single = self.compiled, self.unpack_single
        run, outputs = compiled.function.results, compiled.outputs
        stored = list(zip(forms, storages, strict=True))
        first = list(accumulate((form.count for form in outputs), initial=0))
        updates = []
        for k, container in self._kept("update_input_storage"):
            own = [form for form, cell in stored if cell is container.storage]
            updates.append((k, first[k], first[k + 1], own[0] if own else outputs[k], container.storage))
        generators = [cell for form, cell in stored if isinstance(form, GeneratorForm)]

        def ordered(*args: Any) -> Any:
            with self._one_at_a_time, Drawing(generators):
                arrays = [a for form, cell in stored for a in form.arrays(cell[0])]
                try:
                    found = run(*args, *arrays)
                except Exception as error:
                    found = compiled.after(error, (*args, *[cell[0] for cell in storages]))
                    for k, _, _, _, cell in updates:
                        cell[0] = found[k]
                else:
                    for _, start, stop, form, cell in updates:
                        form.store(found[start:stop], cell)
            return found[0] if single else found[:returned]

        return ordered


class Drawing:
    """The locks of the generators in these cells, which NumPy takes for its own draws: `with Drawing(cells): ...`.

    So functions that share a generator, and threads that draw from it by NumPy, lose no draw and make none twice.
    """

    __slots__ = ("_held",)

    def __init__(self, cells: Sequence[list[Any]]) -> None:
        held = {id(cell[0]): cell[0].bit_generator.lock for cell in cells if cell[0] is not None}
        self._held: list[Any] = [held[key] for key in sorted(held)]  # one order for all, or two could wait forever

    def __enter__(self) -> None:
        for lock in self._held:
            lock.acquire()

    def __exit__(self, *error: object) -> None:
        for lock in self._held:
            lock.release()


class ArignoteMaker(FunctionMaker):  # type: ignore[misc]  # see above
    """A maker of functions that returns an `ArignoteFunction`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("function_class" if THIRD else "function_builder", ArignoteFunction)
        super().__init__(*args, **options)
        self.linker.mode = with_names(self.linker.mode, get_mode(self.mode).provided_optimizer)


def with_names(mode: Any, query: Any) -> Any:
    """Return our mode with the names of our rewrites that a query of PyTensor includes or excludes.

    "fusion" and "inplace", which PyTensor has too, mean ours: PyTensor's never run in this mode.
    """
    known = {name for entry in optdb.entries() for name in (entry.name, *entry.tags)}
    wanted, unwanted = ([n for n in names or () if n in known] for names in (query.include, query.exclude))
    wanted = [n for n in wanted if n not in QUERY.include]
    if not wanted and not unwanted:
        return mode
    found = as_mode("FAST_RUN" if mode is None else mode)
    return found.including(*wanted).excluding(*unwanted)


def _maker_of(mode: Any) -> Any:
    """Return the class of makers for a mode: ours for our linker."""
    return ArignoteMaker if isinstance(mode.linker, ArignoteLinker) else FunctionMaker


_MAKER = property(_maker_of)


def install(name: str, mode: Mode) -> None:
    """Make a mode known by its name, and let modes with our linker make our functions.

    PyTensor asks a mode for its `function_maker`.  PyMC builds a new `Mode` of the linker of the given one, so the
    answer must depend on the linker alone.  `pytensor.config.mode` accepts a fixed list of names.
    """
    predefined_modes[name] = mode
    if Mode.__dict__.get("function_maker") is _MAKER:
        return
    Mode.function_maker = _MAKER
    parameter = pytensor.config._config_var_dict["mode"]
    accepted = parameter._apply
    parameter._apply = lambda value: value if value == name else accepted(value)


copyreg.pickle(ArignoteFunction, pickled)
