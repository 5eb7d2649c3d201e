// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "engine/part.h"
#include "loss/loss.h"
#include "loss/transform.h"
#include "numeric/arithmetic.h"
#include "numeric/lane_loops.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// Nodes times points after which a line is abandoned: a tenth of a second.
inline constexpr double most_line_work = 6e7;
/// Relative error of an updated phase: each multiplication costs at most 5 unit roundoffs, those within a block 40, the kernels and
/// products 40.
inline constexpr double turn_error = (5 * static_cast<double>(numeric::turns) + 80) * unit_roundoff;

/// One direction of a plan: distinct transforms with their step counts, and all plain Gaussians as one variance.
struct ContourPlan {
  struct Item {
    LossPointer loss;  ///< the loss of this transform; identifies items of different plans
    std::shared_ptr<const Transform> transform;
    double times = 1;
  };
  std::vector<Item> items;
  Interval gaussian = Interval::exactly(0);       ///< sum of mu^2: K(s) = gaussian s (s + 1) / 2
  Interval log_survival = Interval::exactly(0);   ///< log P(the loss is finite)
  Interval infinite_mass = Interval::exactly(0);  ///< of the whole plan
  std::optional<LossLattice> lattice;             ///< of the whole plan; its lines are folded [folded-contour]
  double largest_loss = 0;                        ///< of the whole plan, an upper bound
  double steps = 0;
};

/// The items of the parts. False if a part has neither a transform nor a Gaussian mu.
[[nodiscard]] bool collect(const Parts& parts, Direction direction, ContourPlan& plan);

/// The items of a plan, prepared for a range of orders.
class ContourMoments {
 public:
  /// Null if an item does not cover the range. Reuses equal items of an earlier plan that has the same range.
  [[nodiscard]] static std::unique_ptr<const ContourMoments> prepare(const ContourPlan& plan, TransformRange reach,
                                                                     const ContourMoments* earlier = nullptr);

  [[nodiscard]] const ContourPlan& plan() const { return plan_; }
  [[nodiscard]] const TransformRange& reach() const { return reach_; }
  /// Approximations of K and its derivatives.
  [[nodiscard]] Cumulant cumulant(double order) const;
  /// Proved upper bounds of the log moments of the items at an order, and of K there.
  [[nodiscard]] std::vector<double> log_moments_above(double order) const;
  [[nodiscard]] double cumulant_above(double order) const;
  [[nodiscard]] std::vector<std::unique_ptr<const TiltedLoss>> tilt(double order) const;
  /// The approximate t, from `start` on, at which |phi| on the line through this order has decayed as far as a line needs.
  [[nodiscard]] double fading_time(double order, double start, double accuracy) const;

 private:
  ContourMoments(const ContourPlan& plan, const TransformRange& reach) : plan_(plan), reach_(reach) {}

  struct Ready {
    LossPointer loss;
    std::shared_ptr<const Transform> transform;  // lives as long as its moments
    std::shared_ptr<const Moments> moments;
  };

  const ContourPlan& plan_;
  TransformRange reach_;
  std::vector<Ready> items_;
};

/// The trapezoidal sum on the line Re s = order. The nodes do not depend on epsilon, so one line answers many questions. order > 0 gives
/// delta (without the infinite mass), -1 < order < 0 gives 1 - delta.
class ContourLine {
 public:
  /// The targets for the two errors that more work reduces, relative to the answer.
  struct Accuracy {
    double alias;
    double truncation;
    double recurrence = 1e-10;  ///< of what is beyond the nodes if the transform does not decay; four times as much after much work
  };
  /// A line for answers near this epsilon. An error that could not be bounded is infinite. `steering` may be less accurate than `moments`.
  ContourLine(const ContourMoments& moments, const ContourMoments& steering, double order, double epsilon, Accuracy accuracy);
  /// The same line for a plan with at least as many runs: only new items are evaluated. Null if the line cannot be used. [longer-plan]
  [[nodiscard]] std::shared_ptr<const ContourLine> extended(const ContourPlan& plan) const;

  enum class Kernel {
    profile,         ///< 1/(s(s+1)): E(1 - e^(eps - L))+, on the strip its complement
    true_positive,   ///< 1/s: P(L > eps)
    false_positive,  ///< 1/(s+1): e^eps Q(L > eps)
  };
  /// The answer is exp(base) [value - below, value + above].
  struct Value {
    Interval base;
    double value = 0;
    double slope = 0;  ///< d value / d epsilon minus `order` times value, profile only
    double fall = 1;   ///< an upper bound of -dH/d epsilon in these units, profile with order > 0 only
    double above = 0;
    double below = 0;
    // The components of `above` and `below`.
    double alias = 0;
    double truncation = 0;
    double nodes = 0;
  };
  [[nodiscard]] Value at(double epsilon, Kernel kernel = Kernel::profile) const;
  /// A straight line on [start, end]: above log H for order > 0, below the logarithm of its complement on the strip. [contour-log-line]
  [[nodiscard]] std::optional<LogLine> log_line(double start, double end) const;

