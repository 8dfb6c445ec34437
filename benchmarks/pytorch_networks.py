"""Twelve networks with random weights for `python -m benchmarks.pytorch`, and the worker that runs one of them.

    python -m benchmarks.pytorch_networks NETWORK BACKEND [--one-core]

The worker prints the processor seconds of the first call (compilers included) and its result as JSON, then answers each
line that it reads, a number of calls, with the seconds of one call: by the clock, with `--one-core` of the processor.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

if "--one-core" in sys.argv:  # before libraries start their threads
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np
import torch

Network = tuple[torch.nn.Module, tuple[Any, ...]]


class First(torch.nn.Module):
    """A model of Hugging Face whose first result alone is returned."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, given: Any) -> Any:
        return self.model(given, return_dict=False)[0]


class Recurrent(torch.nn.Module):
    """Two layers of an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.LSTM(128, 256, 2, batch_first=True)

    def forward(self, x: Any) -> Any:
        return self.layers(x)[0]


def _image(name: str) -> Callable[[], Network]:
    def make() -> Network:
        import timm

        return timm.create_model(name, pretrained=False), (torch.rand(1, 3, 224, 224),)

    return make


def _text(name: str) -> Callable[[], Network]:
    def make() -> Network:
        import transformers as t

        sizes = {"hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 2048}
        ids = torch.randint(0, 999, (1, 128))
        whisper = t.WhisperConfig(d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536)
        made: dict[str, Callable[[], Network]] = {
            "bert": lambda: (t.BertModel(t.BertConfig(**sizes)), (ids,)),
            "gpt2": lambda: (
                t.GPT2Model(t.GPT2Config(n_embd=512, n_layer=4, n_head=8, use_cache=False)), (ids,)
            ),
            "llama": lambda: (t.LlamaModel(t.LlamaConfig(**sizes, vocab_size=8000, use_cache=False)), (ids,)),
            "whisper": lambda: (t.models.whisper.modeling_whisper.WhisperEncoder(whisper), (torch.rand(1, 80, 3000),)),
        }  # fmt: skip
        model, given = made[name]()
        return First(model), given

    return make


def _perceptron() -> Network:
    layers = [torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 1024), torch.nn.GELU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(1024, 10)), (torch.rand(16, 256),)


NETWORKS: dict[str, Callable[[], Network]] = {
    "perceptron": _perceptron,
    "lstm": lambda: (Recurrent(), (torch.rand(4, 64, 128),)),
    **{
        name: _image(name)
        for name in (
            "resnet18", "mobilenetv3_small_100", "efficientnet_lite0", "convnext_atto", "vit_tiny_patch16_224",
            "mixer_s32_224",
        )
    },
    **{name: _text(name) for name in ("bert", "gpt2", "llama", "whisper")},
}  # fmt: skip


# --- backends


def _arignote(model: Any, given: Any, folder: str) -> Any:
    from arignote.frontends.torch.backend import arignote

    torch._dynamo.config.allow_rnn = True  # else PyTorch runs recurrent layers itself
    return torch.compile(model, backend=arignote, options={"freeze": True})


def _from_torch(model: Any, given: Any, folder: str) -> Any:
    import arignote as ag

    net = ag.freeze(ag.from_torch(model, given))
    return lambda *args: net(*(a.numpy() for a in args))


def _inductor(model: Any, given: Any, folder: str) -> Any:
    import torch._inductor.config

    torch._inductor.config.freezing = True
    return torch.compile(model)


def _onnx(model: Any, given: Any, folder: str) -> str:
    path = os.path.join(folder, "net.onnx")
    torch.onnx.export(model, given, path, dynamo=True, verbose=False)
    return path


def _onnxruntime(model: Any, given: Any, folder: str) -> Any:
    import onnxruntime

    session = onnxruntime.InferenceSession(_onnx(model, given, folder), providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    return lambda *args: session.run(None, dict(zip(names, (a.numpy() for a in args), strict=True)))[0]


def _openvino(model: Any, given: Any, folder: str) -> Any:
    import openvino

    # Its default is bfloat16 where the processor multiplies that.
    compiled = openvino.compile_model(_onnx(model, given, folder), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return lambda *args: compiled([a.numpy() for a in args])[0]


BACKENDS: dict[str, Callable[[Any, Any, str], Any]] = {
    "eager": lambda model, given, folder: model, "arignote": _arignote, "from_torch": _from_torch,
    "inductor": _inductor, "onnxruntime": _onnxruntime, "openvino": _openvino,
}  # fmt: skip


def processor_seconds() -> float:
    """Return the processor time of this process and of the children that ended."""
    every = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(r.ru_utime + r.ru_stime for r in every)


def main(network: str, backend: str, *options: str) -> None:
    """Build, call once, and answer numbers of calls until the input ends."""
    clock = time.process_time if options else time.perf_counter
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # exporters print
    torch.manual_seed(0)
    model, given = NETWORKS[network]()
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        start = processor_seconds()
        f = BACKENDS[backend](model.eval(), given, folder)
        result = np.asarray(f(*given))
        first = processor_seconds() - start
        print(json.dumps({"first": first, "sum": float(np.abs(result).mean())}), file=answers, flush=True)
        for line in sys.stdin:
            begun = clock()
            for _ in range(int(line)):
                f(*given)
            print((clock() - begun) / int(line), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
