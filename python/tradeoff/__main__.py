# SPDX-License-Identifier: Apache-2.0
"""``python -m tradeoff opinion FILE...``: a second opinion on privacy claims, with exit codes for continuous integration."""

import sys

from ._opinion import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
