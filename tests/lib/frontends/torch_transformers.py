"""Model classes of Hugging Face: for each its kind, the sizes of a small random configuration, and example inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Case = tuple[str, dict[str, Any], Callable[[], dict[str, Any]]]
"""The end of a class's name, the arguments of its configuration, and a maker of its inputs."""

_HEADS = {"num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "hidden_size": 32}
_SMALL = {**_HEADS, "vocab_size": 99, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
_GROUPED = {**_SMALL, "num_key_value_heads": 2, "use_cache": False, "head_dim": 8}
_PATCHES = {"image_size": 32, "patch_size": 8}
_T5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 99, "use_cache": False}
_TWO = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "vocab_size": 99, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2, "decoder_start_token_id": 1, "use_cache": False,
}  # fmt: skip
_WORDS = {k: v for k, v in _SMALL.items() if k not in ("bos_token_id", "eos_token_id")}
_SOUND = {
    **_HEADS, "conv_dim": (16, 16), "conv_stride": (5, 2), "conv_kernel": (10, 3), "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2, "vocab_size": 99, "mask_time_prob": 0.0,
}  # fmt: skip
_CLIP = {
    "text_config": {**_SMALL, "eos_token_id": 98}, "vision_config": {**_HEADS, **_PATCHES}, "projection_dim": 16,
}  # fmt: skip


def _ids(batch: int = 2, length: int = 11) -> torch.Tensor:
    return torch.randint(3, 98, (batch, length))


def _words() -> dict[str, Any]:
    return {"input_ids": _ids()}


def _masked() -> dict[str, Any]:
    mask = torch.ones(2, 11, dtype=torch.long)
    mask[1, 7:] = 0
    return {"input_ids": _ids(), "attention_mask": mask}


def _pair() -> dict[str, Any]:
    return {"input_ids": _ids(), "decoder_input_ids": _ids(2, 5)}


def _picture(size: int = 32) -> Callable[[], dict[str, Any]]:
    return lambda: {"pixel_values": torch.rand(1, 3, size, size)}


def _wave() -> dict[str, Any]:
    return {"input_values": torch.rand(1, 800)}


