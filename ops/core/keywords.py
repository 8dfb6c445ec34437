"""NumPy's keywords: its argument names for our functions, and its options that do not change values.

    T.median(a=x, out=None)          median(x)
    T.add(x1=a, x2=b)                add(a, b)
    T.nn.softmax(x, dim=1)           TypeError: softmax: there is no argument dim; use axis=1

    np.clip(x, 0, 1, y)            clip(x, 0, 1), stored in y
    x.std(0, None, None, 1)        std(x, 0, None, ddof=1)

A function's own parameters come first; what they lack stands in the tables below, by NumPy's name.  Errors know the
names of PyTorch and JAX.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import CO_VARKEYWORDS
from types import FunctionType
from typing import Any

from .checks import shown


def _table(rows: Mapping[str, str]) -> dict[str, list[str]]:
    """Return function -> the keys of its rows."""
    found: dict[str, list[str]] = {}
    for key, functions in rows.items():
        for function in functions.split():
            found.setdefault(function, []).append(key)
    return found


FIRST = _table({
    "a": """
        all amax amin any argmax argmin argpartition argsort argwhere around average clip count_nonzero cumprod cumsum
        diagonal diff expand_dims flatnonzero full_like histogram histogram_bin_edges linalg.matrix_norm max mean median
        min moveaxis nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod
        nanquantile nanstd nansum nanvar nonzero ones_like partition percentile permute_dims prod ptp quantile ravel
        repeat reshape roll rollaxis round shape size sort squeeze std sum swapaxes take trace transpose var zeros_like
    """,
    "m": "flip fliplr flipud rot90 tril triu",
    "arr": "append take_along_axis",
    "array": "broadcast_to pad",
    "ary": "array_split dsplit hsplit split vsplit",
    "tup": "column_stack dstack hstack vstack",
    "ar": "unique",
    "v": "diag",
    "A": "tile linalg.matrix_rank",
    "N": "eye tri",
    "prototype": "empty_like",
    "x": "linalg.svdvals",
    "x1": "divmod float_power fmax fmin heaviside logaddexp2 matmul matvec vecdot vecmat linalg.cross linalg.matmul "
          "linalg.outer linalg.tensordot linalg.vecdot",
})  # fmt: skip
"""NumPy's name of the first argument."""
SECOND = _table({
    "x2": " ".join(name for name, keys in FIRST.items() if keys == ["x1"]),
    "M": "eye tri",
    "shape": "reshape",
    "a": "compress",
    "arr": "extract",
})  # fmt: skip
_NAMES = (FIRST, SECOND)

OPTIONS = _table({
    "out": """
        all amax amin any argmax argmin around choose clip compress concat concatenate cumprod cumsum
        cumulative_prod cumulative_sum dot einsum fft.fft fft.fft2 fft.fftn fft.hfft fft.ifft fft.ifft2
        fft.ifftn fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn isneginf isposinf
        linalg.multi_dot max mean median min nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian
        nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar outer percentile prod ptp quantile round
        stack std sum take trace var
    """,
    "order": "argpartition argsort copy empty empty_like eye full full_like ones ones_like partition ravel reshape "
             "sort zeros zeros_like",
    "device": "arange array asanyarray asarray astype empty empty_like eye fft.fftfreq fft.rfftfreq full full_like "
              "linspace ones ones_like zeros zeros_like",
    "like": "arange array asanyarray asarray ascontiguousarray asfortranarray empty eye full identity ones require tri "
            "zeros",
    "ndmax": "array",
    "subok": "array broadcast_arrays broadcast_to copy empty_like full_like ones_like zeros_like",
    "copy": "astype meshgrid nan_to_num reshape",
    "overwrite_input": "median nanmedian nanpercentile nanquantile percentile quantile",
    "assume_unique": "isin",
    "kind": "argpartition isin partition",
    "weights": "nanpercentile nanquantile percentile quantile",
})  # fmt: skip
ACCEPTED: dict[str, tuple[Any, ...]] = {
    "ndmax": (0,),
    "order": (None, "C", "K", "A"), "device": (None, "cpu"), "subok": (True, False), "copy": (None, True, False),
    "overwrite_input": (True, False), "assume_unique": (True, False), "kind": (None, "sort", "table", "introselect"),
}  # fmt: skip
"""The values of an option that a graph accepts without effect; only None where there is no entry."""
_NEW = frozenset((
    "copy", "empty", "empty_like", "eye", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like",
))  # fmt: skip
"""Functions whose results are new, so that their order in memory changes no value."""
_INSTEAD = {"out": "a graph has no memory to write to; assign the result"}
UFUNC = {"out": (None,), "where": (True,), "casting": ("no", "equiv", "safe", "same_kind", "unsafe"),
         "order": ACCEPTED["order"], "dtype": (None,), "subok": (True, False)}  # fmt: skip
