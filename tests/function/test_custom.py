"""Derivatives of the user's own, recomputation, functions of arrays in expressions, and implicit derivatives."""

import copy
import io
import os
import pickle
import threading

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.control.batching import NoBatch
from arignote.ops.control.composed import Composed

x, y, m = T.vector("x"), T.vector("y"), T.matrix("m")
AT, BESIDE = np.array([0.5, -1.0, 2.0]), np.array([3.0, 4.0, 5.0])


@ag.custom_vjp
def twice(x, y):
    return T.sin(x) * y


twice.defvjp(lambda x, y: (twice(x, y), (x, y)), lambda kept, g: (2 * g * T.cos(kept[0]) * kept[1], None))


@ag.custom_jvp
def thrice(x):
    return T.log(1 + T.exp(x))


@thrice.defjvp
def thrice_rule(primals, tangents):
    (x,), (t,) = primals, tangents
    return thrice(x), 3 * t * T.sigmoid(x)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


@pytest.mark.long
def test_rules_in_grad_jvp_vmap_loops_and_second_order():
    slopes = ag.grad(twice(x, y).sum(), [x, y])
    many = ag.grad(ag.vmap(twice, (0, None))(m, y).sum(), [m, y])
    ones = ag.vmap(lambda r: ag.grad(thrice(r).sum(), r))(m)
    looped = ag.scan(thrice, outputs_info=x, n_steps=2)[0][-1]
    wanted = [twice(x, y), *slopes, *many, ones, ag.jvp(thrice(x), x, T.ones_like(x)), ag.grad(looped.sum(), x),
              ag.grad(ag.grad(thrice(x).sum(), x).sum(), x)]  # fmt: skip
    for mode in ("FAST_RUN", "NUMPY"):
        f = ag.function([x, y, m], wanted, mode=mode)
        value, by_x, by_y, by_m, shared, rows, moved, of_loop, second = f(AT, BESIDE, [AT, BESIDE])
        np.testing.assert_allclose(value, np.sin(AT) * BESIDE)
        np.testing.assert_allclose(by_x, 2 * np.cos(AT) * BESIDE)
        assert not by_y.any() and not shared.any()
        np.testing.assert_allclose(by_m, 2 * np.cos([AT, BESIDE]) * BESIDE)
        np.testing.assert_allclose(rows, 3 * sigmoid(np.array([AT, BESIDE])))
        np.testing.assert_allclose(moved, 3 * sigmoid(AT))
        np.testing.assert_allclose(of_loop, 9 * sigmoid(AT) * sigmoid(np.log1p(np.exp(AT))))
        np.testing.assert_allclose(second, 3 * sigmoid(AT) * (1 - sigmoid(AT)))


def test_fusion_printing_pickling_and_the_cache():
    f = ag.function([x, y], twice(x, y) + 1)
    assert [node.op.name for node in f.graph.order if node.op.name not in ("shape_i", "assume_equal")] == ["fused"]
    assert ag.pprint(twice(x, y)) == "sin(x) * y" and "composed" in str(twice(x, y).owner)
    again = pickle.loads(pickle.dumps(twice(x, y)))
    leaf = again.owner.inputs[0]
    at = dict(zip(again.owner.inputs, (AT, BESIDE), strict=True))
    np.testing.assert_allclose(ag.grad(again.sum(), leaf).eval(at), 2 * np.cos(AT) * BESIDE)
    assert copy.deepcopy(twice) is twice
    local = ag.custom_vjp(lambda x: x + 0)
    local.defvjp(lambda x: (x, None), lambda kept, g: (g,))
    with pytest.raises(pickle.PicklingError, match="custom_vjp <lambda>: a pickle finds it by its name"):
        pickle.dump(local(x), io.BytesIO())


def test_static_arguments_nested_forms_and_rules_one_by_one():
    @ag.custom_vjp
    def clipped(p, low):
        return {"u": T.maximum(p["a"], low), "v": p["b"]}

    clipped.defvjp(lambda p, low: (clipped(p, low), None), lambda kept, g: ({"a": g["u"], "b": 5 * g["v"]}, None))
    found = clipped({"a": x, "b": y}, 0.0)
    by_x, by_y = (g.eval({x: AT, y: BESIDE}) for g in ag.grad((found["u"] + found["v"]).sum(), [x, y]))
    assert by_x.tolist() == [1, 1, 1] and by_y.tolist() == [5, 5, 5]

    power = ag.custom_jvp(lambda x, n: x**n, nondiff_argnums=(1,))
    power.defjvp(lambda n, primals, tangents: (power(primals[0], n), n * primals[0] ** (n - 1) * tangents[0]))
    np.testing.assert_allclose(ag.grad(power(x, 3).sum(), x).eval({x: AT}), 3 * AT**2)
    product = ag.custom_jvp(lambda x, y: x * y)
    product.defjvps(lambda t, found, x, y: t * y, None)
    found = [g.eval({x: AT, y: BESIDE}) for g in ag.grad(product(x, y).sum(), [x, y])]
    np.testing.assert_allclose(found, [BESIDE, 0 * AT])
    recursive = ag.custom_vjp(lambda x: T.exp(x + 0))  # its rule calls it
    recursive.defvjp(lambda x: (recursive(x), x), lambda x, g: (g * recursive(x),))
    third = ag.grad(ag.grad(ag.grad(recursive(x).sum(), x).sum(), x).sum(), x)
    np.testing.assert_allclose(third.eval({x: AT}), np.exp(AT))


