// SPDX-License-Identifier: Apache-2.0
#include "train/audit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "tradeoff/error.h"
#include "train/audit_bounds.h"
#include "train/certificate.h"

namespace tradeoff::detail::train {
namespace {

constexpr double side_chance = audit_error / 34;  // 16 sides of checks and one bound share one half of the error [step-audit]
constexpr double whole_chance = audit_error / 6;  // the verdict and two bounds about the whole run share the other half
constexpr std::uint64_t run_length = 100;         // steps from fresh weights: small weights show their changes to more digits
constexpr std::uint64_t together = 4;             // records in a batch of the first part, the canary among them
constexpr std::size_t remembered = 4;             // steps whose noise is compared with that of the next step
constexpr double usual_chance = 0.0005;           // the probability that the noise of a step is unusually short, or unusually long
constexpr float canary_size = 1e9F;               // in deltas: far above every clipping norm
constexpr double most_deviations = 12;            // of a sum of fresh noise: exceeded with probability 1e-31
constexpr double float_error = 0x1p-24;
constexpr std::size_t most_canaries = 10'000;  // of a whole run: more cost time and show little more

/// Gradients of so many examples, all 0, in the shapes of those of one example.
void set_zero(const std::vector<Factors>& shapes, std::size_t examples, std::vector<Factors>& factors) {
  factors.resize(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto rows = static_cast<Eigen::Index>(examples * shapes[i].positions);
    factors[i].positions = shapes[i].positions;
    factors[i].inputs.setZero(rows, shapes[i].inputs.cols());
    factors[i].deltas.setZero(rows, shapes[i].deltas.cols());
  }
}

bool is_fixed(const TrainingTerms& terms) { return std::holds_alternative<FixedSizeBatches>(terms.batches); }

/// The distance that a record moves the sum, in clipping norms, under the neighbours.
double reach_of(const TrainingTerms& terms) { return is_fixed(terms) ? 2 : 1; }

/// The stated standard deviation of the noise on the sum, in clipping norms.
Interval deviation_of(const TrainingTerms& terms) { return terms.noise.value; }

/// A gradient with few entries that are not 0, all of one size, with random signs in random places of every layer.
class Canary {
 public:
  Canary(const std::vector<Model::Layer>& layers, noise::WordStream& words) {
    for (const Model::Layer& layer : layers) {
      const auto some = [&](std::size_t most, std::size_t of) { return choose(std::min(most, (of + 1) / 2), of, words); };
      parts_.push_back({some(4, layer.rows), some(2, layer.columns)});
      for (const Entry& row : parts_.back().rows)
        for (const Entry& column : parts_.back().columns)
          cells_.push_back({layer.offset + row.place * layer.columns + column.place, row.sign * column.sign});
    }
  }
  struct Entry {
    std::size_t place;
    int sign;
  };
  /// The indices of its entries in the vector of weights.
  [[nodiscard]] const std::vector<Entry>& cells() const { return cells_; }
  /// Writes it as the gradient of this example of a batch, in this direction.
  void plant(std::vector<Factors>& factors, std::size_t example, int direction) const {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(example * factors[i].positions);
      for (const Entry& row : parts_[i].rows)
        factors[i].inputs(at, static_cast<Eigen::Index>(row.place)) = static_cast<std::int16_t>(row.sign * activation_one);
      for (const Entry& column : parts_[i].columns)
        factors[i].deltas(at, static_cast<Eigen::Index>(column.place)) = static_cast<float>(direction * column.sign) * canary_size;
    }
  }

 private:
  static std::vector<Entry> choose(std::size_t count, std::size_t of, noise::WordStream& words) {
    std::vector<Entry> found;
    for (const std::uint64_t place : noise::fixed_subset(count, of, words)) found.push_back({place, (words.next() >> 63) != 0 ? 1 : -1});
    return found;
  }
  struct Part {
    std::vector<Entry> rows, columns;
  };
  std::vector<Part> parts_;
  std::vector<Entry> cells_;
};

/// Statistics of the noise of all steps outside the canaries. In standard deviations; `error` bounds the error of every entry.
class NoiseWatch {
 public:
  /// `last_layer` is the first index of the last layer.
  NoiseWatch(std::size_t weights, std::size_t last_layer, std::size_t canary, double error)
      : error_(error),
        last_layer_(last_layer),
        counted_(static_cast<double>(weights - canary)),
        usual_(norm_range(counted_, usual_chance)),
        squares_(weights),
        unseen_(weights) {}

