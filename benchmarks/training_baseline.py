# SPDX-License-Identifier: Apache-2.0
"""The same private step in PyTorch on one thread: gradients of single examples by einsum (as training libraries do), clipping, ordinary noise.

Prints steps a second, to hold against those of benchmarks/training. Its noise is neither exact nor secure.
"""

import time

import torch

INPUTS, HIDDEN, CLASSES, RECORDS, BATCH, STEPS = 392, 32, 10, 60000, 256, 300
CLIP, SIGMA, RATE = 1.5, 1.3, 0.25


def step(data, labels, weights):
    chosen = torch.randint(RECORDS, (BATCH,))  # cheaper than drawing without replacement
    inputs, wanted = data[chosen], labels[chosen]
    first, bias_1, second, bias_2 = weights
    hidden = torch.tanh(inputs @ first + bias_1)
    delta_2 = torch.softmax(hidden @ second + bias_2, 1)
    delta_2[torch.arange(BATCH), wanted] -= 1
    delta_1 = (delta_2 @ second.T) * (1 - hidden**2)
    gradients = [torch.einsum("bi,bj->bij", inputs, delta_1), delta_1, torch.einsum("bi,bj->bij", hidden, delta_2), delta_2]
    norms = torch.sqrt(sum(one.flatten(1).pow(2).sum(1) for one in gradients))
    factors = torch.clamp(CLIP / norms, max=1)
    for weight, gradient in zip(weights, gradients):
        total = torch.einsum("b,b...->...", factors, gradient)
        weight -= RATE / BATCH * (total + 2 * SIGMA * CLIP * torch.randn_like(weight))


def main():
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    data, labels = torch.rand(RECORDS, INPUTS) * 0.25, torch.randint(CLASSES, (RECORDS,))
    weights = [torch.randn(INPUTS, HIDDEN) / INPUTS**0.5, torch.zeros(HIDDEN), torch.randn(HIDDEN, CLASSES) / HIDDEN**0.5, torch.zeros(CLASSES)]
    for _ in range(20):
        step(data, labels, weights)
    start = time.process_time()
    for _ in range(STEPS):
        step(data, labels, weights)
    print(f"PyTorch {torch.__version__}, gradients of single examples, one thread: {STEPS / (time.process_time() - start):.0f} steps a second")


if __name__ == "__main__":
    main()
