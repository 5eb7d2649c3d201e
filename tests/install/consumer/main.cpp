// SPDX-License-Identifier: Apache-2.0
#include <tradeoff/tradeoff.h>

#include <cstdio>

// One Gaussian with sigma 1 has delta(1) = Phi(-1/2) - e Phi(-3/2) = 0.126936737506643945...
int main() {
  const tradeoff::Curve curve = tradeoff::analyze(tradeoff::plan::gaussian(1));
  const tradeoff::Interval delta = curve.delta_at(1.0);
  std::printf("delta(1) is between %.17g and %.17g\n", delta.lo, delta.hi);
  const bool holds = delta.lo <= 0.12693673750664395 && delta.hi >= 0.12693673750664394;
  return holds && delta.width() < 1e-12 ? 0 : 1;
}
