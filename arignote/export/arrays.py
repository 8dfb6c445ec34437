"""Trees of arrays in files: `ag.save`, `ag.load`, in the format safetensors.

    8 bytes     length of the header, little endian
    header      JSON: {"name": {"dtype": "F64", "shape": [2, 3], "data_offsets": [0, 48]}, ..., "__metadata__": {...}}
    data        the elements, each array after the other, without gaps

The header is checked before an array is made, and arrays take no more memory than the file has bytes; nothing in a file
is executed.  Source of the format: https://github.com/huggingface/safetensors (format 0.3).  The package `safetensors`
is not needed; tests compare with it.
"""

from __future__ import annotations

import json
import math
import mmap as _mmap
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..graph import Variable
from ..ops.core.checks import shown
from ..ops.core.shared import SharedVariable
from ..record.quoting import one_line
from ..tree import NONE, Form, flat, is_named, places, unflat

DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "I64": "int64", "I32": "int32", "I16": "int16",
    "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool", "C64": "complex64",
}  # fmt: skip
"""Names of dtypes in files -> NumPy's."""
_CODES = {name: code for code, name in DTYPES.items()} | {"bfloat16": "BF16"}
_SUFFIX = ".safetensors"
_IN_FOLDER = "arrays" + _SUFFIX
_LONGEST_HEADER = 100_000_000
"""Bytes; the limit of the format."""
_DEEPEST = 100
"""Most levels of a structure in a file."""
_STRUCTURE, _COMPLEX = "arignote.structure", "arignote.complex128"
"""Names of our metadata: the tree, and the names of arrays whose last axis holds real and imaginary parts."""


def save(path: str | os.PathLike[str], tree: Any, metadata: Mapping[str, str] | None = None) -> Path:
    """Write the arrays of a tree into a file of the format safetensors, and return its path.

        ag.save("model.safetensors", params); params = ag.load("model.safetensors")

    Arrays are named by their paths, as `encoder.w`, so that other programs read them.  The structure is kept as well,
    dataclasses and named tuples as dicts.  The file is replaced as a whole, so a reader sees the old one or the new.

    Args:
        path: a file that ends in ".safetensors", or a folder, which gets the file "arrays.safetensors".
        tree: arrays, numbers and shared variables in lists, tuples, dicts, dataclasses, nested as you like.
        metadata: texts by name, which `ag.load` does not read.

    Raises TypeError, with the path in the tree, for a leaf that is none of these, for a dtype that the format lacks,
    and for keys other than texts and integers; OSError if the file cannot be written.
    """
    leaves: list[Any] = []
    form = flat(tree, leaves)
    paths = places(form, "tree")
    arrays = [_array(value, where) for value, where in zip(leaves, paths, strict=True)]
    names = _names(form)
    doubled = next((n for k, n in enumerate(names) if n in names[:k]), None) if len(set(names)) < len(names) else None
    if doubled is not None:
        raise ValueError(f"save: two arrays have the name {doubled!r}; use keys without dots")
    texts = {str(k): str(v) for k, v in (metadata or {}).items()}
    texts[_STRUCTURE] = json.dumps(_as_json(form, iter(names)), separators=(",", ":"))
    complexes = [n for n, a in zip(names, arrays, strict=True) if a.dtype == np.complex128]
    if complexes:
        texts[_COMPLEX] = json.dumps(complexes, separators=(",", ":"))
    several = {n: _plain(a, where) for n, a, where in zip(names, arrays, paths, strict=True)}
    return _written(_file_of(path, "save", makes=True), several, texts)


