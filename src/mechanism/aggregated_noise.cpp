// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loss/forwarding_loss.h"
#include "loss/key.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/discrete_laplace.h"
#include "mechanism/finite.h"
#include "mechanism/profile_nodes.h"
#include "mechanism/whole_noise.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

// Noise that the clients of a secure aggregation add to their contributions.
namespace tradeoff::detail {
namespace {

constexpr std::uint64_t most_clients = 1'000'000'000;

/// [honest-noise] The noise that surely remains is that of the honest clients that did not drop out.
std::uint64_t remaining_clients(const Arguments& arguments) {
  const std::uint64_t clients = arguments.whole("clients"), dropouts = arguments.whole("dropouts");
  const Interval honest = Interval::exactly(clients) * arguments.number("honest");
  const auto count = std::min(clients, static_cast<std::uint64_t>(std::ceil(honest.lo)));
  if (dropouts >= count)
    arguments.refuse("dropouts", arguments.written("dropouts").text,
                     "below the number of honest clients, " + std::to_string(count) + ": otherwise no noise surely remains");
  return count - dropouts;
}

[[noreturn]] void refuse_vectors(const Arguments& arguments, const std::string& name) {
  throw UnsupportedError(
      name + ": coordinates = " + arguments.written("coordinates").text +
      " is not supported: for vectors only bounds are known, not the exact loss. It needs the pair of the worst change of a "
      "vector of bounded norm; write one line for each coordinate with its own sensitivity, or gaussian(...) for noise of "
      "one trusted party");
}

/// Checks what all noises of clients have in common, and counts the clients whose noise remains.
std::uint64_t noises_of(const Arguments& arguments, const std::string& name) {
  if (arguments.written("coordinates").value.hi > 1) refuse_vectors(arguments, name);
  (void)arguments.whole("coordinates");
  return remaining_clients(arguments);
}

Citation honest_noise(const Arguments& arguments, std::uint64_t remaining) {
  return {"honest-noise", "of " + arguments.written("clients").text + " clients the noise of " + std::to_string(remaining) +
                              " surely remains; you promise how many are honest and how many drop out"};
}

std::string key_of_noise(const char* name, Interval scale, std::uint64_t terms, std::uint64_t shift, Interval more = Interval::exactly(0)) {
  return make_key(name, {scale, Interval::exactly(terms), Interval::exactly(shift), more});
}

using MakeNoise = std::function<LossPointer(std::uint64_t shift, Citations)>;

/// [group-privacy] Log-concave noise that one record moves by `shift`: a group moves it by a multiple.
class MovableNoise final : public ForwardingLoss, public MovedNoise {
 public:
  /// `near`: a discrete Gaussian moved by 1 that the noise is near to. [whole-gaussian-mu]
  MovableNoise(MakeNoise make, std::uint64_t shift, Citations origin, std::optional<WholeGaussian> near = std::nullopt)
      : base_(make(shift, std::move(origin))), make_(std::move(make)), shift_(shift), near_(near) {}
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Capabilities known = ForwardingLoss::capabilities(direction);
    known.moved = this;
    if (near_ && shift_ > 0) known.whole_gaussian = WholeGaussian{near_->sigma, static_cast<double>(shift_), near_->distance};
    return known;
  }
  [[nodiscard]] LossPointer moved(std::uint64_t times, Citations origin) const override {
    if (shift_ > 0 && times > most_discrete_shift / shift_) return nullptr;
    return std::make_shared<MovableNoise>(make_, shift_ * times, std::move(origin), near_);
  }

 protected:
  [[nodiscard]] const Loss& base() const override { return *base_; }

