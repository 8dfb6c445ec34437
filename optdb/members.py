"""Members of databases: the arguments of a registration as a value, and the checks that it passes."""

from __future__ import annotations

import math
import numbers
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..record import record
from ..record.frames import warn
from .applier import OptimizerWarning
from .contract import Contract
from .query import can_be_asked_for
from .rule import Rule, keys_text

if TYPE_CHECKING:
    from .kinds import Hidden

_HERE = os.path.dirname(__file__)
_FILES = tuple(os.path.join(_HERE, name) for name in ("database.py", "kinds.py", "members.py"))


@record
class Member:
    """The arguments of `register`."""

    name: str
    object: Any
    tags: frozenset[str]
    position: float | None
    contract: Contract | None
    role: str
    origin: str = field(compare=False)
    by_database: bool
    provides: frozenset[str]
    requires: frozenset[str]


def role_of(label: str, name: str, final: bool, cleanup: bool) -> str:
    """The role of a member of an EquilibriumDB; empty for none."""
    if final and cleanup:
        raise ValueError(f"{label}: {name!r} cannot be both final and cleanup")
    return "final" if final else "cleanup" if cleanup else ""


def checked_position(label: str, name: str, position: Any, has_positions: bool) -> Any:
    """Check the position.  Raises TypeError or ValueError unless it is a number in a database with positions."""
    if not has_positions:
        raise ValueError(f"{label}: {name!r} has a position, but this database is ordered by registration")
    if type(position) not in (int, float):  # NumPy's numbers, and fractions
        if isinstance(position, (bool, np.bool_)) or not isinstance(position, numbers.Real):
            raise TypeError(f"{label}: the position of {name!r} is {position!r}; expected a number")
        position = int(position) if isinstance(position, numbers.Integral) else float(position)
    if math.isnan(position):
        raise ValueError(f"{label}: the position of {name!r} is nan; expected a number")
    return position


def refuse_known(label: str, new: Member, members: Mapping[str, Member]) -> None:
    """Raise ValueError for a name that is registered already, unless a cell or line that runs again registers it."""
    if new.name not in members:
        return
    before = members[new.name].origin
    if before != new.origin and not (_in_cell(before) and _in_cell(new.origin)):
        raise ValueError(f"{label}: {new.name!r} is registered at {new.origin}, and already at {before}")
    warn(f"{label}: {new.name!r}, registered again, replaces the entry of that name", OptimizerWarning)


def _in_cell(origin: str) -> bool:
    """Return whether code of a notebook or of a prompt registered an entry."""
    return "ipykernel_" in origin or origin.startswith("<")


def refuse_clash(label: str, new: Member, members: Mapping[str, Member], tags: set[str]) -> None:
    """Raise ValueError for a name that no query can spell, or that clashes with a tag.

    `tags`: all tags of the members, and perhaps more.
    """
    if not can_be_asked_for(new.name):
        raise ValueError(f"{label}: {new.name!r} cannot be a name, since no query can contain it")
    for tag in new.tags - tags:  # the others have been looked at
        if not isinstance(tag, str) or not can_be_asked_for(tag):
            raise ValueError(f"{label}: {tag!r} cannot be a tag of {new.name!r}, since no query can contain it")
    if new.name not in tags and members.keys().isdisjoint(new.tags):  # nearly always
        return
    clashing = [members[tag] for tag in sorted(members.keys() & new.tags)]
    clashing += [old for old in members.values() if new.name in old.tags]
    for old in clashing:
        if old.name == new.name:
            continue
        here, there = f"{new.name!r} ({new.origin})", f"{old.name!r} ({old.origin})"
        if old.name in new.tags:
            raise ValueError(f"{label}: tag {old.name!r} of {here} is the name of the entry {there}")
        raise ValueError(f"{label}: {here} has the name of a tag of {there}")


def warn_if_hidden(label: str, member: Member, hidden: Hidden, place: str) -> None:
    """Warn of a rule for ops that no longer occur at its position."""
    rule = member.object
    if not isinstance(rule, Rule) or not hidden.hides(rule):
        return
    names = keys_text(rule.ops[:3])
    warn(
        f"{label}: the rule {member.name!r} stands {place}, behind position {hidden.position:g}, where "
        f"few or no nodes of {names} are left: {hidden.reason}; it will seldom or never fire. Register it below "
        f"{hidden.position:g}, or without a position",
        OptimizerWarning,
    )


def names_of(argument: str, names: Iterable[str]) -> frozenset[str]:
    """The names as a set.  Raises TypeError for a plain string, which would be read letter by letter."""
    if isinstance(names, str):
        raise TypeError(f"register: {argument} is {names!r}; expected a tuple of names, as in ({names!r},)")
    return frozenset(names)


def caller() -> str:
    """file:line of the code outside the files of databases that is registering."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename in _FILES and frame.f_back is not None:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
