# SPDX-License-Identifier: Apache-2.0
"""How each accountant is asked. A class a peer; a method a kind of question, named alike everywhere; what a peer cannot do it does not have.

Imports stand in `__init__`, so that start-up is measured apart from answers. Each call starts cold: a new accountant, nothing kept. An
answer is a number, a list of numbers, or a pair (lower, upper) where the peer gives one.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import Any

Step = tuple[float, float, int]  # noise multiplier, sampling rate, times


class Ours:
    def __init__(self) -> None:
        import tradeoff

        self.to = tradeoff

    def _plan(self, steps: list[Step]) -> Any:
        return self.to.compose(*(self.to.gaussian(sigma).poisson(rate).repeat(times) for sigma, rate, times in steps))

    def epsilon(self, steps: list[Step], delta: float) -> Any:
        return tuple(self._plan(steps).curve().epsilon(delta))

    def deltas(self, steps: list[Step], epsilons: list[float]) -> Any:
        return self._plan(steps).curve().delta(epsilons)

    def betas(self, steps: list[Step], alphas: list[float]) -> Any:
        return self._plan(steps).curve().beta(alphas)

    def gaussian_deltas(self, sigma: float, epsilons: list[float]) -> Any:
        return self.to.gaussian(sigma).curve().delta(epsilons)

    def gaussian_sigmas(self, pairs: list[tuple[float, float]]) -> Any:
        return [tuple(self.to.calibrate("gaussian(sigma=?)", epsilon=epsilon, delta=delta).value) for epsilon, delta in pairs]

    def sigma(self, rate: float, times: int, epsilon: float, delta: float) -> Any:
        return tuple(self.to.calibrate(f"gaussian(sigma=?) | poisson(rate={rate}) | repeat({times})", epsilon=epsilon, delta=delta).value)

    def sigma_for_advantage(self, rate: float, times: int, advantage: float) -> Any:
        return tuple(self.to.calibrate(f"gaussian(sigma=?) | poisson(rate={rate}) | repeat({times})", advantage=advantage).value)

    def sigma_for_rates(self, rate: float, times: int, fpr: float, tpr: float) -> Any:
        return tuple(self.to.calibrate(f"gaussian(sigma=?) | poisson(rate={rate}) | repeat({times})", fpr=fpr, tpr=tpr).value)

    def mu(self, steps: list[Step]) -> Any:
        return tuple(self._plan(steps).curve().mu(slack=1e-10).with_slack[0].mu)

    def mixed(self, scales: list[float], sigmas: list[float], steps: list[Step], delta: float) -> Any:
        to = self.to
        plan = to.compose(*(to.laplace(scale) for scale in scales), *(to.gaussian(sigma) for sigma in sigmas), self._plan(steps))
        return tuple(plan.curve(neighbours="add-remove").epsilon(delta))

    def pure(self, guarantees: list[tuple[float, float, int]], delta: float) -> Any:
        plan = self.to.compose(*(self.to.dp(epsilon, lost).repeat(times) for epsilon, lost, times in guarantees))
        return tuple(plan.curve().epsilon(delta))

    def allocated_delta(self, sigma: float, steps: int, epsilon: float) -> Any:
        return tuple(self.to.analyze(f"gaussian(sigma={sigma}) | allocate(steps={steps})").delta(epsilon))

    def tuned_epsilon(self, steps: list[Step], mean: int, delta: float) -> Any:
        return tuple(self._plan(steps).best_of(self.to.Runs.geometric(mean)).curve().epsilon(delta))

    def noise(self, scale: float, draws: int) -> Any:
        import numpy as np

        released = self.to.release(f"discrete_gaussian(sigma={scale})", np.zeros((1, draws)), on_grid=True)
        return float(np.std(released.rows))


class GooglePld:
    """dp-accounting, privacy loss distributions (connect the dots, grid 1e-4): upper bounds."""

    def __init__(self) -> None:
        import dp_accounting
        from dp_accounting.pld import privacy_loss_distribution

        self.dp, self.pld = dp_accounting, privacy_loss_distribution

    def _accountant(self) -> Any:
        from dp_accounting.pld import PLDAccountant

        return PLDAccountant(neighboring_relation=self.dp.NeighboringRelation.ADD_OR_REMOVE_ONE)

    def _event(self, steps: list[Step]) -> Any:
        dp = self.dp
        return dp.ComposedDpEvent(
            [dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(sigma)), times) for sigma, rate, times in steps]
        )

    def epsilon(self, steps: list[Step], delta: float) -> Any:
        return self._accountant().compose(self._event(steps)).get_epsilon(delta)

    def deltas(self, steps: list[Step], epsilons: list[float]) -> Any:
        accountant = self._accountant().compose(self._event(steps))
        return [accountant.get_delta(epsilon) for epsilon in epsilons]

    def gaussian_deltas(self, sigma: float, epsilons: list[float]) -> Any:
        from dp_accounting.pld import privacy_loss_mechanism

        loss = privacy_loss_mechanism.GaussianPrivacyLoss(sigma)
        return [loss.get_delta_for_epsilon(epsilon) for epsilon in epsilons]

    def gaussian_sigmas(self, pairs: list[tuple[float, float]]) -> Any:
        return [self.dp.get_sigma_gaussian(epsilon, delta) for epsilon, delta in pairs]

    def sigma(self, rate: float, times: int, epsilon: float, delta: float) -> Any:
        return self.dp.calibrate_dp_mechanism(
            self._accountant, lambda sigma: self._event([(sigma, rate, times)]), epsilon, delta, self.dp.LowerEndpointAndGuess(0.2, 2), tol=1e-4
        )

    def mixed(self, scales: list[float], sigmas: list[float], steps: list[Step], delta: float) -> Any:
        dp = self.dp
        accountant = self._accountant()
        for scale in scales:
            accountant.compose(dp.LaplaceDpEvent(scale))
        for sigma in sigmas:
            accountant.compose(dp.GaussianDpEvent(sigma))
        return accountant.compose(self._event(steps)).get_epsilon(delta)

    def pure(self, guarantees: list[tuple[float, float, int]], delta: float) -> Any:
        from dp_accounting.pld import common

        whole = self.pld.identity()
        for epsilon, lost, times in guarantees:
            one = self.pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, lost))
            whole = whole.compose(one.self_compose(times))
        return whole.get_epsilon_for_delta(delta)


class GoogleRdp(GooglePld):
    """dp-accounting, Renyi: valid and loose."""

    deltas = gaussian_deltas = gaussian_sigmas = sigma = pure = None  # type: ignore[assignment]

    def _accountant(self) -> Any:
        from dp_accounting.rdp import RdpAccountant

        return RdpAccountant(neighboring_relation=self.dp.NeighboringRelation.ADD_OR_REMOVE_ONE)

    def tuned_epsilon(self, steps: list[Step], mean: int, delta: float) -> Any:
        from dp_accounting.dp_event import RepeatAndSelectDpEvent

        event = RepeatAndSelectDpEvent(self._event(steps), mean=mean, shape=1)
        return self._accountant().compose(event).get_epsilon(delta)


class Prv:
    """prv-accountant with eps_error 0.01."""

    eps_error = 0.01

    def __init__(self) -> None:
        import prv_accountant

        self.prv = prv_accountant

    def epsilon(self, steps: list[Step], delta: float) -> Any:
        prvs = [self.prv.PoissonSubsampledGaussianMechanism(noise_multiplier=sigma, sampling_probability=rate) for sigma, rate, _ in steps]
        times = [times for _, _, times in steps]
        accountant = self.prv.PRVAccountant(prvs=prvs, max_self_compositions=times, eps_error=self.eps_error, delta_error=delta * 1e-5)
        low, _, high = accountant.compute_epsilon(delta=delta, num_self_compositions=times)
        return low, high


class PrvFine(Prv):
    """prv-accountant with eps_error 0.001."""

    eps_error = 0.001


class Opacus:
    """The accountants of Opacus, loaded without PyTorch, which they do not use."""

    def __init__(self) -> None:
        place = next(os.path.join(path, "opacus") for path in sys.path if os.path.isdir(os.path.join(path, "opacus")))
        for name, path in (("opacus", place), ("opacus.accountants", os.path.join(place, "accountants"))):
            module = types.ModuleType(name)
            module.__path__ = [path]
            sys.modules[name] = module
        optimizers = types.ModuleType("opacus.optimizers")
        optimizers.DPOptimizer = object  # type: ignore[attr-defined]
        sys.modules["opacus.optimizers"] = optimizers
        self.prv = importlib.import_module("opacus.accountants.prv")
        self.rdp = importlib.import_module("opacus.accountants.rdp")
        self.gdp = importlib.import_module("opacus.accountants.analysis.gdp")

    def epsilon(self, steps: list[Step], delta: float) -> Any:
        accountant = self.prv.PRVAccountant()
        accountant.history = list(steps)
        return float(accountant.get_epsilon(delta))

    def gaussian_deltas(self, sigma: float, epsilons: list[float]) -> Any:
        import numpy as np

        return self.gdp.delta_eps_mu(eps=np.asarray(epsilons), mu=1 / sigma)


class OpacusRdp(Opacus):
    """Opacus' Renyi accountant: valid and loose."""

    gaussian_deltas = None  # type: ignore[assignment]

    def epsilon(self, steps: list[Step], delta: float) -> Any:
        accountant = self.rdp.RDPAccountant()
        accountant.history = list(steps)
        return float(accountant.get_epsilon(delta))


