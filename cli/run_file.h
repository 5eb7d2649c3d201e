// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "train/checkpoint.h"
#include "train_data.h"
#include "verb.h"

namespace tradeoff::cli {

/// The file that a run is kept in (--checkpoint). Nobody else may go on with the same run at the same time, under whatever name.
/// Beside it lies FILE.private, for the owner of the data alone: a digest of the protected records, by which --resume sees that they are
/// the same. It is in a file of its own because the model may be published and whoever has the digest can test guesses about the data.
class RunFile {
 public:
  /// Throws DomainError, InputError or OutputError that names the file; nothing is written but FILE.lock.
  explicit RunFile(const Options& options);
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;
  ~RunFile();

  [[nodiscard]] bool resumes() const { return resumes_; }
  /// The run so far; only if it is resumed.
  [[nodiscard]] train::Progress read();
  /// Of a new run: keeps the digest. Of an old one: throws DomainError unless the data is that of the run.
  void bind(const TrainingData& data) const;
  void save(const train::Progress& progress) const;

 private:
  [[nodiscard]] std::string private_path() const { return path_ + ".private"; }

  std::string path_;  // where links lead to; empty if no run is kept
  bool resumes_ = false;
  int lock_ = -1;  // FILE.lock
  int run_ = -1;   // FILE itself, if it is resumed: another name of it is locked as well
};

}  // namespace tradeoff::cli
