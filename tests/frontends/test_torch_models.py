"""Models of `ag.from_torch`: archives, arguments, and all that is done with imported models, on two small networks."""

from __future__ import annotations

import copy
import pickle
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch._dynamo  # noqa: E402, F811  # it sets variables of the environment
from torch_versions import IS_OLDEST, keep_progress_without_thread  # noqa: E402

import arignote as ag  # noqa: E402
from arignote.frontends.torch import TorchModel  # noqa: E402
from arignote.function.function import find_toolchain  # noqa: E402
from arignote.graph import Constant  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
F = torch.nn.functional
keep_progress_without_thread()


class Images(torch.nn.Module):
    """Convolutions with batch norm and groups, pooling, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8)
        self.second, self.head = torch.nn.Conv2d(8, 8, 3, stride=2, groups=2), torch.nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        y = F.max_pool2d(torch.relu(self.bn(self.conv(x))), 2)
        return self.head(torch.relu(self.second(y)).mean((2, 3)))


class Words(torch.nn.Module):
    """An embedding, one causal layer of a transformer, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.emb = torch.nn.Embedding(50, 16)
        self.block = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
        self.head = torch.nn.Linear(16, 50)

    def forward(self, ids: Any) -> Any:
        mask = torch.nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.block(self.emb(ids), src_mask=mask, is_causal=True))


class Case(NamedTuple):
    """A network in a `.pt2` archive, its model, an input and the output of PyTorch."""

    archive: Path
    model: Any
    x: Any
    want: np.ndarray

    def check(self, got: Any, away: float = 1e-5) -> None:
        """Require the output of PyTorch within so much."""
        assert np.abs(np.asarray(got) - self.want).max() <= away


@pytest.fixture(scope="module", params=["images", "words"])
def case(request: Any, tmp_path_factory: Any) -> Case:
    torch.manual_seed(0)
    batch, length = torch.export.Dim("batch", max=64), torch.export.Dim("length", min=2, max=32)
    net, x, open_lengths = {
        "images": lambda: (Images(), torch.randn(2, 3, 16, 16), {"x": {0: batch}}),
        "words": lambda: (Words(), torch.randint(0, 50, (2, 7)), {"ids": {0: batch, 1: length}}),
    }[request.param]()  # fmt: skip
    archive = tmp_path_factory.mktemp(request.param) / "net.pt2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(net.eval(), (x,), dynamic_shapes=open_lengths, strict=False)
        torch.export.save(program, archive)
        model = ag.from_torch(archive)
    return Case(archive, model, x, net(x).detach().numpy())


def test_archives_and_programs_are_models(case: Case) -> None:
    case.check(case.model(case.x))
    (name,) = case.model.inputs
    case.check(case.model(**{name: case.x.numpy()}))
    assert "head.weight" in case.model.parameters
    assert case.model(torch.cat([case.x] * 3)).shape == (6, *case.want.shape[1:])
    with pytest.raises(ValueError, match=r"the length of .* along axis 0 is 66, expected at most 64"):
        case.model(torch.cat([case.x] * 33))


def test_functions_of_models(case: Case) -> None:
    x = case.x.numpy()
    frozen = ag.freeze(case.model)
    case.check(frozen(x))
    case.check(ag.quantize(case.model, [x])(x), 0.05)
    case.check(ag.quantize(case.model, [x], weights="int4")(x), 0.3)
    with ag.batched(case.model, max_batch=2, max_delay=0) as serve:
        case.check(serve(x))
    tuning = ag.tune(case.model, [case.x], seconds=0.01, keep=False)
    assert tuning.gain >= 1
    case.check(tuning.function(x))
    divided = case.model.function(engines=["numpy", "c"])
    case.check(divided(x))
    assert "estimated" in str(divided.explain("partition"))


def test_frozen_weights_stay_in_the_memory_of_the_module() -> None:
    layer, x = torch.nn.Linear(160, 200), torch.randn(7, 160)
    model = ag.from_torch(layer, (x,))
    own = {name: v.get_value(borrow=True) for name, v in model.parameters.items()}
    for borrow in (False, True):
        f = ag.freeze(model, borrow=borrow)
        np.testing.assert_allclose(f(x.numpy()), layer(x).detach().numpy(), atol=1e-5)
        constants = {v.name: v.data for n in f.unoptimized_graph.order for v in n.inputs if isinstance(v, Constant)}
        for name, memory in own.items():
            assert np.shares_memory(constants[name], memory) is borrow
            assert not constants[name].flags.writeable and memory.flags.writeable


