"""`ag.freeze`: the inference function of a training function, with constant weights.

    step = ag.function([x, y], loss, updates=optim.adam(weights, ag.grad(loss, weights)))
    predict = ag.freeze(step, outputs=logits)

`GraphEditor.admit` accepts two kinds of replacement: the inference value for each `by_phase`, and a constant for each
shared variable.  The optimizers do the rest; constant weights are ordinary to them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..export.sources import function_of, graph_over
from ..function.compiled import Function
from ..function.function import default_mode, function
from ..function.mode import Mode, as_mode
from ..function.rewriting import rewrite
from ..graph import Apply, Constant, FunctionGraph, GraphEditor, Variable, leaves, rebuild
from ..ops.control.laziness import with_bodies
from ..ops.core.checks import describe, shown
from ..ops.core.shared import SharedVariable
from ..ops.core.tensor import TensorConstant, constant
from ..ops.networks.phases import ByPhase
from ..optdb.rules.quantized.storage import FORMATS
from ..record import lazy
from .channels import without_zero_channels

narrowing: Any = lazy.module(".narrowing", __package__)


def freeze(
    source: Any, outputs: Any = None, *, inputs: Sequence[Variable] | Variable | None = None,
    storage: str | None = None, remove_channels: bool = False, borrow: bool = False, compute: str | None = None,
    samples: Any = None, keep: Collection[int | str] = (), goal: float | Callable[[Any], bool] | None = None,
    **options: Any,
) -> Function:  # fmt: skip
    """Return the inference function of `source`: constant weights, no randomness, no updates.

    It computes what the graph of `source` says, with three changes:

    - each shared variable is the constant that it holds now;
    - each `T.nn.by_phase(training, inference)` is its inference value: `T.nn.dropout(x, p, rng)` is x, and
      `T.nn.batch_norm(..., running=(mean, variance))` normalizes by the running averages;
    - nothing is updated.

    Products and convolutions then have constant weights, so normalizations and factors are folded into them and they
    are laid out once.  After more training, call it again: the compiled code is found in the cache, since it depends on
    shapes and not on values of weights.

    Args:
        source: a function, an expression, a list or dict of expressions, or a FunctionGraph.
        outputs: values of the function's graph to return instead of its own results, in any form that `ag.function`
            takes, such as the logits of a function that returns the loss.
        inputs: the variables that a call gives, in order; by default those inputs of `source` that are read.
        storage: "float16" or "bfloat16": large float32 weights are stored rounded to this format, after folding, and
            widened where they are read; arithmetic stays float32.  Weights beyond the format's range stay float32.
        remove_channels: remove the channels whose weights are all zero (`ag.prune(..., structure="channel")`), with
            the weights of the next layer that read them.  Between two layers may stand elementwise ops, padding with
            the number that the channels have, pooling, sums and maxima over other axes, moved axes, and a reshape that
            joins channels with all axes behind them.  A zero weight then hides a NaN or infinity of its input.
        borrow: read weights in the memory of the shared variables, instead of copies.  Do not write to that memory as
            long as the function is in use: packed weights would keep the old numbers, others would change.
        compute: "bfloat16" or "float16": operands of products and convolutions of float32 are rounded to this format,
            to the nearest, ties to even; sums, softmax and normalizations stay float32.  The table of layers is in
            `.layers`, as for `ag.quantize`.  A layer whose weights or inputs would overflow stays float32.
        samples: with `compute`: arguments of typical calls, as for `ag.quantize`, on which errors are measured.
        keep: with `compute`: numbers or names of layers that stay in float32.
        goal: with `compute` and `samples`: the largest relative error of the results, or a function that is given the
            frozen function and says whether it is good enough.  Layers stay in float32, those with the largest error
            first, until it is met.
        options: arguments of `ag.function` that say how to compile; by default those of the function.

    Raises:
        TypeError, ValueError: naming the argument, or the value that has no inference meaning: a draw of random numbers
            outside of `T.nn.dropout` and `T.nn.by_phase`.  ValueError for an op that reads channels which are to be
            removed, and has no form without them.
    """
    variables, results, form, options = inference_parts(source, outputs, inputs, "frozen", options, borrow)
    if compute is None and not (samples is goal is None and not keep):
        raise ValueError('freeze: samples, keep and goal need compute="bfloat16" or "float16"')
    if storage is not None:
        options["mode"] = _storing(storage, options.get("mode"))
    if remove_channels:
        results = list(without_zero_channels(rewrite(graph_over(variables, results), "canonicalize")).outputs)
    given = _as_given(function_of(source), variables)
    if compute is None:
        return function(given, form(results), **options)
    graph = rewrite(graph_over(variables, results), "canonicalize")
    made: Function = narrowing.computed_in(compute, graph, given, form, samples, keep, goal, options)
    return made


def _as_given(source: Any, variables: list[Variable]) -> list[Any]:
    """Return the inputs in the trees in which the function takes them, if it keeps all of them."""
    if isinstance(source, Function) and variables == list(source.inputs):
        return source.compilation.signature.as_arguments(variables)
    return variables


def inference_parts(
    source: Any, outputs: Any, inputs: Any, what: str, options: dict[str, Any], borrow: bool = False
) -> tuple[list[Variable], list[Variable], Any, dict[str, Any]]:
    """Return the inputs and inference values of the argument of `freeze`, the form of results, and other arguments."""
    source = function_of(source)
    if isinstance(source, Function):
        options = {**source.compilation.options(name=f"{source.name} {what}"), **options}
    options.setdefault("name", what)
    found, given, form = _parts(source, outputs, inputs)
    results = inference(found, borrow=borrow)
    variables = given if inputs is not None else [v for v in given if v in set(leaves(results))]
    return variables, results, form, options


def _storing(storage: Any, mode: Any) -> Mode:
    """Return the mode with the pass that stores weights in a format of 16 bits.  Raises ValueError if it cannot."""
    if storage not in FORMATS:
        raise ValueError(f"freeze: storage is {shown(storage)}; expected one of {', '.join(FORMATS)}, or None")
    own: Mode = default_mode() if mode is None else as_mode(mode)
    if own.optimizer is None or own.check:
        why = "runs no optimizer" if own.optimizer is None else "compares each call with unrounded weights"
        raise ValueError(f"freeze: storage={storage!r} needs a pass, but the mode {own.name or own} {why}")
    return own.including(f"store_{storage}")


def inference(
    outputs: Sequence[Variable], editor: GraphEditor | None = None, borrow: bool = False
) -> list[Variable]:
    """The inference values of `outputs`, with a constant for each shared variable, over its memory to `borrow` it.

    Raises ValueError for a value that depends on random numbers.
    """
    editor = editor or GraphEditor()
    graph = in_inference(graph_over([v for v in leaves(outputs) if _is_free(v)], outputs), editor)
    read = [v for v in leaves(graph.outputs) if isinstance(v, SharedVariable)]
    _refuse_draws(graph, read)
    held = {v: held_constant(v, borrow) for v in read}
    known: dict[Variable, Variable] = {v: c for v, c in held.items() if editor.admit("freeze", v, c)}
    return rebuild(graph.outputs, known)


def held_constant(variable: SharedVariable, borrow: bool) -> Constant:
    """Return what a shared variable holds now as a constant: a copy, or to `borrow` its own memory."""
    value = variable.get_value(borrow=True)
    if not borrow:
        return constant(value, name=variable.name)
    view = value.view()
    view.flags.writeable = False
    return TensorConstant(view, name=variable.name)


def in_inference(graph: FunctionGraph, editor: GraphEditor) -> FunctionGraph:
    """The graph with the inference value of each `by_phase`, in the bodies of loops and branches as well."""

    def visit(node: Apply) -> Sequence[Variable]:
        if not isinstance(node.op, ByPhase) or not editor.admit("freeze", node.out, node.inputs[1]):
            return node.outputs
        return (node.inputs[1],)

    inner = with_bodies(graph, lambda body: in_inference(body, editor))
    return inner.rebuilt(visit) if any(isinstance(op, ByPhase) for op in inner.ops) else inner


def _is_free(variable: Variable) -> bool:
    return not isinstance(variable, (Constant, SharedVariable))


def _parts(source: Any, outputs: Any, inputs: Any) -> tuple[list[Variable], list[Variable], Any]:
    """Return the values to compute, the variables that a call may give, and the function that forms results."""
    if isinstance(source, Function):
        given, known = list(source.inputs), source.unoptimized_graph
        found = list(known.outputs[: len(known.outputs) - len(known.updates)])
        signature = source.compilation.signature

        def form(results: list[Any]) -> Any:
            return signature.formed(results, given)

        if outputs is None and not found:
            raise ValueError(f"freeze: {source.name} returns nothing; name values of its graph as outputs")
        if outputs is not None:
            found, form = _formed(outputs)
            _require_values(source, found)
    elif isinstance(source, FunctionGraph):
        given = [v for v in source.inputs if _is_free(v)]
        found, form = _formed(outputs if outputs is not None else list(source.outputs)[: _own(source)])
    elif outputs is not None:
        raise TypeError("freeze: outputs names values of a function or graph; give the expressions alone")
    else:
        found, form = _formed(source)
        given = [v for v in leaves(found) if _is_free(v)]
    return found, given if inputs is None else _as_inputs(inputs), form


def _own(graph: FunctionGraph) -> int:
    return len(graph.outputs) - len(graph.updates)


def _as_inputs(inputs: Any) -> list[Any]:
    return [inputs] if isinstance(inputs, Variable) else list(inputs)


def _formed(outputs: Any) -> tuple[list[Variable], Any]:
    """Expressions as a list, and the function that gives such a list the form of `outputs`."""
    if isinstance(outputs, Variable):
        return [outputs], lambda results: results[0]
    if isinstance(outputs, dict):
        found = list(outputs.values())
        form: Any = lambda results: dict(zip(outputs, results, strict=True))  # noqa: E731
    elif isinstance(outputs, (list, tuple)):
        found, form = list(outputs), list
    else:
        raise TypeError(f"freeze: expected a function, expressions or a FunctionGraph, got {shown(outputs)}")
    for position, v in enumerate(found):
        if not isinstance(v, Variable):
            raise TypeError(f"freeze: output {position} is {shown(v)}; expected a variable")
    return found, form


def _require_values(source: Function, outputs: Sequence[Variable]) -> None:
    """Raise ValueError for an output that the graph of the function does not compute."""
    graph = source.unoptimized_graph
    known = {v for node in graph.order for v in node.outputs}.union(graph.inputs)
    for v in outputs:
        if v not in known:
            raise ValueError(
                f"freeze: {describe(v)} is no value of {source.name}: givens replaced what it is computed from, or "
                "the function does not read it; freeze the expression itself, ag.freeze(expression)"
            )


def _refuse_draws(graph: FunctionGraph, read: Sequence[SharedVariable]) -> None:
    """Raise ValueError for a shared variable that each call changes by itself: the state of a random draw."""
    for v in read:
        if v.default_update is None:
            continue
        node = next(n for n in graph.order if v in n.inputs)
        line = f"\n  drawn at {node.origin[0]}" if node.origin else ""
        raise ValueError(
            f"freeze: the result depends on {describe(v)}, which changes with every call, so it is no constant; "
            f"write T.nn.by_phase(training, inference) around the random value{line}"
        )