  /// The entries of the canary are 0 and are not counted.
  void see(const std::vector<double>& noise, const std::vector<Canary::Entry>& canary, noise::WordStream& words) {
    double sum = 0;
    for (std::size_t i = 0; i < noise.size(); ++i) {
      const double square = noise[i] * noise[i];
      squares_[i] += square;
      sum += square;
    }
    for (const Canary::Entry& cell : canary) ++unseen_[cell.place];
    const double length = std::sqrt(sum), margin = error_ * std::sqrt(counted_) + 1e-9 * length;
    unusual_ += length < usual_.least - margin || length > usual_.most + margin ? 1 : 0;
    total_ += sum;
    compare_with_earlier(noise);
    compare_with_shifted(noise, words);
    ++steps_;
  }

  void report(std::vector<AuditCheck>& checks) const {
    const double weights = static_cast<double>(squares_.size()), count = static_cast<double>(steps_);
    const double rounding = 1 + 0x1p-50 * (count + weights);  // rounding of the sums of squares
    const auto range = [&](double freedom, double chance) {
      const Range norm = norm_range(freedom, chance);
      const double margin = error_ * std::sqrt(freedom), least = std::max(0.0, norm.least - margin), most = norm.most + margin;
      return Range{least * least / freedom / rounding, most * most / freedom * rounding};
    };
    const double entries = counted_ * count;
    const Range total = range(entries, side_chance);
    checks.push_back({"mean square of the noise", total_ / entries, total.least, total.most});
    AuditCheck worst{"mean square of the noise on one weight", 1, 0, 2};
    double least_room = INFINITY;
    for (std::size_t i = 0; i < squares_.size(); ++i) {  // the one nearest to an end of its range, or farthest outside
      const double freedom = count - static_cast<double>(unseen_[i]);
      if (freedom < 1) continue;
      const Range one = range(freedom, side_chance / weights);
      const double found = squares_[i] / freedom, room = std::min(found - one.least, one.most - found);
      if (room >= least_room) continue;
      least_room = room;
      worst.found = found;
      worst.least = one.least;
      worst.most = one.most;
    }
    checks.push_back(worst);
    checks.push_back({"steps with unusually long or short noise", static_cast<double>(unusual_), 0,
                      count_range(steps_, {0, 2 * usual_chance}, side_chance).most});
    const double slack = 0.4 * error_ * std::sqrt(weights);  // the density around 0 is at most 0.4
    const auto add_coins = [&](const char* name, std::uint64_t found, std::uint64_t tosses) {
      const Range coins = count_range(tosses, {std::max(0.0, 0.5 - slack), std::min(1.0, 0.5 + slack)}, side_chance);
      checks.push_back({name, static_cast<double>(found), coins.least, coins.most});
    };
    add_coins("noise on the side of an earlier step's", agreeing_, compared_);
    add_coins("noise on the side of other weights'", shifted_agreeing_, shifted_);
  }

 private:
  void compare_with_earlier(const std::vector<double>& noise) {
    if (earlier_.size() < remembered) {
      earlier_.push_back(noise);
      return;
    }
    // The previous step and one of the steps before it, alternately.
    const std::vector<double>& one = earlier_[(steps_ + (steps_ % 2 == 0 ? remembered - 1 : steps_ / 2)) % remembered];
    double product = 0;
    for (std::size_t i = 0; i < noise.size(); ++i) product += noise[i] * one[i];
    compared_ += product != 0 ? 1 : 0;
    agreeing_ += product > 0 ? 1 : 0;
    earlier_[steps_ % remembered] = noise;
  }

