"""Networks that others wrote, with random weights: torchvision, timm, classes of Hugging Face.

`TABLE` has one line for each network: its name, and a maker of a module with its example inputs.  Images and widths
are as small as the network takes.  A package that is missing is found when a maker runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch_transformers import CLASSES


class Network(NamedTuple):
    """A module and the arguments of its call, by position and by name."""

    module: torch.nn.Module
    args: tuple[Any, ...] = ()
    named: dict[str, Any] = {}


Maker = Callable[[], Network]
_library: list[Any] = []


def models() -> Any:
    """Return `torchvision.models`, also of a build that cannot load its own ops of C."""
    try:
        import torchvision
    except RuntimeError:  # its own ops are for another build of PyTorch
        _library.append(torch.library.Library("torchvision", "FRAGMENT"))
        for name in ("nms", "qnms"):
            _library[0].define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        import torchvision
    return torchvision.models


# --- torchvision


def _image(name: str, size: int, batch: int = 2) -> Maker:
    def make() -> Network:
        resized = {"image_size": size} if name.startswith("vit") else {}
        module = models().get_model(name, weights=None, **resized)
        return Network(module, (torch.rand(batch, 3, size, size),))

    return make


def _segmentation(name: str) -> Maker:
    return lambda: Network(
        getattr(models().segmentation, name)(weights=None, weights_backbone=None), (torch.rand(1, 3, 64, 64),)
    )


def _video(name: str, frames: int, size: int) -> Maker:
    return lambda: Network(getattr(models().video, name)(weights=None), (torch.rand(1, 3, frames, size, size),))


class Detector(torch.nn.Module):
    """A detector up to its custom ops: backbone, and the heads whose boxes are then decoded and suppressed."""

    def __init__(self, detector: torch.nn.Module) -> None:
        super().__init__()
        self.backbone = detector.backbone
        self.head = detector.rpn.head if hasattr(detector, "rpn") else detector.head

    def forward(self, x: torch.Tensor) -> Any:
        features = self.backbone(x)
        return self.head(list(features.values()) if isinstance(features, dict) else [features])


class RegionHeads(torch.nn.Module):
    """The heads of a detector on regions that are cut out already: classes, boxes, masks or keypoints."""

    def __init__(self, heads: torch.nn.Module) -> None:
        super().__init__()
        self.heads = heads
        kind = "keypoint" if heads.has_keypoint() else "mask"
        self.fine = torch.nn.Sequential(*(getattr(heads, f"{kind}_{part}") for part in ("head", "predictor")))

    def forward(self, regions: torch.Tensor, large: torch.Tensor) -> Any:
        return *self.heads.box_predictor(self.heads.box_head(regions)), self.fine(large)


def _detector(name: str, size: int = 96) -> Maker:
    return lambda: Network(
        Detector(getattr(models().detection, name)(weights=None, weights_backbone=None)),
        (torch.rand(1, 3, size, size),),
    )  # fmt: skip


def _regions(name: str) -> Maker:
    def make() -> Network:
        detector = getattr(models().detection, name)(weights=None, weights_backbone=None)
        return Network(RegionHeads(detector.roi_heads), (torch.rand(3, 256, 7, 7), torch.rand(3, 256, 14, 14)))

    return make


def _flow() -> Network:
    return Network(
        models().optical_flow.raft_small(weights=None), (torch.rand(1, 3, 128, 128),) * 2, {"num_flow_updates": 2}
    )


_IMAGES = {
    64: (
        "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_b1", "efficientnet_v2_s",
        "googlenet", "mnasnet0_5", "mnasnet1_0", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small",
        "regnet_x_400mf", "regnet_y_400mf", "regnet_y_1_6gf", "resnet18", "resnet34", "resnet50", "resnet101",
        "resnext50_32x4d", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "squeezenet1_0", "squeezenet1_1", "swin_t",
        "swin_v2_t", "vgg11", "vgg11_bn", "vgg16", "vit_b_16", "vit_b_32", "wide_resnet50_2",
    ),
    224: ("maxvit_t",), 299: ("inception_v3",),
}  # fmt: skip
_SEGMENTATION = ("deeplabv3_mobilenet_v3_large", "deeplabv3_resnet50", "fcn_resnet50", "lraspp_mobilenet_v3_large")
_DETECTION = (
    "fasterrcnn_mobilenet_v3_large_fpn", "fasterrcnn_resnet50_fpn", "fasterrcnn_resnet50_fpn_v2", "fcos_resnet50_fpn",
    "retinanet_resnet50_fpn", "retinanet_resnet50_fpn_v2", "ssd300_vgg16", "ssdlite320_mobilenet_v3_large",
)  # fmt: skip
_VIDEO = {"mc3_18": (4, 32), "r2plus1d_18": (4, 32), "r3d_18": (4, 32), "swin3d_t": (4, 64)}
TORCHVISION: dict[str, Maker] = {
    **{name: _image(name, size, 1 if size > 64 else 2) for size, names in _IMAGES.items() for name in names},
    **{f"segmentation.{name}": _segmentation(name) for name in _SEGMENTATION},
    **{f"detection.{name}": _detector(name, 300 if name == "ssd300_vgg16" else 96) for name in _DETECTION},
    **{f"detection.{n}.roi_heads": _regions(n) for n in ("keypointrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn_v2")},
    **{f"video.{name}": _video(name, *sizes) for name, sizes in _VIDEO.items()},
    "optical_flow.raft_small": _flow,
}

# --- timm


def _timm(name: str, size: int) -> Maker:
    def make() -> Network:
        models()
        import timm

        return Network(timm.create_model(name, pretrained=False), (torch.rand(1, 3, size, size),))

    return make


_TIMM = {
    64: (
        "resnet10t", "efficientnet_lite0", "mobilenetv3_small_050", "convnext_atto", "regnetx_002", "regnety_002",
        "ghostnet_050", "mnasnet_small", "fbnetc_100", "tinynet_e", "hardcorenas_a", "lcnet_035", "mobilevit_xxs",
        "mobilevitv2_050", "edgenext_xx_small", "poolformer_s12", "tf_efficientnetv2_b0", "dla46_c", "hrnet_w18_small",
        "res2net50_14w_8s", "seresnext26d_32x4d", "skresnet18", "repvgg_a0", "semnasnet_075", "spnasnet_100",
        "vovnet39a", "dpn48b", "cspresnet50", "rexnet_100", "mobilenetv4_conv_small", "fastvit_t8", "repghostnet_050",
        "resnetaa50", "eca_resnet33ts", "selecsls42", "gernet_s", "xception41", "inception_v4", "efficientvit_b0",
        "starnet_s1", "convnextv2_atto", "mobileone_s0", "resnest14d", "bat_resnext26ts", "lambda_resnet26t",
        "halonet26t", "ghostnetv2_100", "mixnet_s", "repvit_m0_9", "mambaout_femto",
        "ese_vovnet19b_dw", "nf_regnet_b0", "cs3darknet_s", "hgnetv2_b0",
        "legacy_seresnet18", "swiftformer_xs", "rdnet_tiny", "nextvit_small",
        "fasternet_t0", "gcresnet33ts", "regnetz_005", "resnetblur18", "caformer_s18", "test_nfnet", "test_byobnet",
        "efficientvim_m1", "lowformer_b0", "iformer_s", "lcnetv2_small", "resnetv2_18", "cspnext_s",
    ),
    224: (
        "vit_tiny_patch16_224", "deit_tiny_patch16_224", "mixer_s32_224", "gmlp_ti16_224", "resmlp_12_224",
        "pit_ti_224", "levit_128s", "efficientformer_l1", "coat_lite_tiny", "convit_tiny", "xcit_nano_12_p16_224",
        "visformer_tiny", "swinv2_cr_tiny_ns_224", "twins_svt_small", "tnt_s_legacy_patch16_224", "nfnet_l0",
        "cait_xxs24_224", "pvt_v2_b0", "gcvit_xxtiny", "maxxvit_rmlp_nano_rw_256", "coatnet_nano_rw_224", "mvitv2_tiny",
        "davit_tiny", "focalnet_tiny_srf", "sequencer2d_s", "nest_tiny", "hiera_tiny_224",
        "vit_relpos_small_patch16_224", "eva02_tiny_patch14_224", "beit_base_patch16_224", "efficientvit_m0",
        "tiny_vit_5m_224", "inception_next_atto", "volo_d1_224", "coat_tiny", "efficientformerv2_s0", "shvit_s1",
        "swin_s3_tiny_224", "vitamin_small_224", "botnet26t_256", "hieradet_small", "swinv2_tiny_window8_256",
    ),
    240: ("crossvit_tiny_240",),
}  # fmt: skip
TIMM: dict[str, Maker] = {
    f"timm.{name}": _timm(name, 256 if "256" in name else size) for size, names in _TIMM.items() for name in names
}

# --- Hugging Face


def _with_codes(module: torch.nn.Module, named: dict[str, Any]) -> torch.nn.Module:
    """Return an audio codec whose codes are frames of its input, as training leaves them, so that frames differ."""
    with torch.no_grad():
        frames = module.eval().encoder(named["input_values"])[0].T
        for layer in module.quantizer.layers:
            layer.codebook.embed.copy_(frames[: len(layer.codebook.embed)])
    return module


def _hugging_face(name: str, kind: str, sizes: dict[str, Any], given: Callable[[], dict[str, Any]]) -> Maker:
    def make() -> Network:
        models()
        import transformers as t

        config = getattr(t, f"{name}Config")(**sizes)
        config.return_dict = True
        module, named = getattr(t, f"{name}{kind}")(config), given()
        return Network(_with_codes(module, named) if name == "Encodec" else module, (), named)

    return make


TABLE: dict[str, Maker] = {
    **{f"torchvision.{name}": make for name, make in TORCHVISION.items()},
    **TIMM,
    **{f"transformers.{name}{case[0]}": _hugging_face(name, *case) for name, case in CLASSES.items()},
}
"""Every network by name: package, part, model."""