def load(path: str | os.PathLike[str], like: Any = None, mmap: bool = False) -> Any:
    """Return the tree of arrays in a file of the format safetensors.

    A file of another program gives a dict by name.

    Args:
        path: a file, or a folder with the file "arrays.safetensors", as `ag.save` writes it.
        like: a tree with the structure of the result, of dataclasses for example.  Its shared variables get the values
            of the file, if all of them fit, and stay in the result; other leaves give way to arrays.
        mmap: whether arrays are read from the file when they are used.  They are read-only, and the file must stay as
            it is.

    bfloat16 is float32 without the package `ml_dtypes`.

    Raises ValueError, with the path, for a file that is damaged, hostile or of another format, and for arrays that do
    not fit `like`; OSError if the file cannot be read.
    """
    file = _file_of(path, "load")
    try:
        header, arrays = _read(file, mmap)
        metadata = header.get("__metadata__", {})
        _join_complex(metadata, arrays)
        form, names = _form_of(metadata, arrays)
    except (_Damaged, RecursionError) as error:
        text = "its header is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"load: {one_line(str(file))}: {text}") from None
    if like is None:
        return unflat(form, iter([arrays[n] for n in names]))
    return _in_form_of(like, arrays, file)


class _Damaged(ValueError):
    """A file that is not as the format says."""


# --- names and structures


def _file_of(path: str | os.PathLike[str], what: str, makes: bool = False) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{what}: path is {shown(path)}; expected the path of a file, such as 'a.safetensors'")
    found = Path(path)
    if found.name.endswith(_SUFFIX) or (not makes and found.is_file()):
        return found
    if makes:
        found.mkdir(parents=True, exist_ok=True)
    return found / _IN_FOLDER


def _names(form: Form, prefix: str = "") -> list[str]:
    """Return a name for each leaf: the keys on its path, with dots between."""
    if form is None:
        return [prefix or "array"]
    if type(form) is not tuple:
        return []
    inner = [(f"{prefix}.{key}" if prefix else str(key), part) for key, part in _parts(form)]
    return [name for path, part in inner for name in _names(part, path)]


def _parts(form: Form) -> list[tuple[Any, Form]]:
    """Return the parts of a container with their keys: names of fields, positions."""
    kind, parts, *_ = form
    return list(parts) if is_named(form) else list(zip(getattr(kind, "_fields", range(len(parts))), parts, strict=True))


def _as_json(form: Form, names: Any) -> Any:
    """Return a structure as JSON: the name of a leaf, null, or [kind, parts]."""
    if form is None:
        return next(names)
    if form is NONE:
        return None
    kind, parts, *_ = form
    if is_named(form) or hasattr(kind, "_fields"):
        pairs = _parts(form)
        strange = next((k for k, _ in pairs if type(k) not in (str, int)), None)
        if strange is not None:
            raise TypeError(f"save: the key {strange!r} is a {type(strange).__name__}; expected a text or an integer")
        return ["dict", [[k, _as_json(part, names)] for k, part in pairs]]
    return ["tuple" if issubclass(kind, tuple) else "list", [_as_json(part, names) for part in parts]]


def _form_of(metadata: dict[str, str], arrays: dict[str, np.ndarray]) -> tuple[Form, list[str]]:
    """Return the structure in the metadata of a file, or a dict by name, and the names of its leaves in order."""
    if _STRUCTURE not in metadata:
        return (dict, tuple((n, None) for n in arrays)), list(arrays)
    names: list[str] = []
    form = _from_json(_json(metadata[_STRUCTURE], "its structure"), names, 0)
    if sorted(names) != sorted(arrays):
        raise _Damaged("its structure does not have the names of its arrays")
    return form, names


def _from_json(value: Any, names: list[str], depth: int) -> Form:
    if depth > _DEEPEST:
        raise _Damaged(f"its structure is nested more than {_DEEPEST} levels deep")
    if isinstance(value, str):
        names.append(value)
        return None
    if value is None:
        return NONE
    match value:
        case ["dict", [*pairs]] if all(_is_pair(p) for p in pairs) and len({p[0] for p in pairs}) == len(pairs):
            return dict, tuple([(k, _from_json(part, names, depth + 1)) for k, part in pairs])
        case ["list" | "tuple" as kind, [*parts]]:
            return {"list": list, "tuple": tuple}[kind], tuple([_from_json(p, names, depth + 1) for p in parts])
    raise _Damaged("its structure is none of ours")


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and type(value[0]) in (str, int)


