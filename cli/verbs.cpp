// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

constexpr std::array<std::string_view, 3> neighbours_choices = {"add-remove", "replace-one", "zero-out"};
constexpr std::array<std::string_view, 3> direction_choices = {"worst", "remove", "add"};
constexpr std::array<std::string_view, 3> curve_choices = {"tradeoff", "profile", "gdpt"};
constexpr std::array<std::string_view, 3> records_choices = {"sum", "count", "mean"};
constexpr std::array<std::string_view, 2> rows_choices = {"composed", "disjoint"};
constexpr std::array<std::string_view, 2> inputs_choices = {"rounded", "grid"};
constexpr std::array<std::string_view, 6> format_choices = {"csv", "json", "term", "svg", "pdf", "tikz"};
constexpr std::array<std::string_view, 2> picture_choices = {"term", "svg"};

constexpr std::array<Option, 3> common_options = {{
    {.name = "neighbours",
     .placeholder = "WHICH",
     .help = "how neighbouring data sets differ: in one record added or removed, in one record replaced, or in one record whose "
             "contribution is set to zero (default: as the sampling of the plan needs, otherwise not stated)",
     .choices = neighbours_choices,
     .alias = "neighbors"},
    {.name = "direction",
     .placeholder = "WHICH",
     .help = "remove: present vs absent; add: absent vs present; worst: larger loss (default). remove and add mean add-remove neighbours "
             "unless the plan fixes others",
     .choices = direction_choices},
    {"relative", "WIDTH", "target relative width of the interval (default 1e-6); it may be wider"},
}};

constexpr Option paranoid = {
    .name = "paranoid",
    .placeholder = "",
    .help =
        "also compute the answer by the slow independent program in ball arithmetic (exit code 1 if the two contradict, 4 if it cannot "
        "tell)",
    .is_flag = true};
constexpr std::array<Option, 2> delta_option = {{{"delta", "D", "a probability: 0 <= D <= 1", true}, paranoid}};
constexpr std::array<Option, 2> epsilon_option = {
    {{"epsilon", "E", "any real number, or inf for the mass at infinite loss", true}, paranoid}};
constexpr std::array<Option, 1> alpha_option = {{{"alpha", "A", "the type I error of the attack: 0 <= A <= 1", true}}};
constexpr std::array<Option, 1> fpr_option = {{{"fpr", "X", "the false-positive rate of the attack: 0 <= X <= 1", true}}};
constexpr std::array<Option, 1> prior_option = {{{"prior", "P", "the probability of membership before: 0 < P < 1", true}}};
constexpr std::array<Option, 2> mu_options = {{
    {"slack", "D", "mu of the pair (mu, D): mu-GDP except with probability D (default: several D)"},
    {"epsilon-max", "E", "mu for epsilon <= E only; no claim beyond E", false, "epsilon_max"},
}};
constexpr std::array<Option, 1> gdpt_option = {{{"epsilon", "E", "a real number", true}}};
constexpr std::array<Option, 1> explain_options = {{
    {"delta", "D", "explain epsilon at this delta (default 1e-5)"},
}};
constexpr std::array<Option, 2> check_options = {{
    {"epsilon", "E", "the budget's epsilon, at least 0", true},
    {"delta", "D", "the budget's delta: 0 <= D <= 1", true},
}};
constexpr std::array<Option, 1> order_options = {{
    {"tolerance", "D", "ignore what happens with probability at most D: the second plan may also reveal everything with that probability"},
}};
constexpr std::array<Option, 7> target_options = {{
    {"epsilon", "E", "solve for ? to reach this epsilon; with --delta", false, "target.epsilon"},
    {"delta", "D", "the delta of that target; with --epsilon", false, "target.delta"},
    {"mu", "M", "solve for ? to reach M-GDP", false, "target.mu"},
    {"slack", "D", "with --mu: M-GDP except with probability D", false, "target.slack"},
    {"advantage", "A", "solve for ? so that no attack has a larger advantage", false, "target.advantage"},
    {"fpr", "X", "solve for ? so that at this false-positive rate ...; with --tpr", false, "target.fpr"},
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
    {"epsilon", "E", "instead of the corners: the guarantee at each of these epsilons, separated by commas (lossy in between)"},
}};
constexpr std::array<Option, 2> limit_options = {{
    {"delta", "D", "compare epsilon at this delta: 0 <= D <= 1"},
    {"epsilon", "E", "compare delta at this epsilon, at least 0"},
}};
constexpr std::array<std::string_view, 5> sampling_choices = {"poisson", "fixed", "shuffled", "allocated", "cyclic"};
constexpr std::array<std::string_view, 5> matrix_choices = {"toeplitz", "blt", "square_root", "prefix", "tree"};
constexpr Option noise_of_run = {
    .name = "noise-multiplier", .placeholder = "Z", .help = "standard deviation of the noise / clipping norm", .alias = "noise"};
constexpr Option batch_of_run = {
    .name = "batch", .placeholder = "M", .help = "examples in a batch (on average, for poisson)", .alias = "batch-size"};
constexpr Option rate_of_run = {"sample-rate", "Q",
                                "instead of --batch: M = Q N. A poisson rate needs no --examples; other batches need a whole number M"};
