"""Graph optimization: patterns, rules, queries, the database of optimizers, and the engine that runs them."""

from .applier import Divergence, OptimizerWarning, RuleError
from .conform import Conform, conformed
from .contract import Contract, exact, relaxes, stabilizes, ulp
from .database import Database
from .entries import Entry, Table
from .equilibrium import EquilibriumOptimizer
from .kinds import EquilibriumDB, LocalGroupDB, ProxyDB, SequenceDB, TopoDB
from .optimizers import FromFunctionOptimizer, MergeOptimizer, Optimizer, SeqOptimizer, TopoOptimizer
from .patterns import Number, Pattern, Wild, once, op_like, wilds
from .query import Query, UnknownNameError
from .rule import NodeRule, PatternRule, Proposal, Rule, node_rule, rule

__all__ = [
    "Conform", "Contract", "Database", "Divergence", "Entry", "EquilibriumDB", "EquilibriumOptimizer",
    "FromFunctionOptimizer", "LocalGroupDB", "MergeOptimizer", "NodeRule", "Number", "Optimizer", "OptimizerWarning",
    "Pattern", "PatternRule", "Proposal", "ProxyDB", "Query", "Rule", "RuleError", "SeqOptimizer", "SequenceDB",
    "Table", "TopoDB", "TopoOptimizer", "UnknownNameError", "Wild", "conformed", "exact", "node_rule", "once",
    "op_like", "relaxes", "rule", "stabilizes", "ulp", "wilds",
]  # fmt: skip
