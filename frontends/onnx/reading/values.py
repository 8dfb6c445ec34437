"""Tensors and dtypes of ONNX as ours, and small integer vectors whose elements are known one by one.

Models compute shapes with `Shape`, `Gather`, `Concat`: vectors of a few integers of which some are known when the model
is read.  Such a vector is a constant or a `make_vector` of scalars, and converters work on its elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, Variable
from ....graph.types import numpy_dtype
from ....ops.core.tensor import as_tensor, constant
from ....ops.shapes.lengths import MakeVector, lengths_of
from ....record.spelling import counted
from .mapped import LEAST
from .narrow import FORMATS, TEXT

DTYPE_OF = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128",
}  # fmt: skip
"""Our dtype by the number of ONNX's."""
NUMBER_OF = {name: number for number, name in DTYPE_OF.items()}

LARGEST = 1 << 40
"""Bytes beyond which a tensor is refused before anything is taken."""
MOST_LENGTHS = 1 << 12
"""Elements of vectors of lengths that are computed when the model runs."""
MOST_ELEMENTS = 64
"""Elements of vectors whose elements are known one by one."""

Fail = Callable[[str], Exception]


def dtype_of(number: int, fail: Fail) -> str:
    """Our dtype for a number of ONNX's, for narrow ones the dtype that holds their values.

    Raises what `fail` makes for those that there are not.
    """
    if number in FORMATS:
        return FORMATS[number].wide  # type: ignore[no-any-return]
    if number not in DTYPE_OF:
        raise fail(f"the dtype {number} is not supported")
    return DTYPE_OF[number]


def array_of(tensor: Any, fail: Fail, folder: Any = None) -> np.ndarray:
    """The array of a TensorProto, whose sizes are checked before memory is taken; strings are an array of objects."""
    shape, form = tuple(tensor.dims), FORMATS.get(tensor.data_type)
    dtype = np.dtype(dtype_of(tensor.data_type, fail))
    count = math.prod(shape)
    size = -(-count * form.bits // 8) if form else count * dtype.itemsize
    if any(n < 0 for n in shape) or size > LARGEST:
        raise fail(f"the tensor {tensor.name!r} has the shape {shape}, which is not possible")
    if form == TEXT:
        return _texts(tensor, shape, fail)
    if tensor.data_location == 1:
        data = _external(tensor, size, fail, folder)
    elif tensor.raw_data:
        data = tensor.raw_data
    elif form:
        data = np.array(tensor.int32_data).astype("<u2" if form.bits == 16 else "u1").tobytes()
    else:
        return _array_of_field(tensor, shape, dtype, fail)
    if len(data) != size:
        name = form.name if form else dtype.name
        raise fail(
            f"the tensor {tensor.name!r} has {counted(len(data), 'byte')}, expected {size} for {name}{list(shape)}"
        )
    if form:
        return form.values(data, count).reshape(shape)  # type: ignore[no-any-return]
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype, copy=False).reshape(shape)


def _texts(tensor: Any, shape: tuple[int, ...], fail: Fail) -> np.ndarray:
    """The array of a tensor of strings."""
    texts = [text.decode("utf-8", "replace") for text in tensor.string_data]
    if len(texts) != math.prod(shape):
        raise fail(
            f"the tensor {tensor.name!r} has {counted(len(texts), 'element')}, expected {math.prod(shape)} for {shape}"
        )
    found = np.empty(len(texts), object)
    found[:] = texts
    return found.reshape(shape)


def _array_of_field(tensor: Any, shape: tuple[int, ...], dtype: np.dtype[Any], fail: Fail) -> np.ndarray:
    """The array of a tensor whose elements are listed in a field by their kind."""
    field = {
        "float32": "float_data", "complex64": "float_data", "float64": "double_data", "complex128": "double_data",
        "int64": "int64_data", "uint32": "uint64_data", "uint64": "uint64_data",
    }.get(dtype.name, "int32_data")  # fmt: skip
    values = np.array(getattr(tensor, field))
    if dtype.kind == "c":
        values = values[0::2] + 1j * values[1::2]
    if dtype == np.float16:
        values = values.astype(np.uint16).view(np.float16)
    if values.size != math.prod(shape):
        raise fail(
            f"the tensor {tensor.name!r} has {counted(values.size, 'element')}, expected {math.prod(shape)} for {shape}"
        )
    return values.astype(dtype).reshape(shape)