 private:
  LossPointer base_;
  MakeNoise make_;
  std::uint64_t shift_;
  std::optional<WholeGaussian> near_;
};

constexpr double largest_variance = 1e8;  // a table of more than a million outcomes beyond it

LossPointer make_skellam(const Arguments& arguments, const WordContext&) {
  const std::uint64_t terms = noises_of(arguments, "skellam"), shift = arguments.whole("sensitivity");
  const Interval variance = arguments.number("variance") * Interval::exactly(terms);
  if (variance.hi > largest_variance) throw TooLargeError("skellam: a variance above 1e8 in all is not supported; use a coarser grid");
  const auto noise = [variance](std::uint64_t moved, Citations origin) {
    const WholeNoise law = skellam_noise(variance);
    return whole_noise_loss(law, moved, key_of_noise("skellam", variance, 1, moved), std::move(origin), skellam_tail(law, variance, moved));
  };
  return std::make_shared<MovableNoise>(
      noise, shift,
      Citations{Citation("skellam-noise", "ratios of Bessel functions by their recurrence; single integers"),
                honest_noise(arguments, terms)});
}

/// [binomial-noise] Both orders of a loss that is not symmetric: the larger profile, at many epsilons and linear between them.
LossPointer larger_of_both(const LossPointer& one, std::string key, Citations origin) {
  constexpr double most_nodes = 400;
  const Atoms& atoms = *one->atoms(Direction::remove);
  double last = 1;
  for (const Atom& atom : atoms.finite) last = std::max({last, atom.loss.hi, -atom.loss.lo});
  std::vector<ProfileNode> nodes;
  for (double i = 0; i <= most_nodes; ++i) {
    const Interval epsilon = Interval::exactly(last * i / most_nodes);
    nodes.push_back(
        {epsilon.lo, std::min(1.0, std::max(one->delta(Direction::remove, epsilon).hi, one->delta(Direction::add, epsilon).hi))});
  }
  return finite_loss(symmetric_atoms_of_nodes(nodes), std::move(key), std::move(origin));
}

LossPointer make_binomial_noise(const Arguments& arguments, const WordContext& context) {
  const std::uint64_t terms = noises_of(arguments, "binomial_noise"), shift = arguments.whole("sensitivity");
  const Interval chance = arguments.number("chance");
  if (!(chance.lo > 0 && chance.hi < 1)) arguments.refuse("chance", arguments.written("chance").text, "above 0 and below 1");
  const std::uint64_t each = arguments.whole("trials");
  if (each > range::most_steps / terms || (Interval::exactly(each * terms) * chance * (1.0 - chance)).hi > largest_variance)
    throw TooLargeError("binomial_noise: a variance above 1e8 in all is not supported; use a coarser grid");
  const bool fair = chance == Interval::exactly(0.5);
  const std::uint64_t trials = each * terms;
  const std::string key = key_of_noise("binomial_noise", chance, trials, shift);
  const Citations origin{Citation("binomial-noise", "successes of independent trials; single integers"), honest_noise(arguments, terms)};
  const auto noise = [=](std::uint64_t moved, Citations own) {
    return whole_noise_loss(binomial_noise(trials, chance, fair), moved, key_of_noise("binomial_noise", chance, trials, moved),
                            std::move(own));
  };
  if (fair || shift == 0) return std::make_shared<MovableNoise>(noise, shift, origin);
  const LossPointer loss = noise(shift, origin);
  // The answer may rise or fall, and the noise is not its own mirror image. Under replace-one neighbours a pair that is not symmetric would
  // be replaced by a larger one, so nothing is claimed from below.
  const auto above = [&] { return larger_of_both(loss, key + "larger", origin); };
  if (context.neighbours() == Neighbours::replace_one) return context.bracket(above, {[&] { return whole_noise_loss({}, 0, {}, origin); }});
  const auto falling = [&] { return whole_noise_loss(binomial_noise(trials, 1.0 - chance, false), shift, key + "falling", origin); };
  return context.bracket(above, {[&] { return loss; }, falling});
}

LossPointer make_discrete_gaussian_sum(const Arguments& arguments, const WordContext&) {
  const std::uint64_t terms = noises_of(arguments, "discrete_gaussian_sum"), shift = arguments.whole("sensitivity");
  const Interval sigma = arguments.number("sigma");
  if (terms == 1 && sigma.hi <= widest_discrete_gaussian) return discrete_gaussian(sigma, shift);
  const std::optional<WholeGaussian> near = near_sum(sigma, terms);
  const auto noise = [=](std::uint64_t moved, Citations origin) {
    std::optional<Tail> tail;
    if (near && moved > 0) tail = tail_near({near->sigma, static_cast<double>(moved), near->distance});
    return whole_noise_loss(discrete_gaussian_sum(sigma, terms), moved, key_of_noise("discrete_gaussian_sum", sigma, terms, moved),
                            std::move(origin), std::move(tail));
  };
  return std::make_shared<MovableNoise>(
      noise, shift,
      Citations{Citation("discrete-gaussian-sum", "the sum is nearly, not exactly, a discrete Gaussian; single integers"),
                honest_noise(arguments, terms)},
      near);
}

LossPointer make_discrete_laplace_sum(const Arguments& arguments, const WordContext&) {
  const std::uint64_t terms = noises_of(arguments, "discrete_laplace_sum"), shift = arguments.whole("sensitivity");
  const Interval scale = arguments.number("scale");
  if (terms == 1) return discrete_laplace(scale, shift);
  const auto noise = [=](std::uint64_t moved, Citations origin) {
    return whole_noise_loss(discrete_laplace_sum(scale, terms), moved, key_of_noise("discrete_laplace_sum", scale, terms, moved),
                            std::move(origin));
  };
  return std::make_shared<MovableNoise>(
      noise, shift,
      Citations{Citation("discrete-laplace-sum", "weights by their recurrence; single integers"), honest_noise(arguments, terms)});
}

// [discrete-laplace-sum] Far out the ratios of neighbouring weights tend to that of one term.
std::optional<numeric::Rational> largest_loss_of_laplace_sum(const Arguments& arguments) {
  return ratio(arguments.exact("sensitivity"), arguments.exact("scale"));
}

std::string promise_of_clients(const Arguments& arguments) {
  return "At least " + arguments.written("honest").text + " of the " + arguments.written("clients").text +
         " clients add noise of their own as stated and keep it secret, at most " + arguments.written("dropouts").text +
         " clients drop out, independently of their values, and only the sum is seen.";
}

/// The parameters of a word for noise of clients: that of its scale first.
std::vector<Parameter> with_clients(std::vector<Parameter> own, bool required) {
  Parameter clients{"clients", Kind::integer, "clients that add this noise", range::whole(1, most_clients)};
  if (!required) clients.fallback = "1";
  own.push_back(clients);
  own.insert(own.end(), {{"honest",
                          Kind::number,
                          "the least fraction of clients that are honest",
                          {.least = 0, .most = 1, .excludes_least = true},
                          effect::safer,
                          "1"},
                         {"dropouts", Kind::integer, "clients that may drop out", range::whole(0, most_clients), {}, "0"},
                         grid_sensitivity_parameter,
                         {"coordinates", Kind::integer, "1: single numbers only", range::whole(1, most_clients), {}, "1"}});
  return own;
}

}  // namespace

