#include "secrets/sops.hpp"

#include <unistd.h>

#include <cstring>
#include <set>

#include "base/process.hpp"
#include "base/text.hpp"
#include "secrets/ciphertext.hpp"
#include "secrets/codes.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::secrets {

namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::size_t kMostOutput = 16 * 1024 * 1024;
constexpr std::size_t kMostLines = 4;

constexpr std::string_view kPrefix = "SOPS_";

// Without the variables by which the surroundings would add keys or move settings elsewhere.
std::vector<base::Setting> clean_environment() {
  std::vector<base::Setting> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with(kPrefix)) out.push_back({std::string(text.substr(0, text.find('='))), {}});
  }
  out.push_back({"SOPS_DISABLE_VERSION_CHECK", "true"});
  out.push_back({"LC_ALL", "C.UTF-8"});
  return out;
}

base::Ended run_sops(const std::string& program, const std::vector<std::string>& recipients,
                     std::string text) {
  base::Process process;
  process.program = program;
  process.arguments = {"--encrypt",
                       "--age",
                       base::join(recipients, ","),
                       "--encrypted-regex",
                       kSopsFields,
                       "--input-type",
                       "yaml",
                       "--output-type",
                       "yaml",
                       "/dev/stdin"};
  process.input = std::move(text);
  // It looks for a `.sops.yaml` from here upwards, which would have a say.
  process.directory = "/";
  process.environment = clean_environment();
  process.deadline = std::chrono::steady_clock::now() + kPatience;
  process.most_bytes = kMostOutput;
  return base::run_process(process);
}

void report_failure(const base::Ended& ended, diag::Origin at, diag::Sink& sink) {
  diag::Diagnostic& error = sink.error(kSopsFailed, at, "sops did not encrypt this secret");
  switch (ended.how) {
    case base::Ended::How::exited:
      error.label("ended with code " + std::to_string(ended.code));
      break;
    case base::Ended::How::not_started:
      error.label(std::string("was not started: ") + std::strerror(ended.code));
      break;
    default:
      error.label(ended.how == base::Ended::How::signalled
                      ? "was ended by signal " + std::to_string(ended.code)
                      : "did not end within " + std::to_string(kPatience.count()) + " seconds");
      break;
  }
  std::size_t lines = 0;
  for (const std::string_view line : base::split(ended.errors, '\n')) {
    if (!line.empty() && lines++ < kMostLines) error.note("sops said: " + std::string(line));
  }
  error.suggest("see that `sops --encrypt --age RECIPIENTS FILE` works with these recipients");
}

// Nothing, or what is wrong with what came out.
std::string fault_of(const yaml::Node& made, const yaml::Node& object,
                     const std::vector<std::string>& recipients) {
  for (const yaml::Entry& entry : object.entries()) {
    const std::string_view key = entry.key.as_string();
    const yaml::Node there = made.get(key);
    if (key != "data" && key != "stringData") {
      if (!yaml::equal(there, entry.value)) return "`" + std::string(key) + "` is another one";
      continue;
    }
    if (there.size() != entry.value.size()) return "it has other keys";
    for (const yaml::Entry& value : entry.value.entries()) {
      if (there.find(value.key.as_string()) == nullptr) return "it has other keys";
    }
  }
  if (made.size() != object.size() + 1) return "it has other fields";
  if (!is_sops_object(made)) return "a value is not encrypted";
  const yaml::Node block = made.get("sops");
  std::set<std::string> wanted(recipients.begin(), recipients.end());
  for (const yaml::Node& key : block.get("age").items()) {
    if (wanted.erase(std::string(key.get("recipient").as_string())) == 0) {
      return "others can decrypt it, too";
    }
  }
  if (!wanted.empty()) return "not all recipients can decrypt it";
  // Whatever other kinds of keys there are, each has a list of its own.
  for (const yaml::Entry& entry : block.entries()) {
    const bool keys = entry.value.is_list() || entry.value.is_map();
    if (keys && entry.value.size() != 0 && entry.key.as_string() != "age") {
      return "others can decrypt it, too";
    }
  }
  if (block.get("encrypted_regex").as_string() != kSopsFields) {
    return "other fields are encrypted";
  }
  return {};
}

}  // namespace

std::optional<yaml::Node> encrypt_with_sops(const yaml::Node& object,
                                            const std::vector<std::string>& recipients,
                                            diag::Origin at, yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  const std::string program = base::find_program("sops");
  if (program.empty()) {
    sink.error(kNoSops, at, "there is no program sops, which is to encrypt this secret")
        .label("must be encrypted before it is committed")
        .expect("sops 3.8 or newer in an absolute directory of PATH")
        .suggest("install it from https://github.com/getsops/sops")
        .suggest("or seal secrets without a program: `gitops.secrets: {sealedSecrets: ...}`");
    return std::nullopt;
  }
  const base::Ended ended = run_sops(program, recipients, yaml::emit(object));
  if (!ended.good()) {
    report_failure(ended, at, sink);
    return std::nullopt;
  }
  // What it gives may be anything, the secret in clear among it: nothing of it is shown.
  diag::Sources apart;
  diag::Sink unread;
  const auto made = yaml::read(apart.add_file("sops", ended.output), apart, arena, unread);
  const std::string fault =
      made && made->is_map() ? fault_of(*made, object, recipients) : "it is no document";
  if (fault.empty()) return yaml::without_origins(*made, arena);
  sink.error(kSopsDiffers, at, "what sops made is not what it was asked for")
      .label(fault)
      .note("nothing of it was written")
      .suggest("see which program `" + program + "` is, and which version: 3.8 or newer is needed");
  return std::nullopt;
}

}  // namespace gpuctl::secrets
