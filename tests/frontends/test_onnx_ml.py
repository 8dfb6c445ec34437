"""Estimators of ai.onnx.ml beside ONNX Runtime: each op by nodes made by hand, with its attributes drawn."""

import numpy as np
import pytest
from draws import mostly_long, rarely_long

import arignote as ag

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper  # noqa: E402
from test_onnx import runtime  # noqa: E402

from arignote.frontends.onnx import OnnxError  # noqa: E402

KIND = {"f4": TensorProto.FLOAT, "f8": TensorProto.DOUBLE, "i8": TensorProto.INT64, "O": TensorProto.STRING}
WORDS = np.array(["blue", "green", "red", "", "schön"], object)
ROWS = np.random.default_rng(0).standard_normal((40, 5)).astype("float32")


def kind_of(array):
    return KIND[array.dtype.str[1:] if array.dtype.kind != "O" else "O"]


def node_model(op, feeds, outputs=("y",), version=3, domain="ai.onnx.ml", more=(), **attributes):
    """A model of one node, and perhaps further ones, whose outputs have types that the runtime infers."""
    nodes = [helper.make_node(op, list(feeds), list(outputs), domain=domain, **attributes), *more]
    last = [*nodes[-1].output, *(outputs[:-1] if more else ())]
    infos = [
        helper.make_tensor_value_info(n, kind_of(a), [None, *a.shape[1:]] if a.ndim else []) for n, a in feeds.items()
    ]
    graph = helper.make_graph(nodes, "one", infos, [onnx.ValueInfoProto(name=name) for name in last])
    opsets = [helper.make_opsetid("", 19), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def compared(made, feeds, rtol=1e-5, atol=1e-5):
    """Both results; equal to rounding."""
    ours, theirs = ag.from_onnx(made)(**feeds), runtime(made, feeds)
    ours = ours if len(theirs) > 1 else [ours]
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(other, list):
            assert [set(row) for row in one] == [set(row) for row in other]
            one, other = (np.array([[row[k] for k in other[0]] for row in rows], "float32") for rows in (one, other))
        one = np.asarray(one)
        assert one.shape == other.shape and (one.dtype == other.dtype or other.dtype.kind in "OU"), (one.dtype, other)
        if other.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(one, other)
    return ours


# --- trees


def trees(rng, kind, targets, modes=("BRANCH_LEQ",), count=4, tracks=False, positive=False, whole=False):
    """The attributes of random trees; leaves have one or all of `targets`, all of them if `whole`."""
    names = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids",
             "missing_value_tracks_true")  # fmt: skip
    rows, leaves = [], []

    def grown(tree, left):
        here = len([r for r in rows if r[0] == tree])
        if left == 0 or (rng.random() < 0.2 and here):
            rows.append([tree, here, "LEAF", 0, 0.0, 0, 0, 0])
            for target in targets if whole or rng.random() < 0.5 else [targets[rng.integers(len(targets))]]:
                weight = float(rng.integers(1, 9)) / 32 if positive else float(rng.integers(-8, 9)) / 4
                leaves.append((tree, here, target, weight))
            return here
        mode, threshold = modes[rng.integers(len(modes))], float(rng.integers(-2, 3)) / 2
        rows.append([tree, here, mode, int(rng.integers(5)), threshold, 0, 0, int(tracks and rng.random() < 0.5)])
        row = rows[-1]
        row[5], row[6] = grown(tree, left - 1), grown(tree, left - 1)
        return here

    for tree in range(count):
        grown(tree, 4)
    attributes = {f"nodes_{name}": list(column) for name, column in zip(names, zip(*rows), strict=True)}
    if not tracks:
        attributes.pop("nodes_missing_value_tracks_true")
    columns = zip(("treeids", "nodeids", "ids", "weights"), zip(*leaves), strict=True)
    return attributes | {f"{kind}_{name}": list(column) for name, column in columns}


@pytest.fixture(scope="module")
def rows():
    """Numbers that meet thresholds exactly, and NaN."""
    rng = np.random.default_rng(1)
    x = (rng.integers(-5, 6, (60, 5)) / 2).astype("float32")
    x[rng.random(x.shape) < 0.1] = np.nan
    return x