def _in_form_of(like: Any, arrays: dict[str, np.ndarray], file: Path) -> Any:
    """Return the arrays in the form of `like`; its shared variables get their values, all or none."""
    leaves: list[Any] = []
    form = flat(like, leaves)
    names, paths = _names(form), places(form, "like")
    where = f"load: {one_line(str(file))}"
    missing = [n for n in names if n not in arrays]
    unknown = [n for n in arrays if n not in names]
    if missing or unknown:
        faults = [f"lacks {', '.join(map(repr, missing[:3]))}"] * bool(missing)
        faults += [f"has {', '.join(map(repr, unknown[:3]))} besides"] * bool(unknown)
        raise ValueError(f"{where}: the file {' and '.join(faults)}; expected the arrays of like")
    for name, path, leaf in zip(names, paths, leaves, strict=True):
        found = arrays[name]
        kind = leaf.type if isinstance(leaf, Variable) else np.asarray(leaf)
        shape = kind.shape
        fits = found.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
        if not fits or str(found.dtype) != str(kind.dtype):
            got = f"{found.dtype}{list(found.shape)}"
            raise ValueError(f"{where}: {path}: expected {kind.dtype}{list(shape)}, got {got}")
    made = []
    for name, leaf in zip(names, leaves, strict=True):
        if isinstance(leaf, SharedVariable):
            leaf.set_value(arrays[name])
        made.append(leaf if isinstance(leaf, SharedVariable) else arrays[name])
    return unflat(form, iter(made))


# --- arrays


def _array(value: Any, path: str) -> np.ndarray:
    if isinstance(value, SharedVariable):
        value = value.get_value(borrow=True)
    if isinstance(value, Variable):
        raise TypeError(f"save: {path} is the symbolic variable {value.name or value.type}; save its value")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        array = np.empty(0, object)
    if array.dtype.name not in _CODES and array.dtype != np.complex128:
        got = f"{shown(value)}, of dtype {array.dtype}"
        raise TypeError(f"save: {path} is {got}; expected an array of numbers or bools")
    return array


def _plain(array: np.ndarray, path: str) -> np.ndarray:
    """Return the array in C order, little endian; complex128 as pairs of float64."""
    found = np.ascontiguousarray(array).reshape(array.shape)  # which makes an axis of a scalar
    found = found.astype(found.dtype.newbyteorder("<"), copy=False)
    return found.view(np.float64).reshape(*array.shape, 2) if array.dtype == np.complex128 else found


