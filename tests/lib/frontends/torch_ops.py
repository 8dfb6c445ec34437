"""Samples of PyTorch's own tests (`OpInfo`), computed by our converters and by PyTorch.

python tests/lib/frontends/torch_ops.py [NAME ...] [--dtypes float32 ...] [--most 2] [--mode FAST_RUN] [--compiled]
python tests/lib/frontends/torch_ops.py --record FILE --seconds 500     go on where the last run of this file ended
python tests/lib/frontends/torch_ops.py --record FILE --write PAGE      put the counts of a whole run into a page

The first form prints counts, and one line for each sample that differs.  Ops in a record are not run again.
`--compiled`: run samples by `torch.compile(backend="arignote")`; without it, convert their graphs.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
import torch
import torch._dynamo
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import arignote as ag
from arignote.frontends.torch import Conversion
from arignote.frontends.torch.backend import graphs
from arignote.frontends.torch.building import leaves
from arignote.frontends.torch.decompositions import decompositions_of
from arignote.frontends.torch.dtypes import NAMES, Unsupported, array_of, type_of
from arignote.graph import Variable
from arignote.ops.core.tensor import TensorVariable

UNSET = frozenset(("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"))
"""Ops whose results are yet to be set."""
UNORDERED = frozenset(("sort", "topk", "argsort", "kthvalue"))
"""Ops that give positions of equal elements in any order, unless the caller asks for a stable one."""
DTYPES = (*NAMES, torch.bfloat16)
"""The dtypes of samples; PyTorch runs those that no array holds."""
EQUAL, EAGER, DIFFERS, FAILS, UNTRACED, REFUSED = "equal", "eager", "differs", "fails", "untraced", "refused"


class Outcome(NamedTuple):
    """One sample: how it went, and why."""

    op: str
    dtype: str
    fate: str
    text: str = ""


Run = Callable[[Any, torch.dtype, Any], Outcome]
"""A function that runs one sample of an op in one dtype."""


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


def compiled_outcome(op: Any, dtype: torch.dtype, sample: Any, mode: Any = "NUMPY") -> Outcome:
    """Return how one sample goes under `torch.compile`; "eager" if PyTorch runs a part of it."""
    label, kind = label_of(op), _short(dtype)

    def run(first: Any, args: Any, kwargs: Any) -> Any:
        return op(first, *args, **kwargs)

    def given() -> Any:
        parts = (sample.input, sample.args, sample.kwargs)
        return pytree.tree_map_only(torch.Tensor, lambda t: t.detach().clone(), parts)

    torch._dynamo.reset()
    before = {g.name for g in graphs()}
    torch.manual_seed(42)
    try:
        expected = leaves(run(*given()))
    except Exception as error:
        return Outcome(label, kind, UNTRACED, f"{type(error).__name__}: {str(error)[:200]}")
    torch.manual_seed(42)
    try:
        with warnings.catch_warnings(record=True) as notices:
            warnings.simplefilter("always")
            results = leaves(torch.compile(run, backend="arignote", options={"mode": mode})(*given()))
    except Exception as error:
        return Outcome(label, kind, FAILS, f"{type(error).__name__}: {str(error)[:300]}")
    own = [g for g in graphs() if g.name not in before]
    remarks = [line for g in own for line in g.remarks]
    remarks += [str(w.message) for w in notices if "PyTorch runs the graph" in str(w.message)]
    return _judged(op, kind, sample, results, expected, remarks if own else ["no graph"])


def outcome(op: Any, dtype: torch.dtype, sample: Any, mode: Any = "NUMPY") -> Outcome:
    """Return how one sample goes."""
    label, kind = label_of(op), _short(dtype)
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
    return _judged(op, kind, sample, results, leaves(expected), conversion.remarks)


def _judged(
    op: Any, kind: str, sample: Any, results: Sequence[Any], wanted: Sequence[Any], remarks: Sequence[str]
) -> Outcome:
    """Return the outcome of a sample from our results, those of eager mode, and a line for each part PyTorch runs."""
    if op.name in UNORDERED and "stable" not in sample.kwargs:
        results, wanted = _by_place(op, sample, results), _by_place(op, sample, wanted)
    text = _difference(results, wanted)
    fate = DIFFERS if text else EAGER if remarks else EQUAL
    return Outcome(label_of(op), kind, fate, "; ".join([text, *remarks] if text else remarks)[:400])


def _difference(results: Sequence[Any], wanted: Sequence[Any]) -> str:
    """Return how results differ from those of eager mode; an empty text if they are equal."""
    try:
        for got, want in zip(results, wanted, strict=True):
            if isinstance(want, torch.Tensor):
                got = got if isinstance(got, torch.Tensor) else torch.as_tensor(np.array(got))
                assert got.layout == want.layout, f"{got.layout} != {want.layout}"
                _require_close(_plain(got), _plain(want))
            else:
                assert got == want or (got != got and want != want), f"{got} != {want}"
    except (AssertionError, ValueError) as error:
        return " ".join(str(error).split())[:300] or "it differs"
    return ""


def _plain(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor as a dense one, its elements in memory as they are read."""
    value = value.detach()
    return (value if value.layout is torch.strided else value.to_dense()).resolve_conj().resolve_neg()