@pytest.mark.parametrize("aggregate", rarely_long(["SUM", "AVERAGE", "MIN", "MAX"], {"AVERAGE", "MAX"}))
def test_regressors_of_trees(rows, aggregate):
    every = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
    for seed, (modes, tracks, base, post) in enumerate([
        (("BRANCH_LEQ",), False, [0.5, -1.0], "NONE"), (every[:1], True, [], "NONE"), (every, True, [1.0, 2.0], "NONE"),
        (every[4:], False, [], "SOFTMAX"), (every[1:4], False, [], "LOGISTIC"),
    ]):  # fmt: skip
        given = trees(np.random.default_rng(seed), "target", (0, 1), modes, tracks=tracks, whole=bool(base))
        more = {"base_values": base} if base else {}
        made = node_model("TreeEnsembleRegressor", {"x": rows}, n_targets=2, aggregate_function=aggregate,
                          post_transform=post, **given, **more)  # fmt: skip
        compared(made, {"x": rows})


@pytest.mark.long
@pytest.mark.parametrize("post", rarely_long(["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"], {"NONE", "SOFTMAX"}))
def test_classifiers_of_trees(rows, post):
    strings = {"classlabels_strings": ["no", "yes", "perhaps"]}
    cases = [
        ((0, 1, 2), strings, [], False), ((0, 1, 2), {"classlabels_int64s": [7, 3, 5]}, [0.1, 0.2, 0.3], False),
        ((1,), {"classlabels_int64s": [0, 1]}, [], True),
        ((0,), {"classlabels_int64s": [0, 1]}, [], False), ((0,), {"classlabels_strings": ["n", "y"]}, [0.25], False),
    ]  # fmt: skip
    for seed, (targets, labels, base, positive) in enumerate(cases):
        given = trees(np.random.default_rng(seed), "class", targets, positive=positive, count=3, whole=True)
        more = {"base_values": base} if base else {}
        made = node_model("TreeEnsembleClassifier", {"x": rows}, ("label", "y"), post_transform=post, **given, **labels,
                          **more)  # fmt: skip
        compared(made, {"x": rows})


def test_the_label_is_that_of_the_largest_score(rows):
    """Two labels, each with leaves of its own: the runtime gives 1 whatever the labels are."""
    given = trees(np.random.default_rng(0), "class", (0, 1), whole=True)
    made = node_model("TreeEnsembleClassifier", {"x": rows}, ("label", "y"), classlabels_int64s=[4, 9], **given)
    label, scores = ag.from_onnx(made)(rows)
    np.testing.assert_array_equal(label, np.array([4, 9])[np.argmax(scores, axis=1)])
    np.testing.assert_allclose(scores, runtime(made, {"x": rows})[1], atol=1e-6)


def test_hostile_trees_are_refused(rows):
    def reported(**changes):
        given = trees(np.random.default_rng(0), "target", (0,)) | {"n_targets": 1} | changes
        with pytest.raises(OnnxError) as caught:
            ag.from_onnx(node_model("TreeEnsembleRegressor", {"x": rows}, **given))
        return str(caught.value)

    nodes = trees(np.random.default_rng(0), "target", (0,))
    assert "two branches name one node" in reported(nodes_truenodeids=[1] * len(nodes["nodes_modes"]))
    assert "names a node that is not there" in reported(nodes_truenodeids=[999, *nodes["nodes_truenodeids"][1:]])
    assert "reads feature 99, and x has 5" in reported(nodes_featureids=[99] * len(nodes["nodes_modes"]))
    assert "a feature of a negative number" in reported(nodes_featureids=[-1] * len(nodes["nodes_modes"]))
    assert "a leaf has the target 3, expected 0 to 0" in reported(target_ids=[3] * len(nodes["target_ids"]))
    assert "the mode of a node is 'BRANCH'" in reported(nodes_modes=["BRANCH", *nodes["nodes_modes"][1:]])
    assert "have different lengths" in reported(nodes_values=[0.0])