constexpr Option epochs_of_run = {"epochs", "E", "passes over the data: ceil(E N / M) steps"};
constexpr Option steps_of_run = {"steps", "T", "instead of --epochs"};
constexpr Option groups_of_run = {"groups", "B", "cyclic: how many groups take turns"};
constexpr Option at_most_of_run = {"at-most", "B", "poisson: the largest batch; of more examples drawn, a random B are kept"};
constexpr std::array<Option, 25> sgd_options = {{
    noise_of_run,
    batch_of_run,
    rate_of_run,
    {"examples", "N", "examples in the data; required with --batch"},
    epochs_of_run,
    steps_of_run,
    {"delta", "D", "where epsilon is reported: 0 <= D <= 1", true},
    {"epsilon", "E", "target: (E, D)-DP"},
    {"mu", "M", "target: M-GDP, except with probability --slack"},
    {"slack", "D", "for --mu (default 0)"},
    {"advantage", "A", "target: no attack has a larger advantage"},
    {"sampling", "HOW", "how batches are drawn (default poisson)", false, {}, sampling_choices},
    {.name = "neighbours",
     .placeholder = "WHICH",
     .help = "one of those listed above for the sampling (default: the first)",
     .choices = neighbours_choices,
     .alias = "neighbors"},
    {.name = "reuse",
     .placeholder = "",
     .help = "shuffled, allocated: every epoch uses the order or the draw of the first",
     .is_flag = true},
    groups_of_run,
    at_most_of_run,
    {"per-user", "K", "poisson: protect a user who owns at most K examples (default 1)"},
    {"layers", "L", "layers clipped on their own, each with noise multiplier Z (default 1)"},
    {"count-noise", "S",
     "adaptive clipping: standard deviation of the noise on the count of gradients within the norm, where each example "
     "counts -1/2 or 1/2"},
    {"further-noise", "LIST", "noise multipliers of further releases on each batch, with commas"},
    {"total-noise", "Z", "instead of --noise-multiplier: of all releases on a batch together; prints that of the gradients"},
    {"matrix",
     "KIND",
     "noise that a matrix correlates over the steps; for shuffled batches, and for cyclic ones if it is banded",
     false,
     {},
     matrix_choices},
    {"coefficients", "LIST", "of --matrix toeplitz: 1,0.5,0.25; the others are 0"},
    {"scales", "LIST", "of --matrix blt: c_j = sum of scale * decay^(j-1)"},
    {"decays", "LIST", "of --matrix blt, one for each scale"},
}};
constexpr std::array<Option, 17> compare_options = {{
    {"delta", "D", "one delta, or several separated by commas: a column each"},
    {"epsilon-max", "E", "instead of --delta: compare ways to measure mu for epsilon <= E", false, "epsilon_max"},
    {"width", "W", "with --epsilon-max: how narrow the measurements should be (default 0.01)"},
    {"method", "NAME", "only these methods, separated by commas (default: all)"},
    {"people", "N", "also the worst-case disclosure probability among N people at this delta"},
    {.name = "all", .placeholder = "", .help = "also say why a method does not cover the plan", .is_flag = true},
    {.name = "sampling",
     .placeholder = "",
     .help = "instead of a plan: a training run, as in `sgd`, with its batches drawn in every way",
     .is_flag = true},
    noise_of_run,
    batch_of_run,
    rate_of_run,
    {"examples", "N", "examples in the data"},
    epochs_of_run,
    steps_of_run,
    {"groups", "B", "of cyclic batches (default 10, or as many as fill a batch)"},
    {"at-most", "B", "of capped batches (default 4 standard deviations above the mean)"},
    {"format", "FORMAT", "with --sampling: also draw it, on the terminal or as SVG", false, {}, picture_choices},
    {"out", "FILE", "with --sampling: write to this file"},
}};
constexpr std::array<std::string_view, 3> report_choices = {"md", "html", "json"};
constexpr std::array<Option, 11> report_options = {{
    {"compare", "PLAN", "another plan to compare with; may be given several times", false, {}, {}, false, true},
    {"format", "FORMAT", "the format (default: by the suffix of --out, otherwise md)", false, {}, report_choices},
    {"out", "FILE", "write to this file, all or nothing, instead of standard output"},
    {"delta", "D", "the delta of the headline (default 1e-5)"},
    {"unit", "TEXT", "what is protected: 'one patient' (default: the records that every line protects)"},
    {"title", "TEXT", "the title of the page"},
    {"date", "TEXT", "the date of publication"},
    {"contact", "TEXT", "whom a reader may ask"},
    {"released", "FILE", "the published values, LABEL,NUMBER in each line: a table with the margin of error of the noise"},
    {"rows",
     "ARE",
     "of --released: composed: all are from the same data (default); disjoint: each row is from other people",
     false,
     {},
     rows_choices},
    {"audit", "FILE", "what `tradeoff audit PLAN --json` printed: its verdict, bounds and picture become a section"},
}};
constexpr std::array<Option, 5> curve_options = {{
    {"as", "WHAT", "tradeoff: beta of alpha (default); profile: delta of epsilon; gdpt: mu of epsilon", false, {}, curve_choices},
    {"format", "FORMAT", "the format (default: by the suffix of --out, otherwise csv)", false, {}, format_choices},
    {"points", "N", "how many points (default 101, 201 in a picture)"},
    {"at", "LIST", "a table at these alphas (or epsilons), separated by commas"},
    {"out", "FILE", "write to this file, all or nothing, instead of standard output"},
}};
constexpr std::array<Option, 6> certify_options = {{
    {"epsilon", "E", "certify the least delta at this epsilon: any real number, or inf"},
    {"delta", "D", "certify the least epsilon at this delta: 0 <= D <= 1"},
    {"alpha", "A", "certify the least type II error at this type I error: 0 <= A <= 1"},
    {"fpr", "X", "certify the largest true-positive rate at this false-positive rate: 0 <= X <= 1"},
    {"out", "FILE", "write to this file, all or nothing, instead of standard output"},
    {"check", "FILE", "verify this certificate instead, as `tradeoff verify FILE` does"},
}};
constexpr std::array<Option, 14> audit_options = {{
    {"with", "FILE", "outputs of the program on data with the record: numbers or vectors, one output a line"},
    {"without", "FILE", "outputs on the neighbouring data, without the record"},
    {"with-command", "COMMAND", "instead of --with: a shell command that prints outputs; it is run again as often as needed"},
    {"without-command", "COMMAND", "instead of --without"},
    {"confidence", "C", "of the verdict and of the bounds: 0.5 to 0.999999 (default 0.999)"},
    {"samples", "N", "how many pairs are read (default: all of a file, 100000 of commands)"},
    {"seconds", "S", "time limit of the commands (default 600)"},
    {"margin", "P", "consistent means: no tested event exceeds the claim by more than this probability (default 0.05)"},
    {"delta", "D", "where epsilon is bounded from below (default 1e-5)"},
    {.name = "bits",
     .placeholder = "",
     .help = "let the lowest bits of the outputs decide too: noise in floating-point arithmetic leaks there (default: a note only)",
     .is_flag = true},
    {"canaries", "FILE", "instead of outputs: one training run, rows of score,included"},
    {"guesses", "V,R,M", "instead of outputs: V of R guesses about M canaries are right"},
    {"format", "FORMAT", "also draw what was shown against the claim", false, {}, picture_choices},
    {"out", "FILE", "the file of that picture"},
}};
constexpr std::array<Option, 1> verify_options = {{
    {"released", "FILE", "what was released: the printed rows, or the model file of `train --checkpoint`"},
}};
constexpr std::array<Option, 2> figures_options = {{
    {"out", "DIR", "the directory to write to (default: figures)"},
    {"list", "", "list names and titles; draw nothing", false, {}, {}, true},
}};