def _require_close(got: torch.Tensor, want: torch.Tensor) -> None:
    """Compare within PyTorch's tolerances, the absolute one in units of the largest number, for sums that cancel."""
    plain = torch.abs(want[torch.isfinite(want)]).double() if want.is_floating_point() or want.is_complex() else None
    scale = max(1.0, float(plain.max())) if plain is not None and plain.numel() else 1.0
    tolerance = {
        torch.float16: (1e-3, 1e-3), torch.bfloat16: (8e-3, 8e-3),
        torch.float32: (1.3e-6, 1e-5), torch.complex64: (1.3e-6, 1e-5),
    }  # fmt: skip
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


def outcomes(names: Any = (), most: int = 6, dtypes: Any = DTYPES, run: Run = outcome) -> Iterator[Outcome]:
    """Yield how samples go: at most so many for each op and dtype, spread evenly."""
    for op in ops(names):
        yield from outcomes_of(op, most, dtypes, run)


def ops(names: Any = ()) -> list[Any]:
    """Return PyTorch's descriptions of these ops, or of all whose results are set."""
    return [op for op in op_db if op.name not in UNSET and (not names or op.name in names)]


def outcomes_of(op: Any, most: int, dtypes: Any = DTYPES, run: Run = outcome) -> Iterator[Outcome]:
    """Yield how samples of one op go."""
    for dtype in sorted(op.supported_dtypes("cpu") & set(dtypes), key=str):
        try:
            samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
        except Exception as error:
            yield Outcome(label_of(op), _short(dtype), UNTRACED, f"no samples: {error}"[:200])
            continue
        step = max(1, len(samples) // most)
        for sample in samples[::step][:most]:
            yield run(op, dtype, sample)


def label_of(op: Any) -> str:
    """Return the name of an op, with its variant."""
    return f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}"


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


# --- records of runs, a line of JSON for each op


def counts_of(found: Sequence[Outcome]) -> dict[str, Any]:
    """Return the counts of samples of one op, and the samples that differ or fail."""
    fates = Counter(o.fate for o in found)
    odd = [[o.fate, o.dtype, o.text] for o in found if o.fate in (DIFFERS, FAILS)]
    return {**fates, "odd": odd, "eager ops": sorted({o.text.split(" ")[0] for o in found if o.fate == EAGER})}


def read(record: Path) -> dict[str, dict[str, Any]]:
    """Return the counts of each op in a record; the last line of an op counts."""
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    return {row.pop("op"): row for row in map(json.loads, lines)}


def go_on(
    record: Path, seconds: float, most: int, names: Sequence[str] = (), dtypes: Any = DTYPES, run: Run = outcome
) -> int:
    """Run the ops that a record lacks, for so many seconds, and return how many it still lacks."""
    end, known = time.monotonic() + seconds, read(record)
    left = [op for op in ops(names) if label_of(op) not in known]
    while left and time.monotonic() < end:
        op = left.pop(0)
        row = counts_of(list(outcomes_of(op, most, dtypes, run)))
        with record.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"op": label_of(op), **row}) + "\n")
        for fate, dtype, text in row["odd"]:
            print(fate, label_of(op), dtype, text, flush=True)
    return len(left)


BEGIN, END = "<!-- samples of PyTorch's tests -->", "<!-- end of the samples -->"


def sentence(rows: dict[str, dict[str, Any]]) -> str:
    """Return the figures of a record as a paragraph of the documentation."""
    total = Counter({f: sum(row.get(f, 0) for row in rows.values()) for f in (EQUAL, EAGER, DIFFERS, FAILS)})
    count, good = total.total(), total[EQUAL] + total[EAGER]
    differing = sorted({op for op, row in rows.items() if row["odd"]})
    text = (
        f"Of {count:,} samples in PyTorch's own tests (`OpInfo`) that it traces and whose dtypes arrays hold, of "
        f"{len(rows)} ops and variants, {good:,} equal eager mode ({100 * good / count:.2f} %), {total[EAGER]:,} "
        f"of them with an op that PyTorch runs. The others, {count - good} samples of "
        + ", ".join(f"`{op}`" for op in differing)
        + ", are in the table above."
    )
    return "\n".join(wrap(text, 150, break_on_hyphens=False))


def page(text: str, rows: dict[str, dict[str, Any]]) -> str:
    """Return a page with the figures of a record."""
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n\n{sentence(rows)}\n\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Print counts, and one line for each sample that differs or fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--dtypes", nargs="*", default=[_short(d) for d in DTYPES])
    parser.add_argument("--most", type=int, default=2, help="samples of each op and dtype")
    parser.add_argument("--mode", default="NUMPY")
    parser.add_argument("--compiled", action="store_true", help="by torch.compile")
    parser.add_argument("--record", type=Path, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.write:
        given.write.write_text(page(given.write.read_text(encoding="utf-8"), read(given.record)), encoding="utf-8")
        return
    kinds = {d for d in DTYPES if _short(d) in given.dtypes}
    run = partial(compiled_outcome if given.compiled else outcome, mode=given.mode)
    if given.record:
        print("ops left:", go_on(given.record, given.seconds, given.most, given.names, kinds, run))
        return
    counts: Counter[str] = Counter()
    for found in outcomes(given.names, given.most, kinds, run):
        counts[found.fate] += 1
        if found.fate in (DIFFERS, FAILS) or (given.names and found.fate != EQUAL):
            print(found.fate, found.op, found.dtype, found.text, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
