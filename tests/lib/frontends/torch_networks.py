"""Networks of torchvision, timm and Hugging Face with random weights, computed by us and by PyTorch.

python tests/lib/frontends/torch_networks.py [NAME ...]
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch

from arignote import from_torch


def torchvision_models() -> dict[str, Callable[[], tuple[torch.nn.Module, tuple[Any, ...]]]]:
    """Return makers of the classification and segmentation models of torchvision, with example inputs."""
    if not hasattr(torch.ops.torchvision, "nms"):  # a build of torchvision for another build of PyTorch has no C
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        torchvision_models.library = library  # type: ignore[attr-defined]
    from torchvision import models

    found: dict[str, Any] = {}
    for name in models.list_models(module=models):
        size = 299 if name.startswith("inception") else 224 if name.startswith(("vit", "swin", "maxvit")) else 64
        found[name] = lambda name=name, size=size: (
            models.get_model(name, weights=None), (torch.rand(2, 3, size, size),)
        )  # fmt: skip
    for name in models.list_models(module=models.segmentation):
        found[f"segmentation/{name}"] = lambda name=name: (
            models.get_model(name, weights=None, weights_backbone=None), (torch.rand(1, 3, 64, 64),)
        )  # fmt: skip
    return found


def timm_models() -> dict[str, Any]:
    """Return makers of small models of timm."""
    import timm

    names = (
        "resnet10t", "efficientnet_lite0", "mobilenetv3_small_050", "convnext_atto", "vit_tiny_patch16_224",
        "deit_tiny_patch16_224", "mixer_s32_224", "gmlp_ti16_224", "resmlp_12_224", "regnetx_002", "regnety_002",
        "ghostnet_050", "mnasnet_small", "fbnetc_100", "tinynet_e", "hardcorenas_a", "lcnet_035", "mobilevit_xxs",
        "mobilevitv2_050", "edgenext_xx_small", "poolformer_s12", "pit_ti_224", "levit_128s", "efficientformer_l1",
        "coat_lite_tiny", "convit_tiny", "xcit_nano_12_p16_224", "crossvit_tiny_240", "tf_efficientnetv2_b0",
        "dla46_c", "hrnet_w18_small", "res2net50_14w_8s", "seresnext26d_32x4d", "skresnet18", "repvgg_a0",
        "semnasnet_075", "spnasnet_100", "vovnet39a", "dpn48b", "darknet17", "cspresnet50", "nfnet_l0",
        "visformer_tiny", "swinv2_cr_tiny_ns_224", "volo_d1_224", "twins_svt_small", "tnt_s_legacy_patch16_224",
        "rexnet_100",
    )  # fmt: skip

    def maker(name: str) -> Any:
        def make() -> Any:
            model = timm.create_model(name, pretrained=False)
            size = model.default_cfg["input_size"][-1]
            fixed = any(p in name for p in ("224", "240", "vit", "levit", "former", "coat"))
            return model, (torch.rand(1, 3, size if fixed else 96, size if fixed else 96),)

        return make

    return {f"timm/{name}": maker(name) for name in names if timm.is_model(name)}


def hugging_face_models() -> dict[str, Any]:
    """Return makers of models of `transformers` with small random configurations."""
    import transformers as t

    heads = {"num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "hidden_size": 32}
    small = {**heads, "vocab_size": 99}
    grouped = {**small, "num_key_value_heads": 2, "use_cache": False}
    patches = {"image_size": 32, "patch_size": 8}
    ids, image = torch.randint(0, 99, (2, 11)), torch.rand(1, 3, 32, 32)
    t5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 99, "use_cache": False}
    whisper = t.WhisperConfig(
        d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=99, num_mel_bins=8, max_source_positions=20,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    clip = t.CLIPConfig(
        text_config={**small, "eos_token_id": 98}, vision_config={**small, **patches}, projection_dim=16
    )  # fmt: skip
    distilled = t.DistilBertConfig(dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=99)
    gpt2 = t.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=99, use_cache=False)
    mamba = t.MambaConfig(hidden_size=32, num_hidden_layers=2, vocab_size=99, state_size=4, use_cache=False)
    text, both = {"input_ids": ids}, {"input_ids": ids, "decoder_input_ids": ids[:, :5]}
    sound = {"input_features": torch.rand(1, 8, 40), "decoder_input_ids": ids[:1, :5], "use_cache": False}
    cases: dict[str, Any] = {
        "bert": (t.BertModel, t.BertConfig(**small), text),
        "roberta": (t.RobertaModel, t.RobertaConfig(**small), text),
        "distilbert": (t.DistilBertModel, distilled, text),
        "gpt2": (t.GPT2LMHeadModel, gpt2, text),
        "llama": (t.LlamaForCausalLM, t.LlamaConfig(**grouped), text),
        "mistral": (t.MistralForCausalLM, t.MistralConfig(**grouped), text),
        "qwen2": (t.Qwen2ForCausalLM, t.Qwen2Config(**grouped), text),
        "gpt_neox": (t.GPTNeoXForCausalLM, t.GPTNeoXConfig(**small, use_cache=False), text),
        "t5": (t.T5Model, t.T5Config(**t5), both),
        "vit": (t.ViTModel, t.ViTConfig(**heads, **patches), {"pixel_values": image}),
        "whisper": (t.WhisperModel, whisper, sound),
        "clip": (t.CLIPModel, clip, {"input_ids": ids[:1], "pixel_values": image}),
        "mamba": (t.MambaModel, mamba, text),
    }

    def maker(kind: Any, config: Any, named: Any) -> Any:
        return lambda: (kind(config), named)

    return {f"hf/{name}": maker(*case) for name, case in cases.items()}


def difference(model: torch.nn.Module, given: Any, **options: Any) -> tuple[float, tuple[str, ...]]:
    """Return the largest difference, in units of the largest value, and the remarks on ops that PyTorch runs."""
    if hasattr(model, "config"):
        model.config.return_dict = True
    model = model.eval()
    args, named = ((), given) if isinstance(given, dict) else (given, {})
    with torch.no_grad():
        made = from_torch(model, args, named, **options)
        found = torch.utils._pytree.tree_leaves(made(*args, **named))
        wanted = torch.utils._pytree.tree_leaves(model(*args, **named))
    worst = 0.0
    for a, b in zip(found, wanted, strict=True):
        if isinstance(b, torch.Tensor) and b.numel():
            unlike = not torch.equal(torch.isfinite(a), torch.isfinite(b)) or not bool(torch.isfinite(b).any())
            away = torch.nan_to_num(a - b, nan=0.0).abs().max() / torch.nan_to_num(b).abs().max().clamp_min(1e-30)
            worst = max(worst, math.inf if unlike else float(away))
    return worst, made.remarks


def main(names: list[str]) -> None:
    """Print one line for each network."""
    warnings.simplefilter("ignore")
    makers: dict[str, Any] = {}
    for group in (torchvision_models, timm_models, hugging_face_models):
        try:
            makers |= group()
        except ImportError as error:
            print(f"{group.__name__}: {error}")
    good = 0
    chosen = [n for n in makers if not names or any(n.startswith(p) for p in names)]
    for name in chosen:
        torch.manual_seed(0)
        start = time.process_time()
        try:
            worst, remarks = difference(*makers[name]())
        except Exception as error:
            print(f"{name}: FAILS {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        good += worst <= 1e-4
        spent, verdict = time.process_time() - start, "" if worst <= 1e-4 else "DIFFERS"
        print(f"{name}: {worst:.1e} {verdict} {spent:.0f} s {remarks[:2]}", flush=True)
    print(f"{good} of {len(chosen)} within 1e-4")


if __name__ == "__main__":
    main(sys.argv[1:])
