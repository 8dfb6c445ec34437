"""Wrong uses of the public names that a newcomer makes: each is refused with the function, the argument and the fix.

A row of a table is one mistake: the error that it raises, and what must stand in its text, of at most three lines
besides the one that underlines.
"""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

A = np.arange(3.0)
x, y, m, n, c = T.vector("x"), T.vector("y"), T.matrix("m"), T.matrix("n"), T.tensor3("c")
i, k, s = T.lscalar("i"), T.lvector("k"), T.scalar("s")
three, four = T.vector("three", shape=(3,)), T.vector("four", shape=(4,))
images, kernels = T.tensor4("images"), T.tensor4("kernels")
w, ints = ag.shared(np.zeros(3), name="w"), ag.shared(np.arange(3), name="ints")
rng = T.random.RandomStream(1)
loss = T.square(w - x).sum()
gradient = ag.grad(loss, w)
model = ag.function([x, y], x + y, name="model", mode="NUMPY")
unnamed = [T.scalar("a"), T.scalar("b"), T.scalar("a")]
same = ag.function(unnamed, T.constant(1.0), on_unused_input="ignore", name="same")


def function(*args, **options):
    return ag.function(*args, **{"mode": "NUMPY", **options})


def nothing(*arguments):
    return None


NO_NUMBER = "expected a number or an array of numbers, got"
AXIS = "an axis must be an integer known when the graph is built, got"
LENGTH = "expected an integer or an integer scalar, got"
LIST = "expected a list or tuple of tensors, as in T."
ROWS = {
    # --- names
    "misspelt operation": (lambda: T.sigmod(x), AttributeError, "'arignote.ops' has no .* did you mean 'sigmoid'"),
    "misspelt layer": (lambda: T.nn.relw(x), AttributeError, "'arignote.ops.nn' has no .* did you mean 'relu'"),
    "misspelt function": (lambda: ag.functon([x], x), AttributeError, "'arignote' has no .* did you mean 'function'"),
    # --- inputs
    "name": (lambda: T.vector(3), TypeError, "the name of a variable must be a str, got 3"),
    "dtype for the name": (lambda: T.vector("float32"), TypeError, "vector: 'float32', a dtype, .* dtype='float32'"),
    "shape for the dtype": (
        lambda: T.matrix("m", (3, 4)), TypeError, r"matrix: \(3, 4\) is not a dtype.* shape=\(3, 4\)",
    ),
    "misspelt dtype": (lambda: T.vector("x", "flaot32"), TypeError, "vector: 'flaot32'.* did you mean float32"),
    "length for the shape": (
        lambda: T.matrix("m", shape=3), TypeError, r"a shape must be a tuple .* shape=\(None, 3\), got 3",
    ),
    "length of text": (lambda: T.tensor("float32", ("a",)), TypeError, "a length must be an int, or None .*, got 'a'"),
    "variable for the dtype": (lambda: x.astype(y), TypeError, "astype: y: .* is not a dtype; .* write x.dtype"),
    # --- values
    "no number": (lambda: T.outer(x, None), TypeError, f"outer: b: {NO_NUMBER} None"),
    "text": (lambda: T.kron(x, "a"), TypeError, f"kron: b: {NO_NUMBER} 'a'; no tensor has dtype str"),
    "text in a list": (lambda: T.concatenate([x, "a"]), TypeError, rf"concatenate: arrays\[1\]: {NO_NUMBER} 'a'"),
    "fill value": (lambda: T.full(3, None), TypeError, f"full: fill_value: {NO_NUMBER} None"),
    "text for an operator": (lambda: x @ "a", TypeError, f"matmul: b: {NO_NUMBER} 'a'"),
    "digits of text": (lambda: T.constant("3.5", "float64"), TypeError, f"{NO_NUMBER} '3.5'"),
    "bins": (lambda: T.histogram(x, "auto"), TypeError, f"histogram: bins: {NO_NUMBER} 'auto'"),
    # --- lengths, axes and counts
    "float length": (lambda: T.zeros(2.5), TypeError, f"zeros: shape: {LENGTH} 2.5"),
    "negative length": (
        lambda: T.ones((2, -1)), ValueError, "ones: shape: expected an integer that is 0 or more, got -1",
    ),
    "two below zero": (lambda: x.reshape((-2, 3)), ValueError, "reshape: shape: .* -1 or more, got -2"),
    "shape of unknown rank": (lambda: x.reshape(k), ValueError, "reshape: .* of k .* ndim=2"),
    "symbolic axis": (lambda: m.sum(axis=i), TypeError, f"sum of m .*: {AXIS} i: int64"),
    "axis out of range": (
        lambda: m.swapaxes(0, 2), IndexError, "swapaxes: axis 2 .* rank 2; expected an axis from -2 to 1",
    ),
    "axis of a scalar": (lambda: T.flip(s, 0), IndexError, "flip: axis 0 .*; a scalar has no axes"),
    "keepdims": (lambda: m.sum(0, keepdims="yes"), TypeError, "sum: keepdims must be True or False, got 'yes'"),
    "squeeze": (lambda: three.squeeze(0), ValueError, r"squeeze: axis 0 of three .* has length 3, expected 1"),
    "shifts": (lambda: T.roll(m, (1, 2, 3), (0, 1)), ValueError, r"roll: shift is \(1, 2, 3\), expected one number"),
    "parts": (lambda: T.split(x, i), TypeError, "split: indices_or_sections must be .*, got i: int64"),
    "differences": (lambda: T.diff(x, "a"), TypeError, "diff: n must be an integer .*, got 'a'"),
    "a power": (lambda: T.linalg.matrix_power(m, i), TypeError, "matrix_power: n must be an integer .*, got i: int64"),
    # --- lists of tensors
    "concatenate, no list": (lambda: T.concatenate(x, y), TypeError, rf"concatenate: {LIST}concatenate\(.*, got x \("),
    "stack, no list": (lambda: T.stack(x, y), TypeError, rf"stack: {LIST}stack\(\[x, y\]\), got x \("),
    "hstack, no list": (lambda: T.hstack(m), TypeError, f"hstack: {LIST}.* got m"),
    "select, no list": (lambda: T.select(x > 0, [x]), TypeError, f"select: {LIST}.* got the result of gt"),
    "multi_dot, no list": (lambda: T.linalg.multi_dot(m), TypeError, f"multi_dot: {LIST}.* got m"),
    "stack, lengths": (
        lambda: T.stack([three, four]), ValueError, "stack: .* one shape, got three .* and four .* 3 and 4",
    ),
    "stack, ranks": (
        lambda: T.stack([x, m]), TypeError, "stack: expected tensors of one rank, got x .* and m .* position 1",
    ),
    "concatenate, scalars": (lambda: T.concatenate([s, s]), ValueError, "concatenate: s .* has no axis; T.stack"),
    # --- einsum
    "einsum, no text": (lambda: T.einsum(x, y), TypeError, "einsum: expected text .*, or a list of .*, got x: float64"),
    "einsum, operands": (lambda: T.einsum("ij,jk", m), ValueError, "einsum: 'ij,jk' names .* 2 operands, got 1"),
    "einsum, too many letters": (
        lambda: T.einsum("ijk", m), ValueError, r"einsum: 'ijk' names 3 axes, operand 0 is m \(",
    ),
    "einsum, too few letters": (
        lambda: T.einsum("i", m), ValueError, r"einsum: 'i' names 1 axis.* '\.\.\.' stands for",
    ),
    "einsum, sign": (lambda: T.einsum("i1", m), ValueError, "einsum: 'i1' has '1', and an axis is a letter; expected"),
    "einsum, half an arrow": (lambda: T.einsum("ij-ji", m), ValueError, "'ij-ji' has '-', and an arrow is '->'"),
    "einsum, two arrows": (lambda: T.einsum("ij->i->j", m), ValueError, "an arrow is '->', at most once"),
    "einsum, two dots": (lambda: T.einsum("i..", m), ValueError, r"einsum: 'i\.\.' has '\.', and dots are '\.\.\.'"),
    "einsum, dots twice": (
        lambda: T.einsum("...i...", m), ValueError, r"einsum: '\.\.\.i\.\.\.' has .* more than once",
    ),
    "einsum, dots lost": (
        lambda: T.einsum("...i->i", m), ValueError, r"lacks the axes of '\.\.\.'; expected '\.\.\.i'",
    ),
    "einsum, new letter": (lambda: T.einsum("ij->k", m), ValueError, "'k', which no operand has; they have 'ij'"),
    "einsum, letter twice": (
        lambda: T.einsum("ij->ii", m), ValueError, "'i' more than once; expected each letter once",
    ),
    "einsum, two results": (lambda: T.einsum("i,j->i,j", x, y), ValueError, "more than one result; expected"),
    "einsum, lengths": (
        lambda: T.einsum("i,i", three, four), ValueError,
        r"'i' has length 3 in three .*, 4 in four .*; expected one length",
    ),
    "einsum, diagonal": (
        lambda: T.einsum("ii", T.outer(three, four)), ValueError, r"'i' has lengths 3 and 4 in .*; expected one length",
    ),
    "einsum, operand": (lambda: T.einsum("i,i", x, None), TypeError, rf"einsum: operands\[1\]: {NO_NUMBER} None"),
    # --- indices
    "index of text": (lambda: x["a"], TypeError, "an index is an integer, .*; got 'a'"),
    "slice of a vector": (lambda: x[k:], TypeError, r"the bound of a slice: expected an integer .*, got k \("),
    "arrays of indices": (lambda: m[[1, 2], [1, 2, 3]], IndexError, "do not broadcast: lengths 2 and 3"),
    "at without an index": (
        lambda: x.at.set(1), AttributeError, r"x.at has no .*; an index comes first: x.at\[index\]",
    ),
    "value of text": (lambda: T.set_subtensor(x[0], "a"), TypeError, f"set_subtensor: value: {NO_NUMBER} 'a'"),
    "value of another rank": (
        lambda: T.set_subtensor(x[0], three), ValueError,
        r"set_subtensor: three .* does not broadcast to the part of x",
    ),
    "take": (lambda: T.take(x, 1.5), TypeError, "take: indices must be integers, got 1.5"),
    "mode of take": (
        lambda: T.take(x, 1, mode="warp"), ValueError, 'take: mode must be "raise", "clip" or "wrap", got \'warp\'',
    ),
    "condition": (lambda: T.compress(m, x), ValueError, "compress: condition must be a vector, got m"),
    "unravel": (lambda: T.unravel_index(x, (2, 3)), TypeError, "unravel_index: indices must be integers, got x"),
    "half of where": (lambda: T.where(x > 0, x), TypeError, "where: x is given without y; give both, .*, or neither"),
    # --- functions
    "name of a function": (lambda: function([x], x, name=3), TypeError, "function: name is 3; expected text"),
    "profile": (lambda: function([x], x, profile="yes"), TypeError, "function: profile is 'yes'; expected True, False"),
    "downcast": (
        lambda: function([x], x, allow_input_downcast="yes"), TypeError,
        "function: allow_input_downcast is 'yes'; expected True, False",
    ),
    "keys": (lambda: function([x], {1: x, "1": x}), ValueError, "function: two keys of outputs have the text '1'"),
    "update of None": (
        lambda: function([], None, updates=[(w, None)]), TypeError, "the update of w is NoneType None; expected",
    ),
    "update of text": (
        lambda: function([], None, updates={w: "a"}), TypeError, "the update of w is str 'a'; expected .* float64",
    ),
    "update that is cut": (
        lambda: function([], None, updates=[(ints, 1.5)]), TypeError,
        "the update of ints is float 1.5; expected .* int64",
    ),
    "given that is cut": (
        lambda: function([], i, givens={i: 1.5}), TypeError, "in the place of i is float 1.5; expected .* int64",
    ),
    "given of text": (lambda: function([], x, givens={x: "a"}), TypeError, "in the place of x is str 'a'; expected"),
    "two of one name": (
        lambda: same(1.0, 2.0, a=3.0), TypeError,
        "same: inputs 0 and 2 are both named 'a', .* by position, or name .* apart",
    ),
    "folder": (lambda: model.export(3), TypeError, "model: export writes to a folder, a path, got 3"),
    "values of eval": (lambda: x.eval(A), TypeError, r"eval: values is array\(.*; expected .* \{x: value\}"),
    "shape of eval": (lambda: three.eval({three: np.ones(4)}), ValueError, r"three .* shape \(4,\); expected \(3,\)"),
    # --- shared variables, modes, queries
    "shape of shared": (
        lambda: ag.shared(A, "p", shape=(4,)), ValueError, r"shared variable p: shape is \(4,\), .* \(3,\)",
    ),
    "rank of shared": (
        lambda: ag.shared(A, shape=(3, 1)), ValueError, r"shared: shape is \(3, 1\), expected .* \(3,\)",
    ),
    "shape of shared, a number": (lambda: ag.shared(A, shape=3), TypeError, "a shape must be a tuple .* got 3"),
    "shape of shared, a float": (lambda: ag.shared(A, shape=(3.0,)), TypeError, "a length must be an int, .* got 3.0"),
    "shared text": (lambda: ag.shared("w"), TypeError, "a shared variable cannot hold 'w': expected a number"),
    "optimizer of a mode": (
        lambda: ag.Mode(3), TypeError, "Mode: optimizer is 3; expected a query as 'fast_run -inplace'",
    ),
    "check of a mode": (
        lambda: ag.Mode(check="yes"), TypeError, "check is 'yes'; expected True, False, \"nan\" or \"prove\"",
    ),
    "query": (lambda: ag.Query.parse(3), TypeError, "query: expected text such as 'fast_run -inplace', got 3"),
    "name in the database": (lambda: ag.optdb[3], TypeError, "expected a name such as 'local_mul_zero', got 3"),
    "text of a graph": (lambda: ag.parse(3), TypeError, "parse: expected the text of a graph, got 3"),
    # --- descent
    "loss first": (
        lambda: ag.optim.adam(loss, [x]), TypeError,
        r"adam: parameters is the result of sum .*ag.optim.adam\(parameters, ag.grad",
    ),
    "parameter that is not shared": (
        lambda: ag.optim.adam([x], [x]), TypeError, r"adam: parameter 0 is x \(float64\[\?\]\); expected .* ag.shared",
    ),
    "bare parameter": (
        lambda: ag.optim.sgd(w, gradient), TypeError, r"sgd: parameters is w .*, expected a list; write",
    ),
    "bare gradient": (lambda: ag.optim.sgd([w], gradient), TypeError, "sgd: gradients is .*, expected a list; write"),
    "gradient of another rank": (
        lambda: ag.optim.adam([w], [m]), TypeError, "adam: gradient 0 is m .*, expected .* like w",
    ),
    "no gradient": (lambda: ag.optim.nadam([w], [None]), TypeError, "nadam: gradient 0 is NoneType None, expected"),
    "rate of text": (
        lambda: ag.optim.adam([w], [x], "0.1"), TypeError, "adam: learning_rate is str '0.1'; expected a number",
    ),
    "rate of a vector": (
        lambda: ag.optim.rmsprop([w], [x], rho=y), TypeError, "rmsprop: rho is y .*; expected a number",
    ),
    "integers to learn": (
        lambda: ag.optim.adam([ints], [x]), TypeError, "adam: parameter 0 is ints .*; expected floating",
    ),
    "parameter twice": (lambda: ag.optim.adam([w, w], [x, x]), ValueError, r"adam: parameter 1 \(w\) is given twice"),
    # --- networks and random numbers
    "dropout, number": (lambda: T.nn.dropout(x, 0.5, 7), TypeError, "dropout: rng is 7; expected .*RandomStream"),
    "dropout, probability": (lambda: T.nn.dropout(x, 1.5, rng), ValueError, "dropout: p must be from 0 to 1, got 1.5"),
    "batch_norm": (lambda: T.nn.batch_norm(images, m, x), TypeError, "batch_norm: gamma must be a vector, .*, got m"),
    "padding": (lambda: T.nn.conv2d(images, kernels, padding="full"), ValueError, "conv2d: padding must be .*'full'"),
    "size": (lambda: rng.normal(size=2.5), TypeError, f"the size of a draw: {LENGTH} 2.5"),
    "negative size": (lambda: rng.uniform(size=(-2,)), ValueError, "the size of a draw: .* 0 or more, got -2"),
    "scale": (lambda: rng.normal(0, -1), ValueError, "normal: scale must not be negative, got -1"),
    "probability": (lambda: rng.bernoulli(1.5), ValueError, "bernoulli: p must be from 0 to 1, got 1.5"),
    "shares": (lambda: rng.choice(3, p=[0.5, 0.5]), ValueError, "choice: p has 2 elements, expected 3"),
    "several without replacement": (
        lambda: rng.choice(5, (2, 3), replace=False),
        ValueError,
        "no more elements can be taken than there are, got 6 of 5",
    ),
    # --- linear algebra
    "order of a norm": (lambda: T.linalg.norm(m, "l2"), ValueError, 'norm: ord must be "fro", .*, got \'l2\''),
    "vector of a matrix": (lambda: T.linalg.inv(x), TypeError, "inv takes matrices in the last two axes, got x"),
    "tolerance": (lambda: T.linalg.pinv(m, "a"), TypeError, f"pinv: rcond: {NO_NUMBER} 'a'"),
    "trace of a vector": (lambda: T.trace(x), ValueError, "diagonal: expected a tensor of two axes or more, got x"),
    "tensordot": (
        lambda: T.tensordot(m, n, [[0, 1], [0]]), ValueError, r"tensordot: axes is .* as many axes of m .* of n",
    ),
    # --- jit, vmap, cond
    "jit of no function": (lambda: ag.jit(3), TypeError, "jit: expected a function of arrays, got 3"),
    "option of jit": (
        lambda: ag.jit(mod="NUMPY"), TypeError, "jit: no option is called 'mod'; expected one of updates",
    ),
    "static argument of jit": (
        lambda: ag.jit(lambda a, axis: a, static_argnames="axes"), TypeError, "static_argnames: .* no argument 'axes'",
    ),
    "jit of a property": (lambda: ag.jit(property(len)), TypeError, "jit: got a property; write @property above"),
    "in_axes": (
        lambda: ag.vmap(T.exp, in_axes="0"), TypeError, "vmap: in_axes is '0'; expected an axis, None, or a list",
    ),
    "out_axes": (lambda: ag.vmap(T.exp, out_axes=None), TypeError, "vmap: out_axes is None; expected an axis"),
    "vmap of text": (lambda: ag.vmap(T.exp)("a"), TypeError, "vmap: argument 0 is 'a'; expected a variable"),
    "vmap of nothing": (ag.vmap(T.exp), TypeError, "vmap: the function is called without arguments"),
    "result of vmap": (lambda: ag.vmap(nothing)(m), TypeError, "vmap: result 0 is None; expected a variable"),
    "replacement": (lambda: ag.vectorize(x, [x, m]), TypeError, r"vectorize: replace is \[.*; expected a dict"),
    "outputs": (lambda: ag.vectorize("x", {x: m}), TypeError, "vectorize: outputs is 'x'; expected a variable"),
    "branch": (
        lambda: ag.cond(s > 0, nothing, lambda: x), TypeError,
        "cond: value 0 of then is None; expected a variable",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", ROWS)
def test_mistakes(mistake):
    wrong, error, words = ROWS[mistake]
    with pytest.raises(error, match="(?s)" + words) as caught:
        wrong()
    lines = [line for line in str(caught.value).splitlines() if set(line) - set(" ^")]
    assert len(lines) <= 3, caught.value


def test_default_updates_are_checked():
    state = ag.shared(A, name="state")
    state.default_update = 5.0
    with pytest.raises(TypeError, match="function: the default update of state is float64, the shared"):
        function([], state)


def test_inputs_of_one_name_are_given_by_position():
    a, b, c = T.scalar("a"), T.scalar("b"), T.scalar("a")
    f = ag.function([a, b, c], a - 2 * b + 3 * c, name="same")
    assert f(1.0, 2.0, 3.0) == 6.0
    with pytest.raises(TypeError, match="inputs 0 and 2 are both named 'a'"):
        f(1.0, 2.0, a=3.0)
    with pytest.raises(TypeError, match="same: takes 3 arguments"):
        f(1.0, b=2.0)


def test_types_in_the_order_of_theano():
    for made, kind, name in [
        (T.tensor("float32", (None, 3)), "float32[?, 3]", None), (T.tensor("float64", (2,), "x"), "float64[2]", "x"),
        (T.tensor("int8", (False, True), "b"), "int8[?, 1]", "b"), (T.tensor("int8", shape=(2,)), "int8[2]", None),
        (T.tensor("x", "int8", (2,)), "int8[2]", "x"), (T.tensor("x", shape=(None,)), "float64[?]", "x"),
        (T.tensor("float32", "float64", (2,)), "float64[2]", "float32"), (T.tensor("float32"), "float32", None),
        (T.tensor(), "float64", None), (T.vector("int8", dtype="int16"), "int16[?]", "int8"),
    ]:  # fmt: skip
        assert (str(made.type), made.name) == (kind, name)


def test_einsum_takes_the_optimize_of_numpy():
    values = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(T.einsum("ij->ji", m, optimize="greedy").eval({m: values}), values.T)


def test_values_that_updates_and_givens_take():
    byte, real = ag.shared(np.uint8([1, 2]), name="byte"), ag.shared(np.float32(1), name="real")
    for value in (np.array([3, 4]), [3, 4], np.array([True, False])):
        function([], None, updates=[(byte, value), (real, 2)])()
        np.testing.assert_array_equal(byte.get_value(), np.uint8(value))
    assert function([], s, givens={s: 3})() == 3.0
    for value in ([3, 400], [-1, 2], [1.0, 2.0]):
        with pytest.raises(TypeError, match=r"the update of byte is list .*; expected a variable or numbers of uint8"):
            function([], None, updates=[(byte, value)])


def test_gradients_that_are_no_lists_but_as_good():
    parameters = {"w": w}
    assert ag.optim.sgd(parameters.values(), (g for g in [gradient]))[0][0] is w
