"""Discrete Fourier transforms as NumPy's `numpy.fft` has them.  `T.fft` for users.

float16 and float32 give complex64; bools, integers and float64 give complex128.  C computes them by passes of small
radices, and lengths with a prime above 113 by Bluestein's convolution.  The root of the mean square of errors is about
half an ulp for each doubling of the length, at most.  A run raises ValueError for a transform of length 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...graph import Constant, Variable
from ...record.spelling import counted
from ..core.checks import describe, normalize_axes, normalize_axis
from ..core.keywords import with_numpys_keywords
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import Axis, DTypeLike, LengthLike, ShapeLike, TensorLike
from ..shapes.lengths import as_length, as_lengths, lengths_of
from .fourier import SCALED_BACK, Fourier

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


# --- one axis


def fft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The transform of `a` along `axis`, cut or filled with zeros to the length `n`.

    `norm` says which direction is divided by what: "backward" (as None) the inverse by n, "forward" the other one by n,
    "ortho" both by sqrt(n).
    """
    return _transform("fft", a, n, axis, norm)


def ifft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The inverse of `fft`."""
    return _transform("ifft", a, n, axis, norm)


def rfft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The first n // 2 + 1 frequencies of the transform of real numbers; the others are their conjugates.

    Raises TypeError for complex numbers.
    """
    return _transform("rfft", a, n, axis, norm)


def irfft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The inverse of `rfft`: n real numbers, 2 * (m - 1) of them from m frequencies unless `n` is given."""
    return _transform("irfft", a, n, axis, norm)


def hfft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The transform, n real numbers, of a signal with Hermitian symmetry of which `a` is the first half."""
    return irfft(T.conj(as_tensor(a)), n, axis, SCALED_BACK[_norm("hfft", norm)])


