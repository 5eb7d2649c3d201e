# SPDX-License-Identifier: Apache-2.0
"""The weights that `tradeoff train --export` writes, in a PyTorch module, classify as `tradeoff train --predict` does."""

import json
import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
import torch

PROGRAM = os.environ.get("TRADEOFF_CLI") or shutil.which("tradeoff")
pytestmark = pytest.mark.skipif(not PROGRAM or not Path(PROGRAM).exists(), reason="no command line")


def write_images(folder: Path, stem: str, images: torch.Tensor, labels: torch.Tensor) -> None:
    sizes = struct.pack(">4I", 2051, *images.shape)
    (folder / f"{stem}-images-idx3-ubyte").write_bytes(sizes + bytes(images.flatten().tolist()))
    (folder / f"{stem}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 2049, len(labels)) + bytes(labels.tolist()))


def read_safetensors(path: Path) -> tuple[str, dict[str, torch.Tensor]]:
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, values = json.loads(data[8 : 8 + length]), data[8 + length :]
    module = header.pop("__metadata__")["module"]
    ends = {name: one["data_offsets"] for name, one in header.items()}
    return module, {name: torch.frombuffer(bytearray(values[slice(*ends[name])]), dtype=torch.float32).reshape(one["shape"]) for name, one in header.items()}


@pytest.mark.parametrize("shape", [["--filters", "3"], ["--hidden", "5"], ["--hidden", "0"]])
def test_an_exported_model_is_that_of_the_checkpoint(tmp_path: Path, shape: list[str]) -> None:
    images, labels = torch.randint(0, 256, (300, 13, 12)), torch.randint(0, 3, (300,))
    for stem in ("train", "t10k"):
        write_images(tmp_path, stem, images, labels)
    model = str(tmp_path / "run.model")

    def run(*more: str) -> str:
        return subprocess.run([str(PROGRAM), "train", "--classes", "3", "--checkpoint", model, *more], check=True, capture_output=True, text=True).stdout

    run("--data", str(tmp_path), "--public-size", "300", "--features", "values", "--noise", "1", "--batch", "100", "--epochs", "20", "--export", str(tmp_path / "m.safetensors"), *shape)
    rows = [line.split(",") for line in run("--predict", str(tmp_path)).splitlines()[1:]]
    text, weights = read_safetensors(tmp_path / "m.safetensors")
    module = eval(text, {name: getattr(torch.nn, name) for name in ("Sequential", "Conv2d", "Tanh", "AvgPool2d", "Flatten", "Linear")})
    module.load_state_dict(weights)
    inputs = images.unsqueeze(1).float() / 255
    with torch.no_grad():
        found = module(inputs if shape[0] == "--filters" else inputs.flatten(1)).softmax(1)
    chance = torch.tensor([float(one) for _, one in rows])
    classes = torch.tensor([int(one) for one, _ in rows])
    assert len(rows) == 300
    assert float((found[torch.arange(300), classes] - chance).abs().max()) < 0.03  # the program rounds activations to a grid
    assert float((found.argmax(1) == classes).float().mean()) > 0.9
