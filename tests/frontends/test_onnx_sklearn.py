"""Estimators of scikit-learn, written by skl2onnx, beside ONNX Runtime."""

import warnings

import numpy as np
import pytest

import arignote as ag

pytest.importorskip("onnxruntime")
skl2onnx = pytest.importorskip("skl2onnx")
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType  # noqa: E402
from sklearn import (  # noqa: E402
    calibration,
    cluster,
    compose,
    decomposition,
    discriminant_analysis,
    ensemble,
    gaussian_process,
    impute,
    linear_model,
    mixture,
    multiclass,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)  # fmt: skip
from test_onnx import runtime  # noqa: E402

pytestmark = pytest.mark.long

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 6)).astype("float32")
NUMBERS = (X @ RNG.standard_normal(6)).astype("float32")
CLASSES = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.5])
TEXTS = np.array(["red", "green", "blue"])[CLASSES]
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X).astype("float32")
WORDS = np.array([["a", "x"], ["b", "y"], ["a", "y"], ["c", "x"]] * 30, object)
CLASSIFIERS = [
    linear_model.LogisticRegression(), linear_model.SGDClassifier(loss="log_loss", random_state=0),
    linear_model.RidgeClassifier(), linear_model.Perceptron(), svm.SVC(), svm.LinearSVC(),
    svm.SVC(kernel="poly", probability=True, random_state=0), svm.NuSVC(nu=0.2, probability=True, random_state=0),
    tree.DecisionTreeClassifier(random_state=0), ensemble.RandomForestClassifier(10, random_state=0),
    ensemble.ExtraTreesClassifier(10, random_state=0), ensemble.GradientBoostingClassifier(n_estimators=10),
    ensemble.AdaBoostClassifier(n_estimators=5), ensemble.BaggingClassifier(n_estimators=4, random_state=0),
    naive_bayes.GaussianNB(), naive_bayes.BernoulliNB(), neighbors.KNeighborsClassifier(),
    discriminant_analysis.LinearDiscriminantAnalysis(), neural_network.MLPClassifier(max_iter=20, random_state=0),
    multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
    calibration.CalibratedClassifierCV(linear_model.LogisticRegression()),
    pipeline.make_pipeline(preprocessing.StandardScaler(), decomposition.PCA(4), linear_model.LogisticRegression()),
]  # fmt: skip
REGRESSORS = [
    linear_model.LinearRegression(), linear_model.Ridge(), linear_model.Lasso(), linear_model.BayesianRidge(),
    svm.SVR(), svm.NuSVR(), svm.LinearSVR(), tree.DecisionTreeRegressor(random_state=0),
    ensemble.RandomForestRegressor(10, random_state=0), ensemble.GradientBoostingRegressor(n_estimators=10),
    ensemble.AdaBoostRegressor(n_estimators=5, random_state=0), neighbors.KNeighborsRegressor(),
    neural_network.MLPRegressor(max_iter=20, random_state=0), gaussian_process.GaussianProcessRegressor(),
]  # fmt: skip
OTHERS = [
    (preprocessing.StandardScaler(), X), (preprocessing.MinMaxScaler(clip=True), X), (preprocessing.RobustScaler(), X),
    (preprocessing.Normalizer("l1"), X), (preprocessing.Binarizer(threshold=0.1), X), (impute.SimpleImputer(), GAPS),
    (preprocessing.PolynomialFeatures(2), X), (preprocessing.KBinsDiscretizer(4, encode="onehot-dense"), X),
    (preprocessing.PowerTransformer(), X), (impute.KNNImputer(), GAPS), (decomposition.PCA(3), X),
    (decomposition.TruncatedSVD(3), X), (cluster.KMeans(3, n_init=2, random_state=0), X),
    (mixture.GaussianMixture(3, random_state=0), X), (svm.OneClassSVM(), X),
    (ensemble.IsolationForest(n_estimators=10), X),
    (preprocessing.OneHotEncoder(handle_unknown="ignore"), WORDS), (preprocessing.OrdinalEncoder(), WORDS),
    (preprocessing.OneHotEncoder(handle_unknown="ignore"), np.abs(X[:, :2] * 2).astype("int64")),
    (compose.make_column_transformer((preprocessing.OneHotEncoder(), [0]), (preprocessing.OrdinalEncoder(), [1])),
     WORDS),
]  # fmt: skip


def agrees(model, x, **options):
    kinds = {"f": FloatTensorType, "i": Int64TensorType, "O": StringTensorType}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = skl2onnx.to_onnx(
            model, initial_types=[("X", kinds[x.dtype.kind]([None, x.shape[1]]))],
            target_opset={"": 18, "ai.onnx.ml": 3}, **options,
        )  # fmt: skip
        theirs = runtime(made, {"X": x})
    net = ag.from_onnx(made)
    ours = net(x)
    for one, other in zip(ours if len(theirs) > 1 else [ours], theirs, strict=True):
        if isinstance(other, list):
            one, other = (np.array([[row[k] for k in other[0]] for row in rows], "float32") for rows in (one, other))
        one = np.asarray(one)
        assert one.shape == other.shape
        if other.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)
        else:
            assert (one == other).mean() > 0.99  # float32 sums decide rows near a border


def fitted_and_agreeing(estimator, x, *data):
    """Fit the estimator and compare; NumPy's global generator, which both packages draw from, is put back."""
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    state = np.random.get_state()
    try:
        agrees(estimator.fit(*data), x)
    finally:
        np.random.set_state(state)


def named(estimator):
    return type(estimator).__name__


@pytest.mark.parametrize("labels", ["numbers", "texts", "two"])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=named)
@pytest.mark.filterwarnings("ignore")
def test_classifiers(estimator, labels):
    y = {"numbers": CLASSES, "texts": TEXTS, "two": CLASSES > 0}[labels]
    fitted_and_agreeing(estimator, X, X, y.astype("int64") if labels == "two" else y)


@pytest.mark.parametrize("estimator", REGRESSORS, ids=named)
@pytest.mark.filterwarnings("ignore")
def test_regressors(estimator):
    fitted_and_agreeing(estimator, X, X[:60], NUMBERS[:60])


@pytest.mark.parametrize(("estimator", "x"), OTHERS, ids=lambda v: named(v) if hasattr(v, "fit") else "")
@pytest.mark.filterwarnings("ignore")
def test_transformers(estimator, x):
    fitted_and_agreeing(estimator, x, x)
