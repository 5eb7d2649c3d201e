// SPDX-License-Identifier: Apache-2.0
#ifdef TRADEOFF_WITH_TRAIN
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "delta_check.h"
#include "ledger_charge.h"
#include "noise/secure_stream.h"
#include "numeric/number_text.h"
#include "output_file.h"
#include "progress.h"
#include "report/claim.h"
#include "report/json.h"
#include "report/svg.h"
#include "run_file.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "tradeoff/sgd.h"
#include "train/audit.h"
#include "train/paper_settings.h"
#include "train/weights_file.h"
#include "train_data.h"
#include "train_report.h"
#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

using train::TrainingTerms;

constexpr std::uint64_t saves = 20;  // number of times a run saves its checkpoint; the terminal shows only numbers that are saved already

volatile std::sig_atomic_t interrupted = 0;
/// The first signal stops the run after the current step; the second one ends the program.
extern "C" void remember_interruption(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

std::string text_or(const Options& options, std::string_view name, const char* otherwise) {
  const std::string* given = options.find(name);
  return given == nullptr ? otherwise : *given;
}

Number read_option(const Options& options, std::string_view name, const char* otherwise) {
  const std::string text = text_or(options, name, otherwise);
  try {
    return read_number(text);
  } catch (const ParseError&) {
    throw DomainError("train: --" + std::string(name) + " = " + text.substr(0, 40) + " is not a number");
  }
}

/// The run may reveal everything with this probability.
void refuse_large(const Options& options, const char* name, const Number& delta) {
  if (delta.value.hi >= large_delta && options.find("allow-large-delta") == nullptr)
    throw DomainError("train: --" + std::string(name) + " = " + delta.text +
                      " must be below 0.01: with this probability a run may reveal everything; --allow-large-delta lifts the limit");
}

std::vector<std::string> read_deltas(const Options& options) {
  std::vector<std::string> deltas;
  std::string rest = text_or(options, "delta", "1e-5,1e-6,1e-8");
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    try {
      const Number delta = read_number(rest.substr(0, end));
      if (!(delta.value.lo >= 0 && delta.value.hi < 1)) throw DomainError("train: --delta must lie between 0 and 1");
      refuse_large(options, "delta", delta);
      deltas.push_back(delta.text);
    } catch (const ParseError&) {
      throw DomainError("train: --delta = " + rest.substr(0, 40) + " is not a number, or several with commas in between");
    }
    rest.erase(0, end + 1);
  }
  if (deltas.empty()) throw DomainError("train: --delta must be a number, or several with commas in between");
  return deltas;
}

std::string features_of(const Options& options) {
  const std::string* given = options.find("features");
  if (given != nullptr) return *given;
  const bool images = std::filesystem::is_directory(text_or(options, "data", default_data));
  return images && options.find("filters") == nullptr ? "orientation" : "values";
}

/// Reads every stated target. A stated epsilon holds at each delta; a mu has a slack.
Targets read_training_targets(const Options& options) {
  const auto read_words = [&](std::initializer_list<std::pair<std::string_view, const std::string*>> words) {
    return read_targets(
        [&](std::string_view word) {
          for (const auto& [name, text] : words)
            if (name == word && text != nullptr) return std::optional(*text);
          return std::optional<std::string>();
        },
        "--");
  };
  const std::string usual_slack = "1e-5", *mu = options.find("mu"), *slack = options.find("slack"), *epsilon = options.find("epsilon");
  Targets targets = read_words(
      {{"mu", mu}, {"slack", mu != nullptr && slack == nullptr ? &usual_slack : slack}, {"advantage", options.find("advantage")}});
  if (epsilon == nullptr) return targets;
  if (options.find("delta") == nullptr) throw DomainError("train: --epsilon needs --delta");
  for (const std::string& delta : read_deltas(options)) targets.push_back(read_words({{"epsilon", epsilon}, {"delta", &delta}}).front());
  return targets;
}

/// The stated noise, which must meet every target, or else the least noise that does.
Number read_noise(const Options& options, TrainingTerms terms) {
  const Targets targets = read_training_targets(options);
  if (options.find("noise") == nullptr) {
    if (targets.empty())
      throw DomainError("train: state how private it should be: --noise Z, --epsilon E with --delta D, --mu M or --advantage A");
    return train::calibrated_noise(terms, targets);
  }
  terms.noise = read_option(options, "noise", "");
  train::check(terms);
  if (!targets.empty()) require_met(train::curve_of(terms), targets);
  return terms.noise;
}

