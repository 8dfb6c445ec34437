"""Targets: values that print and parse, that passes ask for their numbers, and that code is made for."""

from __future__ import annotations

import ast
import pickle
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.driver.driver import c_text
from arignote.cbackend.program.plan import plan
from arignote.cbackend.runtime.runtime import load_runtime
from arignote.function.executable_cache import key_of
from arignote.function.function import find_toolchain, process_cache
from arignote.function.mode import as_mode
from arignote.graph import FunctionGraph
from arignote.optdb.rules import default_db
from arignote.targets import limits
from arignote.targets.costs import Costs
from arignote.targets.current import current, using
from arignote.targets.limits import Fusion, Limits, Tiles
from arignote.targets.named import NAMED, host
from arignote.targets.target import TargetError
from arignote.targets.text import parse_target

ROOT = Path(__file__).resolve().parents[2]

# --- numbers of machines stand in targets/ alone

BOUNDS = {
    # A bound on the work of the optimizer, or on a graph: the same for all machines.
    "optdb/database.py": {"MOST_ANSWERS"},
    "optdb/equilibrium.py": {"PASSES_WITHOUT_SUSPICION"},
    "optdb/index.py": {"MOST_KEPT"},
    "optdb/mismatch.py": {"MOST_OPERANDS"},
    "optdb/rules/linalg/views.py": {"DEEPEST"},
    "optdb/rules/shapes/masked.py": {"MOST_ADDITIONS"},
    "optdb/rules/shapes/dimshuffles.py": {"CHEAP"},
    "optdb/rules/shapes/strided.py": {"FEWEST_STACKED"},
    "optdb/rules/shapes/gathering.py": {"MOST_ADDITIONS", "MOST_ALONE", "MOST_WORK"},
    "optdb/rules/shapes/covering.py": {"MOST_PARTS"},
    "ops/control/scan_gradient.py": {"LONG_PRODUCT"},
    "ops/special/lambert.py": {"STEPS", "DERIVED", "BRANCH_LOW"},
    "optdb/rules/search/egraph.py": {"MOST_FORMS", "MOST_PAIRS"},
    "optdb/rules/search/prices.py": {"VIEW"},
    "optdb/rules/search/saturation.py": {"BETTER"},
    "optdb/rules/search/widening.py": {"WAYS"},
    "optdb/rules/networks/attention.py": {"LITTLE"},
    "ops/control/small_arrays.py": {"LONGEST"},
    "optdb/rules/linalg/packed.py": {"LITTLE"},
    "optdb/rules/quantized/narrow.py": {"MOST_MOVES"},
    "optdb/rules/conforming.py": {"_LOOKED_AT"},
    "optdb/rules/memory/destroy.py": {"NEAR"},
    "optdb/rules/control/scan_weights.py": {"FEWEST_STEPS"},
    "optdb/rules/blocks/channels_last.py": {"CHANNELS_FIRST", "CHANNELS_LAST"},
    "ops/networks/transposed.py": {"FEWEST", "TO_POSITIONS"},
    # The form of packed weights, which the C knows too.
    "ops/lowered/bfloat_convolution.py": {"GROUP_WORDS", "IMAGE_WORDS"},
    "optdb/rules/elementwise/constants.py": {"LARGEST_FOLDED", "LARGEST_GROWTH", "SHARED", "_ALWAYS_SMALL"},
    "optdb/rules/shapes/assuming.py": {"FEW"},
    "optdb/rules/shapes/fills.py": {"MOST_STEPS"},
    "optdb/rules/fusion/rows.py": {"OPEN"},
    "optdb/rules/shapes/lifting.py": {"MOST_PASSED"},
    "optdb/rules/shapes/joins.py": {"MOST_PARTS", "_MOST_PADDINGS"},
    "optdb/rules/quantized/quantization.py": {"SAFE"},
    "optdb/rules/elementwise/powers.py": {"LONGEST_PRODUCT", "LONGEST_INTEGER_PRODUCT"},
    "optdb/rules/elementwise/products.py": {"MOST_FACTORS"},
    "optdb/rules/reading/polynomials.py": {"MOST_TERMS", "MOST_DEEP", "MOST_VISITS"},
    "optdb/rules/reading/notation.py": {"_MOST_BELOW"},
    "optdb/rules/reading/guards.py": {"_MOST_BELOW"},
    "optdb/rules/quantized/storage.py": {"LEAST"},
    "optdb/rules/linalg/structure.py": {"_LARGEST_CONSTANT"},
    "ops/shapes/conditions.py": {"_SMALL"},
    "ops/elementwise/c_forms.py": {"NOT_LOADED"},
    "ops/core/derivatives.py": {"_LAYERS"},
    "ops/shapes/distinct.py": {"_VIEWS"},
    "ops/control/laziness.py": {"MOST_NESTED"},
    "ops/control/overwriting.py": {"MOST_KEPT"},
    "ops/core/tracing.py": {"_LONGEST"},
    "ops/linalg/einsum.py": {"_UNKNOWN", "_OPTIMAL"},
    "ops/core/tensor.py": {"MOST_NUMBERS", "_LONGEST_BRIEF"},
    "ops/shapes/lengths.py": {"_DEPTH"},
    "ops/networks/patches.py": {"MOST_SLICES"},
    "ops/shapes/sliding.py": {"MOST_SLICES"},
    "ops/networks/pooling.py": {"MOST_TAPS"},
    "ops/shapes/slices.py": {"_LOOKED_INTO"},
    "cbackend/driver/rerolling.py": {"WORTH_A_LOOP"},
    "cbackend/program/buffers.py": {"MOST_PLACES"},
    "cbackend/program/planner.py": {"_PARTS"},
    "cbackend/lowering/nests/few_columns.py": {"FEW", "LONG"},
    "cbackend/lowering/nests/element_loops.py": {"SHORT", "STRIP", "STRIP_OF_LOOPS", "_STOPPED"},
    "cbackend/lowering/nests/element_vectors.py": {"_ANYWHERE", "_SHIFT"},
    # A number of mathematics, of a type or of an algorithm.
    "optdb/rules/shapes/slicing.py": {"_BEYOND", "_LARGEST_STEP"},
    "optdb/rules/control/scan_products.py": {"_TRANSPOSED"},
    "optdb/rules/quantized/byte_endings.py": {"MOST_SCALE"},
    "optdb/rules/quantized/byte_sums.py": {"MOST"},
    "optdb/rules/quantized/byte_zeros.py": {"NO_PADDING"},
    "optdb/rules/fusion/growing.py": {"FEWEST"},
    "optdb/rules/quantized/byte_tables.py": {"CHEAP", "LEAST_SCALE", "MOST", "STAGES"},
    "optdb/rules/blocks/winograd.py": {"SIDE"},
    "cbackend/lowering/nests/trees.py": {"LANES", "MOST_TOTALS"},
    "ops/lowered/byte_sums.py": {"WORD"},
    "ops/lowered/byte_tables.py": {"ENTRIES", "FRACTION"},
    "ops/networks/activations.py": {"SELU_ALPHA", "SELU_SCALE"},
    "ops/networks/ctc.py": {"NEVER"},
    "ops/core/traced.py": {"_MOST_DIGITS"},
    "ops/networks/sampling.py": {"CUBIC"},
    "ops/networks/fixed_point.py": {"BITS"},
    "optdb/rules/elementwise/stability.py": {"_COEFFICIENTS"},
    "ops/control/scan_ops.py": {"ENDLESS"},
    "ops/random/generator_states.py": {"PCG64_WORDS", "_MASK"},
    "ops/random/discrete.py": {"COLORED"},
    "ops/reductions/selection.py": {"_SAMPLE", "_DEVIATIONS", "_NEAR"},
    "ops/linalg/matrix_functions.py": {"_ERROR_13", "_NEAR_1", "_NODES", "_PADE_13", "_THETA_13"},
    "ops/elementwise/special.py": {"_BERNOULLI", "_LARGE", "_P", "_Q", "_ROOT", "_TERMS", "_TURNS", "_Y"},
    "ops/shapes/creation.py": {"_FAR"},
    "ops/shapes/windows.py": {"MOST"},
    # Coefficients and expansion points of approximations, the same for every machine.
    "ops/special/bessel.py": {
        "DEBYE_1", "DEBYE_2", "DEBYE_3", "DEBYE_4", "DEBYE_5", "DEBYE_6", "DEBYE_7", "DEBYE_8", "DEBYE_9", "DEBYE_10",
        "DEBYE_11", "SHAPE_SERIES", "SINH_SERIES", "TEMME_EVEN", "TEMME_ODD",
    },
    "ops/special/waves01.py": {
        "J0_ROOT", "J0_ROOT_LOW", "J0_SMALL", "J0_TINY", "J1_ROOT", "J1_ROOT_LOW", "J1_SMALL", "P0_LARGE",
        "P1_LARGE", "Q0_LARGE", "Q1_LARGE", "Y0_SMALL", "Y1_SMALL",
    },
    "ops/special/oscillating.py": {"PI_LOW", "QUARTER_1", "QUARTER_2", "QUARTER_3"},
    "ops/special/entropies.py": {"ARTANH_REST"},
    "ops/special/ratios.py": {
        "HALF_LOG_TWO_PI", "LEAST_POWER", "MOST_EXPONENT", "MOST_POWER", "RECIPROCAL_AT_MIDDLE",
        "RECIPROCAL_AT_MIDDLE_LOW", "RECIPROCAL_GAMMA", "ROOT_TWO_PI",
    },
    "ops/special/second_kind.py": {
        "HALF_PI", *(f"K_NEAR_{k}" for k in range(10)), *(f"K_MIDDLE_{k}" for k in range(9)),
        *(f"K_FAR_{k}" for k in range(8)),
    },
    "ops/special/by_order.py": {f"DEBYE_SLOPE_{k}" for k in range(1, 12)},
    "ops/special/errors.py": {
        "DAWSON_1", "DAWSON_2", "DAWSON_3", "DAWSON_4", "DAWSON_FAR", "ERFCX_SERIES", "ERFINV_CENTRE", "ERFINV_FAR",
        "ERFINV_MIDDLE", "FADDEEVA_SERIES", "FAR_CENTRE", "LN2", "LN2_LOW", "PER_FAR", "ROOT_2",
        "ROOT_HALF", "TAIL_SERIES", "VOIGT_HALVES", "VOIGT_WHOLES",
    },
    "ops/special/functions.py": {"_SQUARES"},
    "ops/special/scalars.py": {"FEW"},
    "ops/special/hypergeometric.py": {"MOST_TERMS", "MOST_PARAMETER", "NEAR_INTEGER"},
    "ops/special/gammas.py": {
        "LOG_GAMMA_SERIES", "TEMME_0", "TEMME_1", "TEMME_2", "TEMME_3", "TEMME_4", "TEMME_5", "TEMME_6", "TEMME_7",
        "TEMME_8", "TEMME_9", "ZETA_TAIL",
    },
    "ops/special/integrals.py": {
        "BRANCH", "BRANCH_LOW", "BRANCH_SERIES", "DILOGARITHM", "E1_LARGE", "E1_MIDDLE", "EIN_SERIES", "EI_LARGE",
        "EI_MIDDLE", "EI_ROOT", "EI_ROOT_LOW", "EI_SLOPE", "E_LOGARITHM", "E_NEAR_0", "E_REGULAR", "FRESNEL_C",
        "FRESNEL_F", "FRESNEL_G", "FRESNEL_S", "K_LOGARITHM", "K_NEAR_0", "K_REGULAR", "LEGENDRE_SQUARES",
        "LEGENDRE_WEIGHTS", "COSINE_OF_QUARTERS", "SINE_OF_QUARTERS",
    },
    "ops/special/quantiles.py": {"LEGENDRE_NODES", "LEGENDRE_WEIGHTS"},
    "ops/special/orders01.py": {
        "I0_LARGE", "I0_SMALL", "I0_TINY", "I1_LARGE", "I1_SMALL", "I1_TINY", "K0_LARGE", "K0_MIDDLE", "K0_SMALL",
        "K1_LARGE", "K1_SMALL",
    },
    "ops/special/airys.py": {
        "A_FAR", "A_NEAR", "A_SLOPE_FAR", "A_SLOPE_NEAR", "B_FAR", "B_MIDDLE", "B_NEAR", "B_SLOPE_FAR",
        "B_SLOPE_MIDDLE", "B_SLOPE_NEAR", "COSINE", "SINE", "SLOPE_COSINE", "SLOPE_SINE", "ZERO_OF_A", "ZERO_OF_A_LOW",
        "ZERO_OF_A_SLOPE", "ZERO_OF_A_SLOPE_LOW", "ZERO_OF_B", "ZERO_OF_B_LOW", "ZERO_OF_B_SLOPE",
        "ZERO_OF_B_SLOPE_LOW",
    },
    "ops/special/parts.py": {
        "ARTANH_SERIES", "DIGAMMA_SERIES", "DIGAMMA_START", "HALF_LOG_2PI", "HALF_LOG_2PI_LOW", "LOG_GAMMA_START",
        "PER_LN2", "STIRLING_SERIES", "TWELFTH", "TWELFTH_LOW", "TWO_FIFTHS", "TWO_FIFTHS_LOW", "TWO_THIRDS",
        "TWO_THIRDS_LOW",
    },
    # Axes; and the order of weights, which the C knows.
    "ops/lowered/blocked.py": {"IN_BLOCKS", "SWAP_GROUPS", "MOST_LISTED", "OF_BLOCKS", "POSITIONS", "SPREAD"},
    "ops/lowered/formats/__init__.py": {"_COUNTED"},
    "ops/lowered/formats/bfloats.py": {"ALL_ZERO"},
    "optdb/rules/blocks/layout.py": {"IMAGE_CHANNELS"},
    "ops/lowered/formats/nibbles.py": {"LEAST", "MOST", "OCTET", "TILE"},
    "ops/lowered/formats/sparse_columns.py": {"DEPTH"},
    "ops/lowered/formats/widened.py": {"BFLOAT16", "FLOAT16", "TILE"},
    "ops/lowered/formats/two_of_four.py": {"BLOCK", "GROUP", "KEPT"},
    "ops/networks/weights.py": {"DEPTH", "EVEN"},
    "cbackend/program/planners/batches.py": {"SUMMED"},
    # Blocks of sums and products: the bits of results depend on them, on every target.
    "cbackend/lowering/blocks.py": {"BLOCK"},
    "cbackend/lowering/fold.py": {"LONG"},
    "cbackend/lowering/devices/groups.py": {"ITEMS", "LANES", "ROW_LANES", "LEAST_LANES", "HELD", "PART", "_NARROW"},
    "cbackend/lowering/lanes.py": {"LANES"},
    "cbackend/lowering/nests/indexing.py": {"STRIP"},
    "cbackend/lowering/nests/planes.py": {"ROWS"},
    "cbackend/lowering/nests/reduce.py": {"ROWS"},
    "cbackend/lowering/splitting.py": {"ELEMENTS_OF_PART", "ROWS_OF_PART"},
    "cbackend/lowering/nests/short_rows.py": {"VECTORS"},
    "ops/lowered/blocked_gradient.py": {"PANEL", "PORTIONED"},
    "optdb/rules/reductions/reductions.py": {"FEW", "STACKED"},
    # Room in the structures of our own runtime, and columns of its tables.
    "cbackend/kernels/convolutions/plan.py": {"MOST_LOOPS"},
    "cbackend/kernels/quantized/plan.py": {"FIXED"},
    "cbackend/driver/driver.py": {"CALLS_BETWEEN_LOOKS"},
    "cbackend/driver/steps.py": {"DETAIL"},
    "cbackend/program/arithmetic.py": {"FAILED"},  # no length
    "cbackend/program/accounts.py": {"COLUMNS", "TOTALS", "PLANNED", "ROW_ADDITIONS"},
    "cbackend/program/planners/block_layout.py": {"_MOST_SHUFFLED"},
    "cbackend/program/planners/epilogue.py": {"MAX_ARRAYS"},
    "cbackend/program/planners/pipeline.py": {"MAX_ARRAYS", "MAX_LOOPS", "MAX_LINE_BUFFERS"},
    # Sizes of searches, marks, and lengths of texts in the division among engines.
    "engines/division/assignment.py": {"EXACT", "WINDOW", "_ROUNDS", "FORBIDDEN", "HOST"},
    "engines/division/problem.py": {"_SHARED_LAUNCHES"},
    "engines/division/divide.py": {"_NAMED"},
    # Lengths of texts.
    "optdb/why_not.py": {"SHOWN"},
    "ops/writing/code.py": {"LARGEST_CONSTANT", "_MOST_WHOLE"},
    "ops/writing/expressions.py": {"_BRIEF", "_DEEP", "_LONG", "_REPEATED", "_STEPS", "_WIDEST", "_WIDEST_TEXT"},
    "ops/writing/views.py": {"LARGEST"},
    "ops/writing/latex.py": {"MOST_ELEMENTS"},
    "cbackend/driver/arena.py": {"A_LINE"},
    "cbackend/driver/listing.py": {"LINES"},
    "cbackend/lowering/describe.py": {"LIMIT"},
}  # fmt: skip
"""Numbers that may stand outside targets/: no machine and no compiler decides them."""


