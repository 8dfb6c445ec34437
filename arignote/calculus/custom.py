"""Functions of expressions with derivatives of their own: `ag.custom_vjp`, `ag.custom_jvp`, `ag.checkpoint`.

Each call builds the function's expression over leaves and applies it as one op, of `ops/control/composed.py`.
"""

from __future__ import annotations

import inspect
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import update_wrapper, wraps
from typing import Any

from .. import ops as T
from ..graph import Variable, rebuild
from ..graph.node import Apply
from ..ops.control.composed import Composed, Derivative, Recomputed, composed
from ..ops.core.backward import pull_back
from ..ops.core.checks import by_position, describe, shown
from ..ops.core.tensor import TensorVariable, as_tensor
from ..ops.core.tracing import comparing
from ..ops.shapes.specify import conflict
from ..record import record
from ..record.quoting import one_line
from ..record.spelling import counted
from ..tree import Form, flat, in_form, symbolic_flat, unflat
from .stable import stable_forms


class Built:
    """The expression of a function of nested arguments, built over leaves.

    `static`: positions of arguments that the function gets as they are.
    """

    def __init__(
        self, function: Callable[..., Any], arguments: Sequence[Any], static: Sequence[int], what: str
    ) -> None:
        self.what = what
        self.values: list[Any] = []
        self.forms: list[Form] = []
        for k, argument in enumerate(arguments):
            if k not in static:
                given: list[Any] = []
                self.forms.append(symbolic_flat(argument, given))
                self.values += [tensor_of(v, f"{what}: argument {k}") for v in given]
        self.leaves: list[Variable] = [TensorVariable(v.type, name=v.name) for v in self.values]
        self.static: tuple[Any, ...] = tuple(arguments[k] for k in static)
        with comparing() as trace:
            trace.inside([(leaf, v, 0) for leaf, v in zip(self.leaves, self.values, strict=True)])
            found = function(*with_static(nested(self.forms, self.leaves), self.static, static))
        flat: list[Any] = []
        self.form: Form = symbolic_flat(found, flat)
        self.outputs: list[Variable] = [tensor_of(v, f"{what}: result {k}") for k, v in enumerate(flat)]

    def applied(self, derivative: Derivative | None, may_capture: Any = None, inline: bool | None = True) -> Any:
        """Return the results of the op, in the form in which the function returns them."""
        apply = composed(self.leaves, self.outputs, self.what, derivative, inline, may_capture)
        return unflat(self.form, iter(apply(self.values)))


def nested(forms: Sequence[Form], leaves: Sequence[Any]) -> list[Any]:
    """Return arguments of these structures with the next leaves."""
    given = iter(leaves)
    return [unflat(form, given) for form in forms]


def with_static(arguments: Sequence[Any], static: Sequence[Any], places: Sequence[int]) -> list[Any]:
    """Return all arguments of a function: the static ones stand at `places`."""
    others, fixed = iter(arguments), dict(zip(places, static, strict=True))
    return [fixed[k] if k in fixed else next(others) for k in range(len(arguments) + len(static))]


def tensor_of(value: Any, what: str) -> Any:
    """Return the value as a variable.  Raises TypeError, naming `what`."""
    try:
        return as_tensor(value)
    except (TypeError, ValueError):
        expected = f"expected a variable, a number or an array{by_position(value)}"
        raise TypeError(f"{what} is {shown(value)}; {expected}") from None


def called(function: Any) -> str:
    """The name of a function in messages and graphs."""
    return one_line(str(getattr(function, "__name__", None) or type(function).__name__))