  /// Pairs of weights at a distance: the distance of a layer, a short one, or a random one, in turn.
  void compare_with_shifted(const std::vector<double>& noise, noise::WordStream& words) {
    const std::size_t most = noise.size() - 1, turn = steps_ % 3;
    const std::size_t shift =
        turn == 0 && last_layer_ > 0 ? last_layer_ : 1 + noise::uniform_below(turn == 1 ? std::min<std::size_t>(16, most) : most, words);
    double product = 0;
    for (std::size_t i = 0; i + shift < noise.size(); ++i)
      if (i / shift % 2 == 0) product += noise[i] * noise[i + shift];  // no weight is in two pairs
    shifted_ += product != 0 ? 1 : 0;                                  // canaries may leave no pair
    shifted_agreeing_ += product > 0 ? 1 : 0;
  }

  double error_;
  std::size_t last_layer_;
  double counted_;  // entries of a step that belong to no canary
  Range usual_;     // the length of the noise of a step
  std::vector<double> squares_;
  std::vector<std::uint64_t> unseen_;
  std::vector<std::vector<double>> earlier_;
  double total_ = 0;
  std::uint64_t steps_ = 0, unusual_ = 0, compared_ = 0, agreeing_ = 0, shifted_ = 0, shifted_agreeing_ = 0;
};

/// Runs in which only the canary has a gradient.
class Audit {
 public:
  Audit(const TrainingTerms& terms, noise::WordStream& words, const StartRun& start)
      : terms_(terms),
        words_(words),
        start_(start),
        model_(terms.shape),
        deviation_(deviation_of(terms)),
        cells_(Canary(model_.layers(), words).cells().size()),
        size_(canary_length()),
        marked_(2 * std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(2 * deviation_.hi * deviation_.hi)), 8, 128)),
        error_(observation_error()),
        watch_(model_.weights().size(), model_.layers().back().offset, cells_, error_) {
    model_.gradients(GridMatrix::Zero(1, static_cast<Eigen::Index>(terms.shape.inputs + 1)), std::vector<std::uint8_t>{0}, blank_);
  }

  /// A batch of all records. Replace-one: the canary has one of two directions. Add-remove: it is present or not.
  void guess_secrets(std::uint64_t steps, const std::function<void()>& tell) {
    const double middle = is_fixed(terms_) ? 0 : 1 / (deviation_.lo + deviation_.hi);
    for (std::uint64_t i = 0; i < steps; ++i) {
      if (i % run_length == 0) begin(together, together);
      const bool secret = (words_.next() >> 63) != 0;
      directions_.assign(together, 0);
      directions_[0] = secret ? 1 : is_fixed(terms_) ? -1 : 0;
      right_ += (step() > middle) == secret ? 1 : 0;
      tell();
    }
    guesses_ += steps;
  }

  /// Half of the records are drawn, half of them are marked; the sum estimates the number of marked records that were drawn.
  void look_at_samples(std::uint64_t steps, const std::function<void()>& tell) {
    const double centre = static_cast<double>(marked_) / 4 * (size_.lo + size_.hi);
    bool last = false;
    for (std::uint64_t i = 0; i < steps; ++i) {
      if (i % run_length == 0) begin(marked_, 2 * marked_);
      if (i % 2 == 0) {  // the same ones for two steps
        directions_.assign(2 * marked_, 0);
        for (const std::uint64_t one : noise::fixed_subset(marked_, 2 * marked_, words_)) directions_[one] = 1;
      }
      const double found = step() - centre;
      near_ += std::abs(found) <= near() ? 1 : 0;
      if (i % 2 == 1) same_side_ += (found > 0) == last ? 1 : 0;
      last = found > 0;
      tell();
    }
    sampled_ += steps;
  }

  [[nodiscard]] AuditResult result() const {
    AuditResult found;
    found.guesses = guesses_;
    found.right = right_;
    found.steps = guesses_ + sampled_;
    found.promised = reach_of(terms_) / deviation_;
    const double rate = success_rate_below(right_, guesses_, side_chance);
    // [step-audit] A guess about a mu-GDP step is right with probability at most Phi(mu/2).
    found.mu_below = rate > 0.5 ? 2 * normal_quantile(rate).lo : 0;
    add_count(found.checks, "secrets guessed", right_, guesses_, guess_chance());
    watch_.report(found.checks);
    const double shift = sample_error(), slack = 0.4 * shift;
    const Interval distance{near() - shift, near() + shift};
    add_count(found.checks, "pairs of batches on the same side", same_side_, sampled_ / 2, {0.5 - slack, 0.5 + slack});
    add_count(found.checks, "batches near the middle", near_, sampled_, spread_chance(marked_, !is_fixed(terms_), size_, distance));
    found.checks.push_back({"largest weight in standard deviations", largest_, 0, most_weight()});
    return found;
  }

 private:
  static void add_count(std::vector<AuditCheck>& checks, const char* name, std::uint64_t found, std::uint64_t trials, Interval chance) {
    const Range range = count_range(trials, {std::max(0.0, chance.lo), std::min(1.0, chance.hi)}, side_chance);
    checks.push_back({name, static_cast<double>(found), range.least, range.most});
  }

  /// Fresh weights; batches of this size from so many records. In a step the noise moves a weight by about 1.
  void begin(std::uint64_t size, std::uint64_t of) {
    TrainingTerms terms = terms_;
    terms.momentum = 0;  // a step is read from how it moves the weights
    if (is_fixed(terms_))
      terms.batches = FixedSizeBatches(size, of);
    else
      terms.batches = PoissonBatches(size, of);
    const double noise = (deviation_ * terms_.clip.value).hi;
    terms.learning_rate = std::min(1e6, static_cast<double>(size) / noise);
    terms.steps = run_length;
    unit_ = terms.learning_rate / static_cast<double>(size) * noise;
    const auto fill = [this](const Model&, const Batch& batch, std::vector<Factors>& factors) { find_gradients(batch, factors); };
    run_ = start_(terms, {of, fill}, words_);
  }

  void find_gradients(const Batch& batch, std::vector<Factors>& factors) const {
    set_zero(blank_, batch.size(), factors);
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (directions_[batch[i]] != 0) canary_->plant(factors, i, directions_[batch[i]]);
  }

  /// One step with its own canary; returns the position of the sum along the canary, in standard deviations of the noise.
  double step() {
    canary_.emplace(model_.layers(), words_);
    const std::vector<float> before = run_->weights();
    run_->step();
    const std::vector<float>& after = run_->weights();
    noise_.resize(before.size());
    for (std::size_t i = 0; i < noise_.size(); ++i) {
      noise_[i] = (static_cast<double>(before[i]) - static_cast<double>(after[i])) / unit_;
      largest_ = std::max(largest_, std::abs(static_cast<double>(after[i])) / unit_);
    }
    double along = 0;
    for (const Canary::Entry& cell : canary_->cells()) along += cell.sign * std::exchange(noise_[cell.place], 0);
    watch_.see(noise_, canary_->cells(), words_);
    return along / std::sqrt(static_cast<double>(cells_));
  }

  // The following is in standard deviations of the stated noise.

  /// The norm that a canary adds to the sum: the clipping norm minus the loss by rounding to the grid.
  [[nodiscard]] Interval canary_length() const {
    const ClipGrid grid(terms_.clip.value);
    const double delta = static_cast<double>(grid.bound()) / activation_one / std::sqrt(static_cast<double>(cells_));
    return Interval{1 - 0x1p-18 - 1 / delta, 1 + 0x1p-22} / deviation_;
  }
  /// The largest change of a weight by the canaries of a step.
  [[nodiscard]] double most_moved() const { return static_cast<double>(marked_) * size_.hi / std::sqrt(static_cast<double>(cells_)); }
  [[nodiscard]] double most_weight() const {
    const double unit = std::min(1.0, 1e6 * (deviation_ * terms_.clip.value).lo / static_cast<double>(marked_));
    return 2 / unit + most_deviations * std::sqrt(static_cast<double>(run_length) * (1 + most_moved() * most_moved()));
  }
  /// Bounds the error of an entry: weights in single precision, the scale of the noise, noise on the grid.
  [[nodiscard]] double observation_error() const {
    const double change = most_deviations + most_moved(), steps = deviation_.lo * static_cast<double>(ClipGrid(terms_.clip.value).bound());
    return float_error * (most_weight() + 4 * change) + 0x1p-22 * most_deviations + 0.5 / steps;
  }
  [[nodiscard]] double along_error() const { return error_ * std::sqrt(static_cast<double>(cells_)); }
  [[nodiscard]] double sample_error() const { return static_cast<double>(marked_) / 2 * size_.width() + along_error(); }
  /// A distance from the middle within which about two thirds of the batches stay.
  [[nodiscard]] double near() const {
    const double count = static_cast<double>(marked_), variance = is_fixed(terms_) ? count * count / (8 * count - 4) : count / 4;
    return std::sqrt(1 + variance * size_.lo * size_.lo);
  }
  [[nodiscard]] Interval guess_chance() const {
    const Interval error{-along_error(), along_error()};
    if (is_fixed(terms_)) return normal_cdf(size_ + error);
    const double middle = 1 / (deviation_.lo + deviation_.hi);
    return 0.5 * (normal_cdf(size_ - middle + error) + normal_cdf(middle + error));
  }

  TrainingTerms terms_;
  noise::WordStream& words_;
  const StartRun& start_;
  Model model_;
  Interval deviation_;  // in clipping norms
  std::size_t cells_;   // of a canary
  Interval size_;
  std::uint64_t marked_;
  double error_;
  NoiseWatch watch_;
  std::vector<Factors> blank_;
  std::unique_ptr<AuditedRun> run_;
  double unit_ = 1;              // the noise on a weight
  std::vector<int> directions_;  // of each record's gradient along the canary; 0 for none
  std::optional<Canary> canary_;
  std::vector<double> noise_;
  double largest_ = 0;
  std::uint64_t guesses_ = 0, right_ = 0, sampled_ = 0, near_ = 0, same_side_ = 0;
};

