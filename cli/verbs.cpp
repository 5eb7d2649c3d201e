// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "verb.h"

namespace tradeoff::cli {
namespace {

constexpr std::array<std::string_view, 2> neighbours_choices = {"add-remove", "replace-one"};
constexpr std::array<std::string_view, 3> direction_choices = {"worst", "remove", "add"};
constexpr std::array<std::string_view, 3> curve_choices = {"tradeoff", "profile", "gdpt"};
constexpr std::array<std::string_view, 3> records_choices = {"sum", "count", "mean"};
constexpr std::array<std::string_view, 2> rows_choices = {"composed", "disjoint"};
constexpr std::array<std::string_view, 2> inputs_choices = {"rounded", "grid"};
constexpr std::array<std::string_view, 4> format_choices = {"csv", "json", "term", "svg"};

constexpr std::array<Option, 3> common_options = {{
    {"neighbours", "WHICH", "the change of one record that the plan protects against", false, {}, neighbours_choices},
    {"direction",
     "WHICH",
     "remove: with the record against without it; add: the reverse (add-remove neighbours unless the plan fixes them); worst: the less "
     "private (default)",
     false,
     {},
     direction_choices},
    {"relative", "WIDTH", "wanted relative width of the answer (default 1e-6); a wider interval is still an answer"},
}};

constexpr Option paranoid = {
    .name = "paranoid",
    .placeholder = "",
    .help =
        "have the answer confirmed by the slow independent witness, in ball arithmetic (exit code 1 if it is contradicted, 4 if "
        "the witness cannot tell)",
    .is_flag = true};
constexpr std::array<Option, 2> delta_option = {{{"delta", "D", "a probability: 0 <= D <= 1", true}, paranoid}};
constexpr std::array<Option, 2> epsilon_option = {
    {{"epsilon", "E", "any real number, or inf for the mass at infinite loss", true}, paranoid}};
constexpr std::array<Option, 1> alpha_option = {{{"alpha", "A", "the type I error of the attack: 0 <= A <= 1", true}}};
constexpr std::array<Option, 1> fpr_option = {{{"fpr", "X", "the false-positive rate of the attack: 0 <= X <= 1", true}}};
constexpr std::array<Option, 1> prior_option = {{{"prior", "P", "how likely membership was before: 0 < P < 1", true}}};
constexpr std::array<Option, 2> mu_options = {{
    {"slack", "D", "the pair (mu, D): everything may be revealed with probability D (default: several)"},
    {"epsilon-max", "E", "only look at epsilon <= E; says nothing beyond", false, "epsilon_max"},
}};
constexpr std::array<Option, 5> compare_options = {{
    {"delta", "D", "a probability, or several with commas in between: a column each"},
    {"epsilon-max", "E", "instead of --delta: compare ways to measure mu for epsilon <= E", false, "epsilon_max"},
    {"width", "W", "with --epsilon-max: how narrow the measurements should be (default 0.01)"},
    {"method", "NAME", "only these methods, with commas in between (default: all)"},
    {"people", "N", "also say how likely a mechanism allowed by this delta publishes one of N people"},
}};
constexpr std::array<Option, 1> gdpt_option = {{{"epsilon", "E", "a real number", true}}};
constexpr std::array<Option, 1> explain_options = {{
    {"delta", "D", "the question is epsilon at this delta (default 1e-5)"},
}};
constexpr std::array<Option, 2> check_options = {{
    {"epsilon", "E", "the budget's epsilon, at least 0", true},
    {"delta", "D", "the budget's delta: 0 <= D <= 1", true},
}};
constexpr std::array<Option, 7> target_options = {{
    {"epsilon", "E", "the target's epsilon; together with --delta", false, "target.epsilon"},
    {"delta", "D", "the target's delta; together with --epsilon", false, "target.delta"},
    {"mu", "M", "the target: M-GDP", false, "target.mu"},
    {"slack", "D", "with --mu: M-GDP except with probability D", false, "target.slack"},
    {"advantage", "A", "the target: no attack has a larger advantage", false, "target.advantage"},
    {"fpr", "X", "the target: at this false-positive rate ...; together with --tpr", false, "target.fpr"},
    {"tpr", "Y", "... no attack has a larger true-positive rate", false, "target.tpr"},
}};
constexpr std::array<Option, 3> approximate_options = {{
    {"pieces", "N", "how many constraints: 1 to 64", true},
    {"times", "K", "also bound delta of K runs, by polygons with N slopes", false},
    {"epsilon", "E", "with --times: at this epsilon", false},
}};
constexpr std::array<Option, 2> renyi_options = {{
    {"order", "A", "the order, above 1"},
    {"delta", "D", "convert at this delta: 0 <= D <= 1"},
}};
constexpr std::array<Option, 1> guarantees_options = {{
    {"epsilon", "E", "instead: the guarantee at each of these, with commas in between; a valid list, lossy between them"},
}};
constexpr std::array<Option, 2> limit_options = {{
    {"delta", "D", "compare epsilon at this delta: 0 <= D <= 1"},
    {"epsilon", "E", "compare delta at this epsilon, at least 0"},
}};
constexpr std::array<std::string_view, 3> sampling_choices = {"poisson", "fixed", "shuffled"};
constexpr std::array<Option, 12> sgd_options = {{
    {"noise-multiplier", "Z", "standard deviation of the noise / clipping norm"},
    {"batch", "M", "examples in a batch (on average, for poisson)", true},
    {"examples", "N", "examples in the data", true},
    {"epochs", "E", "passes over the data: ceil(E N / M) steps"},
    {"steps", "T", "instead of --epochs"},
    {"delta", "D", "where epsilon is reported: 0 <= D <= 1", true},
    {"epsilon", "E", "target: (E, D)-DP"},
    {"mu", "M", "target: M-GDP, except with probability --slack"},
    {"slack", "D", "for --mu (default 0)"},
    {"advantage", "A", "target: no attack has a larger advantage"},
    {"sampling", "HOW", "how batches are drawn (default poisson)", false, {}, sampling_choices},
    {"neighbours", "WHICH", "must fit the sampling; only checked", false, {}, neighbours_choices},
}};
constexpr std::array<std::string_view, 3> report_choices = {"md", "html", "json"};
constexpr std::array<Option, 6> report_options = {{
    {"compare", "PLAN", "another plan, to be set beside it; may be given several times", false, {}, {}, false, true},
    {"format", "FORMAT", "md (default), html or json; by default as the name of --out ends", false, {}, report_choices},
    {"out", "FILE", "write to this file instead of standard output; it is replaced as a whole or not at all"},
    {"delta", "D", "the delta of the headline (default 1e-5)"},
    {"unit", "TEXT", "what is protected: 'one patient' (default: the records that every line protects)"},
    {"title", "TEXT", "the title of the page"},
}};
constexpr std::array<Option, 4> curve_options = {{
    {"as", "WHAT", "tradeoff: beta of alpha (default); profile: delta of epsilon; gdpt: mu of epsilon", false, {}, curve_choices},
    {"format", "FORMAT", "csv (default), json, term or svg", false, {}, format_choices},
    {"points", "N", "how many points (default 101, 201 in a picture)"},
    {"out", "FILE", "write to this file instead of standard output; it is replaced as a whole or not at all"},
}};
constexpr std::array<Option, 6> certify_options = {{
    {"epsilon", "E", "certify the least delta at this epsilon: any real number, or inf"},
    {"delta", "D", "certify the least epsilon at this delta: 0 <= D <= 1"},
    {"alpha", "A", "certify the least type II error at this type I error: 0 <= A <= 1"},
    {"fpr", "X", "certify the largest true-positive rate at this false-positive rate: 0 <= X <= 1"},
    {"out", "FILE", "write to this file instead of standard output; it is replaced as a whole or not at all"},
    {"check", "FILE", "verify this certificate instead, as `tradeoff verify FILE` does"},
}};
constexpr std::array<Option, 1> verify_options = {{
    {"released", "FILE", "what was released: the printed rows, or the model file of `train --checkpoint`"},
}};
constexpr std::array<Option, 2> figures_options = {{
    {"out", "DIR", "the directory they go to (default: figures)"},
    {"list", "", "their names and titles, without drawing them", false, {}, {}, true},
}};

constexpr std::array<Option, 15> release_options = {{
    {"low", "L", "no value is below this; with --high"},
    {"high", "H", "no value is above this; with --low"},
    {"clip", "", "move values outside to the nearest bound instead of refusing them", false, {}, {}, true},
    {"records", "WHAT", "the values are records: release their sum, count, or mean (a sum and a count)", false, {}, records_choices},
    {"rows", "ARE", "composed: all rows come from the same data (default); disjoint: each from other people", false, {}, rows_choices},
    {"inputs",
     "ARE",
     "rounded: to the grid, with the sensitivity enlarged (default); grid: on it already, or refused",
     false,
     {},
     inputs_choices},
    {"grid", "STEP", "the step of the results, a power of two: 1, 0.5, 2^-20 (default: 2^-20 of the noise, or 1 for noise on integers)"},
    {"certificate", "FILE", "where the certificate goes (default: standard error; with --json: beside the rows)"},
    {"epsilon", "E", "a target, with --delta; every target binds: the ? of the plan is found for it, or the plan must meet it"},
    {"delta", "D", "the target's delta"},
    {"mu", "M", "a target: M-GDP"},
    {"slack", "S", "with --mu: except with probability S (default 0)"},
    {"advantage", "A", "a target: no attack has a larger advantage (true-positive rate less false-positive rate)"},
    {"fpr", "A", "a target, with --tpr: at this false-positive rate no attack has a larger true-positive rate than B"},
    {"tpr", "B", "the target's true-positive rate"},
}};

constexpr std::array<std::string_view, 2> batch_choices = {"poisson", "fixed"};
constexpr std::array<std::string_view, 2> feature_choices = {"values", "orientation"};
constexpr std::array<Option, 29> train_options = {{
    {"data", "PATH", "a directory of IDX files (default: Debian's Fashion-MNIST), or a .csv file with the label last"},
    {"test", "FILE", "records to judge the model by, for a .csv file"},
    {"holdout", "N", "judge by the last N records instead; they are not trained on and not protected"},
    {"classes", "K", "labels are 0..K-1 (default 10 for IDX files)"},
    {"low", "L", "for a .csv file: values below are moved up to it; a public number"},
    {"high", "H", "for a .csv file: values above are moved down to it; a public number"},
    {"features",
     "WHICH",
     "orientation: histograms of gradient orientations (default for images); values: as they are",
     false,
     {},
     feature_choices},
    {"hidden", "H", "units of the hidden layer (default 32; 0 for none)"},
    {"filters", "F", "a convolution with F filters of 5x5 instead of a hidden layer"},
    {"sampling",
     "HOW",
     "poisson: each record joins by itself, add-remove neighbours (default); fixed: batches of one size, replace-one",
     false,
     {},
     batch_choices},
    {"public-size", "N", "with poisson: the rate is batch/N, N a public number (default for Fashion-MNIST: its size)"},
    {"batch", "M", "records in a batch (default 256), on average for poisson; the sum is divided by it"},
    {"epochs", "E", "passes over the data (default 15)"},
    {"learning-rate", "R", "default 0.25"},
    {"clip", "C", "the norm that no record's gradient exceeds (default 1.5)"},
    {"noise", "Z", "standard deviation of the noise on the sum / C; default: the least that meets the targets"},
    {"epsilon", "E", "target: (E, D)-DP for the whole run, at every D of --delta"},
    {"mu", "M", "target: M-GDP for the whole run, except with probability --slack"},
    {"advantage", "A", "target: no attack has a larger advantage"},
    {"slack", "D", "for --mu (default 1e-5)"},
    {"delta", "D", "where epsilon is reported: a number, or several with commas in between (default 1e-5,1e-6,1e-8)"},
    {"allow-large-delta", "", "let a delta (or slack) be 0.01 or more", false, {}, {}, true},
    {"checkpoint", "FILE", "keep the run and its model here, 20 times on the way; FILE.private is for you alone"},
    {"resume", "", "go on with the run in --checkpoint, on the same data; nothing is charged again", false, {}, {}, true},
    {"certificate", "FILE", "write the certificate there, as JSON"},
    {"audit", "", "do not train: test whether steps of such a run are what is stated; 1 if not", false, {}, {}, true},
    {"audit-steps", "N", "how many (default 200000, at least 100)"},
    {"figure", "DIR", "train the three MNIST settings of the Gaussian DP paper with both samplings; training.md and training.svg go there"},
    {"runs", "N", "with --figure: runs of each setting (default 5)"},
}};

constexpr std::array<Verb, 36> all_verbs = {{
    {"epsilon", "the least epsilon at a given delta",
     "The least epsilon >= 0 such that the plan is (epsilon, delta)-DP. The upper end may be claimed.\n\n"
     "Examples:\n"
     "  tradeoff epsilon --delta 1e-5 'gaussian(sigma=2)'\n"
     "  tradeoff epsilon --delta 1e-5 'gaussian(sigma=40) | repeat(100)'\n"
     "  tradeoff epsilon --delta 1e-6 @plan.txt --json",
     true, delta_option, run_ask},
    {"delta", "the least delta at a given epsilon",
     "The least delta such that the plan is (epsilon, delta)-DP, for any real epsilon. The upper end may be claimed.\n"
     "Values too small for a double are given by their exponent.\n\n"
     "Examples:\n"
     "  tradeoff delta --epsilon 1 'gaussian(sigma=2)'\n"
     "  tradeoff delta --epsilon inf 'dp(epsilon=1, delta=1e-6)'     the mass at infinite loss\n"
     "  tradeoff delta --epsilon -0.5 --direction add 'pair(p=[0.7, 0.3], q=[0.4, 0.6])'",
     true, epsilon_option, run_ask},
    {"beta", "the trade-off function: least type II error at a type I error",
     "The trade-off function f(alpha): the least type II error of any test that tells the record's presence with type I error alpha.\n"
     "The lower end may be claimed.\n\n"
     "Examples:\n"
     "  tradeoff beta --alpha 0.05 'gdp(mu=1)'\n"
     "  tradeoff beta --alpha 0.01 --direction remove 'laplace(scale=2)'",
     true, alpha_option, run_ask},
    {"tpr", "the largest true-positive rate of an attack at a false-positive rate",
     "The largest true-positive rate of any membership attack with the given false-positive rate. The upper end may be claimed.\n\n"
     "Examples:\n"
     "  tradeoff tpr --fpr 0.001 'gaussian(sigma=1)'",
     true, fpr_option, run_ask},
    {"advantage",
     "the largest advantage of an attack over guessing",
     "The largest difference of true-positive and false-positive rate of any attack: the total variation, delta at epsilon 0.\n\n"
     "Examples:\n"
     "  tradeoff advantage 'laplace(scale=1)'",
     true,
     {},
     run_ask},
    {"posterior", "what an attacker may believe afterwards, from a prior",
     "The accuracy of the best guess about membership, and the largest posterior that any output can cause.\n\n"
     "Examples:\n"
     "  tradeoff posterior --prior 0.5 'randomized_response(epsilon=1)'",
     true, prior_option, run_ask},
    {"mu", "whether a plan is Gaussian-DP, and the least mu",
     "The least mu such that the plan is mu-GDP, if its tail certifies one, and the pairs (mu, slack) that compose: mu-GDP except with\n"
     "probability slack. Sampled training is mu-GDP for a useless mu only; its pairs say what matters.\n\n"
     "Examples:\n"
     "  tradeoff mu 'laplace(scale=2) | poisson(rate=0.1)'\n"
     "  tradeoff mu --slack 1e-10 'gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)'\n"
     "  tradeoff mu --epsilon-max 2 'laplace(scale=0.1)'",
     true, mu_options, run_ask},
    {"gdpt", "the Gaussian mu that has the same delta at an epsilon",
     "The profile read in units of Gaussian DP: mu such that a mu-GDP mechanism has the plan's delta at this epsilon.\n\n"
     "Examples:\n"
     "  tradeoff gdpt --epsilon 1 'laplace(scale=2)'",
     true, gdpt_option, run_ask},
    {"compare", "epsilon by every method, from basic composition to the exact answer",
     "The epsilon of the plan at a delta by every theorem that covers it: composition (exact, basic, advanced, kairouz, murtagh_vadhan), "
     "Renyi DP (rdp,\n"
     "rdp_orders, zcdp), Gaussian DP (gdp, gdp_slack, gdp_summary), limit theorems (berry_esseen, clt, edgeworth), sampling, the loss "
     "alone, "
     "and the formulas\n"
     "for Gaussian noise. Each row is a guarantee; one with ~ is an estimate and claims nothing; one with > says that no smaller epsilon "
     "is "
     "possible. A\n"
     "method that does not cover the plan says why. The answer is the least of the guarantees. With --epsilon-max it compares ways to "
     "measure mu "
     "instead\n"
     "(chord, marching, algorithm_1, algorithm_3), with what each costs.\n\n"
     "Examples:\n"
     "  tradeoff compare --delta 0.1,0.01,0.001,0.0001 'dp(epsilon=0.2) | repeat(50)'\n"
     "  tradeoff compare --delta 1e-5 'gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)'\n"
     "  tradeoff compare --delta 1e-6 --method exact,gdp --people 10000 'laplace(scale=5) | repeat(50)'\n"
     "  tradeoff compare --epsilon-max 10 --width 0.001 'laplace(scale=0.5)'",
     true, compare_options, run_compare},
    {"calibrate", "the parameter that just meets a target",
     "The plan holds one ?. Finds the smallest noise, or the largest rate, count\n"
     "or budget, that meets every target stated. The value printed has been\n"
     "verified to meet them. For truncated and for discrete Gaussian noise a larger\n"
     "value need not meet them, and the answer says so.\n\n"
     "Examples:\n"
     "  tradeoff calibrate --epsilon 1 --delta 1e-5 'gaussian(sigma=?)'\n"
     "  tradeoff calibrate --mu 0.5 'gaussian(sigma=?) | repeat(100)'\n"
     "  tradeoff calibrate --fpr 0.01 --tpr 0.05 'laplace(scale=?)'\n"
     "  tradeoff calibrate --epsilon 1 --delta 1e-5 'gdp(mu=?)'",
     true, target_options, run_ask},
    {"check", "whether a plan is certainly within a budget",
     "Exit code 0: certainly within (epsilon, delta); 1: certainly not; 4: undecided at this accuracy.\n\n"
     "Examples:\n"
     "  tradeoff check --epsilon 2 --delta 1e-5 'gaussian(sigma=3)' && echo release",
     true, check_options, run_check},
    {"risk",
     "what attackers can do, in plain words",
     "Advantage, true-positive rates and posteriors of the best possible attack, the chance to be named in a crowd, how far an output\n"
     "shifts the odds, and what that means in plain words.\n\n"
     "Examples:\n"
     "  tradeoff risk 'gaussian(sigma=1)'",
     true,
     {},
     run_ask},
    {"report", "the privacy statement of a plan, to be handed to someone",
     "Everything that a reader needs to decide: what is protected, what was run, epsilon at the usual deltas, mu with slack and regret, "
     "the\n"
     "trade-off table, the risk in plain sentences, what is not covered, the method and how to check it. As Markdown, as one HTML file "
     "with its\n"
     "pictures, or as JSON with the fields of NIST SP 800-226 and of the registry of deployments. What only you can know is null there.\n\n"
     "Examples:\n"
     "  tradeoff report 'gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)'\n"
     "  tradeoff report --out statement.html --unit 'one patient' --delta 1e-6 'laplace(scale=2) | repeat(50)'\n"
     "  tradeoff report --format json @plan.txt\n"
     "  tradeoff report --out compared.html 'gaussian(sigma=2)' --compare 'laplace(scale=1)' --compare 'dp(epsilon=1, delta=1e-5)'",
     true, report_options, run_report},
    {"sgd", "private training in the words of training libraries",
     "What a run of private gradient descent guarantees: epsilon, trade-off\n"
     "curve and attack risk. The noise multiplier is the standard deviation of\n"
     "the noise on the sum of clipped gradients, divided by the clipping norm,\n"
     "as in `train`. Without one the least that meets the targets is found; a run\n"
     "that is not certain to meet every target is refused, with exit code 1.\n"
     "The sampling decides the theorem:\n"
     "  poisson    every example joins each batch independently; add-remove neighbours\n"
     "  fixed      each batch is a fresh sample of fixed size without replacement; replace-one neighbours\n"
     "  shuffled   passes over shuffled data: no amplification is claimed; replace-one neighbours\n\n"
     "Examples:\n"
     "  tradeoff sgd --noise-multiplier 1.1 --batch 256 --examples 60000 --epochs 60 --delta 1e-5\n"
     "  tradeoff sgd --noise-multiplier 2 --batch 512 --examples 50000 --epochs 10 --delta 1e-5 --sampling shuffled\n"
     "  tradeoff sgd --epsilon 2 --delta 1e-5 --batch 256 --examples 60000 --steps 10000     finds the noise",
     false, sgd_options, run_sgd},
    {"guarantees", "the corners of a curve composed point by point",
     "Every (epsilon, delta) at which the profile of the plan has a corner: together they say all there is to say about it\n"
     "(lossless). With --epsilon a list of guarantees of any plan, to be read back by constraints([...]) (lossy in between).\n\n"
     "Examples:\n"
     "  tradeoff guarantees 'dp(epsilon=0.5, delta=1e-6) | repeat(10)'\n"
     "  tradeoff guarantees --epsilon 0.5,1,2,4 'gaussian(sigma=1)'",
     true, guarantees_options, run_ask},
    {"approximate", "a smooth curve by a few (epsilon, delta) constraints",
     "The best constraints below the trade-off function (safe to claim together) and above it.\n\n"
     "Examples:\n"
     "  tradeoff approximate --pieces 2 'gdp(mu=1)'\n"
     "  tradeoff approximate --pieces 48 --times 10 --epsilon 4 'gdp(mu=1)'",
     true, approximate_options, run_ask},
    {"order",
     "whether one plan is at least as private as another",
     "Whether the trade-off function of the first plan is nowhere below that of the second: then whatever the second allows an attacker,\n"
     "the first allows no more. Yes and no are proved; no comes with an attack that shows it. Both plans speak of the same neighbours.\n"
     "Exit code 0: yes; 1: no; 4: undecided, as for curves that touch.\n\n"
     "Plans are combined in the plan language, and then any question can be asked of them:\n"
     "  strongest([A, B])          one mechanism with both guarantees: the larger trade-off function\n"
     "  weakest([A, B])            one of both, unknown which: the smaller one, made convex\n"
     "  mixture([(w, A), (v, B)])  one of both by a public draw\n"
     "  A; B                       both on the same data: the tensor product\n"
     "  A; dp(0, D)                beside a chance D of revealing everything: scaled by f_{0,D}\n"
     "  A | invert()               the inverse;  A | refine()  symmetric;  A | group(K)  for K records\n"
     "  constraints([...]), profile(...), curve(...)  from a list of (epsilon, delta), a profile, trade-off points (lossless)\n"
     "  rdp([(order, divergence), ...]), zcdp(rho)    from Renyi divergences (lossy)\n\n"
     "Examples:\n"
     "  tradeoff order 'gaussian(sigma=2)' 'gaussian(sigma=1)'\n"
     "  tradeoff order 'laplace(scale=1)' 'gdp(mu=1)'\n"
     "  tradeoff order 'strongest([gdp(mu=2), dp(epsilon=2, delta=0.1)])' 'gaussian(sigma=1) | repeat(4)'",
     true,
     {},
     run_order,
     "plans: the plan it is compared with, its text or @file"},
    {"divergences",
     "total variation, KL and chi-square",
     "Divergences between the outputs with and without the record, each enclosed; of the symmetric curve unless a direction is given.\n"
     "Lossy: a curve says more than any of them.\n\n"
     "Examples:\n"
     "  tradeoff divergences 'laplace(scale=1)'\n"
     "  tradeoff divergences --direction add 'pair(p=[0.7, 0.3], q=[0.4, 0.6])'",
     true,
     {},
     run_ask},
    {"moments",
     "the moments of the privacy loss",
     "The moments that limit theorems are made of: kl, kappa2, kappa3, kappa3bar and chi2plus of the plan's curve, each enclosed.\n"
     "With a direction they are those of the loss of that order, otherwise of the symmetric curve.\n"
     "Infinite if everything may be revealed.\n\n"
     "Examples:\n"
     "  tradeoff moments 'gaussian(sigma=1) | sample(rate=0.01)'",
     true,
     {},
     run_ask},
    {"clt",
     "the Gaussian a plan tends to, and a bound that is proved",
     "mu of the central limit theorem that speaks of the plan: an estimate, never a guarantee. Beside it mu and gamma of the Berry-Esseen\n"
     "bound, which is one.\n\n"
     "Examples:\n"
     "  tradeoff clt 'gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)'",
     true,
     {},
     run_ask},
    {"renyi", "Renyi divergences, and what Renyi accounting makes of them",
     "The Renyi divergence of the plan at an order, enclosed; or the epsilon that Renyi accounting certifies at a delta, at the\n"
     "best order: a valid bound, never below the exact epsilon. rho of zCDP where one is known.\n\n"
     "Examples:\n"
     "  tradeoff renyi --order 8 'gaussian(sigma=1.1) | poisson(rate=256/60000)'\n"
     "  tradeoff renyi --delta 1e-5 'gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)'",
     true, renyi_options, run_ask},
    {"limit", "limit theorems beside the exact answer",
     "What the central limit theorem, its Edgeworth refinement and the Berry-Esseen bound say about a plan, beside the certified\n"
     "interval, and whether the limit under-reports, and by how much.\n"
     "In place of a plan, the word `table` prints ten training settings.\n\n"
     "Examples:\n"
     "  tradeoff limit --delta 1e-5 'gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)'\n"
     "  tradeoff limit --epsilon 1 'dp(epsilon=0.1) | repeat(100)'\n"
     "  tradeoff limit table",
     true, limit_options, run_limit},
    {"curve", "the whole curve, as a picture or a table",
     "The trade-off function, the privacy profile or the profile in units of mu: a picture for the terminal or as SVG, or a table of\n"
     "certified values. A picture compares up to eight plans; the certified band is drawn where it is wide enough to be seen.\n\n"
     "Examples:\n"
     "  tradeoff curve --format term 'gaussian(sigma=1)'\n"
     "  tradeoff curve --as profile --format svg --out profiles.svg 'gaussian(sigma=1)' 'laplace(scale=1)'\n"
     "  tradeoff curve --as gdpt --format term 'laplace(scale=0.5)' 'laplace(scale=0.5) | poisson(rate=0.5)'\n"
     "  tradeoff curve --as tradeoff 'gaussian(sigma=1)' > curve.csv\n"
     "  tradeoff curve --as profile --format json --points 501 'laplace(scale=1)'",
     true, curve_options, run_curve, "plans: more plans to compare with, each its text or @file"},
    {"figures", "the figures of the papers behind the program",
     "Draws the figures of the papers on trade-off functions, Gaussian DP and composition again, from certified curves, as SVG files.\n"
     "All of them come with a page that says what each shows (README.md).\n\n"
     "Examples:\n"
     "  tradeoff figures --list\n"
     "  tradeoff figures --out gallery\n"
     "  tradeoff figures fdp-training constraints-double",
     false, figures_options, run_figures, "names: which figures (default: all of them)"},
    {"explain", "which theorems an answer rests on",
     "Answers epsilon at one delta (1e-5 unless stated) and names the theorems that this\n"
     "answer rests on, as recorded by the code that computed it. Other questions may rest\n"
     "on other theorems: `--json` of every question names its own.\n\n"
     "Examples:\n"
     "  tradeoff explain 'gaussian(sigma=2); gaussian(sigma=3)'\n"
     "  tradeoff explain --delta 1e-9 'laplace(scale=1) | poisson(rate=0.1) | repeat(2)'",
     true, explain_options, run_explain},
    {"certify",
     "an answer that others can verify",
     "Writes one answer about the plan with everything that is needed to verify it: the plan and its items, the question, the interval as\n"
     "decimals rounded outward, the theorems with their counts and error terms, the version, and a SHA-256 of all this.\n"
     "`tradeoff verify` computes the answer again and compares; assurance/checker/check_certificate.py proves it in ball arithmetic, without any of\n"
     "this program's code.\n\n"
     "Examples:\n"
     "  tradeoff certify --delta 1e-5 'gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)' --out answer.json\n"
     "  tradeoff certify --alpha 0.05 'laplace(scale=2)'\n"
     "  tradeoff verify answer.json",
     true,
     certify_options,
     run_certify,
     {},
     true},
    {"verify", "check a certificate of certify, release or train",
     "Checks everything in a certificate that can be checked: that its digest is that\n"
     "of its content, that every claim follows from its plan, that the plan and the\n"
     "noise of a release or a training run follow from its settings, and with\n"
     "--released that it is about this file. Prints what was confirmed, what was not,\n"
     "and what must be taken on trust.\n\n"
     "Exit code: 0 all of it is confirmed; 1 something in it is false; 3 it is\n"
     "malformed or was changed; 4 something is not confirmed.\n\n"
     "Examples:\n"
     "  tradeoff verify answer.json\n"
     "  tradeoff verify release.json --released rows.csv\n"
     "  tradeoff verify run.json --released run.model",
     false, verify_options, run_verify, "FILE: the certificate"},
    {"release", "add exact noise to values, with a certificate",
     "Reads values on standard input, one row a line (a vector as comma-separated\n"
     "values), adds noise whose law is exact on a public grid and prints the rows.\n"
     "The plan says which noise. Its sensitivity is that of a row: in l2 norm for\n"
     "gaussian, in l1 norm for all others. A plan of one run is run once a row, and\n"
     "the certificate pays for all rows. A plan that cannot be drawn exactly as it\n"
     "would be charged is refused. Every target that is stated binds: exit code 1 if\n"
     "the release is not certain to meet it.\n"
     "The certificate (JSON) holds the plan as drawn, grid, exact parameters,\n"
     "neighbours, what is guaranteed, the SHA-256 of the printed rows, and a SHA-256\n"
     "of all this; `tradeoff verify` checks it. NaN, infinities and values out of\n"
     "bounds are refused. All is checked before anything is drawn, and no value is\n"
     "printed before its certificate.\n"
     "docs/security.md says what is not covered.\n\n"
     "Examples:\n"
     "  echo 1234 | tradeoff release 'discrete_laplace(scale=2)'\n"
     "  tradeoff release --low 0 --high 100 --clip 'gaussian(sigma=50, sensitivity=100) | repeat(3)' < sums.txt\n"
     "  tradeoff release --epsilon 1 --delta 1e-6 'gaussian(sigma=?)' --json < values.csv\n"
     "  tradeoff release --records mean --low 0 --high 10 --neighbours add-remove 'laplace(scale=20, sensitivity=10); "
     "discrete_laplace(scale=2)' < ages.txt",
     true, release_options, run_release},
    {"train", "train a classifier privately, with a certificate",
     "Private gradient descent on images (IDX files) or a table (.csv) with exact noise: every record's gradient is clipped to a norm and "
     "put on "
     "a grid in\n"
     "integers, the sum gets noise whose law is exact, and the certificate is this program's own analysis of what was drawn. Bounds, "
     "classes "
     "and sizes are\n"
     "declared, never taken from the data. On a terminal a line shows loss and accuracy on the test records and the budget so far. Ctrl-C "
     "ends the run after\n"
     "the step at hand, with a valid model and certificate. MNIST: tools/fetch_mnist DIR.\n\n"
     "Examples:\n"
     "  tradeoff train --noise 1.3\n"
     "  tradeoff train --epsilon 2 --delta 1e-5 --epochs 20 --checkpoint run.model\n"
     "  tradeoff train --resume --checkpoint run.model\n"
     "  tradeoff train --data mnist --public-size 60000 --mu 0.3 --certificate run.json\n"
     "  tradeoff train --data people.csv --sampling fixed --low 0 --high 100 --classes 2 --hidden 0 --holdout 500 --epsilon 1 --delta "
     "1e-6\n"
     "  tradeoff train --audit --noise 1.3\n"
     "  tradeoff train --data mnist --public-size 60000 --figure out",
     false, train_options, run_train},
    {"query",
     "answer questions in JSON, one a line",
     "Reads one request a line on standard input and writes one answer a line on standard output, in order. A bad line gets an error\n"
     "answer and the next goes on. Numbers may be JSON numbers or decimal strings; both are taken as exact decimals.\n\n"
     "  {\"id\": any, \"plan\": \"...\", \"ask\": \"...\", ...} gives {\"id\": ..., \"answer\": ..., \"method\": ..., \"steps\": "
     "[{\"theorem\", \"detail\"}]}\n"
     "  or {\"id\": ..., \"error\": {\"kind\": \"parse|domain|unsupported|too_large\", \"message\": ..., \"at\": offset, \"field\": "
     "name}}\n\n"
     "The offset counts bytes, in the plan for faults of the plan, otherwise in the line. Optional: \"neighbours\", \"direction\", "
     "\"relative\".\n"
     "ask: delta (epsilon), epsilon (delta), beta (alpha), mu (slack or epsilon_max), gdpt (epsilon), advantage, tpr (fpr), posterior "
     "(prior), naming (people), odds (chance), risk, calibrate (target), compare (delta), order (other: a plan), divergences, moments,\n"
     "clt, limit (delta or epsilon), renyi (order or delta), guarantees (epsilon: a list), approximate (pieces).\n\n"
     "Examples:\n"
     "  echo '{\"id\": 1, \"plan\": \"gaussian(sigma=2)\", \"ask\": \"epsilon\", \"delta\": 1e-5}' | tradeoff query",
     false,
     {},
     run_query},
    {"mechanisms",
     "the words of the plan language",
     "Every source and operator of the plan language with its arguments.\n\n"
     "Examples:\n"
     "  tradeoff mechanisms --json",
     false,
     {},
     run_mechanisms},
    {"theorems",
     "the theorems behind the answers",
     "The id and title of every theorem that the program relies on, those that hold all the given words, or one with its source. `explain` "
     "names the\n"
     "theorems of a plan by the same ids; docs/theory has statement, proof and rounding of each.\n\n"
     "Examples:\n"
     "  tradeoff theorems\n"
     "  tradeoff theorems subsampling\n"
     "  tradeoff theorems gaussian-profile",
     false,
     {},
     run_theorems,
     "words: only theorems whose id or title holds all of them"},
    {"completion",
     "completion of verbs and options for a shell",
     "Prints a script that teaches a shell the verbs and options: bash, zsh or fish. `cmake --install` puts all three in place.\n\n"
     "Examples:\n"
     "  tradeoff completion bash > ~/.local/share/bash-completion/completions/tradeoff\n"
     "  tradeoff completion fish > ~/.config/fish/completions/tradeoff.fish",
     false,
     {},
     run_completion,
     "shell: bash, zsh or fish"},
    {"man",
     "the manual page",
     "The manual page in the language of man. `cmake --install` puts it in place.\n\n"
     "Examples:\n"
     "  tradeoff man | man -l -",
     false,
     {},
     run_man},
    {"tour",
     "what the program does, on a real training run",
     "A real training run, its certified epsilon, its curve and its risk.\n\nExamples:\n  tradeoff tour",
     false,
     {},
     run_tour},
    {"version",
     "the version of the program",
     "The version of the program.\n\nExamples:\n  tradeoff version --json",
     false,
     {},
     run_version},
}};

}  // namespace

std::span<const Verb> verbs() { return all_verbs; }
std::span<const Option> plan_options() { return common_options; }

}  // namespace tradeoff::cli
