#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/numeric/mills_table.h: Taylor coefficients of the Mills ratio, each rounded to the nearest double.

    python3 tools/make_mills_table.py > src/numeric/mills_table.h        (needs mpmath)

The coefficient of e^n in Mills(centre - e) is I_n(centre) / n! with I_n(c) = Int_0^inf t^n exp(-c t - t^2/2) dt, a parabolic cylinder function.
tests/numeric/mills_test.cpp recomputes every entry with Arb, so the table need not be trusted.
"""

import mpmath

DEGREE = 15  # see docs/theory/normal-functions.md: truncation below 0.04 * 2^-53


def centres():
    for i in range(24):  # [-1, 2) in steps of 1/8
        yield mpmath.mpf(2 * i + 1) / 16 - 1
    for octave in (2, 4, 8):  # [2, 16), sixteen pieces an octave
        for i in range(16):
            yield octave * (1 + mpmath.mpf(2 * i + 1) / 32)


def coefficient(n, centre):
    return mpmath.exp(centre**2 / 4) * mpmath.pcfu(n + mpmath.mpf(1) / 2, centre)


def main():
    mpmath.mp.dps = 60
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Written by tools/make_mills_table.py; checked entry by entry against Arb. [normal-functions]")
    print("#pragma once\n")
    print("namespace tradeoff::detail::numeric {\n")
    rows = list(centres())
    print(f"inline constexpr int mills_degree = {DEGREE};")
    print(f"inline constexpr int mills_pieces = {len(rows)};\n")
    print("// clang-format off")
    print("alignas(64) inline constexpr double mills_table[mills_pieces][mills_degree + 1] = {")
    for centre in rows:
        values = [float(coefficient(n, centre)).hex() for n in range(DEGREE + 1)]
        print(f"  {{  // about {float(centre)}")
        for start in range(0, len(values), 4):
            print("    " + ", ".join(values[start : start + 4]) + ",")
        print("  },")
    print("};")
    print("// clang-format on\n")
    print("}  // namespace tradeoff::detail::numeric")


if __name__ == "__main__":
    main()
