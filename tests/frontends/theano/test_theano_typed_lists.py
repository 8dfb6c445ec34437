"""`theano.typed_list`: functions of lists, compared with those of Python."""

import numpy as np
import pytest

from arignote.frontends import theano

L, T = theano.typed_list, theano.tensor
ITEMS = [np.arange(6.0).reshape(2, 3), np.ones((1, 2)), np.zeros((0, 3)), np.ones((1, 2)), np.full((2, 2), 7.0)]
NEW = np.full((3, 1), 5.0)
kind = L.TypedListType(T.dmatrix)
items, other, x, i = kind("items"), kind("other"), T.dmatrix("x"), T.lscalar("i")


def changed(method, *arguments):
    found = list(ITEMS)
    getattr(found, method)(*arguments)
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_functions_are_those_of_pythons_lists(mode):
    cases = {
        "append": (L.append(items, x), changed("append", NEW)), "extend": (items.extend(other), ITEMS + ITEMS[:2]),
        "insert": (L.insert(items, i, x), changed("insert", 2, NEW)),
        "insert from the end": (L.insert(items, -1, x), changed("insert", -1, NEW)),
        "insert behind": (L.insert(items, 99, x), changed("insert", 99, NEW)),
        "reverse": (L.reverse(items), ITEMS[::-1]), "remove": (L.remove(items, items[3]), [ITEMS[0], *ITEMS[2:]]),
        "slice": (items[1:4], ITEMS[1:4]), "steps": (items[::-2], ITEMS[::-2]), "item": (items[i], ITEMS[2]),
        "last": (L.getitem(items, -1), ITEMS[-1]), "length": (L.length(items), 5),
        "count": (items.count(T.ones((1, 2))), 2), "count of none": (L.count(items, x), 0),
        "index": (L.index_(items, items[4]), 4), "index of an empty one": (items.ind(T.zeros((0, 3))), 2),
        "made": (L.make_list([x, items[1]]), [NEW, ITEMS[1]]), "sum": (T.sqr(items[0]).sum(), 55.0),
    }  # fmt: skip
    f = theano.function([items, other, x, i], {name: found for name, (found, _) in cases.items()}, mode=mode)
    for name, found in f(ITEMS, ITEMS[:2], NEW, 2).items():
        wanted = cases[name][1]
        if isinstance(wanted, list):
            assert [v.shape for v in found] == [v.shape for v in wanted], name
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=name)
        else:
            np.testing.assert_array_equal(found, wanted, err_msg=name)


def test_scalars_empty_lists_and_gradients():
    scalars, number = L.TypedListType(T.fscalar)("scalars"), T.fscalar("number")
    f = theano.function([scalars, number], [scalars.append(number), L.length(scalars)])
    assert [[float(v) for v in f([], 3)[0]], f([], 3)[1]] == [[3], 0]
    assert [float(v) for v in f([1.0, 2.0], 3)[0]] == [1, 2, 3]
    cost = T.exp(L.append(items, x)[-1]).sum()
    np.testing.assert_allclose(theano.function([items, x], theano.grad(cost, x))([], NEW), np.exp(NEW))


@pytest.mark.long
def test_errors():
    f = theano.function([items, x], L.index_(items, x))
    with pytest.raises(ValueError, match="whether the list has such an item: expected length 1 on axis 0, got 0"):
        f(ITEMS, NEW)
    with pytest.raises(IndexError):
        theano.function([items, i], items[i])(ITEMS, 5)
    with pytest.raises(TypeError, match=r"takes no v of type TensorType.float64, vector"):
        L.append(items, T.dvector("v"))
    with pytest.raises(TypeError, match="expected a typed list, got x of type"):
        L.length(x)
    with pytest.raises(TypeError, match="takes a list of arrays, got ndarray"):
        f(NEW, NEW)
    with pytest.raises(TypeError, match="has 2 dimensions"):
        f([np.ones(3)], NEW)
    with pytest.raises(NotImplementedError, match="items are tensors"):
        L.TypedListType(kind)
    with pytest.raises(TypeError, match="has no length before a function runs"):
        len(items)
