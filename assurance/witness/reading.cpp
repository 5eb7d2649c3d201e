// SPDX-License-Identifier: Apache-2.0
#include "reading.h"

#include <algorithm>
#include <cmath>

#include "plan/vocabulary.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::witness {
namespace {

constexpr slong parameter_bits = 640;  // as many as the closed forms carry

[[noreturn]] void refuse(const std::string& what) { throw UnsupportedError("witness: " + what + " is not supported"); }

const Value* find(const Call& call, std::string_view name) {
  for (const Argument& argument : call.arguments)
    if (argument.name == name) return &argument.value;
  return nullptr;
}

Number number(const Call& call, std::string_view name, Role role = Role::source) {
  if (const Value* value = find(call, name)) {
    if (const auto* given = std::get_if<Number>(&value->content)) return *given;
    refuse(call.name + " with an unknown");
  }
  const Word* word = vocabulary().find(role, call.name);
  const Parameter* parameter = word == nullptr ? nullptr : find_parameter(*word, name);
  if (parameter == nullptr || parameter->fallback.empty()) refuse(call.name + " without " + std::string(name));
  return read_number(parameter->fallback);
}

Real real(const Call& call, std::string_view name, Role role = Role::source) { return exact(number(call, name, role)); }

long count(const Call& call, std::string_view name, Role role = Role::source) {
  const Real value = real(call, name, role);
  constexpr double most = 1e9;
  if (!(value.upper() <= most)) refuse(call.name + " with " + std::string(name) + " above 1e9");
  return std::lround(value.middle());
}

std::vector<Real> reals(const Call& call, std::string_view name) {
  std::vector<Real> values;
  const Value* list = find(call, name);
  if (list == nullptr) refuse(call.name);
  for (const Value& item : std::get<List>(list->content).items) values.push_back(exact(std::get<Number>(item.content)));
  return values;
}

/// Plain Gaussians compose to one Gaussian; the squares of mu add.
std::vector<Part> merge_gaussians(std::vector<Part> parts) {
  Real squares;
  std::vector<Part> merged;
  for (Part& part : parts) {
    if (part.gaussian_mu.positive())
      squares += part.gaussian_mu * part.gaussian_mu * Real(part.times);
    else
      merged.push_back(std::move(part));
  }
  if (!squares.positive()) return merged;
  Part& gaussian = merged.emplace_back();
  gaussian.gaussian_mu = sqrt(squares);
  gaussian.density = gaussian_density(gaussian.gaussian_mu);
  return merged;
}

/// Turns lines into distributions; stores the units of their point masses.
class Reader {
 public:
  explicit Reader(Neighbours neighbours) : neighbours_(neighbours) {}
  [[nodiscard]] std::vector<Part> parts(const Plan& plan) {
    std::vector<Part> all;
    for (const Line& line : plan.lines) {
      std::vector<Part> some = std::holds_alternative<Plan>(line.source) ? parts(std::get<Plan>(line.source))
                                                                         : std::vector<Part>{source(std::get<Call>(line.source))};
      for (const Call& operation : line.operators) some = apply(operation, std::move(some));
      for (Part& part : some) all.push_back(std::move(part));
    }
    return all;
  }
  [[nodiscard]] std::vector<Real> units() && { return std::move(units_); }
  [[nodiscard]] bool directed() const { return directed_; }
  [[nodiscard]] bool sampled() const { return sampled_; }

 private:
  [[nodiscard]] std::size_t unit(const Real& value) {
    units_.push_back(value);
    return units_.size() - 1;
  }
  /// A point mass of P at its own loss.
  void add_atom(Part& part, const Real& loss, const Real& mass) { part.atoms.add({{unit(loss), 1}}, mass); }

