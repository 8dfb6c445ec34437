"""Convolutions: products of a kernel and every window of its size, summed; the kernel is not flipped.

    Convolution(stride, dilation, groups)(x, w)               y[n, o, j] = sum w[o, c, k] x[n, c, j stride + k dilation]
    KernelGradient(stride, dilation, groups)(x, g, *lengths)  w[o, c, k] = sum g[n, o, j] x[n, c, j stride + k dilation]

x is (images, channels, positions ...), w (outputs, channels / groups, positions ...): output o reads the channels of
its group.  Both ops are derivatives of one form of three arguments, and so is the third one, `input_gradient`, a
convolution of what has been spread out; so each can be differentiated any number of times.  There is no padding here:
`T.pad` does it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable, dims
from ...graph.types import dtype_name
from ...record import record
from ...record.spelling import counted
from ..control.batching import Examples, Flags, all_broadcast, merged, moved, require_shared, split
from ..core.checks import describe, require_index_scalar, shown, unpacked
from ..core.namespace import T
from ..core.operands import conjugated, in_joint_dtype
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import DTypeLike, TensorLike
from ..elementwise import costs
from ..linalg.products import with_room
from ..shapes.lengths import known_length, lengths_of, tensor_to_dim
from ..shapes.shape import DimShuffle, reshape
from ..shapes.windows import MOST, Lengths, Numbers, Windowed, no_window, numbers_an_axis

__all__ = ["conv1d", "conv2d", "conv3d"]


@record(repr=False)
class Convolving(Windowed):
    """Base of both ops: `stride` and `dilation` have a number per axis of positions."""

    stride: Numbers
    dilation: Numbers
    groups: int = 1
    second: ClassVar[str]
    picture: ClassVar[Kind] = Kind.PRODUCT

    def __post_init__(self) -> None:
        if not self.stride or len(self.stride) != len(self.dilation):
            raise ValueError(f"{self.name} takes a stride and a dilation an axis, got {self.stride}, {self.dilation}")
        numbers = (*self.stride, *self.dilation, self.groups)
        if min(numbers) < 1 or max(numbers) > MOST:
            raise ValueError(f"{self.name}: stride, dilation and groups must be 1 to {MOST}, got {self.parameters()}")

    def check(self, inputs: Sequence[Variable]) -> tuple[Variable, Variable]:
        """Return the first two inputs.  Raises TypeError for another rank or dtype."""
        if len(inputs) < 2:
            raise TypeError(f"{self.name} takes x and {self.second}, got {counted(len(inputs), 'input')}")
        rank = len(self.stride) + 2
        for i in inputs[:2]:
            if i.ndim != rank:
                raise TypeError(f"{self.name} takes tensors of rank {rank}, got {describe(i)}")
            if i.dtype == "bool" or i.dtype != inputs[0].dtype:
                raise TypeError(f"{self.name} takes numbers of one dtype, got {describe(inputs[0])} and {describe(i)}")
        return inputs[0], inputs[1]

    def by_groups(self, x: np.ndarray, kernel: Numbers) -> np.ndarray:
        """Return all windows of x: (images, groups, channels of a group, *kernel, *positions), a view."""
        images, channels, *lengths = x.shape
        return self.windows(x.reshape(images, self.groups, channels // self.groups, *lengths), kernel)


def _wide(x: np.ndarray) -> np.ndarray:
    """Return float16 as float32, the dtype of its products and sums."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _joint(name: str, what: str, a: Lengths, b: Lengths) -> Lengths:
    for n, m in zip(a, b, strict=True):
        if n is not None and m is not None and n != m:
            raise ValueError(f"{name}: {what} differ, {n} and {m}")
    return tuple(m if n is None else n for n, m in zip(a, b, strict=True))


