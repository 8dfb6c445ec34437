"""The native entries, and the functions that may have them (native_entry.c, native_bound.c, native_watch.c).

native_jit.py has those of jitted functions.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...graph import TensorType
from ..abi._abi import ffi
from ..build.build import Library
from .interface import Interface
from .output_lengths import Step, stack_of
from .outputs import LARGE

MOST_STEPS = 100
"""Most nodes of a program with a native entry: in larger ones the cost of a call is negligible."""
_SURELY_SHORT = 4
"""Most constants and nodes, together, of a function whose calls are not timed before Python's lock is released."""
_EMPTY, _SCALAR = 184, 60
"""Indices of PyArray_Empty and PyArray_Scalar in NumPy's table of C functions, which never changes."""
_PYTHON = {
    "incref": "Py_IncRef", "decref": "Py_DecRef", "unlock": "PyEval_SaveThread", "lock": "PyEval_RestoreThread",
    "clear_error": "PyErr_Clear", "as_pointer": "PyLong_AsVoidPtr", "item": "PyTuple_GetItem",
    "new_list": "PyList_New", "list_item": "PyList_GetItem", "set_item": "PyList_SetItem",
    "vectorcall": "PyObject_Vectorcall", "as_integer": "PyLong_AsLongLongAndOverflow", "dict_item": "PyDict_GetItem",
    "new_float": "PyFloat_FromDouble", "new_integer": "PyLong_FromLongLong", "new_bool": "PyBool_FromLong",
    "new_complex": "PyComplex_FromDoubles",
}  # fmt: skip