def is_number(value):
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (int, float)) and not isinstance(value.value, bool)
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand)
    if isinstance(value, ast.BinOp):
        return is_number(value.left) and is_number(value.right)
    return isinstance(value, ast.Tuple) and bool(value.elts) and all(map(is_number, value.elts))


def numbers(path):
    """The module's constants that are plain numbers."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and is_number(node.value):
            names = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (n.id for name in names for n in ast.walk(name) if isinstance(n, ast.Name))


@pytest.mark.parametrize(
    "room", ["optdb", "optdb/rules", "ops", "cbackend/lowering", "cbackend/program", "cbackend/driver"]
)
def test_numbers_of_machines_stand_in_targets(room):
    for path in sorted((ROOT / room).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        left = set(numbers(path)) - BOUNDS.get(name, set())
        assert not left, f"{name}: {left} belong to targets/limits.py or targets/costs.py, or to BOUNDS with a reason"


def test_the_list_of_bounds_is_current():
    for name, bounds in BOUNDS.items():
        assert bounds <= set(numbers(ROOT / name)), name


# --- text

TARGETS = {
    **NAMED,
    "this machine": host(),
    "other numbers": replace(
        NAMED["x86_64-linux-v3"], l1=1000, threads=7, compiler=(),
        limits=Limits(Fusion(nodes=9), tiles=Tiles(elements=(1, 2))),
    ),
    "other costs": replace(host(), costs=replace(host().costs, table="", launch=1)),
}


@pytest.mark.parametrize("name", TARGETS)
def test_targets_print_and_parse(name):
    target = TARGETS[name]
    assert parse_target(str(target)) == target and hash(target) == hash(parse_target(str(target)))


def test_a_text_says_in_what_a_target_differs():
    target = parse_target("x86_64-linux avx2,avx,fma l1=48K l2=2M threads=3 limits.fusion.nodes=20 costs.jump=5")
    assert (target.features, target.vector, target.integers) == (("avx", "avx2", "fma"), 32, 32)
    assert (target.l1, target.l2, target.threads) == (48 << 10, 2 << 20, 3)
    assert target == parse_target(str(target)) == parse_target(str(target).replace(".fusion.", "."))
    assert (target.limits, target.costs.jump) == (Limits(Fusion(nodes=20)), 5)
    assert target.flags == ("-march=x86-64", "-mavx", "-mavx2", "-mfma")
    assert parse_target("x86_64-linux-v4 vector=32").flags[-1] == "-mprefer-vector-width=256"


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "expected a name"),
        ("x86_64-linux-v33", "did you mean 'x86_64-linux-v3'?"),
        ("vax", "expected one of host, x86_64-linux,"),
        ("x86_64-linux avx3", "no feature is called 'avx3'; did you mean"),
        ("x86_64-linux fma avx2", "expected key=value, got 'avx2'; the features are one word"),
        ("x86_64-linux thread=3", "no key is called 'thread'; did you mean 'threads'?"),
        ("x86_64-linux limits.node=3", "no key is called 'limits.node'; did you mean 'limits.nodes'?"),
        ("x86_64-linux l1=many", "l1 is 'many'; expected a size such as 48K"),
        ("x86_64-linux l1=-1", "l1 is '-1'; expected a size such as 48K"),
        ("x86_64-linux limits.tiles.elements=3", "limits.tiles.elements is '3'; expected a whole number"),
    ],
)
def test_texts_of_no_target(text, message):
    with pytest.raises(TargetError, match=r"^target") as error:
        parse_target(text)
    assert message in str(error.value)


# --- passes ask


def kernels(y, target):
    """The ops of the graph of `y` as a target has it fused."""
    with using(target):
        return [node.op for node in ag.rewrite(FunctionGraph([x, w], [y]), "fast_run").order]


x, w = T.vector("x"), T.vector("w", shape=(1,))


def test_passes_ask_the_target_of_their_block():
    y = x
    for _ in range(6):
        y = T.sin(y) + T.cos(y)
    limited = replace(host(), limits=Limits(Fusion(nodes=9)))
    assert len(kernels(y, host())) == 1 and len(kernels(y, limited)) == 2 and len(kernels(y, None)) == 1
    assert current() == host()


def test_the_cost_model_decides_what_is_computed_again():
    y = x * (w * w + w)  # of one element, so that a loop over x would compute it anew in each step
    dear = replace(host(), costs=replace(host().costs, broadcast_byte=0))
    assert len(kernels(y, host())) < len(kernels(y, dear))


# --- functions for a target

m, n, v = T.fmatrix("m"), T.fmatrix("n"), T.fvector("v")
V3 = "x86_64-linux-v3"
runs_v3 = pytest.mark.skipif(not host().runs(NAMED[V3]), reason="this processor has no AVX2")


@runs_v3
def test_code_for_a_target_runs_with_the_bits_that_are_promised():
    """Elementwise work, extrema, sums of columns and our own products; sums along rows fill other vectors."""
    outputs = [T.tanh(m) / (1 + T.exp(m)), m.max(1), m.argmin(), m.sum(0), m @ n + 1, (m * 100).astype("int32").sum()]
    rng = np.random.default_rng(1)
    values = [rng.standard_normal(shape).astype("float32") for shape in ((67, 131), (131, 35))]
    here, there = ag.function([m, n], outputs), ag.function([m, n], outputs, target=V3)
    assert (here.target, there.target) == (host(), NAMED[V3]) and there.backend == "c"
    for a, b in zip(here(*values), there(*values), strict=True):
        assert np.array_equal(a, b)
    again = pickle.loads(pickle.dumps(there))
    assert again.target == there.target and again.c_source() == there.c_source()


def assembly(function, folder):
    toolchain = find_toolchain().under(function.target)
    (folder / "code.c").write_text(function.c_source())
    command = [*toolchain.command, *toolchain.all_flags, "-S", "-o", "code.s", "code.c"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "code.s").read_text()


@runs_v3
def test_code_for_a_target_has_its_vectors_alone(tmp_path):
    f, narrow = (ag.function([v], T.exp(v), target=target) for target in (V3, "x86_64-linux"))
    assert "simdlen(8)" in f.c_source() and "simdlen(4)" in narrow.c_source()
    assert "%ymm" in (text := assembly(f, tmp_path)) and "%zmm" not in text
    assert "%xmm" in (text := assembly(narrow, tmp_path)) and "%ymm" not in text
    table = load_runtime(find_toolchain().under(NAMED[V3]), process_cache()).table
    assert table != load_runtime(find_toolchain(), process_cache()).table


@runs_v3
def test_functions_are_remembered_by_their_target():
    graph = FunctionGraph([m], [T.exp(m)])
    other_limits = replace(NAMED[V3], limits=Limits(Fusion(nodes=5)))
    targets = None, NAMED[V3], other_limits, replace(NAMED[V3], costs=Costs(jump=1))
    keys = [key_of(graph, as_mode("FAST_RUN"), find_toolchain().fingerprint, target) for target in targets]
    assert len(set(keys)) == len(keys)
    named, threaded = replace(NAMED[V3], name="mine"), replace(NAMED[V3], threads=3)
    found = find_toolchain().fingerprint
    assert all(key_of(graph, as_mode("FAST_RUN"), found, each) == keys[1] for each in (named, threaded))
    for _ in range(2):
        f = ag.function([v], T.exp(v) + 3, target=V3)
    assert f._run.from_cache and "simdlen(8)" in f.c_source()  # printed again, long after the block of its target
    assert ag.function([m], m + 1, target=f"{V3} threads=1").threads == 1
    assert ag.function([m], m + 1, target=f"{V3} threads=1", threads=2).threads == 2


@runs_v3
def test_targets_reach_tiers_and_numpy_and_blocks():
    f = ag.function([v], T.exp(v), target=V3, compile_budget=0.0)
    assert f.wait(60) and "simdlen(8)" in f.c_source()
    foreign = ag.function([v], T.exp(v), target="aarch64-linux", mode="NUMPY")
    assert foreign.target == NAMED["aarch64-linux"] and foreign([0.0]) == [1.0]
    with using(NAMED[V3]):
        assert ag.function([v], v + 1).target == NAMED[V3]  # of the block


@runs_v3
def test_a_block_changes_no_function_that_was_made_outside():
    """The graph, the program and the C of a function are made when somebody asks: for its own target."""
    kernels = np.ones((32, 32, 3, 3), "float32")
    image = T.tensor("image", "float32", (1, 32, 9, 9))
    for _ in range(2):  # compiled, then from the cache
        f = ag.function([image], T.nn.conv2d(image, kernels), name="outside")
        with using(NAMED["x86_64-linux"]):
            blocks = {n.op.size for n in f.graph.nodes if n.op.name == "blocked_convolution"}
            assert f.program is not None and blocks == {host().vector // 4}
    assert f.from_cache and f.c_source()


def test_targets_that_cannot_be_compiled_for(monkeypatch):
    for name in ("aarch64-linux", "wasm32-wasi"):
        with pytest.raises(TargetError, match=rf"target {name} is another machine.*export\(folder, target='{name}'\)"):
            ag.function([m], m + 1, target=name)
    monkeypatch.setattr("arignote.targets.named.host", lambda: NAMED[V3])
    with pytest.raises(TargetError, match=r"x86_64-linux-v4 has avx512.* which this processor lacks"):
        ag.function([m], m + 1, target="x86_64-linux-v4")
    with pytest.raises(TargetError, match="no target is called 'x86-64-linux-v3'; did you mean 'x86_64-linux-v3'"):
        ag.function([m], m + 1, target="x86-64-linux-v3")
    with pytest.raises(TypeError, match="target is 3; expected an ag"):
        ag.function([m], m + 1, target=3)


ODD = Limits(
    fusion=limits.Fusion(nodes=4, folds=2, stages=2),
    chains=limits.Chains(body=4, copies=2),
    tiles=limits.Tiles(strip_bytes=1024, bytes=2048, elements=(64, 128), long_body=4),
    columns=limits.Columns(elements=64, accumulator_bytes=2048, unrolled_rows=2),
    short_rows=limits.ShortRows(rows=2, tile_bytes=4096, tile_rows=(4, 16)),
    searches=limits.Searches(columns=32, accumulators=2, bytes=64, block=(512, 64), longer=(2, 2)),
    programs=limits.Programs(driver_steps=2, long=1, long_function=5),
    joins=limits.Joins(few=1),
    pools=limits.Pools(taps=2),
)  # fmt: skip
"""Tiles, strips and segments of odd sizes."""


def sums_behind_work(m, d):
    """Sums in loops of other work: how much of it they share depends on limits."""
    return [
        T.concatenate([m, T.exp(m)]).sum(1), T.exp(m[:, :7]).sum(1), (T.sqrt(T.exp(T.abs(m)) + 1) / 2 + 3).sum(1),
        ((((d + 0.1) * 1.1 - 0.3) / 1.7 + 0.7) * 1.3).sum(1), d.prod(1), T.exp(d).prod(1), ((d + 0.1) * 1.1).sum(),
    ]  # fmt: skip


@pytest.mark.usefixtures("on_wide_target")
def test_sums_in_loops_over_floats_of_one_size_have_whole_vectors_of_accumulators():
    """Where gcc chooses, it takes half a vector on Intel's processors."""
    d = T.matrix("d", "float64")
    for own in (Limits(), ODD):
        with using(replace(current(), limits=own)):
            graph = default_db().query("fast_run")(FunctionGraph([m, d], sums_behind_work(m, d)))[0]
            text = c_text(plan(graph))
        head = r"#pragma omp simd(.*)\n *for \(i64 lane = 0; lane < (\d+); lane\+\+\) {\n *const i64 i\d = at"
        loops = re.findall(head, text)
        assert len(loops) > 3 and set(loops) == {(" simdlen(16)", "16"), (" simdlen(8)", "8")}
        assert not re.search(r"reduction\([+*]", text)


@runs_v3
def test_limits_change_no_result():
    t, d = m.T, T.matrix("d", "float64")
    outputs = [
        T.exp(t) + m.max(), T.nn.softmax(m), m.sum(0), t.sum(0), T.cumsum(m, 0), m.argmax(0), m.argmax(), m.max(1),
        m[:, :7].sum(1), m[:, :7].argmin(1), *sums_behind_work(m, d),
    ]  # fmt: skip
    rng = np.random.default_rng(1)
    value, wide = rng.standard_normal((301, 301)).astype("float32"), rng.standard_normal((301, 601))
    functions = [ag.function([m, d], outputs, target=replace(host(), limits=own)) for own in (Limits(), ODD)]
    results = [f(value, wide) for f in functions]
    for a, b in zip(*results, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", NAMED)
def test_sums_and_products_have_a_text_for_vectors_of_any_width(name):
    """Also where a vector has one number, or none."""
    with using(NAMED[name]):
        for dtype in ("float32", "float64"):
            m = T.matrix("m", dtype)
            graph = ag.rewrite(FunctionGraph([m], [m.sum(1), m.prod(1), (m * m).sum()]), "fast_run")
            assert "for (i64 lane" in c_text(plan(graph))
