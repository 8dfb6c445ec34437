"""Samples of PyTorch's own tests (`OpInfo`), computed by our converters and by PyTorch.

python tests/lib/frontends/torch_ops.py [NAME ...]      counts, and one line for each sample that differs
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
from arignote.frontends.torch.building import leaves
from arignote.frontends.torch.decompositions import decompositions_of
from arignote.frontends.torch.dtypes import NAMES, Unsupported, array_of, type_of
from arignote.graph import Variable
from arignote.ops.core.tensor import TensorVariable

UNSET = frozenset(("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"))
"""Ops whose results are yet to be set."""
UNORDERED = frozenset(("sort", "topk", "argsort", "kthvalue"))
"""Ops that give positions of equal elements in any order, unless the caller asks for a stable one."""
EQUAL, EAGER, DIFFERS, FAILS, UNTRACED, REFUSED = "equal", "eager", "differs", "fails", "untraced", "refused"


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
    plain = make_fx(run, decomposition_table=decompositions_of(), tracing_mode="fake")(*tensors)
    whole = torch.func.functionalize(plain, remove="mutations_and_views")
    graph = make_fx(whole, decomposition_table=decompositions_of(), tracing_mode="fake")(*tensors)
    graph.graph.eliminate_dead_code()
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
        torch.manual_seed(42)  # as the samples do
        found = iter(ag.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*map(array_of, tensors)) or [])
        results = [next(found) if isinstance(v, Variable) else v for v in values]
    except Exception as error:
        if isinstance(error, Unsupported) or isinstance(error.__cause__, Unsupported):
            return Outcome(label, kind, REFUSED, str(error))
        return Outcome(label, kind, FAILS, f"{type(error).__name__}: {str(error)[:300]}")
    wanted = leaves(expected)
    if op.name in UNORDERED and "stable" not in sample.kwargs:
        results, wanted = _by_place(op, sample, results), _by_place(op, sample, wanted)
    try:
        for got, want in zip(results, wanted, strict=True):
            if isinstance(want, torch.Tensor):
                _require_close(torch.as_tensor(np.array(got)), want.detach().resolve_conj().resolve_neg())
            else:
                assert got == want or (got != got and want != want), f"{got} != {want}"
    except AssertionError as error:
        return Outcome(label, kind, DIFFERS, " ".join(str(error).split())[:300] + "; " + "; ".join(conversion.remarks))
    return Outcome(label, kind, EAGER if conversion.remarks else EQUAL, "; ".join(conversion.remarks)[:200])


def _require_close(got: torch.Tensor, want: torch.Tensor) -> None:
    """Compare within PyTorch's tolerances, the absolute one in units of the largest number, for sums that cancel."""
    plain = torch.abs(want[torch.isfinite(want)]).double() if want.is_floating_point() or want.is_complex() else None
    scale = max(1.0, float(plain.max())) if plain is not None and plain.numel() else 1.0
    tolerance = {torch.float16: (1e-3, 1e-3), torch.float32: (1.3e-6, 1e-5), torch.complex64: (1.3e-6, 1e-5)}
    rtol, atol = tolerance.get(want.dtype, (1e-7, 1e-7) if plain is not None else (0, 0))
    torch.testing.assert_close(got, want, rtol=rtol, atol=atol * scale, equal_nan=True, check_stride=False)


def _by_place(op: Any, sample: Any, results: Any) -> list[Any]:
    """Return the elements at the positions that an op found, in ascending order along the axis."""
    places, x = torch.as_tensor(np.array(results[-1])), sample.input
    if not x.ndim:
        return [places]
    at = 1 if op.name in ("topk", "kthvalue") else 0
    dim = sample.kwargs.get("dim", sample.args[at] if len(sample.args) > at else -1)
    dim = -1 if isinstance(dim, bool) else dim
    places = places if places.ndim == x.ndim else places.unsqueeze(dim)
    return [torch.sort(torch.gather(x, dim, places), dim).values]


def outcomes(names: Any = (), most: int = 6, mode: Any = "NUMPY", dtypes: Any = tuple(NAMES)) -> Iterator[Outcome]:
    """Yield how samples go: at most so many for each op and dtype, spread evenly."""
    for op in op_db:
        if (names and op.name not in names) or op.name in UNSET:
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
    kinds = {getattr(torch, n) for n in names if n in NAMES.values()} or set(NAMES)
    most = next((int(n) for n in names if n.isdigit()), 2)
    names = [n for n in names if n not in NAMES.values() and not n.isdigit()]
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    eager: Counter[str] = Counter()
    for found in outcomes(names, most, dtypes=kinds):
        counts[found.fate] += 1
        if sum(counts.values()) % 500 == 0:
            print(dict(counts), flush=True)
        if found.fate in (DIFFERS, FAILS) or (names and found.fate != EQUAL):
            print(found.fate, found.op, found.dtype, found.text, flush=True)
        if found.fate == EAGER:
            eager[found.text.split(" ")[0]] += 1
    print(dict(counts))
    print(dict(eager.most_common()))


if __name__ == "__main__":
    main(sys.argv[1:])
