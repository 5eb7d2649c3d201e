// SPDX-License-Identifier: Apache-2.0
#include "mechanism/sparse_vector.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "loss/gaussian_profile.h"
#include "loss/key.h"
#include "mechanism/constraints.h"
#include "mechanism/finite.h"
#include "mechanism/laplace.h"
#include "mechanism/profile_nodes.h"
#include "mechanism/stopping_game.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {

Interval SparseVector::threshold_shift() const { return sensitivity / threshold_scale; }

// [sparse-vector] The shift of the threshold may add to the movement of a query; if all move one way, it takes the place of it.
Interval SparseVector::query_shift() const {
  const Interval shift = sensitivity / query_scale;
  return movement == Movement::any ? 2.0 * shift : shift;
}

namespace {

constexpr double largest_pure = 500;       // e^500 is a double; beyond, only the largest loss is used
constexpr double largest_shift = 30;       // of Gaussian noise: beyond, nothing is hidden
constexpr double longest_grid = 100'000;   // nodes in the loss of the threshold
constexpr std::uint64_t most_nodes = 600;  // of the profile, in each direction

using Profile = std::function<Interval(Interval epsilon)>;

/// The stopping game as a pair, and how far its losses are bounded.
struct Game {
  ProfileGrid grid;  // empty if only the largest loss is used
  double step = 0;
  GridAtoms atoms;
  double largest = infinity;

  [[nodiscard]] double at(std::int64_t i) const;
};

double Game::at(std::int64_t i) const {
  if (grid.delta.empty()) return std::max(0.0, (-expm1(Interval::exactly(step) * Interval::exactly(i - atoms.finite.front().index))).hi);
  const std::int64_t last = grid.first + static_cast<std::int64_t>(grid.delta.size()) - 1;
  if (i >= grid.first) return grid.delta[static_cast<std::size_t>(std::min(i, last) - grid.first)];
  const Interval x = exp(Interval::exactly(grid.step) * Interval::exactly(i - grid.first));
  return std::min(1.0, (1.0 - x * (1.0 - Interval::exactly(grid.delta.front()))).hi);
}

Game game_of(const SparseVector& vector) {
  const double shift = vector.query_shift().hi, threshold = vector.threshold_shift().hi;
  Game game;
  if (vector.noise == SparseNoise::gaussian) {
    game.grid = gaussian_game(shift, vector.positives, vector.queries);
    game.step = game.grid.step;
    game.atoms = atoms_of_grid(game.grid);
    return game;
  }
  game.largest = (Interval::exactly(vector.positives) * Interval::exactly(shift)).hi;
  const double steps = longest_grid * shift / threshold;
  if (steps < 1) {  // the loss of the queries is far below that of the threshold: its largest value is used
    game.step = (threshold + game.largest) / longest_grid;
    game.atoms.finite = {{static_cast<std::int64_t>(std::ceil(game.largest / game.step)) + 1, 1}};
    return game;
  }
  game.grid = laplace_game(shift, vector.positives, static_cast<std::int64_t>(std::min(steps, 1e6)));
  game.step = game.grid.step;
  game.atoms = atoms_of_grid(game.grid);
  return game;
}

/// The profile of the threshold at all multiples of the step between two, from above.
class ThresholdTable {
 public:
  ThresholdTable(const Profile& profile, double step, std::int64_t first, std::int64_t last) : first_(first) {
    for (std::int64_t i = first; i <= last; ++i) deltas_.push_back(profile(Interval::exactly(step) * Interval::exactly(i)).hi);
  }
  [[nodiscard]] double at(std::int64_t i) const { return deltas_[static_cast<std::size_t>(i - first_)]; }

