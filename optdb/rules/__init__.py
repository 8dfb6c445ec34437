"""Rules and passes by subject; this file has the order in which they run.

A rule is in the default mode if its contract is one that users of NumPy would not notice: the same bits, a few ulp, a
better value, another rounding of a sum (whose order is not specified), the sign of a zero, or an error less.  What
gives another value where there is a NaN, an infinity or an overflow has the tag "unsafe" instead.

    elementwise    arithmetic, powers, logic, stability, constants
    shapes         reshapes, axes, joins, reads and writes of parts
    reductions     reductions, sums to a shape
    linalg         products and their BLAS forms, factorizations, known structure of matrices
    networks       softmax, normalization, pools, attention
    search         all forms of a graph side by side, and the cheapest of them
    reading        expressions as people write them
    blocks         channels of images in blocks
    quantized      networks in integers, numbers of few bits
    control        loops, and graphs inside of loops and branches
    fusion         groups that become one kernel
    memory         in-place work and its alias analysis
    engines        a graph divided among engines

For all: facts (questions about variables), conforming (fitting results), names and absent (names of Theano),
pattern_operators (operators between patterns).  Begin with elementwise/arithmetic.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import Any

from ...ops.control.composed import Composed
from ...ops.elementwise.records import Pointwise
from ...ops.linalg.assumptions import Assume
from ...ops.reductions.reduce import Reduce
from ...ops.shapes.lengths import Shape
from ...record import lazy
from ..contract import Contract, relaxes
from ..kinds import EquilibriumDB, Hidden, OptInDB, SequenceDB, TopoDB
from ..optimizers import MergeOptimizer
from ..query import Query
from ..rule import Rule
from .absent import Absent, absent
from .blocks import gradients as layout_gradients
from .blocks import layout, neighbours, pairs, winograd
from .blocks import pools as layout_pools
from .conforming import TensorConform
from .control.compositions import InlineCompositions
from .control.conditional_writes import CONDITIONAL
from .control.counting import BoundsFromFront
from .control.inner_graphs import InnerGraphs, LazyBranches
from .control.merging import MergeLoops
from .control.past_writes import ElementsPastWrites, SteadyArrays
from .control.restoring import ReadRestored
from .control.scan import PushOutNonSequences, RemoveConstants, RemoveUnread, SaveMemory
from .control.scan_products import PushOutProducts, PushOutSums
from .control.scan_weights import PackWeights
from .elementwise import (
    approximations,
    arithmetic,
    canonizer,
    casts,
    constants,
    fractions,
    integers,
    inverses,
    logarithms,
    logic,
    powers,
    stability,
    switches,
)
from .engines.partition import PartitionOptimizer
from .fusion.assembling import AssemblyOptimizer
from .fusion.columns import ColumnsOptimizer
from .fusion.elementwise import FlattenOptimizer, FusionOptimizer
from .fusion.epilogues import EpilogueOptimizer
from .fusion.growing import GrowingJoins
from .fusion.pipelines import PipelineOptimizer
from .linalg import blas, dots, factoring, packed, solving, views
from .linalg.gemm import GemmOptimizer
from .memory import inplace
from .memory.copied_parts import CopyParts
from .memory.destroy import AddDestroyHandler
from .names import OtherName, other_names, renamed
from .networks import attention, cropping, normalization, pooling, softmax
from .pattern_operators import PATTERN_OPERATORS
from .quantized import bfloats, byte_blocks, byte_endings, byte_sums, byte_tables, byte_zeros, nibbles, quantization
from .quantized import narrow as narrow_layers
from .quantized.storage import FORMATS, StoreWeights
from .reductions import reductions
from .reductions.sum_to import SumToOptimizer
from .search.saturation import EGraphOptimizer
from .shapes import (
    assuming,
    dimshuffles,
    dropping,
    fills,
    gathering,
    indexing,
    joins,
    masked,
    shapes,
    strided,
    view_writes,
    writing,
)
from .shapes.narrow_indices import NarrowIndices
from .shapes.short_rows import ShortRowsOptimizer

guards, notation = lazy.module(".reading.guards", __name__), lazy.module(".reading.notation", __name__)
polynomials = lazy.module(".reading.polynomials", __name__)

__all__ = ["PATTERN_OPERATORS", "QUERIES", "default_db", "is_default"]

UNNOTICED = frozenset({"rounding", "signed zero", "errors", "domain"})
"""Promises that a rule of the default mode may relax."""

IDENTITIES = (
    casts.CASTS, arithmetic.UNITS, powers.UNITS, integers.RING, integers.BITS, logic.COMPARISONS, logic.TRUTH,
    switches.CHOICES, inverses.COMPLEX_PARTS, fills.FILLS, fills.ALLOCS, reductions.AXES, indexing.USELESS, joins.JOINS,
)  # fmt: skip
"""Rules that remove nodes."""
CARRIED = (
    fills.THROUGH, shapes.LENGTHS, shapes.RESHAPES, dimshuffles.DIMSHUFFLES, strided.STRIDED, indexing.MERGED,
    indexing.LIFTED, cropping.CROPPED, dropping.DROPPED, writing.WRITING, view_writes.THROUGH_VIEWS,
    reductions.BROADCAST,
)  # fmt: skip
"""Rules that move axes, slices and lengths towards the inputs, where they can cancel."""
CANONICAL = (
    *IDENTITIES, arithmetic.SIGNS, arithmetic.LIFTED, powers.CANONICAL, canonizer.CANONICAL, [constants.UPCAST],
    [constants.FILLED_WEIGHTS],
    *CARRIED, reductions.FACTORS, dots.DOTS, normalization.FOLDED, quantization.CANCELLED,
    pooling.BEFORE_PRODUCTS,
)  # fmt: skip
STABLE = (
    softmax.RECOGNIZED, softmax.LOGARITHMS, stability.LOG, logarithms.LOGARITHMS, stability.LOGISTIC,
    logarithms.RATIOS, fractions.SHARES, stability.ERROR_FUNCTION, stability.TAILS, stability.NORMAL, inverses.INVERSES,
    solving.SOLVING, factoring.FACTORING,
)  # fmt: skip
SPECIAL = (
    *IDENTITIES, arithmetic.SIGNS, arithmetic.SPECIAL, powers.SPECIAL, integers.SPECIAL, canonizer.CANONICAL, *CARRIED,
    softmax.LOGARITHMS, softmax.BACK, fills.TO_ALLOC, strided.STACKS, gathering.JOINED, masked.MASKED,
    reductions.EXTREMA, joins.BY_PARTS, pooling.BY_AXES, quantization.EXPANDED, byte_sums.FROM_CASTS,
)  # fmt: skip
READABLE = (
    *IDENTITIES, arithmetic.SIGNS, fills.THROUGH, shapes.LENGTHS[1:], shapes.IN_PLACE, dimshuffles.COMPOSED,
    indexing.MERGED, writing.WRITING, reductions.BROADCAST, reductions.FACTORS[:1], reductions.UNSAFE[:2],
    softmax.DIFFERENCES,
)  # fmt: skip
"""Rules of the query `print`, which shows expressions to people, besides those in reading/."""
UNSAFE = (
    arithmetic.UNSAFE, powers.UNSAFE, stability.UNSAFE, canonizer.UNSAFE, switches.UNSAFE, reductions.UNSAFE,
    dots.UNSAFE, writing.UNSAFE, softmax.UNSAFE, factoring.UNSAFE,
)  # fmt: skip

QUERIES = {
    "fast_run": Query.parse("fast_run"),
    "fast_compile": Query.parse("fast_compile"),
    "stabilize": Query.parse("fast_run <1.5000001"),
    "merge": Query.parse("merge"),
    "print": Query.parse("print"),
    "unsafe": Query.parse("fast_run unsafe"),
    "o4": Query.parse("fast_run"),
    "o3": Query.parse("fast_run -inplace"),
    "o2": Query.parse("fast_compile fusion"),
    "o1": Query.parse("fast_compile"),
}
"""Queries that have a name."""


@lru_cache(maxsize=1)
def known_elsewhere() -> dict[str, Absent | OtherName]:
    """Return names of Theano and PyTensor that are no entries, with an explanation for each."""
    others = renamed() | {
        "inplace_elemwise_opt": ("inplace_elemwise_optimizer",), "scanOp_pushout_output": ("scan_pushout_dot1",),
    }  # fmt: skip
    return absent() | {name: OtherName(name, rules) for name, rules in others.items()}


def is_default(contract: Contract) -> bool:
    """Whether rules of this contract are in the default mode."""
    return contract.relaxed <= UNNOTICED and not contract.within and not contract.bits


HIDDEN = (
    Hidden(0.02, (Composed,), "inline_compositions has put their graphs in their places"),
    Hidden(0.1, (Shape,), "ShapeOpt has made shape_i nodes of them"),
    Hidden(1.61, (Assume,), "drain_specify_assumptions has removed them"),
    Hidden(49, (Pointwise, Reduce), "fusion has made most of them parts of others"),
)
"""Ops that no longer occur after a position."""


def default_db() -> SequenceDB:
    """Return the database: every pass and rule with its position and tags."""
    merge, run, both = MergeOptimizer(), ("fast_run",), ("fast_run", "fast_compile")
    in_place, fewer_errors = (*run, "inplace"), relaxes("errors").tags
    # Rules of users see the graph as it was written, unless they are registered elsewhere.
    db = SequenceDB("optdb", conform=TensorConform(), rules_at=0.5, hidden=HIDDEN)
    db.register("merge1", merge, *both, "merge", position=0)
    db.register("inline_compositions", InlineCompositions(), *both, "scan", position=0.02)
    db.register("scan_eqopt1", scan_db(), *both, "scan", position=0.05)
    lengths = filled(TopoDB(), (shapes.LENGTHS,), "fast_compile")
    db.register("ShapeOpt", lengths, *both, position=0.1, provides=("shape",))
    db.register("assume_equal", assuming.AssumeEqualOptimizer(), *run, position=0.55)
    db.register("useless", filled(TopoDB(), IDENTITIES, "fast_compile"), *both, position=0.6)
    db.register("merge1.1", merge, *both, "merge", position=0.65)
    db.register("canonicalize", equilibrium(CANONICAL, UNSAFE), *both, "canonicalize_db", position=1)
    db.register("merge1.2", merge, *both, "merge", position=1.2)
    register_integers(db)
    db.register("stabilize", equilibrium(STABLE), *run, position=1.5)
    db.register("local_fill_to_alloc", fills.TO_ALLOC[0], *run, "local_second_to_alloc", position=1.51)
    db.register("local_elemwise_alloc", fills.THROUGH[1], *run, "local_alloc_elemwise", position=1.52)
    db.register("drain_specify_assumptions", solving.drain_specify_assumptions, *both, position=1.6)
    db.register("scanOp_save_mem", SaveMemory(), *both, "scan", "scan_save_mem", *fewer_errors, position=1.61)
    db.register("useless_sum_to", SumToOptimizer(), *run, *fewer_errors, position=1.65)
    db.register("egraph", egraph(), "relaxes", position=1.67)
    db.register("BlasOpt", blas_db(), *both, position=1.7)
    db.register("specialize", equilibrium(SPECIAL), *run, position=2)
    xent = filled(TopoDB(), (softmax.LOGARITHMS,))
    db.register("crossentropy_to_crossentropy_with_softmax", xent, *run, "xent", position=2.01)
    db.register("partition", PartitionOptimizer(), position=2.4)  # before the passes that serve one engine
    db.register("channel_layout", layout_db(), *run, "layout", position=2.5)
    db.register("short_rows", ShortRowsOptimizer(), *run, position=2.6)
    db.register("uncanonicalize", last_db(), *run, position=3)
    db.register("cond_lazy", LazyBranches(), *both, "scan", position=48)
    folded_since = (*both, "scan", *fewer_errors)
    db.register("scanOp_remove_constants_and_unused_inputs1", RemoveConstants(), *folded_since, position=48.4)
    db.register("conditional_writes", filled(TopoDB(), (CONDITIONAL,)), *run, "scan", position=48.42)
    db.register("narrow_indices", NarrowIndices(), *run, position=48.45)
    db.register("scan_inner_graph", InnerGraphs(), *both, "scan", position=48.5)
    db.register("scan_merge_same_states1", MergeLoops(), *run, "scan", position=48.52)  # now in stable forms, both
    db.register("scan_weights_in_panels", PackWeights(), *run, "scan", "layout", position=48.55)
    db.register("scan_unread", RemoveUnread(), *both, "scan", *fewer_errors, position=48.6)
    db.register("scan_read_restored", ReadRestored(), *run, "scan", position=48.7)
    register_storage(db)
    db.register("assumed_once", assuming.CheckedOnceOptimizer(), *run, position=48.84)
    db.register("attention", filled(TopoDB(), (attention.ATTENTION,)), "fast_run", position=48.85)
    rounded = asked_for("bfloat16", bfloats.ATTENTION)
    db.register("attention_of_bfloat16", rounded, "bfloat16", "approximate", position=48.86)
    coarse = asked_for("bfloat16", bfloats.FUNCTIONS)
    db.register("functions_of_bfloat16", coarse, "bfloat16", "approximate", position=48.87)
    db.register("normal_tails", filled(TopoDB(), (stability.QUOTIENTS,)), *run, position=48.88)
    db.register("sums_of_parts", filled(TopoDB(), (gathering.GATHERED,)), *run, "fusion", position=48.89)
    register_products(db)
    db.register("elemwise_fusion", fusion_db(), *run, "fusion", "local_elemwise_fusion", position=49)
    db.register("merge2", merge, *run, "merge", position=49)
    db.register("add_destroy_handler", AddDestroyHandler(), *in_place, position=49.5)
    register_in_place(db, *in_place)
    db.register("merge3", merge, *run, "merge", position=100)
    db.register("print", OptInDB(readable), position=0.9)
    db.known_elsewhere = known_elsewhere
    return db


def egraph() -> EGraphOptimizer:
    """Return equality saturation, by the rules that the greedy passes before it have besides its own."""
    return EGraphOptimizer(groups=tuple(tuple(group) for group in (*CANONICAL, *STABLE)), conform=TensorConform())


def readable(db: OptInDB) -> None:
    """Register the rules by which expressions are written for people."""
    for group in (*READABLE, guards.GUARDS, notation.NOTATION, polynomials.POLYNOMIALS):
        for rule in group:
            db.register(rule.name, rule, "readable")
    db.register("merge", MergeOptimizer(), "readable", cleanup=True)


def register_products(db: SequenceDB) -> None:
    """Register epilogues of products, and constant weights in panels, with epilogue or without."""
    flat = filled(TopoDB(), (views.OF_CONVOLUTIONS,))
    db.register("views_of_convolutions", flat, "fast_run", "fusion", position=2.45)
    # no folding, which would widen weights
    later = filled(TopoDB(), (views.OF_PRODUCTS, dimshuffles.COMPOSED, shapes.RESHAPES[:1]))
    db.register("axes_after_products", later, "fast_run", "fusion", position=48.9)
    db.register("convolution_pairs", filled(TopoDB(), (pairs.PAIRS,)), "fast_run", "fusion", position=49.2)
    db.register("weights_in_panels", filled(TopoDB(), (packed.PANELS,)), "fast_run", "layout", position=49.3)


def register_in_place(db: SequenceDB, *tags: str) -> None:
    """Register passes that write results over operands which nothing else reads."""
    db.register("growing_joins", GrowingJoins(), *tags, position=48.82)
    db.register("copy_parts", CopyParts(), *tags, position=59)
    db.register("local_inplace_setsubtensor", inplace.inplace_setsubtensor(), *tags, position=60)
    db.register("local_inplace_incsubtensor1", inplace.inplace_incsubtensor1(), *tags, position=60)
    db.register("scan_make_inplace", inplace.inplace_states(), *tags, "scanOp_make_inplace", position=65)
    db.register("InplaceBlasOpt", inplace.inplace_blas(), *tags, "blas_opt_inplace", position=70)
    elementwise = inplace.inplace_elemwise()
    db.register("inplace_elemwise_optimizer", elementwise, *tags, "inplace_elemwise_opt", position=75)


def register_integers(db: SequenceDB) -> None:
    """Register quantized networks in integers; then 8-bit weights that no integer product reads become floats."""
    products = (byte_sums.BYTE_SUMS, byte_endings.BYTE_ENDINGS, byte_zeros.BYTE_ZEROS, nibbles.NIBBLES)
    integers = equilibrium((quantization.CANCELLED, *products, shapes.RESHAPES[:1], views.OF_BYTES))
    db.register("byte_sums", integers, "fast_run", "quantized", position=1.25)
    tables = filled(TopoDB(), (byte_tables.BYTE_TABLES,))  # of the graph as it was written
    db.register("byte_tables", tables, "fast_run", "quantized", position=0.7)
    weights = filled(TopoDB(), ([constants.FOLD_WEIGHTS, constants.FOLDING],), "fast_compile")
    db.register("fold_weights", weights, "fast_run", "fast_compile", position=1.3)
    db.register("sparse_products", filled(TopoDB(), (packed.packing(),)), "fast_run", "sparse", position=1.35)
    stored = filled(TopoDB(), (bfloats.STORED,))
    db.register("stored_bfloat16_products", stored, "fast_run", "bfloat16", position=1.36)
    db.register("bfloat16_products", asked_for("bfloat16", bfloats.ROUNDED), "bfloat16", "approximate", position=1.37)
    for name, rules in narrow_layers.ROUNDED.items():
        db.register(f"{name}_layers", asked_for(name, rules), name, "approximate", position=1.38)


def asked_for(tag: str, rules: Sequence[Rule]) -> TopoDB:
    """Return rules that only queries with the tag run; those that round nothing have the tag "unsafe" as well."""
    db = TopoDB()
    for rule in rules:
        db.register(rule.name, rule, tag, *(() if rule.contract.bits else ("unsafe",)))
    return db


def scan_db() -> SequenceDB:
    """Return the passes over loops: work is moved to where it is done once."""
    db = SequenceDB()
    tags = ("fast_run", "fast_compile", "scan", *relaxes("errors").tags)
    fewer_errors = ("fast_run", "scan", *relaxes("errors").tags)
    products = "fast_run", "scan", "scan_pushout"
    db.register("scanOp_pushout_seqs_ops", PushOutProducts(), *products, position=-2)  # as before derivatives
    db.register("scan_merge_same_states", MergeLoops(), "fast_run", "scan", position=-1)
    db.register("scan_elements_past_writes", ElementsPastWrites(), *fewer_errors, position=-0.5)
    db.register("scan_steady_arrays", SteadyArrays(), *fewer_errors, position=-0.4)
    db.register("scan_bounds_from_front", BoundsFromFront(), "fast_run", "scan", position=0)
    db.register("scanOp_remove_constants_and_unused_inputs0", RemoveConstants(), *tags, position=1)
    out = PushOutNonSequences(), "fast_run", "fast_compile", "scan", "scan_pushout"
    db.register("scanOp_pushout_nonseqs_ops", *out, position=2)
    db.register("scan_pushout_dot1", PushOutSums(), *products, "scanOp_pushout_output", position=4)
    return db


def blas_db() -> SequenceDB:
    """Return the passes that turn matrix products into calls of BLAS."""
    db = SequenceDB()
    db.register("stacks_of_matrices", filled(TopoDB(), (blas.STACKS,)), "fast_run", position=-1)
    db.register("local_dot_to_dot22", blas.local_dot_to_dot22, "fast_run", "fast_compile", "blas_c", position=0)
    db.register("gemm_optimizer", GemmOptimizer(), "fast_run", "blas_c", position=10)
    db.register("local_dot22_to_dot22scalar", blas.local_dot22_to_dot22scalar, "fast_run", "blas_c", position=11)
    gemv = EquilibriumDB()
    for rule in blas.GEMM_TO_GEMV:
        gemv.register(rule.name, rule, "fast_run")
    contract = reduce(or_, (rule.contract for rule in blas.GEMM_TO_GEMV))
    return db.register("local_gemm_to_gemv_db", gemv, "fast_run", "blas_c", position=15, contract=contract)


def register_storage(db: SequenceDB) -> None:
    """Register a pass for each format in which weights can be stored; only queries with its name run it."""
    for name in FORMATS:
        db.register(f"store_{name}", StoreWeights(format=name), position=48.8)


def layout_db() -> SequenceDB:
    """Return the passes for channels in blocks, and for weights in the order in which they are read."""
    db = SequenceDB()
    blocks = (layout.LAYOUT, layout_gradients.GRADIENTS, neighbours.NEIGHBOURS, byte_blocks.IN_BLOCKS)
    rules = (*blocks, dimshuffles.COMPOSED, shapes.LENGTHS)
    db.register("channels_in_blocks", equilibrium(rules), "fast_run", "layout", position=0)
    db.register("pools_of_blocks", filled(TopoDB(), (layout_pools.POOLS,)), "fast_run", "layout", position=0.1)
    parts = equilibrium((pooling.BY_PARTS, shapes.LENGTHS))
    db.register("pools_by_parts", parts, "fast_run", "layout", position=0.2)
    db.register("tiles", asked_for("winograd", winograd.WINOGRAD), "winograd", position=0.5)
    db.register("sums_of_bfloat16", asked_for("bfloat16", bfloats.SUMS), "bfloat16", position=0.8)
    db.register("pairs_of_bfloat16", asked_for("bfloat16", bfloats.PAIRS), "bfloat16", position=0.9)
    return db.register("pack_weights", filled(TopoDB(), (layout.PACKED,)), "fast_run", "layout", position=1)


def fusion_db() -> SequenceDB:
    """Return the passes that fuse nodes with a common loop."""
    db = SequenceDB()
    db.register("local_add_mul_fusion", FlattenOptimizer(), "fast_run", "fusion", position=0)
    db.register("columns_of_joins", ColumnsOptimizer(), "fast_run", "fusion", position=0.5)
    db.register("lookup_fusion", FusionOptimizer(lookups=True), "fast_run", "fusion", "lookups", position=0.9)
    db.register("composite_elemwise_fusion", FusionOptimizer(), "fast_run", "fusion", position=1)
    db.register("product_epilogue_fusion", EpilogueOptimizer(), "fast_run", "fusion", position=2)
    db.register("pipeline_fusion", PipelineOptimizer(), "fast_run", "fusion", position=3)
    return db.register("assembly_fusion", AssemblyOptimizer(), "fast_run", "fusion", position=4)


def last_db() -> EquilibriumDB:
    """Return rewrites to the cheapest form, after all other rules; approximations for queries that name them."""
    rules = (reductions.AXES, reductions.EXTREMA, reductions.FEW_EACH, dropping.AS_INDEX, softmax.PICKED)
    db = equilibrium((*rules, softmax.BACK[:1]))
    for rule in approximations.APPROXIMATE:
        db.register(rule.name, rule, use_db_name_as_tag=False)
    return db


def equilibrium(*groups: Sequence[Sequence[Rule]]) -> EquilibriumDB:
    """Return the rules run to a fixed point, with constant folding and merging of equal nodes."""
    db: EquilibriumDB = filled(EquilibriumDB(), ([constants.FOLDING],), "fast_compile")
    for group in groups:
        filled(db, group)
    return db.register("merge", MergeOptimizer(), "fast_run", "fast_compile", cleanup=True)


def filled(db: Any, groups: Sequence[Sequence[Rule]], *tags: str) -> Any:
    """Add the rules, in the default mode or "unsafe" by their contracts, and under their other names."""
    for rule in (rule for group in groups for rule in group):
        default = is_default(rule.contract)
        level = ("fast_run", *tags) if default else ("unsafe",)
        db.register(rule.name, rule, *level, *other_names(rule), use_db_name_as_tag=default)
    return db
