"""Estimators and preprocessing of `ai.onnx.ml`: linear models, scalers, imputers, encoders, labels, maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Variable
from ....ops.core.tensor import constant
from ....record import record
from ....record.spelling import counted
from ..reading.alternatives import Refused
from ..reading.narrow import TEXT, Narrow, narrow
from ..reading.node import Node
from ..reading.table import converter
from .elementwise import like
from .scores import labelled, labels_of, of_two_labels, transformed

ML = "ai.onnx.ml"
MOST_ENTRIES = 1 << 16
"""Entries of a table by which keys are looked up."""


def features(x: Any, dtype: str = "") -> Any:
    """A matrix of floats with a row an example: float32, or wider where x is."""
    x = T.reshape(x, (1, -1)) if x.ndim == 1 else x
    return T.cast(x, dtype or ("float32" if x.dtype in ("float32", "float16", "bool") else "float64"))


# --- linear models


def _linear(node: Node, x: Any, count: int) -> Any:
    """The scores of rows: products with the coefficients, a row of these for each score, and intercepts."""
    weights = np.array(node.need("coefficients"), "float32").reshape(count, -1)
    x = features(x)
    scores = T.dot(x, constant(weights.T.astype(x.dtype)))
    offsets = node.attr("intercepts")
    return T.cast(scores + constant(np.array(offsets, x.dtype)) if offsets else scores, "float32")


@converter("LinearRegressor", domain=ML)
def linear_regressor(node: Node, x: Any) -> Any:
    return transformed(node, _linear(node, x, node.attr("targets", 1)))


@converter("LinearClassifier", domain=ML)
def linear_classifier(node: Node, x: Any) -> Any:
    labels = labels_of(node, "classlabels_strings", "classlabels_ints")
    count = len(node.attr("intercepts") or ()) or labels[0].type.shape[0]
    scores = _linear(node, x, count)
    if count == 1 and labels[0].type.shape[0] == 2:
        second = T.cast(T.gt(scores[:, 0], like(0, scores)), "int64")
        return labelled(labels, second), of_two_labels(node, scores, False)
    return labelled(labels, T.argmax(scores, axis=1)), transformed(node, scores)


# --- scalers, imputers


@converter("Scaler", domain=ML)
def scaler(node: Node, x: Any) -> Any:
    wide = T.cast(x, "float32" if x.dtype == "float32" else "float64")
    offset, scale = (constant(np.array(node.need(name), wide.dtype)) for name in ("offset", "scale"))
    return T.cast((wide - offset) * scale, "float32")


@converter("Normalizer", domain=ML)
def normalizer(node: Node, x: Any) -> Any:
    """Rows divided by their norm; rows of zeros stay."""
    x = T.cast(x, "float32")
    kind = node.attr("norm", "MAX")
    if kind not in ("MAX", "L1", "L2"):
        raise node.error(f"the norm is {kind!r}, expected MAX, L1 or L2")
    if kind == "MAX":
        size = T.max(x, axis=-1, keepdims=True)
    elif kind == "L1":
        size = T.sum(T.abs(x), axis=-1, keepdims=True)
    else:
        size = T.sqrt(T.sum(x * x, axis=-1, keepdims=True))
    return x / T.where(T.eq(size, like(0, size)), like(1, size), size)


@converter("Imputer", domain=ML)
def imputer(node: Node, x: Any) -> Any:
    kind = "float" if x.type.kind == "f" else "int64"
    values = constant(np.array(node.need(f"imputed_value_{kind}s"), x.dtype))
    replaced = node.attr(f"replaced_value_{kind}", 0)
    missing = T.isnan(x) if replaced != replaced else T.eq(x, like(replaced, x))
    return T.where(missing, values, x)


@converter("Binarizer", domain=ML)
def binarizer(node: Node, x: Any) -> Any:
    wide = x if x.type.kind == "f" else T.cast(x, "float64")
    return T.cast(T.gt(wide, like(node.attr("threshold", 0.0), wide)), x.dtype)


@converter("FeatureVectorizer", domain=ML)
def feature_vectorizer(node: Node, *operands: Any) -> Any:
    columns = [T.cast(T.reshape(v, (-1, 1)) if v.ndim == 1 else v, "float32") for v in operands]
    return columns[0] if len(columns) == 1 else T.concatenate(columns, axis=1)


@converter("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(node: Node, x: Any, places: Any) -> Any:
    x = T.reshape(x, (1, -1)) if x.ndim == 1 else x
    return x[..., T.ravel(places)]


# --- encoders


def _array_of_attributes(node: Node, kind: str) -> tuple[np.ndarray, Any]:
    """The array of the attributes `keys_...`, `values_...` or `default_...`, codes for strings, and its form."""
    words = node.attr(f"{kind}_strings")
    if words:
        return node.words.codes(np.array(words, object)), TEXT
    for name, dtype in (("int64s", "int64"), ("floats", "float32")):
        found = node.attr(f"{kind}_{name}")
        if found:
            return np.array(found, dtype), None
    tensor = node.attributes.get(f"{kind}_tensor")
    if tensor is None:
        raise node.error(f"has no attribute {kind}_strings, {kind}_int64s, {kind}_floats or {kind}_tensor")
    return node.attr(f"{kind}_tensor"), (TEXT if tensor.t.data_type == 8 else None)


@converter("LabelEncoder", domain=ML)
def label_encoder(node: Node, x: Any) -> Any:
    if "classes_strings" in node.attributes:  # version 1
        words = node.words.codes(np.array(node.need("classes_strings"), object))
        numbers = np.arange(len(words))
        return _mapped(node, x, words, numbers)
    keys, _ = _array_of_attributes(node, "keys")
    values, form = _array_of_attributes(node, "values")
    if len(keys) != len(values):
        raise node.error(f"has {len(keys)} keys, expected {len(values)}, the number of its values")
    default = node.attr("default_tensor")
    if default is None and form == TEXT:
        default = node.words.codes(np.array([node.attr("default_string", "_Unused")], object))
    elif default is None:
        default = node.attr("default_int64", -1) if values.dtype.kind in "iu" else node.attr("default_float", -0.0)
    if node.version < 4 and keys.dtype.kind == "f":  # NaN is a key from version 4 on
        keys, values = keys[~np.isnan(keys)], values[~np.isnan(keys)]
    return narrow(_looked_up(x, keys, values, np.asarray(default, values.dtype).reshape(-1)[0]), form)


@converter("CategoryMapper", domain=ML)
def category_mapper(node: Node, x: Any) -> Any:
    words = node.words.codes(np.array(node.need("cats_strings"), object))
    return _mapped(node, x, words, np.array(node.need("cats_int64s")))


def _mapped(node: Node, x: Any, words: np.ndarray, numbers: np.ndarray) -> Any:
    """The numbers of strings, or the strings of numbers, with the node's defaults."""
    if node.format(0) == TEXT:
        return _looked_up(x, words, numbers, np.int64(node.attr("default_int64", -1)))
    unused = node.words.codes(np.array(node.attr("default_string", "_Unused"), object))
    return narrow(_looked_up(x, numbers, words, unused[()]), TEXT)


