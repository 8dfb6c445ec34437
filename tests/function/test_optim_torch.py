"""Rules and schedules of `ag.optim` against steps that torch took, and against their formulas."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote import optim

WATCHED = ([1, 4, 8], [0, 5, 11, 14])
"""Steps and elements whose values are held."""
HELD = {
    "adamw": [[1.38914601907, 1.90045712699, 0.603192714775, 0.377714385445],
              [1.51803556959, 1.73044587753, 0.449713813224, 0.239659996911],
              [1.68612536299, 1.50377412825, 0.301860383392, 0.228879183372]],
    "amsgrad": [[1.38914601907, 1.90045712699, 0.603192714775, 0.377714385445],
                [1.51803556959, 1.73044587753, 0.449713813224, 0.239676528254],
                [1.68612510775, 1.50377387663, 0.301858577204, 0.228889453242]],
    "adafactor": [[1.37018521347, 1.94527095201, 0.648508809303, 0.38688159234],
                  [1.4665118408, 1.8924833537, 0.57757695407, 0.315449099597],
                  [1.61798177558, 1.81434405395, 0.535632076287, 0.256555194683]],
    "lbfgs": [[1.35856022728, 1.95683114137, 0.65420771656, 0.391389604747],
              [1.40188141731, 1.92839776765, 0.620684919274, 0.332945995166],
              [1.73568130583, 1.44183000204, 0.597816395784, 0.249206222874]],
    "rmsprop": [[1.44587487194, 1.86026035891, 0.556478022465, 0.329863876763],
                [1.62212634046, 1.60631011097, 0.338469111016, 0.329102046978],
                [1.74677598739, 1.40012890563, 0.416172172456, 0.268936596833]],
    "rmsprop_centered": [[1.4463786479, 1.85975659801, 0.555974272124, 0.329360097074],
                         [1.8056733838, 1.3918133792, 0.322679147099, 0.25907830739],
                         [2.03604023568, 0.919036915856, 0.692771383019, 0.0201964407271]],
    "adadelta": [[1.34899062374, 1.95760195304, 0.654212268968, 0.426706638151],
                 [1.35876097517, 1.94882493183, 0.647283474474, 0.416965572651],
                 [1.372378532, 1.93514775847, 0.63762148439, 0.4039442026]],
    "nadam": [[1.34798832617, 1.95814541721, 0.654362038043, 0.42775079165],
              [1.3524904431, 1.9535374798, 0.649912444579, 0.423283870675],
              [1.35872746878, 1.94699048635, 0.643816881453, 0.417157206859]],
}  # fmt: skip
"""Of torch 2.13 on `start`, from the optimizers of `test_torch_takes_these_steps`."""
RULES = {
    "adamw": (optim.adamw, {"learning_rate": 0.05, "weight_decay": 0.1}),
    "amsgrad": (optim.adamw, {"learning_rate": 0.05, "weight_decay": 0.1, "amsgrad": True}),
    "adafactor": (optim.adafactor, {"learning_rate": 0.05, "weight_decay": 0.1}),
    "lbfgs": (optim.lbfgs, {"learning_rate": 0.7, "history_size": 3}),
    "rmsprop": (optim.rmsprop, {"learning_rate": 0.01, "rho": 0.99, "epsilon": 1e-8}),
    "rmsprop_centered": (optim.rmsprop, {"learning_rate": 0.01, "rho": 0.99, "epsilon": 1e-8, "momentum": 0.5,
                                         "centered": True}),
    "adadelta": (optim.adadelta, {"learning_rate": 1.0, "rho": 0.9}),
    "nadam": (optim.nadam, {"learning_rate": 0.002, "momentum_decay": 0.004}),
}


def start():
    """Points, targets, and the first values of a matrix and a vector."""
    rng = np.random.default_rng(0)
    return [rng.normal(size=s) for s in ((6, 4), (6, 3), (4, 3), 3)]


def trained(rule, count, dtype="float64", **options):
    """The parameters after each step, and the function of a step."""
    points, targets, *first = (a.astype(dtype) for a in start())
    w, b = (ag.shared(a, name=n) for a, n in zip(first, "wb"))
    loss = T.mean(T.square(T.tanh(points @ w + b) - targets))
    train = ag.function([], loss, updates=rule([w, b], ag.grad(loss, [w, b]), **options))
    rows = []
    for _ in range(count):
        train()
        rows.append(np.concatenate([w.get_value().ravel(), b.get_value()]))
    return np.array(rows), train


@pytest.mark.few(2)
@pytest.mark.parametrize("name", HELD)
def test_steps_are_those_of_torch(name):
    rule, options = RULES[name]
    rows, _ = trained(rule, 8, **options)
    steps, elements = WATCHED
    np.testing.assert_allclose(rows[np.subtract(steps, 1)][:, elements], HELD[name], rtol=1e-10)


def test_rates_of_other_dtypes():
    """A schedule in float64 leaves parameters of float32 in float32, and so does a shared rate."""
    step, counts = optim.counter()
    rate = optim.cosine(step, 0.1, 10) * optim.warmup(step, 3)
    p = ag.shared(np.ones(3, "float32"))
    loss = T.sum(T.square(p))
    rules = [optim.adamw, optim.lion, optim.lamb, optim.adafactor, optim.lbfgs, optim.sgd, optim.nadam]
    for rule in rules:
        updates = rule([p], ag.grad(loss, [p]), learning_rate=rate)
        assert all(new.dtype == old.dtype for old, new in updates), rule
    f = ag.function([], loss, updates=optim.lion([p], ag.grad(loss, [p]), rate) + counts)
    losses = [f() for _ in range(6)]
    assert losses[-1] < losses[1] == losses[0]  # the first rate is 0
    assert step.get_value() == 6


def lion_and_lamb(p, gradient_of, steps):
    """Parameters after steps of both, by the formulas of the papers."""
    a, b, m, n, v = p, p, 0 * p, 0 * p, 0 * p
    for t in range(1, steps + 1):
        g = gradient_of(a)
        a = a * (1 - 0.01 * 0.1) - 0.01 * np.sign(0.9 * m + 0.1 * g)
        m = 0.99 * m + 0.01 * g
        g = gradient_of(b)
        n, v = 0.9 * n + 0.1 * g, 0.999 * v + 0.001 * g * g
        r = n / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-6) + 0.1 * b
        b = b - 0.01 * np.linalg.norm(b) / np.linalg.norm(r) * r
    return a, b


def test_rules_without_a_counterpart_in_torch():
    curves, first = np.array([1.0, 3, 0.1]), np.array([1.0, -2, 0.5])
    found = []
    for rule in (optim.lion, optim.lamb):
        p = ag.shared(first.copy())
        slope = ag.grad(0.5 * T.sum(curves * p * p), p)
        step = ag.function([], [], updates=rule([p], [slope], learning_rate=0.01, weight_decay=0.1))
        for _ in range(10):
            step()
        found.append(p.get_value())
    np.testing.assert_allclose(found, lion_and_lamb(first, lambda p: curves * p, 10), rtol=1e-12)


def test_l_bfgs_solves_a_quadratic_problem():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    matrix, right = root @ root.T + np.eye(6), rng.normal(size=6)
    p = ag.shared(np.zeros(6))
    loss = 0.5 * T.dot(p, T.dot(matrix, p)) - T.dot(right, p)
    step = ag.function([], loss, updates=optim.lbfgs([p], [ag.grad(loss, p)]))
    for _ in range(60):
        step()
    np.testing.assert_allclose(p.get_value(), np.linalg.solve(matrix, right), atol=1e-6)


def test_clipping():
    gradients = [T.constant([3.0, -4.0]), T.constant([[12.0]])]
    held = {1.0: 0.31578945706371275, 2.0: 0.46153842603550577, 3.0: 0.4915190052948094, np.inf: 0.4999999583333369}
    for kind, expected in held.items():  # of torch.nn.utils.clip_grad_norm_(..., 2.0)
        first, second = T.evaluate(optim.clip_by_global_norm(gradients, 2.0, kind), {})
        np.testing.assert_allclose([first[0], -first[1] * 0.75, second[0, 0] / 4], expected, rtol=1e-12)
    same = T.evaluate(optim.clip_by_global_norm(gradients, 20.0), {})
    np.testing.assert_array_equal(same[0], [3, -4])
    np.testing.assert_array_equal(T.evaluate(optim.clip_by_value(gradients, 3.5), {})[0], [3, -3.5])
    each = T.evaluate(optim.clip_by_norm(gradients, 2.5), {})
    np.testing.assert_allclose(each[0], [1.5, -2], rtol=1e-6)
    np.testing.assert_allclose(each[1], [[2.5]], rtol=1e-6)
    named = optim.clip_by_global_norm(dict(zip("ab", gradients)), 2.0)
    np.testing.assert_allclose(named["b"].eval({}), [[4 * held[2.0]]], rtol=1e-12)
    p = ag.shared(np.array([1.0, 2.0]))
    decayed = optim.with_weight_decay([p], gradients[:1], 0.1)
    np.testing.assert_allclose(decayed[0].eval({}), [3.1, -3.8])


def test_groups_have_options_of_their_own():
    w, b = ag.shared(np.ones(2)), ag.shared(np.ones(2))
    zero = T.zeros(2)
    updates = optim.in_groups(optim.adamw, [
        {"parameters": [w], "gradients": [zero], "weight_decay": 0.5}, {"parameters": [b], "gradients": [zero]},
    ], learning_rate=0.1, weight_decay=0.0)  # fmt: skip
    ag.function([], [], updates=updates)()
    np.testing.assert_allclose([*w.get_value(), *b.get_value()], [0.95, 0.95, 1, 1])


STEP = T.lscalar("step")
SCHEDULES = {  # each beside the rates that torch's scheduler gives for steps 0, 1, ...
    "cosine": (optim.cosine(STEP, 1.0, 4, 0.1), [1, 0.868198051534, 0.55, 0.231801948466, 0.1, 0.1]),
    "cosine_restarts": (optim.cosine_restarts(STEP, 1.0, 2), [1, 0.5, 1, 0.5, 1]),
    "growing": (optim.cosine_restarts(STEP, 1.0, 1, 2), [1, 1, 0.5, 1, 0.853553390593, 0.5, 0.146446609407, 1]),
    "linear": (optim.linear(STEP, 0.5, 2, 1.0), [0.5, 0.75, 1, 1]),
    "polynomial": (optim.polynomial(STEP, 1.0, 4, 2.0), [1, 0.5625, 0.25, 0.0625, 0, 0]),
    "exponential": (optim.exponential(STEP, 1.0, 0.5), [1, 0.5, 0.25]),
    "staircase": (optim.staircase(STEP, 1.0, 2, 0.5), [1, 1, 0.5, 0.5, 0.25]),
    "piecewise": (optim.piecewise(STEP, [1, 0.1, 0.01], [1, 3]), [1, 0.1, 0.1, 0.01, 0.01]),
    "one_cycle": (optim.one_cycle(STEP, 1.0, 10),
                  [0.04, 0.52, 1, 0.950484632013, 0.81174565395, 0.611262021936, 0.388741978064, 0.18825834605,
                   0.0495193679865, 4e-06]),
    "warmup": (optim.warmup(STEP, 4, 0.2), [0.2, 0.4, 0.6, 0.8, 1, 1]),
}  # fmt: skip


def test_schedules():
    f = ag.function([STEP], [rate for rate, _ in SCHEDULES.values()])
    table = np.array([f(k) for k in range(10)])
    for column, (name, (_, expected)) in zip(table.T, SCHEDULES.items(), strict=True):
        np.testing.assert_allclose(column[: len(expected)], expected, atol=1e-11, err_msg=name)


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda p: optim.lbfgs([p], [p], history_size=0), ValueError, "lbfgs: history_size must be an integer"),
        (lambda p: optim.lbfgs([p, ag.shared(np.ones(2, "float32"))], [p, p]), TypeError, "of one dtype"),
        (lambda p: optim.adamw([p], [p], weight_decay=p), TypeError, "adamw: weight_decay is p.*expected a number"),
        (lambda p: optim.in_groups(optim.sgd, [[p]]), TypeError, "in_groups: group 0 is"),
        (lambda p: optim.in_groups(optim.sgd, [{"parameters": [p], "gradients": [p]}] * 2), ValueError,
         "p is in the groups 0 and 1"),
        (lambda p: optim.clip_by_value(p, 1.0), TypeError, "clip_by_value: gradients is"),
        (lambda p: optim.clip_by_global_norm([p], "1"), TypeError, "clip_by_global_norm: max_norm is str '1'"),
        (lambda p: optim.cosine(p, 1.0, 10), TypeError, "cosine: step must be a number or a scalar"),
        (lambda p: optim.cosine_restarts(0, 1.0, 0), ValueError, "cosine_restarts: period must be an integer"),
        (lambda p: optim.piecewise(0, [1.0], [3]), ValueError, "piecewise: expected rising milestones"),
    ],
)  # fmt: skip
def test_errors(build, kind, message):
    with pytest.raises(kind, match=message):
        build(ag.shared(np.ones(2), name="p"))


@pytest.mark.long
@pytest.mark.parametrize("name", HELD)
def test_torch_takes_these_steps(name, monkeypatch, tmp_path):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))  # else its optimizers set it, and make the folder
    torch = pytest.importorskip("torch")
    points, targets, *first = (torch.tensor(a) for a in start())
    given = [a.clone().requires_grad_() for a in first]
    kinds = {
        "adamw": lambda: torch.optim.AdamW(given, 0.05, weight_decay=0.1),
        "amsgrad": lambda: torch.optim.AdamW(given, 0.05, weight_decay=0.1, amsgrad=True),
        "adafactor": lambda: torch.optim.Adafactor(given, 0.05, weight_decay=0.1),
        "lbfgs": lambda: torch.optim.LBFGS(given, 0.7, max_iter=1, history_size=3),
        "rmsprop": lambda: torch.optim.RMSprop(given),
        "rmsprop_centered": lambda: torch.optim.RMSprop(given, momentum=0.5, centered=True),
        "adadelta": lambda: torch.optim.Adadelta(given),
        "nadam": lambda: torch.optim.NAdam(given),
    }
    optimizer, rows = kinds[name](), []

    def closure():
        optimizer.zero_grad()
        loss = ((torch.tanh(points @ given[0] + given[1]) - targets) ** 2).mean()
        loss.backward()
        return loss

    for _ in range(20):
        optimizer.step(closure)
        rows.append(np.concatenate([v.detach().numpy().ravel() for v in given]))
    rule, options = RULES[name]
    np.testing.assert_allclose(trained(rule, 20, **options)[0], rows, rtol=1e-8)
