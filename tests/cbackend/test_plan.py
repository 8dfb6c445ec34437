"""Programs: what is a view and what is work, which memory is used when, and that equal graphs give equal text."""

from dataclasses import replace

import numpy as np
import pytest
from compiled import check, compiled

from arignote import ops as T
from arignote.cbackend.driver.driver import c_text
from arignote.cbackend.program.buffers import assign_slots
from arignote.cbackend.program.plan import plan
from arignote.cbackend.program.program import Allocate, Buffer, Call, Compute, Finish, Guard, Pack, Release
from arignote.cbackend.program.text.printing import program_text
from arignote.graph import Apply, FunctionGraph
from arignote.ops.lowered.fused import InPlace


def program(inputs, outputs, updates=()):
    return plan(FunctionGraph(inputs, outputs, updates))


def steps(of, kind):
    return [step for step in of.steps if isinstance(step, kind)]


def calls(of):
    return ["kernel" if c.kernel else c.function for c in steps(of, Call)]


X, Y, V = T.matrix("x"), T.matrix("y"), T.vector("v")


def test_views_move_nothing():
    x = X + 0
    parts = [
        x.T,
        x[1:],
        x[:, ::-1].T[::2],
        T.broadcast_to(x[0], (3, T.lscalar())),
        x[None, :, None],
        T.reshape(x, (4, 5)),
    ]
    scalar = parts[3].owner.inputs[2]
    p = program([X, scalar], [T.exp(part) for part in parts])
    assert calls(p) == ["kernel"] * (1 + len(parts))
    assert not steps(p, Pack)


def test_what_is_filled_is_not_computed():
    y = T.exp(X) * 3
    p = program([X, Y], [T.fill(y, 2.0), T.zeros_like(T.sin(X)) + T.SumTo()(Y, T.cos(X))])
    assert not [name for name in ("exp", "sin", "cos") if f"{name}(" in c_text(p)]
    check([X, Y], [T.fill(y, 2.0), T.SumTo()(Y, T.cos(X))], [np.ones((1, 3)), np.ones((2, 3))])


def test_a_vector_of_no_elements_is_an_array():
    nothing = T.MakeVector()()
    graph = FunctionGraph([X], [T.concatenate([T.cast(X, "int64"), nothing[None, :]])])
    assert "vector int64" in program_text(plan(graph, strict=True))


def test_a_buffer_takes_over_no_slot_of_another_size():
    f = T.vector("f", "float32")
    total = T.cast(T.sum(T.sort(f)), "float64")
    p = program([f], [T.sum(T.sort(total + T.cast(f, "float64")))])
    (narrow,) = (step.buffer for step in steps(p, Allocate) if step.lengths and step.dtype == "float32")
    assert list(p.slots.values()).count(p.slots[narrow]) == 1 < len(p.slots)


def test_what_is_handed_over_is_not_released():
    made = program([V], [T.exp(V)])
    (allocate,), (finish,) = steps(made, Allocate), steps(made, Finish)
    buffer = Buffer(allocate.buffer.number)  # without memory of the caller
    handed_over = replace(finish, array=replace(finish.array, base=buffer))
    released, slots = assign_slots([replace(allocate, buffer=buffer), handed_over])
    assert slots == {buffer: 0} and not [s for s in released if isinstance(s, Release)]


def test_a_reshape_copies_what_may_not_be_contiguous():
    assert len(steps(program([X], [T.exp(T.reshape(X, (-1,)))]), Pack)) == 1  # a caller may give any strides
    assert len(steps(program([X], [T.exp(T.reshape((X + 1).T, (-1,)))]), Pack)) == 1
    assert len(steps(program([X], [T.exp(T.reshape((X + 1)[::2], (-1,)))]), Pack)) == 1
    assert not steps(program([X], [T.exp(T.reshape((X + 1)[2:], (-1,)))]), Pack)


def test_outputs_are_computed_where_the_caller_wants_them():
    y = X + 1
    p = program([X], [y, T.exp(y)[:, None], T.reshape(y * 2, (3, 4)), y.sum(0)[None]])
    assert calls(p) == ["kernel"] * 4
    assert all(a.buffer.output is not None for a in steps(p, Allocate))


@pytest.mark.parametrize(
    "output, copies",
    [(X, 1), (X.T, 1), ((X + 1).T, 1), ((X + 1)[1:], 1), (T.constant(np.ones(2)), 1), (X * 2, 0), ((X * 2)[None], 0)],
    ids=str,
)
def test_outputs_that_are_views_or_inputs_are_copied(output, copies):
    assert calls(program([X], [output])).count("copy") == copies


def test_a_chain_runs_in_two_blocks():
    y = V
    for _ in range(50):
        y = T.sin(y) * V
    p = program([V], [y])
    assert len(set(p.slots.values())) == 2
    assert len([a for a in steps(p, Allocate) if a.buffer.output is None]) == 2
    assert len(steps(p, Release)) == 2


