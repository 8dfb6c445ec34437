"""Pairs of bfloat16 numbers on an emulated aarch64, with its unit and without: the bits of the definition."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
from campaign.values.packed_floats import by_definition as product_by_definition
from campaign.values.packed_floats import numbers as spread
from machines import called, compiler, make, missing
from pairs_cases import by_definition, pairs_case

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.special import to_bfloat16
from arignote.ops.lowered.bfloat_dot import BfloatDot
from arignote.targets.named import NAMED

pytestmark = pytest.mark.long
PLAIN = NAMED["aarch64-linux"]
UNIT = replace(PLAIN, features=("asimd", "bf16", "fp"))


@pytest.mark.skipif(missing(PLAIN.name) is not None, reason=str(missing(PLAIN.name)))
@pytest.mark.skipif(compiler(PLAIN.name) is None, reason="needs aarch64-linux-gnu-gcc")
def test_the_unit_has_the_bits_of_float_multiplications(tmp_path):
    rng, size = np.random.default_rng(3), 4
    cases = [
        pairs_case(size, 12, 8, (3, 3), padding=((1, 1), (1, 1)), panel=4), pairs_case(size, 8, 6, (1, 1), panel=4),
        pairs_case(size, 16, 4, (3, 2), groups=2, stride=(1, 2), panel=4),
    ]  # fmt: skip
    inputs, outputs, arrays, wanted = [], [], [], []
    for op in cases:
        n, channels = op.weights[:2]
        x = rng.standard_normal((2, -(-channels * op.groups // size), 7, 9, size)).astype("float32")
        w, b = rng.standard_normal(op.weights).astype("float32"), rng.standard_normal(n).astype("float32")
        arrays.append(to_bfloat16(x))
        inputs.append(T.tensor("x", "uint16", x.shape))
        outputs.append(op(inputs[-1], T.constant(op.packed(to_bfloat16(w))), T.constant(b)))
        wanted.append(by_definition(op, arrays[-1], to_bfloat16(w), b))
    for low, high in ((-8, 8), (-70, -56)):  # numbers whose products are subnormal are not flushed
        a, b = spread(rng, (9, 51), low, high), spread(rng, (51, 40), low, high)
        inputs += [T.fmatrix("a"), T.fmatrix("b")]
        arrays += [a, b]
        outputs.append(BfloatDot()(*inputs[-2:]))
        wanted.append(product_by_definition(a, b, tiled=False))
    f = ag.function(inputs, outputs, name="narrow")
    for target, unit in ((PLAIN, False), (UNIT, True)):
        folder = tmp_path / ("unit" if unit else "plain")
        f.export(folder, target=target, compiler=compiler(PLAIN.name))
        make(folder)
        for y, exact in zip(called(f, arrays, folder, PLAIN.name), wanted, strict=True):
            if y.ndim == 5:
                y = y.transpose(0, 1, 4, 2, 3).reshape(len(y), -1, *y.shape[2:4])[:, : exact.shape[1]]
            np.testing.assert_array_equal(y, exact)
        listing = ["aarch64-linux-gnu-objdump", "-d", folder / "narrow"]
        text = subprocess.run(listing, capture_output=True, text=True, check=True).stdout
        assert ("bfmlalt" in text and "bfmlalb" in text) == unit
