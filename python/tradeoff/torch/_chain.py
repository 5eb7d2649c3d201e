# SPDX-License-Identifier: Apache-2.0
"""Gradients of single examples for chains of common layers: one pass forward and one back for all rows, one product for each parameter. [torch-step]"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.func import vmap

from ._convolution import patches_of

_nn, _functional = torch.nn, torch.nn.functional

# Layers without weights that map each row of a batch by itself.
_PLAIN = (
    _nn.ReLU, _nn.Tanh, _nn.Sigmoid, _nn.GELU, _nn.SiLU, _nn.ELU, _nn.SELU, _nn.LeakyReLU, _nn.Softplus, _nn.Hardtanh, _nn.ReLU6, _nn.Identity,
    _nn.Dropout, _nn.MaxPool2d, _nn.AvgPool2d, _nn.AdaptiveAvgPool2d, _nn.ZeroPad2d,
)  # fmt: skip
_WITH_WEIGHTS = (_nn.Linear, _nn.Conv2d, _nn.LayerNorm, _nn.GroupNorm)


def layers_of(model: torch.nn.Module) -> list[torch.nn.Module] | None:
    """The layers of a chain, or None for a model that is something else. Hooks, subclasses and shared weights may do anything: no chain."""
    for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"):
        if getattr(model, name, None):
            return None
    kind = type(model)
    if kind is _nn.Sequential:
        found: list[torch.nn.Module] = []
        for one in model._modules.values():  # children() would leave out a layer that comes twice
            assert one is not None
            inner = layers_of(one)
            if inner is None:
                return None
            found += inner
        weights = [id(one) for layer in found for one in layer.parameters()]
        return found if len(weights) == len(set(weights)) else None
    if "forward" in vars(model) or getattr(model, "parametrizations", None) or getattr(model, "inplace", False):
        return None
    if kind is _nn.Flatten:
        return [model] if model.start_dim == 1 else None
    if kind is _nn.Conv2d and (model.groups != 1 or model.padding_mode != "zeros" or isinstance(model.padding, str)):
        return None
    if kind in _WITH_WEIGHTS and any(one.dtype != torch.float32 for one in model.parameters()):
        return None
    return [model] if kind in _PLAIN or kind in _WITH_WEIGHTS else None


def _forward(layer: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The output, with the weights as constants: the backward pass computes no sums of gradients."""
    weight = layer.weight.detach() if layer.weight is not None else None
    bias = layer.bias.detach() if layer.bias is not None else None
    if type(layer) is _nn.Linear:
        return _functional.linear(x, weight, bias)
    if type(layer) is _nn.Conv2d:
        return _functional.conv2d(x, weight, bias, layer.stride, layer.padding, layer.dilation)
    if type(layer) is _nn.LayerNorm:
        return _functional.layer_norm(x, layer.normalized_shape, weight, bias, layer.eps)
    return _functional.group_norm(x, layer.num_groups, weight, bias, layer.eps)


def _gradients(layer: torch.nn.Module, x: torch.Tensor, back: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of weight and bias for each row, from the input and the gradient of the output."""
    rows = len(x)
    if type(layer) is _nn.Linear:
        if x.dim() == 2:
            return back.unsqueeze(2) * x.unsqueeze(1), back
        back, x = back.reshape(rows, -1, back.shape[-1]), x.reshape(rows, -1, x.shape[-1])
        return back.transpose(1, 2) @ x, back.sum(1)
    if type(layer) is _nn.Conv2d:
        patches = patches_of(x, layer.kernel_size, layer.stride, layer.padding, layer.dilation)
        back = back.flatten(2)
        return back @ patches.transpose(1, 2), back.sum(2)
    if type(layer) is _nn.LayerNorm:
        size = layer.weight.numel()
        seen = _functional.layer_norm(x, layer.normalized_shape, eps=layer.eps)
        return (back * seen).reshape(rows, -1, size).sum(1), back.reshape(rows, -1, size).sum(1)
    seen = _functional.group_norm(x, layer.num_groups, eps=layer.eps)
    return (back * seen).flatten(2).sum(2) if x.dim() > 2 else back * seen, back.flatten(2).sum(2) if x.dim() > 2 else back


def chain_gradients(
    layers: list[torch.nn.Module], loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], inputs: torch.Tensor, targets: torch.Tensor
) -> dict[int, torch.Tensor]:
    """The gradient of the loss of each example, for every parameter that is trained, by the id of the parameter."""
    with torch.enable_grad():
        x, seen = inputs.detach(), []
        for layer in layers:
            if not isinstance(layer, _WITH_WEIGHTS):
                x = layer(x)
                continue
            out = _forward(layer, x)
            if any(one.requires_grad for one in layer.parameters()):
                if not out.requires_grad:
                    out.requires_grad_()
                seen.append((layer, x.detach(), out))
            x = out
        losses = vmap(lambda one, target: loss(one.unsqueeze(0), target.unsqueeze(0)), randomness="different")(x, targets)
        backs = torch.autograd.grad(losses.sum(), [out for _, _, out in seen])
    found: dict[int, torch.Tensor] = {}
    with torch.no_grad():
        for (layer, before, _), back in zip(seen, backs):
            for parameter, gradient in zip((layer.weight, layer.bias), _gradients(layer, before, back)):
                if parameter is not None and parameter.requires_grad:
                    found[id(parameter)] = gradient.reshape(len(inputs), *parameter.shape)
    return found
