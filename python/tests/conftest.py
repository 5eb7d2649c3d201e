# SPDX-License-Identifier: Apache-2.0
"""The command line, to compare with: the environment variable TRADEOFF_CLI names it."""

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

# The same examples every time, so that a run is as long as the last one; TRADEOFF_TEST_SCALE asks for that many times more, at random.
scale = float(os.environ.get("TRADEOFF_TEST_SCALE", "1"))
settings.register_profile("usual", max_examples=max(10, int(60 * scale)), deadline=None, derandomize=scale <= 1)
settings.load_profile("usual")


@pytest.fixture(scope="session")
def command_line() -> str:
    path = os.environ.get("TRADEOFF_CLI", "")
    if not path:
        pytest.skip("TRADEOFF_CLI does not name the command line")
    return path


@pytest.fixture(scope="session")
def query(command_line: str) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Puts requests to `tradeoff query` and gives back the answers."""

    def ask(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        text = "".join(json.dumps(request) + "\n" for request in requests)
        done = subprocess.run([command_line, "query"], input=text, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask
