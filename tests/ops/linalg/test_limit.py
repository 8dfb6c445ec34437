"""`mode.limit(n)`: the first n rewrites of the journal and no more, and the profile says where it stopped."""


import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.function.executable_cache import key_of
from arignote.graph import FunctionGraph, GraphEditor
from arignote.optdb import FromFunctionOptimizer, MergeOptimizer

x, y = T.vector("x"), T.matrix("y")
LOSS = T.log(1 + T.exp(x * 1)).sum() + T.nn.softmax(y @ (y + 0.0).T).sum()
WHOLE = ag.function([x, y], [LOSS, ag.grad(LOSS, x)], mode=ag.Mode("fast_run", backend="numpy"))
X, Y = np.linspace(-2, 2, 5), np.linspace(-1, 1, 6).reshape(2, 3)


def reported(journal):
    return [str(entry) for entry in journal]


@pytest.mark.parametrize("limit", range(0, len(WHOLE.journal) + 2, 3))
def test_the_graph_is_the_state_after_that_many_rewrites(limit):
    count = min(limit, len(WHOLE.journal))
    f = ag.function([x, y], WHOLE.unoptimized_graph.outputs, mode=WHOLE.mode.limit(limit))
    assert reported(f.journal) == reported(WHOLE.journal[:count])
    assert f.graph == WHOLE.trace.graph(count)
    for got, expected in zip(f(X, Y), WHOLE(X, Y), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-13)


@pytest.mark.long
def test_the_profile_says_where_it_stopped():
    f = ag.function([x, y], WHOLE.unoptimized_graph.outputs, mode=ag.Mode().limit(2))
    stop = f.optimizer_profile.stop
    assert stop.startswith("limit of 2 changes; the last was 1: ")
    assert stop.endswith(f"the next would be {WHOLE.journal[2]}")
    assert f.optimizer_profile.to_dict()["stop"] == stop
    assert f"stopped: {stop}" in f.optimizer_profile.report() and f"stopped: {stop}" in f.explain()
    assert "Stopped: limit of 2 changes" in repr(f.optimizer_profile)
    assert WHOLE.optimizer_profile.stop == "" and "stop" not in WHOLE.optimizer_profile.to_dict()
    np.testing.assert_allclose(f(X, Y)[0], WHOLE(X, Y)[0], rtol=1e-13)


def test_a_limit_is_a_part_of_the_mode():
    mode = ag.Mode("fast_run -inplace").limit(5)
    assert mode.excluding("fusion").max_changes == 5 and mode.limit(None) == ag.Mode("fast_run -inplace") != mode
    assert "5 rewrites" in mode._repr_html_()
    graph, keys = WHOLE.unoptimized_graph, []
    for limit in (None, 5, 6):
        keys.append(key_of(graph, mode.limit(limit), "c"))
    assert len(set(keys)) == 3
    with pytest.raises(ValueError, match="limit of changes is -1; expected 0 or more"):
        ag.Mode().limit(-1)
    for wrong in (True, 2.0, "3"):
        with pytest.raises(TypeError, match="expected an integer or None"):
            ag.Mode().limit(wrong)
    with pytest.raises(ValueError, match="runs no optimizer, so there is nothing to limit"):
        ag.Mode(None, backend="numpy").limit(3)


def test_a_change_of_several_values_is_kept_whole_or_not_at_all():
    graph = FunctionGraph([y], [T.sin(y), T.cos(y)])
    swapped = FromFunctionOptimizer(name="mine", function=lambda g: FunctionGraph(g.inputs, [o + 0 for o in g.outputs]))
    for limit in (0, 1):
        editor = GraphEditor(limit=limit)
        result, _ = swapped(graph, editor)
        assert result is graph and not editor.journal and editor.withheld is not None
    svd = FunctionGraph([y], [*T.linalg.svd(y), *T.linalg.svd(y)])
    editor = GraphEditor(limit=2)
    result, _ = MergeOptimizer()(svd, editor)
    assert len(result) == len(svd) and not editor.journal
    assert len(MergeOptimizer()(svd, GraphEditor())[0]) < len(svd)
