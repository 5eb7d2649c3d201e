# SPDX-License-Identifier: Apache-2.0
"""Gradients of single examples, which must not depend on the other examples of a batch. [torch-step]"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch.func import functional_call, grad, vmap

from .._errors import Error, UnsupportedError
from ._chain import chain_gradients, layers_of
from ._convolution import UnfoldedConvolutions

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

_MIXING = (torch.nn.modules.batchnorm._BatchNorm, torch.nn.modules.batchnorm._LazyNormBase)


class UnsupportedModuleError(UnsupportedError):
    """A layer lets an example see the others of its batch, so that clipping each gradient bounds nothing."""


class RowsMixError(Error):
    """The gradient of an example came out differently beside other examples or at another place of the batch."""


def check_modules(model: torch.nn.Module) -> None:
    """Refuses layers that use statistics of the batch."""
    for name, module in model.named_modules():
        if isinstance(module, _MIXING):
            raise UnsupportedModuleError(
                f"layer {name or type(module).__name__!r} is a {type(module).__name__}, which normalises by the statistics of the batch; replace it "
                "by GroupNorm or LayerNorm"
            )
        if isinstance(module, torch.nn.modules.instancenorm._InstanceNorm) and module.track_running_stats:
            raise UnsupportedModuleError(f"layer {name!r} keeps running statistics of the data; set track_running_stats=False")


#: How gradients of single examples are computed, the fastest first; see RowGradients.
WAYS = ("chain", "shared", "isolated")


class RowGradients:
    """The gradient of the loss of each example, for a physical batch of fixed shape.

    There are three ways. ``chain``: if the model is a chain of common layers, one pass forward and back for all rows, and a product for
    each parameter. ``shared``: any model, each row by itself in the semantics of ``torch.func.vmap``; a layer is one matrix product for
    all rows, whose rounding may depend on the place of a row. ``isolated``: every row has the weights as operands of its own, so that
    each is a product of the same shape: slower, but the place does not matter.
    """

    def __init__(self, model: torch.nn.Module, loss: Loss, autocast: torch.dtype | None) -> None:
        check_modules(model)
        self._model, self._loss, self._autocast = model, loss, autocast
        self.names = [name for name, one in model.named_parameters() if one.requires_grad]
        if not self.names:
            raise UnsupportedError("model: no parameter has requires_grad=True; there is nothing to train")
        self.way = "shared" if autocast is not None or layers_of(model) is None else "chain"

    @property
    def parameters(self) -> list[torch.nn.Parameter]:
        known = dict(self._model.named_parameters())
        return [known[name] for name in self.names]

    def __call__(self, inputs: torch.Tensor, targets: torch.Tensor) -> list[torch.Tensor]:
        if self.way == "chain":
            layers = layers_of(self._model)
            if layers is None:
                raise UnsupportedError("model: its layers changed during the run")
            gradients = chain_gradients(layers, self._loss, inputs, targets)
            return [gradients[id(one)] for one in self.parameters]
        isolated = self.way == "isolated"
        known = {name: one.detach() for name, one in (*self._model.named_parameters(), *self._model.named_buffers())}
        if isolated:
            known = {name: one.expand(len(inputs), *one.shape) for name, one in known.items()}
        trained = {name: known.pop(name) for name in self.names}

        def loss_of(values: dict[str, torch.Tensor], others: dict[str, torch.Tensor], one: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            with torch.autocast(one.device.type, dtype=self._autocast) if self._autocast is not None else UnfoldedConvolutions():
                output = functional_call(self._model, (values, others), (one.unsqueeze(0),))
                return self._loss(output, target.unsqueeze(0)).float()

        weights = 0 if isolated else None
        found = vmap(grad(loss_of), in_dims=(weights, weights, 0, 0), randomness="different")(trained, known, inputs, targets)
        return [found[name] for name in self.names]

    def losses(self, inputs: torch.Tensor, targets: torch.Tensor) -> list[float]:
        """The loss of each example, one at a time."""
        device = self.parameters[0].device
        with torch.no_grad():
            return [float(self._loss(self._model(one.unsqueeze(0)), aim.unsqueeze(0))) for one, aim in zip(inputs.to(device), targets.to(device))]

    def settle(self, inputs: torch.Tensor, targets: torch.Tensor) -> None:
        """Tests whether rows mix, on inputs like these that are made up, and computes them in another way if they do. Raises RowsMixError."""
        # Made up: the test must not depend on the data. Whole numbers may be indices, so small ones.
        made_up = torch.randn_like(inputs) if inputs.is_floating_point() else torch.randint_like(inputs, 0, 2)
        modes = [(one, one.training) for one in self._model.modules()]
        self._model.eval()  # without dropout, whose random numbers would differ
        try:
            while True:
                try:
                    check_rows(self, made_up, torch.zeros_like(targets))
                    break
                except RowsMixError:
                    if self.way == WAYS[-1]:
                        raise
                    self.way = WAYS[WAYS.index(self.way) + 1]
        finally:
            for one, mode in modes:
                one.training = mode


def check_rows(gradients: RowGradients, inputs: torch.Tensor, targets: torch.Tensor) -> None:
    """Compares, bit for bit, the gradients of a physical batch with those after a rotation and beside other examples.

    ``inputs`` and ``targets`` are made up: the check must not depend on the data. It is a test of an assumption, not its proof.
    """
    size = inputs.shape[0]
    if size == 1:
        return
    first = gradients(inputs, targets)
    for shift in {1, size // 2, size - 1}:
        turned = gradients(inputs.roll(shift, 0), targets.roll(shift, 0))
        _compare(first, [one.roll(-shift, 0) for one in turned], range(size), f"{shift} places further in the batch")
    other = inputs.clone()
    other[1:] = other[1:].flip(0) * 3 if other.is_floating_point() else other[1:].flip(0)
    _compare(first, gradients(other, targets), [0], "beside other examples")


def _compare(first: Sequence[torch.Tensor], second: Sequence[torch.Tensor], places: Sequence[int], where: str) -> None:
    for before, after in zip(first, second):
        for place in places:
            if not torch.equal(before[place].nan_to_num(), after[place].nan_to_num()):
                raise RowsMixError(
                    f"the gradient of an example differs in its last bits {where}. Clipping bounds the sum only if each gradient depends on "
                    "its example alone. Try physical_batch=1, torch.use_deterministic_algorithms(True) or no autocast"
                )