/// One run with canaries, each of which fair coins include. A canary's gradient is on one weight of its own, so that the change of that
/// weight is a score that no other canary disturbs. All other records have gradient 0. [one-run-audit]
class WholeRun {
 public:
  WholeRun(const TrainingTerms& terms, noise::WordStream& words, const StartRun& start)
      : terms_(terms), words_(words), model_(terms.shape) {
    const std::size_t weights = model_.weights().size();
    const auto* fixed = std::get_if<FixedSizeBatches>(&terms.batches);
    const std::size_t count = std::min({weights, most_canaries, fixed != nullptr ? static_cast<std::size_t>(fixed->of()) : weights});
    for (const std::uint64_t place : noise::fixed_subset(count, weights, words)) cells_.push_back(cell_at(place));
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const bool secret = (words.next() >> 63) != 0;
      included_.push_back(secret);
      // Replace-one: a record is one of two that differ in the sign. Add-remove: it is there or not.
      if (fixed != nullptr || secret) records_.push_back({i, secret ? 1 : -1});
    }
    model_.gradients(GridMatrix::Zero(1, static_cast<Eigen::Index>(terms.shape.inputs + 1)), std::vector<std::uint8_t>{0}, blank_);
    const double noise = (terms.noise.value * terms.clip.value).hi;
    const std::uint64_t size = std::visit([](const auto& batches) { return batches.size(); }, terms.batches);
    terms_.learning_rate = std::min(1e6, static_cast<double>(size) / noise);  // the noise moves a weight by about 1
    const auto fill = [this](const Model&, const Batch& batch, std::vector<Factors>& factors) { find_gradients(batch, factors); };
    run_ = start(terms_, {fixed != nullptr ? static_cast<std::size_t>(fixed->of()) : records_.size(), fill}, words_);
  }

  [[nodiscard]] AuditedWhole take(const std::function<void()>& tell) {
    const std::vector<float> before = run_->weights();
    for (std::uint64_t i = 0; i < terms_.steps; ++i) {
      run_->step();
      tell();
    }
    const std::vector<float>& after = run_->weights();
    std::vector<audit::Canary> canaries;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const double moved = static_cast<double>(before[cells_[i].place]) - static_cast<double>(after[cells_[i].place]);
      canaries.push_back({std::isfinite(moved) ? moved : 0, included_[i]});
    }
    AuditedWhole found;
    found.steps = terms_.steps;
    found.plan = drawn_plan(terms_, terms_.steps);
    found.included = static_cast<std::uint64_t>(std::count(included_.begin(), included_.end(), true));
    const Curve curve = curve_of(terms_);
    found.certified = curve.epsilon_at(audited_delta);
    if (canaries.size() < audit::fewest_canaries) return found;
    const audit::Claim claim = audit::claim_of(curve, Direction::worst);
    found.shown = audit::judge_one_run(audit::guess_all(canaries), claim.of(audit::Order::with_over_without), audited_delta, whole_chance);
    found.is_refuted = found.shown.chance <= whole_chance;
    return found;
  }

 private:
  struct Cell {
    std::size_t place, layer, row, column;
  };
  [[nodiscard]] Cell cell_at(std::size_t place) const {
    std::size_t i = model_.layers().size() - 1;
    while (model_.layers()[i].offset > place) --i;
    const Model::Layer& layer = model_.layers()[i];
    return {place, i, (place - layer.offset) / layer.columns, (place - layer.offset) % layer.columns};
  }
  void find_gradients(const Batch& batch, std::vector<Factors>& factors) const {
    set_zero(blank_, batch.size(), factors);
    for (std::size_t example = 0; example < batch.size(); ++example) {
      if (batch[example] >= records_.size()) continue;
      const Cell& cell = cells_[records_[batch[example]].canary];
      Factors& layer = factors[cell.layer];
      const auto at = static_cast<Eigen::Index>(example * layer.positions);
      layer.inputs(at, static_cast<Eigen::Index>(cell.row)) = static_cast<std::int16_t>(activation_one);
      layer.deltas(at, static_cast<Eigen::Index>(cell.column)) = static_cast<float>(records_[batch[example]].sign) * canary_size;
    }
  }

  struct Record {
    std::size_t canary;
    int sign;
  };
  TrainingTerms terms_;
  noise::WordStream& words_;
  Model model_;
  std::vector<Cell> cells_;
  std::vector<bool> included_;
  std::vector<Record> records_;
  std::vector<Factors> blank_;
  std::unique_ptr<AuditedRun> run_;
};

