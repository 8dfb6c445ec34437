"""How a graph is improved: patterns, rules, queries, the database of optimizers, and the engine that runs them."""

from .contract import Contract, exact, relaxes, stabilizes, ulp
from .patterns import Number, Pattern, Wild, once, op_like, wilds
from .rule import NodeRule, PatternRule, Proposal, Rule, node_rule, rule

__all__ = [
    "Contract", "NodeRule", "Number", "Pattern", "PatternRule", "Proposal", "Rule", "Wild", "exact", "node_rule",
    "once", "op_like", "relaxes", "rule", "stabilizes", "ulp", "wilds",
]  # fmt: skip
