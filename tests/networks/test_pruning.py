"""`ag.prune`: masks of each structure, schedules, fine-tuning, accuracy on the digits, refusals."""

import numpy as np
import pytest
from digits_cnn import DIGITS, trained
from draws import mostly_long

import arignote as ag
from arignote import ops as T
from arignote import optim

RNG = np.random.default_rng(8)


def weights(*shape, name=None):
    return ag.shared(RNG.standard_normal(shape).astype("float32"), name=name)


def test_the_smallest_elements_become_zero():
    a, b = weights(10, 7), weights(4, 3, 2, 2)
    before = [p.get_value() for p in (a, b)]
    pruning = ag.prune([a, b], 0.75)
    for p, old in zip((a, b), before, strict=True):
        new, kept = p.get_value(), pruning.masks[p].get_value()
        assert (new != 0).sum() == old.size - int(0.75 * old.size) == kept.sum()
        np.testing.assert_array_equal(new, np.where(kept, old, 0))
        assert np.abs(old[kept]).min() >= np.abs(old[~kept]).max()
    assert pruning.sparsity == pytest.approx(0.75, abs=0.02)
    assert "element pruning, 7" in str(pruning)


def test_n_of_m_stay_along_the_axis_that_is_summed():
    a, b = weights(8, 5), weights(3, 8, 3, 3)
    old = [p.get_value() for p in (a, b)]
    pruning = ag.prune([a, b], structure="2:4")
    groups = [a.get_value().T.reshape(5, 2, 4), np.moveaxis(b.get_value(), 1, -1).reshape(3, 3, 3, 2, 4)]
    befores = [old[0].T.reshape(5, 2, 4), np.moveaxis(old[1], 1, -1).reshape(3, 3, 3, 2, 4)]
    for group, before in zip(groups, befores, strict=True):
        assert ((group != 0).sum(-1) == 2).all()
        np.testing.assert_array_equal(np.sort(np.abs(group))[..., 2:], np.sort(np.abs(before))[..., 2:])
    assert pruning.sparsity == 0.5


def test_blocks_of_outputs_become_zero():
    kernels, matrix = weights(20, 3, 3, 3), weights(5, 40)
    before = matrix.get_value()
    pruning = ag.prune([kernels, matrix], 0.5, "block")
    by_outputs = np.moveaxis(kernels.get_value(), 0, -1).reshape(27, 20), matrix.get_value()
    for value in by_outputs:
        kept = [value[:, n : n + 16] != 0 for n in range(0, value.shape[1], 16)]
        assert all((part.all(1) | ~part.any(1)).all() for part in kept)
        blocks = sum(part.any(1).sum() for part in kept)
        assert blocks == len(value) * len(kept) - len(value) * len(kept) // 2
    means = np.stack([np.square(before[:, n : n + 16]).mean(1) for n in range(0, 40, 16)], axis=1)
    kept = matrix.get_value()[:, ::16] != 0
    assert means[kept].min() >= means[~kept].max()
    assert 0.3 < pruning.sparsity < 0.7


def test_whole_channels_go_with_their_vectors():
    kernels, bias, matrix = weights(8, 3, 3, 3), weights(8), weights(5, 4)
    norms = [np.square(kernels.get_value()).sum((1, 2, 3)), np.square(matrix.get_value()).sum(0)]
    ag.prune([(kernels, bias), matrix], 0.5, "channel")
    kept = [kernels.get_value().any((1, 2, 3)), matrix.get_value().any(0)]
    for mask, norm in zip(kept, norms, strict=True):
        assert mask.sum() == len(mask) // 2
        assert norm[mask].min() > norm[~mask].max()
    np.testing.assert_array_equal(bias.get_value() != 0, kept[0])
    ag.prune(matrix, 0.99, "channel")
    assert matrix.get_value().any(0).sum() == 1


def test_a_schedule_raises_the_sparsity_and_updates_keep_zeros():
    w, other = weights(20, 20), weights(3)
    pruning = ag.prune(w, 0.5, schedule=(2, 6))
    updates = pruning.updates(optim.sgd([w, other], [T.ones((20, 20), "float32"), other], np.float32(0.5)))
    step = ag.function([], updates=updates, outputs=None)
    due = []
    for _ in range(7):
        step()
        assert (w.get_value()[~pruning.masks[w].get_value()] == 0).all()
        due.append(pruning.step())
    expected = [0.5 * (1 - (1 - min(max((t - 2) / 4, 0), 1)) ** 3) for t in range(1, 8)]
    np.testing.assert_allclose(due, expected, atol=1 / 400)
    falling = ag.prune(w, 0.8, schedule=lambda step: 1.0 if step < 1 else 0.0)
    assert falling.step() == pytest.approx(0.8)
    with pytest.raises(ValueError, match="the schedule gives 2 for step 0; expected 0 to 1"):
        ag.prune(w, 0.5, schedule=lambda step: 2)


