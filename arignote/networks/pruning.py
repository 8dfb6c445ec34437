"""`ag.prune`: set small weights to zero, and keep them at zero during training.

    pruning = ag.prune(weights, 0.8, schedule=(0, 1000))
    step = ag.function([x, y], loss, updates=pruning.updates(optim.adam(weights, ag.grad(loss, weights))))
    for batch in batches:
        step(*batch)
        pruning.step()

Masks are shared variables, so a function is compiled once and follows the schedule.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from .. import ops as T
from ..graph import Variable
from ..ops.core.checks import describe, shown
from ..ops.core.shared import SharedVariable, shared
from ..record.spelling import counted

Schedule = Union[tuple[int, int], Callable[[int], float], None]


BLOCK = 16
"""Weights of a block: whole vectors of any target with lanes of 4 or 8 bytes and up to 64 bytes."""


class Group(NamedTuple):
    """Weights, and the vectors (biases, scales) that lose the same channels."""

    weights: SharedVariable
    vectors: tuple[SharedVariable, ...] = ()


def prune(params: Any, sparsity: float | None = None, structure: str = "element", schedule: Schedule = None) -> Pruning:
    """Return masks that set the smallest weights of each parameter to zero, now or over the steps of a schedule.

    Args:
        params: a shared variable or a list of them.  For channels an entry may be a tuple: weights, then vectors with
            an element a channel, such as the bias, which lose the same channels.
        sparsity: the share of zeros in the end, at least 0 and below 1.
        structure: "element": single weights, by magnitude; "channel": whole output channels of kernels (axis 0) or
            columns of matrices, by their norm, at least one stays; "n:m", as "2:4": all but the n largest of each m
            weights in a row along the axis that the product sums over (kernels: input channels, axis 1; matrices:
            axis 0); kernels of fewer than m input channels stay dense.  "n:m" gives the sparsity itself.  "block":
            blocks of 16 weights of neighbouring outputs that read the same number, by their norm (kernels: output
            channels, axis 0; matrices: columns, axis 1).  Products with constant matrices skip zero blocks, and are
            faster with "2:4" as well.
        schedule: None: at once; a pair (begin, end): from step `begin` to `end` by the cubic formula of Zhu and Gupta
            2017; a function from the number of a step to the share of `sparsity` that is due, from 0 to 1.

    Raises:
        TypeError, ValueError: naming the argument, or the parameter that does not fit: of no float dtype, of too few
            axes, of a length that m does not divide, or with a NaN.
    """
    form = _structure(structure, sparsity)
    groups = _groups(params, structure)
    return Pruning(groups, form, _schedule(schedule))


class Structure(NamedTuple):
    """Structure of zeros; for "n:m" `keep` of each `block` consecutive weights stay."""

    name: str
    sparsity: float
    keep: int = 0
    block: int = 0


class Pruning:
    """The masks of `ag.prune`.  `masks`: parameter -> shared variable of bools, true where a weight stays."""

    def __init__(self, groups: Sequence[Group], form: Structure, due: Callable[[int], float]) -> None:
        self._groups, self._form, self._due = groups, form, due
        self.steps: int = 0
        """Steps made so far."""
        self.masks: dict[SharedVariable, SharedVariable] = {}
        for group in groups:
            for p in (group.weights, *group.vectors):
                mask = np.ones(p.get_value(borrow=True).shape, bool)
                self.masks[p] = shared(mask, name=f"{p.name}_mask" if p.name else None, shape=p.type.shape)
        self._share = 0.0
        self._follow()

    def updates(self, updates: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> list[tuple[SharedVariable, Any]]:
        """Return updates for `ag.function`, with zeros where a weight is pruned; other variables keep theirs."""
        pairs = list(updates.items() if isinstance(updates, Mapping) else updates)
        return [(p, self._kept(p, new)) for p, new in pairs]

    def step(self) -> float:
        """One step of the schedule: the masks follow it, and so do the weights.  Returns the present sparsity."""
        self.steps += 1
        self._follow()
        return self.sparsity

    @property
    def sparsity(self) -> float:
        """The share of pruned weights among those of all parameters, without vectors."""
        masks = [self.masks[g.weights].get_value(borrow=True) for g in self._groups]
        return 1 - sum(int(m.sum()) for m in masks) / sum(m.size for m in masks)

    def __str__(self) -> str:
        rows = [("parameter", "shape", "zeros", "share")]
        for p, mask in self.masks.items():
            values = mask.get_value(borrow=True)
            zeros = values.size - int(values.sum())
            rows.append((p.name or "_", str(values.shape), f"{zeros:,}", f"{zeros / values.size:.1%}"))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([f"{self._form.name} pruning, {self.sparsity:.1%} of the weights are zero", *lines])

    __repr__ = __str__

    def _kept(self, parameter: Any, new: Any) -> Any:
        mask = self.masks.get(parameter)
        return new if mask is None else T.switch(mask, new, T.constant(0, parameter.dtype))

    def _follow(self) -> None:
        """Give masks and weights the sparsity of this step; it never decreases."""
        share = self._due(self.steps)
        if not 0 <= share <= 1:
            raise ValueError(f"prune: the schedule gives {share!r} for step {self.steps}; expected 0 to 1")
        self._share = max(share, self._share)
        for group in self._groups:
            for parameter, mask in _masks(group, self._form, self._share).items():
                self.masks[parameter].set_value(mask, borrow=True)
                value = parameter.get_value(borrow=True)
                parameter.set_value(np.where(mask, value, np.zeros((), value.dtype)), borrow=True)


# --- masks


def _masks(group: Group, form: Structure, share: float) -> dict[SharedVariable, np.ndarray]:
    """Return the mask of each parameter of a group, by the present magnitudes of its weights."""
    value = group.weights.get_value(borrow=True)
    if np.isnan(value).any():
        raise ValueError(f"prune: {describe(group.weights)} has a NaN, so its magnitudes have no order")
    if form.name == "element":
        return {group.weights: _largest(np.abs(value).reshape(-1), form.sparsity * share).reshape(value.shape)}
    if form.name == "block":
        return {group.weights: _block_mask(value, form.sparsity * share)}
    if form.name == "channel":
        return _channel_masks(group, value, form.sparsity * share)
    if _is_too_narrow(value, form.block):
        return {group.weights: np.ones(value.shape, bool)}
    keep = form.block - math.floor(share * (form.block - form.keep) + 1e-9)
    axis = _summed_axis(value)
    rows = np.moveaxis(np.abs(value), axis, -1)
    blocks = rows.reshape(*rows.shape[:-1], -1, form.block)
    order = np.argsort(np.argsort(-blocks, axis=-1, kind="stable"), axis=-1)
    return {group.weights: np.ascontiguousarray(np.moveaxis((order < keep).reshape(rows.shape), -1, axis))}


def _largest(magnitudes: np.ndarray, sparsity: float) -> np.ndarray:
    """Return True for all but the smallest ones, whose share is `sparsity`, rounded down."""
    kept = np.ones(magnitudes.shape, bool)
    kept[np.argsort(magnitudes, kind="stable")[: math.floor(sparsity * magnitudes.size + 1e-9)]] = False
    return kept


def _block_mask(value: np.ndarray, sparsity: float) -> np.ndarray:
    """Return True for all but the blocks of the smallest mean squares; the last block of outputs may be smaller."""
    rows = np.moveaxis(np.square(value.astype("float64")), _channel_axis(value), -1)
    firsts = np.arange(0, rows.shape[-1], BLOCK)
    widths = np.diff(np.append(firsts, rows.shape[-1]))
    means = np.add.reduceat(rows, firsts, axis=-1) / widths if rows.size else np.zeros((*rows.shape[:-1], len(firsts)))
    kept = _largest(means.reshape(-1), sparsity).reshape(means.shape)
    return np.ascontiguousarray(np.moveaxis(np.repeat(kept, widths, axis=-1), -1, _channel_axis(value)))


def _channel_masks(group: Group, value: np.ndarray, sparsity: float) -> dict[SharedVariable, np.ndarray]:
    axis = _channel_axis(value)
    others = tuple(k for k in range(value.ndim) if k != axis)
    kept = _largest(np.sqrt(np.square(value.astype("float64")).sum(axis=others)), sparsity)
    if not kept.any():
        kept[0] = True
    along = kept.reshape([-1 if k == axis else 1 for k in range(value.ndim)])
    return {group.weights: np.broadcast_to(along, value.shape).copy(), **{v: kept.copy() for v in group.vectors}}


def _channel_axis(value: Any) -> int:
    """The axis of output channels: the first of kernels, the last of matrices."""
    return 0 if value.ndim > 2 else 1


def _summed_axis(value: Any) -> int:
    """The axis that a convolution or product sums over: the second of kernels, the first of matrices."""
    return 1 if value.ndim > 2 else 0


def _is_too_narrow(kernels: Any, block: int) -> bool:
    """Return whether a convolution sums over fewer channels than a block has, as a first layer or a depthwise one."""
    return bool(kernels.ndim > 2 and kernels.shape[1] < block)


# --- arguments


def _groups(params: Any, structure: Any) -> list[Group]:
    entries = list(params) if isinstance(params, (list, tuple)) else [params]
    groups = [Group(e[0], tuple(e[1:])) if isinstance(e, (list, tuple)) and e else Group(e) for e in entries]
    seen: set[Any] = set()
    for group in groups:
        for p in (group.weights, *group.vectors):
            if not isinstance(p, SharedVariable):
                what = describe(p) if isinstance(p, Variable) else shown(p)
                raise TypeError(f"prune: expected variables made by ag.shared(...), got {what}")
            if p in seen:
                raise ValueError(f"prune: {describe(p)} is given twice")
            seen.add(p)
        _require_fitting(group, structure)
    if not groups:
        raise ValueError("prune: params is empty; expected one shared variable at least")
    return groups


def _require_fitting(group: Group, structure: Any) -> None:
    weights, value = group.weights, group.weights.get_value(borrow=True)
    if weights.type.kind != "f":
        raise TypeError(f"prune: {describe(weights)} has no floating-point dtype")
    if group.vectors and structure != "channel":
        raise TypeError(f'prune: {describe(weights)} comes with vectors, which only structure="channel" takes')
    if structure != "element" and value.ndim < 2:
        raise ValueError(
            f"prune: {describe(weights)} has {counted(value.ndim, 'axis')}; {structure!r} needs a matrix or kernels"
        )
    for vector in group.vectors:
        if vector.get_value(borrow=True).shape != (value.shape[_channel_axis(value)],):
            raise ValueError(
                f"prune: {describe(vector)} is no vector of {value.shape[_channel_axis(value)]} elements, one a "
                f"channel of {describe(weights)}"
            )
    block = _pattern(structure)
    if block is not None and value.shape[_summed_axis(value)] % block[1] and not _is_too_narrow(value, block[1]):
        raise ValueError(
            f"prune: {describe(weights)} has length {value.shape[_summed_axis(value)]} on axis {_summed_axis(value)}, "
            f"which {block[1]} of {structure!r} does not divide"
        )


def _pattern(structure: Any) -> tuple[int, int] | None:
    found = re.fullmatch(r"(\d+):(\d+)", structure) if isinstance(structure, str) else None
    return (int(found[1]), int(found[2])) if found else None


def _structure(structure: Any, sparsity: Any) -> Structure:
    pattern = _pattern(structure)
    if structure not in ("element", "block", "channel") and (pattern is None or not 0 < pattern[0] < pattern[1]):
        expected = '"element", "block", "channel", or "n:m" with numbers 0 < n < m, as "2:4"'
        raise ValueError(f"prune: structure is {shown(structure)}; expected {expected}")
    if pattern is not None:
        own = 1 - pattern[0] / pattern[1]
        if sparsity is not None and sparsity != own:
            raise ValueError(f"prune: structure {structure!r} has sparsity {own:g}, got {sparsity!r}; leave it out")
        return Structure(structure, own, *pattern)
    if isinstance(sparsity, bool) or not isinstance(sparsity, (int, float, np.floating)) or not 0 <= sparsity < 1:
        raise ValueError(f"prune: sparsity is {shown(sparsity)}; expected a number from 0 to below 1")
    return Structure(structure, float(sparsity))


def _schedule(schedule: Any) -> Callable[[int], float]:
    """Return the share of the sparsity that a step of the schedule requires."""
    if schedule is None:
        return lambda step: 1.0
    if callable(schedule):
        return schedule  # type: ignore[no-any-return]
    pair = tuple(schedule) if isinstance(schedule, (list, tuple)) else ()
    if len(pair) != 2 or not all(isinstance(n, int) for n in pair) or not 0 <= pair[0] < pair[1]:
        expected = "(begin, end) with 0 <= begin < end, or a function"
        raise ValueError(f"prune: schedule is {shown(schedule)}; expected {expected}")
    begin, end = pair
    return lambda step: 1 - (1 - min(max((step - begin) / (end - begin), 0.0), 1.0)) ** 3