 private:
  std::int64_t first_;
  std::vector<double> deltas_;
};

/// [sparse-vector] The pair of the threshold times that of the game: the mean of the profile of the threshold over the losses of the game.
double both(const GridAtoms& game, const ThresholdTable& threshold, std::int64_t i) {
  double sum = game.infinite;
  for (const GridAtom& atom : game.finite) sum += atom.mass * threshold.at(i - atom.index);
  const double terms = static_cast<double>(game.finite.size()) + 8;
  return std::min(1.0, sum * (1 + terms * 0x1p-52) + 1e-300);  // all terms are positive
}

/// The smaller of a bound at e^z and what the other direction states there: 1 - y + y delta(1/y). The bounds hold at the lower end of z;
/// the slope of a profile is at least -1.
double with_mirror(double own, double other, Interval z) {
  const Interval at = Interval::exactly(z.hi);
  const double moved = numeric::add_up(other, numeric::add_up(z.hi, -z.lo));
  return std::clamp(std::min(own, (exp(at) * Interval::exactly(moved) - expm1(at)).hi), 0.0, 1.0);
}

/// The nodes of one direction at multiples of the stride; beyond `largest` the profile is 0.
std::vector<ProfileNode> nodes_of(const Game& game, std::int64_t stride, std::int64_t count, double largest,
                                  const std::function<double(std::int64_t)>& own, const std::function<double(std::int64_t)>& other) {
  std::vector<ProfileNode> nodes;
  for (std::int64_t n = 0; n <= count; ++n) {
    const std::int64_t i = n * stride;
    const Interval z = Interval::exactly(game.step) * Interval::exactly(i);
    if (z.hi >= largest) break;
    nodes.push_back({z.hi, with_mirror(own(i), other(-i), z)});
  }
  if (largest < infinity) nodes.push_back({largest, 0});
  return nodes;
}

/// For neighbours of either kind: the larger of both bounds at each node. The first list may end earlier, where its profile is 0.
std::vector<ProfileNode> larger_of(const std::vector<ProfileNode>& shorter, std::vector<ProfileNode> longer) {
  for (std::size_t i = 0; i < longer.size(); ++i) {
    const bool shared = i < shorter.size() && shorter[i].epsilon <= longer[i].epsilon;
    longer[i].delta = std::max(longer[i].delta, shared ? shorter[i].delta : 0);
  }
  return longer;
}

std::string key_of(const SparseVector& vector) {
  return make_key(
      "sparse_vector_" + std::to_string(static_cast<int>(vector.movement)) + "_" + std::to_string(static_cast<int>(vector.noise)),
      {vector.threshold_scale, vector.query_scale, vector.sensitivity, Interval::exactly(vector.positives),
       Interval::exactly(vector.queries)});
}

Citations citations_for(const SparseVector& vector) {
  Citations all;
  if (vector.noise == SparseNoise::exponential)
    all.emplace_back("sparse-vector", "upper ends: exponential noise has no more than its largest loss");
  else
    all.emplace_back("sparse-vector", "upper ends: the pair of the threshold and the stopping game with positives = " +
                                          std::to_string(vector.positives) + "; a bound, not known to be attained");
  if (vector.noise == SparseNoise::gaussian)
    all.emplace_back("sparse-vector-gaussian", "Gaussian noise, at most " + std::to_string(vector.queries) + " queries");
  all.emplace_back("profile-nodes", "a profile with known values is at most linear in e^epsilon between them");
  return all;
}

/// The losses are at most `remove` and `add`: the least private such pair.
LossPointer pure_pair(const SparseVector& vector, double remove, double add) {
  if (!vector.directed())
    return std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(remove), Interval::exactly(0)}}, true,
                                             citations_for(vector));
  const std::vector<ProfileNode> nodes_remove{{0, 1}, {remove, 0}}, nodes_add{{0, 1}, {add, 0}};
  return finite_loss(atoms_of_nodes(nodes_remove, nodes_add), key_of(vector), citations_for(vector));
}

LossPointer nothing_hidden(const SparseVector& vector) {
  const Interval all = Interval::exactly(1);
  return finite_loss(make_atoms({}, all, all, true), key_of(vector), citations_for(vector));
}

}  // namespace

