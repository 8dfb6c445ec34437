"""Numerics contracts: queries select rules by the tags of a contract, and the property test of a rule checks it.

    exact                       the same bits
    ulp(k)                      the same special values, finite results at most k units in the last place apart
    stabilizes                  never farther from the true value, and finite where the original overflows or cancels
    relaxes("nan", "overflow")  equal but where the named things happen on one side
    approximates(0.02)          finite results at most so far apart: another function, for who asks for it by name
    narrows(8)                  operands rounded to a significand of 8 bits, for who asks for it by name

Promises are joined with `|`: `ulp(2) | relaxes("overflow")`.
"""

from __future__ import annotations

from functools import cache

from ..record import record

RELAXABLE = ("nan", "inf", "signed zero", "overflow", "underflow", "rounding", "domain", "errors")
"""Names that `relaxes` takes.

`rounding`: results may differ by more than a few ulp, as sums of another order do; partial sums may also overflow.
`domain`: arguments where the original is not defined.  `errors`: a run that failed may now succeed.  Lengths that must
agree are assumed to agree, since proofs on shapes hold for runs that succeed.
"""


@record(slots=True)
class Contract:
    """The change of results that a rule may cause; an empty contract keeps every bit."""

    ulps: int = 0
    nearer: bool = False
    """Whether the new result is closer to the true value wherever the two differ."""
    relaxed: frozenset[str] = frozenset()
    within: float = 0.0
    """The distance allowed between finite results."""
    bits: int = 0
    """The bits of the significand that operands are rounded to; 0: they keep theirs."""

    @property
    def tags(self) -> frozenset[str]:
        """The names under which a query finds rules of this contract."""
        return _tags(self)

    def __or__(self, other: Contract) -> Contract:
        within = max(self.within, other.within)
        bits = min(self.bits, other.bits) or self.bits or other.bits
        ulps, nearer = max(self.ulps, other.ulps), self.nearer or other.nearer
        return Contract(ulps, nearer, self.relaxed | other.relaxed, within, bits)

    def __str__(self) -> str:
        parts = [f"ulp({self.ulps})"] if self.ulps else []
        parts += ["stabilizes"] if self.nearer else []
        words = ", ".join(f'"{word}"' for word in RELAXABLE if word in self.relaxed)
        parts += [f"relaxes({words})"] if words else []
        parts += [f"approximates({self.within:g})"] if self.within else []
        parts += [f"narrows({self.bits})"] if self.bits else []
        return " | ".join(parts) or "exact"

    def __repr__(self) -> str:
        return str(self)


@cache
def _tags(contract: Contract) -> frozenset[str]:
    words = {"relaxes_" + word.replace(" ", "_") for word in contract.relaxed}
    words |= {"ulp"} if contract.ulps else set()
    words |= {"stabilizes"} if contract.nearer else set()
    words |= {"relaxes"} if contract.relaxed else set()
    words |= {"approximate"} if contract.within or contract.bits else set()
    return frozenset(words or {"exact"})


exact: Contract = Contract()
stabilizes: Contract = Contract(nearer=True)


def ulp(k: int) -> Contract:
    """The contract of results at most `k` units in the last place apart, special values being equal."""
    if not isinstance(k, int) or k < 1:
        raise ValueError(f"ulp({k!r}): expected a whole number of at least 1; equal bits are the contract `exact`")
    return Contract(ulps=k)


def relaxes(*what: str) -> Contract:
    """The contract of results that are equal except for the named differences; see RELAXABLE."""
    if not what:
        raise ValueError("relaxes() names nothing; results that never differ are the contract `exact`")
    for word in what:
        if word not in RELAXABLE:
            raise ValueError(f"relaxes({word!r}): expected one of {', '.join(map(repr, RELAXABLE))}")
    return Contract(relaxed=frozenset(what))


def approximates(distance: float) -> Contract:
    """The contract of results at most `distance` apart where both are finite."""
    if not 0 < distance < float("inf"):
        raise ValueError(f"approximates({distance!r}): expected a positive number")
    return Contract(within=float(distance))


def narrows(bits: int) -> Contract:
    """The contract of results whose operands are rounded to a significand of `bits` bits."""
    if not isinstance(bits, int) or bits < 1:
        raise ValueError(f"narrows({bits!r}): expected a whole number of at least 1")
    return Contract(bits=bits)


CONTRACT_TAGS = frozenset().union(
    exact.tags, stabilizes.tags, ulp(1).tags, approximates(1).tags, *(relaxes(word).tags for word in RELAXABLE)
)
"""Every tag that a contract can give; a query may name them whether or not a rule carries them."""
