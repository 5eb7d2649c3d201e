// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "fuzz.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

// Profiles and curves of users. The first line of the input is a plan, in which FILE stands for a table that holds the rest of the input:
//     profile(file="FILE", tail=zero) | refine()
//     0, 0.5
//     1, 0
// It is refused, or it is a curve: inside its range and monotone.
namespace {

using tradeoff::Interval;
using tradeoff::detail::fuzz::require;

constexpr std::size_t longest_line = 400;    // of the plan
constexpr std::size_t longest_table = 2000;  // characters, so that no curve takes long

/// A file in memory that other code opens by a path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("table", MFD_CLOEXEC)) { require(descriptor_ >= 0); }
  void fill(std::string_view text) const {
    require(::ftruncate(descriptor_, 0) == 0);
    require(::pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Only sources that users state themselves, and only this one file.
bool is_stated(const tradeoff::Plan& plan, const std::string& path) {
  if (plan.lines.size() != 1 || plan.lines[0].operators.size() > 2) return false;
  const auto* source = std::get_if<tradeoff::Call>(&plan.lines[0].source);
  constexpr std::array<std::string_view, 5> sources = {"profile", "curve", "constraints", "pair", "rdp"};
  constexpr std::array<std::string_view, 3> operators = {"refine", "invert", "rectify"};
  if (source == nullptr || std::find(sources.begin(), sources.end(), source->name) == sources.end()) return false;
  for (const auto& call : plan.lines[0].operators)
    if (std::find(operators.begin(), operators.end(), call.name) == operators.end()) return false;
  for (const auto& argument : source->arguments)
    if (argument.name == "file" && std::get<std::string>(argument.value.content) != path) return false;
  return true;
}

void check_curve(const tradeoff::Curve& curve) {
  double above = 1;
  for (const double epsilon : {0.0, 0.5, 1.0, 8.0, std::numeric_limits<double>::infinity()}) {
    const Interval delta = curve.delta_at(epsilon);
    require(0 <= delta.lo && delta.lo <= delta.hi && delta.hi <= 1);
    require(delta.lo <= above);
    above = delta.hi;
  }
  for (const double delta : {0.0, 1e-5, 0.5}) {
    const Interval epsilon = curve.epsilon_at(delta);
    require(0 <= epsilon.lo && epsilon.lo <= epsilon.hi);
  }
  const Interval beta = curve.beta_at(0.25);
  require(0 <= beta.lo && beta.lo <= beta.hi && beta.hi <= 1);
  require(beta.lo <= 0.75);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tradeoff::detail::fuzz::TimeLimit limit;
  static const MemoryFile file;
  std::string_view table = tradeoff::detail::fuzz::to_text(data, size);
  std::string line(tradeoff::detail::fuzz::take_until(table, "\n"));
  if (line.size() > longest_line || table.size() > longest_table) return 0;
  const std::string path = file.path();
  if (const std::size_t at = line.find("FILE"); at != std::string::npos) line.replace(at, 4, path);
  try {
    const tradeoff::Plan plan = tradeoff::parse(line);
    if (!is_stated(plan, path)) return 0;
    file.fill(table);
    check_curve(analyze(plan));
  } catch (const tradeoff::Error& error) {
    require(*error.what() != '\0');
  }
  return 0;
}
