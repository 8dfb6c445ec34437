"""Calls of a compiled function: arguments by position or by name, results in the requested form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..record.spelling import counted
from .signature import Signature


class CallPath:
    """The call path of a compiled function.  It holds no reference to the function, which holds one to it."""

    form: str
    name: str
    run: Any
    signature: Signature

    downcast: bool | None

    __slots__ = ("downcast", "form", "name", "run", "signature")

    def __init__(self, run: Any, signature: Signature, name: str, downcast: bool | None = None) -> None:
        self.run, self.signature, self.name, self.form = run, signature, name, signature.form
        self.downcast = downcast

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        results = self.run(*self.values(args, kwargs)) if kwargs else self.run(*args)
        form = self.form
        if form == "one":
            return results[0]
        return results if form == "list" else self.signature.formed(results, ())

    def values(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Sequence[Any]:
        """Return the values of the inputs for a call with these arguments."""
        return self.matched(tuple(args), kwargs, self.signature.names) if kwargs else args

    def matched(self, args: tuple[Any, ...], kwargs: dict[str, Any], names: Sequence[str | None]) -> list[Any]:
        """Positional arguments for a call with keywords.  Raises TypeError as a Python function would."""
        values: dict[int, Any] = dict(enumerate(args))
        for key, value in kwargs.items():
            if key not in names:
                known = ", ".join(n or f"(input {i} has no name)" for i, n in enumerate(names))
                raise TypeError(f"{self.name}: no input is named {key!r}; the inputs are: {known or 'none'}")
            position = names.index(key)
            if names.count(key) > 1:
                places = " and ".join(str(i) for i, n in enumerate(names) if n == key)
                raise TypeError(
                    f"{self.name}: inputs {places} are both named {key!r}, so that none is given by name; give them by "
                    "position, or name the variables apart"
                )
            if position in values:
                raise TypeError(f"{self.name}: input {position} ({key}) is given by position and by name")
            values[position] = value
        missing = [names[i] or f"input {i}" for i in range(len(names)) if i not in values]
        if missing or len(args) > len(names):
            raise TypeError(
                f"{self.name}: takes {counted(len(names), 'argument')}; missing: {', '.join(missing) or 'none'}"
            )
        return [values[i] for i in range(len(names))]

    def native(self) -> Callable[..., Any]:
        """The native entry, which falls back to this path; without a native entry this path itself."""
        found = self.run.native(self, self.form == "list") if self.form in ("one", "list") else None
        return found or self
