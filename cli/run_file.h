// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "train/checkpoint.h"
#include "train_data.h"
#include "verb.h"

namespace tradeoff::detail::cli {

/// The checkpoint file of a run (--checkpoint). It is locked, under all its names, so that two processes cannot continue the same run. Next
/// to it is FILE.private, which only the owner of the data may read: a digest of the protected records, with which --resume checks that the
/// data are the same. The digest has its own file because the model may be published, and anyone who has the digest can test guesses about
/// the data.
class RunFile {
 public:
  /// Throws DomainError, InputError or OutputError that names the file. Writes nothing except FILE.lock.
  explicit RunFile(const Options& options);
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;
  ~RunFile();

  [[nodiscard]] bool resumes() const { return resumes_; }
  /// The run so far, if the run is resumed.
  [[nodiscard]] train::Progress read();
  /// For a new run: writes the digest. For a resumed run: throws DomainError unless the data are those of the run.
  void bind(const TrainingData& data) const;
  void save(const train::Progress& progress) const;

 private:
  [[nodiscard]] std::string private_path() const { return path_ + ".private"; }

  std::string path_;  // with links resolved; empty if there is no checkpoint
  bool resumes_ = false;
  int lock_ = -1;  // FILE.lock
  int run_ = -1;   // FILE itself, if the run is resumed: this locks its other names too
};

}  // namespace tradeoff::detail::cli
