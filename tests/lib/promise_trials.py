"""Random trials of lengths that are promised: variables replaced by what knows less, and masks of every wrong length.

A trial says what is wrong as text, or nothing.  The reference of a kept promise is NumPy on the expression as it was
built; of a broken one an error that names the variable, with nothing changed.  Masks are held against NumPy's indexing.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

MODES = (None, None, None, "NUMPY", "NUMPY", "FAST_COMPILE", "fast_run -relaxes_errors")
ANY_RANK = (
    "q.mean()", "q.sum()", "T.var(q)", "T.ones_like(q).sum()", "T.zeros_like(q) + 1", "q.shape[0] * 1.0",
    "q - q.mean()",
    "T.exp(q) / T.exp(q).sum()", "T.reshape(q, (-1,))", "T.concatenate([q, q])", "q[-1]", "q[::-1]",
    "T.argmax(q) * 1.0",
    "T.cumsum(q, 0)", "ag.grad(T.square(q).mean(), q)", "ag.grad((q.mean() * q).sum(), q)", "T.softmax(q, axis=0)",
    "q * 0 + 2", "T.max(q, axis=0)", "T.zeros(q.shape[0]) + 1", "q.T.mean() * q.shape[-1]",
    "T.std(q, axis=0)", "q + T.ones_like(q)", "T.arange(q.shape[0]) + 0.5",
    "T.repeat(q, 2, axis=0)", "T.mean(q, axis=0)",
)  # fmt: skip
INSIDE = (
    "ag.scan(lambda r: r * q.mean(), sequences=q)[0]",
    "ag.scan(lambda s: s * 0.5 + q.mean(0), outputs_info=q[0], n_steps=3)[0]",
    "ag.cond(q.sum() > 0, lambda: q.mean(), lambda: q.sum() / q.shape[0])",
    "ag.vmap(lambda r: r - q.mean(0))(q)",
    "ag.jacobian(q.mean(axis=0).sum(), q)", "ag.hessian(T.square(q).mean(), q)",
    "ag.scan(lambda s: s + q, outputs_info=T.zeros_like(q), n_steps=2)[0]",
    "ag.grad(ag.scan(lambda r: r * q.mean(), q)[0].sum(), q)",
    "ag.vectorize(p.mean() + p, {p: T.stack([q, q])})",
)  # fmt: skip
"""Forms in which the variable is read by an inner graph, or makes many examples; p: one of them."""
MATRICES = (
    "q @ q.T", "T.dot(q.T, q)", "q.mean(1)", "T.einsum('ij,ij->', q, q)", "T.trace(q)",
    "(q - q.mean(1)[:, None]) @ q.T",
    "T.tril(q)", "q.sum(0) / q.shape[0]", "T.softmax(q, axis=1)", "ag.grad(T.tanh(q @ q.T).sum(), q)", "T.diagonal(q)",
)  # fmt: skip


def promise_trial(seed: int) -> str:
    """Fault of a random expression of a variable that something else replaces; empty if it is right."""
    random = Random(seed)
    rank = random.randint(1, 2)
    promised = tuple(random.choice((None, 1, 2, 3, 5)) for _ in range(rank))
    kept = tuple(random.randint(1, 4) if n is None else n for n in promised)
    shape = list(kept)
    axis = random.randrange(rank)
    if random.random() < 0.6:
        shape[axis] = random.choice([n for n in (0, 1, shape[axis] + 1, max(shape[axis] - 1, 0)) if n != shape[axis]])
    value = np.array([random.uniform(-2, 2) for _ in range(int(np.prod(shape)))]).reshape(shape)
    is_kept = all(n is None or n == m for n, m in zip(promised, shape, strict=True))
    forms = random.sample(ANY_RANK + INSIDE + MATRICES * (rank == 2), 2)
    way = random.choice(("givens", "givens", "givens", "updates", "set_value", "input"))
    mode = random.choice(MODES)
    said = f"{way}, {mode}, promised {promised}, given {tuple(shape)}, {forms}"
    try:
        wrong = WAYS[way](random, promised, value, is_kept, forms, mode)
    except Exception as error:  # an outcome that nobody expected
        wrong = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return f"{said}: {wrong}" if wrong else ""


def outputs_of(q: Any, forms: list[str]) -> list[Any]:
    names = {"T": T, "ag": ag, "q": q, "p": T.tensor("p", shape=q.type.shape)}
    return [eval(form, names) for form in forms]


def outcome(call: Any, name: str, is_kept: bool, expected: Any) -> str:
    """Fault of a call: another result, an unexpected error, no error, or one that names no argument."""
    try:
        got = call()
    except (ValueError, IndexError) as error:
        if is_kept and expected() is not None:
            return f"raised {error}"
        return "" if is_kept or name in str(error) else f"an error that does not name {name}: {error}"
    if not is_kept:
        return f"no error; {got}"
    wanted = expected()
    if wanted is None:
        return f"no error where the expression has one; {got}"
    for mine, theirs in zip(got, wanted, strict=True):
        if mine.shape != theirs.shape or not np.allclose(mine, theirs, rtol=1e-9, atol=1e-12, equal_nan=True):
            return f"got {mine}, expected {theirs}"
    return ""


def reference(outputs: list[Any], q: Any, value: np.ndarray) -> Any:
    """The values of the outputs, as a function; None where NumPy raises for them.  `q`: None for a shared variable."""

    def computed() -> Any:
        try:
            return T.evaluate(outputs, {} if q is None else {q: value})
        except (ValueError, IndexError):
            return None

    return computed


def by_givens(
    random: Random, promised: Any, value: np.ndarray, is_kept: bool, forms: list[str], mode: Any
) -> str:  # fmt: skip
    q = T.tensor("promiser", shape=promised)
    if random.random() < 0.3:
        q = q * 1.0  # a value that is computed may be replaced as well
        q.name = "promiser"
    outputs = outputs_of(q, forms)
    source, arguments = replacement(random, promised, value)

    def call() -> Any:
        f = ag.function(list(arguments), outputs, givens={q: source}, mode=mode, on_unused_input="ignore")
        first = f(*arguments.values())
        again = f(*arguments.values())
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, again, strict=True))
        return first

    return outcome(call, "promiser", is_kept, reference(outputs, q, value))


def replacement(random: Random, promised: Any, value: np.ndarray) -> tuple[Any, dict[Any, Any]]:
    """An expression of this value that knows some of its lengths or none, and the arguments that it takes."""
    known = tuple(m if random.random() < 0.2 else None for m in value.shape)
    kind = random.randrange(6)
    if kind == 0:
        v = T.tensor("v", shape=known)
        return v, {v: value}
    if kind == 1:
        v = T.tensor("v", shape=known)
        return T.exp(v * 2 / 2 - v) * v, {v: value}
    rows = np.concatenate([np.full((2, *value.shape[1:]), 7.0), value])
    first = T.lscalar("first")
    if kind == 2:
        return ag.shared(rows, name="d")[first:], {first: 2}
    v = T.tensor("v", shape=(None, *known[1:]))
    if kind == 3:
        return v[first:], {v: rows, first: 2}
    if kind == 4:
        chosen = T.vector("chosen", dtype="bool")
        return v[chosen], {v: rows, chosen: np.arange(len(rows)) >= 2}
    return T.concatenate([v[2:3], v[3:]]), {v: rows}


def by_updates(
    random: Random, promised: Any, value: np.ndarray, is_kept: bool, forms: list[str], mode: Any
) -> str:  # fmt: skip
    start = np.ones([n or m for n, m in zip(promised, value.shape, strict=True)])
    s = ag.shared(start, name="promiser", shape=promised)
    outputs = outputs_of(s, forms)
    source, arguments = replacement(random, promised, value)
    try:
        T.evaluate(outputs, {})
    except (ValueError, IndexError):
        outputs = []

    def call() -> Any:
        f = ag.function(list(arguments), [], updates=[(s, source)], mode=mode)
        f(*arguments.values())
        return [s.get_value()]

    wrong = outcome(call, "promiser", is_kept, lambda: [value])
    if not wrong and not is_kept and not np.array_equal(s.get_value(), start):
        return "a call that raised has changed the shared variable"
    later = ag.function([], outputs, mode=mode)
    return wrong or outcome(later, "promiser", True, reference(outputs, None, value))


def by_set_value(
    random: Random, promised: Any, value: np.ndarray, is_kept: bool, forms: list[str], mode: Any
) -> str:  # fmt: skip
    s = ag.shared(np.ones([n or m for n, m in zip(promised, value.shape, strict=True)]), "promiser", promised)
    outputs = outputs_of(s, forms)
    f = ag.function([], outputs, mode=mode)

    def call() -> Any:
        s.set_value(value)
        return f()

    return outcome(call, "promiser", is_kept, reference(outputs, None, value))


def by_input(
    random: Random, promised: Any, value: np.ndarray, is_kept: bool, forms: list[str], mode: Any
) -> str:  # fmt: skip
    q = T.tensor("promiser", shape=promised)
    outputs = outputs_of(q, forms)
    f = ag.function([q], outputs, mode=mode, on_unused_input="ignore")
    return outcome(lambda: f(value), "promiser", is_kept, reference(outputs, q, value))


WAYS = {"givens": by_givens, "updates": by_updates, "set_value": by_set_value, "input": by_input}


# --- masks


def mask_trial(seed: int) -> str:
    """Fault of reading or writing under masks, some of wrong length; empty if it is right."""
    random = Random(seed)
    rank = random.randint(1, 3)
    shape = tuple(random.choice((0, 1, 2, 3)) for _ in range(rank))
    x = np.arange(float(np.prod(shape))).reshape(shape)
    key = _key(random, shape)
    known = tuple(n if random.random() < 0.2 else None for n in shape)
    how, mode = random.choice(("read", "set", "add")), random.choice(MODES)
    symbolic = random.random() < 0.3
    said = f"{how}, {mode}, {known} of {shape}, {'symbolic ' * symbolic}{key}"
    expected = _tried(lambda: _by_numpy(x, key, how))
    got = _tried(lambda: _by_function(x, key, how, mode, known, symbolic))
    if isinstance(expected, str) or isinstance(got, str):
        return "" if isinstance(expected, str) and expected == got else f"{said}: got {got}, expected {expected}"
    same = got.shape == expected.shape and np.array_equal(got, expected)
    return "" if same else f"{said}: got {got}, expected {expected}"


def _key(random: Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index with at least one mask: each of the lengths of its axes, or of wrong ones."""
    items: list[Any] = []
    axis, masks = 0, 0
    while axis < len(shape):
        left = len(shape) - axis
        kind = random.random() if masks or left > 1 else 0.0
        if kind < 0.6:
            rank = random.randint(1, min(2, left))
            lengths = [_length(random, n) for n in shape[axis : axis + rank]]
            items.append(np.array([random.random() < 0.6 for _ in range(int(np.prod(lengths)))], bool).reshape(lengths))
            axis, masks = axis + rank, masks + 1
        else:
            items.append(random.choice((slice(None), slice(1, None), 0 if shape[axis] else slice(None))))
            axis += 1
        if random.random() < 0.1:
            items.append(None)
        if masks and random.random() < 0.3:
            break
    return tuple(items)


