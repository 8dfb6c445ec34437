"""One trace of a jitted function: the compiled function, the calls that it serves, and what it assigns."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..function.compiled import Function
from ..function.function import function
from ..function.held_columns import with_columns
from ..graph import DTYPES, Variable
from ..graph.provenance import SourceLine
from ..ops.core.call_lengths import Length
from ..ops.core.checks import by_position, shown
from ..ops.core.foreign import as_array
from ..ops.core.tensor import as_tensor
from ..ops.core.traced import adopt, type_of
from ..ops.core.tracing import GUARD_NAMES, Known, Number, Trace, outside
from ..ops.core.variables import tensor
from ..ops.random.generator_states import advance
from ..ops.shapes.lengths import tensor_to_dim
from ..ops.shapes.stored import base_of, now
from ..tree import Form, flat, has_variable, is_record, paths, places, unflat
from . import integers
from .arguments import ALL_HELD, NUMBERS, NUMBERS_HELD, TRACED, AnyView, Arguments, Object, Same, Static, is_generator
from .catching import Catch, is_of_trace
from .growing.lists import Grown, result_of, without_holders
from .naming import named_parts, naming_leaves
from .saved import inside
from .scopes import Scope
from .undefined import Undefined
from .unread import unread_writes
from .views import Objects, Reading, changing, number_of
from .writing import Donors, Writing

HELD = 3
"""Traces of a function that may hold for a number of columns; the next one serves all numbers."""


class Traced(NamedTuple):
    """A compiled function of the arrays of a call, and then of the arrays among the attributes that it reads."""

    function: Function
    form: Form
    """The form of the result."""
    guards: tuple[str, ...]
    """Expressions over the arrays `a` of a call that it serves."""
    holds: Callable[[Sequence[Any]], bool] | None
    """The guards as a function; None if there are none."""
    readings: tuple[Reading, ...]
    """The attributes that it reads."""
    signature: tuple[tuple[str, int], ...]
    """The dtypes and ranks of the arrays among the attributes."""
    writes: tuple[tuple[int, str, Form], ...]
    """The attributes that it assigns."""
    stores: tuple[int, ...] = ()
    """The positions of the arrays that it writes to, by position in the arrays of a call."""
    same: tuple[int, ...] = ()
    """For each array of the call the first one that is the same object; of a trace that writes."""
    keeps: bool = False
    """Whether results may be arrays of the call."""
    donors: Donors | None = None
    """The arrays whose memory results take."""
    written: tuple[str, ...] | None = None
    """The names of the arrays that it writes to, if these are results; None if they are written."""
    catches: tuple[Catch, ...] = ()
    """The handlers of the function."""
    lines: tuple[str, ...] = ()
    """The line that last wrote to each array that it writes to."""
    classes: tuple[type, ...] = ()
    """The types that the function gives the other results: arrays, scalars of NumPy, numbers of Python."""

    def result(self, values: Sequence[Any], objects: Sequence[Any]) -> Any:
        """Return the result of a call; arrays are written, and attributes assigned, after it."""
        found: Iterator[Any] = self._stored(values) if self.stores else iter(self._run(values))
        changed = None if self.written is None else {name: next(found) for name in self.written}
        found = map(_in_class, found, self.classes)
        if objects or self.keeps:
            found = Leaves(found, objects.__getitem__, values)
        made = unflat(self.form, found)
        for number, name, form in self.writes:
            target, value = objects[number], unflat(form, found)
            if is_generator(target):
                advance(target, value)
            else:
                setattr(target, name, value)
        return made if changed is None else (made, changed)

    def _run(self, values: Sequence[Any]) -> Any:
        """Return the results of the compiled function."""
        return self.function(*values) if self.donors is None else self.donors.run(self.function, values)

    def _stored(self, values: Sequence[Any]) -> Iterator[Any]:
        """Return the results of a call, but for those that are written into its arrays."""
        require_disjoint(self.function.name, values, self.stores, self.lines, self.written is None)
        found: Iterator[Any] = iter(self._run(values))
        if self.written is None:
            for place in self.stores:
                new = next(found)
                if new is not values[place]:  # a donated array may hold it already
                    values[place][...] = new
        return found


def _in_class(value: Any, kind: type) -> Any:
    """Return a result as a value of its type in Python."""
    if kind is np.ndarray or type(value) is not np.ndarray:
        return value
    return value[()] if issubclass(kind, np.generic) else value.item()


def _class_of(value: Any) -> type:
    """Return the type of a result: a number of Python, a scalar of NumPy, or an array for all else."""
    kind: type = type_of(value)
    return kind if issubclass(kind, (bool, *NUMBERS, np.generic)) else np.ndarray


def same_objects(arrays: Sequence[Any]) -> tuple[int, ...]:
    """Return for each array the position of the first one that is the same object."""
    if len(arrays) == 1:
        return (0,)
    places: dict[int, int] = {}
    return tuple([places.setdefault(id(a), k) for k, a in enumerate(arrays)])


def require_disjoint(
    name: str, arrays: Sequence[Any], stores: Sequence[int], lines: Sequence[str], back: bool = True
) -> None:
    """Raise ValueError for an array that is written and shares elements with another array, or is read-only.

    `back`: whether the arrays themselves are written.
    """
    for place, line in zip(stores, lines, strict=True):
        written = arrays[place]
        if back and not written.flags.writeable:
            raise ValueError(f"{name}: the function writes to argument {place}, a read-only array; pass a copy{line}")
        for k, a in enumerate(arrays):
            if k != place and a is not written and a.size and np.may_share_memory(a, written):
                raise ValueError(
                    f"{name}: the function writes to argument {place}, which shares elements with argument {k}; pass "
                    f"a copy of one{line}"
                )


class Leaves:
    """An iterator over leaves, the objects that stand between them, and the arrays of the call."""

    def __init__(
        self, leaves: Iterator[Any], object_of: Callable[[int], Any], arrays: Sequence[Any] = ()
    ) -> None:
        self._leaves = leaves
        self.object_of: Callable[[int], Any] = object_of
        self.arrays: Sequence[Any] = arrays

    def __iter__(self) -> Leaves:
        return self

    def __next__(self) -> Any:
        return next(self._leaves)


def arrays_of(leaves: Sequence[Any]) -> list[Any]:
    """Return the leaves of a call as arrays; a Dask array stays one."""
    return [a if type(a) is np.ndarray or hasattr(a, "dask") else np.asarray(as_array(a)) for a in leaves]


def signature_of(arrays: Sequence[Any]) -> tuple[tuple[str, int], ...]:
    """Return the dtypes and ranks of arrays."""
    return tuple([(a.dtype.str, a.ndim) for a in arrays])


def traced(
    scope: Scope, options: Mapping[str, Any], structure: Form, arguments: Arguments,
    known: Sequence[Traced] = (), keeps: bool = False, writing: Writing | None = None,
) -> Traced:  # fmt: skip
    """Return the trace of a function for a call; `known`: the traces that do not serve it.

    `keeps`: whether its results are what Python would have: the arrays that were given, Python numbers, other values.
    `writing`: what a call does with the arrays of the caller.

    A number that differs from that of a known trace is traced, so that not each number has a trace of its own.  What
    cannot be decided for a traced number or array is decided for the value it has, which the trace then holds for.
    Raises TypeError for arguments and results that are no numbers, and for what a trace cannot follow: an argument
    that is changed, random draws of NumPy.
    """
    varying = {place for trace in known for place in changing(trace.readings, arguments)}
    leaves, objects = len(arguments.leaves), len(arguments.objects)
    ways = [_By(NUMBERS_HELD, varying), _By(NUMBERS_HELD, set()), _By(ALL_HELD, set())]
    if any(type(leaf) is int for leaf in arguments.leaves):
        ways += [_By(NUMBERS_HELD, varying, True)]
    first: Exception | None = None
    while True:
        way = ways.pop(0)
        trial = _Tracing(scope, options, arguments, way, keeps, writing or Writing(), len(known) < HELD)
        try:
            return trial.traced(structure)
        except Exception as error:
            if first is None or (way.integers and _asks_for_integers(first, error)):
                first = error
            arguments.forget(leaves, objects)
        readings = trial.objects.readings
        if trial.may_unroll():
            ways.insert(0, way._replace(unrolls=True))
            continue
        ways = [way for way in ways if way.integers or way.differs(readings)]
        if not ways:
            raise naming_leaves(first, structure, scope.function)


def _asks_for_integers(first: Exception, error: Exception) -> bool:
    """Whether Python's integers, which gave the second error, are what the first one lacked.

    The second one may also be that of the function itself.
    """
    return is_of_trace(first) and (not is_of_trace(error) or "static_argnames" in str(first))


class _By(NamedTuple):
    """How attributes and variables are read: `held`, but those that vary are traced."""

    held: str
    varying: set[tuple[int | Scope, str]]
    integers: bool = False
    """Whether the function gets Python integers among its arguments as they are; the trace holds for their values."""
    unrolls: bool = False
    """Whether loops that change lists are traced step by step where their number of steps is known."""

    def of(self, source: int | Scope, name: str) -> str:
        """Return how one of them is read."""
        return TRACED if (source, name) in self.varying else self.held

    def differs(self, readings: Sequence[Reading]) -> bool:
        """Whether one of the readings would be another."""
        return any(self.of(r.source, r.name) != r.how for r in readings if type(r.structure) is not Same)


class _Tracing:
    """A trace in the making."""

    def __init__(
        self, scope: Scope, options: Mapping[str, Any], arguments: Arguments, how: _By, keeps: bool, writing: Writing,
        holds_columns: bool,
    ) -> None:  # fmt: skip
        self._keeps, self._writing, self._holds_columns = keeps, writing, holds_columns
        self._bases: dict[Variable, Any] = {}
        """The array whose elements each result shares."""
        self._scope, self._options, self._arguments = scope, options, arguments
        self._holds_integers = how.integers
        self._name = options["name"]
        self._trace = Trace(of_call=True)
        self._trace.dim_of = tensor_to_dim
        self._trace.sourceless = scope.sourceless
        self._trace.unrolls = how.unrolls
        self.objects = Objects(arguments, self._value_of, how.of)
        self._trace.inlined = self.objects.inlined
        self._variables: list[Any] = []
        self._names: list[str] = []
        self._same: list[int] = []
        """For each array the position of the first one that is the same object."""
        self._places: dict[int, int] = {}
        self._classes: list[type] = []
        """The types of the results."""
        self._given: list[tuple[Any, Form, list[Any]]] = []
        """The values given to the function, with their structure and leaves."""

    def may_unroll(self) -> bool:
        """Whether the trace had loops with lists that could be traced step by step."""
        return self._trace.may_unroll and not self._trace.unrolls

    def traced(self, structure: Form) -> Traced:
        self._names = _names(self._scope.function, structure, len(self._arguments.leaves))
        count = len(self._arguments.leaves)
        self._require_pure()
        draws = _random_states()
        with self._trace:
            integers.begin(self._trace)
            args, kwargs = self._value_of(structure, self._arguments.leaves)
            result = self.objects.inlined(self._scope)(*args, **kwargs)
            self._require_unchanged()
            self.objects.drop_changed()
            self._require_no_draws(draws)
            stores = self._stores()
            outputs: list[Any] = [now(self._trace, self._variables[k]) for k in stores]
            lines = tuple(next((f"\n  at {place}" for place in v.origin), "") for v in outputs)
            written_to = self.objects.written()
            form = self._form(result, outputs, self._keeps)
            writes = [(n, name, self._form(value, outputs, True)) for n, name, value in written_to]
            integers.end(self._trace)
            checked = [*outputs, *self._trace.checks]
            self._trace.checks += unread_writes(self._trace, self._variables, checked)
            outputs += self._trace.checks
            if self._trace.writes:
                self._trace.guards.update(self._trace.copying)
        if self._holds_columns:
            self._variables, outputs = with_columns(self._trace, self._variables, outputs)
        donors = self._donors(outputs[: len(outputs) - len(self._trace.checks)], stores, structure)
        inputs, results, more = (self._variables, outputs, {}) if donors is None else (
            donors.signature(self._variables, outputs)
        )
        with outside():
            compiled = function(inputs, results, **_joined(self._options, more))
        guards = tuple(self._trace.guards)
        attributes = arrays_of(self._arguments.leaves[count:])
        readings = tuple(self.objects.readings)
        return Traced(
            compiled, form, guards, _holds(guards), readings, signature_of(attributes), tuple(writes), stores,
            tuple(self._same) if stores else (), self._keeps, donors, self._written(stores),
            tuple(self._trace.catches), lines, tuple(self._classes),
        )  # fmt: skip

    def _require_pure(self) -> None:
        """Raise TypeError if the function assigns variables outside of it, or is a generator function."""
        written = self._scope.written()
        if written:
            raise TypeError(
                f"{self._name}: the function assigns {written}, a variable outside of it, which happens once, while it "
                "is traced; return the value"
            )
        if inspect.isgeneratorfunction(self._scope.function):
            raise TypeError(
                f"{self._name}: a generator function, but a compiled function gives its results at once; return a list "
                f"or an array, or use ag.jit(strict=False)\n  at {_place(self._scope.function)}"
            )

    def _require_no_draws(self, before: Sequence[Any]) -> None:
        """Raise TypeError if the function drew numbers of a module whose states were `before`."""
        if any(old not in (None, new) for old, new in zip(before, _random_states(), strict=True)):
            raise TypeError(
                f"{self._name}: the function draws numbers of a random module of Python or NumPy, which happens once, "
                "while it is traced; take rng = np.random.default_rng(seed) as an argument, or use "
                "T.random.RandomStream(seed)"
            )

    def _donors(self, outputs: Sequence[Any], stores: tuple[int, ...], structure: Form) -> Donors | None:
        """Return the arrays whose memory results take; None if there are none."""
        positions = self._writing.positions(structure)
        if not positions:
            return None
        whole = {k for k in positions if type(self._arguments.leaves[k]) is np.ndarray and self._same[k] == k}
        found = Donors(self._variables, outputs, stores, whole)
        return found if found.places else None

    def _written(self, stores: tuple[int, ...]) -> tuple[str, ...] | None:
        """Return the names of the arrays that are written, if they are results."""
        if self._writing.back:
            return None
        named = [*self._names, *(path for r in self.objects.readings for path in places(r.structure, r.name))]
        return tuple(named[k] for k in stores)

    def _stores(self) -> tuple[int, ...]:
        """Return the positions of the arrays that the function writes to."""
        trace, found = self._trace, []
        for k, v in enumerate(self._variables):
            if v in trace.held and self._same[k] == k:
                raise TypeError(f"{self._name}: {v!r}: {trace.held[v]}; write into the argument, or return a copy")
            if v in trace.stored and trace.stored[v] is not v and self._same[k] == k:
                found.append(k)
        return tuple(found)

    # --- arguments
    def _value_of(self, structure: Form, leaves: Sequence[Any]) -> Any:
        """Return what the function gets in the place of a value."""
        variables = iter([self._variable(leaf) for leaf in leaves])
        value = unflat(structure, Leaves(variables, self.objects.view))
        own: list[Any] = []
        self._given.append((value, flat(value, own, records=None), own))
        return value

    def _variable(self, value: Any) -> Any:
        position = len(self._variables)
        (array,) = arrays_of([value])
        self._same.append(position)
        if type(value) is np.ndarray:
            first = self._places.setdefault(id(value), position)
            if first != position and self._scope.writes:
                self._same[position] = first
                self._variables.append(tensor(f"x{position}", dtype=array.dtype.newbyteorder("=").name,
                                              shape=(None,) * array.ndim))  # fmt: skip
                return self._variables[first]
        name = self._names[position] if position < len(self._names) else f"x{position}"
        if type(value) is int and not -(2**63) <= value < 2**64:
            raise OverflowError(f"{self._name}: argument {position} ({name}) is {shown(value)}; {integers.LARGE}")
        if array.dtype.name not in DTYPES:
            raise TypeError(
                f"{self._name}: argument {position} ({name}) is {type(value).__name__} {shown(value)}; "
                "expected numbers, arrays, or lists, tuples and dicts of them"
            )
        v = tensor(name, dtype=array.dtype.newbyteorder("=").name, shape=(None,) * array.ndim)
        kind = type(value)
        if kind in NUMBERS:
            self._trace.numbers[v] = Number(kind, Known(value, f"a[{position}].item()"))
        self._trace.lengths[v] = tuple(
            Known(n, f"a[{position}].shape[{axis}]") for axis, n in enumerate(array.shape)
        )
        if kind is int and (self._holds_integers or value >= 2**63):  # beside int64, uint64 would become float64
            self._trace.require(f"a[{position}].item() == {value!r}")
            self._variables.append(v)
            return value
        adopt(self._trace, v, kind if kind in NUMBERS or isinstance(value, np.generic) else np.ndarray)
        if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
            self._trace.layouts[v] = value.strides, f"a[{position}].strides == {value.strides}"
        elif isinstance(value, np.ndarray) and value.ndim:
            self._trace.orders[v] = f"a[{position}].flags.c_contiguous"
        if isinstance(value, np.ndarray) and not value.flags.writeable and self._writing.back:
            self._trace.read_only.add(v)
        self._variables.append(v)
        return v

    def _require_unchanged(self) -> None:
        for container, parts, message in self._trace.watched:
            if inside(container) != parts:
                raise TypeError(f"{self._name}: {message}")
        for value, structure, leaves in self._given:
            now: list[Any] = []
            if flat(value, now, records=None) != structure or any(a is not b for a, b in zip(now, leaves, strict=True)):
                raise TypeError(
                    f"{self._name}: the function changes a list or dict that it was given; a traced function works on "
                    "a copy of it: make one, as in d = dict(d), and return it"
                )

    # --- results
    def _form(self, value: Any, outputs: list[Any], is_attribute: bool = False) -> Form:
        """Return the form of a result; its variables are appended to `outputs`.

        An attribute keeps values that do not depend on arrays as they are.
        """

        tree, first = value, len(outputs)

        def leaf(value: Any, outputs: list[Any]) -> Form:
            if value is None:
                return Static(None)
            if isinstance(value, AnyView):
                return Object(object, number_of(value))
            if isinstance(value, (str, bytes, np.dtype)):
                return Static(value)  # it depends on types and numbers that the trace holds for
            if self._keeps and is_attribute:
                kept = self._kept(value)
                if kept is not None:
                    return kept
            if is_attribute and not isinstance(value, Variable):
                return Static(value.exact()) if type(value) is Length else _Held(value)
            if type(value) is Grown:
                return self._list(value, outputs)
            self._classes.append(_class_of(value))
            outputs.append(self._as_output(value, tree, len(outputs) - first))
            return None

        def looks_in(value: Any) -> bool:
            return not isinstance(value, AnyView) and is_record(value) and (not is_attribute or has_variable(value))

        if value is None:
            return leaf(value, outputs)
        form = flat(value, outputs, leaf, looks_in)
        return without_holders(form) if self._trace.grows else form

    def _list(self, grown: Grown, outputs: list[Any]) -> Form:
        """Return the form of a list that changes by values."""
        first = len(outputs)
        form = result_of(grown, outputs)
        self._classes += [np.ndarray] * (len(outputs) - first)
        return form

    def _kept(self, value: Any) -> Form:
        """Return the form of a result that is an array of the call or a constant; None for a computed one.

        Raises TypeError for a view of another array, and for an object that may change: each call must make its own.
        """
        if isinstance(value, Variable):
            if not value.ndim:
                return None
            place = next((k for k, v in enumerate(self._variables) if v is value), None)
            if place is not None:
                return _Given(place)
            base = base_of(value)
            others = (*self._variables, *self._bases)
            if (base is not value and any(base is b for b in others)) or value in self._bases:
                raise TypeError(f"{value!r} is a view of another array")
            self._bases[base] = value
            return None
        if type(value) is np.ndarray:
            return _Copied(value)
        if type(value) not in _FIXED and type(value) is not Length and not callable(value):
            raise TypeError(f"{shown(value)} is an object that may change")
        return None

    def _as_output(self, value: Any, tree: Any, position: int) -> Any:
        """Return a leaf of the result `tree` as a variable.  Raises TypeError, with its path, for anything else."""
        try:
            return as_tensor(now(self._trace, value))
        except TypeError:
            if type(value) is int:
                raise OverflowError(f"{self._name}: {integers.LARGE}") from None
            raise TypeError(
                f"{self._name}: {paths(tree, 'output')[position]} is {shown(value)}; "
                "expected variables, numbers, arrays, or lists, tuples, dicts and dataclasses of them"
                f"{by_position(value)}"
            ) from None


class _Given:
    """A result that is an array of the call."""

    def __init__(self, position: int) -> None:
        self._position = position

    def value_of(self, leaves: Any) -> Any:
        return leaves.arrays[self._position]


class _Copied:
    """A constant array, of which each call has its own."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array.copy()

    def value_of(self, leaves: Iterator[Any]) -> Any:
        return self._array.copy()


