"""Kernels of the runtime: one folder each, in which a spec names the fields of a call once.

    <family>/spec.py     SPECS: the fields of each call, its failures and its work; no import but this module
    <family>/plan*.py    PLANNERS: from a node of an op to calls by field names; WORK, where a spec does not tell it
    <family>/*.c         the loops, which read the fields from a struct
    <family>/*.h         written from the specs: the structs

From a spec follow the struct, the declaration for cffi and the slot in a table of the runtime (`abi/generate.py` writes
all three), the call in the driver, the checks and effects of the verifier, the text of the step and its parser, and the
operations that a profile counts.  checks.py finds fields that no planner sets or no C reads.

A folder is found by listing this one: no table names the families.  They are loaded when the first program is planned,
read or printed, not by `import arignote`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from functools import cache
from importlib import import_module
from os import listdir
from os.path import isfile, join
from pathlib import Path
from types import ModuleType
from typing import Any

from ...record import record

READ, WRITE = "read", "write"
"""Roles of arrays: a kernel may also read what it writes."""

QUANTITY, QUANTITIES, VECTOR, ARRAY, NUMBER, REAL, AFTER, INNER, STAGES = (
    "quantity", "quantities", "vector", "array", "number", "real", "after", "inner", "stages"
)  # fmt: skip
"""Kinds of fields by the form of what a planner gives: an integer; some of them; the address of a list of them; the
address of an array; that of a number or of an array of rank 0; a float; an epilogue; the call of another kernel; the
stages of a pipeline."""


@record
class Field:
    """A member of the struct of a call; its name is also the planner's keyword and the word in a program's text.

    `c`: its C type, or that of an element.  `size`: the elements of a member that is an array.  `counted`: the member,
    before it, that holds the number of elements of a vector.  An optional field without a value is 0 in C.
    """

    name: str
    kind: str
    c: str
    about: str = ""
    role: str = ""
    optional: bool = False
    size: int = 0
    counted: str = ""


@record
class Work:
    """Operations of a call: a number an element of a box of `lengths`, divided by `over`.

    `functions`: elementwise ops that each element takes besides; the cost model says how many additions they take.
    """

    number: int
    lengths: tuple[int | str, ...]
    over: int = 1
    functions: tuple[str, ...] = ()


STOPS, LAUNCH = "stops", "launch"
"""Values that a function returns besides an outcome: nonzero if Ctrl-C was pressed; what a launch returns."""

PRODUCTS, BYTES, SOLVERS, PACKED, SORTS, FOURIER, DRAWS, NARROW = (
    "products", "bytes", "solvers", "packed", "sorts", "fourier", "draws", "narrow"
)  # fmt: skip
WITH_CONVOLUTIONS = "defined(CONVOLUTIONS) && !COMPLEX"
"""Condition of slots that only the larger library of products of a real dtype fills: gcc takes four times as long."""
"""Tables of the runtime: the kernels of one float dtype, those of bytes, the LAPACK of one dtype; and the products of
one dtype with weights in packed formats, each in a library of its own; sorts and Fourier transforms of all dtypes;
draws by NumPy's functions; convolutions of numbers of 16 bits."""
OF_ALL_DTYPES = (SORTS, FOURIER, DRAWS, NARROW)
"""Tables that no dtype of a call selects.  Each is in a library of that name."""


