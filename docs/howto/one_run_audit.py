#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Audits the training of a PyTorch model in one run.

    python docs/howto/one_run_audit.py                     an honest DP-SGD: not refuted
    python docs/howto/one_run_audit.py --fault no-noise    faults: no-noise, divided-noise, no-clipping

Needs the packages tradeoff and torch. A convolutional model is trained once, by DP-SGD as it is written down in `train`. Besides its records the
data may hold canaries: each has a long gradient on one weight of its own, and a fair coin decides whether it is there. The auditor knows the
records, sees the updates, and does not know the coins: the score of a canary is how far its weight was moved beyond what the records explain.
Then `tradeoff.audit_one_run` judges the scores against the certified curve of the plan. Exit code 1 means refuted.
"""

import argparse
import sys

import torch
import tradeoff as to
from torch import nn
from torch.func import functional_call, grad, vmap

CLIP = 1.0
CANARY = 50.0  # the norm of a canary's gradient, before it is clipped


def make_records(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Images of 8 by 8 pixels in ten classes: a pattern for each class, and noise."""
    labels = torch.randint(10, (count,), generator=generator)
    patterns = torch.randn(10, 64, generator=torch.Generator().manual_seed(1))
    return patterns[labels] + 0.8 * torch.randn(count, 64, generator=generator), labels


def train(
    model: nn.Module,
    images: torch.Tensor,
    labels: torch.Tensor,
    places: torch.Tensor,
    coins: torch.Tensor,
    chosen: argparse.Namespace,
    generator: torch.Generator,
) -> torch.Tensor:
    """DP-SGD with Poisson batches; returns the score of every canary, included or not. Canary i has its gradient on weight places[i]."""
    parameters = {name: one.detach().clone() for name, one in model.named_parameters()}
    expected = chosen.rate * len(images)
    deviation = {"no-noise": 0.0, "divided-noise": chosen.noise * CLIP / expected}.get(chosen.fault, chosen.noise * CLIP)

    def loss(values: dict[str, torch.Tensor], image: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(functional_call(model, values, (image[None],)), label[None])

    gradients = vmap(grad(loss), in_dims=(None, 0, 0))

    def shrunk(norms: torch.Tensor) -> torch.Tensor:
        """The factors that clip gradients of these norms."""
        return torch.ones_like(norms) if chosen.fault == "no-clipping" else (CLIP / norms.clamp_min(1e-12)).clamp_max(1.0)

    scores = torch.zeros(len(places), dtype=torch.float64)
    for _ in range(chosen.steps):
        rows = torch.cat([one.flatten(1) for one in gradients(parameters, images, labels).values()], dim=1)
        rows = rows * shrunk(rows.norm(dim=1, keepdim=True))
        total = rows[torch.rand(len(rows), generator=generator) < chosen.rate].sum(dim=0)
        drawn = coins & (torch.rand(len(coins), generator=generator) < chosen.rate)
        total[places[drawn]] += CANARY * shrunk(torch.full((int(drawn.sum()),), CANARY))
        total += deviation * torch.randn(total.shape, generator=generator)
        scores += (total - chosen.rate * rows.sum(dim=0))[places].double()  # the auditor
        at = 0
        for name, one in parameters.items():
            parameters[name] = one - chosen.learning_rate / expected * total[at : at + one.numel()].reshape(one.shape)
            at += one.numel()
    with torch.no_grad():
        right = functional_call(model, parameters, (images,)).argmax(dim=1) == labels
    print(f"accuracy on the records: {100 * right.double().mean():.1f} %")
    return scores


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fault", choices=["none", "no-noise", "divided-noise", "no-clipping"], default="none")
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--canaries", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--noise", type=float, default=1.0, help="standard deviation of the noise, in clipping norms")
    parser.add_argument("--learning-rate", type=float, default=1.0)
    parser.add_argument("--confidence", type=float, default=0.999)
    parser.add_argument("--seed", type=int, default=None, help="for tests; an audit needs fresh randomness")
    chosen = parser.parse_args(arguments)
    generator = torch.Generator()
    seed = generator.seed() if chosen.seed is None else chosen.seed
    generator.manual_seed(seed)
    torch.manual_seed(seed)

    model = nn.Sequential(nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 8, 3), nn.Tanh(), nn.Flatten(), nn.Linear(8 * 36, 10))
    weights = sum(one.numel() for one in model.parameters())
    if not 16 <= chosen.canaries <= weights:
        parser.error(f"--canaries must be between 16 and the number of weights, {weights}")
    images, labels = make_records(chosen.records, generator)
    places = torch.randperm(weights, generator=generator)[: chosen.canaries]
    coins = torch.rand(chosen.canaries, generator=generator) < 0.5
    scores = train(model, images, labels, places, coins, chosen, generator)

    plan = to.gaussian(str(chosen.noise)).poisson(str(chosen.rate)).repeat(chosen.steps)
    curve = plan.curve(neighbours="add-remove")
    found = to.audit_one_run(curve, scores=scores.numpy(), included=coins.numpy(), delta=1e-8, confidence=chosen.confidence)
    print(f"{found.verdict}: {found.right} of {found.made} guesses about {found.canaries} canaries are right, for {plan.text}")
    print(f"shown with confidence {chosen.confidence}: mu >= {found.mu_below:.4g}, epsilon >= {found.epsilon_below:.4g} at delta = 1e-8")
    print(f"certified: epsilon <= {curve.epsilon('1e-8').hi:.6g} at delta = 1e-8")
    return 1 if found.verdict == "refuted" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