@lru_cache(maxsize=1)
def layouts_hold() -> bool:
    """Return whether objects of this Python and NumPy have the memory layout that native_entry.c assumes."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.abiflags:
        return False
    for array in (np.arange(6.0).reshape(2, 3), np.zeros((3, 4), "int16")[:, ::2]):
        words = (ctypes.c_int64 * 9).from_address(id(array))
        expected = (id(np.ndarray), array.__array_interface__["data"][0], array.ndim, id(array.dtype))
        if (words[1], words[2], words[3] & 0xFFFFFFFF, words[7]) != expected:
            return False
        flags = words[8] & 0xFFFFFFFF
        for address, numbers in ((words[4], array.shape), (words[5], array.strides)):
            if (ctypes.c_int64 * 2).from_address(address)[:] != list(numbers):
                return False
        known = array.flags.c_contiguous, array.flags.f_contiguous, array.flags.aligned
        if (bool(flags & 1), bool(flags & 2), bool(flags & 0x100)) != known:
            return False
    values: list[tuple[Any, Any]] = [
        (2.5, ctypes.c_double), (np.float64(2.5), ctypes.c_double), (np.int64(5), ctypes.c_int64),
    ]  # fmt: skip
    return all(kind.from_address(id(value) + 16).value == value for value, kind in values)


def native_entry(
    native: Library, interface: Interface, library: Library, frame: Any, other: Callable[..., Any], as_list: bool,
    strided: bool, stored: Sequence[list[Any]] = (), kept: Sequence[list[Any]] = (),
) -> Callable[..., Any] | None:  # fmt: skip
    """Return a builtin that takes arguments as `other` does and returns the same: one array, or all of them `as_list`.

    `frame`: an ag_call whose table, constants, declared lengths and counters are filled in, and what it points to, as
    far as `other` does not keep that alive.  `strided`: arrays that are not C-contiguous are taken, too.  `stored`,
    `kept`: lists of one element, from which the last inputs come and to which the last outputs go.  None where
    the lengths of the results are not known before the call, or where there are too many arrays.
    """
    signature = signature_of(native, interface, library, frame, strided)
    if signature is None:
        return None
    facts, alive = signature
    facts.as_list = as_list
    cells = ffi.new("object *[]", [ffi.cast("object *", id(cell)) for cell in (*stored, *kept)] or 1)
    facts.cells, facts.stored, facts.returned = cells, len(stored), facts.outputs - len(kept)
    held = (int(ffi.cast("intptr_t", facts)), other, facts, alive, library, frame, cells, tuple(stored), tuple(kept))
    return builtin(methods_of(native).entry, held)


def signature_of(
    native: Library, interface: Interface, library: Library, frame: Any, strided: bool
) -> tuple[Any, tuple[Any, ...]] | None:
    """Return the ag_signature of a program, and the objects that it points to; None as for `native_entry`."""
    signature = _signature(interface, native.lib) if layouts_hold() else None
    if signature is None:
        return None
    facts, call = signature[0], frame[0]
    facts.run = ffi.addressof(library.lib, "ag_entry")
    facts.rt, facts.declared = call.rt, call.declared
    facts.constants, facts.constant_lengths = call.constants, call.constant_lengths
    facts.profile, facts.warm_up, facts.returned = call.profile, call.warm_up, facts.outputs
    if not call.profile and sum(c.size for c in interface.constants) + interface.sites > _SURELY_SHORT:
        facts.trials, facts.is_long = native.lib.AG_TRIALS, True
    if not strided:
        facts.items = ffi.NULL
    return signature


def native_bound(
    native: Library, library: Library, frame: Any, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray],
    result: Any, other: Callable[..., Any],
) -> Callable[..., Any] | None:  # fmt: skip
    """A builtin without arguments that fills `outputs` from `inputs` and returns `result`; `other` runs if it fails.

    `frame`: as for `native_entry`.  None where there are too many arrays, or one that is not C-contiguous, of which the
    results may have the order.
    """
    arrays, names = [*inputs, *outputs], native.lib
    lengths = [n for a in arrays for n in a.shape]
    if len(arrays) > names.AG_ARRAYS or len(lengths) > names.AG_LENGTHS or not layouts_hold():
        return None
    if not all(a.flags.c_contiguous for a in inputs):
        return None
    alive = (
        ffi.new("object *[]", [ffi.cast("object *", id(a)) for a in arrays] or 1),
        ffi.new("void *[]", [ffi.cast("char *", a.__array_interface__["data"][0]) for a in arrays] or 1),
        ffi.new("i64[]", lengths or 1),
        arrays, result,
    )  # fmt: skip
    facts, call = ffi.new("ag_binding *"), frame[0]
    facts.call.rt, facts.call.declared = call.rt, call.declared
    facts.call.constants, facts.call.constant_lengths = call.constants, call.constant_lengths
    facts.run = ffi.addressof(library.lib, "ag_entry")
    facts.arrays, facts.data, facts.lengths = alive[:3]
    facts.elements, facts.axes = sum(a.size for a in arrays), len(lengths)
    facts.inputs, facts.count = len(inputs), len(arrays)
    facts.result = ffi.cast("object *", id(result))
    return builtin(methods_of(native).bound, (int(ffi.cast("intptr_t", facts)), other, facts, alive, library, frame))


def native_watch(
    native: Library, places: Sequence[int], expected: Sequence[int], memory: int, types: Sequence[type],
    lent: Sequence[tuple[int, int, np.ndarray, np.ndarray]],
) -> Callable[[list[Any]], bool] | None:  # fmt: skip
    """Return a builtin: whether elements of a list have their memory at the expected addresses, with its values.

    `memory`: the address of a C function that gives the memory of an object of one or two `types`; for another type
    the answer is False.  `lent`: for memory that must keep its values, the address of a count of the writes to it, and
    the expected count; some of its words, an array over it, and what they must be.  None where objects of this Python
    have another layout.
    """
    if not layouts_hold():
        return None
    watch, shape = ffi.new("ag_watch *"), (native.lib.AG_SAMPLES, native.lib.AG_SAMPLE_WORDS)
    for _, _, words, _ in lent:
        if words.shape != shape or words.dtype != np.int64 or words.strides[1] != 8:
            raise ValueError(f"watch: expected int64 samples of {shape}, got {words.dtype}{words.shape}")
    alive = (
        ffi.new("i64[]", list(places) or 1),
        ffi.new("void *[]", [ffi.cast("void *", p) for p in expected] or 1),
        ffi.new("i32 *[]", [ffi.cast("i32 *", count) for count, *_ in lent] or 1),
        ffi.new("i32[]", [written for _, written, _, _ in lent] or 1),
        ffi.new("char *[]", [ffi.cast("char *", words.ctypes.data) for _, _, words, _ in lent] or 1),
        ffi.new("i64[]", [words.strides[0] for _, _, words, _ in lent] or 1),
        ffi.new("i64[]", [word for *_, kept in lent for word in kept.ravel().tolist()] or 1),
    )
    watch.places, watch.expected, watch.writes, watch.written, watch.samples, watch.steps, watch.kept = alive
    watch.count, watch.lent = len(places), len(lent)
    watch.memory = ffi.cast(ffi.typeof(watch.memory), memory)
    for k in range(2):
        watch.types[k] = ffi.cast("void *", id(types[k % len(types)]))
    watch.yes, watch.no = ffi.cast("object *", id(True)), ffi.cast("object *", id(False))
    return builtin(methods_of(native).watch, (int(ffi.cast("intptr_t", watch)), watch, alive, tuple(types), lent))


def builtin(method: int, myself: tuple[Any, ...]) -> Callable[..., Any]:
    """Return a builtin with this definition, an address, which finds `myself` where methods have `self`."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    result: Callable[..., Any] = make(method, myself, None)
    return result