@record
class KernelSpec:
    """The call of a kernel of the runtime.

    Attributes:
        name: The word in a program's text, and the name of the slot.
        about: What the kernel computes, for the comment of the struct.
        fields: The members of the struct, in order.
        table: The table of the runtime that has the slot; empty for a function of the driver, whose parameters are the
            fields.
        function: The C function in the slot, or that of the driver.
        fails: Names of the outcomes that the call may return.
        work: The operations of a call, of an object that has the values of its fields.
        only: The condition of the preprocessor under which the slot is filled; empty if it always is.
        struct: The C type; by default `ag_` and the name.
        runtime: Whether a function of the driver takes the runtime first.
        says: Whether a function of the driver takes the array for the numbers of a message last.
        status: What a function of the driver returns: STOPS or LAUNCH; empty for an outcome, or nothing.
    """

    name: str
    about: str
    fields: tuple[Field, ...]
    table: str = ""
    function: str = ""
    fails: tuple[str, ...] = ()
    work: Callable[[Any], tuple[Work, ...]] | None = None
    only: str = ""
    struct: str = ""
    runtime: bool = False
    says: bool = False
    status: str = ""

    @property
    def returns(self) -> str:
        """The C type of what the slot returns: an outcome, or nothing."""
        return "i32" if self.fails else "void"

    @property
    def c_struct(self) -> str:
        """The C type of the struct."""
        return self.struct or f"ag_{self.name}"

    def arguments(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of the fields in their order, None for those that are left out.

        Raises:
            TypeError: a field is missing, or the kernel has no such field.
        """
        names = [field.name for field in self.fields]
        unknown = [name for name in given if name not in names]
        missing = [f.name for f in self.fields if not f.optional and given.get(f.name) is None]
        if unknown or missing:
            what = f"has no field {unknown[0]}; expected {', '.join(names)}" if unknown else f"needs {missing[0]}"
            raise TypeError(f"{self.name} {what}")
        return tuple(given.get(name) for name in names)


class Kind(IntEnum):
    """A dtype in kernels of all dtypes: bools as bytes."""

    U8, I8, U16, I16, F16, U32, I32, F32, U64, I64, F64, C64, C128 = range(13)


_KINDS = {
    "bool": Kind.U8, "uint8": Kind.U8, "int8": Kind.I8, "uint16": Kind.U16, "int16": Kind.I16, "float16": Kind.F16,
    "uint32": Kind.U32, "int32": Kind.I32, "float32": Kind.F32, "uint64": Kind.U64, "int64": Kind.I64,
    "float64": Kind.F64, "complex64": Kind.C64, "complex128": Kind.C128,
}  # fmt: skip


def kind_of(array: Any) -> int:
    """Return the number of the dtype of an array in the C of kernels of all dtypes."""
    return int(_KINDS[array.dtype])


# --- kinds of fields


def length(name: str, about: str = "") -> Field:
    """Return the field of an integer of 64 bits: a length, a number of elements."""
    return Field(name, QUANTITY, "i64", about)


def flag(name: str, about: str = "") -> Field:
    """Return the field of an integer of 32 bits."""
    return Field(name, QUANTITY, "i32", about)


def lengths(name: str, size: int, about: str = "") -> Field:
    """Return the field of as many integers, which lie in the struct."""
    return Field(name, QUANTITIES, "i64", about, size=size)


def positions(*names: str) -> tuple[Field, ...]:
    """Return the fields of two integers each, one along rows and one along columns."""
    return tuple(lengths(name, 2, _POSITIONS.get(name, "")) for name in names)


def windows() -> tuple[Field, ...]:
    """Return the fields of windows over rows and columns of x."""
    return positions("lengths", "kernel", "stride", "dilation", "before", "counts")


_POSITIONS = {
    "lengths": "rows, columns of x", "before": "positions beyond the first border", "counts": "of windows: those of y",
}  # fmt: skip


def vector(name: str, about: str = "", counted: str = "", optional: bool = False) -> Field:
    """Return the field of the address of integers; `counted`: the member that holds how many they are."""
    return Field(name, VECTOR, "i64", about, optional=optional, counted=counted)


def batch(about: str = "lengths of the axes of the batch") -> Field:
    """Return the field of the axes before those of a matrix, and of their number `rank`."""
    return vector("batch", about, counted="rank")


def scalar(name: str, about: str = "", optional: bool = False) -> Field:
    """Return the field of the address of a number of the dtype of the call."""
    return Field(name, NUMBER, "void", about, READ, optional)


def real(name: str, about: str = "", c: str = "float") -> Field:
    """Return the field of a float."""
    return Field(name, REAL, c, about)


def array(name: str, role: str, about: str = "", optional: bool = False, c: str = "void") -> Field:
    """Return the field of the address of an array."""
    return Field(name, ARRAY, c, about, role, optional)


def strided(name: str, role: str, about: str = "", optional: bool = False, c: str = "void") -> tuple[Field, Field]:
    """Return the fields of an array and of its strides, which count elements."""
    return array(name, role, about, optional, c), vector(f"{name}_strides", optional=optional)


def after(about: str = "the epilogue") -> Field:
    """Return the field of a kernel that reads the results, perhaps block by block."""
    return Field("after", AFTER, "ag_after", about, optional=True)


def stages(name: str) -> Field:
    """Return the field of the kernels of a pipeline: their number, themselves, and the number of line buffers."""
    return Field(name, STAGES, "ag_stage")


def inner(name: str, struct: str, about: str = "") -> Field:
    """Return the field of the call of a kernel that runs inside this one; `struct`: its C type."""
    return Field(name, INNER, struct, about, optional=True)


# --- the families

FOLDER = Path(__file__).parent


@cache
def families() -> tuple[str, ...]:
    """Return the folders of kernels."""
    return tuple(name for name in sorted(listdir(FOLDER)) if isfile(join(FOLDER, name, "spec.py")))


def modules_in(folder: str, package: str, word: str = "") -> Mapping[str, str]:
    """Return the modules of a package whose names begin with a word, and the paths of their files."""
    chosen = (name for name in sorted(listdir(folder)) if name.startswith(word) and name.endswith(".py"))
    return {f"{package}.{name.removesuffix('.py')}": join(folder, name) for name in chosen}


def files(word: str) -> Mapping[str, str]:
    """Return the modules of the families whose names begin with a word, such as plan.py and plan_blocks.py."""
    folders = {f"{__name__}.{family}": join(FOLDER, family) for family in families()}
    return {m: path for package, folder in folders.items() for m, path in modules_in(folder, package, word).items()}


def modules(word: str) -> Iterator[ModuleType]:
    """Yield the modules that `files` lists."""
    return map(import_module, files(word))


@cache
def family_of(name: str) -> str:
    """Return the folder of the spec of this name."""
    return next(m.__name__.split(".")[-2] for m in modules("spec") if any(spec.name == name for spec in m.SPECS))


@cache
def specs() -> Mapping[str, KernelSpec]:
    """Return all specs by name."""
    return {spec.name: spec for module in modules("spec") for spec in module.SPECS}


_users: dict[str, tuple[KernelSpec, Any]] = {}
"""The calls of users' C in programs of this process by name: the spec, and the function as the printer takes it."""


def add_user_spec(spec: KernelSpec, function: Any) -> KernelSpec:
    """Make the call of a user's C known."""
    return _users.setdefault(spec.name, (spec, function))[0]


def spec_named(name: str) -> KernelSpec | None:
    """Return the spec of this name, of the runtime or of a user's C; None if there is none."""
    found = specs().get(name)
    return _users[name][0] if found is None and name in _users else found


def user_function_of(name: str) -> Any:
    """Return the function of a user's C by the name of its spec; None for kernels of ours."""
    return _users[name][1] if name in _users else None


@cache
def distributions() -> tuple[str, ...]:
    """Return the names of the distributions that are drawn in C, in the order of their functions."""
    return tuple(member.name.lower() for member in import_module(".draws.spec", __name__).Distribution)


# --- the formats of packed weights

FORMATS = FOLDER / "packed"
"""The folder of their C files: real/ has those of float32 and float64, single/ those of float32 alone."""


@cache
def formats() -> Mapping[str, tuple[Path, tuple[str, ...]]]:
    """Return the C file of each format of packed weights, and the dtypes that it is compiled for."""
    dtypes = {"real": ("float32", "float64"), "single": ("float32",)}
    return {
        name.removesuffix(".c"): (FORMATS / folder / name, kinds)
        for folder, kinds in dtypes.items()
        for name in sorted(listdir(FORMATS / folder))
        if name.endswith(".c")
    }


@cache
def packed_libraries() -> Mapping[str, tuple[str, str]]:
    """Return format and dtype of each library of products with packed weights, by its name."""
    return {_library(name, dtype): (name, dtype) for name, (_, dtypes) in formats().items() for dtype in dtypes}


def library_of(spec: KernelSpec, dtype: str) -> str:
    """Return the name by which a program asks for the library that has the kernel.

    It is a dtype, that of a dtype with convolutions, that of a format of packed weights, or a table of all dtypes.
    """
    if spec.table in OF_ALL_DTYPES:
        return spec.table
    if spec.only == WITH_CONVOLUTIONS:
        return _library("convolutions", dtype)
    return _library(spec.name, dtype) if spec.table == PACKED else dtype


@cache
def convolution_libraries() -> Mapping[str, str]:
    """Return the dtype of each library with products and convolutions, by its name."""
    return {_library("convolutions", dtype): dtype for dtype in ("float32", "float64")}


def uncovered(names: Iterable[str]) -> list[str]:
    """Return libraries without those whose kernels others among them have."""
    wanted = list(names)
    covered = {dtype for library, dtype in convolution_libraries().items() if library in wanted}
    return [name for name in wanted if name not in covered]


def _library(name: str, dtype: str) -> str:
    return f"{name}_{dtype}"