LossPointer sparse_vector_above(const SparseVector& vector) {
  if (vector.sensitivity.hi == 0) {
    const Interval none = Interval::exactly(0);
    return finite_loss(make_atoms({{none, Interval::exactly(1)}}, none, none, true), key_of(vector), citations_for(vector));
  }
  const Interval threshold = vector.threshold_shift();
  const double alone = (Interval::exactly(vector.positives) * vector.query_shift()).hi;
  const double pure = vector.noise == SparseNoise::gaussian ? infinity : (threshold + alone).hi;
  const bool rising = vector.movement == Movement::rising, falling = vector.movement == Movement::falling;
  if (vector.noise == SparseNoise::exponential || (pure > largest_pure && pure < infinity))
    return pure_pair(vector, rising ? alone : pure, falling ? alone : pure);
  if (vector.noise == SparseNoise::gaussian && std::max(threshold.hi, vector.query_shift().hi) > largest_shift)
    return nothing_hidden(vector);
  const Game game = game_of(vector);
  const LaplaceLoss laplace(threshold);
  const Profile profile = [&](Interval epsilon) {
    return vector.noise == SparseNoise::gaussian ? gaussian_delta(threshold, epsilon) : laplace.delta(Direction::remove, epsilon);
  };
  const double reach =
      pure < infinity ? pure : -game.step * static_cast<double>(game.grid.first) + 9.5 * threshold.hi + square(threshold).hi;
  const std::int64_t last = static_cast<std::int64_t>(std::ceil(reach / game.step)) + 1;
  const std::int64_t stride = std::max<std::int64_t>(1, last / static_cast<std::int64_t>(most_nodes)), count = last / stride + 1;
  const std::int64_t spread = (count + 1) * stride;
  const ThresholdTable table(profile, game.step, -spread - game.atoms.finite.back().index, spread - game.atoms.finite.front().index);
  const auto product = [&](std::int64_t i) { return both(game.atoms, table, i); };
  const auto single = [&](std::int64_t i) { return game.at(i); };
  const auto finished = [&](Atoms atoms) { return finite_loss(std::move(atoms), key_of(vector), citations_for(vector)); };
  if (vector.movement == Movement::any) return finished(symmetric_atoms_of_nodes(nodes_of(game, stride, count, pure, product, product)));
  // [sparse-vector] The direction in which no query falls needs no shift of the threshold.
  const std::vector<ProfileNode> shifted = nodes_of(game, stride, count, pure, product, single);
  const std::vector<ProfileNode> in_place = nodes_of(game, stride, count, game.largest, single, product);
  if (rising) return finished(atoms_of_nodes(in_place, shifted));
  if (falling) return finished(atoms_of_nodes(shifted, in_place));
  return finished(symmetric_atoms_of_nodes(larger_of(in_place, shifted)));
}

