"""Theano's abstract convolutions as classes: made of lengths and borders, called on tensors."""

from __future__ import annotations

from typing import Any

from .normalization import conv3d_grad_wrt_inputs, conv3d_grad_wrt_weights
from .windows import conv2d, conv2d_grad_wrt_inputs, conv2d_grad_wrt_weights, conv3d


class _Convolution:
    """The arguments that all of them have."""

    axes = 2

    def __init__(
        self, imshp: Any = None, kshp: Any = None, border_mode: Any = "valid", subsample: Any = None,
        filter_flip: bool = True, filter_dilation: Any = None, num_groups: int = 1, unshared: bool = False,
    ) -> None:  # fmt: skip
        if unshared:
            raise NotImplementedError(f"{type(self).__name__}: unshared=True has no kernel here")
        self.imshp: Any = imshp
        self.kshp: Any = kshp
        ones = (1,) * self.axes
        self.how = {
            "border_mode": border_mode, "subsample": ones if subsample is None else subsample,
            "filter_flip": filter_flip, "filter_dilation": ones if filter_dilation is None else filter_dilation,
            "num_groups": num_groups,
        }  # fmt: skip


class AbstractConv2d(_Convolution):
    """The convolution of images and filters."""

    def __call__(self, img: Any, kern: Any) -> Any:
        return conv2d(img, kern, self.imshp, self.kshp, **self.how)


class AbstractConv2d_gradInputs(_Convolution):  # noqa: N801  # Theano's name
    """Its derivative by the images, of the last two lengths `shape`."""

    def __call__(self, kern: Any, topgrad: Any, shape: Any, add_assert_shape: bool = True) -> Any:
        lengths = (None, None, shape[0], shape[1])
        return conv2d_grad_wrt_inputs(topgrad, kern, lengths, self.kshp, **self.how)


class AbstractConv2d_gradWeights(_Convolution):  # noqa: N801
    """Its derivative by the filters, of the last two lengths `shape`."""

    def __call__(self, img: Any, topgrad: Any, shape: Any, add_assert_shape: bool = True) -> Any:
        lengths = (None, None, shape[0], shape[1])
        return conv2d_grad_wrt_weights(img, topgrad, lengths, self.imshp, **self.how)


class AbstractConv3d(_Convolution):
    """The convolution of volumes and filters."""

    axes = 3

    def __call__(self, img: Any, kern: Any) -> Any:
        return conv3d(img, kern, self.imshp, self.kshp, **self.how)


class AbstractConv3d_gradInputs(_Convolution):  # noqa: N801
    """Its derivative by the volumes, of the last three lengths `shape`."""

    axes = 3

    def __call__(self, kern: Any, topgrad: Any, shape: Any, add_assert_shape: bool = True) -> Any:
        return conv3d_grad_wrt_inputs(topgrad, kern, (None, None, *(shape[n] for n in range(3))), self.kshp, **self.how)


class AbstractConv3d_gradWeights(_Convolution):  # noqa: N801
    """Its derivative by the filters, of the last three lengths `shape`."""

    axes = 3

    def __call__(self, img: Any, topgrad: Any, shape: Any, add_assert_shape: bool = True) -> Any:
        lengths = (None, None, *(shape[n] for n in range(3)))
        return conv3d_grad_wrt_weights(img, topgrad, lengths, self.imshp, **self.how)


CLASSES = {
    kind.__name__: kind for kind in (
        AbstractConv2d_gradInputs, AbstractConv2d_gradWeights, AbstractConv3d_gradInputs, AbstractConv3d_gradWeights,
    )
}  # fmt: skip
CALLED = {"AbstractConv2d": AbstractConv2d, "AbstractConv3d": AbstractConv3d}