  /// A polynomial that follows the profile on [start, end]. Empty on a folded line. [contour-arc]
  [[nodiscard]] std::optional<Arc> arc(double start, double end) const;

  [[nodiscard]] double order() const { return order_; }
  [[nodiscard]] double step() const { return step_; }  ///< between nodes
  /// The distance of the saddle point of this epsilon from the line, in its own widths, and its approximate position. Guides searches only.
  struct Distance {
    double widths = 0;
    double saddle = 0;
    double deviation = 0;  ///< of the whole exponent, including the kernel
  };
  [[nodiscard]] Distance distance_to(double epsilon) const;
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }
  [[nodiscard]] std::size_t points() const { return points_; }  ///< of all quadratures
  [[nodiscard]] std::size_t march() const { return march_; }
  /// The march stopped because the quadratures are too coarse, not because |phi| is large.
  [[nodiscard]] bool blind() const { return blind_; }
  /// The atoms of the distribution are too large for any number of nodes.
  [[nodiscard]] bool hopeless() const { return hopeless_; }
  /// Finer quadratures leave the truncation as it is: |phi| does not decay, and the march went as far as it can.
  [[nodiscard]] bool exhausted() const { return exhausted_; }
  [[nodiscard]] double last_time() const { return last_time_; }  ///< the largest t of a node

 private:
  struct Node {
    double t = 0;
    double modulus = 0;   // prod |phi_i|^T_i
    double argument = 0;  // of the product
    double growth = 0;    // log of (|phi| + error)^T over |phi|^T
    double upper = 0;     // prod (|phi_i| + error_i)^T_i
  };
  /// Nodes without a gap: the index of the first one, and its t in steps.
  struct Stretch {
    std::size_t first = 0;
    double number = 1;
  };
  /// The errors of the sum over the nodes for one kernel g: the part that does not depend on epsilon. [contour-propagation]
  struct ErrorSums {
    double size = 0;    // sum 2 |g| modulus
    double fixed = 0;   // sum 2 |g| modulus r (1 + r), r the part of the relative error that epsilon does not change
    double moving = 0;  // sum 2 |g| modulus t (1 + r)
    double whole = 0;   // sum 2 |g| (modulus + upper): the bound if only the size of the nodes is known
  };
  /// One run of an item on this line.
  struct Item {
    struct Node {
      double log_modulus = 0, argument = 0, growth = 0;
    };
    LossPointer loss;
    Interval log_moment;
    double centre = 0;
    double deviation = 0;
    std::size_t points = 0;
    std::vector<Node> nodes;
    std::vector<double> chernoff;  // upper bounds of the log moments at the orders of left_, then of right_
  };
  struct Chernoff {
    double order = 0;
    double cumulant = 0;   // upper bound of K
    double log_kappa = 0;  // of the profile kernel
    double log_decay = 0;  // lower bound of log(e^(|order - order of the line| window) - 1)
  };
  using Tilts = std::vector<std::unique_ptr<const TiltedLoss>>;

  [[nodiscard]] static std::shared_ptr<Item> new_item(LossPointer loss, const TiltedLoss& tilt);
  void weigh_items(const ContourPlan& plan);
  void weigh_chernoff(const ContourPlan& plan);
  void weigh_nodes(const ContourPlan& plan, std::size_t first);
  void evaluate_item(const TiltedLoss& tilt, Item& item, std::size_t first) const;
  [[nodiscard]] bool serves(const ContourPlan& plan) const;
  void choose_step(const ContourMoments& moments, const ContourMoments& steering, double epsilon, double accuracy);
  void add_nodes(const ContourPlan& plan, const Tilts& tilts, std::size_t count);
  void gather();
  /// The sums of e^(it drift) phi(t) times the kernels 1/(s(s+1)) and 1/(s+1), over both signs of t.
  [[nodiscard]] numeric::TurnedSums sum_nodes(double drift) const;
  [[nodiscard]] std::size_t blocks_of(std::size_t stretch) const;
  [[nodiscard]] double node_error(Kernel kernel, double drift, double drift_error) const;
  void sum_and_march(const ContourPlan& plan, const Tilts& tilts, double epsilon, Accuracy accuracy);
  void sum_recurrent(const ContourPlan& plan, const Tilts& tilts, double epsilon, double accuracy,
                     const std::function<double(double)>& log_decay);
  /// The furthest point up to which the march proves |phi| <= exp(-need) from `start`; infinite if it reached the end.
  struct March {
    const Tilts& tilts;
    const std::vector<double>& times;  // the exponents
    double start, end, need;
    bool bridges;       // where no step ahead is proved, single nodes may be
    double origin = 0;  // from here on the need falls with t; 0 if it does not [contour-recurrence]
    [[nodiscard]] double need_at(double t) const;
  };
  /// Nodes of a march that are bounded one by one: the sums of |phi| / t^2, of |phi| / t, and of |phi| up to powers of 2 of the first t.
  struct Bridge {
    double profile = 0, tail = 0;
    std::array<double, 64> counts{};
    void add(double t, double modulus, double first) {
      profile += modulus / (t * t);
      tail += modulus / t;
      counts[octave(t, first)] += modulus;
    }
    [[nodiscard]] double count_up_to(double t, double first) const {
      return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(octave(t, first) + 1), 0.0);
    }
    [[nodiscard]] static std::size_t octave(double t, double first) {
      return static_cast<std::size_t>(std::clamp(std::floor(std::log2(t / first)), 0.0, 63.0));
    }
  };
  /// Nodes beyond `from`, and up to an end, leave at most so much.
  struct Faded {
    double from, profile, tail;
  };
  template <class LogDecay>
  [[nodiscard]] Faded fade_before(double end, double negligible, LogDecay&& log_decay) const;
  [[nodiscard]] double flat_kernel(double t) const;
  [[nodiscard]] double march_from(const March& march);
  [[nodiscard]] bool spent() const;
  [[nodiscard]] double recurrent_work() const;
  /// How the nodes of a law without decay were summed. [contour-recurrence]
  struct Recurrence {
    const std::vector<double>& times;  // the exponents, even
    double need = 0;                   // |phi| is below exp of minus this where the first stretch ends, `origin`; beyond it less is needed
    double origin = 0;
    double covered = 0;  // all nodes up to here were summed or bounded
    double end = 0;      // where the march should end
    double wanted = 0;   // what may be left beyond
    double most_between = infinity,
           most_beyond = infinity;  // all from `origin` on, or from `covered` on, leaves no more [contour-truncation]
    [[nodiscard]] double need_at(double t) const;
  };
  void add_stretch(const ContourPlan& plan, const Tilts& tilts, Recurrence& found, double until);
  void aim(Recurrence& found, double epsilon, double accuracy) const;
  [[nodiscard]] double beyond(const Recurrence& found) const;
  struct Outset {
    double windows = 1;  // J
    double value = 0;    // of the profile, in units of e^base
  };
  [[nodiscard]] Outset outset(double epsilon) const;
  void close_recurrent(const Recurrence& found);
  void close(double start, double end, double need, double whole_variation, double exponent);
  [[nodiscard]] double alias(double epsilon, Interval base, Kernel kernel) const;

  /// A line whose nodes cover one period of the transform of a distribution on a lattice. [folded-contour]
  struct Fold {
    LossLattice lattice;
    double step = 1;                           // approximately the lattice step
    double doubt = 0;                          // its relative error
    double nodes = 1;                          // number of nodes in the period, odd
    double kernel_error = 0;                   // relative
    std::array<double, 4> first{};             // the kernels at t = 0
    std::array<std::vector<double>, 4> terms;  // 2 phi(t) times the kernels: blocks of real, then imaginary parts
    std::array<ErrorSums, 4> errors{};         // of each kernel
    std::array<double, 4> truncation{};        // a bound of the omitted nodes, in units of exp(base)
  };
  /// G0 = 1/((1 - e^-z)(1 - e^(-z-b))), G1 = e^-z G0, 1/(1 - e^-z) and 1/(1 - e^(-z-b)), z = (order + it) b.
  using FoldedKernels = std::array<std::complex<double>, 4>;
  [[nodiscard]] FoldedKernels folded_kernels(double node) const;
  void fold_step(const LossLattice& lattice, double window);
  void sum_folded(const ContourPlan& plan, const Tilts& tilts, double accuracy);
  void close_folded(double level);
  void gather_folded();
  [[nodiscard]] Value at_folded(double epsilon, Kernel kernel) const;
  [[nodiscard]] std::array<double, 2 * numeric::lane_count> first_phases(double drift, double number = 1) const;

  double order_;
  TransformRange reach_;
  std::vector<std::shared_ptr<Item>> items_;  // shared with longer lines; empty if there are too many to keep
  std::vector<double> least_times_;           // the number of runs of each item for which the truncation was proved
  Interval cumulant_;                         // K(order)
  double mean_ = 0;                           // constant of the linear phase
  double mean_error_ = 0;                     // its rounding
  double deviation_ = 0;
  double step_ = 0;
  double window_ = 0;  // a lower bound of 2 pi / step
  double gaussian_ = 0, gaussian_error_ = 0;
  std::vector<Chernoff> left_, right_;
  std::vector<Node> nodes_;                // t > 0
  std::vector<Stretch> stretches_{{}};     // of nodes without gaps
  std::vector<double> profile_, fall_;     // 2 phi(t) times the kernels 1/(s(s+1)) and 1/(s+1): blocks of real, then imaginary parts
  std::array<ErrorSums, 3> error_sums_{};  // of each kernel
  double bend_ = 0;                        // a bound of the second derivative of the profile sum
  Bridge bridge_;
  double profile_truncation_ = 0;
  double tail_truncation_ = 0;
  std::size_t points_ = 0;
  std::size_t march_ = 0;
  bool blind_ = false;
  bool hopeless_ = false;
  bool exhausted_ = false;
  bool atoms_alone_ = true;  // no density beside them
  std::optional<Fold> fold_;
  double time_error_ = 0;  // relative error of the t of the nodes: a period is not exactly a double
  double last_time_ = 0;
};

}  // namespace tradeoff::detail
