// SPDX-License-Identifier: Apache-2.0
#include "calibrate/effect.h"

#include <array>

#include "tradeoff/error.h"

namespace tradeoff {
namespace {

constexpr double any = 1e300, count = 1e12, steps = 1e5;

// [parameter-calibration] One row per parameter; the theorem page proves its monotonicity or shows that it fails.
constexpr std::array effects{
    // call, parameter, more_is_safer, whole, monotone, largest
    Effect{"gaussian", "sigma", true, false, true, any},
    Effect{"gaussian", "sensitivity", false, false, true, any},
    Effect{"laplace", "scale", true, false, true, any},
    Effect{"laplace", "sensitivity", false, false, true, any},
    Effect{"discrete_laplace", "scale", true, false, true, any},
    Effect{"discrete_laplace", "sensitivity", false, true, true, steps},
    Effect{"discrete_gaussian", "sigma", true, false, false, 1e4},
    Effect{"discrete_gaussian", "sensitivity", false, true, true, steps},
    Effect{"truncated_laplace", "scale", true, false, false, any},
    Effect{"truncated_laplace", "sensitivity", false, false, true, any},
    Effect{"truncated_discrete_laplace", "scale", true, false, false, any},
    Effect{"truncated_discrete_laplace", "sensitivity", false, true, true, steps},
    Effect{"randomized_response", "epsilon", false, false, true, 1e6},
    Effect{"gdp", "mu", false, false, true, any},
    Effect{"dp", "epsilon", false, false, true, 1e6},
    Effect{"dp", "delta", false, false, true, 1},
    Effect{"zcdp", "rho", false, false, true, any},
    Effect{"sqrt_log_family", "sigma", true, false, true, any},
    Effect{"log_family", "sigma", true, false, true, any},
    Effect{"poisson", "rate", false, false, true, 1},
    Effect{"sample", "rate", false, false, true, 1},
    Effect{"sample_with_replacement", "draws", false, true, true, count},
    Effect{"repeat", "times", false, true, true, count},
    Effect{"rectify", "epsilon", false, false, true, 1e6},
};

}  // namespace

const Effect& effect_of(const UnknownPlace& place) {
  for (const Effect& effect : effects)
    if (effect.call == place.call && effect.parameter == place.parameter) return effect;
  throw UnsupportedError("calibrate: " + place.call + "(" + place.parameter + "=?) cannot be calibrated");
}

}  // namespace tradeoff