/// The sampling rate must not change when a record is added or removed, so it uses a stated number of examples. For Fashion-MNIST the size
/// of the data set is used, because it is public.
std::uint64_t public_size_of(const Options& options, std::size_t records) {
  if (options.find("public-size") == nullptr && options.find("data") != nullptr)
    throw DomainError(
        "train: --sampling poisson protects whether a record is present, so the number of records is not public: state "
        "--public-size N, about as many, or --sampling fixed");
  return read_whole(options, "public-size", 1, records);
}

train::Batches read_batches(const Options& options, std::size_t records) {
  const auto size_of = [&](std::uint64_t of) { return read_whole(options, "batch", 1, std::min<std::uint64_t>(256, of)); };
  if (text_or(options, "sampling", "poisson") == "fixed") {
    if (options.find("public-size") != nullptr) throw DomainError("train: --public-size goes with --sampling poisson");
    return train::FixedSizeBatches(size_of(records), records);
  }
  const std::uint64_t of = public_size_of(options, records);
  return train::PoissonBatches(size_of(of), of);
}

TrainingTerms read_terms(const Options& options, const train::Examples& records) {
  TrainingTerms terms{
      read_batches(options, records.size()), exact_number(1), read_option(options, "clip", "1.5"), 0, 0, features_of(options), {}, 0};
  const auto [size, of] = std::visit([](const auto& batches) { return std::pair(batches.size(), batches.of()); }, terms.batches);
  const Number epochs = read_option(options, "epochs", "15");
  if (!(epochs.value.lo > 0 && epochs.value.hi <= 1e6)) throw DomainError("train: --epochs must be above 0 and at most 1000000");
  terms.steps = steps_of_epochs(epochs, size, of);
  terms.learning_rate = read_option(options, "learning-rate", "0.25").value.hi;
  terms.momentum = read_option(options, "momentum", "0").value.hi;
  const std::size_t filters = read_whole(options, "filters", 0, 0);
  terms.shape = {records.width(), records.classes,    read_whole(options, "hidden", 0, filters > 0 ? 0 : 32),
                 filters,         records.image_rows, records.image_columns};
  static_cast<void>(train::Model(terms.shape));  // reports a bad shape before the search for the noise starts
  terms.noise = read_noise(options, terms);
  train::check(terms);
  return terms;
}

void refuse_terms_on_resume(const Options& options) {
  for (const char* name : {"noise", "epsilon", "mu", "advantage", "slack", "clip", "batch", "epochs", "learning-rate", "momentum",
                           "sampling", "hidden", "filters", "features", "public-size"})
    if (options.find(name) != nullptr)
      throw DomainError("train: --" + std::string(name) + " was fixed when the run began; --resume takes it from the checkpoint");
}

std::string fixed(double value, int digits) {
  std::array<char, 64> buffer{};
  const int count = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return {buffer.data(), static_cast<std::size_t>(count)};
}

/// The text of the progress line: a function of numbers that are saved already.
void show(const train::Trainer& trainer, const TrainingData& data, const std::vector<std::string>& deltas) {
  const train::Progress& progress = trainer.progress();
  std::string remark;
  if (data.test) {
    const train::Score score = evaluate(trainer.averaged_model(), *data.test);
    remark += ", loss " + fixed(score.loss, 3) + ", accuracy " + fixed(100 * score.accuracy, 1) + " %";
  }
  const Interval epsilon = train::epsilon_so_far(progress.terms, progress.steps_done, deltas.front());
  remark += ", epsilon <= " + report::claimed(epsilon, report::SafeEnd::hi) + " at delta " + deltas.front();
  Progress::report(progress.steps_done, progress.terms.steps, remark);
}

/// Trains until the plan is done or a signal arrives. No result of a step is shown before the checkpoint contains it. [private-step]
void run_steps(train::Trainer& trainer, const RunFile& file, const TrainingData& data, const std::vector<std::string>& deltas,
               bool visible) {
  const std::uint64_t between = std::max<std::uint64_t>(1, trainer.progress().terms.steps / saves);
  while (!trainer.is_done() && interrupted == 0) {
    trainer.step();
    if (trainer.progress().steps_done % between != 0) continue;
    file.save(trainer.progress());
    if (visible) show(trainer, data, deltas);
  }
  file.save(trainer.progress());
}

