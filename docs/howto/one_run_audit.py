#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Audits the training of a PyTorch model in one run.

    python docs/howto/one_run_audit.py                     an honest DP-SGD: not refuted
    python docs/howto/one_run_audit.py --fault no-noise    faults: no-noise, divided-noise, no-clipping

Needs the packages tradeoff and torch. Each of many canaries (random images with random labels) is put into the training data by a fair coin.
The model is trained once, by DP-SGD as it is written down in `train`. The score of a canary is how far the released updates moved along its
gradient: whoever sees the models between the steps can compute it without the coins. Then `tradeoff.audit_one_run` judges the scores against the
certified curve of the plan. Exit code 1 means refuted.
"""

import argparse
import sys

import torch
import tradeoff as to
from torch import nn
from torch.func import functional_call, grad, vmap

CLIP = 1.0


def make_records(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Images of 8 by 8 pixels in ten classes: a pattern for each class, and noise."""
    labels = torch.randint(10, (count,), generator=generator)
    patterns = torch.randn(10, 64, generator=torch.Generator().manual_seed(1))
    return patterns[labels] + 0.8 * torch.randn(count, 64, generator=generator), labels


def train(model: nn.Module, images: torch.Tensor, labels: torch.Tensor, canaries: tuple[torch.Tensor, torch.Tensor], chosen: argparse.Namespace, generator: torch.Generator) -> torch.Tensor:
    """DP-SGD with Poisson batches; returns the score of every canary, included or not."""
    parameters = {name: one.detach().clone() for name, one in model.named_parameters()}

    def loss(values: dict[str, torch.Tensor], image: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(functional_call(model, values, (image[None],)), label[None])

    gradients = vmap(grad(loss), in_dims=(None, 0, 0))

    def clipped(some_images: torch.Tensor, some_labels: torch.Tensor) -> torch.Tensor:
        """The clipped gradient of each record, as one row."""
        rows = torch.cat([one.flatten(1) for one in gradients(parameters, some_images, some_labels).values()], dim=1)
        norms = rows.norm(dim=1, keepdim=True)
        return rows * (CLIP / norms.clamp_min(1e-12)).clamp_max(50.0 if chosen.fault == "no-clipping" else 1.0)

    expected = chosen.rate * len(images)
    deviation = {"no-noise": 0.0, "divided-noise": chosen.noise * CLIP / expected}.get(chosen.fault, chosen.noise * CLIP)
    scores = torch.zeros(len(canaries[0]), dtype=torch.float64)
    for _ in range(chosen.steps):
        batch = torch.rand(len(images), generator=generator) < chosen.rate
        total = clipped(images[batch], labels[batch]).sum(dim=0)
        total = total + deviation * torch.randn(total.shape, generator=generator)
        scores += (clipped(*canaries) @ total).double()  # the auditor
        at = 0
        for name, one in parameters.items():
            step = total[at : at + one.numel()].reshape(one.shape)
            parameters[name] = one - chosen.learning_rate / expected * step
            at += one.numel()
    with torch.no_grad():
        right = functional_call(model, parameters, (images,)).argmax(dim=1) == labels
    print(f"accuracy on the training data: {100 * right.double().mean():.1f} %")
    return scores


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fault", choices=["none", "no-noise", "divided-noise", "no-clipping"], default="none")
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--canaries", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--noise", type=float, default=1.0, help="standard deviation of the noise, in clipping norms")
    parser.add_argument("--learning-rate", type=float, default=2.0)
    parser.add_argument("--confidence", type=float, default=0.999)
    parser.add_argument("--seed", type=int, default=None, help="for tests; an audit needs fresh randomness")
    chosen = parser.parse_args(arguments)
    generator = torch.Generator()
    seed = generator.seed() if chosen.seed is None else chosen.seed
    generator.manual_seed(seed)

    images, labels = make_records(chosen.records, generator)
    canaries = torch.randn(chosen.canaries, 64, generator=generator), torch.randint(10, (chosen.canaries,), generator=generator)
    coins = torch.rand(chosen.canaries, generator=generator) < 0.5
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 8, 3), nn.Tanh(), nn.Flatten(), nn.Linear(8 * 36, 10))
    scores = train(model, torch.cat([images, canaries[0][coins]]), torch.cat([labels, canaries[1][coins]]), canaries, chosen, generator)

    plan = to.gaussian(str(chosen.noise)).poisson(str(chosen.rate)).repeat(chosen.steps)
    found = to.audit_one_run(plan.curve(neighbours="add-remove"), scores=scores.numpy(), included=coins.numpy(), delta=1e-8, confidence=chosen.confidence)
    print(f"{found.verdict}: {found.right} of {found.made} guesses about {found.canaries} canaries are right, for {plan.text}")
    print(f"shown with confidence {chosen.confidence}: mu >= {found.mu_below:.4g}, epsilon >= {found.epsilon_below:.4g} at delta = 1e-8")
    print(f"certified: epsilon <= {plan.curve(neighbours='add-remove').epsilon('1e-8').hi:.6g} at delta = 1e-8")
    return 1 if found.verdict == "refuted" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