def test_blocks_of_another_size_are_not_taken_over():
    y = T.exp(T.exp(X).sum(0) * T.exp(V)).sum()
    p = program([X, V], [y])
    sizes = {}
    for array in (a for call in steps(p, Call) for a in call.writes if a.buffers and a.base.output is None):
        sizes.setdefault(p.slots[array.base], set()).add(array.lengths)
    assert len(sizes) > 1 and all(len(found) == 1 for found in sizes.values())


def test_blocks_live_as_long_as_their_views():
    y = T.exp(X)
    top = y[0]
    z = T.exp(X * 2) + 1  # could take over the block of y if only y itself counted
    check([X], [z.sum() + top.sum()], [np.arange(12.0).reshape(3, 4)])
    check([X], [(T.exp(z) * top).sum()], [np.arange(12.0).reshape(3, 4) / 10])


def test_equal_lengths_are_checked_once():
    p = program([X, Y], [X + Y, X * Y, T.exp(X + Y) - X])
    assert len([s for s in steps(p, Compute) if s.operator == "join"]) == 2  # one an axis


def test_lengths_known_to_be_one_are_not_computed():
    row = T.row("r")
    p = program([row, V], [row + V[None]])
    assert not [s for s in steps(p, Compute) if s.operator == "join" and "in0_n0" in s.operands]


def test_finishing_comes_last():
    p = program([X], [X, X.T, X + 1])
    assert all(isinstance(s, (Finish, Release)) for s in p.steps[-3:])


def test_text_is_the_same_for_equal_graphs_and_other_constants():
    def graph(scale, name, rows):
        x = T.matrix(name)
        y = x * scale + T.constant(np.ones((rows, 1)))
        return FunctionGraph([x], [T.dot(y, y.T)[1:], T.zeros((rows, 3))])

    texts = {c_text(plan(graph(*given))) for given in [(2.0, "x", 5), (2.0, "other", 5), (-0.5, "x", 7)]}
    assert len(texts) == 1


@pytest.mark.long
def test_the_driver_of_a_long_program_is_cut_into_parts():
    y = V
    for _ in range(600):
        y = T.sin(y)
    source = c_text(program([V], [y]))
    assert source.count("static i32 part_") == 4
    check([V], [y], [np.linspace(-1, 1, 9)])


# --- in place


def in_place(node, *pairs):
    return Apply(InPlace(node.op, pairs), node.inputs).outputs


def test_an_op_overwrites_its_input_where_it_may():
    y = T.exp(X)
    (z,) = in_place((y + X).owner, (0, 0))
    (w,) = in_place(T.sin(z).owner, (0, 0))
    p = program([X], [w])
    assert len(steps(p, Allocate)) == 1 and not p.slots
    check([X], [w], [np.arange(6.0).reshape(2, 3)])


def test_parts_are_set_in_place():
    y, z = T.exp(X), T.exp(V)
    (a,) = in_place(T.set_subtensor(y[0], V).owner, (0, 0))
    (b,) = in_place(T.inc_subtensor(z[::2], 1.0).owner, (0, 0))
    (c,) = in_place(T.inc_subtensor(T.sin(V)[T.arange(2)], 1.0).owner, (0, 0))
    assert "copy" not in calls(program([X, V], [b, c]))
    check([X, V], [a, b, c], [np.arange(6.0).reshape(2, 3), np.arange(3.0)])


def test_products_are_added_in_place():
    z = T.dot(X, X.T)
    one = T.constant(1.0)
    (g,) = in_place(T.Gemm()(z, one, X, X.T, one).owner, (0, 0))
    p = program([X], [g])
    assert calls(p) == ["product", "product"] and len(steps(p, Allocate)) == 1
    check([X], [g], [np.arange(6.0).reshape(2, 3)])


@pytest.mark.long
def test_leave_to_overwrite_is_declined_where_memory_is_shared_or_strided():
    y = T.exp(X)
    (z,) = in_place(T.sin(y.T).owner, (0, 0))  # y.T is no C-contiguous array
    check([X], [z], [np.arange(6.0).reshape(2, 3)])
    like = T.matrix("like")
    kept = T.SumTo()(y, like)  # may be y itself when it runs
    (w,) = in_place(T.sin(kept).owner, (0, 0))
    function = compiled([X, like], [w, y.sum()])
    for shape in [(2, 3), (1, 3)]:
        check([X, like], [w, y.sum()], [np.arange(6.0).reshape(2, 3), np.zeros(shape)], function=function)


def test_leave_to_overwrite_is_declined_where_no_order_of_loops_allows_it():
    y = T.exp(X)
    inner = T.matrix("i")
    group = T.Fused(FunctionGraph([inner], [inner + 1, T.exp(inner).sum(0)]))
    node = group(y)[0].owner
    for pairs in [((0, 0),), ((1, 0),)]:
        if pairs[0][0] == 1:  # a sum has another shape than what it sums
            with pytest.raises(TypeError):
                in_place(node, *pairs)
            continue
        check([X], list(in_place(node, *pairs)), [np.arange(6.0).reshape(2, 3) / 6])


