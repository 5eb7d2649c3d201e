# SPDX-License-Identifier: Apache-2.0
"""Convolutions whose weight gradient of each example is one matrix product: faster than PyTorch's rule for single examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


def patches_of(x: torch.Tensor, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]) -> torch.Tensor:
    """The values under the kernel at each position, in the layout of ``torch.nn.functional.unfold``, by one copy for all rows."""
    if x.device.type == "cpu":
        return torch.nn.functional.unfold(x, tuple(kernel), dilation, padding, stride)  # on a GPU it is a kernel for each row
    x = torch.nn.functional.pad(x, (padding[1], padding[1], padding[0], padding[0]))
    for axis in (0, 1):
        x = x.unfold(2 + axis, (kernel[axis] - 1) * dilation[axis] + 1, stride[axis])
    x = x[..., :: dilation[0], :: dilation[1]]  # rows, channels, down, across, and the places of the kernel
    return x.permute(0, 1, 4, 5, 2, 3).reshape(x.shape[0], x.shape[1] * x.shape[4] * x.shape[5], x.shape[2] * x.shape[3])


class _Convolution(torch.autograd.Function):
    """``torch.conv2d`` without groups; its backward pass unfolds the input."""

    generate_vmap_rule = True

    @staticmethod
    def forward(inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: Any, padding: Any, dilation: Any) -> torch.Tensor:
        return torch.conv2d(inputs, weight, bias, stride, padding, dilation)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        ctx.save_for_backward(inputs[0], inputs[1])
        ctx.has_bias, ctx.places = inputs[2] is not None, inputs[3:]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        inputs, weight = ctx.saved_tensors
        stride, padding, dilation = ctx.places
        to_inputs = to_weight = to_bias = None
        if ctx.needs_input_grad[0]:
            to_inputs = torch.nn.grad.conv2d_input(inputs.shape, weight, gradient, stride, padding, dilation)
        if ctx.needs_input_grad[1]:
            patches = patches_of(inputs, weight.shape[2:], stride, padding, dilation)
            to_weight = (gradient.flatten(2) @ patches.transpose(1, 2)).sum(0).reshape(weight.shape)
        if ctx.has_bias and ctx.needs_input_grad[2]:
            to_bias = gradient.sum((0, 2, 3))
        return to_inputs, to_weight, to_bias, None, None, None


def _pair(value: Any) -> Any:
    return (value, value) if isinstance(value, int) else tuple(value)


class UnfoldedConvolutions(TorchFunctionMode):
    """While it is active, ``torch.conv2d`` without groups takes the path above; other convolutions are PyTorch's."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.conv2d and not kwargs and len(args) == 7:
            inputs, weight, bias, stride, padding, dilation, groups = args
            if groups == 1 and not isinstance(padding, str) and inputs.dim() == 4:
                return _Convolution.apply(inputs, weight, bias, _pair(stride), _pair(padding), _pair(dilation))
        return func(*args, **kwargs)
