"""`T` as a namespace of arrays with values: each call builds a graph, compiles it and runs it.

The suite asks for values at once, which a graph has none of.  An `Array` holds an array of NumPy and nothing else is
computed by NumPy: operators, methods and functions are those of `T` on variables of the array's dtype and shape.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
import types

import numpy as np

import arignote as ag
from arignote import ops as T

MODE = os.environ.get("ARRAY_API_TESTS_MODE", "NUMPY")
__array_api_version__ = T.__array_api_version__


class Array:
    """A value with the operators and methods of a variable."""

    __slots__ = ("value",)
    __array_priority__ = 1000

    def __init__(self, value):
        self.value = value

    dtype = property(lambda self: self.value.dtype)
    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    device = property(lambda self: "cpu")
    T = property(lambda self: computed(lambda x: x.T, self))
    mT = property(lambda self: computed(lambda x: x.mT, self))  # noqa: N815  (the standard's name)

    def __bool__(self): return bool(self.value)
    def __int__(self): return int(self.value)
    def __float__(self): return float(self.value)
    def __complex__(self): return complex(self.value)
    def __index__(self): return operator.index(self.value)
    def __len__(self): return len(self.value)
    def __iter__(self): return (self[k] for k in range(len(self)))
    def __hash__(self): return id(self)
    def __repr__(self): return f"Array({self.value!r})"
    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.value.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
    def __dlpack_device__(self): return self.value.__dlpack_device__()
    def __getitem__(self, key, /): return computed(operator.getitem, self, key)
    def __setitem__(self, key, value, /):
        self.value = computed(lambda x, k, v: T.set_subtensor(x[k], v), self, key, value).value

    def __array_namespace__(self, *, api_version=None):
        T.scalar().__array_namespace__(api_version=api_version)
        return namespace()

    def to_device(self, device, /, *, stream=None):
        T.scalar().to_device(device, stream=stream)
        return self


def _operator(name):
    function = getattr(operator, name)

    def binary(self, other, /):
        return computed(function, self, other)

    def reflected(self, other, /):
        return computed(function, other, self)

    def in_place(self, other, /):
        self.value = binary(self, other).value
        return self

    plain = name.strip("_")
    for prefix, method in (("", binary), ("r", reflected), ("i", in_place)):
        setattr(Array, f"__{prefix}{plain}__", method)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift",
              "rshift"):  # fmt: skip
    _operator(_name)
def _comparison(function):
    return lambda a, b, /: computed(function, a, b)


def _sign(function):
    return lambda a, /: computed(function, a)


for _name in ("lt", "le", "gt", "ge"):
    setattr(Array, f"__{_name}__", _comparison(getattr(operator, _name)))
Array.__eq__ = lambda a, b, /: computed(T.eq, a, b)
Array.__ne__ = lambda a, b, /: computed(T.ne, a, b)
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Array, f"__{_name}__", _sign(getattr(operator, _name)))


def computed(function, *arguments, **options):
    """The results of `function` of variables in the place of arrays, with their values."""
    inputs = {}

    def variable(x):
        if isinstance(x, Array):
            known = inputs.setdefault(id(x), (T.tensor(f"x{len(inputs)}", x.dtype.name, x.shape), x.value))
            return known[0]
        if isinstance(x, (list, tuple)):
            return type(x)(map(variable, x))
        if isinstance(x, slice):
            return slice(*map(variable, (x.start, x.stop, x.step)))
        return x

    result = function(*map(variable, arguments), **{k: variable(v) for k, v in options.items()})
    found = []
    _collect(result, found)
    if not found:
        return result
    compiled = ag.function([v for v, _ in inputs.values()], found, mode=MODE, on_unused_input="ignore")
    values = compiled(*(value for _, value in inputs.values()))
    return _filled(result, iter(values))


def _collect(result, found):
    if isinstance(result, T.TensorVariable):
        found.append(result)
    elif isinstance(result, (list, tuple)):
        for part in result:
            _collect(part, found)


def _filled(result, values):
    if isinstance(result, T.TensorVariable):
        return Array(np.array(next(values)))
    if isinstance(result, (list, tuple)):
        parts = [_filled(part, values) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def _lifted(function):
    @functools.wraps(function)
    def call(*arguments, **options):
        return computed(function, *arguments, **options)

    if getattr(function, "options", ()):  # keywords of NumPy that the function accepts besides its own
        own = inspect.signature(function)
        names = [k for k in function.options if k not in own.parameters]
        further = [inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY, default=None) for k in names]
        call.__signature__ = own.replace(parameters=[*own.parameters.values(), *further])
    return call


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """`T.asarray`; an array that may not be copied stays the same object."""
    found = computed(T.asarray, obj, dtype=dtype, device=device, copy=copy)
    return obj if copy is False else found


def reshape(x, /, shape, *, copy=None):
    """`T.reshape`, whose lengths may stand side by side as well, as in `x.reshape(2, 3)`."""
    return computed(T.reshape, x, shape=shape, copy=copy)


def from_dlpack(x, /, *, device=None, copy=None):
    return computed(T.from_dlpack, x.value if isinstance(x, Array) else x, device=device)


class _Extension(types.ModuleType):
    """`T.linalg` or `T.fft` in the same way."""

    def __init__(self, space):
        super().__init__(space.__name__)
        self.space = space

    def __getattr__(self, name):
        return _lifted(getattr(vars(self)["space"], name))


linalg, fft = _Extension(T.linalg), _Extension(T.fft)


def __getattr__(name):
    found = getattr(T.array_api if name in dir(T.array_api) else T, name)
    own = isinstance(found, (types.FunctionType, T.TensorOp))
    return _lifted(found) if own else found


def namespace():
    import sys

    return sys.modules[__name__]