def rule(fwd, bwd):
    f = ag.custom_vjp(lambda x: x * 2)
    f.defvjp(fwd, bwd)
    return ag.grad(f(x).sum(), x)


def test_what_rules_are_refused():
    with pytest.raises(AttributeError, match="custom_vjp <lambda>: it has no rule yet; call its defvjp"):
        ag.custom_vjp(lambda x: x)(x)
    f = ag.custom_vjp(lambda x: x * y)
    f.defvjp(lambda x: (x, None), lambda kept, g: (g,))
    with pytest.raises(TypeError, match=r"it reads y \(float64\[\?\]\), which is no argument"):
        f(x)
    with pytest.raises(TypeError, match=r"fwd returned .*; expected a pair"):
        rule(lambda x: x * 2, lambda kept, g: (g,))
    with pytest.raises(TypeError, match="expected a tuple of 1 cotangents"):
        rule(lambda x: (x * 2, None), lambda kept, g: (g, g))
    with pytest.raises(TypeError, match=r"cotangent 0 of bwd is .*float64.*; expected float64\[\?\], as x"):
        rule(lambda x: (x * 2, None), lambda kept, g: (g.sum(),))
    with pytest.raises(TypeError, match="expected the form of the function's"):
        rule(lambda x: ([x, x], None), lambda kept, g: (g,))
    with pytest.raises(TypeError, match="nondiff_argnums"):
        ag.custom_jvp(lambda x: x, nondiff_argnums=(-1,))


@pytest.mark.long
def test_checkpoint_keeps_arguments_alone():
    def layers(x):
        return T.tanh(T.exp(T.sin(x)))

    plain, again = (ag.grad(f(x).sum(), x) for f in (layers, ag.checkpoint(layers)))
    f = ag.function([x], [again, plain])
    np.testing.assert_allclose(*f(AT), rtol=1e-15)
    names = [node.op.name for node in ag.function([x], again).graph.order]
    assert "after" in names
    kept = ag.checkpoint(layers, policy=lambda op, *operands: op.name == "exp")
    np.testing.assert_allclose(ag.grad(kept(x).sum(), x).eval({x: AT}), f(AT)[1])
    second = ag.grad(ag.grad(ag.checkpoint(layers)(x).sum(), x).sum(), x)
    np.testing.assert_allclose(second.eval({x: AT}), ag.grad(plain.sum(), x).eval({x: AT}))
    rows = ag.vmap(lambda r: ag.grad(ag.checkpoint(layers)(r * y).sum(), r))(m)
    np.testing.assert_allclose(
        ag.function([m, y], rows, mode="NUMPY")([AT, BESIDE], BESIDE),
        [f(AT * BESIDE)[1] * BESIDE, f(BESIDE**2)[1] * BESIDE],
    )


@pytest.mark.long
def test_checkpointed_products_take_less_memory():
    a, w = T.matrix("a"), T.matrix("w")

    def block(h):
        for _ in range(4):
            h = T.tanh(h @ w)
        return h

    def peak(f):
        found = a
        for _ in range(3):
            found = f(found)
        g = ag.function([a, w], ag.grad((found**2).sum(), [a, w]), profile=True)
        g(np.ones((512, 64)), np.eye(64))
        return g.profile.to_dict()["memory"]["peak"]

    assert peak(ag.checkpoint(block)) < 0.6 * peak(block)