class AutoDp:
    def __init__(self) -> None:
        from autodp import calibrator_zoo, mechanism_zoo, transformer_zoo

        self.mechanisms, self.transformers, self.calibrators = mechanism_zoo, transformer_zoo, calibrator_zoo

    def epsilon(self, steps: list[Step], delta: float) -> Any:
        sampling = self.transformers.AmplificationBySampling(PoissonSampling=True)
        parts = [sampling(self.mechanisms.GaussianMechanism(sigma=sigma), rate, improved_bound_flag=True) for sigma, rate, _ in steps]
        return float(self.transformers.Composition()(parts, [times for _, _, times in steps]).get_approxDP(delta))

    def gaussian_sigmas(self, pairs: list[tuple[float, float]]) -> Any:
        calibrate = self.calibrators.ana_gaussian_calibrator()
        return [calibrate(self.mechanisms.ExactGaussianMechanism, epsilon, delta).params["sigma"] for epsilon, delta in pairs]


class GdpNum:
    def __init__(self) -> None:
        import gdpnum

        self.gdpnum = gdpnum

    def mu(self, steps: list[Step]) -> Any:
        accountant = self.gdpnum.CTDAccountant()
        accountant.history = list(steps)
        return float(accountant.get_mu_and_regret()[0])

    def betas(self, steps: list[Step], alphas: list[float]) -> Any:
        import numpy as np

        accountant = self.gdpnum.CTDAccountant()
        accountant.history = list(steps)
        return accountant.get_beta(alpha=np.asarray(alphas))