@record(repr=False)
class Convolution(Convolving):
    """`convolution(x, w)`: each output is the sum of the products of its kernel and a window of x.

    float16 is computed in float32; integers wrap around.  Raises ValueError for a kernel that no window has room for.
    """

    name = "convolution"
    second = "w"
    operations: ClassVar[Callable[..., Any]] = costs.windows

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, w = self.check(inputs)
        if len(inputs) != 2:
            raise TypeError(f"{self.name} takes 2 inputs, got {len(inputs)}")
        (n, channels, *_), (outputs, group, *kernel) = x.type.shape, w.type.shape
        if channels is not None and group is not None and channels != group * self.groups:
            raise ValueError(
                f"{self.name}: {describe(w)} has kernels for {group} * {self.groups} channels (times groups), "
                f"{describe(x)} has {channels}"
            )
        if outputs is not None and outputs % self.groups:
            raise ValueError(
                f"{self.name}: the {outputs} outputs of {describe(w)} are no multiple of groups, {self.groups}"
            )
        return (x.type.with_shape((n, outputs, *self.positions(x.type.shape, kernel))),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w = values
        if x.shape[1] != w.shape[1] * self.groups or w.shape[0] % self.groups:
            raise ValueError(f"{self.name}: shapes {x.shape} and {w.shape} do not fit {self.groups} groups")
        kernel = w.shape[2:]
        counts = self.positions(x.shape, kernel)
        windows = self.by_groups(_wide(x), kernel)
        depth, outputs = math.prod(w.shape[1:]), w.shape[0] // self.groups
        columns = windows.reshape(x.shape[0], self.groups, depth, math.prod(windows.shape[3 + len(kernel) :]))
        with np.errstate(all="ignore"):
            y = np.matmul(_wide(w).reshape(self.groups, outputs, depth), columns)
        return (y.reshape(x.shape[0], w.shape[0], *counts).astype(x.dtype, copy=False),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        x, w = inputs
        return ((x[0], w[0], *self.position_dims(x[2:], w[2:])),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x, w) = cotangents, node.inputs
        if g is None:
            return [None, None]
        back = KernelGradient(self.stride, self.dilation, self.groups)
        return [input_gradient(self, g, conjugated(w), lengths_of(x)), back(conjugated(x), g, *lengths_of(w)[2:])]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        """Take examples of images as more images, those of kernels as groups; else compute all pairs."""
        x, w = inputs
        if not flags[1]:
            return split(self(merged(x, 0), w), 0, examples.length)
        x, w = all_broadcast(inputs, flags, examples)
        count = known_length(examples.length)
        if count is not None:
            found = replace(self, groups=self.groups * count)(merged(T.swapaxes(x, 0, 1), 1), merged(w, 0))
            return moved(split(found, 1, examples.length), 1)
        groups = constant(self.groups, "int64")
        by_group = T.swapaxes(split(w, 1, groups), 0, 1)
        pairs = split(self(merged(x, 0), merged(merged(by_group, 0), 0)), 0, examples.length)
        each = split(split(pairs, 2, groups), 3, examples.length)  # examples, images, groups, examples, ...
        return merged(_with_itself(each, 0), 2)


@record(repr=False)
class KernelGradient(Convolving):
    """`kernel_gradient(x, g, *lengths)`: the cotangent of the kernels, of the given lengths, of a convolution."""

    name = "kernel_gradient"
    second = "g"
    operations: ClassVar[Callable[..., Any]] = costs.kernel_gradient

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, g = self.check(inputs)
        if len(inputs) != 2 + len(self.stride):
            raise TypeError(
                f"{self.name} takes x, g and {counted(len(self.stride), 'length')}, got {counted(len(inputs), 'input')}"
            )
        for length in inputs[2:]:
            require_index_scalar(self.name, length, "a length")
        kernel = tuple(map(known_length, inputs[2:]))
        channels, outputs = x.type.shape[1], g.type.shape[1]
        _joint(self.name, "numbers of images", x.type.shape[:1], g.type.shape[:1])
        if any(n is not None and n % self.groups for n in (channels, outputs)):
            raise ValueError(
                f"{self.name}: channels of {describe(x)} and {describe(g)} are no multiples of groups, {self.groups}"
            )
        _joint(self.name, "numbers of windows", self.positions(x.type.shape, kernel), g.type.shape[2:])
        return (x.type.with_shape((outputs, None if channels is None else channels // self.groups, *kernel)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, g = values[:2]
        kernel = tuple(int(n) for n in values[2:])
        counts = self.positions(x.shape, kernel)
        if g.shape[0] != x.shape[0] or g.shape[2:] != counts or x.shape[1] % self.groups or g.shape[1] % self.groups:
            raise ValueError(f"{self.name}: shapes {x.shape} and {g.shape} do not fit kernels {kernel}")
        images, outputs, total = x.shape[0], g.shape[1] // self.groups, math.prod(g.shape[2:])
        windows = self.by_groups(_wide(x), kernel)
        depth = x.shape[1] // self.groups * math.prod(kernel)
        front = (1, *range(2, 3 + len(kernel)), 0, *range(3 + len(kernel), windows.ndim))
        rows = windows.transpose(front).reshape(self.groups, depth, images * total)
        left = _wide(g).reshape(images, self.groups, outputs, total).transpose(1, 2, 0, 3)
        with np.errstate(all="ignore"):
            w = np.matmul(left.reshape(self.groups, outputs, images * total), rows.transpose(0, 2, 1))
        shape = (g.shape[1], x.shape[1] // self.groups, *kernel)
        return (w.reshape(shape).astype(x.dtype, copy=False),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        x, g = inputs[:2]
        return ((g[1], dims.floordiv(x[1], self.groups), *map(tensor_to_dim, node.inputs[2:])),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (k,), (x, g, *lengths) = cotangents, node.inputs
        none = [None] * len(lengths)
        if k is None:
            return [None, None, *none]
        forward = Convolution(self.stride, self.dilation, self.groups)
        return [input_gradient(forward, conjugated(g), k, lengths_of(x)), forward(conjugated(x), k), *none]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared(flags[2:], "the lengths of its result")
        x, g = (T.swapaxes(v, 0, 1) for v in all_broadcast(inputs[:2], flags[:2], examples))
        count = known_length(examples.length)
        if count is not None:
            found = replace(self, groups=self.groups * count)(merged(x, 1), merged(g, 1), *inputs[2:])
            return split(found, 0, examples.length)
        x, g = (merged(merged(T.swapaxes(split(v, 2, constant(self.groups, "int64")), 1, 2), 1), 1) for v in (x, g))
        pairs = split(split(self(x, g, *inputs[2:]), 0, constant(self.groups, "int64")), 1, examples.length)
        each = split(pairs, 3, examples.length)  # groups, examples, outputs, examples, channels, ...
        return merged(_with_itself(each, 1), 1)


def _with_itself(x: Variable, axis: int) -> Any:
    """Return the diagonal of `x`, whose axes `axis` and 3 are the examples, with these in front."""
    return T.moveaxis(T.diagonal(x, 0, axis, 3), -1, 0)


# --- the cotangent of x


def input_gradient(op: Convolution, g: Variable, w: Variable, own: Sequence[Any]) -> TensorVariable:
    """Return the cotangent of `x`, of lengths `own`, for the cotangent `g` of `op(x, w)`.

    It is g convolved with the flipped kernels.  With a stride, every phase of x has kernels of its own; where dilations
    or unknown kernels forbid that, g is spread out over zeros.
    """
    lengths = own[2:]
    kernels = flipped_kernels(op, w)
    kernel = w.type.shape[2:]
    if max(op.stride) == 1:
        around = [(n, n) for n in map(_reach, op.dilation, lengths_of(w)[2:])]
        return Convolution(op.stride, op.dilation, op.groups)(_padded(g, around), kernels)
    if max(op.dilation) == 1 and None not in kernel:
        return _by_phases(op, g, kernels, own, kernel)  # type: ignore[arg-type]
    ones = (1,) * len(op.stride)
    counts = lengths_of(g)[2:]
    separate = [_plus(T.mul(_plus(n, -1), s), 1) for n, s in zip(counts, op.stride, strict=True)]
    zeros = T.zeros((*lengths_of(g)[:2], *separate), g.dtype)
    spread = T.set_subtensor(zeros[(slice(None),) * 2 + tuple(slice(None, None, s) for s in op.stride)], g)
    before = map(_reach, op.dilation, lengths_of(w)[2:])
    around = [(b, T.sub(n, m)) for b, n, m in zip(before, lengths, separate, strict=True)]
    return Convolution(ones, op.dilation, op.groups)(_padded(spread, around), kernels)


def _by_phases(
    op: Convolution, g: Variable, kernels: Any, lengths: Sequence[Any], kernel: Numbers
) -> TensorVariable:
    """Return the gradient for a stride: x[r + s m] depends only on kernel positions r + s t, without stride in g."""
    ones, own = (1,) * len(op.stride), lengths_of(g)
    images, channels = own[0], lengths[1]
    result = T.zeros((images, channels, *lengths[2:]), g.dtype)
    for phase in itertools.product(*(range(min(s, k)) for s, k in zip(op.stride, kernel, strict=True))):
        taps = [len(range(r, k, s)) for r, k, s in zip(phase, kernel, op.stride, strict=True)]
        # Turned around, position r + s t is k - 1 - r - s t.
        part = tuple(slice((k - 1 - r) % s, None, s) for r, k, s in zip(phase, kernel, op.stride, strict=True))
        mine = tuple(slice(r, None, s) for r, s in zip(phase, op.stride, strict=True))
        around = [
            (t - 1, T.sub(_phase_length(n, r, s), m))
            for t, n, m, r, s in zip(taps, lengths[2:], own[2:], phase, op.stride, strict=True)
        ]
        part_of_x = Convolution(ones, ones, op.groups)(_padded(g, around), kernels[(slice(None),) * 2 + part])
        result = T.set_subtensor(result[(slice(None),) * 2 + mine], part_of_x)
    return result


def _phase_length(length: Variable, phase: int, stride: int) -> TensorVariable:
    """Return how many of `length` positions are phase + a multiple of the stride."""
    known = known_length(length)
    if known is not None:
        return constant(len(range(phase, known, stride)), "int64")
    return T.floor_div(_plus(length, stride - 1 - phase), stride)


def flipped_kernels(op: Convolution, w: Variable) -> TensorVariable:
    """Return the kernels flipped and transposed to map outputs to channels: (channels, outputs / groups, positions)."""
    rank = w.ndim
    flipped = w[(slice(None),) * 2 + (slice(None, None, -1),) * (rank - 2)]  # type: ignore[index]
    if op.groups == 1:
        return DimShuffle((1, 0, *range(2, rank)))(flipped)
    outputs, group, *kernel = lengths_of(w)
    known = known_length(outputs)
    each = T.floor_div(outputs, op.groups) if known is None else constant(known // op.groups, "int64")
    separate = reshape(flipped, (op.groups, each, group, *kernel))
    return reshape(DimShuffle((0, 2, 1, *range(3, rank + 1)))(separate), (T.mul(group, op.groups), each, *kernel))


def _reach(dilation: int, length: Variable) -> TensorVariable:
    return T.mul(_plus(length, -1), dilation)


def _plus(length: Any, number: int) -> TensorVariable:
    known = known_length(length)
    return T.add(length, number) if known is None else constant(known + number, "int64")


def _padded(x: Variable, around: Sequence[tuple[Any, Any]]) -> Variable:
    if all(known_length(as_tensor(n)) == 0 for pair in around for n in pair):
        return x
    return T.pad(x, ((0, 0), (0, 0), *around))


# --- what users call: PyTorch's conventions, for NumPy has none


def conv1d(
    x: TensorLike, w: TensorLike, bias: TensorLike | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1, *, out_dtype: DTypeLike = None,
) -> TensorVariable:  # fmt: skip
    """The cross-correlation of x (images, channels, length) and kernels w; see `conv2d`."""
    return _convolved("conv1d", 1, x, w, bias, stride, padding, dilation, groups, out_dtype)


def conv2d(
    x: TensorLike, w: TensorLike, bias: TensorLike | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1, *, out_dtype: DTypeLike = None,
) -> TensorVariable:  # fmt: skip
    """The cross-correlation of x (images, channels, height, width) and w (outputs, channels / groups, height, width).

    The conventions are PyTorch's: the kernels are not flipped; `bias` is a number an output; `stride` and
    `dilation` are one integer or one an axis, known now; so is `padding`, of which each may be a pair (before,
    after), or "valid" for none, or "same" for results of x's lengths, or ceil(length / stride); an odd rest goes
    behind, with "same_lower" before.  Padding is zeros that are multiplied as other numbers are: a kernel's NaN or
    infinity meets them as NaN.  Output o reads the channels of its group, one of `groups`.  Operands come to their
    joint dtype; float16 is computed in float32, and integers wrap around.  With `out_dtype` they come to that dtype
    instead; integers of 8 bits with out_dtype="int32" are multiplied as they are if the kernels are constants.
    Raises TypeError for other ranks, bools and what is no integer, ValueError for lengths that do not fit, and if
    products of 8 bits are so many that int32 could overflow.
    """
    return _convolved("conv2d", 2, x, w, bias, stride, padding, dilation, groups, out_dtype)


def conv3d(
    x: TensorLike, w: TensorLike, bias: TensorLike | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1, *, out_dtype: DTypeLike = None,
) -> TensorVariable:  # fmt: skip
    """The cross-correlation of x (images, channels, depth, height, width) and kernels w; see `conv2d`."""
    return _convolved("conv3d", 3, x, w, bias, stride, padding, dilation, groups, out_dtype)


def _convolved(
    name: str, axes: int, x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any,
    out_dtype: DTypeLike,
) -> TensorVariable:  # fmt: skip
    given = (x, w) if bias is None else (x, w, bias)
    narrow = [as_tensor(v) for v in given[:2]]
    x, w, *biases = in_joint_dtype(given) if out_dtype is None else (T.cast(v, dtype_name(out_dtype)) for v in given)
    steps = numbers_an_axis(stride, axes, name, "stride")
    separate = numbers_an_axis(dilation, axes, name, "dilation")
    parts = numbers_an_axis(groups, 1, name, "groups")[0]
    _require_operands(name, axes, x, w, parts)
    held = with_room(name, narrow[1], narrow[0], range(1, w.ndim), x.dtype)
    w = w if held is narrow[1] else T.cast(held, x.dtype)
    around = padding_around(name, padding, lengths_of(x)[2:], lengths_of(w)[2:], steps, separate)
    for axis, (length, kernel, pair) in enumerate(zip(x.type.shape[2:], w.type.shape[2:], around, strict=True)):
        known = [n if isinstance(n, int) else known_length(n) for n in pair]
        if length is not None and kernel is not None and None not in known:
            extent = separate[axis] * (kernel - 1) + 1
            if kernel < 1 or extent > length + sum(known):  # type: ignore[arg-type]
                why = no_window(axis + 2, kernel, extent, length + sum(known))  # type: ignore[arg-type]
                raise ValueError(f"{name}: {why}: w is {describe(w)}, x is {describe(x)}")
    y = Convolution(steps, separate, parts)(_padded(x, around), w)
    return y if not biases else T.add(y, _as_bias(name, biases[0], w))


def _require_operands(name: str, axes: int, x: Variable, w: Variable, groups: int) -> None:
    for role, operand in (("x", x), ("w", w)):
        if operand.ndim != axes + 2:
            form = "(images, channels" if role == "x" else "(outputs, channels / groups"
            raise TypeError(f"{name}: {role} has rank {axes + 2}, {form}, ...), got {describe(operand)}")
        if operand.dtype == "bool":
            raise TypeError(f"{name} takes numbers, got {describe(operand)}; cast it")
    channels, (outputs, group) = x.type.shape[1], w.type.shape[:2]
    if channels is not None and channels % groups:
        raise ValueError(f"{name}: groups is {groups}, and the {channels} channels of {describe(x)} are no multiple")
    if channels is not None and group is not None and channels != group * groups:
        raise ValueError(
            f"{name}: w has kernels for {counted(group, 'channel')}, expected {channels // groups}, "
            f"those of x divided by groups: "
            f"x is {describe(x)}, w is {describe(w)}, groups is {groups}"
        )
    if outputs is not None and outputs % groups:
        raise ValueError(f"{name}: groups is {groups}, and the {outputs} outputs of {describe(w)} are no multiple")


def padding_around(
    name: str, padding: Any, lengths: Sequence[Any], kernel: Sequence[Any], stride: Numbers, dilation: Numbers
) -> list[tuple[Any, Any]]:
    """Return how much is padded before and after each axis: ints, or scalars where a length is not known.

    `lengths`: those of x along the axes of positions, as scalars.  Raises TypeError and ValueError for other forms.
    """
    axes = len(stride)
    if isinstance(padding, str):
        how = padding.lower()
        if how not in ("same", "same_upper", "same_lower", "valid"):
            forms = '"same", "same_lower" or "valid"'
            raise ValueError(f"{name}: padding must be a number, pairs, {forms}, got {padding!r}")
        if how == "valid":
            return [(0, 0)] * axes
        several = zip(lengths, kernel, stride, dilation, strict=True)
        pairs = [_halves(_missing(n, k, s, d)) for n, k, s, d in several]
        return [pair[::-1] for pair in pairs] if how == "same_lower" else pairs
    padding = unpacked(padding)
    if isinstance(padding, (tuple, list)) and any(isinstance(p, (tuple, list)) for p in padding):
        if len(padding) != axes:
            raise ValueError(f"{name}: padding has one number or pair for each of {axes} axes, got {shown(padding)}")
        each = [numbers_an_axis(p, 2, name, "padding", least=0) for p in padding]
        return [(before, after) for before, after in each]
    return [(n, n) for n in numbers_an_axis(padding, axes, name, "padding", least=0)]


def _missing(length: Any, kernel: Any, stride: int, dilation: int) -> TensorVariable:
    """Return how many positions ceil(length / stride) windows take beyond `length`."""
    reach = _reach(dilation, as_tensor(kernel))
    if stride == 1:
        return reach
    known, far = known_length(as_tensor(length)), known_length(reach)
    if known is not None and far is not None:
        return constant(max((-(-known // stride) - 1) * stride + far + 1 - known, 0), "int64")
    last = T.mul(T.floor_div(_plus(length, -1), stride), stride)
    return T.maximum(T.sub(T.add(last, _plus(reach, 1)), length), 0)


def _halves(total: Variable) -> tuple[Any, Any]:
    known = known_length(total)
    if known is not None:
        return known // 2, known - known // 2
    half = T.floor_div(total, 2)
    return half, T.sub(total, half)


def _as_bias(name: str, bias: Variable, w: Variable, groups: int = 0) -> TensorVariable:
    """Return the bias along axis 1; `groups`: those of a transposed convolution, whose outputs are axis 1 of w."""
    n, outputs = bias.type.shape[0] if bias.ndim == 1 else -1, w.type.shape[0]
    if groups:
        outputs = None if w.type.shape[1] is None else w.type.shape[1] * groups
    if bias.ndim != 1:
        raise TypeError(f"{name}: bias must be a vector, a number for each output, got {describe(bias)}")
    if n is not None and outputs is not None and n != outputs:
        raise ValueError(
            f"{name}: bias has {counted(n, 'element')}, expected {outputs}, one an output of {describe(w)}"
        )
    return DimShuffle((0, *"x" * (w.ndim - 2)))(bias)