def _external(tensor: Any, size: int, fail: Fail, folder: Any) -> Any:
    """The bytes of a tensor whose data lie in a file in the folder of the model; many are mapped, not read."""
    where = {entry.key: entry.value for entry in tensor.external_data}
    if folder is None:
        raise fail(f"the tensor {tensor.name!r} lies in a file of its own; read the model by its path")
    base = folder.resolve()
    path = (base / where.get("location", "")).resolve()
    if base not in path.parents:
        raise fail(f"the tensor {tensor.name!r} lies in {where.get('location')!r}, outside of the model's folder")
    try:
        begin = int(where.get("offset", 0) or 0)
        available = path.stat().st_size
        if begin < 0 or begin + size > available:
            what = f"bytes {begin} to {begin + size} of {path.name}"
            raise fail(f"the tensor {tensor.name!r} needs {what}, which has {available}")
        if size >= LEAST:
            return np.memmap(path, np.uint8, "r", begin, (size,))
        with path.open("rb") as file:
            file.seek(begin)
            return file.read(size)
    except OSError as error:
        raise fail(f"the tensor {tensor.name!r} cannot be read from {path.name}: {error.strerror or error}") from None


# --- vectors of known elements


def elements(value: Any) -> list[Any] | None:
    """The elements of a vector, or of a scalar, one by one: ints and scalar variables; None if they are not known."""
    if not isinstance(value, Variable) or value.type.kind not in "iu" or value.ndim > 1:
        return None
    if isinstance(value, Constant):
        return value.data.reshape(-1).tolist() if value.data.size <= MOST_ELEMENTS else None
    if value.ndim == 0:
        return [value]
    if value.owner is not None and isinstance(value.owner.op, MakeVector):
        return [n.data.item() if isinstance(n, Constant) else n for n in value.owner.inputs]
    return None


def vector(items: Sequence[Any], dtype: str = "int64") -> Any:
    """The vector of these ints and scalar variables: a constant if all are ints."""
    if all(isinstance(item, int) for item in items):
        return constant(np.array(items, dtype))
    return MakeVector()(*[T.cast(as_tensor(item), dtype) for item in items])


def scalar(item: Any, dtype: str = "int64") -> Any:
    """The scalar of an int or a variable."""
    return constant(np.array(item, dtype)) if isinstance(item, int) else T.cast(item, dtype)


def own_lengths(x: Variable) -> list[Any]:
    """The lengths of x, one scalar an axis."""
    return list(lengths_of(x))


def shape_vector(x: Variable, start: int | None = None, end: int | None = None) -> Any:
    """The lengths of x as a vector of known elements."""
    return vector([_int_or_variable(n) for n in lengths_of(x)[start:end]])


def _int_or_variable(length: Any) -> Any:
    return int(length.data) if isinstance(length, Constant) else length


def lengths(value: Any, fail: Fail, what: str) -> list[Any]:
    """The elements of a vector of known length as ints and scalar variables."""
    found = elements(value)
    if found is not None:
        return found
    count = value.type.shape[0] if value.ndim == 1 else None
    if count is None:
        raise fail(f"the number of elements of {what} must be known; it is computed when the model runs")
    if count > MOST_LENGTHS:
        raise fail(f"{what} has {counted(count, 'element')}, expected {MOST_LENGTHS} or fewer")
    return [value[k] for k in range(count)]


def known_array(value: Any) -> np.ndarray | None:
    """The array of a constant; None for a computed value."""
    return value.data if isinstance(value, Constant) else None


def finfo_lowest(dtype: str) -> Any:
    """The least number of a dtype, -inf for floats."""
    return -math.inf if numpy_dtype(dtype).kind == "f" else np.iinfo(dtype).min


# --- from floats to integers


def wide_dtype(x: Variable) -> str:
    """The dtype that values like x are computed in where one rounding follows: float32 or more."""
    if x.type.kind == "c" or x.dtype in ("float32", "float64"):
        return x.dtype
    return "float32" if x.dtype == "float16" else "float64"


def saturated(y: Any, dtype: str) -> Any:
    """Floats, or integers, between the least and the largest number of an integer dtype, in that dtype."""
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.max], y.dtype)
    if ends.dtype.kind == "f" and int(ends[1]) > info.max:
        ends[1] = np.nextafter(ends[1], ends.dtype.type(0))
    return T.cast(T.clip(y, constant(ends[0]), constant(ends[1])), dtype)


def rounded_into(y: Any, dtype: str, form: Any = None) -> Any:
    """A float in another dtype; an integer is the nearest one, the even one of two, and no number wraps around.

    `form`: the narrow dtype of the result, if it has one.
    """
    kind = numpy_dtype(dtype).kind
    if kind in "fc":
        return T.cast(y, dtype)
    if kind == "b":
        return T.ne(T.round(y), constant(np.array(0, y.dtype)))
    return saturated(T.round(y), dtype) if form is None else form.clipped(T.round(y))
