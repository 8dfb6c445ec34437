"""Theano's variables: wrappers of the core's, with Theano's methods, patterns and truth values.

A wrapper holds a variable of the core, `core`.  The front end builds expressions of the core's variables at
once, so the user's source lines are recorded as usual.  `wrap` returns the wrapper of a variable of the core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from .... import graph
from ....ops.core.interpret import evaluate_and_update
from ....ops.core.shared import SharedVariable as CoreShared
from ....ops.core.tensor import TensorVariable as CoreVariable
from ....ops.core.tensor import constant as core_constant
from ....record.spelling import counted
from ..flags import config
from ..running.trial_values import value_of
from .dtypes import autocast
from .patterns import strict
from .types import TensorType, Type, type_of

_known: WeakValueDictionary[int, Variable] = WeakValueDictionary()
_names = count()
COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
shared_kind: list[Callable[[CoreShared], Any]] = []
"""The wrapper class of shared variables, once it is defined."""


class Tag:
    """Free attributes that a program stores on a variable: `x.tag.test_value = ...`."""

    def __init__(self, **notes: Any) -> None:
        self.__dict__.update(notes)

    def __repr__(self) -> str:
        return f"scratchpad{self.__dict__}"


class Apply:
    """An application of an op: op, inputs, outputs; made by `make_node` of an op, or a view of a node of the core."""

    def __init__(self, op: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.op: Any = op
        self.inputs: list[Any] = list(inputs)
        self.outputs: list[Any] = list(outputs)
        self.tag: Tag = Tag()
        for index, output in enumerate(self.outputs):
            if isinstance(output, Variable):
                output._owner, output.index = self, index

    @property
    def nin(self) -> int:
        return len(self.inputs)

    @property
    def nout(self) -> int:
        return len(self.outputs)

    @property
    def out(self) -> Any:
        """The only output."""
        (output,) = self.outputs
        return output

    def default_output(self) -> Any:
        """The output returned by calling the op."""
        number = getattr(self.op, "default_output", None)
        return self.outputs[number or 0]

    def get_parents(self) -> list[Any]:
        """The inputs."""
        return list(self.inputs)

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.inputs))})"


class Variable:
    """One value of a graph.  Its name, tag and further attributes may be assigned at any time."""

    core: Any
    _type: Any
    _owner: Any
    index: int | None
    __array_priority__ = 1000

    def __init__(self, type: Type, owner: Any = None, index: int | None = None, name: str | None = None) -> None:
        core = type.core if isinstance(type, TensorType) else _NO_TENSOR
        self._hold(CoreVariable(core, name=_text(name)))
        self._type = type
        self._owner, self.index = owner, index

    if TYPE_CHECKING:  # methods and attributes that tables add

        def __getattr__(self, name: str) -> Any: ...

    def _hold(self, core: graph.Variable) -> None:
        """Stand for this variable of the core."""
        self.core = core
        self._type = None
        self._owner = None
        self.index = core.index if core.owner is not None else None
        self.tag: Tag = Tag()
        _known[id(core)] = self

    @property
    def type(self) -> Any:
        """Dtype and pattern."""
        if self._type is None:
            self._type = type_of(self.core)
        return self._type

    @property
    def name(self) -> str | None:
        return self.core.name  # type: ignore[no-any-return]

    @name.setter
    def name(self, name: str | None) -> None:
        self.core.name = _text(name)

    @property
    def auto_name(self) -> str:
        """A name that no other variable has."""
        if not hasattr(self, "_auto_name"):
            self._auto_name = f"auto_{next(_names)}"
        return self._auto_name

    @property
    def owner(self) -> Any:
        """The node that computes this value; None for a leaf."""
        if self._owner is None and self.core.owner is not None:
            node = self.core.owner
            outputs = [wrap(o) for o in node.outputs]
            view = Apply(getattr(node.op, "theano_op", node.op), [wrap(i) for i in node.inputs], [])
            view.outputs = outputs
            for output in outputs:
                output._owner = view
        return self._owner

    @owner.setter
    def owner(self, node: Any) -> None:
        self._owner = node

    def get_parents(self) -> list[Any]:
        """The node that computes this value, in a list; [] for a leaf."""
        return [] if self.owner is None else [self.owner]

    def clone(self) -> Any:
        """A leaf of the same type, name and tag."""
        twin = wrap(CoreVariable(self.core.type, name=self.core.name))
        twin._type = self._type
        twin.tag = Tag(**self.tag.__dict__)
        return twin

    def eval(self, inputs_to_values: Mapping[Any, Any] | None = None) -> Any:
        """The value for values of the inputs."""
        given: dict[Any, Any] = {}
        for v, value in (inputs_to_values or {}).items():
            given.update(v._given(value) if isinstance(v, Variable) else {v: value})
        computed = any(lower(v).owner is not None for v in given)
        return evaluate_and_update(self.core if computed else strict([self.core])[0], given)

    def _given(self, value: Any) -> dict[Any, Any]:
        """The values of variables of the core for a value of this one."""
        return {self.core: value}

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        return f"<{self.type}>" if self.core.owner is None else f"{self.core.owner.op.name}.{self.index}"

    __repr__ = __str__

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["_owner"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _known[id(self.core)] = self


class TensorOperators(Variable):
    """The operators and methods of tensors (`methods.py` adds them from its tables)."""

    @property
    def dtype(self) -> str:
        return self.core.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return len(self.core.type.shape)

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each axis, whether its length is known to be 1."""
        return self.type.broadcastable  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        node = self.core.owner
        if node is not None and getattr(node.op, "name", "") in COMPARISONS:
            raise TypeError(
                f"{self} compares symbolic values and has no truth value; use T.switch(condition, a, b) to choose, "
                "or theano.ifelse.ifelse(condition, a, b)"
            )
        return True

    def __iter__(self) -> Iterator[Any]:
        length = self.core.type.shape[0] if self.ndim else None
        if length is None:
            raise TypeError(f"{self} has no length before a function runs; loop by theano.scan, or give its shape")
        return iter([self[n] for n in range(length)])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, list) and any(k is None or k is Ellipsis or isinstance(k, slice) for k in key):
            key = tuple(key)
        return wrap(self.core[lower(key)], self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        function = NUMPY.get(ufunc.__name__)
        if method != "__call__" or options or function is None:
            message = f"numpy.{ufunc.__name__} does not take the symbolic {self}"
            raise TypeError(f"{message}; use a function of theano.tensor")
        return function(*inputs)


class TensorVariable(TensorOperators):
    """A symbolic array that is neither constant nor shared."""


NUMPY: dict[str, Callable[..., Any]] = {}
"""Functions of this front end by the name of NumPy's ufunc."""


class Constant(Variable):
    """The base of constants."""


class TensorConstant(TensorOperators, Constant):
    """A constant."""

    def __init__(self, type: TensorType, data: Any, name: str | None = None) -> None:
        self._hold(core_constant(np.asarray(data, type.dtype), name=_text(name)))
        self._type = type

    @property
    def data(self) -> np.ndarray:
        return self.core.data  # type: ignore[no-any-return]

    value = data

    def signature(self) -> Any:
        """The identity of the constant."""
        return self.core.key

    def clone(self) -> Any:
        """The same constant."""
        return self

    def __str__(self) -> str:
        return self.name or f"TensorConstant{{{np.array2string(self.data, threshold=10, edgeitems=2)}}}"

    __repr__ = __str__


Type.Variable, TensorType.Variable, TensorType.Constant = Variable, TensorVariable, TensorConstant


def wrap(core: Any, *parents: Any) -> Any:
    """The variable of this front end for one of the core; `parents` live as long as it."""
    found = _known.get(id(core))
    if found is None or found.core is not core:
        kind: Any = TensorVariable
        if isinstance(core, CoreShared):
            return shared_kind[0](core)
        if isinstance(core, graph.Constant):
            kind = TensorConstant
        found = kind.__new__(kind)
        found._hold(core)
        if core.owner is not None and config.compute_test_value != "off":
            value = value_of(core, _noted, config.compute_test_value)
            if value is not None:
                found.tag.test_value = value
    if parents:
        kept: Any = found
        kept._parents = parents
    return found


def _noted(core: graph.Variable) -> Any:
    """The test value of a variable of the core; None if it has none."""
    found = _known.get(id(core))
    return None if found is None or found.core is not core else getattr(found.tag, "test_value", None)


def wrapped(value: Any, *parents: Any) -> Any:
    """The value with each variable of the core inside lists, tuples and dicts wrapped."""
    if isinstance(value, graph.Variable):
        return wrap(value, *parents)
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)([wrapped(v, *parents) for v in value])
    if isinstance(value, dict):
        return {wrapped(k): wrapped(v, *parents) for k, v in value.items()}
    return value