GENERAL: dict[str, Case] = {
    "Bert": ("Model", _SMALL, _masked),
    "Roberta": ("Model", _SMALL, _words),
    "Albert": ("Model", {**_SMALL, "embedding_size": 16}, _words),
    "DistilBert": ("Model", {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "vocab_size": 99}, _words),
    "Electra": ("Model", {**_SMALL, "embedding_size": 16}, _words),
    "MobileBert": (
        "Model",
        {**_SMALL, "embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16},
        _words,
    ),
    "SqueezeBert": ("Model", {**_SMALL, "embedding_size": 32, "q_groups": 2, "k_groups": 2, "v_groups": 2}, _words),
    "DebertaV2": ("Model", {**_SMALL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}, _words),
    "MPNet": ("Model", _WORDS, _words),
    "FNet": ("Model", {**_WORDS, "use_tpu_fourier_optimizations": False}, _words),
    "XLNet": ("Model", {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64, "vocab_size": 99}, _words),
    "ModernBert": ("Model", {**_SMALL, "cls_token_id": 1, "sep_token_id": 2}, _words),
    "RoFormer": ("Model", _SMALL, _words),
    "Nystromformer": (
        "Model",
        {
            **_SMALL,
            "num_landmarks": 11,
            "segment_means_seq_len": 11,
            "max_position_embeddings": 20,
            "conv_kernel_size": 3,
        },
        _words,
    ),
    "Canine": (
        "Model",
        {**_HEADS, "local_transformer_stride": 8, "downsampling_rate": 4, "num_hash_buckets": 64},
        lambda: {"input_ids": _ids(1, 32)},
    ),
    "GPT2": ("LMHeadModel", {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99, "use_cache": False}, _masked),
    "GPTNeo": (
        "ForCausalLM",
        {
            "hidden_size": 32,
            "num_layers": 2,
            "num_heads": 4,
            "vocab_size": 99,
            "use_cache": False,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 4,
        },
        _words,
    ),
    "GPTNeoX": ("ForCausalLM", {**_SMALL, "use_cache": False}, _words),
    "GPTJ": (
        "ForCausalLM",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "vocab_size": 99, "use_cache": False},
        _words,
    ),
    "OPT": (
        "ForCausalLM",
        {**_HEADS, "ffn_dim": 64, "word_embed_proj_dim": 32, "vocab_size": 99, "use_cache": False},
        _words,
    ),
    "Bloom": (
        "ForCausalLM",
        {"hidden_size": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99, "use_cache": False},
        _words,
    ),
    "Falcon": ("ForCausalLM", {**_SMALL, "use_cache": False}, _words),
    "CodeGen": (
        "ForCausalLM",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "vocab_size": 99, "use_cache": False},
        _words,
    ),
    "Llama": ("ForCausalLM", _GROUPED, _masked),
    "Mistral": ("ForCausalLM", {**_GROUPED, "sliding_window": 4}, _words),
    "Qwen2": ("ForCausalLM", _GROUPED, _words),
    "Qwen3": ("ForCausalLM", _GROUPED, _words),
    "Gemma": ("ForCausalLM", _GROUPED, _words),
    "Gemma2": ("ForCausalLM", {**_GROUPED, "sliding_window": 4}, _words),
    "Phi": ("ForCausalLM", {**_SMALL, "use_cache": False}, _words),
    "Phi3": ("ForCausalLM", {**_GROUPED, "max_position_embeddings": 64}, _words),
    "StableLm": ("ForCausalLM", {**_SMALL, "num_key_value_heads": 4, "use_cache": False}, _words),
    "Olmo": ("ForCausalLM", {**_SMALL, "use_cache": False}, _words),
    "Granite": ("ForCausalLM", _GROUPED, _words),
    "Cohere": ("ForCausalLM", _GROUPED, _words),
    "Mixtral": ("ForCausalLM", {**_GROUPED, "num_local_experts": 4}, _words),
    "Mamba": (
        "Model",
        {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 99, "state_size": 4, "use_cache": False},
        _words,
    ),
    "Mamba2": (
        "Model",
        {
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "vocab_size": 99,
            "state_size": 8,
            "head_dim": 8,
            "num_heads": 8,
            "n_groups": 1,
            "chunk_size": 8,
            "use_cache": False,
        },
        _words,
    ),
    "Rwkv": ("Model", {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 99, "use_cache": False}, _words),
    "T5": ("Model", _T5, _pair),
    "UMT5": ("Model", _T5, _pair),
    "Bart": ("Model", _TWO, _pair),
    "Marian": ("Model", _TWO, _pair),
    "Pegasus": ("Model", _TWO, _pair),
    "M2M100": ("Model", _TWO, _pair),
    "Blenderbot": ("Model", _TWO, _pair),
    "Whisper": (
        "Model",
        {**_TWO, "num_mel_bins": 8, "max_source_positions": 20},
        lambda: {"input_features": torch.rand(1, 8, 40), "decoder_input_ids": _ids(1, 5)},
    ),
    "Wav2Vec2": ("Model", _SOUND, _wave),
    "Hubert": ("Model", _SOUND, _wave),
    "WavLM": ("Model", _SOUND, _wave),
    "AST": (
        "Model",
        {**_HEADS, "num_mel_bins": 16, "max_length": 32, "patch_size": 8},
        lambda: {"input_values": torch.rand(1, 32, 16)},
    ),
    "ViT": ("Model", {**_HEADS, **_PATCHES}, _picture()),
    "DeiT": ("Model", {**_HEADS, **_PATCHES}, _picture()),
    "Beit": ("Model", {**_HEADS, **_PATCHES, "use_relative_position_bias": True}, _picture()),
    "Dinov2": ("Model", {**_HEADS, **_PATCHES}, _picture()),
    "ViTMAE": (
        "Model",
        {**_HEADS, **_PATCHES, "mask_ratio": 0.0},
        lambda: {**_picture()(), "noise": torch.rand(1, 16)},
    ),
    "Swin": (
        "Model",
        {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "window_size": 4},
        _picture(),
    ),
    "ConvNext": ("Model", {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}, _picture()),
    "ResNet": ("Model", {"embedding_size": 8, "hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}, _picture()),
    "Segformer": (
        "Model",
        {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 2, 4]},
        _picture(),
    ),
    "MobileViT": (
        "Model",
        {"image_size": 32, "hidden_sizes": [16, 24, 32], "neck_hidden_sizes": [8, 8, 16, 16, 16, 24, 32]},
        _picture(64),
    ),
    "PoolFormer": ("Model", {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}, _picture(64)),
    "DPT": (
        "ForDepthEstimation",
        {
            **_HEADS,
            **_PATCHES,
            "num_hidden_layers": 4,
            "backbone_out_indices": [0, 1, 2, 3],
            "neck_hidden_sizes": [8, 8, 16, 16],
            "fusion_hidden_size": 16,
            "is_hybrid": False,
        },
        _picture(),
    ),
    "Perceiver": (
        "Model",
        {
            "num_latents": 8,
            "d_latents": 16,
            "d_model": 32,
            "num_blocks": 1,
            "num_self_attends_per_block": 2,
            "num_self_attention_heads": 4,
            "num_cross_attention_heads": 4,
        },
        lambda: {"inputs": torch.rand(1, 6, 32)},
    ),
    "CLIP": ("Model", _CLIP, lambda: {"input_ids": _ids(1), **_picture()()}),
    "Siglip": (
        "Model",
        {k: v for k, v in _CLIP.items() if k != "projection_dim"},
        lambda: {"input_ids": _ids(1), **_picture()()},
    ),
    "PatchTST": (
        "Model",
        {
            "d_model": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "context_length": 32,
            "patch_length": 8,
            "patch_stride": 8,
            "num_input_channels": 2,
        },
        lambda: {"past_values": torch.rand(1, 32, 2)},
    ),
    "Encodec": (
        "Model",
        {"num_filters": 4, "hidden_size": 16, "codebook_size": 32, "codebook_dim": 16, "upsampling_ratios": [4, 2]},
        lambda: {"input_values": torch.rand(1, 1, 400)},
    ),
}