namespace {

Movement movement_of(const Arguments& arguments) {
  const std::string_view chosen = arguments.choice("monotone");
  return chosen == "rising"    ? Movement::rising
         : chosen == "falling" ? Movement::falling
         : chosen == "either"  ? Movement::either
                               : Movement::any;
}

SparseNoise noise_of(const Arguments& arguments) {
  const std::string_view chosen = arguments.choice("noise");
  return chosen == "gaussian" ? SparseNoise::gaussian : chosen == "exponential" ? SparseNoise::exponential : SparseNoise::laplace;
}

[[noreturn]] void refuse_zero_scale(const Arguments& arguments, std::string_view name) {
  const bool threshold = name == "threshold_scale";
  arguments.refuse(name, arguments.written(name).text,
                   threshold ? "above 0: without noise on the threshold every answer below costs, and their number is not bounded"
                             : "above 0: without noise on the queries some answers are impossible for one of two neighbours");
}

Interval scale_of(const Arguments& arguments, std::string_view name) {
  if (!(arguments.written(name).value.lo > 0)) refuse_zero_scale(arguments, name);
  return arguments.number(name);
}

std::uint64_t positives_of(const Arguments& arguments) {
  if (arguments.written("positives").value.hi < 1)
    arguments.refuse("positives", arguments.written("positives").text,
                     "a whole number of at least 1: after so many answers above it stops. Without such a bound nothing is guaranteed");
  return arguments.whole("positives");
}

/// [sparse-vector-gaussian] Ever rarer answers above have losses without bound, and with enough queries one of them surely happens.
std::uint64_t queries_of(const Arguments& arguments) {
  const bool gaussian = noise_of(arguments) == SparseNoise::gaussian;
  if (gaussian && !arguments.has("queries"))
    throw DomainError(
        "sparse_vector: noise = gaussian needs queries, the largest number of queries; without it nothing is guaranteed, because a rare "
        "answer above has a loss without bound and one surely happens in a long stream. noise = laplace needs no such bound");
  if (!gaussian && arguments.has("queries"))
    throw DomainError(
        "sparse_vector: queries belongs to noise = gaussian; with Laplace or exponential noise any number is covered, leave it out");
  return gaussian ? arguments.whole("queries") : 0;
}

SparseVector described_vector(const Arguments& arguments, Neighbours neighbours) {
  const Movement movement = movement_of(arguments);
  if (movement != Movement::any && neighbours == Neighbours::replace_one)
    throw DomainError("sparse_vector: monotone = " + std::string(arguments.choice("monotone")) +
                      " needs add-remove neighbours: if a record is replaced, some queries may rise and others fall; leave monotone out");
  return {.threshold_scale = scale_of(arguments, "threshold_scale"),
          .query_scale = scale_of(arguments, "query_scale"),
          .positives = positives_of(arguments),
          .sensitivity = arguments.number("sensitivity"),
          .movement = movement,
          .noise = noise_of(arguments),
          .queries = queries_of(arguments)};
}

/// [sparse-vector] With fresh noise on the threshold after every answer above it is `positives` runs of one answer above each.
LossPointer redrawn(const Arguments& arguments, const WordContext& context) {
  Call call{"sparse_vector", {}};
  const auto number = [&](const char* name) { call.arguments.push_back({name, {arguments.written(name)}}); };
  const auto choice = [&](const char* name) { call.arguments.push_back({name, {std::string(arguments.choice(name))}}); };
  for (const char* name : {"threshold_scale", "query_scale", "sensitivity"}) number(name);
  for (const char* name : {"monotone", "noise"}) choice(name);
  if (arguments.has("queries")) number("queries");
  Call repeat{"repeat", {{"times", {arguments.written("positives")}}}};
  return context.pair_of(Plan{{Line{std::move(call), {std::move(repeat)}}}});
}

LossPointer make_sparse_vector(const Arguments& arguments, const WordContext& context) {
  const SparseVector vector = described_vector(arguments, context.neighbours());
  if (arguments.choice("redraw") == "true" && vector.positives > 1) return redrawn(arguments, context);
  const bool ordered = context.neighbours() == Neighbours::add_remove || context.neighbours() == Neighbours::zero_out;
  const auto stream = [&](double share) { return [&vector, share, ordered] { return sparse_vector_witness(vector, share, ordered); }; };
  const auto rare = [&](double share) { return [&vector, share, ordered] { return sparse_vector_rare_answers(vector, share, ordered); }; };
  const auto above = [&] { return sparse_vector_above(vector); };
  // [sparse-vector-witness] Streams that are strong at these shares of the largest loss.
  constexpr std::uint64_t few = 4;
  if (vector.noise == SparseNoise::gaussian || vector.positives < few || vector.sensitivity.hi == 0)
    return context.bracket(above, {stream(0.3), stream(0.08)});
  if (vector.noise == SparseNoise::exponential) return context.bracket(above, {stream(0.3), rare(0.15), rare(0.5), rare(0.95)});
  return context.bracket(above, {[&vector, ordered] { return sparse_vector_paired_queries(vector, ordered); }, rare(0.15), rare(0.5),
                                 rare(0.95), stream(0.08)});
}

// [sparse-vector] Long streams approach the sum of the largest losses.
std::optional<numeric::Rational> largest_loss_of_sparse_vector(const Arguments& arguments) {
  const Movement movement = movement_of(arguments);
  if (noise_of(arguments) == SparseNoise::gaussian || movement == Movement::rising || movement == Movement::falling) return std::nullopt;
  const std::uint64_t positives = arguments.whole("positives");
  const bool redraw = arguments.choice("redraw") == "true";
  const auto threshold = ratio(arguments.exact("sensitivity"), arguments.exact("threshold_scale"));
  const auto query = ratio(arguments.exact("sensitivity"), arguments.exact("query_scale"));
  return sum(product(threshold, redraw ? positives : 1), product(query, movement == Movement::any ? 2 * positives : positives));
}

std::string promise_of_sparse_vector(const Arguments& arguments) {
  const Movement movement = movement_of(arguments);
  std::string text = "In `sparse_vector`, only the answers are released, each query has fresh noise, no more than " +
                     arguments.written("positives").text + " answers are above, and then it stops";
  text += "; its queries do not alternate with those of another sparse vector or of a selection";
  if (movement == Movement::rising) text += "; no query falls when a record is added";
  if (movement == Movement::falling) text += "; no query rises when a record is added";
  if (movement == Movement::either) text += "; for each record, all queries move the same way";
  if (noise_of(arguments) == SparseNoise::exponential) text += "; both noises are at least 0 and are added";
  if (arguments.has("queries")) text += "; there are at most " + arguments.written("queries").text + " queries";
  return text + ".";
}

}  // namespace

