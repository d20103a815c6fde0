// Puts questions: from any thread, each until its deadline, changing nothing anywhere.
#pragma once

#include <mutex>
#include <semaphore>
#include <set>
#include <string>

#include "doctor/answer.hpp"
#include "doctor/question.hpp"
#include "live/programs.hpp"

namespace gpuctl::doctor {

/// Values that must not be shown, as far as a run has seen them. Thread-safe.
class Secrets {
 public:
  void add(const std::string& value);
  /// `text` with `***` in the place of each.
  std::string without(std::string text) const;

 private:
  mutable std::mutex mutex_;
  std::set<std::string> values_;
};

/// What all questions of a run share.
struct Asking {
  const live::Programs* programs = nullptr;
  std::string directory;         // of the blueprint: references to secrets are relative to it
  std::string pull_secret_file;  // instead of what the blueprint names; may be empty
  std::string resolver;          // ADDRESS[:PORT], or empty
  net::Deadline deadline;        // of the whole run
  Secrets secrets;
  /// Programs that run at a time: each of them may take a processor.
  std::counting_semaphore<> free_programs{4};
};

/// Puts a question and waits for its answer: at most 5 seconds for the network, 60 for programs and
/// Git, and never beyond the deadline of the run.
Answer put(const Question& question, Asking& asking);

Answer ask(const NameQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const TlsQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const WebQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const AccountsQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const RegistryQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const AddressQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const ClockQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const ProxyQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const GitQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const ProgramQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const KeyQuestion& question, Asking& asking, net::Deadline deadline);
Answer ask(const DirectoryQuestion& question, Asking& asking, net::Deadline deadline);

}  // namespace gpuctl::doctor