class Custom:
    """The part that `custom_vjp` and `custom_jvp` share."""

    kind: str = ""

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        if not callable(fun):
            raise TypeError(f"{self.kind}: expected a function of variables, got {shown(fun)}")
        numbers = [nondiff_argnums] if isinstance(nondiff_argnums, int) else list(nondiff_argnums)
        if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in numbers):
            raise TypeError(f"{self.kind}: nondiff_argnums is {shown(nondiff_argnums)}; expected positions from 0 on")
        update_wrapper(self, fun)  # type: ignore[arg-type]
        self.fun, self.nondiff_argnums = fun, tuple(sorted(set(numbers)))
        self.what: str = f"{self.kind} {called(fun)}"

    def __repr__(self) -> str:
        return f"<{self.what}>"

    def __reduce__(self) -> str:
        """Return the name by which a pickle finds the function: its module must define it."""
        name, module = self.fun.__qualname__, sys.modules.get(self.fun.__module__)
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not self:
            raise pickle.PicklingError(
                f"{self.what}: a pickle finds it by its name, and {self.fun.__module__} has no such {name}; "
                "define it at the top of a module"
            )
        return name

    def _arguments(self, arguments: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
        """Return the arguments by position.  Raises TypeError for those that the function does not take."""
        try:
            given = inspect.signature(self.fun).bind(*arguments, **options)
        except TypeError as error:
            raise TypeError(f"{self.what}: {error}") from None
        given.apply_defaults()
        if given.kwargs:
            raise TypeError(f"{self.what}: {', '.join(given.kwargs)} can only be given by name; expected positions")
        if any(k >= len(given.args) for k in self.nondiff_argnums):
            raise ValueError(
                f"{self.what}: nondiff_argnums is {self.nondiff_argnums} of {counted(len(given.args), 'argument')}"
            )
        return list(given.args)

    def _refuse_captured(self, taken: Sequence[Variable]) -> None:
        """Raise TypeError for values that the function reads and that are no arguments: their derivative is lost."""
        for v in taken:
            above = v.owner.op.name if v.owner is not None else ""
            if v.type.kind in "fc" and above != "stop_gradient":
                raise TypeError(
                    f"{self.what}: it reads {describe(v)}, which is no argument, so its derivative is unknown. "
                    "Make it an argument, or wrap it in stop_gradient"
                )

    def _applied(self, rule: type[CustomRule], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
        given = self._arguments(arguments, options)
        built = Built(self.fun, given, self.nondiff_argnums, self.what)
        static = tuple(map(_Static, built.static))
        forms = tuple(built.forms)
        return built.applied(rule(self, static, forms, built.form, len(built.leaves)), self._refuse_captured)


class _Static:
    """An argument that is no variable: equal to itself, and to an equal one of its class that has a hash."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Static) or type(self.value) is not type(other.value):
            return False
        return self.value is other.value or (_hash(self.value) is not None and bool(self.value == other.value))

    def __hash__(self) -> int:
        found = _hash(self.value)
        return id(self.value) if found is None else found


def _hash(value: Any) -> int | None:
    try:
        return hash(value)
    except TypeError:
        return None


@record
class CustomRule(Derivative):
    """The derivative that a user gave: the functions, the static arguments, the forms of arguments and results."""

    function: Any
    static: tuple[_Static, ...]
    forms: tuple[Form, ...]
    form: Form
    count: int

    @property
    def given(self) -> list[Any]:
        """The static arguments."""
        return [s.value for s in self.static]

    def all_arguments(self, leaves: Sequence[Any]) -> list[Any]:
        return with_static(nested(self.forms, leaves), self.given, self.function.nondiff_argnums)

    def fitted(self, value: Any, like: Variable, what: str) -> Variable:
        """Return a value of the dtype and rank of `like`.  Raises TypeError or ValueError."""
        found: Variable = tensor_of(value, f"{self.function.what}: {what}")
        if found.dtype != like.dtype and not isinstance(value, Variable):
            found = T.cast(found, like.dtype)
        if found.dtype != like.dtype or found.ndim != like.ndim:
            raise TypeError(
                f"{self.function.what}: {what} is {describe(found)}; expected {like.type}, as {describe(like)}"
            )
        if conflict(found.type, like.type):
            raise ValueError(
                f"{self.function.what}: {what} is {describe(found)}; expected the shape of {describe(like)}"
            )
        return found


class VjpRule(CustomRule):
    """The derivative of a `custom_vjp` function."""

    def pull(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        own, leaves = self.function, list(inputs[: self.count])
        found = own.fwd(*self.all_arguments(leaves))
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError(f"{own.what}: fwd returned {shown(found)}; expected a pair (results, residuals)")
        self._require_results(found[0], outputs)
        sent = [T.zeros_like(o) if g is None else g for o, g in zip(outputs, cotangents, strict=True)]
        pulled = own.bwd(*self.given, found[1], unflat(self.form, iter(sent)))
        if not isinstance(pulled, (tuple, list)) or len(pulled) != len(self.forms):
            raise TypeError(
                f"{own.what}: bwd returned {shown(pulled)}; expected a tuple of {len(self.forms)} cotangents, "
                "one an argument (None: zero)"
            )
        flat: list[Any] = []
        for k, (g, form) in enumerate(zip(pulled, self.forms, strict=True)):
            flat += self._in_form(g, form, k)
        found_all = [
            None if g is None or x.type.kind not in "fc" else self.fitted(g, x, f"cotangent {k} of bwd")
            for k, (g, x) in enumerate(zip(flat, leaves, strict=True))
        ]
        return [*found_all, *(None for _ in inputs[self.count :])]

    def _require_results(self, found: Any, outputs: Sequence[Variable]) -> None:
        """Raise TypeError unless fwd returns what the function returns."""
        try:
            values = in_form(found, self.form)
        except (TypeError, KeyError):
            raise TypeError(
                f"{self.function.what}: fwd returned the results {shown(found)}; expected the form of the function's"
            ) from None
        for k, (value, output) in enumerate(zip(values, outputs, strict=True)):
            self.fitted(value, output, f"result {k} of fwd")

    def _in_form(self, g: Any, form: Form, k: int) -> list[Any]:
        if g is None:
            return [None] * len(_leaves_of(form))
        try:
            return in_form(g, form, anything=True)
        except (TypeError, KeyError):
            raise TypeError(
                f"{self.function.what}: cotangent {k} of bwd is {shown(g)}; expected the form of argument {k}"
            ) from None


def _leaves_of(form: Form) -> list[Any]:
    found: list[Any] = []
    flat(unflat(form, _zeros()), found)
    return found


def _zeros() -> Iterator[int]:
    while True:
        yield 0


class JvpRule(CustomRule):
    """The derivative of a `custom_jvp` function: the transpose of its rule, which is linear in the tangents."""

    def pull(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        own, leaves = self.function, list(inputs[: self.count])
        tangents = [TensorVariable(x.type) for x in leaves]
        primals = nested(self.forms, leaves)
        found = own.rule(*self.given, tuple(primals), tuple(nested(self.forms, tangents)))
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError(f"{own.what}: the rule returned {shown(found)}; expected a pair (results, tangents)")
        try:
            values = in_form(found[1], self.form, anything=True)
        except (TypeError, KeyError):
            raise TypeError(
                f"{own.what}: the rule returned the tangents {shown(found[1])}; expected the form of the function's "
                "results"
            ) from None
        moved = [
            None if g is None or o.type.kind not in "fc" or t is None else self.fitted(t, o, f"tangent {k} of the rule")
            for k, (t, o, g) in enumerate(zip(values, outputs, cotangents, strict=True))
        ]
        ends = [(t, g) for t, g in zip(moved, cotangents, strict=True) if t is not None and g is not None]
        movable: list[Variable] = [t for t in tangents if t.type.kind in "fc"]
        pulled = dict(zip(movable, pull_back([t for t, _ in ends], [g for _, g in ends], movable), strict=True))
        zero: dict[Variable, Variable] = {t: T.zeros_like(x) for t, x in zip(tangents, leaves, strict=True)}
        wanted = [g for g in pulled.values() if g is not None]
        rebuilt = iter(rebuild(wanted, zero))
        results = {t: None if g is None else next(rebuilt) for t, g in pulled.items()}
        return [*(results.get(t) for t in tangents), *(None for _ in inputs[self.count :])]


class custom_vjp(Custom):  # noqa: N801  (JAX's name)
    """A function of expressions whose reverse derivative the user gives; a decorator, as JAX's.

        @ag.custom_vjp
        def safe_log(x):
            return T.log(x)

        safe_log.defvjp(lambda x: (safe_log(x), x), lambda x, g: (g / T.maximum(x, 1e-6),))

    Args:
        fun: The function of variables, or nested lists, tuples and dicts of them; it returns the like.
        nondiff_argnums: Positions of arguments that are no variables; `fwd` gets them in place, `bwd` in front.

    `ag.grad` and all its relatives use the rule, in loops and under `ag.vmap` as well.  What compiled functions compute
    is `fun` itself, fused with what surrounds it.  A derivative of a derivative is that of `bwd`.

    Raises:
        AttributeError: a call comes before `defvjp`.
        TypeError: the function reads a variable that is no argument, or `fwd` or `bwd` returned another form, dtype or
            rank than expected; ValueError for known lengths that differ.
    """

    kind = "custom_vjp"
    fwd: Any = None
    bwd: Any = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Set the rule.

        Args:
            fwd: A function of the arguments of the function; returns a pair of its results and residuals, any value.
            bwd: A function of the residuals and the cotangents of the results, in their form; returns a tuple of one
                cotangent an argument, each of the argument's form, shape and dtype, or None for zero.
        """
        for role, f in (("fwd", fwd), ("bwd", bwd)):
            if not callable(f):
                raise TypeError(f"{self.what}: {role} is {shown(f)}; expected a function")
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.bwd is None:
            raise AttributeError(f"{self.what}: it has no rule yet; call its defvjp(fwd, bwd) first")
        return self._applied(VjpRule, args, kwargs)


class custom_jvp(Custom):  # noqa: N801  (JAX's name)
    """A function of expressions whose forward derivative the user gives; a decorator, as JAX's.

        @ag.custom_jvp
        def log1pexp(x):
            return T.log(1 + T.exp(x))

        @log1pexp.defjvp
        def rule(primals, tangents):
            (x,), (t,) = primals, tangents
            return log1pexp(x), t * T.sigmoid(x)

    Args:
        fun: The function of variables, or nested lists, tuples and dicts of them; it returns the like.
        nondiff_argnums: Positions of arguments that are no variables; the rule gets them in front.

    The rule must be linear in the tangents; reverse derivatives are its transpose.  Tangents of integers are zeros.
    Errors are those of `custom_vjp`.
    """

    kind = "custom_jvp"
    rule: Any = None

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule: a function of two tuples, arguments and tangents, that returns (results, tangents of them)."""
        if not callable(jvp):
            raise TypeError(f"{self.what}: the rule is {shown(jvp)}; expected a function")
        self.rule = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set one rule an argument: a function of its tangent, the result and the arguments; None stands for zero."""

        def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
            if len(jvps) != len(primals):
                raise TypeError(
                    f"{self.what}: defjvps has {counted(len(jvps), 'rule')} for {counted(len(primals), 'argument')}"
                )
            result = self(*primals)
            parts = [f(t, result, *primals) for f, t in zip(jvps, tangents, strict=True) if f is not None]
            total = parts[0] if parts else T.zeros_like(result)
            for part in parts[1:]:
                total = T.add(total, part)
            return result, total

        if self.nondiff_argnums:
            raise ValueError(f"{self.what}: defjvps takes no nondiff_argnums; use defjvp")
        self.defjvp(rule)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.rule is None:
            raise AttributeError(f"{self.what}: it has no rule yet; call its defjvp(rule) first")
        return self._applied(JvpRule, args, kwargs)


def checkpoint(
    fun: Callable[..., Any], *, prevent_cse: bool = True, policy: Callable[..., Any] | None = None,
    static_argnums: int | Sequence[int] = (),
) -> Callable[..., Any]:  # fmt: skip
    """Return `fun`, whose intermediate values derivatives compute again instead of keeping them.

        loss = T.sum(ag.checkpoint(layer)(x, w))

    Args:
        fun: A function of variables, or nested lists, tuples and dicts of them; it may use other variables.
        prevent_cse: False lets compiled functions share values that are equal, and so keep them.
        policy: A function of an op and its operands: true for results that are kept, such as
            `lambda op, *operands: op.name == "dot"`.  By default only the arguments are kept.
        static_argnums: Positions of arguments that are no variables.

    A step of `ag.scan` keeps matrix products and no other intermediate values; for long loops see its
    `checkpoint_every`.
    Source: Griewank and Walther, Evaluating Derivatives, chapter 12; the names are JAX's.
    """
    if not callable(fun):
        raise TypeError(f"checkpoint: expected a function of variables, got {shown(fun)}")
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    what = f"checkpoint {called(fun)}"

    @wraps(fun)
    def recomputed(*arguments: Any) -> Any:
        built = Built(fun, arguments, static, what)
        if not prevent_cse:
            return built.applied(None)
        found = built.applied(None)
        return _with_recomputation(found, policy)

    return recomputed


def _with_recomputation(found: Any, policy: Callable[..., Any] | None) -> Any:
    """Return the results of a composition, applied with the derivative that computes its values again."""
    flat: list[Any] = []
    form = symbolic_flat(found, flat)
    node: Apply = flat[0].owner
    op = node.op
    assert isinstance(op, Composed)
    rule = Recomputed(op.graph, policy)
    return unflat(form, iter(Apply(Composed(op.graph, op.called, rule, True), node.inputs, node.origin).outputs))


def stop_gradient(x: Any) -> Any:
    """Return the values of `x`, a variable or nested lists, tuples and dicts of them, as constants to derivatives."""
    flat: list[Any] = []
    form = symbolic_flat(x, flat)
    return unflat(form, iter([T.stop_gradient(tensor_of(v, "stop_gradient: x")) for v in flat]))


def linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return `fun(*primals)` and the function of tangents that gives the change of the results along them.

        y, tangent_of = ag.linearize(lambda x: T.sin(x), x)
        ag.function([x, v], tangent_of(v))

    Args:
        fun: A function of variables that returns a variable, or nested lists, tuples and dicts of them.
        primals: Its arguments: variables, numbers or arrays of floats or complex numbers, or nested ones.

    The linear function takes one tangent a primal, of its form, shape and dtype, as often as you like; what does not
    depend on tangents is computed once.  Raises TypeError for integers and for tangents of another form, dtype or rank.
    The names and the order of arguments are JAX's.
    """
    if not callable(fun):
        raise TypeError(f"linearize: expected a function of variables, got {shown(fun)}")
    flat: list[Any] = []
    forms = [symbolic_flat(p, flat) for p in primals]
    same = T.ELEMENTWISE["identity"]
    at = [same(tensor_of(p, f"linearize: primal {k}")) for k, p in enumerate(flat)]
    for p in at:
        if p.type.kind not in "fc":
            raise TypeError(f"linearize: {describe(p)} is not differentiable; expected floats or complex numbers")
    found = fun(*nested(forms, at))
    results: list[Any] = []
    form = symbolic_flat(found, results)
    outputs = [tensor_of(r, f"linearize: result {k}") for k, r in enumerate(results)]
    duals = [TensorVariable(o.type) for o in outputs]
    floating = [k for k, o in enumerate(outputs) if o.type.kind in "fc"]
    pulled = pull_back(stable_forms([outputs[k] for k in floating], at), [duals[k] for k in floating], at)
    zero: dict[Variable, Variable] = {d: T.zeros_like(o) for d, o in zip(duals, outputs, strict=True)}

    def linear(*tangents: Any) -> Any:
        if len(tangents) != len(forms):
            raise TypeError(f"linearize: the linear function takes {len(forms)} tangents, got {len(tangents)}")
        given: list[Any] = []
        for k, (tangent, form_of) in enumerate(zip(tangents, forms, strict=True)):
            try:
                given += in_form(tangent, form_of)
            except (TypeError, KeyError):
                raise TypeError(
                    f"linearize: tangent {k} is {shown(tangent)}; expected the form of primal {k}"
                ) from None
        moved = [_tangent(t, p, k) for k, (t, p) in enumerate(zip(given, at, strict=True))]
        pairs = [(g, t) for g, t in zip(pulled, moved, strict=True) if g is not None]
        ends = pull_back([g for g, _ in pairs], [t for _, t in pairs], duals)
        full = [T.zeros_like(o) if e is None else e for o, e in zip(outputs, ends, strict=True)]
        return unflat(form, iter(rebuild(full, dict(zero))))

    return unflat(form, iter(outputs)), linear


def _tangent(value: Any, primal: Variable, k: int) -> Variable:
    found: Variable = value if isinstance(value, Variable) else T.constant(value, primal.dtype)
    if found.dtype != primal.dtype or found.ndim != primal.ndim or conflict(found.type, primal.type):
        raise TypeError(f"linearize: tangent {k} is {describe(found)}; expected {primal.type}")
    return found