@pytest.mark.long
@pytest.mark.parametrize("structure", mostly_long(["element", "2:4", "channel"], {"channel"}))
def test_accuracy_on_the_digits_stays_within_a_point(structure):
    sparsity = {"element": 0.8, "2:4": None, "channel": 0.5}[structure]
    net = trained()
    before = net.accuracy(ag.freeze(net.logits))
    K1, c1, K2, c2, W1, b1, W2, _ = net.parameters
    params = {"element": [K1, K2, W1, W2], "2:4": [K2, W1, W2], "channel": [(K1, c1), (K2, c2), (W1, b1)]}[structure]
    pruning = ag.prune(params, sparsity, structure, schedule=(0, 250))
    net.train(net.step(pruning.updates), 40, 0.05, pruning.step)
    pruned = ag.freeze(net.logits)
    assert net.accuracy(pruned) >= before - 0.01
    assert pruning.sparsity == pytest.approx(sparsity or 0.5, abs=0.01)
    if structure == "channel":
        small = ag.freeze(net.logits, remove_channels=True)
        images = DIGITS.test_images
        np.testing.assert_allclose(small(images), pruned(images), rtol=1e-4, atol=1e-4)
        sizes = [sum(c.data.size for c in f.graph.constants) for f in (pruned, small)]
        assert sizes[1] < 0.35 * sizes[0]


A, B, N = weights(6, 8, name="A"), weights(6, name="B"), ag.shared(np.full((2, 2), np.nan))
MISTAKES = {
    "no shared variable": (lambda: ag.prune(T.vector("v"), 0.5), TypeError, "expected variables made by ag.shared.*v"),
    "nothing": (lambda: ag.prune([], 0.5), ValueError, "params is empty"),
    "integers": (lambda: ag.prune(ag.shared([1, 2]), 0.5), TypeError, "has no floating-point dtype"),
    "twice": (lambda: ag.prune([A, A], 0.5), ValueError, "A.* is given twice"),
    "sparsity": (lambda: ag.prune(A, 1.0), ValueError, "sparsity is 1.0; expected a number from 0 to below 1"),
    "no sparsity": (lambda: ag.prune(A), ValueError, "sparsity is None; expected"),
    "other sparsity": (lambda: ag.prune(A, 0.7, "2:4"), ValueError, "'2:4' has sparsity 0.5, got 0.7"),
    "structure": (lambda: ag.prune(A, 0.5, "rows"), ValueError, "structure is 'rows'; expected"),
    "4 of 2": (lambda: ag.prune(A, structure="4:2"), ValueError, "structure is '4:2'; expected"),
    "length": (
        lambda: ag.prune(A, structure="2:4"),
        ValueError,
        "length 6 on axis 0, which 4 of '2:4' does not divide",
    ),
    "rank": (lambda: ag.prune(B, 0.5, "channel"), ValueError, "has 1 axis; 'channel' needs a matrix or kernels"),
    "vectors": (lambda: ag.prune([(A, B)], 0.5), TypeError, 'vectors, which only structure="channel" takes'),
    "vector": (lambda: ag.prune([(A, B)], 0.5, "channel"), ValueError, "no vector of 8 elements"),
    "NaN": (lambda: ag.prune(N, 0.5), ValueError, "has a NaN, so its magnitudes have no order"),
    "schedule": (lambda: ag.prune(A, 0.5, schedule=(5, 5)), ValueError, r"schedule is \(5, 5\); expected"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    call, error, message = MISTAKES[name]
    with pytest.raises(error, match=message):
        call()


def test_kernels_of_fewer_channels_than_a_block_stay_dense():
    first, second = (ag.shared(np.random.default_rng(0).normal(size=s), name=n) for n, s in
                     (("first", (8, 1, 3, 3)), ("second", (4, 8, 3, 3))))  # fmt: skip
    masks = ag.prune([first, second], structure="2:4").masks
    assert masks[first].get_value().all() and masks[second].get_value().mean() == 0.5