class RiskCal:
    def __init__(self) -> None:
        from riskcal.calibration import dpsgd

        self.dpsgd = dpsgd

    def sigma_for_advantage(self, rate: float, times: int, advantage: float) -> Any:
        return float(self.dpsgd.find_noise_multiplier_for_advantage(advantage, rate, times))

    def sigma_for_rates(self, rate: float, times: int, fpr: float, tpr: float) -> Any:
        return float(self.dpsgd.find_noise_multiplier_for_err_rates(fpr, 1 - tpr, rate, times))

    def betas(self, steps: list[Step], alphas: list[float]) -> Any:
        import numpy as np

        ((sigma, rate, times),) = steps
        return self.dpsgd.get_beta_for_dpsgd(noise_multiplier=sigma, sample_rate=rate, num_steps=times, alpha=np.asarray(alphas))


class OpenDp:
    def __init__(self) -> None:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        self.dp = dp

    def noise(self, scale: float, draws: int) -> Any:
        import statistics

        dp = self.dp
        measurement = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float), scale=scale)
        return statistics.pstdev(measurement([0] * draws))


class PldAccounting:
    """PLD_accounting with its default discretisation: upper and lower bounds for random allocation."""

    def __init__(self) -> None:
        import PLD_accounting

        self.allocation = PLD_accounting

    def allocated_delta(self, sigma: float, steps: int, epsilon: float) -> Any:
        own = self.allocation
        params, config = own.PrivacyParams(sigma=sigma, num_steps=steps, epsilon=epsilon), own.AllocationSchemeConfig()
        ends = (own.BoundType.IS_DOMINATED, own.BoundType.DOMINATES)
        return tuple(own.gaussian_allocation_delta_configurable(params=params, config=config, bound_type=end) for end in ends)


PEERS: dict[str, type] = {
    "tradeoff": Ours,
    "dp-accounting PLD": GooglePld,
    "dp-accounting RDP": GoogleRdp,
    "prv 0.01": Prv,
    "prv 0.001": PrvFine,
    "opacus PRV": Opacus,
    "opacus RDP": OpacusRdp,
    "autodp": AutoDp,
    "gdpnum": GdpNum,
    "riskcal": RiskCal,
    "opendp": OpenDp,
    "PLD_accounting": PldAccounting,
}
