"""Functions of `T.nn` beside those of torch.nn.functional, with drawn arguments.

    CASES[name] = Case(draw, ours, torchs)

`draw(rng)` gives arrays and options; `ours(*variables, **options)` and `torchs(*tensors, **options)` the same results.
torch is imported where a case runs it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from arignote import ops as T


class Case(NamedTuple):
    draw: Callable[[np.random.Generator], tuple[list[np.ndarray], dict[str, Any]]]
    ours: Callable[..., Any]
    torchs: Callable[..., Any]
    differentiable: bool = True
    constants: tuple[int, ...] = ()
    """Operands by which torch has no derivative."""


CASES: dict[str, Case] = {}


def F():  # torch's usual name
    import torch.nn.functional as functional

    return functional


def _called(space, name, *values, **options):
    return getattr(space(), name)(*values, **options)


def case(name, draw, ours=None, torchs=None, differentiable=True, constants=()):
    ours = ours or functools.partial(_called, lambda: T.nn, name)
    torchs = torchs or functools.partial(_called, F, name)
    CASES[name] = Case(draw, ours, torchs, differentiable, constants)


def normal(rng, *shape):
    return rng.normal(size=shape)


def one_of(rng, *values):
    return values[int(rng.integers(len(values)))]


# --- activations

for _name in ("selu", "celu", "hardswish", "hardsigmoid", "mish", "softsign", "relu6", "hardtanh", "logsigmoid",
              "tanhshrink", "softshrink", "hardshrink", "silu", "elu"):  # fmt: skip
    case(_name, lambda rng: ([3 * normal(rng, 3, 5)], {}))
case("gelu", lambda rng: ([3 * normal(rng, 3, 5)], {"approximate": one_of(rng, "tanh", "none")}))
case("glu", lambda rng: ([normal(rng, 3, 4, 2)], {"axis": one_of(rng, 1, -1)}),
     torchs=lambda x, axis: F().glu(x, axis))  # fmt: skip
case("softmin", lambda rng: ([normal(rng, 3, 4)], {"axis": one_of(rng, 0, 1)}),
     torchs=lambda x, axis: F().softmin(x, axis))  # fmt: skip
case("prelu", lambda rng: ([normal(rng, 2, 3, 4), normal(rng, one_of(rng, 1, 3))], {}))
case("softplus", lambda rng: ([3 * normal(rng, 3, 4)], {"beta": one_of(rng, 0.5, 1.0, 2.0, -1.5),
                                                       "threshold": one_of(rng, 0.5, 20.0)}))  # fmt: skip
case("embedding", lambda rng: ([rng.integers(0, 5, (3, 4)), normal(rng, 5, 2)],
                               {"padding_idx": one_of(rng, None, 0, 4, -2)}))  # fmt: skip
case("threshold", lambda rng: ([normal(rng, 3, 4)], {"threshold": 0.1, "value": 2.0}))

# --- normalization

case("group_norm", lambda rng: ([normal(rng, 2, 6, 3, 2), normal(rng, 6), normal(rng, 6)],
                                {"num_groups": one_of(rng, 1, 2, 3, 6)}),
     lambda x, w, b, num_groups: T.nn.group_norm(x, num_groups, w, b),
     lambda x, w, b, num_groups: F().group_norm(x, num_groups, w, b))  # fmt: skip
case("instance_norm", lambda rng: ([normal(rng, 2, 3, 5, 2), normal(rng, 3), normal(rng, 3)], {}),
     lambda x, w, b: T.nn.instance_norm(x, weight=w, bias=b),
     lambda x, w, b: F().instance_norm(x, weight=w, bias=b))  # fmt: skip
case("instance_norm_running",
     lambda rng: ([normal(rng, 2, 3, 5), normal(rng, 3), rng.uniform(1, 2, 3), normal(rng, 3), normal(rng, 3)], {}),
     lambda x, m, v, w, b: T.nn.instance_norm(x, m, v, w, b, use_input_stats=False),
     lambda x, m, v, w, b: F().instance_norm(x, m, v, w, b, use_input_stats=False), constants=(1, 2))  # fmt: skip
case("rms_norm", lambda rng: ([normal(rng, 2, 3, 5), normal(rng, 5)], {"eps": one_of(rng, None, 1e-3)}),
     lambda x, w, eps: T.nn.rms_norm(x, w, -1, eps), lambda x, w, eps: F().rms_norm(x, (5,), w, eps))  # fmt: skip
case("local_response_norm", lambda rng: ([normal(rng, 2, 5, 3)], {"size": one_of(rng, 1, 2, 3, 4, 7), "alpha": 0.3}))
case("normalize", lambda rng: ([normal(rng, 3, 4)], {"p": one_of(rng, 1.0, 2.0, 3.0)}))

# --- convolutions


def _transposed(axes):
    def draw(rng):
        groups = one_of(rng, 1, 2)
        stride = [int(rng.integers(1, 4)) for _ in range(axes)]
        dilation = [int(rng.integers(1, 3)) for _ in range(axes)]
        kernel = [int(rng.integers(1, 4)) for _ in range(axes)]
        reach = [d * (k - 1) for d, k in zip(dilation, kernel)]
        padding = [int(rng.integers(0, r // 2 + 1)) for r in reach]
        extra = [int(rng.integers(0, max(s, d))) for s, d in zip(stride, dilation)]
        x = normal(rng, 2, 4, *(3 + axis for axis in range(axes)))
        return [x, normal(rng, 4, 3, *kernel), normal(rng, 3 * groups)], {
            "stride": stride, "padding": padding, "output_padding": extra, "groups": groups, "dilation": dilation,
        }  # fmt: skip

    return draw


def _same(rng):
    options = {"padding": "same", "dilation": one_of(rng, 1, 2)}
    return [normal(rng, 1, 2, 6, 7), normal(rng, 3, 2, *(int(n) for n in rng.integers(1, 4, 2)))], options


for _axes in (1, 2, 3):
    case(f"conv_transpose{_axes}d", _transposed(_axes))
case("conv2d", _same)

# --- pools


def _pool(axes, average):
    def draw(rng):
        kernel = [int(rng.integers(1, 4)) for _ in range(axes)]
        options = {
            "kernel_size": kernel, "stride": [int(rng.integers(1, 4)) for _ in range(axes)],
            "padding": [int(rng.integers(0, k // 2 + 1)) for k in kernel], "ceil_mode": bool(rng.integers(2)),
        }  # fmt: skip
        if average:
            options["count_include_pad"] = bool(rng.integers(2))
        else:
            options["dilation"] = int(rng.integers(1, 3))
        return [normal(rng, 1, 2, *(6 + axis for axis in range(axes)))], options

    return draw


def _ours_pool(name):
    return functools.partial(_pooled, name)


def _pooled(name, x, kernel_size, **options):
    return getattr(T.nn, name)(x, kernel_size, **options)


for _axes in (1, 2, 3):
    case(f"max_pool{_axes}d", _pool(_axes, False), _ours_pool(f"max_pool{_axes}d"))
    case(f"avg_pool{_axes}d", _pool(_axes, True), _ours_pool(f"avg_pool{_axes}d"))
    case(f"max_pool{_axes}d_indices", _pool(_axes, False),
         lambda x, kernel_size, name=f"max_pool{_axes}d", **o: getattr(T.nn, name)(
             x, kernel_size, return_indices=True, **o)[1],
         lambda x, name=f"max_pool{_axes}d", **o: getattr(F(), name)(x, return_indices=True, **o)[1],
         differentiable=False)  # fmt: skip
    for _kind in ("avg", "max"):
        case(f"adaptive_{_kind}_pool{_axes}d",
             lambda rng, axes=_axes: ([normal(rng, 1, 2, *(6 + axis for axis in range(axes)))],
                                      {"output_size": tuple(one_of(rng, 1, 2, 3, 4, 5) for _ in range(axes))}),
             torchs=lambda x, output_size, name=f"adaptive_{_kind}_pool{_axes}d": getattr(F(), name)(
                 x, output_size if len(output_size) > 1 else output_size[0]))  # fmt: skip
    case(f"adaptive_max_pool{_axes}d_indices",
         lambda rng, axes=_axes: ([normal(rng, 1, 2, *(5 + axis for axis in range(axes)))],
                                  {"output_size": tuple(one_of(rng, 1, 2, 3, 4) for _ in range(axes))}),
         lambda x, output_size, name=f"adaptive_max_pool{_axes}d": getattr(T.nn, name)(x, output_size, True)[1],
         lambda x, output_size, name=f"adaptive_max_pool{_axes}d": getattr(F(), name)(
             x, output_size if len(output_size) > 1 else output_size[0], return_indices=True)[1],
         differentiable=False)  # fmt: skip
    case(f"lp_pool{_axes}d", lambda rng, axes=_axes: (
             [rng.uniform(0.5, 2, (1, 2, *(5 + axis for axis in range(axes))))],
             {"norm_type": one_of(rng, 1.0, 2.0, 3.0), "kernel_size": 2, "stride": one_of(rng, 1, 2, 3),
              "ceil_mode": bool(rng.integers(2))}),
         lambda x, norm_type, kernel_size, name=f"lp_pool{_axes}d", **o: getattr(T.nn, name)(
             x, norm_type, kernel_size, **o))  # fmt: skip


def _unpool(axes):
    def draw(rng):
        x = normal(rng, 1, 2, *(2 + axis for axis in range(axes)))
        count = int(np.prod([2 * n for n in x.shape[2:]]))
        at = np.stack([rng.permutation(count)[: x[0, 0].size] for _ in range(2)])
        return [x, at.reshape(x.shape)], {"kernel_size": 2}

    return draw


for _axes in (1, 2, 3):
    case(f"max_unpool{_axes}d", _unpool(_axes), lambda x, at, kernel_size, name=f"max_unpool{_axes}d":
         getattr(T.nn, name)(x, at, kernel_size))  # fmt: skip

# --- patches and samples


def _patches(rng):
    return {"kernel_size": (int(rng.integers(1, 4)), int(rng.integers(1, 3))), "dilation": int(rng.integers(1, 3)),
            "padding": int(rng.integers(0, 2)), "stride": int(rng.integers(1, 3))}  # fmt: skip


def _fold(rng):
    options = _patches(rng)
    wide = [n + 2 * options["padding"] - options["dilation"] * (k - 1) - 1
            for n, k in zip((6, 7), options["kernel_size"])]  # fmt: skip
    count = int(np.prod([w // options["stride"] + 1 for w in wide]))
    return [normal(rng, 2, 3 * int(np.prod(options["kernel_size"])), count)], {"output_size": (6, 7), **options}


case("unfold", lambda rng: ([normal(rng, 2, 3, 6, 7)], _patches(rng)))
case("fold", _fold)
case("pixel_shuffle", lambda rng: ([normal(rng, 2, 8, 2, 3)], {"upscale_factor": one_of(rng, 1, 2)}))
case("pixel_unshuffle", lambda rng: ([normal(rng, 2, 3, 4, 6)], {"downscale_factor": one_of(rng, 1, 2)}))
case("channel_shuffle", lambda rng: ([normal(rng, 2, 6, 4, 1)], {"groups": one_of(rng, 1, 2, 3)}),
     torchs=lambda x, groups: __import__("torch").channel_shuffle(x, groups))  # fmt: skip


def _resize(rng):
    mode = one_of(rng, "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area")
    axes = {"linear": 1, "trilinear": 3}.get(mode, 2)
    options = {"mode": mode}
    if mode in ("linear", "bilinear", "trilinear", "bicubic"):
        options["align_corners"] = bool(rng.integers(2))
    if rng.integers(2):
        options["size"] = tuple(int(n) for n in rng.integers(1, 9, axes))
    else:
        options["scale_factor"] = tuple(float(n) for n in rng.uniform(0.5, 2.5, axes))
        if rng.integers(2):
            options["recompute_scale_factor"] = True
    if mode in ("bilinear", "bicubic") and not options["align_corners"] and rng.integers(2):
        options["antialias"] = True
    return [normal(rng, 1, 2, *(4 + axis for axis in range(axes)))], options


case("interpolate", _resize)


def _grid(rng):
    axes = one_of(rng, 2, 2, 3)
    modes = ("bilinear", "nearest", "bicubic") if axes == 2 else ("bilinear", "nearest")
    spots = tuple(int(n) for n in rng.integers(1, 4, axes))
    options = {"mode": one_of(rng, *modes), "padding_mode": one_of(rng, "zeros", "border", "reflection"),
               "align_corners": bool(rng.integers(2))}  # fmt: skip
    return [normal(rng, 2, 2, *(3 + axis for axis in range(axes))), rng.uniform(-1.7, 1.7, (2, *spots, axes))], options


case("grid_sample", _grid)
case("affine_grid", lambda rng: ([normal(rng, 2, 2, 3)], {"size": (2, 1, 3, one_of(rng, 1, 4)),
                                                           "align_corners": bool(rng.integers(2))}))  # fmt: skip
case("affine_grid_of_volumes", lambda rng: ([normal(rng, 2, 3, 4)], {"size": (2, 1, 3, 4, 2)}),
     T.nn.affine_grid, lambda x, size: F().affine_grid(x, size, False))  # fmt: skip

# --- losses


def _reduction(rng):
    return {"reduction": one_of(rng, "mean", "sum", "none")}


for _name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss"):
    case(_name, lambda rng: ([normal(rng, 3, 4), normal(rng, 3, 4)], _reduction(rng)))
case("poisson_nll_loss_full", lambda rng: ([rng.uniform(0.2, 2, 6), rng.uniform(0, 5, 6)], {}),
     lambda x, t: T.nn.poisson_nll_loss(x, t, False, True),
     lambda x, t: F().poisson_nll_loss(x, t, False, full=True))  # fmt: skip
case("gaussian_nll_loss", lambda rng: ([normal(rng, 3, 4), normal(rng, 3, 4),
                                        rng.uniform(0.2, 2, one_of(rng, (3, 4), (3,), (3, 1)))],
                                       {"full": bool(rng.integers(2)), **_reduction(rng)}))  # fmt: skip
case("binary_cross_entropy", lambda rng: ([rng.uniform(0.1, 0.9, (3, 4)), rng.uniform(0, 1, (3, 4)), normal(rng, 4)],
                                          _reduction(rng)), constants=(1, 2))  # fmt: skip
case("binary_cross_entropy_with_logits",
     lambda rng: ([normal(rng, 3, 4), rng.uniform(0, 1, (3, 4)), normal(rng, 4), rng.uniform(1, 2, 4)],
                  _reduction(rng)),
     lambda x, t, w, p, reduction: T.nn.binary_cross_entropy_with_logits(x, t, w, reduction, p),
     lambda x, t, w, p, reduction: F().binary_cross_entropy_with_logits(x, t, w, reduction=reduction, pos_weight=p),
     constants=(1, 2, 3))  # fmt: skip
case("kl_div", lambda rng: ([normal(rng, 3, 4), rng.uniform(0.1, 1, (3, 4))],
                            {"log_target": bool(rng.integers(2)),
                             "reduction": one_of(rng, "mean", "sum", "none", "batchmean")}))  # fmt: skip


def _labels(rng):
    shape = one_of(rng, (), (2,))
    labels = rng.integers(0, 5, (3, *shape))
    labels[0] = -100
    return labels, shape


def _hard(rng):
    labels, shape = _labels(rng)
    return [normal(rng, 3, 5, *shape), labels, rng.uniform(0.5, 2, 5)], _reduction(rng)


def _entropy(rng):
    labels, shape = _labels(rng)
    options = {**_reduction(rng), "label_smoothing": one_of(rng, 0.0, 0.2)}
    return [normal(rng, 3, 5, *shape), labels, rng.uniform(0.5, 2, 5)], options


case("nll_loss", _hard, constants=(2,))
case("cross_entropy", _entropy, constants=(2,))
case("cross_entropy_of_distributions",
     lambda rng: ([normal(rng, 3, 5, 2), rng.uniform(0, 1, (3, 5, 2)), rng.uniform(0.5, 2, 5)],
                  {**_reduction(rng), "label_smoothing": one_of(rng, 0.0, 0.2)}),
     T.nn.cross_entropy, lambda *v, **o: F().cross_entropy(*v, **o))  # fmt: skip
case("multi_margin_loss", lambda rng: ([normal(rng, 3, 4), rng.integers(0, 4, 3)],
                                       {"p": one_of(rng, 1, 2), "margin": 0.7, **_reduction(rng)}))  # fmt: skip
case("multilabel_margin_loss",
     lambda rng: ([normal(rng, 3, 4), np.array([[3, 0, -1, 1], [-1, 0, 0, 0], [2, 1, 3, 0]])], _reduction(rng)))
case("multilabel_soft_margin_loss",
     lambda rng: ([normal(rng, 3, 4), 1.0 * rng.integers(0, 2, (3, 4)), rng.uniform(1, 2, 4)], _reduction(rng)),
     torchs=lambda x, t, w, reduction: F().multilabel_soft_margin_loss(x, t, w, reduction=reduction))  # fmt: skip
case("soft_margin_loss", lambda rng: ([normal(rng, 3, 4), rng.choice([-1.0, 1.0], (3, 4))], _reduction(rng)),
     constants=(1,))
case("hinge_embedding_loss", lambda rng: ([normal(rng, 3, 4), rng.choice([-1.0, 1.0], (3, 4))], _reduction(rng)),
     constants=(1,))
case("margin_ranking_loss", lambda rng: ([normal(rng, 4), normal(rng, 4), rng.choice([-1.0, 1.0], 4)],
                                         {"margin": 0.2, **_reduction(rng)}))  # fmt: skip
case("cosine_embedding_loss", lambda rng: ([normal(rng, 4, 3), normal(rng, 4, 3), rng.choice([-1.0, 1.0], 4)],
                                           {"margin": -0.3, **_reduction(rng)}), constants=(2,))  # fmt: skip
case("triplet_margin_loss", lambda rng: ([normal(rng, 4, 3), normal(rng, 4, 3), normal(rng, 4, 3)],
                                         {"swap": bool(rng.integers(2)), "p": one_of(rng, 1.0, 2.0, 3.0),
                                          **_reduction(rng)}))  # fmt: skip
case("triplet_margin_with_distance_loss",
     lambda rng: ([normal(rng, 4, 3), normal(rng, 4, 3), normal(rng, 4, 3)], _reduction(rng)))
case("cosine_similarity", lambda rng: ([normal(rng, 4, 3), normal(rng, 4, 3)], {}))
case("pairwise_distance", lambda rng: ([normal(rng, 4, 3), normal(rng, 4, 3)], {"p": one_of(rng, 1.0, 2.0, 3.0)}))
case("pdist", lambda rng: ([normal(rng, 4, 3)], {"p": one_of(rng, 1.0, 2.0, 3.0)}))


def _alignment(rng):
    logs = np.log(rng.dirichlet(np.ones(4), (7, 3)))
    targets, counts = rng.integers(1, 4, (3, 3)), rng.integers(0, 4, 3)
    steps = rng.integers(4, 8, 3)
    return [logs, targets, steps, counts], _reduction(rng)


# torch's derivative is that of the loss behind a log_softmax
case("ctc_loss", _alignment, lambda x, *v, **o: T.nn.ctc_loss(T.log_softmax(x, -1), *v, **o),
     lambda x, *v, **o: F().ctc_loss(F().log_softmax(x, -1), *v, **o))  # fmt: skip



def _joined_alignment(rng):
    (logs, targets, steps, counts), options = _alignment(rng)
    return [logs, np.concatenate([row[:n] for row, n in zip(targets, counts)]), steps, counts], options


case("ctc_loss_joined", _joined_alignment, lambda x, *v, **o: T.nn.ctc_loss(T.log_softmax(x, -1), *v, **o),
     lambda x, *v, **o: F().ctc_loss(F().log_softmax(x, -1), *v, **o))  # fmt: skip

case("linear", lambda rng: ([normal(rng, 2, 3, 4), normal(rng, 5, 4), normal(rng, 5)], {}))
case("bilinear", lambda rng: ([normal(rng, 2, 3), normal(rng, 2, 4), normal(rng, 5, 3, 4), normal(rng, 5)], {}))

# --- attention and loops


def _attention(rng):
    shape = (2, one_of(rng, 2, 4))
    q, k, v = normal(rng, *shape, 4, 3), normal(rng, 2, 2, 5, 3), normal(rng, 2, 2, 5, 2)
    options = {"enable_gqa": shape[1] == 4}
    mask = one_of(rng, None, "bool", "float", "causal")
    options["is_causal"] = mask == "causal"
    given = [q, k, v]
    if mask == "bool":
        given.append(rng.integers(0, 2, one_of(rng, (4, 5), (2, shape[1], 4, 5))).astype(bool))
        given[-1][..., 1, :] = False
    elif mask == "float":
        given.append(normal(rng, 4, 5))
    return given, options


case("scaled_dot_product_attention", _attention)


def _heads(rng):
    width = 4
    return [normal(rng, 2, 3, width), normal(rng, 2, 5, width), normal(rng, 2, 5, width), normal(rng, 12, width),
            normal(rng, 12), normal(rng, width, width), normal(rng, width), rng.integers(0, 2, (3, 5)).astype(bool)
            & (np.arange(5) > 0), (rng.integers(0, 2, (2, 5)).astype(bool) & (np.arange(5) > 0))], {
        "num_heads": one_of(rng, 1, 2, 4), "average": bool(rng.integers(2))}  # fmt: skip


def _our_heads(q, k, v, w, b, out, bias, mask, padding, num_heads, average):
    y, weights = T.nn.multi_head_attention(q, k, v, num_heads, w, b, out, bias, attn_mask=mask, need_weights=True,
                                           key_padding_mask=padding, average_attn_weights=average)  # fmt: skip
    return T.sum(y, axis=0) + T.sum(T.square(weights))


def _torchs_heads(q, k, v, w, b, out, bias, mask, padding, num_heads, average):
    y, weights = F().multi_head_attention_forward(
        q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), 4, num_heads, w, b, None, None, False, 0.0, out, bias,
        need_weights=True, attn_mask=mask, key_padding_mask=padding, average_attn_weights=average,
    )  # fmt: skip
    return y.sum(1) + (weights**2).sum()


case("multi_head_attention", _heads, _our_heads, _torchs_heads)


def _recurrent(gates):
    def draw(rng):
        both, layers = bool(rng.integers(2)), one_of(rng, 1, 2)
        weights, width = [], 3
        for _ in range(layers):
            for _ in range(1 + both):
                weights += [normal(rng, gates * 2, width), normal(rng, gates * 2, 2), normal(rng, gates * 2),
                            normal(rng, gates * 2)]  # fmt: skip
            width = 2 * (1 + both)
        states = [normal(rng, layers * (1 + both), 2, 2) for _ in range(1 + (gates == 4))]
        return [normal(rng, 4, 2, 3), *states, *weights], {"both": both, "layers": layers}

    return draw


def _ours_recurrent(name):
    def run(x, *rest, both, layers):
        states = 1 + (name == "lstm")
        firsts, weights = rest[:states], rest[states:]
        groups = [weights[k : k + 4] for k in range(0, len(weights), 4)]
        initial = firsts if name == "lstm" else firsts[0]
        y, last = getattr(T.nn, name)(x, groups, initial, bidirectional=both)
        last = last if name == "lstm" else [last]
        return T.concatenate([T.ravel(v) for v in (y, *last)])

    return run


def _torchs_recurrent(name):
    def run(x, *rest, both, layers):
        import torch

        states = 1 + (name == "lstm")
        firsts, weights = rest[:states], list(rest[states:])
        call = getattr(torch._VF, {"rnn": "rnn_tanh"}.get(name, name))
        found = call(x, firsts if name == "lstm" else firsts[0], weights, True, layers, 0.0, False, both, False)
        return torch.cat([v.ravel() for v in found])

    return run


for _name, _gates in (("rnn", 1), ("lstm", 4), ("gru", 3)):
    case(_name, _recurrent(_gates), _ours_recurrent(_name), _torchs_recurrent(_name))
