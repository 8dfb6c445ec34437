"""Targets as text, which parses back.

    target ::= NAME [FEATURE {"," FEATURE}] {KEY "=" VALUE}
    KEY    ::= a field of Target | "limits." [group of Limits "."] its field | "costs." a field of Costs

    x86_64-linux-v3 avx,avx2,fma vector=32 l1=32K l2=1M threads=2 limits.fusion.nodes=100

`NAME` is that of a known target; the rest says in which values this one differs from it.  Sizes may have K, M or G
behind them; several values of one key have commas between them.  The group of a limit may be left out if no other
group has such a field: `limits.nodes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from . import named, processor
from .current import chosen
from .target import GROUPS, NUMBERS, Target, TargetError, numbers_of, x86_64


def parse_target(text: str) -> Target:
    """The target of a text.

    Raises:
        TargetError: an unknown name, key or feature, or a value that is none.
    """
    words = text.split()
    if not words:
        raise TargetError("target: expected a name such as 'host' or 'x86_64-linux-v3', got an empty text")
    target = named.by_name(words[0])
    rest = words[1:]
    if rest and "=" not in rest[0]:
        target = _with_features(target, rest.pop(0).split(","))
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals:
            raise TargetError(f"target {words[0]}: expected key=value, got {word!r}; the features are one word")
        target = _with(target, key, value)
    return target


def as_target(value: Any, runs: bool) -> Target | None:
    """The target that a user named: a Target, its text or name; None for this machine.

    `runs`: code for it must run here.

    Raises:
        TargetError: there is no such target, or its code cannot be made and run here.
        TypeError: `value` is neither text nor a Target.
    """
    if value is None or (value == "host" and chosen() is None):
        return chosen()
    if not isinstance(value, (Target, str)):
        raise TypeError(f"target is {value!r}; expected an ag.Target, or text such as 'host' or 'x86_64-linux-v3'")
    found = parse_target(value) if isinstance(value, str) else value
    refused = named.refusal(found) if runs else None
    if refused:
        raise TargetError(refused)
    return found


def _with_features(target: Target, features: list[str]) -> Target:
    known = processor.extensions_of(target.arch)
    for feature in features:
        if feature not in known:
            raise TargetError(f"target {target.name}: {named.unknown('feature', feature, known)}")
    if target.arch == "x86_64":
        made = x86_64(target.name, features)
        return replace(
            target, features=made.features, vector=made.vector, integers=made.integers, registers=made.registers
        )
    return replace(target, features=tuple(sorted(features)))


def _with(target: Target, key: str, value: str) -> Target:
    group, dot, _ = key.partition(".")
    try:
        if dot and group in GROUPS:
            known = _known_keys(group)
            changed: Target = _changed(target, known[_known(target, key, known)], value)
            return changed
        if key == "compiler":
            return replace(target, compiler=tuple(filter(None, value.split(","))))
        number: Any = _positive(value)
        return replace(target, **{_known(target, key, NUMBERS): number})
    except ValueError as error:
        if isinstance(error, TargetError):
            raise
        raise TargetError(f"target {target.name}: {key} is {value!r}; expected {_expected(key)}") from None


def _known_keys(group: str) -> dict[str, tuple[str, ...]]:
    """Return the fields that lead from a target to each number of a group, by its keys."""
    found = {key: tuple(key.split(".")) for key, _ in numbers_of(GROUPS[group], group)}
    last = Counter(path[-1] for path in found.values())
    return found | {f"{group}.{path[-1]}": path for path in found.values() if last[path[-1]] == 1}


def _known(target: Target, key: str, known: Collection[str]) -> str:
    if key in known:
        return key
    raise TargetError(f"target {target.name}: {named.unknown('key', key, known)}")


def _changed(held: Any, path: tuple[str, ...], text: str) -> Any:
    """Return the record with another value of the field at the end of `path`."""
    old = getattr(held, path[0])
    return replace(held, **{path[0]: _changed(old, path[1:], text) if path[1:] else _value(old, text)})


def _expected(key: str) -> str:
    return "a size such as 48K" if key in NUMBERS else "a whole number, or as many as the field has"


def _value(old: Any, text: str) -> Any:
    """`text` as a value of the type of `old`."""
    if isinstance(old, str):
        return text
    if isinstance(old, tuple):
        found = tuple(map(_positive, text.split(",")))
        if len(found) != len(old):
            raise ValueError
        return found
    return _positive(text)


def _positive(text: str) -> int:
    found = processor.as_bytes(text)
    if found < 0:
        raise ValueError
    return found