@pytest.mark.long
def test_a_graph_compiled_once():
    p = T.vector("p")
    long = p
    for k in range(12):
        long = long * 0.1 * p + k
    long = T.sin(long)
    op = ag.OpFromGraph([p], [long], name="waves")
    f = ag.function([x, y], [op(x), op(y), *ag.grad(op(x).sum() + op(y).sum(), [x, y])], mode="NUMPY")
    own = ag.function([p], [long, ag.grad(long.sum(), p)])
    values, slopes = zip(own(AT), own(BESIDE), strict=True)
    np.testing.assert_allclose(f(AT, BESIDE), [*values, *slopes], rtol=1e-13)
    once = ag.OpFromGraph([p], [long], inline=False)
    h = ag.function([x, y, m], [once(x), once(y), *ag.grad(once(x).sum() + once(y).sum(), [x, y]), ag.vmap(once)(m)])
    *found, rows = h(AT, BESIDE, [AT, BESIDE])
    np.testing.assert_allclose(found, [*values, *slopes], rtol=1e-13)
    np.testing.assert_allclose(rows, values, rtol=1e-13)
    assert h.c_source().count("sin") < 4 * own.c_source().count("sin")
    assert not any(isinstance(op, Composed) for op in h.graph.ops)
    over = ag.OpFromGraph([p], [p * p], lop_overrides=lambda inputs, outputs, gs: [gs[0] * 7])
    assert ag.grad(over(x).sum(), x).eval({x: AT}).tolist() == [7, 7, 7]
    with pytest.raises(TypeError, match=r"waves: input 0 is .*matrix|waves: input 0 is m \(float64\[\?, \?\]\)"):
        op(m)
    with pytest.raises(TypeError, match=r"OpFromGraph: input 0 is .*; expected a variable that nothing computes"):
        ag.OpFromGraph([x * 2], [x])


def test_linearize_and_stop_gradient():
    out, moved = ag.linearize(lambda p: {"s": T.sin(p["a"]) * p["b"], "t": p["b"]}, {"a": x, "b": y})
    found = moved({"a": np.ones(3), "b": 2 * np.ones(3)})
    f = ag.function([x, y], [out["s"], found["s"], found["t"]])
    wanted = [np.sin(AT) * BESIDE, np.cos(AT) * BESIDE + 2 * np.sin(AT), 2 * np.ones(3)]
    np.testing.assert_allclose(f(AT, BESIDE), wanted)
    with pytest.raises(TypeError, match="linearize: tangent 0 is"):
        moved([1.0])
    with pytest.raises(TypeError, match=r"linearize: .* is not differentiable"):
        ag.linearize(lambda n: n, T.lscalar("n"))
    still = ag.stop_gradient({"a": x})["a"]
    assert ag.grad((still * x).sum(), x).eval({x: AT}).tolist() == AT.tolist()


def doubled(v):
    return np.sort(v) * 2


def test_callbacks_in_functions_threads_forks_and_pickles(tmp_path):
    called = ag.pure_callback(doubled, x, x, vmap_method="sequential")
    f = ag.function([x], T.exp(called) + 1)
    np.testing.assert_allclose(f(AT), np.exp(np.sort(AT) * 2) + 1)
    restored = pickle.loads(pickle.dumps(called))
    np.testing.assert_allclose(restored.eval({restored.owner.inputs[0]: AT}), np.sort(AT) * 2)
    results = []
    threads = [threading.Thread(target=lambda k=k: results.append((k, f(AT * k)))) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.allclose(v, np.exp(np.sort(AT * k) * 2) + 1) for k, v in results) and len(results) == 4
    child = os.fork()
    if child == 0:
        os._exit(0 if np.allclose(f(AT), np.exp(np.sort(AT) * 2) + 1) else 1)
    assert os.waitpid(child, 0)[1] == 0
    with pytest.raises(ValueError, match="there is no C for pure_callback doubled"):
        f.export(tmp_path / "out")
    in_steps = ag.scan(lambda s: ag.pure_callback(doubled, s, s), outputs_info=x, n_steps=2)[0][-1]
    np.testing.assert_allclose(ag.function([x], in_steps)(AT), np.sort(AT) * 4)
    with pytest.raises(TypeError, match=r"give it a derivative by ag.custom_vjp around it"):
        ag.grad(called.sum(), x)


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_callbacks_of_many_examples(method):
    def one(r, w):
        scalar = ag.ShapeDtypeStruct((), "float64")
        return ag.pure_callback(lambda r, w: (r * w).sum(-1), scalar, r, w, vmap_method=method)

    f = ag.function([m, y], ag.vmap(one, (0, None))(m, y))
    rows = np.array([AT, BESIDE])
    np.testing.assert_allclose(f(rows, BESIDE), rows @ BESIDE)
    assert f(np.zeros((0, 3)), BESIDE).shape == (0,)
    cube = T.tensor3("cube")
    g = ag.function([cube, y], ag.vmap(ag.vmap(one, (0, None)), (0, None))(cube, y))
    np.testing.assert_allclose(g(np.array([rows, rows + 1]), BESIDE), np.array([rows, rows + 1]) @ BESIDE)


