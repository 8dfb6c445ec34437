"""Base of the ops that other code computes: functions of users, and ops of packages that front ends read."""

from __future__ import annotations

from typing import Any, ClassVar

from ...graph import Kind
from .tensor import HostOp


class ForeignOp(HostOp):
    """Op that code of a user or of another package computes, as a host step.

    It may fail, and has no parameters that a cache or a text could know it by.  Two are equal if their `identity` is;
    by default each is equal to itself alone.
    """

    fallible = True
    fingerprint = None
    picture: ClassVar[Kind] = Kind.OTHER

    @property
    def identity(self) -> Any:
        """What equal ops have in common."""
        return id(self)

    def parameters(self) -> dict[str, Any]:
        return {}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.identity == self.identity

    def __hash__(self) -> int:
        return hash(self.identity)