def test_answers_about_models(case: Case) -> None:
    f = case.model.function(profile=True)
    f(case.x.numpy())
    assert "head" in {row.module for row in f.profile.by_module()}
    assert "canonicalize" in str(case.model.why_not("local_mul_zero"))
    assert "fusion" in str(case.model.explain())


def test_pruned_weights_are_those_of_the_model(case: Case) -> None:
    before = {v: v.get_value() for v in case.model.parameters.values() if v.ndim >= 2}
    ag.prune(list(before), 0.5)
    assert all(0.45 < (w.get_value() == 0).mean() < 0.55 for w in before)
    assert np.abs(case.model(case.x).numpy() - case.want).max() > 1e-3
    for weights, value in before.items():
        weights.set_value(value)
    case.check(case.model(case.x))


@pytest.mark.skipif(IS_OLDEST, reason="PyTorch 2.6 exports no numbers that a call decides")
def test_arguments_are_those_of_the_export() -> None:
    class Several(torch.nn.Module):
        def forward(self, x: Any, n: Any, flag: Any = True, d: Any = None) -> Any:
            y = x * n + d["a"]
            return {"y": y, "sum": y.sum()} if flag else y

    x, a, dynamic = torch.randn(5), torch.randn(5), torch.export.Dim.DYNAMIC
    shapes = {"x": {0: dynamic}, "n": dynamic, "flag": None, "d": {"a": {0: dynamic}}}
    named = {"flag": True, "d": {"a": torch.randn(3)}}
    model = ag.from_torch(torch.export.export(Several(), (torch.randn(3), 4), named, dynamic_shapes=shapes))
    want = Several()(x, 7, True, {"a": a})
    for args, named in (((x, 7), {"flag": True, "d": {"a": a}}), ((), {"d": {"a": a}, "flag": True, "n": 7, "x": x})):
        found = model(*args, **named)
        torch.testing.assert_close(found["y"], want["y"])
        torch.testing.assert_close(found["sum"], want["sum"])
    with pytest.raises(ValueError, match="flag is False, expected True, which the export fixed"):
        model(x, 7, flag=False, d={"a": a})
    expected = r"expected the arguments \(x, n, flag=\.\.\., d=\.\.\.\), got \(Tensor, flag=True, d=dict\)"
    with pytest.raises(TypeError, match=expected):
        model(x, d={"a": a}, flag=True)


@pytest.mark.long
@pytest.mark.skipif(find_toolchain() is None or shutil.which("make") is None, reason="needs a C compiler and make")
def test_exported_models_run_without_python(case: Case, tmp_path: Path) -> None:
    x = case.x.numpy()
    for source, name in ((case.model, "plain"), (ag.freeze(case.model), "frozen")):
        folder = source.export(tmp_path / name)
        (program,) = [p.stem for p in folder.glob("*.weights")]
        x.tofile(folder / "in.bin")
        lengths = ",".join(map(str, x.shape))
        for command in ("make -j2", f"./{program} {program}.weights in.bin:{lengths}"):
            subprocess.run(command, cwd=folder, shell=True, check=True, capture_output=True)
        case.check(np.fromfile(folder / f"{program}.out0", "float32").reshape(case.want.shape))


class Counting(torch.nn.Module):
    """Batch norm, whose averages a call updates, an op that PyTorch runs, and results by name."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x: Any) -> Any:
        y = self.norm(x)
        return {"y": y, "curve": torch.special.legendre_polynomial_p(x, 3), "none": None, "both": (y.sum(), y * 2)}


COPIES = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "copy": copy.deepcopy,
    "cloudpickle": lambda model: pickle.loads(cloudpickle.dumps(model)),
}


@pytest.mark.parametrize("how", COPIES)
def test_copies_of_models(how: str) -> None:
    net, x = Counting().train(), torch.randn(5, 3)
    model = ag.from_torch(net, (x,))
    model(x)
    twin = COPIES[how](model)
    assert isinstance(twin, TorchModel) and repr(twin) == repr(model)
    assert list(twin.parameters) == list(model.parameters)
    for _ in range(2):
        want, got = model(x), twin(x)
        torch.testing.assert_close(got, want)
    average, own = (m.parameters["norm.running_mean"].get_value(borrow=True) for m in (model, twin))
    np.testing.assert_array_equal(own, average)
    assert np.shares_memory(average, net.norm.running_mean.numpy()) and not np.shares_memory(own, average)
    assert len(twin.graph) == len(model.graph)
