# SPDX-License-Identifier: Apache-2.0
"""The accountant for dp-accounting, held to dp-accounting's own tests."""

import pytest

import tradeoff as to

dp_accounting = pytest.importorskip("dp_accounting")
from dp_accounting import dp_event, mechanism_calibration, privacy_accountant, privacy_accountant_test  # noqa: E402

from tradeoff.interchange.dp_accounting import CertifiedAccountant  # noqa: E402

ADD = privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE


class TestTheirs(privacy_accountant_test.PrivacyAccountantTest):
    """Every test of dp-accounting for any accountant."""

    def _make_test_accountants(self) -> list[CertifiedAccountant]:
        return [CertifiedAccountant(relation) for relation in privacy_accountant.NeighboringRelation]


def test_is_the_certified_answer() -> None:
    event = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.1)), 1000)
    accountant = CertifiedAccountant()
    accountant.compose(event)
    accountant.compose(dp_event.GaussianDpEvent(5.0), 3)
    plan = to.compose(to.gaussian(1.1).poisson(0.01).repeat(1000), to.gaussian(5).repeat(3))
    assert accountant.get_epsilon(1e-5) == pytest.approx(plan.curve(neighbours="add-remove").epsilon(1e-5).hi, rel=1e-5)
    assert accountant.get_delta(1.0) >= plan.curve(neighbours="add-remove").delta(1.0).lo


def test_counts_composed_randomised_response() -> None:
    accountant = CertifiedAccountant(privacy_accountant.NeighboringRelation.REPLACE_ONE)
    accountant.compose(dp_event.SelfComposedDpEvent(dp_event.RandomizedResponseDpEvent(0.5, 2), 100))
    assert accountant.get_epsilon(1e-5) > 50


def test_calibrates() -> None:
    noise = mechanism_calibration.calibrate_dp_mechanism(
        CertifiedAccountant, lambda sigma: dp_event.GaussianDpEvent(sigma), 1.0, 1e-5, mechanism_calibration.LowerEndpointAndGuess(0.1, 3.0)
    )
    assert CertifiedAccountant().compose(dp_event.GaussianDpEvent(noise)).get_epsilon(1e-5) <= 1.0
    assert noise == pytest.approx(3.73, rel=0.01)


def test_zcdp_both_ways() -> None:
    event = dp_event.ZCDpEvent(0.25)
    plan = to.interchange.from_dp_event(event, neighbours="add-remove")
    assert plan == to.zcdp(0.25)
    assert to.interchange.to_dp_event(plan, neighbours="add-remove") == event
    assert CertifiedAccountant().supports(event)


def test_refuses_with_a_reason() -> None:
    accountant = CertifiedAccountant()
    assert not accountant.supports(dp_event.UnsupportedDpEvent())
    with pytest.raises(privacy_accountant.UnsupportedEventError, match="nothing is known"):
        accountant.compose(dp_event.UnsupportedDpEvent())
    with pytest.raises(ValueError, match="target_delta"):
        accountant.get_epsilon(2.0)