# --- linear models and support vectors


@pytest.mark.long
@pytest.mark.parametrize("post", mostly_long(["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"], {"SOFTMAX"}))
def test_linear_models(post):
    rng = np.random.default_rng(2)
    weights = rng.standard_normal((3, 5)).astype("float32").ravel().tolist()
    for x in (ROWS, ROWS.astype("float64"), (ROWS * 3).astype("int64")):
        made = node_model("LinearClassifier", {"x": x}, ("label", "y"), coefficients=weights,
                          intercepts=[0.5, 0.0, -0.5], classlabels_strings=["a", "b", "c"],
                          post_transform=post)  # fmt: skip
        compared(made, {"x": x}, rtol=1e-4)
    two = {"classlabels_ints": [3, 8], "post_transform": post}
    made = node_model("LinearClassifier", {"x": ROWS}, ("label", "y"), coefficients=weights[:10], intercepts=[0.5, 0.1],
                      **two)  # fmt: skip
    compared(made, {"x": ROWS}, rtol=1e-4)
    made = node_model("LinearRegressor", {"x": ROWS}, coefficients=weights, intercepts=[1.0, 2.0, 3.0], targets=3)
    compared(made, {"x": ROWS}, rtol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("kernel", rarely_long(["LINEAR", "POLY", "RBF", "SIGMOID"], {"POLY", "SIGMOID"}))
def test_support_vectors(kernel):
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((9, 5)).astype("float32").ravel().tolist()
    common = {"kernel_type": kernel, "kernel_params": [0.25, 0.5, 2.0]}
    x = (ROWS[:25] / 2).astype("float32")
    for one_class in (0, 1):
        made = node_model("SVMRegressor", {"x": x}, support_vectors=vectors, n_supports=9, one_class=one_class,
                          coefficients=rng.standard_normal(9).tolist(), rho=[0.25], **common)  # fmt: skip
        compared(made, {"x": x}, rtol=1e-4)
    made = node_model("SVMRegressor", {"x": x}, n_supports=0, coefficients=vectors[:5], rho=[0.25], **common)
    if kernel == "LINEAR":
        compared(made, {"x": x}, rtol=1e-4)
    for counts in ([2, 3, 4], [4, 5]):
        pairs = len(counts) * (len(counts) - 1) // 2
        labels = {"classlabels_strings": ["x", "y", "z"][: len(counts)]}
        given = {"support_vectors": vectors, "vectors_per_class": counts, "rho": rng.standard_normal(pairs).tolist(),
                 "coefficients": rng.standard_normal((len(counts) - 1) * 9).tolist()}  # fmt: skip
        probabilities = {"prob_a": (-1 - rng.random(pairs)).tolist(), "prob_b": rng.standard_normal(pairs).tolist()}
        for more in ({}, probabilities):
            made = node_model("SVMClassifier", {"x": x}, ("label", "y"), **labels, **given, **common, **more)
            compared(made, {"x": x}, rtol=1e-3, atol=1e-4)


# --- preprocessing


@pytest.mark.long
def test_scalers_normalizers_imputers():
    x = ROWS.copy()
    x[3] = 0
    made = node_model("Scaler", {"x": x}, offset=[1.0, 2.0, 3.0, 4.0, 5.0], scale=[0.5, 1.0, 2.0, 3.0, 4.0])
    compared(made, {"x": x})
    compared(node_model("Scaler", {"x": x}, offset=[1.5], scale=[2.0]), {"x": x})
    for norm in ("L1", "L2", "MAX"):
        compared(node_model("Normalizer", {"x": x}, norm=norm), {"x": x})
    compared(node_model("Binarizer", {"x": x}, threshold=0.25), {"x": x})
    x[x > 1] = np.nan
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    compared(node_model("Imputer", {"x": x}, imputed_value_floats=values, replaced_value_float=float("nan")), {"x": x})
    n = np.arange(10).reshape(5, 2) % 3
    compared(node_model("Imputer", {"x": n}, imputed_value_int64s=[7], replaced_value_int64=2), {"x": n})


@pytest.mark.long
def test_encoders_of_strings_and_numbers():
    words, numbers = WORDS[[0, 2, 1, 4, 3, 2]], np.array([5, -7, 5, 100_000, 2, 9])
    named = {"keys_strings": ["red", "blue", "schön"], "default_int64": -5}
    compared(node_model("LabelEncoder", {"x": words}, values_int64s=[3, 1, 2], **named), {"x": words})
    compared(node_model("LabelEncoder", {"x": words}, keys_strings=["red"], values_floats=[0.5]), {"x": words})
    renamed = {"keys_strings": ["red", "blue"], "values_strings": ["r", "b"]}
    compared(node_model("LabelEncoder", {"x": words}, **renamed), {"x": words})
    back = {"keys_int64s": [5, -7, 2], "values_strings": ["five", "seven", "two"], "default_string": "none"}
    compared(node_model("LabelEncoder", {"x": numbers}, **back), {"x": numbers})
    far = {"keys_int64s": [5, -7, 100_000], "values_floats": [0.5, 1.5, 2.5], "default_float": -1.0}
    compared(node_model("LabelEncoder", {"x": numbers}, **far), {"x": numbers})
    floats = np.array([0.5, np.nan, 2.0, -1.0], "float32")
    given = {"keys_floats": [0.5, float("nan"), -1.0], "values_int64s": [1, 2, 3]}
    compared(node_model("LabelEncoder", {"x": floats}, **given), {"x": floats})
    assert ag.from_onnx(node_model("LabelEncoder", {"x": floats}, version=4, **given))(floats).tolist() == [1, 2, -1, 3]
    table = words.reshape(3, 2)
    compared(node_model("OneHotEncoder", {"x": table}, cats_strings=["red", "green"], zeros=1), {"x": table})
    compared(node_model("OneHotEncoder", {"x": numbers}, cats_int64s=[5, 2], zeros=1), {"x": numbers})
    strict = ag.from_onnx(node_model("OneHotEncoder", {"x": numbers}, cats_int64s=[5, 2], zeros=0))
    assert strict(np.array([2, 5, 5])).tolist() == [[0, 1], [1, 0], [1, 0]]
    with pytest.raises(ValueError, match="a value is none of the categories"):
        strict(numbers)
    cats = {"cats_strings": ["red", "blue"], "cats_int64s": [4, 6]}
    compared(node_model("CategoryMapper", {"x": words}, **cats), {"x": words})
    compared(node_model("CategoryMapper", {"x": numbers}, default_string="?", **cats), {"x": numbers})


def test_maps_features_and_strings():
    x = np.abs(ROWS[:4, :3])
    made = node_model("ZipMap", {"x": x}, classlabels_strings=["a", "b", "c"])
    (found,) = compared(made, {"x": x})
    assert list(found[0]) == ["a", "b", "c"]
    compared(node_model("ZipMap", {"x": x}, classlabels_int64s=[5, 1, 9]), {"x": x})
    places = np.array([2, 0])
    compared(node_model("ArrayFeatureExtractor", {"x": x, "p": places}), {"x": x, "p": places})
    vectors = {"x": x, "n": np.arange(4).astype("float32")[:, None]}
    compared(node_model("FeatureVectorizer", vectors, inputdimensions=[3, 1]), vectors)
    words = {"a": WORDS, "b": WORDS[[0, 1, 1, 3, 2]]}
    compared(node_model("Equal", words, domain=""), words)
    net = ag.from_onnx(node_model("Identity", {"x": WORDS}, domain=""))
    assert net.narrow == {"x": "string", "y": "string"} and net.words.every == []
    assert net(np.array(["new", "blue", "new"])).tolist() == ["new", "blue", "new"]
    with pytest.raises(TypeError, match="expected an array of str, got an element of float"):
        net(np.array(["a", 1.5], object))
    with pytest.raises(OnnxError, match="a cast of strings to numbers is not supported"):
        ag.from_onnx(node_model("Cast", {"x": WORDS}, domain="", to=TensorProto.FLOAT))
