"""Profile of equality saturation; hardly any program loads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..record import record
from .optimizer import OptimizerProfile


@record(kw_only=True, repr=False)
class EGraphProfile(OptimizerProfile):
    """Equality saturation: its size, the prices of the graph before and after, and the rules that led there."""

    stop: str = ""
    """The reason why no more forms were looked for."""
    classes: int = 0
    forms: int = 0
    """Nodes of the e-graph."""
    rounds: int = 0
    refused: int = 0
    """Forms that a rule or an op refused."""
    price_before: float = 0.0
    """Picoseconds of the cost model, as are those after."""
    price_after: float = 0.0
    derivation: tuple[str, ...] = ()
    """The rules that made the nodes of the result: `rule: before -> after`."""

    def sentences(self) -> Iterator[str]:
        """Yield the lines of `f.explain("egraph")` on it."""
        share = self.price_after / self.price_before if self.price_before else 1.0
        yield f"egraph: {self.forms} forms of {self.classes} values in {self.rounds} rounds; stopped: {self.stop}"
        if self.derivation:
            prices = f"{self.price_before / 1e6:.3g} -> {self.price_after / 1e6:.3g} us"
            yield f"price {prices} ({share:.2f} of the greedy graph)"
        else:
            yield f"price {self.price_before / 1e6:.3g} us: no cheaper form was found, and the greedy graph stays"
        yield from (f"  {step}" for step in self.derivation)
        if any(step.startswith("egraph_") for step in self.derivation):
            yield "greedy passes have no egraph_ rules, each of which undoes another"

    def lines(self, level: int = 0) -> Iterator[str]:
        yield from super().lines(level)
        yield from (f"{'    ' * level}   {each}" for each in self.sentences())

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "stop": self.stop, "classes": self.classes, "forms": self.forms, "rounds": self.rounds,
            "refused": self.refused, "price_before": self.price_before, "price_after": self.price_after,
            "derivation": list(self.derivation),
        }  # fmt: skip
