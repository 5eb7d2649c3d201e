# SPDX-License-Identifier: Apache-2.0
"""Another rounding mode in the thread that calls changes no answer."""

import ctypes
import ctypes.util

import pytest

import tradeoff as to

libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
TO_NEAREST = 0
MODES = {"downward": 0x400, "upward": 0x800, "toward zero": 0xC00}  # of x86-64


def answers():
    curve = (to.gaussian(sigma=1.1).poisson(rate="256/60000").repeat(100)).curve()
    other = to.laplace(scale=0.7).curve()
    return [curve.epsilon(delta=1e-5), curve.delta(epsilon=0.3), other.beta(alpha=0.3), other.delta(epsilon=0.1), other.advantage()]


@pytest.mark.skipif(libm.fegetround() != TO_NEAREST, reason="the numbers of the modes are those of x86-64")
@pytest.mark.parametrize("mode", MODES)
def test_other_rounding_modes_change_no_answer(mode):
    usual = answers()
    if libm.fesetround(MODES[mode]) != 0:
        pytest.skip("the numbers of the modes are those of x86-64")
    try:
        found = answers()
        kept = libm.fegetround()
    finally:
        libm.fesetround(TO_NEAREST)
    assert [(one.lo, one.hi) for one in found] == [(one.lo, one.hi) for one in usual]
    assert kept == MODES[mode]
