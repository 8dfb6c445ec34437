"""Parts of tensors: reading, setting and incrementing, by slices, integers, arrays and masks."""

from __future__ import annotations

from typing import Any

from pytensor.graph.type import Type
from pytensor.tensor import subtensor as ts
from pytensor.tensor.basic import Choose
from pytensor.tensor.type_other import MakeSlice
from pytensor.typed_list.basic import MakeList

from .... import ops as T
from ....graph import Constant
from ..table import Call, converter
from ..versions import classes
from .scalars import as_dtype


def _index(x: Any) -> Any:
    """Return an index as Python's number if it is known."""
    return int(x.data) if isinstance(x, Constant) and not x.ndim and x.type.kind in "iu" else x


def _filled(spec: Any, operands: Any) -> tuple[Any, ...]:
    """Return the index that PyTensor's `idx_list` describes, with operands in the places of its types."""
    rest = iter(operands)

    def entry(e: Any) -> Any:
        if isinstance(e, slice):
            return slice(*(entry(part) for part in (e.start, e.stop, e.step)))
        return _index(next(rest)) if isinstance(e, (Type, int)) and not isinstance(e, bool) else e

    return tuple(entry(e) for e in spec)


def _written(call: Call, x: Any, y: Any, index: tuple[Any, ...]) -> Any:
    part = x[index]
    y = T.cast(y, x.dtype) if y.dtype != x.dtype else y
    return T.set_subtensor(part, y) if call.op.set_instead_of_inc else T.inc_subtensor(part, y)


def _advanced(call: Call, operands: Any) -> tuple[Any, ...]:
    spec = getattr(call.op, "idx_list", None)
    return tuple(_index(i) for i in operands) if spec is None else _filled(spec, operands)


@converter(ts.AdvancedIncSubtensor)
def advanced_inc_subtensor(call: Call, x: Any, y: Any, *indices: Any) -> Any:
    if call.op.ignore_duplicates and not call.op.set_instead_of_inc:
        part = x[_advanced(call, indices)]
        return T.set_subtensor(part, part + T.cast(y, x.dtype))
    return _written(call, x, y, _advanced(call, indices))


@converter(MakeSlice)
def make_slice(call: Call, start: Any, stop: Any, step: Any) -> Any:
    return slice(*(None if part is None else _index(part) for part in (start, stop, step)))


@converter(Choose)
def choose(call: Call, which: Any, choices: Any) -> Any:
    if not isinstance(choices, list):
        return NotImplemented
    return as_dtype(T.choose(which, choices, mode=call.op.mode), call.dtypes[0])


converter(MakeList)(lambda call, *xs: list(xs))
converter(ts.Subtensor)(lambda call, x, *indices: x[_filled(call.op.idx_list, indices)])
converter(ts.IncSubtensor)(lambda call, x, y, *indices: _written(call, x, y, _filled(call.op.idx_list, indices)))
converter(*classes(ts, "AdvancedSubtensor1"))(lambda call, x, index: x[index])
converter(*classes(ts, "AdvancedIncSubtensor1"))(lambda call, x, y, index: _written(call, x, y, (index,)))
converter(ts.AdvancedSubtensor)(lambda call, x, *indices: x[_advanced(call, indices)])