def test_what_callbacks_are_refused():
    shape = ag.ShapeDtypeStruct((2,), "float64")

    def outcome(value, declared=shape):
        return ag.function([x], ag.pure_callback(lambda x: value, declared, x))(AT)

    assert outcome([1, 2]).tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"result 0 is float32 of shape \(2,\); declared is float64 of shape \(2,\)"):
        outcome(np.zeros(2, "float32"))
    with pytest.raises(ValueError, match=r"result 0 is float64 of shape \(3,\); declared is float64 of shape \(2,\)"):
        outcome(np.zeros(3))
    with pytest.raises(ValueError, match=r"result 0 is float64 of shape \(2,\); declared is float64 of shape \(3,\)"):
        outcome(np.zeros(2), x)
    with pytest.raises(TypeError, match=r"pure_callback <lambda> returned .*; declared is another form"):
        outcome(np.zeros(2), [shape, shape])
    with pytest.raises(TypeError, match="declares result 0 by 3; expected a value with shape and dtype"):
        outcome(1, 3)
    with pytest.raises(NoBatch, match="pass vmap_method='sequential'"):
        ag.vmap(lambda r: ag.pure_callback(doubled, r, r))(m)
    with pytest.raises(ValueError, match="vmap_method is 'all'; expected one of sequential"):
        ag.pure_callback(doubled, x, x, vmap_method="all")
    hostile = lambda v: v  # noqa: E731
    hostile.__name__ = 'a"; system("rm")\n\x1b[31m'
    assert "\n" not in ag.pure_callback(hostile, x, x).owner.op.name
    np.testing.assert_allclose(ag.function([x], ag.pure_callback(hostile, x, x) + 1)(AT), AT + 1)


a, w = T.scalar("a"), T.vector("w")


def cosine(a):
    return ag.fixed_point(lambda s: T.cos(a * s), 1.0)


def cube_root(a):
    return ag.root(lambda s: s**3 - a, 1.0)


def system(a):
    at = ag.root(
        lambda s: {"u": s["u"] ** 2 + s["v"].sum() - a - 4, "v": s["v"] * s["u"] - a * T.constant([1.0, 2.0])},
        {"u": T.constant(1.0), "v": T.constant([0.5, 0.5])},
    )  # fmt: skip
    return at["u"] + (at["v"] ** 2).sum()


@pytest.mark.parametrize("solution", [cosine, cube_root, system])
def test_implicit_derivatives(solution):
    out = solution(a)
    slope = ag.grad(out, a)
    mode = "NUMPY" if solution is system else "FAST_RUN"
    f = ag.function([a], [out, slope, ag.jvp(out, a, 1.0), ag.grad(slope, a)], mode=mode)
    points, h = np.array([0.8, 0.9, 0.3]), 1e-4
    found = np.array([f(p) for p in points])
    above, below = (np.array([f(p + s) for p in points]) for s in (h, -h))
    differences = (above - below) / (2 * h)
    np.testing.assert_allclose(found[:, 1], differences[:, 0], rtol=1e-6)
    np.testing.assert_allclose(found[:, 2], found[:, 1], rtol=1e-10)
    np.testing.assert_allclose(found[:, 3], differences[:, 1], rtol=1e-5)
    many = [ag.vmap(solution)(w), ag.vmap(lambda a: ag.grad(solution(a), a))(w), ag.grad(ag.vmap(solution)(w).sum(), w)]
    for k, row in zip((0, 1, 1), ag.function([w], many, mode="NUMPY")(points), strict=True):
        np.testing.assert_allclose(row, found[:, k], rtol=1e-9)


def test_solvers_and_what_equations_are_refused():
    np.testing.assert_allclose(ag.root(lambda s: s * s - a, 1.0, solver=lambda fn, first: T.sqrt(a)).eval({a: 9.0}), 3)
    by = ag.grad(ag.root(lambda s: s * s - a, 1.0, solver=lambda fn, first: T.sqrt(a)), a)
    np.testing.assert_allclose(by.eval({a: 9.0}), 1 / 6)
    assert ag.fixed_point(lambda s: s / 2 + 1, 0.0, max_steps=2).eval() == 1.75
    with pytest.raises(TypeError, match=r"fixed_point: initial is n .*; expected real floats"):
        ag.fixed_point(lambda s: s, T.lscalar("n"))
    with pytest.raises(TypeError, match=r"root: fn gives .* for float64; expected its dtype and rank"):
        ag.root(lambda s: T.stack([s, s]), 1.0)
    with pytest.raises(ValueError, match="root: tol is -1; expected a number of at least 0"):
        ag.root(lambda s: s, 1.0, tol=-1)


def test_results_of_another_length_are_named():
    x = T.vector("x")
    for found, got in ((ag.root(lambda v: v[:1] - x[:1], x), "root: the elements of fn's result: expected length 2"),
                       (ag.fixed_point(lambda v: T.concatenate([v, v]) / 9, x), "fixed_point: the result of fn")):
        with pytest.raises(ValueError, match=got):
            ag.function([x], found)([1.0, 2.0])