def test_inputs_are_never_changed():
    one = T.constant(1.0)
    outputs = [
        T.set_subtensor(X[0], 1.0), T.inc_subtensor(X[:, 1:], 1.0), T.Gemm()(X, one, Y, Y, one), T.Ger()(X, one, V, V),
        T.inc_subtensor(V[T.arange(2)], 1.0), T.Gemv()(V, one, X, V, one),
    ]  # fmt: skip
    values = [np.arange(9.0).reshape(3, 3), np.ones((3, 3)), np.arange(3.0)]
    before = [v.copy() for v in values]
    check([X, Y, V], outputs, values)
    for v, b in zip(values, before, strict=True):
        np.testing.assert_array_equal(v, b)


# --- inputs that are overwritten by their updates


class Container:
    def __init__(self, value):
        self.value = value


def step_function():
    """w, b <- w - 0.5 * outer(x, x), b - sum(x), in place; and the sum of the old w."""
    x, w, b = T.vector("x"), T.matrix("w"), T.vector("b")
    half = T.constant(-0.5)
    total = w.sum()
    (new_w,) = in_place(T.Ger()(w, half, x, x).owner, (0, 0))
    (new_b,) = in_place((b - x.sum()).owner, (0, 0))
    containers = [None, Container(np.zeros((3, 3))), Container(np.zeros(3))]
    function = compiled([x, w, b], [total, new_w, new_b], updates=[(1, 1), (2, 2)], shared=containers)
    return function, containers[1], containers[2]


def test_updates_overwrite_shared_values_and_nothing_fails_late():
    function, w, b = step_function()
    assert function.program.in_place == {1: 1, 2: 2}
    kinds = function.program.steps
    first = next(k for k, s in enumerate(kinds) if isinstance(s, Call) and s.writes[0].base == "in1")
    assert not any(isinstance(s, (Guard, Allocate)) or (isinstance(s, Call) and s.fallible) for s in kinds[first:])
    arrays = w.value, b.value
    x = np.arange(3.0)
    for n in range(1, 4):
        (total,) = function(x)
        assert w.value is arrays[0] and b.value is arrays[1]
        np.testing.assert_allclose(w.value, -0.5 * n * np.outer(x, x))
        np.testing.assert_allclose(b.value, -n * x.sum())
        np.testing.assert_allclose(total, -0.5 * (n - 1) * x.sum() ** 2)


def test_a_failed_update_changes_nothing():
    function, w, b = step_function()
    with pytest.raises(ValueError, match="lengths 3 and 4"):
        function(np.ones(4))
    assert not w.value.any() and not b.value.any()
    function(np.ones(3))
    assert w.value.any() and b.value.any()


def test_values_that_cannot_be_overwritten_are_replaced():
    function, w, b = step_function()
    x = np.arange(3.0)
    frozen = w.value
    frozen.flags.writeable = False
    function(x)
    assert w.value is not frozen and not frozen.any()
    np.testing.assert_allclose(w.value, -0.5 * np.outer(x, x))
    w.value = np.zeros((3, 6))[:, ::2]
    function(x)
    np.testing.assert_allclose(w.value, -0.5 * np.outer(x, x))
    b.value = w.value[0]  # memory that another value shows
    before = w.value.copy()
    function(x)
    np.testing.assert_allclose(w.value, before - 0.5 * np.outer(x, x))
    before = b.value.copy()
    function(b.value)
    np.testing.assert_allclose(b.value, before - before.sum())


def test_where_something_may_fail_late_values_are_made_elsewhere():
    x, w = T.vector("x"), T.vector("w")
    (new_w,) = in_place((w + x.sum()).owner, (0, 0))
    (new_w,) = in_place(T.inc_subtensor(new_w[T.arange(3)], x).owner, (0, 0))
    container = Container(np.zeros(3))
    function = compiled([x, w], [new_w], updates=[(1, 0)], shared=[None, container])
    assert not function.program.in_place
    container.value = np.zeros(2)
    with pytest.raises((ValueError, IndexError)):
        function(np.ones(2))
    assert not container.value.any()


def test_functions_that_overwrite_one_value_exclude_one_another():
    import threading

    w, x = T.vector("w"), T.vector("x")
    container = Container(np.zeros(2000))
    functions = []
    for _ in range(2):
        (new_w,) = in_place((w + x[0]).owner, (0, 0))
        functions.append(compiled([x, w], [new_w], updates=[(1, 0)], shared=[None, container]))
    threads = [threading.Thread(target=lambda f=f: [f(np.ones(2000)) for _ in range(500)]) for f in functions * 2]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    np.testing.assert_array_equal(container.value, 2000)