def lower(value: Any) -> Any:
    """The value with each variable of this front end inside lists, tuples, dicts and slices as one of the core."""
    match value:
        case Variable(): return value.core
        case list() | tuple(): return (list if isinstance(value, list) else tuple)([lower(v) for v in value])
        case dict(): return {lower(k): lower(v) for k, v in value.items()}
        case slice(): return slice(lower(value.start), lower(value.stop), lower(value.step))
        case Apply(): return value.default_output().core
    return value


def lifted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the core as one of this front end."""

    @wraps(function)
    def lifting(*args: Any, **kwargs: Any) -> Any:
        return wrapped(function(*map(lower, args), **{k: lower(v) for k, v in kwargs.items()}), *args)

    return lifting


class AsTensorError(TypeError):
    """A value that no tensor holds."""


_NO_TENSOR = graph.TensorType("bool", ())
"""The type in the core of variables that are no tensors; no function reads their values."""


def as_tensor_variable(x: Any, name: str | None = None, ndim: int | None = None) -> Any:
    """`x` as a variable: itself, the output of a node, a list of variables stacked, or a constant with narrow dtype.

    Raises TypeError for a value that no tensor holds, ValueError for a rank that cannot be made `ndim`.
    """
    if isinstance(x, Apply):
        x = x.default_output()
    if isinstance(x, graph.Variable):
        x = wrap(x)
    if isinstance(x, Variable) and not isinstance(x, TensorOperators):
        raise AsTensorError(f"{x} is of type {x.type}, which is no type of a tensor")
    if not isinstance(x, Variable):
        x = _stacked(x) if _has_variables(x) else constant(x, name)
    if ndim is None or x.ndim == ndim:
        return x
    if x.ndim > ndim:
        if not all(x.broadcastable[: x.ndim - ndim]):
            raise ValueError(f"{x} has {counted(x.ndim, 'dimension')}, expected {ndim}")
        return x.dimshuffle(*range(x.ndim - ndim, x.ndim))
    return x.dimshuffle(*["x"] * (ndim - x.ndim), *range(x.ndim))


def _has_variables(x: Any) -> bool:
    return isinstance(x, (list, tuple)) and any(isinstance(v, (Variable, Apply)) or _has_variables(v) for v in x)


def _stacked(values: Sequence[Any]) -> Any:
    """A list with variables in it as one tensor, of the dtype that holds all parts."""
    return NUMPY["stack"]([as_tensor_variable(v) for v in values])


def constant(x: Any, name: str | None = None, ndim: int | None = None, dtype: Any = None) -> Any:
    """A constant with Theano's dtype: the narrowest integer, floatX; arrays keep theirs.  `ndim`: its rank."""
    if isinstance(x, Variable):
        raise TypeError(f"a constant has a value, and {x} is symbolic")
    try:
        data = autocast(x, dtype)
        core = core_constant(data, name=_text(name))
    except (TypeError, ValueError) as error:
        raise TypeError(f"cannot make a tensor of {type(x).__name__} {str(x)[:60]}: {error}") from None
    found = wrap(core)
    return as_tensor_variable(found, ndim=ndim) if ndim is not None else found


def _text(name: Any) -> str | None:
    """Raises TypeError for a name that is no text."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"the name of a variable must be text, got {type(name).__name__} {name!r}")
    return name
