"""The pair that `ag.scan` returns: a tuple (outputs, updates) that says so where somebody takes it for a tensor."""

from __future__ import annotations

from typing import Any, NoReturn

_SAID = "scan returns a pair (outputs, updates), got the pair {}; unpack it: outputs, updates = ag.scan(...)"


class ScanPair(tuple[Any, Any]):
    """`(outputs, updates)`; a plain tuple of two in all respects but its messages."""

    __slots__ = ()

    @property
    def no_tensor(self) -> str:
        """The reason why it is no tensor, for `as_tensor` and whoever else expects one."""
        return _SAID.format("where a tensor is expected")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(_SAID.format(f"where .{name} is asked for"))

    def _refuse(self, *_: Any) -> NoReturn:
        raise TypeError(_SAID.format("in an expression"))

    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = _refuse
    __matmul__ = __rmatmul__ = __pow__ = __rpow__ = __neg__ = __abs__ = _refuse