  [[nodiscard]] Part source(const Call& call) {
    if (call.name == "gaussian" && find(call, "clip") != nullptr) return clipped_gaussian(call);
    if (call.name == "gaussian") return gaussian(real(call, "sensitivity") / real(call, "sigma"));
    if (call.name == "gdp") return gaussian(real(call, "mu"));
    if (call.name == "exponential" && find(call, "epsilon") != nullptr) return choice(real(call, "epsilon"));
    if (call.name == "laplace") return laplace(real(call, "sensitivity") / real(call, "scale"));
    if (call.name == "truncated_laplace")
      return truncated_laplace(real(call, "sensitivity") / real(call, "scale"), real(call, "bound") / real(call, "scale"));
    if (call.name == "randomized_response") return response(real(call, "epsilon"), real(call, "choices"));
    if (call.name == "dp") return approximate(real(call, "epsilon"), real(call, "delta"));
    if (call.name == "constraints") return constraints(call);
    if (call.name == "pair") return pair(reals(call, "p"), reals(call, "q"));
    if (call.name == "discrete_laplace") return discrete_laplace(real(call, "scale"), count(call, "sensitivity"));
    if (call.name == "truncated_discrete_laplace")
      return truncated_discrete_laplace(real(call, "scale"), count(call, "bound"), count(call, "sensitivity"));
    if (call.name == "discrete_gaussian") return discrete_gaussian(real(call, "sigma"), count(call, "sensitivity"));
    refuse(call.name);
  }

  /// A record that is replaced moves the sum by twice the norm.
  [[nodiscard]] Part clipped_gaussian(const Call& call) const {
    if (neighbours_ == Neighbours::unstated) refuse("gaussian with a clip norm and unstated neighbours");
    const Real mu = real(call, "clip") / real(call, "sigma");
    return gaussian(neighbours_ == Neighbours::replace_one ? mu * 2 : mu);
  }

  static Part gaussian(const Real& mu) {
    if (!mu.positive()) refuse("a sensitivity of 0");
    Part part;
    part.gaussian_mu = mu;
    part.density = gaussian_density(mu);
    return part;
  }

  /// One choice whose losses lie in an interval of this length: the logistic distribution shifted by it. Several have a worst case that is
  /// no product of such pairs.
  Part choice(const Real& range) {
    if (!range.positive()) refuse("an epsilon of 0");
    Part part;
    part.chosen = true;
    set_exponential(part, exp(-range / 2) / 2 / (Real(1) - exp(-range)), range);
    return part;
  }

  /// Noise x, at P's centre 0 and Q's centre e0: the loss is e0 below 0, e0 - 2x between, -e0 above e0.
  Part laplace(const Real& e0) {
    if (!e0.positive()) refuse("a sensitivity of 0");
    Part part;
    const std::size_t step = unit(e0);
    part.atoms.add({{step, 1}}, Real(0.5));
    part.atoms.add({{step, -1}}, exp(-e0) / 2);
    set_exponential(part, exp(-e0 / 2) / 4, e0);
    return part;
  }

  /// The same for x in [-reach, reach]: P mass density exp(-|x|)/(2 (1 - exp(-reach))).
  Part truncated_laplace(const Real& e0, const Real& reach) {
    if (!e0.positive()) refuse("a sensitivity of 0");
    const Real whole = Real(2) * (Real(1) - exp(-reach));
    Part part;
    if ((reach - e0).positive()) {
      const std::size_t step = unit(e0);
      const Real flank = (Real(1) - exp(e0 - reach)) / whole;
      part.atoms.add({{step, 1}}, flank);
      part.atoms.add({{step, -1}}, flank * exp(-e0));
      part.revealed = (exp(e0 - reach) - exp(-reach)) / whole;
      set_exponential(part, exp(-e0 / 2) / 2 / whole, e0);
    } else if ((reach * 2 - e0).positive() && (e0 - reach).positive()) {
      part.revealed = (Real(1) - exp(-reach) + Real(1) - exp(reach - e0)) / whole;
      set_exponential(part, exp(-e0 / 2) / 2 / whole, reach * 2 - e0);
    } else {
      refuse("truncated_laplace at the edge of a regime");
    }
    part.excluded = part.revealed;
    return part;
  }

  static void set_exponential(Part& part, const Real& k, const Real& m) {
    part.exponential_k = k;
    part.exponential_m = m;
    part.density = exponential_density(k, m);
  }