_EXPERTS = {**_GROUPED, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
_DEEP = {
    **_SMALL, "use_cache": False, "num_key_value_heads": 4, "n_routed_experts": 4, "num_experts_per_tok": 2,
    "moe_intermediate_size": 16, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4,
    "v_head_dim": 8, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1,
}  # fmt: skip
_BLOCKS = {"d_model": 32, "n_layers": 2, "n_heads": 4, "vocab_size": 99, "use_cache": False}
_HEADED = {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99, "use_cache": False}
_ATTENTION = {"d_model": 32, "num_layers": 2, "attention_heads": 4, "vocab_size": 99, "use_cache": False}
_MIXED = {
    **_SMALL, "use_cache": False, "num_key_value_heads": 2, "num_experts": 2, "attn_layer_period": 2,
    "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1, "use_mamba_kernels": False,
    "mamba_d_state": 4,
}  # fmt: skip
LANGUAGE: dict[str, Case] = {
    "Gemma3Text": ("Model", {**_GROUPED, "sliding_window": 4}, _words),
    "Qwen2Moe": ("ForCausalLM", {**_EXPERTS, "shared_expert_intermediate_size": 16}, _words),
    "Qwen3Moe": ("ForCausalLM", _EXPERTS, _words),
    "Olmo2": ("ForCausalLM", {**_SMALL, "use_cache": False}, _words),
    "Olmoe": (
        "ForCausalLM",
        {**_SMALL, "use_cache": False, "num_experts": 4, "num_experts_per_tok": 2, "num_key_value_heads": 4},
        _words,
    ),
    "Cohere2": ("ForCausalLM", {**_GROUPED, "sliding_window": 4}, _words),
    "Starcoder2": ("ForCausalLM", _GROUPED, _words),
    "Helium": ("ForCausalLM", _GROUPED, _words),
    "Nemotron": ("ForCausalLM", _GROUPED, _words),
    "GPTBigCode": ("ForCausalLM", _HEADED, _words),
    "Mpt": ("ForCausalLM", _BLOCKS, _words),
    "BioGpt": ("ForCausalLM", {**_SMALL, "use_cache": False}, _words),
    "XGLM": ("ForCausalLM", {**_ATTENTION, "ffn_dim": 64}, _words),
    "DeepseekV2": ("ForCausalLM", _DEEP, _words),
    "DeepseekV3": ("ForCausalLM", _DEEP, _words),
    "Jamba": ("ForCausalLM", _MIXED, _words),
    "FalconMamba": (
        "Model",
        {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 99, "state_size": 4, "use_cache": False},
        _words,
    ),
    "Lfm2": ("ForCausalLM", {**_GROUPED, "layer_types": ["conv", "full_attention"]}, _words),
    "Glm": ("ForCausalLM", {**_GROUPED, "partial_rotary_factor": 0.5}, _words),
    "SmolLM3": ("ForCausalLM", _GROUPED, _words),
    "Persimmon": ("ForCausalLM", {**_SMALL, "use_cache": False}, _words),
    "GptOss": (
        "ForCausalLM",
        {**_GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 4},
        _words,
    ),
    "Glm4": ("ForCausalLM", {**_GROUPED, "partial_rotary_factor": 0.5}, _words),
}
"""Language models of the last years."""

LONG: dict[str, Case] = {
    "Longformer": ("Model", {**_SMALL, "attention_window": 4}, _masked),
    "LED": ("Model", {**_TWO, "attention_window": 4}, _pair),
    "BigBird": ("Model", {**_SMALL, "attention_type": "original_full"}, _words),
    "Funnel": (
        "Model",
        {"d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 64, "block_sizes": [1, 1], "vocab_size": 99},
        _words,
    ),
    "Deberta": (
        "Model",
        {**_SMALL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "max_relative_positions": 16},
        _words,
    ),
    "IBert": ("Model", _SMALL, _words),
    "Reformer": (
        "Model",
        {
            **_SMALL, "attn_layers": ["local"], "attention_head_size": 8, "feed_forward_size": 64, "is_decoder": True,
            "axial_pos_embds": False, "local_attn_chunk_length": 4, "max_position_embeddings": 64, "use_cache": False,
        },
        lambda: {"input_ids": _ids(2, 12)},
    ),
    "MiniMax": (
        "ForCausalLM",
        {
            **_GROUPED, "num_local_experts": 4, "block_size": 4,
            "layer_types": ["linear_attention", "full_attention"],
        },
        _words,
    ),
    "GLPN": (
        "ForDepthEstimation",
        {
            "hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 2, 4],
            "decoder_hidden_size": 16,
        },
        _picture(64),
    ),
    "FocalNet": (
        "Model", {"image_size": 32, "embed_dim": 8, "depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 32, 64]},
        _picture(64),
    ),
    "ConvBert": ("Model", {**_SMALL, "embedding_size": 16}, _words),
    "Esm": ("Model", {**_SMALL, "position_embedding_type": "rotary", "mask_token_id": 4}, _words),
}
"""Attention in windows, pooled, relative, linear, or mixed with convolutions."""

_FFN = {"encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "vocab_size": 99, "use_cache": False}
_SERIES = {
    "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "use_cache": False,
    "prediction_length": 4, "context_length": 8, "lags_sequence": [1, 2], "num_time_features": 1,
}  # fmt: skip


def _hours() -> dict[str, Any]:
    past, future = torch.rand(2, 10), torch.rand(2, 4)
    return {
        "past_values": past, "past_time_features": torch.rand(2, 10, 1), "past_observed_mask": torch.ones(2, 10),
        "future_values": future, "future_time_features": torch.rand(2, 4, 1),
    }  # fmt: skip


LATER: dict[str, Case] = {
    "OpenAIGPT": ("LMHeadModel", {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99}, _words),
    "CTRL": ("LMHeadModel", {**_HEADED, "dff": 64}, _words),
    "XLM": (
        "Model", {"emb_dim": 32, "n_layers": 2, "n_heads": 4, "vocab_size": 99, "max_position_embeddings": 64}, _masked,
    ),
    "RecurrentGemma": (
        "ForCausalLM",
        {**_GROUPED, "lru_width": 32, "attention_window_size": 8, "block_types": ["recurrent", "attention"]},
        _words,
    ),
    "Qwen3Next": (
        "ForCausalLM",
        {
            **_EXPERTS, "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2,
            "linear_num_value_heads": 4, "linear_conv_kernel_dim": 4, "shared_expert_intermediate_size": 16,
            "layer_types": ["linear_attention", "full_attention"],
        },
        _words,
    ),
    "xLSTM": (
        "ForCausalLM",
        {
            "hidden_size": 32, "num_hidden_layers": 2, "num_blocks": 2, "num_heads": 2, "vocab_size": 99,
            "use_cache": False, "chunk_size": 8,
        },
        lambda: {"input_ids": _ids(2, 16)},
    ),
    "DiffLlama": ("ForCausalLM", _GROUPED, _masked),
    "ProphetNet": (
        "Model",
        {
            **_FFN, "hidden_size": 32, "num_encoder_layers": 2, "num_decoder_layers": 2, "ngram": 2,
            "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4, "max_position_embeddings": 64,
        },
        _pair,
    ),
    "Yoso": ("Model", _SMALL, _words),
    "Mra": ("Model", {**_SMALL, "max_position_embeddings": 64}, lambda: {"input_ids": _ids(1, 32)}),
    "Wav2Vec2Conformer": (
        "Model", {**_SOUND, "position_embeddings_type": "relative", "conv_depthwise_kernel_size": 7}, _wave,
    ),
    "Moonshine": (
        "Model",
        {
            "hidden_size": 32, "intermediate_size": 64, "encoder_num_hidden_layers": 2, "decoder_num_hidden_layers": 2,
            "encoder_num_attention_heads": 4, "decoder_num_attention_heads": 4, "vocab_size": 99, "use_cache": False,
            "pad_token_id": 0,
        },
        lambda: {"input_values": torch.rand(1, 4000), "decoder_input_ids": _ids(1, 5)},
    ),
    "UnivNet": (
        "Model",
        {
            "model_in_channels": 8, "model_hidden_channels": 8, "num_mel_bins": 10, "resblock_kernel_sizes": [3, 3],
            "resblock_stride_sizes": [4, 4], "resblock_dilation_sizes": [[1, 3], [1, 3]],
            "kernel_predictor_hidden_channels": 8, "kernel_predictor_num_blocks": 2,
        },
        lambda: {"input_features": torch.rand(1, 7, 10), "noise_sequence": torch.rand(1, 7, 8)},
    ),
    "Vits": (
        "Model",
        {
            **_SMALL, "ffn_dim": 64, "flow_size": 16, "spectrogram_bins": 9, "window_size": 2,
            "prior_encoder_num_flows": 2, "prior_encoder_num_wavenet_layers": 2, "upsample_initial_channel": 16,
            "upsample_rates": [4, 2], "upsample_kernel_sizes": [8, 4], "resblock_kernel_sizes": [3],
            "resblock_dilation_sizes": [[1, 3]], "duration_predictor_filter_channels": 16,
            "depth_separable_channels": 2, "use_stochastic_duration_prediction": False, "noise_scale": 0.0,
        },
        lambda: {"input_ids": _ids(1)},
    ),
    "Dac": (
        "Model",
        {
            "encoder_hidden_size": 8, "downsampling_ratios": [2, 4], "decoder_hidden_size": 32, "n_codebooks": 2,
            "codebook_size": 16, "codebook_dim": 4, "hidden_size": 32, "upsampling_ratios": [4, 2],
        },
        lambda: {"input_values": torch.rand(1, 1, 320)},
    ),
    "TimesFm": (
        "ModelForPrediction",
        {
            **_HEADS, "head_dim": 8, "patch_length": 8, "context_length": 32, "horizon_length": 16,
            "quantiles": [0.1, 0.5, 0.9],
        },
        lambda: {"past_values": torch.rand(2, 32)},
    ),
    "Autoformer": ("Model", {**_SERIES, "label_length": 4, "moving_average": 3}, _hours),
    "Sam": (
        "Model",
        {
            "vision_config": {
                "hidden_size": 16, "output_channels": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
                "image_size": 32, "patch_size": 4, "mlp_dim": 32, "global_attn_indexes": [1], "window_size": 3,
                "num_pos_feats": 4,
            },
            "prompt_encoder_config": {"hidden_size": 8, "image_size": 32, "patch_size": 4, "mask_input_channels": 4},
            "mask_decoder_config": {
                "hidden_size": 8, "mlp_dim": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
                "iou_head_hidden_dim": 8,
            },
        },
        lambda: {
            **_picture()(), "input_points": torch.rand(1, 1, 2, 2) * 32,
            "input_labels": torch.ones(1, 1, 2, dtype=torch.long),
        },
    ),
    "GroupViT": (
        "Model",
        {
            "text_config": {**_SMALL, "eos_token_id": 98},
            "vision_config": {
                **_HEADS, **_PATCHES, "depths": [1, 1, 1], "num_group_tokens": [4, 2, 0],
                "num_output_groups": [4, 2, 2], "num_hidden_layers": 3,
            },
            "projection_dim": 16, "projection_intermediate_dim": 32,
        },
        lambda: {"input_ids": _ids(1), **_picture()()},
    ),
}
"""Recurrent, linear and differential attention; sound, time series, segmentation."""

CLASSES = GENERAL | LANGUAGE | LONG | LATER
"""Every class by the beginning of its name."""