Word skellam_word() {
  return {.role = Role::source,
          .name = "skellam",
          .meaning = "difference of two Poisson variables on a single integer",
          .parameters = with_clients(
              {{"variance", Kind::number, "variance of the noise of one client", range::positive, effect::safer.up_to(largest_variance)}},
              false),
          .promise = promise_of_clients,
          .make = make_skellam};
}

Word binomial_noise_word() {
  return {.role = Role::source,
          .name = "binomial_noise",
          .meaning = "successes of independent trials on a single integer",
          .parameters = with_clients({{"trials", Kind::integer, "trials of one client", range::whole(1, range::most_steps)},
                                      {"chance", Kind::number, "of a success", range::probability, {}, "0.5"}},
                                     false),
          .promise = promise_of_clients,
          .make = make_binomial_noise};
}

Word discrete_gaussian_sum_word() {
  return {.role = Role::source,
          .name = "discrete_gaussian_sum",
          .meaning = "discrete Gaussian noise of many clients on a single integer",
          .parameters = with_clients({{"sigma", Kind::number, "sigma of the noise of one client", range::positive}}, true),
          .synonyms = {{"distributed_discrete_gaussian"}},
          .promise = promise_of_clients,
          .make = make_discrete_gaussian_sum};
}

Word discrete_laplace_sum_word() {
  return {.role = Role::source,
          .name = "discrete_laplace_sum",
          .meaning = "discrete Laplace noise of many clients on a single integer",
          .parameters =
              with_clients({{"scale", Kind::number, "scale of the noise of one client", range::positive, effect::safer.up_to(500)}}, true),
          .promise = promise_of_clients,
          .make = make_discrete_laplace_sum,
          .largest_loss = largest_loss_of_laplace_sum};
}

}  // namespace tradeoff::detail
