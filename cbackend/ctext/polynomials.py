"""Polynomials of the helpers, spelled out: `POLYNOMIAL(F, p, r, EXP_SERIES);` becomes the statements that declare p."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

LONG = 6
"""Number of coefficients from which a polynomial is summed in two chains, even and odd powers; twice: four."""
_CALL = re.compile(r"POLYNOMIAL(_AGAIN)?\((\w+), (\w+), (\w+), (\w+)(?:, (\d+))?\);")


def spelled_out(text: str, series: Callable[[str], str], c_type: str) -> str:
    """Return a C text with its polynomials in statements.

    `series`: the coefficients of a name in one text, the lowest power first; `c_type`: the type F.
    """

    def statements(found: re.Match[str]) -> str:
        again, type_, name, variable, numbers, last = found.groups()
        coefficients = series(numbers).replace("\\\n", "").replace(" ", "").split(",")
        type_ = c_type if type_ == "F" else type_
        return "\n    ".join(_steps(name, variable, type_, coefficients, not again, int(last or 0)))

    return _CALL.sub(statements, text) if "POLYNOMIAL" in text else text


def _steps(
    name: str, variable: str, c_type: str, coefficients: Sequence[str], squares: bool, last: int
) -> list[str]:
    """Return C that declares `name`, the polynomial in `variable`.

    A long one is summed in two or four chains: a chain waits four cycles for each of its steps, and the processor looks
    ahead over no more than three elements of a chain of twenty.  `squares`: whether to declare the powers of the
    variable that this takes.  `last`: coefficients that are added one by one behind the chains: sums of chains are
    rounded once more each, at the size of the polynomial.
    """
    numbers = coefficients[last:]
    chains = 1 if len(numbers) < LONG else 2 if len(numbers) < 2 * LONG else 4
    powers = [variable, f"{variable}2", f"{variable}4"][: chains.bit_length()]
    lines = [f"const {c_type} {y} = {x} * {x};" for x, y in pairwise(powers) if squares]
    for first in reversed(range(chains)):
        lines += _chain(_name(name, first), powers[-1], c_type, numbers[first::chains])
    for level, power in reversed(list(enumerate(powers[:-1]))):
        for first in range(1 << level):
            even, odd = _name(name, first), _name(name, first + (1 << level))
            lines.append(f"{even} = ag_fma_{c_type}({odd}, {power}, {even});")
    lines += [f"{name} = ag_fma_{c_type}({name}, {variable}, {number});" for number in reversed(coefficients[:last])]
    return lines


def _name(name: str, first: int) -> str:
    """Return the name of the chain that begins with this power."""
    return f"{name}_{first}" if first else name


def _chain(name: str, variable: str, c_type: str, numbers: Sequence[str]) -> list[str]:
    """Return the statements of Horner's method."""
    *others, highest = numbers
    lines = [f"{c_type} {name} = {highest};"]
    return lines + [f"{name} = ag_fma_{c_type}({name}, {variable}, {number});" for number in reversed(others)]