"""The options of NumPy's elementwise functions."""
UFUNCS = frozenset(
    ["fabs", "frexp", "modf", "positive", *(name for name in FIRST if FIRST[name] == ["x1"] and "." not in name)]
)
"""Functions of ours that are elementwise functions of NumPy."""


_OURS = {
    "dim": ("axis", "axes"), "dims": ("axis", "axes"), "axes": ("axis",), "axis": ("axes",), "keepdim": ("keepdims",),
    "keep_dims": ("keepdims",), "input": ("x", "indices", "labels"), "input1": ("x1",), "input2": ("x2",),
    "tensor": ("labels", "x"), "tensors": ("tensors", "arrays"), "logits": ("x",), "other": ("y",),
    "weight": ("w", "weights", "gamma"), "kernel_size": ("kernel",), "negative_slope": ("slope",),
    "num_classes": ("classes",), "running_mean": ("mean",), "running_var": ("variance",), "bias": ("beta",),
    "normalized_shape": ("axis",), "size_average": ("reduction",), "reduce": ("reduction",), "descending": ("largest",),
    "unbiased": ("ddof",), "correction": ("ddof",),
}  # fmt: skip
"""Names of arguments in PyTorch and JAX, and those that they may have here."""
_OTHER_VALUES = frozenset(("normalized_shape", "size_average", "reduce", "unbiased"))
"""Names of arguments whose values differ here as well."""
_LEFT_OUT = {
    "inplace": "leave it out: tensors are values, and memory is reused where that is safe",
    "training": "leave it out in training; T.nn.by_phase(x, y) has another value in inference",
    "dtype": "cast the operand or the result by T.cast",
    "max_norm": "scale the rows first: weights * T.minimum(1, max_norm / T.linalg.norm(weights, axis=1, "
                "keepdims=True))",
    "norm_type": "it goes with max_norm, whose norm is that of T.linalg.norm(weights, ord=norm_type, axis=1)",
    "scale_grad_by_freq": "divide the gradient's rows: g / T.maximum(1, T.bincount(T.ravel(indices), "
                          "minlength=weights.shape[0]))[:, None]",
    "sparse": "leave it out: the gradient is a dense matrix to which rows are added",
    "include_last_offset": "leave out the last offset: offsets[:-1]",
}  # fmt: skip
_EXTENDED = frozenset((*FIRST, *SECOND, *OPTIONS, *UFUNCS))
_HINTED = frozenset(("axis", "axes", "keepdims"))
"""Arguments whose functions get a hint for another library's name of them."""


def with_numpys_keywords(namespace: dict[str, Any], prefix: str) -> None:
    """Let the functions of a namespace accept NumPy's keywords; `prefix` is that of their names in the tables."""
    for name, function in list(namespace.items()):
        if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
            continue
        if prefix == "nn." or prefix + name in _EXTENDED or _has_axis(function):
            namespace[name] = accepting_numpys(prefix + name, function)


def with_hints(kind: type) -> None:
    """Let the methods of a class that have an axis name it where a call uses another library's word."""
    for name, method in list(vars(kind).items()):
        if isinstance(method, FunctionType) and _has_axis(method):
            hinted = accepting_numpys(f"x.{name}", method)
            hinted.__module__ = method.__module__
            setattr(kind, name, hinted)


def _parameters(function: FunctionType) -> tuple[str, ...]:
    """Return the names of the arguments of a function."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _is_open(function: FunctionType) -> bool:
    """Whether a function takes any keyword."""
    return bool(function.__code__.co_flags & CO_VARKEYWORDS)


def _has_axis(function: FunctionType) -> bool:
    """Whether a function has arguments that other libraries call by other names, and refuses those."""
    return not _is_open(function) and not _HINTED.isdisjoint(_parameters(function))


def accepting_numpys(name: str, function: FunctionType) -> Callable[..., Any]:
    """Return `function` with the keywords of NumPy's function `name`; itself if that has no others."""
    own, is_open = _parameters(function), _is_open(function)
    names = {key: place for place, table in enumerate(_NAMES) for key in table.get(name, ()) if key not in own}
    options = {key: _accepted(key) for key in OPTIONS.get(name, ()) if key not in own}
    if name in _NEW:
        options["order"] = (*options.get("order", ()), "F")
    options |= UFUNC if name in UFUNCS else {}
    if not names and not options and (is_open or not own):
        return function
    known = set(own)

    @functools.wraps(function)
    def _call(*arguments: Any, **keywords: Any) -> Any:  # errors skip names like this, see `provenance.asked`
        if keywords and not keywords.keys() <= known:
            keywords = without(name, options, keywords)
            arguments, keywords = placed(name, arguments, names, own, keywords)
            if own and not is_open and not keywords.keys() <= known:
                raise TypeError(_hint(name, keywords, own))
        return function(*arguments, **keywords)

    _call.options = tuple(options)  # type: ignore[attr-defined]
    space = name.rpartition(".")[0]
    _call.__module__ = f"{__package__.removesuffix('.core')}.{space}".rstrip(".")  # where pickle finds it by its name
    return _call


