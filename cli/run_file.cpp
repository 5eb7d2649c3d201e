// SPDX-License-Identifier: Apache-2.0
#include "run_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "output_file.h"
#include "streams.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::cli {
namespace {

[[noreturn]] void refuse_second(const std::string& path) { throw InputError("train: another process is at work on " + path); }

/// Opens and locks FILE.lock. A finishing process removes that file, so we check that the locked file is still the one of that name.
int lock_file(const std::string& path, const std::string& shown) {
  for (;;) {
    const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0) throw OutputError("cannot write " + path);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      ::close(lock);
      refuse_second(shown);
    }
    struct stat opened{}, named{};
    if (::fstat(lock, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
      return lock;
    ::close(lock);
  }
}

/// Checks the files before the run starts. Two outputs with the same path would overwrite each other, or the data; test records that are
/// also protected records would be revealed; and an output that cannot be written must be reported now.
void check_files(const Options& options, const std::string& checkpoint) {
  const std::string *certificate = options.find("certificate"), *data = options.find("data"), *test = options.find("test"),
                    *weights = options.find("export");
  const auto refuse = [](const char* one, const std::string* first, const char* other, const std::string* second) {
    if (first != nullptr && second != nullptr && is_same_file(*first, *second))
      throw DomainError(std::string("train: ") + one + " and " + other + " are the same file, " + *first);
  };
  const std::string kept = checkpoint + ".private", lock = checkpoint + ".lock";
  const std::string* model = checkpoint.empty() ? nullptr : &checkpoint;
  for (const std::string* output : {model, certificate, weights}) {
    const std::filesystem::path directory = output == nullptr ? "" : std::filesystem::path(*output).parent_path();
    if (!directory.empty() && !std::filesystem::is_directory(directory))
      throw OutputError("cannot write " + *output + ": there is no directory " + directory.string());
  }
  refuse("--data", data, "--test", test);
  refuse("--checkpoint", model, "--certificate", certificate);
  refuse("--checkpoint", model, "--data", data);
  refuse("--checkpoint", model, "--test", test);
  refuse("--certificate", certificate, "--data", data);
  refuse("--certificate", certificate, "--test", test);
  for (const auto& [name, other] :
       {std::pair("--checkpoint", model), std::pair("--certificate", certificate), std::pair("--data", data), std::pair("--test", test)})
    refuse("--export", weights, name, other);
  if (model == nullptr) return;
  refuse("--export", weights, "the private part of --checkpoint", &kept);
  refuse("--certificate", certificate, "the private part of --checkpoint", &kept);
  refuse("--certificate", certificate, "the lock of --checkpoint", &lock);
}

}  // namespace

RunFile::RunFile(const Options& options) {
  const std::string* given = options.find("checkpoint");
  resumes_ = options.find("resume") != nullptr;
  if (given == nullptr && resumes_) throw DomainError("train: --resume needs --checkpoint, the file to continue from");
  check_files(options, given == nullptr ? "" : target_of(*given));
  if (given == nullptr) return;
  path_ = target_of(*given);
  if (!resumes_ && std::filesystem::exists(path_))
    throw DomainError("train: " + *given + " exists already; --resume continues it, another name starts a new run");
  if (resumes_) {
    run_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (run_ < 0) throw InputError("cannot read " + *given);
    if (::flock(run_, LOCK_EX | LOCK_NB) != 0) {
      ::close(run_);
      refuse_second(*given);
    }
  }
  try {
    lock_ = lock_file(path_ + ".lock", *given);
  } catch (...) {
    if (run_ >= 0) ::close(run_);
    throw;
  }
}

RunFile::~RunFile() {
  if (lock_ >= 0) {
    ::unlink((path_ + ".lock").c_str());  // while the lock is held
    ::close(lock_);
  }
  if (run_ >= 0) ::close(run_);
}

train::Progress RunFile::read() { return train::read_progress(read_data_file(path_)); }

// [private-step]
void RunFile::bind(const TrainingData& data) const {
  if (path_.empty()) return;
  const std::string text = "tradeoff run, private part: not covered by the guarantee, do not publish\ndata = " + data.digest + "\n";
  if (!resumes_) {
    write_private_file(private_path(), text);
    return;
  }
  if (!std::filesystem::exists(private_path()))
    throw InputError("train: --resume needs " + private_path() + ", by which it sees that the data is that of the run");
  if (read_data_file(private_path()) != text)
    throw DomainError("train: the protected records are not those of the run in " + path_ +
                      ": --data, --holdout, --low, --high and --classes must be as they were when it began");
}

void RunFile::save(const train::Progress& progress) const {
  if (!path_.empty()) write_file(path_, train::to_text(progress));
}

}  // namespace tradeoff::detail::cli
