"""Samples of PyTorch's own tests (`OpInfo`), computed by our converters and by PyTorch.

    python -m tests.lib.torch_ops [NAME ...]      counts, and one line for each sample that differs
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import arignote as ag
from arignote.frontends.torch import Conversion
from arignote.frontends.torch.backend import decompositions_of
from arignote.frontends.torch.building import leaves
from arignote.frontends.torch.dtypes import NAMES, Unsupported, array_of, type_of
from arignote.graph import Variable
from arignote.ops.core.tensor import TensorVariable

EQUAL, EAGER, DIFFERS, FAILS, UNTRACED = "equal", "eager", "differs", "fails", "untraced"


class Outcome(NamedTuple):
    """One sample: how it went, and why."""

    op: str
    dtype: str
    fate: str
    text: str = ""


def traced(op: Any, sample: Any) -> Any:
    """Return the graph of an op on a sample, the tensors of the sample, and its results in PyTorch."""
    given, form = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [k for k, v in enumerate(given) if isinstance(v, torch.Tensor)]
    tensors = [given[k].detach() for k in places]

    def run(*values: torch.Tensor) -> Any:
        every = list(given)
        for k, v in zip(places, values, strict=True):
            every[k] = v
        first, args, kwargs = pytree.tree_unflatten(every, form)
        return op(first, *args, **kwargs)

    expected = run(*[t.clone() for t in tensors])
    graph = make_fx(
        torch.func.functionalize(run, remove="mutations_and_views"), decomposition_table=decompositions_of(),
        tracing_mode="fake",
    )(*tensors)
    return graph, tensors, expected


def outcome(op: Any, dtype: torch.dtype, sample: Any, mode: Any) -> Outcome:
    """Return how one sample goes."""
    label = f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}"
    kind = str(dtype).removeprefix("torch.")
    torch.manual_seed(0)
    try:
        graph, tensors, expected = traced(op, sample)
    except Exception as error:  # PyTorch does not trace it
        return Outcome(label, kind, UNTRACED, f"{type(error).__name__}: {str(error)[:200]}")
    try:
        conversion = Conversion()
        inputs = [TensorVariable(type_of(t)) for t in tensors]
        values = leaves(conversion.graph(graph, inputs))
        outputs = [v for v in values if isinstance(v, Variable)]
        torch.manual_seed(0)
        found = iter(ag.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*map(array_of, tensors)) or [])
        results = [next(found) if isinstance(v, Variable) else v for v in values]
    except Unsupported as error:
        return Outcome(label, kind, UNTRACED, str(error))
    except Exception as error:
        return Outcome(label, kind, FAILS, f"{type(error).__name__}: {str(error)[:300]}")
    wanted = leaves(expected)
    try:
        for got, want in zip(results, wanted, strict=True):
            if isinstance(want, torch.Tensor):
                torch.testing.assert_close(torch.from_numpy(np.array(got)), want.detach().resolve_conj().resolve_neg(),
                                           equal_nan=True, check_stride=False)  # fmt: skip
            else:
                assert got == want or (got != got and want != want), f"{got} != {want}"
    except AssertionError as error:
        fate = EAGER if conversion.remarks and "empty" in label else DIFFERS
        return Outcome(label, kind, fate, " ".join(str(error).split())[:300] + f" {sample}"[:200])
    return Outcome(label, kind, EAGER if conversion.remarks else EQUAL, "; ".join(conversion.remarks)[:200])


def outcomes(names: Any = (), most: int = 6, mode: Any = "NUMPY", dtypes: Any = tuple(NAMES)) -> Iterator[Outcome]:
    """Yield how samples go: at most so many for each op and dtype, spread evenly."""
    for op in op_db:
        if (names and op.name not in names) or op.name.startswith("nn.functional.ctc"):
            continue
        for dtype in sorted(op.supported_dtypes("cpu") & set(dtypes), key=str):
            try:
                samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
            except Exception as error:
                yield Outcome(op.name, str(dtype), UNTRACED, f"no samples: {error}"[:200])
                continue
            step = max(1, len(samples) // most)
            for sample in samples[::step][:most]:
                yield outcome(op, dtype, sample, mode)


def main(names: list[str]) -> None:
    """Print counts, and one line for each sample that differs or fails."""
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    eager: Counter[str] = Counter()
    for found in outcomes(names, 4):
        counts[found.fate] += 1
        if found.fate in (DIFFERS, FAILS) or (names and found.fate != EQUAL):
            print(found.fate, found.op, found.dtype, found.text, flush=True)
        if found.fate == EAGER:
            eager[found.text.split(" ")[0]] += 1
    print(dict(counts))
    print(dict(eager.most_common()))


if __name__ == "__main__":
    main(sys.argv[1:])