  Part response(const Real& epsilon, const Real& choices) {
    Part part;
    const Real truthful = exp(epsilon) / (exp(epsilon) + choices - 1);
    const Real lie = Real(1) / (exp(epsilon) + choices - 1);
    const std::size_t step = unit(epsilon);
    part.atoms.add({{step, 1}}, truthful);
    part.atoms.add({{step, -1}}, lie);
    part.atoms.add({}, lie * (choices - 2));
    return part;
  }

  /// The canonical pair of (epsilon, delta): reveal with probability delta, otherwise binary randomised response.
  Part approximate(const Real& epsilon, const Real& delta) {
    Part part = response(epsilon, Real(2));
    Atoms scaled;
    for (const auto& [place, mass] : part.atoms.masses()) scaled.add(place, mass * (Real(1) - delta));
    part.atoms = scaled;
    part.revealed = part.excluded = delta;
    return part;
  }

  /// The trade-off function that is the maximum of the lines 1 - d - exp(e) a and of their mirror images, as a pair: each segment below the
  /// diagonal is an outcome, its mirror image another.
  Part constraints(const Call& call) {
    const Value* list = find(call, "points");
    if (list == nullptr) refuse(call.name);
    struct Line {
      Real epsilon;
      Real slope;
      Real height;
    };
    std::vector<Line> lines;
    for (const Value& item : std::get<List>(list->content).items) {
      const Tuple& tuple = std::get<Tuple>(item.content);
      const Real epsilon = exact(std::get<Number>(tuple.items.at(0).content));
      lines.push_back({epsilon, exp(epsilon), Real(1) - exact(std::get<Number>(tuple.items.at(1).content))});
    }
    // Walk from a = 0 to the diagonal along the highest line.
    const auto decided = [](const Real& difference) {
      if (!difference.positive() && !difference.negative()) refuse("constraints of which two meet in a point with a third");
      return difference.positive();
    };
    const auto higher = [&](const Line& a, const Line& b) { return decided(a.height - b.height); };
    const Line* at = &lines.front();
    for (const Line& line : lines)
      if (&line != at && higher(line, *at)) at = &line;
    Part part;
    part.revealed = part.excluded = Real(1) - at->height;
    Real from;
    while (at != nullptr) {
      Real to = at->height / (at->slope + 1);  // on the diagonal b = a
      const Line* next = nullptr;
      for (const Line& line : lines) {
        if (&line == at || !(at->slope - line.slope).positive()) continue;
        const Real cross = (at->height - line.height) / (at->slope - line.slope);
        if (!decided(to - cross)) continue;
        to = cross;
        next = &line;
      }
      const std::size_t step = unit(at->epsilon);
      part.atoms.add({{step, 1}}, (to - from) * at->slope);
      part.atoms.add({{step, -1}}, to - from);
      from = to;
      at = next;
    }
    return part;
  }

  Part pair(const std::vector<Real>& p, const std::vector<Real>& q) {
    directed_ = true;
    Part part;
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (!p[i].positive())
        part.excluded += q[i];
      else if (!q[i].positive())
        part.revealed += p[i];
      else
        add_atom(part, log(p[i] / q[i]), p[i]);
    }
    return part;
  }

  /// Outcomes y; P is centred at 0 and Q at `shift`.
  Part discrete_laplace(const Real& scale, long shift) {
    if (shift == 0) refuse("a sensitivity of 0");
    Part part;
    const std::size_t step = unit(Real(1) / scale);
    const Real r = exp(Real(-1) / scale);
    const Real norm = (Real(1) - r) / (Real(1) + r);
    part.atoms.add({{step, shift}}, Real(1) / (Real(1) + r));                                       // all y <= 0
    part.atoms.add({{step, -shift}}, power(r, static_cast<unsigned long>(shift)) / (Real(1) + r));  // all y >= shift
    for (long y = 1; y < shift; ++y) part.atoms.add(place(step, shift - 2 * y), norm * power(r, static_cast<unsigned long>(y)));
    return part;
  }