Word sparse_vector_word() {
  Parameter sensitivity = sensitivity_parameter;
  sensitivity.meaning = "how far one record can move one query";
  return {.role = Role::source,
          .name = "sparse_vector",
          .meaning = "queries compared with a noisy threshold; only the answers are released",
          .parameters = {{"threshold_scale", Kind::number, "scale of the noise on the threshold", range::positive, effect::safer},
                         {"query_scale", Kind::number, "scale of the noise on each query", range::positive, effect::safer},
                         {"positives", Kind::integer, "answers above after which it stops", range::whole(1, 10'000), effect::riskier, "1"},
                         sensitivity,
                         {.name = "monotone",
                          .kind = Kind::choice,
                          .meaning = "how all queries move when a record is added",
                          .fallback = "no",
                          .choices = "no|rising|falling|either"},
                         {.name = "noise",
                          .kind = Kind::choice,
                          .meaning = "of the threshold and of the queries",
                          .fallback = "laplace",
                          .choices = "laplace|exponential|gaussian"},
                         {.name = "redraw",
                          .kind = Kind::choice,
                          .meaning = "fresh noise on the threshold after each answer above",
                          .fallback = "false",
                          .choices = "false|true"},
                         {.name = "queries",
                          .kind = Kind::integer,
                          .meaning = "with noise = gaussian: at most so many queries",
                          .range = range::whole(1, 10'000),
                          .effect = effect::riskier,
                          .optional = true}},
          .synonyms =
              {{"above_threshold"},
               {"svt"},
               {"numeric_sparse",
                "releasing the noisy values of queries above the threshold has no bound: a value limits the noise of the threshold, and "
                "every answer below then costs. Write sparse_vector(...), and laplace(scale) | repeat(positives) for values with fresh "
                "noise"}},
          .promise = promise_of_sparse_vector,
          .make = make_sparse_vector,
          .largest_loss = largest_loss_of_sparse_vector};
}

}  // namespace tradeoff::detail