constexpr std::array<Option, 20> release_options = {{
    {"labels",
     "",
     "the first cell of each row is a label, printed with the result. Labels get no noise: they must not depend on the data",
     false,
     {},
     {},
     true},
    {"header", "", "the first line names the columns, without digits; it is printed as it is", false, {}, {}, true},
    {"low", "L", "no value is below this; with --high"},
    {"high", "H", "no value is above this; with --low"},
    {"clip", "", "clip values to the bounds instead of refusing them", false, {}, {}, true},
    {"records", "WHAT", "the values are records: release their sum, count, or mean (a sum and a count)", false, {}, records_choices},
    {"rows",
     "ARE",
     "composed: all rows are from the same data (default); disjoint: each row is from other people",
     false,
     {},
     rows_choices},
    {"inputs",
     "ARE",
     "rounded: round to the grid and enlarge the sensitivity (default); grid: refuse values off the grid",
     false,
     {},
     inputs_choices},
    {"grid", "STEP", "the step of the results, a power of two: 1, 0.5, 2^-20 (default: 2^-20 of the noise, or 1 for noise on integers)"},
    {"certificate", "FILE", "write the certificate there (default: standard error; with --json: in the output)"},
    {"epsilon", "E", "a target, with --delta. The ? of the plan is solved for every target; a plan without ? must meet every target"},
    {"delta", "D", "the target's delta"},
    {"mu", "M", "a target: M-GDP"},
    {"slack", "S", "with --mu: except with probability S (default 0)"},
    {"advantage", "A", "a target: no attack has a larger advantage (true-positive rate less false-positive rate)"},
    {"fpr", "A", "a target, with --tpr: at this false-positive rate no attack has a larger true-positive rate than B"},
    {"tpr", "B", "the target's true-positive rate"},
    {"ledger", "URL", "charge the budget of --account in this ledger first; nothing is drawn without budget"},
    {"account", "NAME", "the account to charge, or several separated by commas; with --ledger"},
    {"key", "KEY", "a name for this spend, charged and drawn once; with --ledger"},
}};

constexpr std::array<std::string_view, 2> batch_choices = {"poisson", "fixed"};
constexpr std::array<std::string_view, 2> feature_choices = {"values", "orientation"};
constexpr std::array<Option, 35> train_options = {{
    {"data", "PATH", "a directory of IDX files (default: Debian's Fashion-MNIST), or a .csv file with the label last"},
    {"test", "FILE", "test records, for a .csv file"},
    {"holdout", "N", "use the last N records as test records; they are not trained on and not protected"},
    {"classes", "K", "labels are 0..K-1 (default 10 for IDX files)"},
    {"low", "L", "for a .csv file: smaller values are raised to L, a public number, or one for each column: 0,18,-5"},
    {"high", "H", "for a .csv file: larger values are lowered to H, likewise"},
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
    {.name = "batch",
     .placeholder = "M",
     .help = "records in a batch (default 256), on average for poisson; the sum is divided by it",
     .alias = "batch-size"},
    {"epochs", "E", "passes over the data (default 15)"},
    {"learning-rate", "R", "default 0.25"},
    {"momentum", "B", "a step also repeats this part of the last one: at least 0 (default), below 1"},
    {"clip", "C", "the norm that no record's gradient exceeds (default 1.5)"},
    {.name = "noise",
     .placeholder = "Z",
     .help = "standard deviation of the noise on the sum / C; default: the least that meets the targets",
     .alias = "noise-multiplier"},
    {"epsilon", "E", "target: (E, D)-DP for the whole run, at every D of --delta"},
    {"mu", "M", "target: M-GDP for the whole run, except with probability --slack"},
    {"advantage", "A", "target: no attack has a larger advantage"},
    {"slack", "D", "for --mu (default 1e-5)"},
    {"delta", "D", "where epsilon is reported: one delta, or several separated by commas (default 1e-5,1e-6,1e-8)"},
    {"allow-large-delta", "", "allow a delta (or slack) of 0.01 or more", false, {}, {}, true},
    {"checkpoint", "FILE", "save the run and its model here, 20 times during the run; keep FILE.private secret"},
    {"resume", "", "continue the run in --checkpoint on the same data; steps done are not charged again", false, {}, {}, true},
    {"certificate", "FILE", "write the certificate there, as JSON"},
    {"export", "FILE", "write the weights of the final model there, in the safetensors format, for a PyTorch module"},
    {"predict", "FILE", "do not train: classify these records, without labels, by the model in --checkpoint; a row class,probability each"},
    {"audit",
     "",
     "do not train: test whether steps of such a run, and a whole run with canaries, have the stated privacy; exit code 1 if not",
     false,
     {},
     {},
     true},
    {"audit-steps", "N", "with --audit: how many steps (default 200000, at least 100)"},
    {"figure", "DIR", "train the three MNIST settings of the Gaussian DP paper with both samplings; training.md and training.svg go there"},
    {"runs", "N", "with --figure: runs of each setting (default 5)"},
    {"ledger", "URL", "charge the budget of --account in this ledger first; no step is taken without budget"},
    {"account", "NAME", "the account to charge, or several separated by commas; with --ledger"},
    {"key", "KEY", "a name for this spend, charged and drawn once; with --ledger"},
}};

constexpr std::array<Option, 16> ledger_options = {{
    {"store", "URL", "sqlite:PATH or postgresql://... (default sqlite:tradeoff-ledger.db)"},
    {"key", "KEY", "spend, reserve, use: a name for this spend; the same key is charged once"},
    {"mu", "M", "create, cap: at most M-GDP in total"},
    {"rho", "R", "create, cap: at most R-zCDP in total"},
    {"epsilon", "E", "create, cap: at most (E, D)-DP in total; with --delta, alone for currency pure"},
    {"delta", "D", "create, cap: the delta of that total"},
    {"advantage", "A", "create, cap: no attack has a larger advantage, in total"},
    {"divergence", "R", "create, cap: for currency rdp, at most this Renyi divergence in total"},
    {"slack", "S",
     "create, cap: the part of delta for plans with exceptions (default: at most 1e-6); spend, reserve: the exception of this plan"},
    {"currency", "WHICH", "create: gdp (default), zcdp, pure, rdp(ORDER) or approximate"},
    {.name = "neighbours",
     .placeholder = "WHICH",
     .help = "create: what every plan must protect (default add-remove)",
     .choices = neighbours_choices,
     .alias = "neighbors"},
    {"unit", "TEXT", "create: what is protected, in words: 'one patient'"},
    {"block-of", "GROUP", "create: the account is for a part of the data of GROUP; a record is in one such part only"},
    {"expect-head", "HASH", "verify: the log must still contain the entry with this head, from a receipt"},
    {"format", "FORMAT", "status: term (default) or svg", false, {}, picture_choices},
    {"out", "FILE", "status: write to this file, all or nothing"},
}};

