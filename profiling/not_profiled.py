"""Placeholder for the run profile of a function without one."""

from __future__ import annotations

from typing import Any


class NotProfiled:
    """The run profile of a function without one: it is false, and says how to get one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return (
            f"{self.name} keeps no run profile: compile it with ag.function(..., profile=True), "
            "or inside `with ag.profile() as p:`"
        )

    def __getattr__(self, attribute: str) -> Any:
        raise AttributeError(attribute if attribute.startswith("_") else str(self))

    __repr__ = __str__