/// The wall-clock time and the processor time of the steps.
struct Time {
  double seconds;
  double processor_seconds;
};

/// The warnings about the deltas, one per line.
std::vector<std::string> warnings_of(const TrainingTerms& terms, const std::vector<std::string>& deltas) {
  const std::uint64_t records = std::visit([](const auto& batches) { return batches.of(); }, terms.batches);
  std::vector<std::string> found;
  for (const std::string& delta : deltas)
    if (const std::string warning = delta_warning(delta, static_cast<double>(records)); !warning.empty()) found.push_back(warning);
  return found;
}

void write_score(train::Score score, const TrainingData& data, report::JsonWriter& out) {
  if (!data.test) return;
  out.key("test").begin_object().key("records").integer(data.test->size()).key("accuracy").number(score.accuracy);
  out.key("loss").number(score.loss).end_object();
}

ExitCode report_run(const train::Trainer& trainer, const TrainingData& data, const Options& options, Time time) {
  const train::Progress& progress = trainer.progress();
  const std::vector<std::string> deltas = read_deltas(options);
  const report::CertificateDocument certificate = train::document_of(progress, deltas);
  if (const std::string* path = options.find("certificate")) write_file(*path, to_json(certificate));
  if (const std::string* path = options.find("export")) write_file(*path, train::to_safetensors(progress));
  const train::Score score = data.test ? evaluate(trainer.averaged_model(), *data.test) : train::Score{};
  if (trainer.tally().zeroed > 0)
    write_error("For the owner of the data, not covered by the guarantee: " + std::to_string(trainer.tally().zeroed) +
                " gradients were not finite and contributed nothing.\n");
  const std::vector<std::string> warnings = warnings_of(progress.terms, read_deltas(options));
  if (options.json) {
    report::JsonWriter out;
    out.begin_object().key("steps").integer(progress.steps_done).key("planned").integer(progress.terms.steps);
    out.key("noise").text(progress.terms.noise.text).key("noise_unit").text("standard deviation / clipping norm");
    out.key("sampling").text(std::visit([](const auto& batches) { return std::string(batches.name()); }, progress.terms.batches));
    write_score(score, data, out);
    if (!warnings.empty()) {
      out.key("warnings").begin_array();
      for (const std::string& warning : warnings) out.text(warning);
      out.end_array();
    }
    write_out(out.key("seconds")
                  .number(time.seconds)
                  .key("processor_seconds")
                  .number(time.processor_seconds)
                  .key("certificate")
                  .raw(to_json(certificate, true))
                  .end_object()
                  .str() +
              "\n");
    return ExitCode::done;
  }
  std::string text = std::to_string(progress.steps_done) + " of " + std::to_string(progress.terms.steps) + " steps in " +
                     fixed(time.seconds, 1) + " s; noise " + progress.terms.noise.text + " (standard deviation / clipping norm), " +
                     std::visit([](const auto& batches) { return std::string(batches.name()); }, progress.terms.batches) + " sampling, " +
                     report::to_word(train::neighbours_of(progress.terms)) + " neighbours\n";
  if (data.test)
    text += "accuracy " + fixed(100 * score.accuracy, 2) + " %, loss " + fixed(score.loss, 4) + " on " + std::to_string(data.test->size()) +
            " " + data.test_name + ", which the guarantee does not protect\n\n";
  write_out(text + guarantee_text(progress, deltas, options.quiet));
  return ExitCode::done;
}

void write_checks(const train::AuditResult& found, report::JsonWriter& out) {
  out.key("checks").begin_array();
  for (const train::AuditCheck& check : found.checks) {
    out.begin_object().key("check").text(check.name).key("found").number(check.found).key("least").number(check.least);
    out.key("most").number(check.most).key("alarm").boolean(check.alarms()).end_object();
  }
  out.end_array();
}

std::string check_lines(const train::AuditResult& found) {
  std::string text;
  for (const train::AuditCheck& check : found.checks) {
    text += (check.alarms() ? "ALARM  " : "       ") + check.name + ": " + numeric::to_text_below(check.found, 6) + ", stated steps give ";
    text += numeric::to_text_below(check.least, 6) + " to " + numeric::to_text_above(check.most, 6) + "\n";
  }
  return text;
}