/// A real run.
class TrainerRun final : public AuditedRun {
 public:
  TrainerRun(const TrainingTerms& terms, RecordSource source, noise::WordStream& words) : trainer_(terms, std::move(source), words) {}
  void step() override { trainer_.step(); }
  [[nodiscard]] const std::vector<float>& weights() const override { return trainer_.progress().weights; }

 private:
  Trainer trainer_;
};

}  // namespace

bool AuditResult::exposes() const {
  return mu_below > promised.hi || whole.is_refuted ||
         std::any_of(checks.begin(), checks.end(), [](const AuditCheck& check) { return check.alarms(); });
}

AuditResult audit(const TrainingTerms& terms, std::uint64_t steps, noise::WordStream& words, const StartRun& start,
                  const std::function<void(std::uint64_t)>& tell) {
  if (steps < 100) throw DomainError("train: --audit-steps = " + std::to_string(steps) + " must be at least 100");
  check(terms);
  Audit run(terms, words, start);
  std::uint64_t done = 0;
  const auto count = [&] {
    if (++done % 1000 == 0 && tell) tell(done);
  };
  const std::uint64_t sampled = steps / 8 * 2;  // in pairs
  run.guess_secrets(steps - sampled, count);
  run.look_at_samples(sampled, count);
  AuditResult found = run.result();
  TrainingTerms whole = terms;
  whole.steps = std::min(terms.steps, steps);
  found.whole = WholeRun(whole, words, start).take(count);
  return found;
}

AuditResult audit(const TrainingTerms& terms, std::uint64_t steps, noise::WordStream& words,
                  const std::function<void(std::uint64_t)>& tell) {
  return audit(
      terms, steps, words,
      [](const TrainingTerms& run, RecordSource source, noise::WordStream& stream) -> std::unique_ptr<AuditedRun> {
        return std::make_unique<TrainerRun>(run, std::move(source), stream);
      },
      tell);
}

}  // namespace tradeoff::detail::train