def _written(file: Path, arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> Path:
    """Write a file beside its place, then rename it."""
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": metadata}
    begin = 0
    for name in order:
        array = arrays[name]
        end = begin + array.nbytes
        header[name] = {"dtype": _CODES[array.dtype.name], "shape": [*array.shape], "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    handle, beside = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(len(text).to_bytes(8, "little"))
            out.write(text)
            for name in order:
                out.write(arrays[name].reshape(-1).view(np.uint8).data)
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, file)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    return file


def _umask() -> int:
    """Return the mask of permissions of new files, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _read(file: Path, mmap: bool) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file.  Raises _Damaged for a file that is not as the format says."""
    with open(file, "rb") as source:
        size = os.fstat(source.fileno()).st_size
        length = int.from_bytes(source.read(8), "little")
        if size < 8 or not 2 <= length <= min(size - 8, _LONGEST_HEADER):
            raise _Damaged("it is no file of the format safetensors, or it is cut off")
        header = _json(source.read(length), "its header")
        entries = _entries(header, size - 8 - length)
        if mmap:
            mapped: Any = _mmap.mmap(source.fileno(), 0, access=_mmap.ACCESS_READ)
            made = {n: np.frombuffer(mapped, d, math.prod(s), 8 + length + b) for n, (d, s, b) in entries.items()}
        else:
            made = {n: np.empty(math.prod(s), d) for n, (d, s, _) in entries.items()}
            for name in sorted(entries, key=lambda n: entries[n][2]):
                if source.readinto(made[name].view(np.uint8)) != made[name].nbytes:  # type: ignore[arg-type]
                    raise _Damaged("it is cut off")
    return header, {n: _native(made[n], header[n]["dtype"]).reshape(s) for n, (_, s, _) in entries.items()}


def _entries(header: Any, size: int) -> dict[str, tuple[np.dtype, tuple[int, ...], int]]:
    """Return dtype, shape and first byte of each array.  Raises _Damaged for entries that do not fill `size` bytes."""
    if not isinstance(header, dict):
        raise _Damaged("its header is no object")
    metadata = header.get("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise _Damaged("its metadata are no texts")
    found: dict[str, tuple[np.dtype, tuple[int, ...], int]] = {}
    spans = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        match entry:
            case {"dtype": str(code), "shape": [*shape], "data_offsets": [begin, end]} if len(entry) == 3:
                pass
            case _:
                raise _Damaged(f"the entry of {shown(name)} is {shown(entry)}; expected dtype, shape and data_offsets")
        if not all(type(n) is int and 0 <= n < 2**63 for n in (*shape, begin, end)) or len(shape) > 32:
            raise _Damaged(f"the entry of {shown(name)} has lengths that no array has: {shown(entry)}")
        dtype = _dtype(code, name)
        if end - begin != math.prod(shape) * dtype.itemsize or end > size:
            raise _Damaged(f"{shown(name)} of shape {shape} does not fill its bytes {begin} to {end} of {size}")
        found[name] = dtype, tuple(shape), begin
        spans.append((begin, end))
    at = 0
    for begin, end in sorted(spans):
        if begin != at:
            raise _Damaged(f"its arrays overlap, or have a gap, at byte {min(at, begin)}")
        at = end
    if at != size:
        raise _Damaged(f"it has {size - at} bytes behind its arrays")
    return found


def _dtype(code: str, name: str) -> np.dtype:
    """Return the dtype in which elements are read."""
    if code in DTYPES:
        return np.dtype(DTYPES[code]).newbyteorder("<")
    if code == "BF16":
        return np.dtype("<u2")
    known = ", ".join([*DTYPES, "BF16"])
    raise _Damaged(f"{shown(name)} has the dtype {shown(code)}; expected one of {known}")


def _native(array: np.ndarray, code: str) -> np.ndarray:
    """Return elements in the byte order of the machine; bfloat16 as its own dtype if there is one, else as float32."""
    if code != "BF16":
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    try:
        import ml_dtypes
    except ImportError:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.uint16, copy=False).view(ml_dtypes.bfloat16)


def _join_complex(metadata: dict[str, str], arrays: dict[str, np.ndarray]) -> None:
    """Make complex numbers of the pairs that the metadata names."""
    names = _json(metadata[_COMPLEX], "its list of complex arrays") if _COMPLEX in metadata else []
    for name in names if isinstance(names, list) else [names]:
        pairs = arrays.get(name) if isinstance(name, str) else None
        if pairs is None or pairs.dtype != np.float64 or pairs.shape[-1:] != (2,):
            raise _Damaged(f"{shown(name)} is no array of pairs")
        arrays[name] = pairs.reshape(-1).view(np.complex128).reshape(pairs.shape[:-1])


def _json(text: str | bytes, what: str) -> Any:
    """Return JSON whose objects have no key twice.  Raises _Damaged for other text."""
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except (ValueError, UnicodeDecodeError) as error:
        raise _Damaged(f"{what} is no JSON: {shown(str(error))}") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands in it twice")
    return found