def _looked_up(x: Any, keys: np.ndarray, values: np.ndarray, default: Any) -> Any:
    """The value of each key in x; the default for what is no key.  Of equal keys the first one counts."""
    keys, first = np.unique(keys, return_index=True)
    values = np.append(values[first], default).astype(values.dtype)
    if not keys.size:
        return T.full(T.shape(x), constant(values[0]))
    if keys.dtype.kind in "iu" and keys[-1] - keys[0] < MOST_ENTRIES:
        x = T.cast(x, "int64")
        span = int(keys[-1] - keys[0]) + 1
        table = np.full(span + 1, default, values.dtype)
        table[keys - keys[0]] = values[:-1]
        place = x - int(keys[0])
        return constant(table)[T.where(T.logical_or(T.lt(place, 0), T.ge(place, span)), span, place)]
    places = T.minimum(T.searchsorted(constant(keys), T.cast(x, str(keys.dtype))), len(keys) - 1)
    found = T.eq(constant(keys)[places], x)
    if keys.dtype.kind == "f" and np.isnan(keys[-1]):
        found = T.logical_or(found, T.logical_and(T.isnan(x), T.eq(places, len(keys) - 1)))
    return constant(values)[T.where(found, places, len(keys))]


@converter("OneHotEncoder", domain=ML)
def one_hot_encoder(node: Node, x: Any) -> Any:
    if node.format(0) == TEXT:
        kinds = constant(node.words.codes(np.array(node.need("cats_strings"), object)))
    else:
        kinds, x = constant(np.array(node.need("cats_int64s"), "int64")), T.cast(x, "int64")
    same = T.eq(T.expand_dims(x, -1), kinds)
    if not node.attr("zeros", 1):
        unknown = T.logical_not(T.all(T.any(same, axis=-1)))
        same = Refused(f"{node}: a value is none of the categories")(same, unknown)
    return T.cast(same, "float32")


# --- maps


@record
class Maps:
    """Form of an output that is a list of dicts, one for each row: from the keys to the numbers of the row."""

    keys: tuple[Any, ...]
    ml_name = "map"

    def described(self, array: Any, words: Any) -> Any:
        return [dict(zip(self.keys, row)) for row in np.atleast_2d(array).tolist()]


@converter("ZipMap", domain=ML)
def zip_map(node: Node, x: Variable) -> Any:
    keys = node.attr("classlabels_strings") or node.need("classlabels_int64s")
    if x.type.shape[-1] not in (len(keys), None):
        raise node.error(f"has {counted(len(keys), 'label')} for {counted(x.type.shape[-1], 'column')}")
    return Narrow(T.cast(x, "float32"), Maps(tuple(keys)))
