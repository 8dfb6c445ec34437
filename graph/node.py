"""Variables, constants and the Apply nodes between them.

    Variable  ::= a leaf (input)  |  Constant  |  output `index` of an Apply
    Apply     ::= op(input Variable, ...) -> output Variable, ...

Nodes are never edited once they are built; a rewrite builds new ones and shares the rest.  Identity is meaning for the
user: `a = x * 2; b = x * 2` are two variables.  Sharing equal nodes is the work of the `merge` optimizers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..record.quoting import one_line
from .dims import carry_dims, lengths_may_differ
from .pickling import reduce_apply, reduce_variable
from .provenance import Origin, here, next_number
from .types import NAMED, TensorType, bytes_of, name_of

if TYPE_CHECKING:
    from .dims import Dim
    from .match_key import MatchKey
    from .op import Op


class Variable:
    """One value of a graph: a leaf if `owner` is None, else output `index` of the Apply `owner`.

    Only `name` may be assigned after construction.  `number` counts variables of the process: a value depends on older
    ones only.
    """

    __slots__ = ("type", "owner", "index", "number", "made", "_name", "_dims", "__weakref__")
    made: Origin
    """The user's lines that made a leaf, where they are known."""
    stem: ClassVar[str] = "v"
    """Prefix of printed names of unnamed variables; a number follows."""
    __array_ufunc__: Any = None  # NumPy arrays leave operators to us: `array + variable` calls our __radd__

    def __init__(self, type: TensorType, owner: Apply | None = None, index: int = 0, name: str | None = None) -> None:
        self.type: TensorType = type
        self.owner: Apply | None = owner
        self.index: int = index
        self.number: int = next_number()
        self._name: str | None = name and one_line(name)
        self._dims: tuple[Dim, ...] | None = None  # memo of dims.dims_of

    @property
    def name(self) -> str | None:
        """The user's name for the value, or None.  It may be a stranger's: what is not printable is escaped."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name and one_line(name)

    @property
    def dtype(self) -> str:
        """The name of the dtype, which equals what NumPy's dtype equals."""
        return NAMED[self.type.dtype]

    @property
    def ndim(self) -> int:
        return len(self.type.shape)

    @property
    def origin(self) -> Origin:
        """The user's lines that built this value; empty for a leaf."""
        return self.owner.origin if self.owner is not None else ()

    def clone_leaf(self) -> Variable:
        """A fresh leaf of the same type and name."""
        return type(self)(self.type, name=self.name)

    def __reduce__(self) -> Any:
        return reduce_variable(self)


_LARGE = 256
"""Least size in bytes of a constant whose digest is cached."""


class Constant(Variable):
    """A value known when the graph is built.  `data` is a read-only array of exactly `type`."""

    __slots__ = ("data", "_key")

    def __init__(self, data: np.ndarray, name: str | None = None) -> None:
        data = np.asarray(data)
        if data.flags.writeable:
            data = data.copy()
            data.flags.writeable = False
        super().__init__(TensorType(name_of(data.dtype), data.shape), name=name)
        self.data: np.ndarray = data
        self._key: tuple[str, tuple[int, ...], bytes] | None = None

    @property
    def key(self) -> tuple[str, tuple[int, ...], bytes]:
        """The identity of a constant: dtype, shape and bits (so 0.0 is not -0.0, and a NaN equals itself).

        The digest of a large constant stands for its bits: keys outlive rewrites, and would double its memory.
        """
        if self._key is None:
            if self.data.nbytes > _LARGE:
                bits = hashlib.sha256(bytes_of(self.data)).digest()
            else:
                bits = self.data.tobytes()
            self._key = (self.type.dtype, self.data.shape, bits)
        return self._key

    def clone_leaf(self) -> Constant:
        return type(self)(self.data, name=self.name)


class Apply:
    """One application of an op: immutable, with its inputs, its outputs and the user's lines it comes from."""

    inputs: tuple[Variable, ...]

    __slots__ = ("op", "inputs", "outputs", "origin", "_match_key", "__weakref__")

    def __init__(self, op: Op, inputs: Sequence[Variable], origin: Origin | None = None) -> None:
        self.op: Op = op
        self.inputs = inputs = tuple(inputs)
        types = op.infer(inputs)
        self.origin: Origin = here() if origin is None else origin
        self._match_key: MatchKey | None = None  # memo of match_key.match_key_of
        make = op.variable_class
        self.outputs: tuple[Variable, ...] = tuple([make(t, self, i) for i, t in enumerate(types)])

    @property
    def out(self) -> Variable:
        """The only output.  Raises ValueError if there are several."""
        (output,) = self.outputs
        return output

    def with_inputs(self, inputs: Sequence[Variable]) -> Apply:
        """The same op on other inputs, from the same lines; this node itself if nothing changed.

        Rewriting makes few nodes but by this: what is known of this one is taken over, type rules are asked only if
        they may tell the inputs apart.
        """
        inputs = tuple(inputs)
        same = same_types = same_ops = same_dims = True
        for new, old in zip(inputs, self.inputs, strict=True):
            if new is old:
                continue
            same = False
            above, below = new.owner, old.owner
            if above is None or below is None:  # type rules look into constants
                same_ops = False
                same_types = same_types and not (isinstance(new, Constant) or isinstance(old, Constant))
            elif above.op is not below.op:
                same_ops = False
            kind, dims = new.type, new._dims
            if same_types and kind is not old.type and kind != old.type:
                same_types = False
            if same_dims and (not dims or dims is not old._dims) and lengths_may_differ(new, old):
                same_dims = False
        if same:
            return self
        op, before = self.op, self.outputs
        node = object.__new__(Apply)
        node.op = op
        node.inputs = inputs
        node.origin = self.origin
        node._match_key = self._match_key if same_ops else None
        make = op.variable_class
        if not same_types:
            types = op.infer(inputs)
            node.outputs = tuple([make(t, node, o.index, o.name) for t, o in zip(types, before, strict=True)])
            return node
        if len(before) == 1:
            (old,) = before
            node.outputs = (make(old.type, node, 0, old._name),)
        else:
            node.outputs = tuple([make(o.type, node, o.index, o.name) for o in before])
        if same_dims:
            carry_dims(before, node.outputs)
        return node

    def over(self, images: Mapping[Variable, Variable]) -> Apply:
        """The same op on the images of its inputs; this node itself if no input has a new image."""
        inputs = self.inputs
        if images.keys().isdisjoint(inputs):
            return self
        return self.with_inputs(tuple(map(images.get, inputs, inputs)))

    def with_op(self, op: Op) -> Apply:
        """Another op on the same inputs, from the same lines."""
        return Apply(op, self.inputs, self.origin)

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(_brief, self.inputs))})"

    def __reduce__(self) -> Any:
        return reduce_apply(self)


def _brief(variable: Variable) -> str:
    """Short text of an operand: its name, its value or a placeholder."""
    if variable.name or variable.owner is not None:
        return variable.name or "..."
    data = getattr(variable, "data", None)
    return str(data.item()) if data is not None and data.size == 1 else "_"
