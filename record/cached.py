"""`cached_property`: an attribute that is computed on first access.

That of the standard library held a lock for each class until Python 3.12: threads that compile waited for each other,
and a child forked while one of them was inside waited for ever, as no thread was left to open the lock.  This one has
none.  Two threads that ask at once may both compute the value; it is the same, for what it comes from never changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 it stands where `property` would
    """The decorator of a method without arguments; its result takes the method's place in the instance."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function: Callable[[Any], T] = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value
