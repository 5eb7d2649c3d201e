// SPDX-License-Identifier: Apache-2.0
#include "numeric/floating_point_guard.h"

#include <cfenv>
#include <stdexcept>

namespace tradeoff::detail::numeric {
namespace {

thread_local bool inside = false;

/// While it exists, the thread uses the default floating-point environment of the C library: traps are masked and subnormal numbers are
/// kept. [usual-arithmetic]
class DefaultEnvironment {
 public:
  DefaultEnvironment() : was_inside_(inside) {
    if (std::fegetenv(&before_) != 0 || std::fesetenv(FE_DFL_ENV) != 0)
      throw std::runtime_error("arithmetic is not the usual one here, and it cannot be changed");
    inside = true;
  }
  ~DefaultEnvironment() {
    inside = was_inside_;
    static_cast<void>(std::fesetenv(&before_));  // cannot fail where it succeeded before
  }
  DefaultEnvironment(const DefaultEnvironment&) = delete;
  DefaultEnvironment& operator=(const DefaultEnvironment&) = delete;

 private:
  std::fenv_t before_{};
  bool was_inside_;
};

}  // namespace

bool inside_usual_arithmetic() noexcept { return inside; }

void run_in_usual_arithmetic(const std::function<void()>& body) {
  const DefaultEnvironment usual;
  body();
}

}  // namespace tradeoff::detail::numeric