_FIXED = frozenset((
    int, float, complex, bool, str, bytes, type(None), type(Ellipsis), range, slice, frozenset, np.bool_, Undefined,
    *(np.dtype(name).type for name in DTYPES), type(np.dtype("f8")),
))  # fmt: skip
"""The types of values that never change."""


class _Held:
    """A value that is assigned to an attribute as it is."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def value_of(self, leaves: Iterator[Any]) -> Any:
        return self._value


def _place(f: Any) -> SourceLine:
    return SourceLine(f.__code__.co_filename, f.__code__.co_firstlineno)


def _joined(options: Mapping[str, Any], more: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return options with further pairs in some of them."""
    given = {name: options.get(name, ()) for name in more}
    pairs = {name: list(v.items() if isinstance(v, Mapping) else v) for name, v in given.items()}
    return {**options, **{name: [*pairs[name], *more[name]] for name in more}}


def _names(python_function: Callable[..., Any], structure: Form, count: int) -> list[str]:
    """Return the paths of the leaves that are traced: `x`, `params["w"]`; x0, x1, ... if parameters have no names."""
    names = [path for name, part in named_parts(python_function, structure) for path in places(part, name)]
    return names if len(names) == count else [f"x{n}" for n in range(count)]


def _holds(guards: Sequence[str]) -> Callable[[Sequence[Any]], bool] | None:
    """Return the guards as a function of the arrays of a call."""
    if not guards:
        return None
    text = " and ".join(f"({guard})" for guard in guards)
    made: Callable[[Sequence[Any]], bool] = eval(f"lambda a: {text}", {**GUARD_NAMES})
    return made


def _random_states() -> Any:
    """Return the states of the global random generators of Python and NumPy; None for one that is not loaded."""
    modules = sys.modules
    numpys = getattr(modules.get("numpy.random.mtrand"), "_rand", None)
    pythons = modules.get("random")
    state = None if numpys is None else numpys.get_state(legacy=False)["state"]
    own = None if state is None else [v.tobytes() if isinstance(v, np.ndarray) else v for v in state.values()]
    return own, None if pythons is None else pythons.getstate()


__all__ = ["Traced", "arrays_of", "signature_of", "traced"]