  Part truncated_discrete_laplace(const Real& scale, long bound, long shift) {
    if (shift == 0) refuse("a sensitivity of 0");
    if (bound > 20'000) refuse("truncated_discrete_laplace with a bound above 20000");
    Part part;
    const std::size_t step = unit(Real(1) / scale);
    const Real r = exp(Real(-1) / scale);
    std::vector<Real> powers{Real(1)};
    Real norm(1);
    for (long y = 1; y <= bound; ++y) {
      powers.push_back(powers.back() * r);
      norm += powers.back() * 2;
    }
    for (long y = -bound; y <= bound; ++y) {
      const Real mass = powers[static_cast<std::size_t>(std::abs(y))] / norm;
      if (y - shift < -bound)
        part.revealed += mass;
      else
        part.atoms.add(place(step, std::abs(y - shift) - std::abs(y)), mass);
    }
    part.excluded = part.revealed;
    return part;
  }

  /// Truncated where the remaining mass is below 1e-60; that mass is added as an uncertainty of the infinite mass.
  Part discrete_gaussian(const Real& sigma, long shift) {
    if (shift == 0) refuse("a sensitivity of 0");
    if (!(sigma.upper() < 200)) refuse("discrete_gaussian with sigma above 200");
    const long cut = std::lround(17 * sigma.upper()) + 17;
    const Real unit_value = Real(shift) / (sigma * sigma * 2);
    const std::size_t step = unit(unit_value);
    const auto weight = [&](long y) { return exp(-(Real(y) * Real(y)) / (sigma * sigma * 2)); };
    // Beyond the cut the weights decrease faster than a geometric series of ratio weight(cut + 1)/weight(cut).
    const Real beyond = weight(cut + 1) / (Real(1) - weight(cut + 1) / weight(cut));
    Real norm = Real::hull(Real(0), beyond * 2);
    for (long y = -cut; y <= cut; ++y) norm += weight(y);
    Part part;
    for (long y = -cut; y <= cut + shift; ++y) part.atoms.add(place(step, shift - 2 * y), weight(y) / norm);
    part.revealed = Real::hull(Real(0), beyond * 2 / norm);
    Real kept;
    for (const auto& [at, mass] : part.atoms.masses()) kept += mass * exp(-Atoms::loss(at, units_));
    part.excluded = Real::hull(Real(0), (Real(1) - kept).top());
    return part;
  }

  static Place place(std::size_t step, long count) { return count == 0 ? Place{} : Place{{step, count}}; }

  [[nodiscard]] std::vector<Part> apply(const Call& operation, std::vector<Part> some) {
    if (operation.name == "repeat") {
      const long times = count(operation, "times", Role::operation);
      for (Part& part : some) part.times *= static_cast<unsigned long>(times);
      std::erase_if(some, [](const Part& part) { return part.times == 0; });
      return some;
    }
    if (std::any_of(some.begin(), some.end(), [](const Part& part) { return part.chosen; })) refuse("sampling of a choice");
    if (operation.name == "poisson") return {poisson(single(std::move(some)), rate_of_sample(operation))};
    if (operation.name == "cyclic") return {in_turns(operation, single(std::move(some)))};
    if (operation.name == "allocate") return {allocated(operation, single(std::move(some)))};
    if (operation.name == "shuffle") refuse("shuffle, of which only bounds are known,");
    refuse(operation.name);
  }

  /// Several parts as one: plain Gaussians by their squares, point masses by their sums.
  [[nodiscard]] static Part single(std::vector<Part> some) {
    if (some.size() == 1 && some.front().times == 1) return std::move(some.front());
    const bool gaussian_only = std::all_of(some.begin(), some.end(), [](const Part& part) { return part.gaussian_mu.positive(); });
    if (gaussian_only && !some.empty()) return merge_gaussians(std::move(some)).front();
    Part whole;
    whole.atoms.add({}, Real(1));
    Real p_left(1);
    Real q_left(1);
    for (const Part& part : some) {
      if (part.density) refuse("sampling a composition that has a density");
      whole.atoms = convolve(whole.atoms, convolve_power(part.atoms, part.times));
      p_left *= power(Real(1) - part.revealed, part.times);
      q_left *= power(Real(1) - part.excluded, part.times);
    }
    whole.revealed = Real(1) - p_left;
    whole.excluded = Real(1) - q_left;
    return whole;
  }

  [[nodiscard]] static Real rate_of_sample(const Call& operation) {
    if (find(operation, "examples") != nullptr && count(operation, "examples", Role::operation) != 1)
      refuse("poisson with several examples of a user");
    if (find(operation, "at_most") != nullptr && count(operation, "at_most", Role::operation) < count(operation, "of", Role::operation))
      refuse("poisson with a cap that batches reach, of which only bounds are known,");
    return real(operation, "rate", Role::operation);
  }

  /// A record is sampled whenever its group has its turn; the first group has the most.
  [[nodiscard]] Part in_turns(const Call& operation, const Part& base) {
    if (!base.gaussian_mu.positive()) refuse("cyclic of this noise");
    const long groups = count(operation, "groups", Role::operation), steps = count(operation, "steps", Role::operation);
    Part part = poisson(base, real(operation, "rate", Role::operation));
    part.times = static_cast<unsigned long>((steps + groups - 1) / groups);
    return part;
  }

  [[nodiscard]] Part allocated(const Call& operation, const Part& base) {
    if (!base.gaussian_mu.positive()) refuse("allocate of this noise");
    const long steps = count(operation, "steps", Role::operation), times = count(operation, "times", Role::operation);
    const Real mu = base.gaussian_mu * sqrt(Real(count(operation, "passes", Role::operation)));
    if (steps == times) return gaussian(mu * sqrt(Real(times)));
    if (times > 1) refuse("allocate with times above 1, of which only bounds are known,");
    directed_ = true;
    sampled_ = true;
    Part part;
    part.density = allocation_density(mu, static_cast<unsigned long>(steps));
    return part;
  }

  /// P = (1 - r) B + r A against Q = B.
  [[nodiscard]] Part poisson(const Part& base, const Real& rate) {
    if (!rate.positive() || !(Real(1) - rate).positive()) refuse("a rate of 0 or 1");
    directed_ = true;
    sampled_ = true;
    Part part;
    for (const auto& [at, mass] : base.atoms.masses()) {
      const Real loss = Atoms::loss(at, units_);
      add_atom(part, log(Real(1) - rate + rate * exp(loss)), mass * (rate + (Real(1) - rate) * exp(-loss)));
    }
    if (base.excluded.upper() > 0) add_atom(part, log(Real(1) - rate), (Real(1) - rate) * base.excluded);
    part.revealed = rate * base.revealed;
    if (base.gaussian_mu.positive())
      part.density = sampled_gaussian_density(base.gaussian_mu, rate);
    else if (base.exponential_k.positive())
      part.density = sampled_exponential_density(base.exponential_k, base.exponential_m, rate);
    else if (base.density)
      refuse("sampling twice");
    return part;
  }

  Neighbours neighbours_;
  std::vector<Real> units_;
  bool directed_ = false;
  bool sampled_ = false;
};

}  // namespace

Real exact(const Number& number) {
  const auto slash = number.text.find('/');
  const Real numerator = Real::decimal(number.text.substr(0, slash));
  return slash == std::string::npos ? numerator : numerator / Real::decimal(number.text.substr(slash + 1));
}

Laws read(const Plan& plan, Neighbours neighbours) {
  const WithPrecision more(parameter_bits);
  Reader reader(neighbours);
  Laws laws;
  std::vector<Part> parts = reader.parts(plan);
  unsigned long choices = 0;
  for (const Part& part : parts) choices += part.chosen ? part.times : 0;
  if (choices > 1) refuse("several choices");
  laws.parts = merge_gaussians(std::move(parts));
  laws.directed = reader.directed();
  laws.sampled = reader.sampled();
  laws.units = std::move(reader).units();
  return laws;
}

}  // namespace tradeoff::detail::witness