constexpr std::array<Verb, 40> all_verbs = {{
    {Group::ask, "epsilon", "the least epsilon at a given delta",
     "The least epsilon >= 0 such that the plan is (epsilon, delta)-DP. The upper end of the interval may be claimed.\n\n"
     "Examples:\n"
     "  tradeoff epsilon --delta 1e-5 'gaussian(sigma=2)'\n"
     "  tradeoff epsilon --delta 1e-5 'gaussian(sigma=40) | repeat(100)'\n"
     "  tradeoff epsilon --delta 1e-6 @plan.txt --json",
     true, delta_option, run_ask},
    {Group::ask, "delta", "the least delta at a given epsilon",
     "The least delta such that the plan is (epsilon, delta)-DP, for any real epsilon. The upper end of the interval may be claimed. "
     "Values too small for a double are given by their exponent.\n\n"
     "Examples:\n"
     "  tradeoff delta --epsilon 1 'gaussian(sigma=2)'\n"
     "  tradeoff delta --epsilon inf 'dp(epsilon=1, delta=1e-6)'\n"
     "  tradeoff delta --epsilon -0.5 --direction add \\\n"
     "      'pair(p=[0.7, 0.3], q=[0.4, 0.6])'",
     true, epsilon_option, run_ask},
    {Group::ask, "mu", "the least mu of Gaussian DP, if there is one",
     "The least mu such that the plan is mu-GDP, if there is one, and pairs (mu, slack): mu-GDP except with probability slack. For sampled "
     "training quote a pair; mu alone is huge.\n\n"
     "Examples:\n"
     "  tradeoff mu 'laplace(scale=2) | poisson(rate=0.1)'\n"
     "  tradeoff mu --slack 1e-10 \\\n"
     "      'gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)'\n"
     "  tradeoff mu --epsilon-max 2 'laplace(scale=0.1)'",
     true, mu_options, run_ask},
    {Group::ask, "beta", "the trade-off function: type II error at a type I error",
     "The trade-off function f(alpha): the least type II error of any test for the presence of one record with type I error alpha. The "
     "lower end of the interval may be claimed.\n\n"
     "Examples:\n"
     "  tradeoff beta --alpha 0.05 'gdp(mu=1)'\n"
     "  tradeoff beta --alpha 0.01 --direction remove 'laplace(scale=2)'",
     true, alpha_option, run_ask},
    {Group::ask, "tpr", "the largest true-positive rate of an attack",
     "The largest true-positive rate of any membership attack with the given false-positive rate. The upper end of the interval may be "
     "claimed.\n\n"
     "Examples:\n"
     "  tradeoff tpr --fpr 0.001 'gaussian(sigma=1)'",
     true, fpr_option, run_ask},
    {Group::ask,
     "advantage",
     "the largest advantage of an attack over guessing",
     "The largest difference of true-positive and false-positive rate of any attack: the total variation, which is delta at epsilon 0.\n\n"
     "Examples:\n"
     "  tradeoff advantage 'laplace(scale=1)'",
     true,
     {},
     run_ask},
    {Group::ask, "posterior", "what an attacker may believe afterwards, from a prior",
     "The accuracy of the best guess about membership, and the largest posterior probability of membership that any output can cause.\n\n"
     "Examples:\n"
     "  tradeoff posterior --prior 0.5 'randomized_response(epsilon=1)'",
     true, prior_option, run_ask},
    {Group::ask,
     "risk",
     "what attackers can do, in plain words",
     "Advantage, true-positive rates and posteriors of the best possible attack, the chance to pick one person out of a crowd, the largest "
     "factor on the odds, and what that means in plain words.\n\n"
     "Examples:\n"
     "  tradeoff risk 'gaussian(sigma=1)'",
     true,
     {},
     run_ask},
    {Group::ask, "curve", "the whole curve, as a picture or a table",
     "The trade-off function, the privacy profile or the profile in units of mu: a picture for the terminal, as SVG, as PDF or as TikZ "
     "for pgfplots, or a table of certified values. Up to eight plans are compared; a table then has a column with the plan. A picture "
     "shows "
     "the certified band where the band is wide enough to be seen. PNG: tradeoff.plot(..., file=...) of the Python package.\n\n"
     "Examples:\n"
     "  tradeoff curve --format term 'gaussian(sigma=1)'\n"
     "  tradeoff curve --as profile --format svg --out profiles.svg \\\n"
     "      'gaussian(sigma=1)' 'laplace(scale=1)'\n"
     "  tradeoff curve --as gdpt --format term \\\n"
     "      'laplace(scale=0.5)' 'laplace(scale=0.5) | poisson(rate=0.5)'\n"
     "  tradeoff curve --as tradeoff 'gaussian(sigma=1)' > curve.csv\n"
     "  tradeoff curve --at 0.001,0.01,0.1 --out curves.csv \\\n"
     "      'gaussian(sigma=1)' 'laplace(scale=1)'\n"
     "  tradeoff curve --out curves.pdf 'gaussian(sigma=1)' 'laplace(scale=1)'\n"
     "  tradeoff curve --out curves.tex 'gaussian(sigma=1)' 'laplace(scale=1)'\n"
     "  tradeoff curve --as profile --format json --points 501 'laplace(scale=1)'",
     true, curve_options, run_curve, "plans: more plans to compare with, each its text or @file"},
    {Group::ask, "check", "whether a plan is within a budget",
     "Whether the plan is (epsilon, delta)-DP. Exit code 0: yes, proved; 1: no, proved; 4: undecided at this accuracy.\n\n"
     "Examples:\n"
     "  tradeoff check --epsilon 2 --delta 1e-5 'gaussian(sigma=3)' && echo release",
     true, check_options, run_ask},
    {Group::ask, "order", "whether one plan is at least as private as another",
     "Whether no attack does better against the first plan than against the second: its trade-off function is nowhere below the other. Yes "
     "and no are proved; a no comes with an attack that shows it. Both plans have the same neighbours. Exit code 0: yes; 1: no; 4: "
     "undecided, as for curves that touch.\n\n"
     "The plan language combines plans, and every verb answers for the combination:\n"
     "  strongest([A, B])          both are guarantees of one mechanism:\n"
     "                             the larger trade-off function\n"
     "  weakest([A, B])            one of both, unknown which:\n"
     "                             the smaller trade-off function, made convex\n"
     "  mixture([(w, A), (v, B)])  one of both by a public draw\n"
     "  A; B                       both on the same data: the tensor product\n"
     "  A; dp(0, D)                A, and all is revealed with probability D\n"
     "  A | invert()               the inverse function\n"
     "  A | refine()               the tightest symmetric function\n"
     "  A | group(K)               for K records\n"
     "  constraints([...]), profile(...), curve(...)\n"
     "                             from (epsilon, delta) pairs, a profile,\n"
     "                             trade-off points (lossless)\n"
     "  rdp([(order, divergence), ...]), zcdp(rho)\n"
     "                             from Renyi divergences (lossy)\n\n"
     "Examples:\n"
     "  tradeoff order 'gaussian(sigma=2)' 'gaussian(sigma=1)'\n"
     "  tradeoff order 'laplace(scale=1)' 'gdp(mu=1)'\n"
     "  tradeoff order --tolerance 1e-12 'gdp(mu=1)' \\\n"
     "      'gaussian(sigma=1.1) | poisson(rate=0.01) | repeat(1000)'\n"
     "  tradeoff order 'strongest([gdp(mu=2), dp(epsilon=2, delta=0.1)])' \\\n"
     "      'gaussian(sigma=1) | repeat(4)'",
     true, order_options, run_order, "plans: the plan it is compared with, its text or @file"},
    {Group::calibrate, "calibrate", "the parameter that just meets a target",
     "Solves for the one ? of the plan: the smallest noise, or the largest rate, count or budget, that meets every target stated. The "
     "value printed is verified to meet them. For truncated and for discrete Gaussian noise a larger value need not meet them; the answer "
     "says so.\n\n"
     "Examples:\n"
     "  tradeoff calibrate --epsilon 1 --delta 1e-5 'gaussian(sigma=?)'\n"
     "  tradeoff calibrate --mu 0.5 'gaussian(sigma=?) | repeat(100)'\n"
     "  tradeoff calibrate --fpr 0.01 --tpr 0.05 'laplace(scale=?)'\n"
     "  tradeoff calibrate --epsilon 1 --delta 1e-5 'gdp(mu=?)'",
     true, target_options, run_ask},
    {Group::calibrate, "sgd", "DP-SGD in the terms of training libraries",
     "What a run of DP-SGD guarantees: epsilon, trade-off curve and attack risk. The noise multiplier is the standard deviation of the "
     "noise on the sum of clipped gradients, divided by the clipping norm, as in `train`. Without one, the least that meets the targets is "
     "found. A run that is not proved to meet every target is refused, with exit code 1. The sampling decides the theorem:\n"
     "  poisson    every example joins each batch independently;\n"
     "             add-remove, zero-out or replace-one neighbours\n"
     "  fixed      each batch is a fresh sample of fixed size without replacement;\n"
     "             replace-one neighbours\n"
     "  shuffled   every epoch cuts a shuffled order into batches: the usual data\n"
     "             loader; zero-out or replace-one neighbours. The interval is\n"
     "             printed beside what a Poisson accountant would say\n"
     "  allocated  every example draws one step of each epoch (balls and bins; with\n"
     "             --reuse the same step in all epochs);\n"
     "             add-remove, zero-out or replace-one neighbours\n"
     "  cyclic     --groups of examples take turns, each sampled by poisson;\n"
     "             add-remove, zero-out or replace-one neighbours\n\n"
     "Examples:\n"
     "  tradeoff sgd --noise-multiplier 1.1 --batch 256 --examples 60000 \\\n"
     "      --epochs 60 --delta 1e-5\n"
     "  tradeoff sgd --noise-multiplier 2 --batch 512 --examples 50000 \\\n"
     "      --epochs 10 --delta 1e-5 --sampling shuffled\n"
     "  tradeoff sgd --epsilon 2 --delta 1e-5 --sample-rate 0.01 --examples 60000 \\\n"
     "      --steps 10000\n"
     "  tradeoff sgd --noise-multiplier 1 --batch 100 --examples 10000 --steps 1000 \\\n"
     "      --delta 1e-5 --per-user 4\n"
     "  tradeoff sgd --total-noise 1 --count-noise 5 --batch 100 --examples 10000 \\\n"
     "      --steps 1000 --delta 1e-5\n"
     "  tradeoff sgd --noise-multiplier 2 --batch 100 --examples 10000 --steps 1000 \\\n"
     "      --delta 1e-5 --sampling cyclic --groups 3 --matrix toeplitz \\\n"
     "      --coefficients 1,0.5,0.25",
     false, sgd_options, run_sgd},
    {Group::calibrate, "train", "train a classifier with DP-SGD, with a certificate",
     "DP-SGD on images (IDX files) or a table (.csv) with exact noise: the gradient of every record is clipped to a norm and rounded to an "
     "integer grid, the sum gets noise of an exact distribution, and the certificate states the analysis of what was drawn. You declare "
     "bounds, classes and sizes; they are never taken from the data. On a terminal a line shows loss and accuracy on the test records and "
     "the budget so far. Ctrl-C ends the run after the current step, with a valid model and certificate. MNIST: tools/fetch_mnist DIR.\n\n"
     "Examples:\n"
     "  tradeoff train --noise 1.3\n"
     "  tradeoff train --epsilon 2 --delta 1e-5 --epochs 20 --checkpoint run.model\n"
     "  tradeoff train --resume --checkpoint run.model\n"
     "  tradeoff train --data mnist --public-size 60000 --mu 0.3 \\\n"
     "      --certificate run.json\n"
     "  tradeoff train --data people.csv --sampling fixed --low 0 --high 100 \\\n"
     "      --classes 2 --hidden 0 --holdout 500 --epsilon 1 --delta 1e-6\n"
     "  tradeoff train --predict new.csv --checkpoint run.model --low 0 --high 100 \\\n"
     "      --classes 2\n"
     "  tradeoff train --audit --noise 1.3\n"
     "  tradeoff train --data mnist --public-size 60000 --figure out",
     false, train_options, run_train},
    {Group::publish, "report", "the privacy statement of a plan, for publication",
     "A page for those who decide: the risk in plain sentences, what is protected, the guarantees (epsilon, rho, mu), what was run, what "
     "is "
     "not covered, and how to check it; an appendix holds every interval and the theorems. As Markdown, as one HTML file with its pictures "
     "(two pages in print, then the appendix; a browser prints it to PDF), or as JSON with the fields of NIST SP 800-226 and of the "
     "registry of deployments. Fields that only you can fill are null "
     "there.\n\n"
     "Examples:\n"
     "  tradeoff report 'gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)'\n"
     "  tradeoff report --out statement.html --unit 'one patient' --delta 1e-6 \\\n"
     "      'laplace(scale=2) | repeat(50)'\n"
     "  tradeoff report --out table.html --released counts.csv --rows disjoint \\\n"
     "      --neighbours add-remove --unit 'one person' --date 2026-11-17 \\\n"
     "      --contact privacy@agency.example 'discrete_laplace(scale=2)'\n"
     "  tradeoff report --format json @plan.txt\n"
     "  tradeoff report --out compared.html 'gaussian(sigma=2)' \\\n"
     "      --compare 'laplace(scale=1)' --compare 'dp(epsilon=1, delta=1e-5)'",
     true, report_options, run_report},
    {Group::publish,
     "certify",
     "an answer that others can verify",
     "Writes one answer about the plan with everything that is needed to verify it: the plan and its items, the question, the interval as "
     "decimals rounded outward, the theorems with their counts and error terms, the version, and a SHA-256 of all this. `tradeoff verify` "
     "computes the answer again and compares; check_certificate.py of the sources proves it in ball arithmetic, without any of this "
     "program's code.\n\n"
     "Examples:\n"
     "  tradeoff certify --delta 1e-5 --out answer.json \\\n"
     "      'gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)'\n"
     "  tradeoff certify --alpha 0.05 'laplace(scale=2)'\n"
     "  tradeoff verify answer.json",
     true,
     certify_options,
     run_certify,
     {},
     true},
    {Group::publish, "verify", "check a certificate of certify, release or train",
     "Checks everything in a certificate that can be checked: that its digest is that of its content, that every claim follows from its "
     "plan, that the plan and the noise of a release or a training run follow from its settings, and with --released that it is about this "
     "file. Prints what was confirmed, what was not, and what must be taken on trust.\n\n"
     "Exit code: 0 all of it is confirmed; 1 something in it is false; 3 it is malformed or was changed; 4 something is not confirmed.\n\n"
     "Examples:\n"
     "  tradeoff verify answer.json\n"
     "  tradeoff verify release.json --released rows.csv\n"
     "  tradeoff verify run.json --released run.model",
     false, verify_options, run_verify, "FILE: the certificate"},
    {Group::publish, "audit", "test a claimed plan on outputs of a program",
     "Reads outputs of a program on two neighbouring data sets and tests whether they contradict the plan. All outputs must be "
     "independent: "
     "fresh randomness each time. Events are learned on earlier outputs and tested on later ones, by betting against the certified curve: "
     "the verdict keeps its confidence however often it is looked at, so it stops commands as soon as the claim is refuted. Below the "
     "verdict are bounds that hold for the program whatever it is.\n\n"
     "Lowest bits: noise that is added in floating-point arithmetic leaves traces there that give records away. Without --bits they decide "
     "nothing: a note tells if they refute the plan. With --bits they decide too, and the error is shared.\n\n"
     "--canaries and --guesses audit one training run: each canary was included by an independent fair coin, and the scores or guesses "
     "were made without knowing the coins. The canaries with the highest scores are guessed to be included, those with the lowest not.\n\n"
     "Exit code: 0 consistent, 1 refuted, 3 bad input (no verdict is given), 4 inconclusive.\n\n"
     "Examples:\n"
     "  tradeoff audit 'gaussian(sigma=1)' --with with.csv --without without.csv\n"
     "  tradeoff audit 'laplace(scale=1)' --with-command './count --record' \\\n"
     "      --without-command ./count --samples 20000\n"
     "  tradeoff audit 'dp(epsilon=1, delta=1e-5)' --guesses 812,1000,1000",
     true, audit_options, run_audit},
    {Group::publish,
     "opinion",
     "a second opinion on a published claim",
     "Reads what somebody claims, and answers whether it holds for what was run: the certified interval, what is assumed, and what changes "
     "if "
     "the loader of a training run shuffles. The file is JSON, or a model card (.md) with such a block:\n\n"
     "  {\"what was run\": \"gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)\",\n"
     "   \"neighbours\": \"add-remove\",\n"
     "   \"claimed\": {\"epsilon\": 2, \"delta\": 1e-5}}\n\n"
     "The package tradeoff for Python, if it is installed, is asked about other forms: a claimed mu or advantage, YAML, event trees of "
     "dp-accounting, states of Opacus, configurations of JAX Privacy, measurements of OpenDP, statements of TensorFlow Privacy.\n\n"
     "Exit code: 0 holds, 1 fails, 3 bad input, 4 undecided.\n\n"
     "Examples:\n"
     "  tradeoff opinion claim.json\n"
     "  tradeoff opinion README.md --json",
     false,
     {},
     run_opinion,
     "FILE: the claim"},
    {Group::publish, "release", "add exact noise to values, with a certificate",
     "Reads values on standard input, one row per line (a vector as comma-separated values), adds noise of an exact distribution on a "
     "public grid and prints the rows. The plan says which noise. Its sensitivity is that of a row: in l2 norm for gaussian, in l1 norm "
     "for all others. Each row gets noise; the certificate covers all rows together. A plan whose noise cannot be drawn exactly is "
     "refused. Exit code 1 if the release is not proved to meet every target stated.\n\n"
     "A plan that is one line threshold (with discrete noise) or partition_selection reads `user,key` or `user,key,count` in each line and "
     "releases keys; what a user contributes is bounded first.\n\n"
     "The certificate (JSON) holds the plan as drawn, the grid, exact parameters, neighbours, the guarantee, the SHA-256 of the printed "
     "rows, and a SHA-256 of all this; `tradeoff verify` checks it. NaN, infinities and values out of bounds are refused. All input is "
     "checked before any noise is drawn, and the certificate is written before any value. The page security.md of the "
     "documentation says what is not covered.\n\n"
     "Examples:\n"
     "  echo 1234 | tradeoff release 'discrete_laplace(scale=2)'\n"
     "  tradeoff release --low 0 --high 100 --clip \\\n"
     "      'gaussian(sigma=50, sensitivity=100) | repeat(3)' < sums.txt\n"
     "  tradeoff release --epsilon 1 --delta 1e-6 --json 'gaussian(sigma=?)' < in.csv\n"
     "  tradeoff release --labels --header --rows disjoint \\\n"
     "      'gaussian(sigma=2)' < regions.csv\n"
     "  tradeoff release --records mean --low 0 --high 10 --neighbours add-remove \\\n"
     "      'laplace(scale=20, sensitivity=10); discrete_laplace(scale=2)' < ages.txt",
     true, release_options, run_release},
    {Group::publish, "ledger", "accounts of privacy budget that many programs share",
     "Keeps what was spent on data in a durable store, and refuses what an account cannot afford. Each spend is a plan that was fixed "
     "before "
     "any of its outputs was seen; which plan comes next may depend on all earlier outputs. Plans are composed exactly, and the sum is "
     "kept in a currency for which a theorem covers such choices: gdp (mu squared adds up), zcdp, pure, rdp(ORDER), approximate "
     "(epsilon squared and delta). The acknowledgement is printed after the store has made the spend durable.\n\n"
     "  create ACCOUNT, cap ACCOUNT   a new account; another cap\n"
     "  spend A[,B...] PLAN           charge all accounts or none\n"
     "  reserve A[,B...] PLAN         the same, and a token to draw the noise once\n"
     "  use ACCOUNT                   use up the token of a key\n"
     "  status [ACCOUNT], history ACCOUNT, report ACCOUNT\n"
     "  verify, export                check the log; print it as JSON lines\n\n"
     "The log is a chain of hashes. A receipt prints its head; `verify --expect-head` finds entries that were changed, removed or "
     "reordered, and a store that was restored from an older copy. The page howto/ledger.md of the "
     "documentation shows a team at work.\n\n"
     "Exit code: 0 done; 1 refused for lack of budget, or the log was tampered with; 3 bad input, or the store cannot be used.\n\n"
     "Examples:\n"
     "  tradeoff ledger create --store sqlite:budget.db patients \\\n"
     "      --epsilon 2 --delta 1e-5\n"
     "  tradeoff ledger spend --store sqlite:budget.db patients --key march-7 \\\n"
     "      'laplace(scale=10) | repeat(50)'\n"
     "  tradeoff ledger status --store sqlite:budget.db --json\n"
     "  tradeoff ledger verify --store sqlite:budget.db",
     false, ledger_options, run_ledger, "WORDS: what to do, then the accounts and the plan"},
    {Group::theory,
     "compare",
     "epsilon by every method, from basic composition on",
     "The epsilon of the plan at a delta by every theorem that covers it: composition (exact, basic, advanced, kairouz, murtagh_vadhan), "
     "Renyi DP (rdp, rdp_orders, zcdp), Gaussian DP (gdp, gdp_slack, gdp_summary), limit theorems (berry_esseen, clt, edgeworth), "
     "sampling, the loss alone, and the formulas for Gaussian noise. Each row is a guarantee, except: ~ is an estimate, > is a lower "
     "bound. With --all, a method that does not cover the plan says why. The answer is the least of the guarantees. With --epsilon-max it "
     "compares "
     "ways to measure mu instead (chord, marching, algorithm_1, algorithm_3), with what each costs. With --sampling it takes a training "
     "run "
     "instead of a plan and compares the ways to draw its batches: the certified epsilon of each, its neighbours and what it "
     "assumes.\n\n"
     "Examples:\n"
     "  tradeoff compare --delta 0.1,0.01,0.001,0.0001 'dp(epsilon=0.2) | repeat(50)'\n"
     "  tradeoff compare --delta 1e-5 \\\n"
     "      'gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)'\n"
     "  tradeoff compare --delta 1e-6 --method exact,gdp --people 10000 \\\n"
     "      'laplace(scale=5) | repeat(50)'\n"
     "  tradeoff compare --epsilon-max 10 --width 0.001 'laplace(scale=0.5)'\n"
     "  tradeoff compare --sampling --delta 1e-5 --noise-multiplier 1 --batch 100 \\\n"
     "      --examples 10000 --epochs 10",
     true,
     compare_options,
     run_compare,
     {},
     true},
    {Group::theory, "gdpt", "the Gaussian mu that has the same delta at an epsilon",
     "The mu whose Gaussian mechanism has the delta of the plan at this epsilon.\n\n"
     "Examples:\n"
     "  tradeoff gdpt --epsilon 1 'laplace(scale=2)'",
     true, gdpt_option, run_ask},
    {Group::theory, "guarantees", "the (epsilon, delta) corners of a piecewise-linear curve",
     "Every (epsilon, delta) at which the profile of an exactly composed plan has a corner: together they determine it (lossless). With "
     "--epsilon a list of guarantees of any plan, to be read back by constraints([...]) (lossy in between).\n\n"
     "Examples:\n"
     "  tradeoff guarantees 'dp(epsilon=0.5, delta=1e-6) | repeat(10)'\n"
     "  tradeoff guarantees --epsilon 0.5,1,2,4 'gaussian(sigma=1)'",
     true, guarantees_options, run_ask},
    {Group::theory, "approximate", "a smooth curve by a few (epsilon, delta) constraints",
     "The best constraints below the trade-off function (safe to claim together) and above it.\n\n"
     "Examples:\n"
     "  tradeoff approximate --pieces 2 'gdp(mu=1)'\n"
     "  tradeoff approximate --pieces 48 --times 10 --epsilon 4 'gdp(mu=1)'",
     true, approximate_options, run_ask},
    {Group::theory,
     "divergences",
     "total variation, KL and chi-square",
     "Divergences between the outputs with and without the record, each enclosed; of the symmetric curve unless a direction is given. "
     "Lossy: the curve determines them, they do not determine the curve.\n\n"
     "Examples:\n"
     "  tradeoff divergences 'laplace(scale=1)'\n"
     "  tradeoff divergences --direction add 'pair(p=[0.7, 0.3], q=[0.4, 0.6])'",
     true,
     {},
     run_ask},
    {Group::theory,
     "moments",
     "the moments of the privacy loss",
     "The moments that limit theorems use: kl, kappa2, kappa3, kappa3bar and chi2plus of the curve of the plan, each enclosed. With a "
     "direction they are those of the loss in that direction, otherwise of the symmetric curve. Infinite if everything may be "
     "revealed.\n\n"
     "Examples:\n"
     "  tradeoff moments 'gaussian(sigma=1) | sample(rate=0.01)'",
     true,
     {},
     run_ask},
    {Group::theory, "renyi", "Renyi divergences, and the epsilon of Renyi accounting",
     "The Renyi divergence of the plan at an order, enclosed; or the epsilon that Renyi accounting certifies at a delta, at the best "
     "order: a valid bound, never below the exact epsilon. rho of zCDP where one is known.\n\n"
     "Examples:\n"
     "  tradeoff renyi --order 8 'gaussian(sigma=1.1) | poisson(rate=256/60000)'\n"
     "  tradeoff renyi --delta 1e-5 \\\n"
     "      'gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)'",
     true, renyi_options, run_ask},
    {Group::theory,
     "clt",
     "the Gaussian limit of a plan, and a proved bound",
     "mu of the central limit theorem that covers the plan: an estimate, not a guarantee. Then mu and gamma of the Berry-Esseen bound, "
     "which is a guarantee.\n\n"
     "Examples:\n"
     "  tradeoff clt 'gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)'",
     true,
     {},
     run_ask},
    {Group::theory, "limit", "limit theorems compared with the certified interval",
     "What the central limit theorem, its Edgeworth refinement and the Berry-Esseen bound say about a plan, the certified interval, and "
     "whether the limit under-reports, and by how much. In place of a plan, the word `table` prints ten training settings.\n\n"
     "Examples:\n"
     "  tradeoff limit --delta 1e-5 \\\n"
     "      'gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)'\n"
     "  tradeoff limit --epsilon 1 'dp(epsilon=0.1) | repeat(100)'\n"
     "  tradeoff limit table",
     true, limit_options, run_limit},
    {Group::theory, "explain", "the theorems of an answer",
     "Answers epsilon at one delta (1e-5 unless stated) and names the theorems that this answer rests on, as recorded by the code that "
     "computed it. Other questions may rest on other theorems: `--json` of every question names its own.\n\n"
     "Examples:\n"
     "  tradeoff explain 'gaussian(sigma=2); gaussian(sigma=3)'\n"
     "  tradeoff explain --delta 1e-9 'laplace(1) | poisson(rate=0.1) | repeat(2)'",
     true, explain_options, run_explain},
    {Group::theory,
     "theorems",
     "the theorems behind the answers",
     "The id and title of every theorem that the program relies on, of those whose id, title or source contains all the given words, or "
     "one with its source. "
     "`explain` names the theorems of a plan by the same ids; the folder theory of the documentation has statement, proof and "
     "rounding of each.\n\n"
     "Examples:\n"
     "  tradeoff theorems\n"
     "  tradeoff theorems subsampling\n"
     "  tradeoff theorems gaussian-profile\n"
     "  tradeoff theorems 'Dong, Roth and Su' 'Theorem 3'",
     false,
     {},
     run_theorems,
     "words: only theorems whose id, title or source contains all of them"},
    {Group::tools,
     "tour",
     "what the program does, on a real training run",
     "A real training run, its certified epsilon, its curve and its risk.\n\nExamples:\n  tradeoff tour",
     false,
     {},
     run_tour},
    {Group::tools,
     "mechanisms",
     "the words of the plan language",
     "Every source and operator of the plan language with its arguments.\n\n"
     "Examples:\n"
     "  tradeoff mechanisms --json",
     false,
     {},
     run_mechanisms},
    {Group::tools,
     "query",
     "answer questions in JSON, one per line",
     "Reads one request per line on standard input and writes one answer per line on standard output, in order. A bad line gets an error "
     "answer; the next line is read all the same. Numbers may be JSON numbers or decimal strings; both are taken as exact decimals.\n\n"
     "A request:\n"
     "  {\"id\": any, \"plan\": \"...\", \"ask\": \"...\", ...}\n"
     "An answer:\n"
     "  {\"id\": ..., \"answer\": ..., \"method\": ...,\n"
     "   \"steps\": [{\"theorem\", \"detail\"}]}\n"
     "or\n"
     "  {\"id\": ..., \"error\": {\"kind\": \"parse|domain|unsupported|too_large\",\n"
     "   \"message\": ..., \"at\": offset, \"field\": name}}\n\n"
     "The offset counts bytes: in the plan for errors in the plan, otherwise in the line. Optional fields: \"neighbours\", \"direction\", "
     "\"relative\".\n\n"
     "ask: delta (epsilon), epsilon (delta), beta (alpha), mu (slack or epsilon_max), gdpt (epsilon), advantage, tpr (fpr), posterior "
     "(prior), naming (people), odds (chance), risk, calibrate (target), compare (delta), order (other: a plan), divergences, moments, "
     "clt, limit (delta or epsilon), renyi (order or delta), guarantees (epsilon: a list), approximate (pieces), "
     "check (epsilon and delta), certify (epsilon, delta, alpha or fpr).\n\n"
     "Examples:\n"
     "  echo '{\"plan\": \"gdp(1)\", \"ask\": \"epsilon\", \"delta\": 1e-5}' | tradeoff query",
     false,
     {},
     run_query},
    {Group::tools, "figures", "the figures of the papers behind the program",
     "Draws the figures of the papers on trade-off functions, Gaussian DP and composition from certified curves, as SVG files, with a page "
     "that says what each shows (README.md).\n\n"
     "Examples:\n"
     "  tradeoff figures --list\n"
     "  tradeoff figures --out gallery\n"
     "  tradeoff figures fdp-training constraints-double",
     false, figures_options, run_figures, "names: which figures (default: all of them)"},
    {Group::tools,
     "completion",
     "completion of verbs and options for a shell",
     "Prints the completion script for bash, zsh or fish. `cmake --install` installs all three.\n\n"
     "Examples:\n"
     "  tradeoff completion bash \\\n"
     "      > ~/.local/share/bash-completion/completions/tradeoff\n"
     "  tradeoff completion fish > ~/.config/fish/completions/tradeoff.fish",
     false,
     {},
     run_completion,
     "shell: bash, zsh or fish"},
    {Group::tools,
     "man",
     "the manual page",
     "The manual page in roff. `cmake --install` installs it.\n\n"
     "Examples:\n"
     "  tradeoff man | man -l -",
     false,
     {},
     run_man},
    {Group::tools,
     "help",
     "this list, or the help of one verb",
     "Prints the list of verbs, or the help of one verb.\n\n"
     "Examples:\n"
     "  tradeoff help\n"
     "  tradeoff help epsilon",
     false,
     {},
     run_help,
     "verb: the verb to explain"},
    {Group::tools,
     "version",
     "the version of the program",
     "The version of the program.\n\nExamples:\n  tradeoff version --json",
     false,
     {},
     run_version},
}};

}  // namespace

std::span<const Verb> verbs() { return all_verbs; }
std::span<const Option> plan_options() { return common_options; }

}  // namespace tradeoff::detail::cli