def ihfft(a: TensorLike, n: LengthLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The inverse of `hfft`."""
    return T.conj(rfft(a, n, axis, SCALED_BACK[_norm("ihfft", norm)]))


# --- several axes


def fft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Axis = (-2, -1), norm: str | None = None
) -> TensorVariable:
    """`fftn` over two axes."""
    return _over_axes("fft2", fft, a, s, axes, norm)


def ifft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Axis = (-2, -1), norm: str | None = None
) -> TensorVariable:
    """The inverse of `fft2`."""
    return _over_axes("ifft2", ifft, a, s, axes, norm)


def fftn(a: TensorLike, s: ShapeLike | None = None, axes: Axis = None, norm: str | None = None) -> TensorVariable:
    """The transform of `a` along each of `axes`, all of them for None, cut or filled with zeros to the lengths `s`.

    A length of -1 leaves an axis as it is.  `s` without `axes` is that of the last axes.
    """
    return _over_axes("fftn", fft, a, s, axes, norm)


def ifftn(a: TensorLike, s: ShapeLike | None = None, axes: Axis = None, norm: str | None = None) -> TensorVariable:
    """The inverse of `fftn`."""
    return _over_axes("ifftn", ifft, a, s, axes, norm)


def rfft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Axis = (-2, -1), norm: str | None = None
) -> TensorVariable:
    """`rfftn` over two axes."""
    return rfftn(a, s, axes, norm)


def irfft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Axis = (-2, -1), norm: str | None = None
) -> TensorVariable:
    """The inverse of `rfft2`."""
    return irfftn(a, s, axes, norm)


def rfftn(a: TensorLike, s: ShapeLike | None = None, axes: Axis = None, norm: str | None = None) -> TensorVariable:
    """`rfft` along the last of `axes`, then `fft` along the others."""
    a = as_tensor(a)
    places, lengths = _places("rfftn", a, s, axes)
    found = rfft(a, lengths[-1], places[-1], norm)
    for place, n in zip(places[-2::-1], lengths[-2::-1], strict=True):
        found = fft(found, n, place, norm)
    return found


def irfftn(a: TensorLike, s: ShapeLike | None = None, axes: Axis = None, norm: str | None = None) -> TensorVariable:
    """The inverse of `rfftn`: `ifft` along all but the last of `axes`, then `irfft` along that one."""
    found = as_tensor(a)
    places, lengths = _places("irfftn", found, s, axes)
    for place, n in zip(places[:-1], lengths[:-1], strict=True):
        found = ifft(found, n, place, norm)
    return irfft(found, lengths[-1], places[-1], norm)


# --- frequencies


def fftfreq(n: LengthLike, d: TensorLike = 1.0, *, dtype: DTypeLike = None) -> TensorVariable:
    """The frequencies of the elements of `fft`, in cycles a unit of the distance `d` between samples, as `dtype`."""
    count = as_length(n, "fftfreq", least=1)
    half = (count - 1) // 2 + 1
    places = T.arange(count)
    found = T.switch(T.lt(places, half), places, places - count) * _step(count, d)
    return found if dtype is None else T.cast(found, dtype)


def rfftfreq(n: LengthLike, d: TensorLike = 1.0, *, dtype: DTypeLike = None) -> TensorVariable:
    """The frequencies of the elements of `rfft`; see `fftfreq`."""
    count = as_length(n, "rfftfreq", least=1)
    found = T.arange(count // 2 + 1) * _step(count, d)
    return found if dtype is None else T.cast(found, dtype)  # type: ignore[no-any-return]


def _step(count: Any, d: TensorLike) -> TensorVariable:
    return 1.0 / (T.cast(count, "float64") * d)


def fftshift(x: TensorLike, axes: Axis = None) -> TensorVariable:
    """`x` with its halves along `axes` interchanged, so that the frequency 0 stands in the middle."""
    return _shifted("fftshift", as_tensor(x), axes, lambda n: n // 2)


def ifftshift(x: TensorLike, axes: Axis = None) -> TensorVariable:
    """The inverse of `fftshift`."""
    return _shifted("ifftshift", as_tensor(x), axes, lambda n: -(n // 2))


def _shifted(what: str, x: TensorVariable, axes: Axis, shift: Callable[[Any], Any]) -> TensorVariable:
    places = range(x.ndim) if axes is None else normalize_axes(axes, x.ndim, f"{what} of {describe(x)}")
    lengths: Any = lengths_of(x)
    for place in places:
        x = T.roll(x, shift(lengths[place]), place)
    return x


# --- the parts


def _transform(kind: str, a: TensorLike, n: LengthLike | None, axis: int, norm: str | None) -> TensorVariable:
    x, op = as_tensor(a), Fourier(kind, _norm(kind, norm))
    if kind == "rfft" and x.type.kind == "c":
        raise TypeError(f"rfft takes real numbers, got {describe(x)}; use T.fft.fft")
    place = normalize_axis(axis, x.ndim, f"{kind} of {describe(x)}")
    is_half, is_narrow = x.dtype == "float16", x.dtype in ("float16", "float32", "complex64")
    real, whole = ("float32", "complex64") if is_narrow else ("float64", "complex128")
    x = T.moveaxis(T.cast(x, real if kind == "rfft" else whole), place, -1)
    if kind != "irfft":
        return T.moveaxis(op(x if n is None else _of_length(x, _known(as_length(n, kind, least=1)))), -1, place)
    if n is None:
        length: Any = (_known(lengths_of(x)[-1]) - 1) * 2
    else:
        length = _known(as_length(n, kind, least=1))
        x = _of_length(x, length // 2 + 1)
    found = op(x, T.cast(length, "int64"))
    return T.moveaxis(T.cast(found, "float16") if is_half else found, -1, place)


def _known(length: Variable) -> Any:
    """A length as an int if it is known when the graph is built."""
    return int(length.data) if isinstance(length, Constant) else length


def _of_length(x: Any, n: Any) -> TensorVariable:
    """`x` with its last axis cut or filled with zeros to the length n."""
    *batch, length = map(_known, lengths_of(x))
    both = isinstance(length, int) and isinstance(n, int)
    missing = max(n - length, 0) if both else T.maximum(n - length, constant(0, "int64"))
    if not (both and missing == 0):
        x = T.concatenate([x, T.zeros((*batch, missing), x.dtype)], axis=-1)
    cut: TensorVariable = x[..., :n]
    return cut


def _norm(what: str, norm: str | None) -> str:
    if norm is None:
        return "backward"
    if norm not in SCALED_BACK:
        raise ValueError(f'{what}: norm must be None, "backward", "ortho" or "forward", got {norm!r}')
    return norm


def _over_axes(
    what: str, transform: Callable[..., TensorVariable], a: TensorLike, s: ShapeLike | None, axes: Axis,
    norm: str | None,
) -> TensorVariable:  # fmt: skip
    found = as_tensor(a)
    places, lengths = _places(what, found, s, axes)
    for place, n in zip(reversed(places), reversed(lengths), strict=True):
        found = transform(found, n, place, norm)
    return found


def _places(what: str, x: Variable, s: ShapeLike | None, axes: Axis) -> tuple[list[int], list[Any]]:
    """Return the axes to transform along, in order, and the length for each axis; None keeps the axis's length."""
    given: list[Any] = [] if s is None else list(as_lengths(s, "reshape"))
    if axes is None:
        places = list(range(x.ndim - len(given) if given else 0, x.ndim))
        if given and len(given) > x.ndim:
            raise ValueError(
                f"{what}: s has {counted(len(given), 'length')}, {describe(x)} has {counted(x.ndim, 'axis')}"
            )
    else:
        several: Sequence[int] = axes if isinstance(axes, (tuple, list)) else (axes,)
        places = [normalize_axis(axis, x.ndim, f"{what} of {describe(x)}") for axis in several]
    if not places:
        raise ValueError(f"{what}: at least one axis is needed, got axes={axes!r} for {describe(x)}")
    if given and len(given) != len(places):
        raise ValueError(f"{what}: s has {counted(len(given), 'length')} for {counted(len(places), 'axis')}")
    own = lengths_of(x)
    given = [own[place] if _is_own(n) else n for place, n in zip(places, given, strict=False)]
    return places, given or [None] * len(places)


def _is_own(n: Any) -> bool:
    return getattr(n, "data", None) == -1


with_numpys_keywords(globals(), "fft.")
