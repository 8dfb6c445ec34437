"""Arguments of a call of an exported program: nesting, names, numbers that the export fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from .dtypes import array_of


class Fixed(NamedTuple):
    """A leaf of the arguments that is no input: the export took its value as known."""

    name: str
    value: Any


class Arguments:
    """The arguments that an exported program takes.

    `owner`: the name of the model; `form`: the nesting of `(args, kwargs)`, None for a program that lost it; `names`:
    the names of all arguments of `forward`; `leaves`: for each leaf the name of its input, or the value of the export.
    """

    def __init__(self, owner: str, form: Any, names: Sequence[str], leaves: Sequence[str | Fixed]) -> None:
        self.owner: str = owner
        self.form: Any = form
        self.names: list[str] = list(names)
        self.leaves: list[str | Fixed] = list(leaves)
        self.positional, self.named = ([], []) if form is None else _names(form, self.names)

    def arrays(self, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[list[Any], bool]:
        """Return the arguments of the function, and whether there is a tensor among those of the call.

        Raises TypeError for missing, unknown or differently nested arguments, ValueError for another number than the
        one that the export fixed.
        """
        values = self._flat(args, named)
        found: list[Any] = []
        tensors = False
        for leaf, value in zip(self.leaves, values, strict=True):
            if isinstance(leaf, Fixed):
                self._require(leaf, value)
            elif isinstance(value, torch.Tensor):
                tensors = True
                found.append(array_of(value))
            else:
                found.append(value)
        return found, tensors

    def _flat(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        if named and self.form is not None:
            args, named = self._in_place(args, named)
        values, given = pytree.tree_flatten((tuple(args), dict(named)))
        if given != self.form if self.form is not None else len(values) != len(self.leaves):
            raise TypeError(f"{self.owner}: expected the arguments {self._described()}, got {_brief(args, named)}")
        return list(values)

    def _in_place(self, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments as the export had them: by position, then by name in its order."""
        rest = dict(named)
        placed = list(args)
        for name in self.positional[len(placed) :]:
            if name not in rest:
                break
            placed.append(rest.pop(name))
        ordered = {name: rest.pop(name) for name in self.named if name in rest}
        return placed, {**ordered, **rest}

    def _described(self) -> str:
        by_name = [f"{name}=..." for name in self.named]
        several = [*self.positional, *by_name] or [x if isinstance(x, str) else x.name for x in self.leaves]
        return f"({', '.join(several)})"

    def _require(self, leaf: Fixed, value: Any) -> None:
        same = value is None if leaf.value is None else type(value) is type(leaf.value) and value == leaf.value
        if not same:
            raise ValueError(
                f"{self.owner}: {leaf.name} is {_short(value)}, expected {leaf.value!r}, which the export fixed; "
                "export again, or keep a number open by dynamic_shapes"
            )


def _names(form: Any, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of the arguments by position and of those by name."""
    of_args, of_kwargs = form.children() if hasattr(form, "children") else form.children_specs  # PyTorch 2.6
    keys = list(of_kwargs.context)
    count = of_args.num_children
    return list(names[:count]) if len(names) == count + len(keys) else [], keys


def _brief(args: Sequence[Any], named: Mapping[str, Any]) -> str:
    return f"({', '.join([*map(_short, args), *(f'{k}={_short(v)}' for k, v in named.items())])})"


def _short(value: Any) -> str:
    """Return a type, or a number, for a message."""
    return repr(value) if value is None or isinstance(value, (bool, int, float, str)) else type(value).__name__