def _hint(name: str, keywords: Mapping[str, Any], own: Sequence[str]) -> str:
    """Return the message for the first keyword that a function does not have."""
    key = next(k for k in keywords if k not in own)
    value = keywords[key]
    ours = next((each for each in _OURS.get(key, ()) if each in own), None)
    if ours is None:
        fix = _LEFT_OUT.get(key) or f"expected {', '.join(k for k in own if k != 'self')}"
    elif key in _OTHER_VALUES or not isinstance(value, (int, str, tuple, list)):
        fix = f"use {ours}="
    else:
        fix = f"use {ours}={value!r}"
    return f"{name.rpartition('.')[2]}: there is no argument {key}; {fix}"


def _accepted(option: str) -> tuple[Any, ...]:
    accepted = ACCEPTED.get(option, (None,))
    return (*accepted, None) if False in accepted else accepted  # NumPy takes None for False


def without(name: str, options: Mapping[str, Sequence[Any]], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords without options.  Raises TypeError for an option value that has an effect."""
    for option in keywords.keys() & options.keys():
        given, accepted = keywords[option], options[option]
        if not any(given is value or (isinstance(given, str | int) and given == value) for value in accepted):
            expected = " or ".join(map(repr, accepted))
            raise TypeError(
                f"{name}: {option} must be {expected}, got {shown(given)}"
                + (f"; {_INSTEAD[option]}" if option in _INSTEAD else "")
            )
    return {key: value for key, value in keywords.items() if key not in options}


def placed(
    name: str, arguments: tuple[Any, ...], names: Mapping[str, int], own: Sequence[str], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments given by NumPy's names in their positions, or under the names of our function."""
    given = sorted((names[key], key) for key in keywords.keys() & names.keys())
    rest = {key: value for key, value in keywords.items() if key not in names}
    for place, key in given:
        if place < len(arguments):
            raise TypeError(f"{name}: argument {place} is given by position and as {key}")
        if place == len(arguments):
            arguments = (*arguments, keywords[key])
        else:
            rest[own[place]] = keywords[key]
    return arguments, rest


def operands_by_name(
    name: str, names: Sequence[str], inputs: Sequence[Any], keywords: dict[str, Any]
) -> list[Any]:
    """The operands of an elementwise op given by `names`; its options are those of `UFUNC`.

    Raises TypeError for another keyword, and for an operand that is missing or given twice.
    """
    found = list(inputs)
    for key in without(name, UFUNC, keywords):
        if key not in names:
            raise TypeError(f"{name} takes no keyword {key!r}; its operands are {', '.join(names)}")
        if names.index(key) < len(inputs):
            raise TypeError(f"{name}: operand {names.index(key)} is given by position and as {key}")
    for key in names[len(inputs) :]:
        if key not in keywords:
            raise TypeError(f"{name}: operand {key} is missing")
        found.append(keywords[key])
    return found


def operand_names(own: tuple[str, ...], arity: int | None) -> tuple[str, ...]:
    """The names of the operands of an elementwise op: its own, or NumPy's; for a fold, of the first two operands."""
    return own or (("x",) if arity == 1 else ("x1", "x2"))


# --- NumPy's order of arguments

_BY_NAME = frozenset((
    "out", "dtype", "keepdims", "ddof", "order", "subok", "copy", "device", "density", "weights", "overwrite_input",
    "method", "kind", "mode", "assume_unique", "invert", "initial", "where", "nan", "posinf", "neginf",
))  # fmt: skip
"""Arguments of NumPy's functions that ours may have at another place, or by name only."""


def with_options_by_name(
    function: Any, ours: Any, args: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Return the arguments of a call of NumPy's `function`: by name from the first option that `ours` has elsewhere.

    Options with NumPy's default are left out.  Raises TypeError for an argument that is given twice.
    """
    if len(args) < 2:
        return args, options
    names, defaults = _positions(function)
    first = _first_option(function, ours)
    if first is None or first >= len(args) or len(args) > len(names):
        return args, options
    given = dict(zip(names[first:], args[first:], strict=False))
    for name in given.keys() & options.keys():
        raise TypeError(f"{function.__name__}() got multiple values for argument {name!r}")
    return args[:first], {**{k: v for k, v in given.items() if v is not defaults[k]}, **options}


@cache
def _positions(function: Any) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """Return the names of the positional arguments of a function, and their defaults; none without a signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return (), {}
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return tuple(p.name for p in positional), {p.name: p.default for p in positional}


@cache
def _first_option(function: Any, ours: Any) -> int | None:
    """Return the position of the first option of NumPy's function that is not at this place in ours."""
    names, own = _positions(function)[0], _positions(ours)[0]
    return next((k for k, name in enumerate(names) if name in _BY_NAME and own[k : k + 1] != (name,)), None)
