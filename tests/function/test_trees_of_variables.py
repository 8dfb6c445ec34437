"""Trees in the place of variables: arguments, results, derivatives, loops, updates; the paths that errors name."""

import pickle
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T


@dataclass
class Layer:
    w: object
    b: object = None


@dataclass(frozen=True)
class Frozen:
    w: object
    n: int = 2


class Pair(NamedTuple):
    x: object
    y: object


class Scaled:
    """A class of a user, with a static part."""

    def __init__(self, w, k):
        self.w, self.k = w, k


ag.tree.register(Scaled, lambda v: ({"w": v.w}, v.k), lambda k, parts: Scaled(parts["w"], k))


def same(found, expected):
    """Both trees have one structure and nearly equal leaves."""
    mine, structure = ag.tree.flatten(found)
    others, expected_structure = ag.tree.flatten(expected)
    assert structure == expected_structure
    for a, b in zip(mine, others, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    return True


VALUES = {"encoder": {"w": np.arange(6.0).reshape(3, 2) / 10, "b": np.ones(2)}, "decoder": Layer(np.full(2, 3.0))}
X = np.array([1.0, 2.0, 3.0])


def model():
    params = {"encoder": {"w": T.matrix("w"), "b": T.vector("b")}, "decoder": Layer(T.vector("v"))}
    x = T.vector("x")
    return params, x, ((x @ params["encoder"]["w"] + params["encoder"]["b"]) * params["decoder"].w).sum()


GRADIENTS = {
    "encoder": {"w": np.outer(X, [3.0, 3.0]), "b": np.full(2, 3.0)},
    "decoder": Layer(X @ VALUES["encoder"]["w"] + 1),
}
LOSS = float((GRADIENTS["decoder"].w * 3).sum())


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", [None, "NUMPY", "DEBUG", "NAN"])
def test_arguments_and_results(mode):
    params, x, loss = model()
    f = ag.function([params, x], Pair({"loss": loss}, [ag.grad(loss, params), None]), mode=mode, name="f")
    expected = Pair({"loss": LOSS}, [GRADIENTS, None])
    for _ in range(70 if mode is None else 1):  # through the native entry, which begins later
        assert same(f(VALUES, X), expected)
    assert same(f(VALUES, x=[1, 2, 3]), expected) and type(f(VALUES, X)) is Pair
    reordered = {key: VALUES[key] for key in ("decoder", "encoder")}
    assert same(f(reordered, X), expected)
    if mode is None:
        assert same(pickle.loads(pickle.dumps(f))(VALUES, X), expected)
        assert same(f.bind(VALUES, X)(), expected)
        assert f.debug(VALUES, X).first is None
        assert same(ag.freeze(f)(VALUES, X), expected)


def test_blocks_of_dask():
    dask_array = pytest.importorskip("dask.array")
    params, x = {"w": T.vector("w")}, T.matrix("x")
    f = ag.function([params, x], {"y": [x @ params["w"]]}, mode="NUMPY")
    found = f({"w": np.ones(3)}, dask_array.ones((4, 3), chunks=2))
    assert found["y"][0].compute(scheduler="synchronous").tolist() == [3] * 4


def test_errors_name_the_path():
    params, x, loss = model()
    f = ag.function([params, x], loss, name="f")
    encoder, w, b = VALUES["encoder"], VALUES["encoder"]["w"], VALUES["encoder"]["b"]
    wrong = [
        ({"encoder": encoder}, r'f: params\["decoder"\] is missing; expected a dict with the keys'),
        ({**VALUES, "head": 1}, r'f: params\["head"\] is unexpected'),
        ({**VALUES, "encoder": {"w": w, "b": np.ones((2, 2))}}, r'f: params\["encoder"\]\["b"\]: expected float64'),
        ({**VALUES, "encoder": {"w": w, "b": {"c": b}}}, r'f: params\["encoder"\]\["b"\]: expected .* got dict'),
        ({**VALUES, "encoder": [w, b]}, r'f: params\["encoder"\]: expected a dict, got a list'),
        ({**VALUES, "decoder": Layer(b, b)}, r'f: params\["decoder"\].b: expected None, got'),
        ({**VALUES, "decoder": Layer("text")}, r'f: params\["decoder"\].w: expected float64'),
        (VALUES["decoder"], r"f: params: expected a dict, got a Layer"),
    ]
    for _ in range(2):
        for given, message in wrong:
            with pytest.raises(TypeError, match=message):
                f(given, X)
        for _ in range(64):
            f(VALUES, X)
    with pytest.raises(TypeError, match=r"f: takes 2 arguments \(params, x\), got 1"):
        f(VALUES)
    for inputs, kind, message in (
        ([[x, 3]], TypeError, r"argument 0\[1\] is int 3; expected a variable"),
        ([{"a": x, "b": {"c": x}}], ValueError, r'argument 0\["b"\]\["c"\] \(x\) is given twice'),
    ):
        with pytest.raises(kind, match=message):
            ag.function(inputs, x)
    with pytest.raises(TypeError, match=r'outputs\[1\]\["a"\] is object .*; expected a variable'):
        ag.function([x], [x, {"a": object()}])


class Settings:
    """An object that is no array."""


@pytest.mark.parametrize("leaf, shown", [
    ("abc", "'abc'"), (b"a", "b'a'"), ({1}, r"\{1\}"), (Settings(), "an object of Settings"),
    (np.array(["a"]), r"ndarray array\(\['a'\], dtype='<U1'\)"),
    (np.datetime64("2020-01-01"), r"datetime64 np.datetime64\('2020-01-01'\)"),
])  # fmt: skip
def test_errors_name_the_path_of_a_leaf_that_is_no_array(leaf, shown):
    def f(params, x):
        return (params["encoder"]["w"] * x).sum()

    path = r"params\[\"encoder\"\]\[\"w\"\]"
    given = {"encoder": {"w": leaf}}
    for call in (ag.jit(f), ag.grad(f), ag.jit(ag.grad(f)), ag.value_and_grad(f)):
        with pytest.raises(TypeError, match=rf"got {shown} \({path}\)|argument 0 \({path}\) is {shown}"):
            call(given, 1.0)
    with pytest.raises(TypeError, match=r'vmap: argument 0\["encoder"\]\["w"\] is '):
        ag.vmap(f, in_axes=(None, 0))(given, np.ones(3))
    with pytest.raises(TypeError, match=r'adam: parameters\["encoder"\]\["w"\] is .*; expected a variable made by'):
        ag.optim.adam(given, given)


def test_registered_classes():
    x = T.vector("x")
    f = ag.function([Scaled(x, 2)], Scaled(x * 2, 3))
    for _ in range(70):
        found = f(Scaled(X, 2))
    assert found.k == 3 and np.array_equal(found.w, 2 * X)
    with pytest.raises(TypeError, match="its static data is 4, expected 2"):
        f(Scaled(X, 4))
    jitted = ag.jit(lambda r: Scaled(r.w * r.k, r.k), mode="NUMPY")
    assert jitted(Scaled(X, 3)).k == 3 and np.array_equal(jitted(Scaled(X, 4)).w, 4 * X)
    assert ag.grad((x**2).sum(), Scaled(x, 7)).k == 7
    for kind, message in ((Scaled, "is registered already"), (dict, "is a container already")):
        with pytest.raises(ValueError, match=message):
            ag.tree.register(kind, list, list)


def test_jitted_functions():
    @ag.jit(mode="NUMPY")
    def step(p, x):
        return {"w": p.w * x, "none": None, "pair": Pair(p.w + p.n, x)}

    found = step(Frozen(np.ones(2), 3), 2.0)
    assert found["none"] is None and found["pair"].x.tolist() == [4, 4] and found["w"].tolist() == [2, 2]
    double = ag.jit(lambda p: ag.tree.map(lambda a: a * 2, p), mode="NUMPY")
    assert same(double({"a": X, "b": (1.0, [2.0])}), {"a": 2 * X, "b": (2.0, [4.0])})
    assert same(double(Layer(X, X)), Layer(2 * X, 2 * X))
    slopes = ag.jit(lambda p: ag.grad((p["a"] ** 2).sum() + p["b"][0], p), mode="NUMPY")
    assert same(slopes({"a": X, "b": (1.0,)}), {"a": 2 * X, "b": (1.0,)})
    with pytest.raises(TypeError, match=r'argument 1 \(p\["b"\]\) is'):
        double({"a": X, "b": np.array(["text"])})
    with pytest.raises(TypeError, match=r'output\["a"\]\[1\] is <object'):
        ag.jit(lambda x: {"a": [x, object()]}, mode="NUMPY")(X)


def test_derivatives():
    params, x, loss = model()
    leaves = ag.tree.leaves(params)
    value, found = ag.value_and_grad(loss, params)
    second = ag.hessian(loss, {"b": params["encoder"]["b"], "v": params["decoder"]})
    along = ag.hvp(loss, params, VALUES)
    outputs = [value, *ag.tree.leaves(found), second["v"].w["b"], *ag.tree.leaves(along)]
    results = ag.function([*leaves, x], outputs, mode="NUMPY")(*ag.tree.leaves(VALUES), X)
    assert same(results[1:4], ag.tree.leaves(GRADIENTS)) and np.array_equal(results[4], np.eye(2))
    assert ag.tree.structure(along) == ag.tree.structure(found) == ag.tree.structure(params)
    with pytest.raises(TypeError, match=r'got 3 for wrt\["a"\]\[1\]'):
        ag.grad(loss, {"a": [x, 3]})
    with pytest.raises(ValueError, match=r'vectors\["a"\]\["b"\] is missing'):
        ag.hvp(loss, {"a": {"b": x}}, {"a": {"c": X}})


def test_updates_and_optimizers():
    params = ag.tree.map_with_path(lambda path, a: ag.shared(a, name=path), {"l": [X, np.ones(2)]}, name="params")
    assert [v.name for v in ag.tree.leaves(params)] == ['params["l"][0]', 'params["l"][1]']
    loss = (params["l"][0] ** 2).sum() + params["l"][1].sum()
    step = ag.function([], loss, updates=ag.optim.sgd(params, ag.grad(loss, params), 0.5), mode="NUMPY")
    assert [float(step()), float(step())] == [16, 1]
    zeros = ag.tree.map(T.zeros_like, params)
    ag.function([], [], updates=[(params, zeros)], mode="NUMPY")()
    assert all(not p.get_value().any() for p in ag.tree.leaves(params))
    with pytest.raises(TypeError, match=r'sgd: gradients\["l"\]: expected 2 parts, got 1'):
        ag.optim.sgd(params, {"l": [1]})
    with pytest.raises(TypeError, match=r'function: update 0\["l"\]: expected 2 parts, got 1'):
        ag.function([], [], updates=[(params, {"l": zeros["l"][:1]})])


@pytest.mark.parametrize("rule", ["sgd", "adam", "lion"])
def test_optimizers_take_dataclasses_and_named_tuples_as_lists(rule):
    def steps(params):
        w, b = ag.tree.leaves(params)
        loss = (w**2).sum() + (b * w[0]).sum()
        updates = getattr(ag.optim, rule)(params, ag.grad(loss, params), learning_rate=0.1)
        step = ag.function([], loss, updates=updates, mode="NUMPY")
        return [float(step()) for _ in range(3)]

    values = X, np.ones(2)
    listed = steps([ag.shared(v) for v in values])
    assert listed[2] != listed[0]
    for made in (Layer, Pair, lambda w, b: {"encoder": {"w": w, "b": b}}):
        assert steps(made(*map(ag.shared, values))) == listed


def test_loops_and_branches():
    u, v, n = T.vector("u"), T.vector("v"), T.scalar("n")
    scanned, _ = ag.scan(
        lambda x, s: {"h": s["h"] + x["u"], "c": Pair(s["c"].x * x["v"], s["c"].y)},
        sequences={"u": u, "v": v}, outputs_info={"h": T.constant(0.0), "c": Pair(T.constant(1.0), T.constant(5.0))},
    )  # fmt: skip
    pairs, _ = ag.scan(lambda x: Pair(x, x * 2), u)
    fibonacci, _ = ag.scan(
        lambda s: (s[0] + s[1], s[0]), outputs_info=[(T.constant(1), T.constant(1))], n_steps=5
    )  # fmt: skip
    looped = ag.while_loop(lambda s: s.w > 1, lambda s: Layer(s.w / 2, {"n": s.b["n"] + 1}), Layer(n, {"n": 0}))
    chosen = ag.cond(n > 0, lambda: {"a": Layer(n)}, lambda: {"a": Layer(-n)})
    f = ag.function([u, v, n], {"s": scanned, "p": pairs, "f": fibonacci, "w": looped, "c": chosen}, mode="NUMPY")
    expected = {
        "s": {"h": [1, 3, 6], "c": Pair([1, 2, 6], [5, 5, 5])}, "p": Pair(X, 2 * X),
        "f": ([2, 3, 5, 8, 13], [1, 2, 3, 5, 8]), "w": Layer(1.0, {"n": 3}), "c": {"a": Layer(8.0)},
    }  # fmt: skip
    found = f(X, X, 8.0)
    assert same(found["w"], expected["w"]) and same(found["c"], expected["c"]) and same(found["p"], expected["p"])
    assert [a.tolist() for a in found["f"]] == [*expected["f"]]
    assert found["s"]["h"].tolist() == [1, 3, 6] and found["s"]["c"].x.tolist() == [1, 2, 6]
    with pytest.raises(TypeError, match=r'scan: fn: output 0\["c"\] is missing'):
        ag.scan(lambda s: {"h": s["h"]}, outputs_info={"h": n, "c": n}, n_steps=2)
    with pytest.raises(TypeError, match=r'cond: .* otherwise\["b"\]\["c"\] is missing, otherwise\["b"\]\["d"\]'):
        ag.cond(n > 0, lambda: {"b": {"c": 1}}, lambda: {"b": {"d": 1}})
    with pytest.raises(TypeError, match=r"cond: value\[1\] is .* expected one rank"):
        ag.cond(n > 0, lambda: [n, u], lambda: [n, n])
    with pytest.raises(TypeError, match=r"while_loop: body gives .*: state.b: expected None"):
        ag.while_loop(lambda s: s.w > 1, lambda s: Layer(s.w, 1), Layer(n))


def test_vmap():
    a, b, w = T.matrix("a"), T.matrix("b"), T.vector("w")
    mapped = ag.vmap(
        lambda p, w: {"y": p["a"] @ w, "z": (p["b"],)}, in_axes=({"a": 0, "b": 1}, None), out_axes={"y": 0, "z": (1,)}
    )({"a": a, "b": b}, w)
    f = ag.function([a, b, w], mapped, mode="NUMPY")
    A, B = np.arange(6.0).reshape(2, 3), np.arange(4.0).reshape(2, 2)
    assert same(f(A, B, X), {"y": A @ X, "z": (B,)})
    with pytest.raises(ValueError, match=r"vmap: in_axes\[0\] is {'a': 0}, which has not the structure"):
        ag.vmap(lambda p: p, in_axes=({"a": 0},))({"b": w})
    with pytest.raises(TypeError, match=r'vmap: result\["a"\] is <object'):
        ag.vmap(lambda p: {"a": object()})({"b": w})


def test_functions_of_trees():
    tree = {"a": [1, (2, None)], "b": Layer(3, Pair(4, 5))}
    leaves, structure = ag.tree.flatten(tree)
    assert leaves == [1, 2, 3, 4, 5] == ag.tree.leaves(tree) and len(structure) == 5
    assert ag.tree.unflatten(structure, leaves) == tree
    assert structure == ag.tree.structure(ag.tree.map(lambda a: a + 1, tree)) and len({structure}) == 1
    assert str(structure) == "Structure({'a': [*, (*, None)], 'b': Layer(w=*, b=Pair(*, *))})"
    assert ag.tree.paths(tree, "t") == ['t["a"][0]', 't["a"][1][0]', "t[\"b\"].w", "t[\"b\"].b.x", "t[\"b\"].b.y"]
    assert ag.tree.leaves(ag.tree.map(lambda a, b: a * b, tree, tree)) == [1, 4, 9, 16, 25]
    assert ag.tree.leaves(None) == [] and ag.tree.leaves(X)[0] is X
    with pytest.raises(TypeError, match=r'tree.map: tree 1\["a"\]\[1\]\[0\]: expected an array or a number'):
        ag.tree.map(max, tree, {**tree, "a": [1, ([2], None)]})
    with pytest.raises(ValueError, match="unflatten: expected 5 leaves, got 1"):
        ag.tree.unflatten(structure, [1])
    assert not set(dir(ag.tree)) - set(ag.tree.__all__)