class Methods(NamedTuple):
    """Addresses of the definitions of the builtins, and their library, which stays loaded for good."""

    entry: int
    bound: int
    watch: int
    jitted: int
    library: Library


_methods: dict[bytes, Methods] = {}


def methods_of(native: Library) -> Methods:
    """Return the definitions of the builtins."""
    if native.key not in _methods:
        table = ffi.new("ag_python *")
        for field, name in _PYTHON.items():
            address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
            setattr(table, field, ffi.cast(ffi.typeof(getattr(table, field)), address))
        types = {"array": np.ndarray, "float": float, "integer": int, "float64": np.float64, "int64": np.int64}
        for field, kind in types.items():
            setattr(table, f"{field}_type", ffi.cast("void *", id(kind)))
        table.empty = ffi.cast(ffi.typeof(table.empty), _numpy_function(_EMPTY))
        table.scalar = ffi.cast(ffi.typeof(table.scalar), _numpy_function(_SCALAR))
        lib = native.lib
        made = (lib.ag_native_method(table), lib.ag_bound_method(), lib.ag_watch_method(), lib.ag_jit_method())
        entry, bound, watch, jitted = (int(ffi.cast("intptr_t", address)) for address in made)
        # A builtin reads its definition until it is freed, which may be after the modules of a process that ends.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(lib))
        _methods[native.key] = Methods(entry, bound, watch, jitted, native)
    return _methods[native.key]


def _numpy_function(place: int) -> int:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = pointer(np._core._multiarray_umath._ARRAY_API, None)  # type: ignore[attr-defined]
    return ctypes.c_void_p.from_address(table + place * ctypes.sizeof(ctypes.c_void_p)).value or 0


def _signature(interface: Interface, names: Any) -> tuple[Any, tuple[Any, ...]] | None:
    """Return the ag_signature of an interface, and the objects it points to.  `names`: has the constants of the C."""
    arrays = [*(i.type for i in interface.inputs), *interface.outputs]
    if len(arrays) > names.AG_ARRAYS or sum(a.ndim for a in arrays) > names.AG_LENGTHS or not interface.outputs:
        return None
    programs: list[list[Step]] = []
    for shape in interface.lengths:
        if shape is None:
            return None
        programs += shape
    words, counts = programs_in_c(programs, interface, names)
    if words is None:
        return None
    alive = (
        ffi.new("object *[]", [ffi.cast("object *", id(a.numpy)) for a in arrays]),
        ffi.new("i32[]", [a.ndim for a in arrays]),
        ffi.new("i32[]", [_scalar(i.type) for i in interface.inputs] or 1),
        words, counts,
        ffi.new("i64[]", [LARGE // o.numpy.itemsize for o in interface.outputs]),
        ffi.new("i64[]", [a.numpy.itemsize for a in arrays]),
        [a.numpy for a in arrays],
    )
    facts = ffi.new("ag_signature *")
    facts.dtypes, facts.ranks, facts.scalars = alive[:3]
    facts.programs, facts.program_lengths, facts.most, facts.items = alive[3:7]
    facts.inputs, facts.outputs = len(interface.inputs), len(interface.outputs)
    facts.input_lengths = sum(i.ndim for i in interface.inputs)
    return facts, alive


def programs_in_c(programs: Sequence[Sequence[Step]], interface: Interface, names: Any) -> tuple[Any, Any]:
    """Return programs as native_entry.c reads them, and their lengths; None twice if one needs a larger stack."""
    if any(stack_of(program) > names.AG_STACK for program in programs):
        return None, None
    first = list(itertools.accumulate((i.ndim for i in interface.inputs), initial=0))

    def in_words(step: Step) -> tuple[int, int]:
        operation, operand = step
        place = first[operand[0]] + operand[1] if operation == "extent" else operand or 0
        return getattr(names, f"AG_{operation.upper()}"), place

    words = [word for program in programs for step in program for word in in_words(step)]
    return ffi.new("i64[]", words or 1), ffi.new("i64[]", [len(program) for program in programs] or 1)


def _scalar(type: TensorType) -> int:
    """Return which numbers of Python an input takes: AG_FLOAT_SCALAR, AG_INTEGER_SCALAR, or none."""
    return 0 if type.ndim else {"float64": 1, "int64": 2}.get(type.dtype, 0)
