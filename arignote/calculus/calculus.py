"""Derivatives of expressions: `ag.grad` and its relatives return ordinary expressions.

The sweep itself is `ops/core/backward.py`; here arguments are checked, and what no path leads to is told apart from
what is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, Union, overload

from .. import later
from .. import ops as T
from ..control.scanned import require_unpacked
from ..graph import Constant, Variable, leaves, toposort
from ..ops.core.backward import pull_back
from ..ops.core.checks import by_position, describe, shown
from ..ops.core.tensor import TensorVariable
from ..ops.elementwise.records import scalar_constant
from ..ops.shapes.lengths import lengths_of
from ..ops.shapes.specify import as_promised, conflict
from ..record import lazy
from ..record.spelling import counted
from ..tree import flat, in_form, is_tree, moving, places, unflat
from .differentiated import derived
from .stable import stable_forms

gradients: Any = lazy.module("...tracing.gradients", __name__)

Derivatives = Union[TensorVariable, list[TensorVariable], tuple[TensorVariable, ...], dict[Any, TensorVariable]]
"""One variable, a list, a tuple or a dict, in the form in which the variables are given."""
Var = TypeVar("Var", bound=Variable)
Key = TypeVar("Key")


@overload
def grad(
    cost: Callable[..., Any], wrt: int | Sequence[int] | None = ..., *, checkpoint: int | str | None = ...,
    argnums: int | Sequence[int] | None = ..., has_aux: bool = ...,
) -> Callable[..., Any]: ...  # fmt: skip
@overload
def grad(
    cost: Variable | None, wrt: Variable, consider_constant: Sequence[Variable] = ...,
    known_grads: Mapping[Variable, Any] | None = ..., disconnected: str = ..., stable: bool = ...,
) -> TensorVariable: ...  # fmt: skip
@overload
def grad(
    cost: Variable | None, wrt: list[Var], consider_constant: Sequence[Variable] = ...,
    known_grads: Mapping[Variable, Any] | None = ..., disconnected: str = ..., stable: bool = ...,
) -> list[TensorVariable]: ...  # fmt: skip
@overload
def grad(
    cost: Variable | None, wrt: tuple[Variable, ...], consider_constant: Sequence[Variable] = ...,
    known_grads: Mapping[Variable, Any] | None = ..., disconnected: str = ..., stable: bool = ...,
) -> tuple[TensorVariable, ...]: ...  # fmt: skip
@overload
def grad(
    cost: Variable | None, wrt: Mapping[Key, Variable], consider_constant: Sequence[Variable] = ...,
    known_grads: Mapping[Variable, Any] | None = ..., disconnected: str = ..., stable: bool = ...,
) -> dict[Key, TensorVariable]: ...  # fmt: skip
def grad(
    cost: Variable | Callable[..., Any] | None,
    wrt: Any = None,
    consider_constant: Sequence[Variable] = (),
    known_grads: Mapping[Variable, Any] | None = None,
    disconnected: str = "raise",
    stable: bool = True,
    *,
    checkpoint: int | str | None = None,
    argnums: int | Sequence[int] | None = None,
    has_aux: bool = False,
) -> Derivatives | Callable[..., Any]:
    """The derivative of the scalar `cost` with respect to `wrt`: for each variable one of its shape and dtype.

    Of a Python function, `grad(f)` and `grad(f, (0, 1))`, jitted or not: the jitted function of the derivative by the
    first argument, or by those of the positions `wrt`, which may be nested lists, tuples and dicts of arrays.
    `checkpoint=k` keeps the states of every k-th step of its loops alone, and computes the others again; "sqrt" takes
    the root of the steps.  Loops that end by a value keep all.  `argnums` is another name of these positions.
    `has_aux`: the function returns a pair, a scalar and more, and the result is the pair of derivative and the rest.

    `wrt` is a variable, or a tree of them (so is the result): lists, tuples, dicts, dataclasses, nested as you like,
    None left out.  They may be intermediate values of the expression.  `consider_constant`: variables through which
    nothing is differentiated.  `known_grads`: cotangents of intermediate values that are given instead of worked out;
    with `cost=None` they are all there is.  `disconnected`: what happens to a variable that the cost is not computed
    from: ValueError ("raise") or zeros ("zero").  For a complex variable z = a + ib the result is
    d cost/da + i d cost/db, so that `z - rate * grad` descends.  For bools and integers, which cannot move by a
    little, it is zeros of the dtype of the cost.  `stable=False` differentiates the expression as it is written;
    otherwise rules with the tag `stabilize` rewrite it before: log(sigmoid(z)) is differentiated as -softplus(-z), as
    the written form gives 0/0 where the sigmoid underflows.

    Raises TypeError for a cost that is no real floating-point scalar, and NoGradient for an op on the way that has no
    derivative.  Source: reverse accumulation, see `ops/core/backward.py`.
    """
    if callable(cost) and not isinstance(cost, Variable):
        for_expressions = {"consider_constant": consider_constant, "known_grads": known_grads, "stable": not stable}
        _refuse("grad", for_expressions | {"disconnected": disconnected != "raise"}, "expressions")
        positions = _positions(wrt, argnums, "grad")
        return gradients.gradient(cost, positions, False, checkpoint, has_aux)  # type: ignore[no-any-return]
    if checkpoint is not None:
        raise TypeError("grad: checkpoint is for Python functions; for expressions see checkpoint_every of ag.scan")
    _refuse("grad", {"argnums": argnums is not None, "has_aux": has_aux}, "Python functions")
    _require_choice(disconnected, "grad")
    given = _as_list(wrt, "wrt", "grad", True)
    moves = moving(flat(wrt, []))
    variables = [v for v, has_derivative in zip(given, moves, strict=True) if has_derivative]
    for v in variables:
        _require_no_constant(v, "grad: wrt")
    known = {v: _cotangent(g, v, "grad: known_grads") for v, g in (known_grads or {}).items()}
    outputs = _checked_cost(cost, bool(known))
    seeds = [scalar_constant(1, output.dtype) for output in outputs]
    costs = stable_forms(outputs, [*variables, *consider_constant, *known]) if stable else outputs
    found = pull_back(costs, seeds, variables, constant=consider_constant, known=known)
    if disconnected == "raise":
        _require_connected(variables, found, [*outputs, *known], "grad")
    made = iter(derived(_with_zeros(found, variables, [*outputs, *known]), [*outputs, *known]))
    return _like(wrt, [next(made) if has_derivative else v for v, has_derivative in zip(given, moves, strict=True)])


@overload
def value_and_grad(
    cost: Callable[..., Any], wrt: int | Sequence[int] | None = ..., *, checkpoint: int | str | None = ...,
    argnums: int | Sequence[int] | None = ..., has_aux: bool = ...,
) -> Callable[..., Any]: ...  # fmt: skip
@overload
def value_and_grad(
    cost: Variable, wrt: Variable, *, consider_constant: Sequence[Variable] = ...,
    known_grads: Mapping[Variable, Any] | None = ..., disconnected: str = ..., stable: bool = ...,
) -> tuple[TensorVariable, TensorVariable]: ...  # fmt: skip
@overload
def value_and_grad(
    cost: Variable, wrt: list[Var], *, consider_constant: Sequence[Variable] = ...,
    known_grads: Mapping[Variable, Any] | None = ..., disconnected: str = ..., stable: bool = ...,
) -> tuple[TensorVariable, list[TensorVariable]]: ...  # fmt: skip
@overload
def value_and_grad(
    cost: Variable, wrt: tuple[Variable, ...], *, consider_constant: Sequence[Variable] = ...,
    known_grads: Mapping[Variable, Any] | None = ..., disconnected: str = ..., stable: bool = ...,
) -> tuple[TensorVariable, tuple[TensorVariable, ...]]: ...  # fmt: skip
@overload
def value_and_grad(
    cost: Variable, wrt: Mapping[Key, Variable], *, consider_constant: Sequence[Variable] = ...,
    known_grads: Mapping[Variable, Any] | None = ..., disconnected: str = ..., stable: bool = ...,
) -> tuple[TensorVariable, dict[Key, TensorVariable]]: ...  # fmt: skip
def value_and_grad(
    cost: Variable | Callable[..., Any],
    wrt: Any = None,
    *,
    checkpoint: int | str | None = None,
    argnums: int | Sequence[int] | None = None,
    has_aux: bool = False,
    **options: Any,
) -> Any:
    """`(cost, grad(cost, wrt, **options))`: both in one expression, so that what they share is computed once.

    Of a Python function: the jitted function that returns the pair; see `grad`.  With `has_aux` its first part is the
    whole result of the function, as in `(loss, more), slopes = value_and_grad(f, has_aux=True)(x)`.
    """
    if callable(cost) and not isinstance(cost, Variable):
        _refuse("value_and_grad", dict.fromkeys(options, True), "expressions")
        positions = _positions(wrt, argnums, "value_and_grad")
        return gradients.gradient(cost, positions, True, checkpoint, has_aux)
    derivatives: Any = grad  # of all its forms
    return cost, derivatives(cost, wrt, checkpoint=checkpoint, argnums=argnums, has_aux=has_aux, **options)


def _refuse(what: str, options: Mapping[str, Any], kind: str) -> None:
    """Raise TypeError for an option that was given, but is for another kind of cost."""
    for name in (name for name, given in options.items() if given):
        known = name in (*_OF_EXPRESSIONS, "argnums", "has_aux")
        raise TypeError(f"{what}: {name} is for {kind}" if known else f"{what}: no argument is called {name!r}")


_OF_EXPRESSIONS = ("consider_constant", "known_grads", "disconnected", "stable")


def _positions(wrt: Any, argnums: Any, what: str) -> Any:
    """Return the positions of the arguments that a Python function is differentiated by."""
    if wrt is not None and argnums is not None:
        raise TypeError(f"{what}: wrt and argnums are the same, the positions of arguments; give one of them")
    return wrt if argnums is None else argnums


@overload
def vjp(outputs: Callable[..., Any], inputs: Sequence[Any], cotangents: Any) -> tuple[Any, Any]: ...
@overload
def vjp(outputs: Variable | Sequence[Variable], inputs: Variable, cotangents: Any) -> TensorVariable: ...
@overload
def vjp(outputs: Variable | Sequence[Variable], inputs: list[Var], cotangents: Any) -> list[TensorVariable]: ...
@overload
def vjp(
    outputs: Variable | Sequence[Variable], inputs: tuple[Variable, ...], cotangents: Any
) -> tuple[TensorVariable, ...]: ...
def vjp(outputs: Any, inputs: Any, cotangents: Any) -> Any:
    """The vector-Jacobian product: for each of `inputs`, `cotangents` times the derivatives of `outputs` by it.

    `cotangents` gives one value an output, of its shape.  The result is as `inputs` is: a variable or a sequence.  An
    input that nothing depends on gets zeros, as do integers.  Raises TypeError for cotangents that do not fit.

    Of a Python function, `vjp(f, (x, y), v)`, jitted or not: the pair of `f(x, y)` and the products for x and y,
    computed; `v` has the form of the result.
    """
    if callable(outputs) and not isinstance(outputs, Variable):
        return gradients.along(outputs, inputs, cotangents, "vjp")
    results, sources = _as_list(outputs, "outputs", "vjp"), _as_list(inputs, "inputs", "vjp")
    given = _matched(cotangents, outputs, results, "vjp: cotangents")
    for v in sources:
        _require_no_constant(v, "vjp: inputs")
    found = pull_back(stable_forms(results, sources), given, sources)
    return _like(inputs, derived(_with_zeros(found, sources, results), [*results, *given]))


@overload
def jvp(outputs: Callable[..., Any], inputs: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]: ...
@overload
def jvp(outputs: Variable, inputs: Variable | Sequence[Variable], tangents: Any) -> TensorVariable: ...
@overload
def jvp(outputs: list[Var], inputs: Variable | Sequence[Variable], tangents: Any) -> list[TensorVariable]: ...
@overload
def jvp(
    outputs: tuple[Variable, ...], inputs: Variable | Sequence[Variable], tangents: Any
) -> tuple[TensorVariable, ...]: ...
def jvp(outputs: Any, inputs: Any, tangents: Any) -> Any:
    """The Jacobian-vector product: for each of `outputs` its change as `inputs` move along `tangents`.

    `tangents` gives one value an input, of its shape.  The result is as `outputs` is: a variable or a
    sequence.  Raises TypeError for integers among inputs or outputs.

    Of a Python function, `jvp(f, (x, y), (dx, dy))`, jitted or not: the pair of `f(x, y)` and its change along the
    tangents, computed; integers have none.

    Source: J v is the derivative of (J^T u) v by
    u, which is linear in u (J.  Townsend, "A new trick for calculating Jacobian vector products", 2017).
    """
    if callable(outputs) and not isinstance(outputs, Variable):
        return gradients.along(outputs, inputs, tangents, "jvp")
    results, sources = _as_list(outputs, "outputs", "jvp"), _as_list(inputs, "inputs", "jvp")
    given = _matched(tangents, inputs, sources, "jvp: tangents")
    for v in (*sources, *results):
        _require_differentiable(v, "jvp: inputs and outputs")
    # The derivative does not depend on these values, but its shapes may be taken from theirs: so they are computed,
    # not leaves.
    duals = [T.zeros_like(output) for output in results]
    sent_back = pull_back(stable_forms(results, sources), duals, sources)
    pulled = [(g, t) for g, t in zip(sent_back, given, strict=True) if g is not None]
    found = pull_back([g for g, _ in pulled], [t for _, t in pulled], duals)
    return _like(outputs, derived(_with_zeros(found, results, results), [*results, *given]))


@overload
def hvp(cost: Callable[..., Any], wrt: Sequence[Any], vectors: Sequence[Any]) -> tuple[Any, Any]: ...
@overload
def hvp(cost: Variable, wrt: Variable, vectors: Any) -> TensorVariable: ...
@overload
def hvp(cost: Variable, wrt: list[Var], vectors: Any) -> list[TensorVariable]: ...
@overload
def hvp(cost: Variable, wrt: tuple[Variable, ...], vectors: Any) -> tuple[TensorVariable, ...]: ...
def hvp(cost: Any, wrt: Any, vectors: Any) -> Any:
    """The Hessian of the scalar `cost` by `wrt`, times `vectors`: one value a variable of `wrt`.

    The result is as `wrt` is.  Errors are those of `grad`.

    Of a Python function, `hvp(f, (x, y), (dx, dy))`, jitted or not: the pair of `f(x, y)` and these products, computed.
    """
    if callable(cost) and not isinstance(cost, Variable):
        return gradients.along(cost, wrt, vectors, "hvp")
    variables = _as_list(wrt, "wrt", "hvp")
    for v in variables:
        _require_differentiable(v, "hvp: wrt")
    first = grad(cost, variables)
    return _like(wrt, vjp(first, variables, _matched(vectors, wrt, variables, "hvp: vectors")))


@overload
def jacobian(
    expression: Callable[..., Any], wrt: int | Sequence[int] | None = ..., *, argnums: int | Sequence[int] | None = ...
) -> Callable[..., Any]: ...
@overload
def jacobian(expression: Variable, wrt: Variable, disconnected: str = ...) -> TensorVariable: ...
@overload
def jacobian(expression: Variable, wrt: list[Var], disconnected: str = ...) -> list[TensorVariable]: ...
@overload
def jacobian(
    expression: Variable, wrt: tuple[Variable, ...], disconnected: str = ...
) -> tuple[TensorVariable, ...]: ...
def jacobian(
    expression: Any, wrt: Any = None, disconnected: str = "raise", *, argnums: int | Sequence[int] | None = None
) -> Any:
    """The derivatives of all elements of `expression` by all of `wrt`: of shape expression.shape + variable.shape.

    Of a Python function, `jacobian(f)` and `jacobian(f, (0, 1))`, jitted or not: the jitted function of the Jacobian by
    the first argument, or by those of the positions `wrt` or `argnums`, which may be trees of arrays; so may the result
    of the function be, with one such derivative for each of its arrays.

    `wrt` is a variable, or a list or tuple of them (so is the result).  `disconnected`: what happens to a variable that
    the expression is not computed from: ValueError ("raise") or zeros ("zero").

    Raises TypeError for an expression that is no real floating-point tensor; NoGradient and NoBatch name an op that has
    no derivative, or none for many elements at once.  Source: reverse accumulation of all unit vectors at once
    (`ag.vectorize`), so the cost is that of the gradient times the number of elements; where a derivative is infinite,
    the zeros of the unit vectors make elements beside it NaN.
    """
    if callable(expression) and not isinstance(expression, Variable):
        _refuse("jacobian", {"disconnected": disconnected != "raise"}, "expressions")
        return gradients.all_derivatives(expression, _positions(wrt, argnums, "jacobian"), "jacobian")
    _refuse("jacobian", {"argnums": argnums is not None}, "Python functions")
    _require_choice(disconnected, "jacobian")
    variables = _as_list(wrt, "wrt", "jacobian")
    for v in variables:
        _require_no_constant(v, "jacobian: wrt")
    if not isinstance(expression, Variable) or expression.type.kind != "f":
        what = describe(expression) if isinstance(expression, Variable) else repr(expression)
        raise TypeError(f"jacobian: the expression must be a real floating-point tensor, got {what}")
    found = later.vectorizing.jacobian_of(expression, variables)
    if disconnected == "raise":
        _require_connected(variables, found, [expression], "jacobian")
    rows = [T.zeros((*lengths_of(expression), *lengths_of(v)), _dtype(v, expression)) for v in variables]
    return _like(wrt, derived((z if g is None else g for z, g in zip(rows, found, strict=True)), [expression]))


@overload
def hessian(
    cost: Callable[..., Any], wrt: int | Sequence[int] | None = ..., *, argnums: int | Sequence[int] | None = ...
) -> Callable[..., Any]: ...
@overload
def hessian(cost: Variable, wrt: Variable, disconnected: str = ...) -> TensorVariable: ...
@overload
def hessian(cost: Variable, wrt: list[Var], disconnected: str = ...) -> list[list[TensorVariable]]: ...
@overload
def hessian(
    cost: Variable, wrt: tuple[Variable, ...], disconnected: str = ...
) -> tuple[tuple[TensorVariable, ...], ...]: ...
@overload
def hessian(
    cost: Variable, wrt: Mapping[Key, Variable], disconnected: str = ...
) -> dict[Key, dict[Key, TensorVariable]]: ...
def hessian(
    cost: Any, wrt: Any = None, disconnected: str = "raise", *, argnums: int | Sequence[int] | None = None
) -> Any:
    """The second derivatives of the scalar `cost`: for one variable a tensor, of shape variable.shape twice.

    For a tree of variables it is one of such: `hessian(cost, [x, y])[0][1]`, of shape (*x.shape,
    *y.shape), has the derivatives by x and then y.  Errors are those of `grad` and `jacobian`.

    Of a Python function, `hessian(f)` and `hessian(f, (0, 1))`, jitted or not: the jitted function of the Hessian by
    the first argument, or by those of the positions `wrt` or `argnums`, which may be trees of arrays.
    """
    if callable(cost) and not isinstance(cost, Variable):
        _refuse("hessian", {"disconnected": disconnected != "raise"}, "expressions")
        return gradients.all_derivatives(cost, _positions(wrt, argnums, "hessian"), "hessian")
    _refuse("hessian", {"argnums": argnums is not None}, "Python functions")
    variables = _as_list(wrt, "wrt", "hessian")
    first = grad(cost, variables, disconnected=disconnected)
    if not is_tree(wrt):
        return jacobian(first[0], variables[0], disconnected="zero")
    return _like(wrt, [jacobian(g, wrt, disconnected="zero") for g in first])  # type: ignore[call-overload, arg-type]


# --- arguments


def _require_choice(disconnected: str, what: str) -> None:
    if disconnected not in ("raise", "zero"):
        raise ValueError(f'{what}: disconnected must be "raise" or "zero", got {disconnected!r}')


def _as_list(given: Any, role: str, what: str, takes_fixed: bool = False) -> list[Variable]:
    """Return the variables of a tree.  Raises TypeError, with its path, for another leaf.

    `takes_fixed`: whether the tree may have leaves without derivatives, see `tree.moving`.
    """
    several: list[Any] = []
    form = None if given is None else flat(given, several)
    if form is not None and not takes_fixed and not all(moving(form)):
        raise TypeError(f"{what}: {role} has a sparse matrix, {shown(given)}; expected its elements, as in A.data")
    if given is not None and all(isinstance(v, Variable) for v in several):
        return several
    several = [given] if given is None else several
    paths = zip(places(form, role), several, strict=True)
    path, wrong = next(pair for pair in paths if not isinstance(pair[1], Variable))
    where = "" if path == role else f" for {path}"
    got = f"{wrong!r}{where}{by_position(wrong)}"
    raise TypeError(f"{what}: {role} must be a variable, or a list, tuple or dict of them, got {got}")


def _like(given: Any, results: Sequence[Any]) -> Derivatives:
    """Return the results in the form of the tree `given`."""
    made: Derivatives = unflat(flat(given, []), iter(results))
    return made


def _with_zeros(
    found: Sequence[Variable | None], variables: Sequence[Variable], outputs: Sequence[Variable]
) -> list[Variable]:
    """Return the cotangent of each variable; zeros of its shape for None."""
    return [T.zeros_like(v, _dtype(v, outputs[0])) if g is None else g for v, g in zip(variables, found, strict=True)]


def _dtype(variable: Variable, output: Variable) -> str:
    """The dtype of the derivative of `output` by `variable`."""
    return variable.dtype if variable.type.kind in "fc" else output.dtype


def _require_no_constant(variable: Variable, what: str) -> None:
    if isinstance(variable, Constant):
        raise TypeError(f"{what}: {describe(variable)} is a constant; make it an input or a shared variable")


def _require_differentiable(variable: Variable, what: str) -> None:
    _require_no_constant(variable, what)
    if variable.type.kind not in "fc":
        raise TypeError(
            f"{what}: {describe(variable)} is not differentiable; expected a floating-point or complex variable. "
            f'Make it one, as in T.tensor(dtype="float64"), or differentiate by x.astype("float64")'
        )


def _checked_cost(cost: Any, has_known: bool) -> list[Variable]:
    if cost is None and has_known:
        return []
    require_unpacked(cost, "the cost of grad")
    if not isinstance(cost, Variable):
        raise TypeError(f"grad: the cost must be a scalar variable, got {cost!r}")
    if cost.ndim:
        raise TypeError(
            f"grad: the cost must be a scalar, got {describe(cost)}; reduce it, as in cost.sum() or cost.mean(), "
            f"or use ag.vjp with a cotangent of its shape{_built_at(cost)}"
        )
    if cost.type.kind != "f":
        raise TypeError(f"grad: the cost must be a real floating-point scalar, got {describe(cost)}{_built_at(cost)}")
    return [cost]


def _built_at(variable: Variable) -> str:
    return f"\n  built at {variable.origin[0]}" if variable.origin else ""


def _matched(given: Any, like: Any, variables: Sequence[Variable], what: str) -> list[Variable]:
    """Return one variable for each of `variables`, of its rank and dtype.  Raises TypeError or ValueError otherwise."""
    if not is_tree(like):
        return [_cotangent(given, variables[0], what)]
    if isinstance(like, (list, tuple)) and not any(map(is_tree, like)):
        several = list(given)
        if len(several) != len(variables):
            raise ValueError(f"{what}: expected {counted(len(variables), 'value')}, got {len(several)}")
    else:
        try:
            several = in_form(given, flat(like, []), what)
        except TypeError as error:
            raise ValueError(f"{error}, got {shown(given)}") from None
    return [_cotangent(value, v, what) for value, v in zip(several, variables, strict=True)]


def _cotangent(value: Any, variable: Variable, what: str) -> Variable:
    found = value if isinstance(value, Variable) else T.constant(value, variable.dtype)
    if found.dtype != variable.dtype or found.ndim != variable.ndim:
        raise TypeError(f"{what}: {describe(found)} does not have the dtype and rank of {describe(variable)}")
    if conflict(found.type, variable.type):
        raise ValueError(f"{what}: {describe(found)} does not have the shape of {describe(variable)}")
    return as_promised(found, variable.type, f"{what} of {variable.name or variable.type}")


def _require_connected(
    variables: Sequence[Variable], found: Sequence[Variable | None], outputs: Sequence[Variable], what: str
) -> None:
    missing = [v for v, g in zip(variables, found, strict=True) if g is None]
    if not missing:
        return
    reached = {o for node in toposort(outputs) for o in node.outputs}.union(leaves(outputs))
    for v in missing:
        if v not in reached:
            raise ValueError(
                f"{what}: {describe(v)} is disconnected: the result is not computed from it. "
                'Leave it out of wrt, or ask for zeros with disconnected="zero"'
            )