void write_whole(const train::AuditedWhole& whole, report::JsonWriter& out) {
  out.key("one_run").begin_object().key("steps").integer(whole.steps).key("plan").text(whole.plan);
  out.key("canaries").integer(whole.shown.best.canaries).key("included").integer(whole.included);
  out.key("guesses").integer(whole.shown.best.made).key("right").integer(whole.shown.best.right);
  out.key("chance_above").number(whole.shown.chance).key("mu_below").number(whole.shown.mu_below).key("epsilon_below").begin_object();
  out.key("delta").number(train::audited_delta).key("epsilon").number(whole.shown.epsilon_below).key("certified").interval(whole.certified);
  out.end_object().key("refuted").boolean(whole.is_refuted).end_object();
}

std::string whole_lines(const train::AuditedWhole& whole) {
  const audit::Guesses& best = whole.shown.best;
  std::string text = "one run of " + std::to_string(whole.steps) + " steps: ";
  if (best.canaries == 0) return text + "too few weights or records for canaries\n";
  text += std::to_string(best.right) + " of " + std::to_string(best.made) + " guesses about " + std::to_string(best.canaries) +
          " canaries are right\n";
  text += "       epsilon of the run >= " + numeric::to_text_below(whole.shown.epsilon_below, 4) +
          " with 99.9 % confidence, <= " + numeric::to_text_above(whole.certified.hi, 6) + " is certified, at delta = 1e-8\n";
  text += "       mu of the run >= " + numeric::to_text_below(whole.shown.mu_below, 4) + "\n";
  if (whole.is_refuted) text += "ALARM  the run does not have the privacy of " + whole.plan + "\n";
  return text;
}

ExitCode audit_steps(const Options& options, const TrainingData& data) {
  for (const char* name : {"learning-rate", "momentum"})
    if (options.find(name) != nullptr) throw DomainError("train: --" + std::string(name) + " does not go with --audit, which has its own");
  if (options.find("delta") != nullptr && options.find("epsilon") == nullptr)
    throw DomainError("train: --delta does not go with --audit, which bounds epsilon at 1e-8; it goes with --epsilon");
  const TrainingTerms terms = read_terms(options, data.records);
  const std::uint64_t steps = read_whole(options, "audit-steps", 100, 200'000);
  const std::uint64_t all = steps + std::min(steps, terms.steps);
  const train::AuditResult found =
      train::audit(terms, steps, noise::thread_stream(), [&](std::uint64_t done) { Progress::report(done, all); });
  if (options.json) {
    report::JsonWriter out;
    out.begin_object().key("steps").integer(found.steps).key("guesses").integer(found.guesses).key("right").integer(found.right);
    out.key("mu_below").number(found.mu_below).key("confidence").number(1 - train::audit_error).key("promised").interval(found.promised);
    write_checks(found, out);
    write_whole(found.whole, out);
    write_out(out.key("exposed").boolean(found.exposes()).end_object().str() + "\n");
  } else {
    write_out(std::to_string(found.steps) + " steps, " + std::to_string(found.right) + " of " + std::to_string(found.guesses) +
              " secrets of the canary guessed\nmu of a step >= " + numeric::to_text_below(found.mu_below, 6) +
              " with 99.9 % confidence\nmu of a step <= " + numeric::to_text_above(found.promised.hi, 6) + " as promised\n" +
              check_lines(found) + whole_lines(found.whole) +
              (found.exposes() ? "The steps differ from what is stated.\n" : "No deviation from what is stated was found.\n"));
  }
  return found.exposes() ? ExitCode::check_failed : ExitCode::done;
}

/// Runs the settings of the paper and writes the table and the picture.
ExitCode run_figure(const Options& options, const TrainingData& data, const std::string& directory) {
  for (const char* name :
       {"noise", "epsilon", "mu", "advantage", "clip", "batch", "epochs", "learning-rate", "momentum", "sampling", "filters"})
    if (options.find(name) != nullptr)
      throw DomainError("train: --figure has its own settings; --" + std::string(name) + " does not go with it");
  if (!data.test) throw DomainError("train: --figure needs records to judge by: --test or --holdout");
  make_directory(directory);
  const std::vector<train::SettingResult> results =
      train_settings(data.records, public_size_of(options, data.records.size()), *data.test, read_whole(options, "runs", 1, 5),
                     features_of(options), read_whole(options, "hidden", 0, 32), noise::thread_stream(), [&](const std::string& line) {
                       if (!options.quiet) write_error(line + "\n");
                     });
  const std::string table = train::to_table(results);
  write_file(directory + "/training.md", table);
  write_file(directory + "/training.svg", report::to_svg(train::to_figure(results)));
  write_out(table);
  return ExitCode::done;
}

/// Runs an audit or draws a figure.
ExitCode run_without_model(const Options& options) {
  for (const char* name : {"checkpoint", "resume", "certificate", "export", "ledger", "account", "key"})
    if (options.find(name) != nullptr)
      throw DomainError("train: --" + std::string(name) + " goes neither with --audit nor with --figure: they keep no model");
  const TrainingData data = read_training_data(options, features_of(options));
  const std::string* directory = options.find("figure");
  return directory == nullptr ? audit_steps(options, data) : run_figure(options, data, *directory);
}

/// Classifies records by the model of a checkpoint. A function of what the run released: it costs no privacy of the training records.
ExitCode classify(const Options& options) {
  for (const char* name :
       {"resume", "certificate", "audit", "figure", "data", "test", "holdout", "noise", "epsilon", "mu", "advantage", "ledger"})
    if (options.find(name) != nullptr)
      throw DomainError("train: --" + std::string(name) + " does not go with --predict, which does not train");
  const std::string* checkpoint = options.find("checkpoint");
  if (checkpoint == nullptr) throw DomainError("train: --predict needs --checkpoint, the model");
  const train::Progress progress = train::read_progress(read_data_file(*checkpoint));
  const train::Examples records = read_records_to_classify(options, progress.terms.features);
  train::Model model(progress.terms.shape);
  if (model.shape().inputs != records.width())
    throw DomainError("train: the model takes " + std::to_string(model.shape().inputs) + " values, but a record of --predict has " +
                      std::to_string(records.width()));
  model.weights() = progress.average;
  if (const std::string* path = options.find("export")) write_file(*path, train::to_safetensors(progress));
  std::string text = "class,probability\n";
  for (const train::Prediction& one : train::predict(model, records))
    text += std::to_string(one.label) + "," + fixed(one.probability, 6) + "\n";
  write_out(text);
  return ExitCode::done;
}

/// Charges all steps of the plan before the first one. A resumed run was charged when it began.
void charge_run(const TrainingTerms& terms, const Options& options) {
  const bool charges = names_ledger(options, "train");
  if (charges && options.find("resume") != nullptr)
    throw DomainError("train: --ledger charged the whole run when it began; --resume needs none");
  const std::string receipt = charge_ledger(options, "train", train::drawn_plan(terms, terms.steps), train::neighbours_of(terms));
  if (!receipt.empty() && !options.quiet) write_beside("the receipt of the ledger", receipt + "\n");
}

}  // namespace