def _length(random: Random, n: int) -> int:
    return n if random.random() < 0.6 else random.choice((0, 1, n + 1, max(n - 1, 0)))


def _by_numpy(x: np.ndarray, key: tuple[Any, ...], how: str) -> np.ndarray:
    if how == "read":
        return x[key]
    result = x.copy()
    if how == "set":
        result[key] = 9.0
    else:
        np.add.at(result, key, 9.0)
    return result


def _by_function(
    x: np.ndarray, key: tuple[Any, ...], how: str, mode: Any, known: tuple[int | None, ...], symbolic: bool
) -> np.ndarray:
    v = T.tensor("x", shape=known)
    masks = [k for k in key if isinstance(k, np.ndarray)] if symbolic else []
    variables = iter([T.tensor(f"m{n}", "bool", (None,) * m.ndim) for n, m in enumerate(masks)])
    given = [next(variables) if symbolic and isinstance(k, np.ndarray) else k for k in key]
    part = v[tuple(given)]
    result = part if how == "read" else (T.set_subtensor if how == "set" else T.inc_subtensor)(part, 9.0)
    arguments = [k for k in given if isinstance(k, T.TensorVariable)]
    return ag.function([v, *arguments], result, mode=mode)(x, *masks)


def _tried(call: Any) -> Any:
    """The result of a call, or the name of the exception."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__