ExitCode run_train(const Verb&, const Options& options) {
  if (options.find("predict") != nullptr) return classify(options);
  const bool trains = options.find("audit") == nullptr && options.find("figure") == nullptr;
  if (!trains) return run_without_model(options);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, remember_interruption);
  const std::vector<std::string> deltas = read_deltas(options);
  refuse_large(options, "slack", read_option(options, "slack", "1e-5"));
  RunFile file(options);
  std::optional<train::Progress> earlier;
  if (file.resumes()) {
    refuse_terms_on_resume(options);
    earlier = file.read();
  }
  const TrainingData data = read_training_data(options, earlier ? earlier->terms.features : features_of(options));
  noise::SecureStream& words = noise::thread_stream();
  train::Trainer trainer =
      earlier ? train::Trainer(*earlier, data.records, words) : train::Trainer(read_terms(options, data.records), data.records, words);
  file.bind(data);
  charge_run(trainer.progress().terms, options);
  for (const std::string& warning : warnings_of(trainer.progress().terms, deltas)) write_error("warning: " + warning + "\n");
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor_start = std::clock();
  run_steps(trainer, file, data, deltas, ::isatty(STDERR_FILENO) == 1 && !options.quiet);
  const Time time{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                  static_cast<double>(std::clock() - processor_start) / CLOCKS_PER_SEC};
  return report_run(trainer, data, options, time);
}

}  // namespace tradeoff::detail::cli
#else
#include "tradeoff/error.h"
#include "verb.h"

namespace tradeoff::detail::cli {

ExitCode run_train(const Verb&, const Options&) { throw UnsupportedError("train: this program was built without it (TRADEOFF_TRAIN=OFF)"); }

}  // namespace tradeoff::detail::cli
#endif
