// Questions to this machine: its programs and directories.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.hpp"
#include "base/text.hpp"
#include "doctor/asking.hpp"
#include "live/ask.hpp"
#include "secrets/reference.hpp"

namespace gpuctl::doctor {

namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30U;

// Holds one of the places for programs.
class Place {
 public:
  Place(std::counting_semaphore<>& free, net::Deadline deadline)
      : free_(free), held_(free.try_acquire_until(deadline)) {}
  ~Place() {
    if (held_) free_.release();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  bool held() const { return held_; }

 private:
  std::counting_semaphore<>& free_;
  bool held_;
};

// The directory that a new one would be made in.
std::string existing_above(std::string path) {
  struct stat status {};
  while (::stat(path.c_str(), &status) != 0) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    if (slash == 0) return "/";
    path.resize(slash);
  }
  return path;
}

// Which program plays the part; false, with the answer, when it is not there.
bool find(const ProgramQuestion& question, const Asking& asking, base::Process& process,
          Answer& out) {
  const live::Program* program = asking.programs->find(question.role);
  for (const std::string& name : program == nullptr ? std::vector<std::string>() : program->names) {
    process.program = base::find_program(name);
    if (!process.program.empty()) break;
  }
  out.set_flag("found", !process.program.empty());
  out.set("path", process.program);
  if (!process.program.empty()) return true;
  if (program == nullptr) {
    out.unanswered("this platform has no program for `" + question.role + "`");
    return false;
  }
  out.set("install", program->install);
  out.unanswered("`" + base::join(program->names, "` or `") +
                 "` is not in any directory of PATH; it " + program->purpose);
  return false;
}

// Secrets go into the environment, which others cannot read; false, with the answer, when one
// cannot be read.
bool add_environment(const ProgramQuestion& question, Asking& asking, base::Process& process,
                     Answer& out) {
  for (const auto& [name, value] : question.environment) {
    process.environment.push_back({name, value});
  }
  for (const auto& [name, reference] : question.secrets) {
    if (reference.is_null()) continue;
    diag::Sink sink;
    const auto value = secrets::read_secret(reference, asking.directory, sink);
    if (!value) {
      out.unanswered(sink.all().empty() ? "a secret cannot be read" : sink.all().front().message);
      return false;
    }
    asking.secrets.add(*value);
    process.environment.push_back({name, *value});
  }
  return true;
}

// Fields that are null are left out, so that rows need not tell two kinds of absence apart.
yaml::Node without_nulls(const yaml::Node& node, yaml::Arena& arena) {
  if (node.is_list()) {
    std::vector<yaml::Node> items;
    for (const yaml::Node& item : node.items()) items.push_back(without_nulls(item, arena));
    return arena.list(items);
  }
  if (!node.is_map()) return node;
  std::vector<yaml::Entry> entries;
  for (const yaml::Entry& entry : node.entries()) {
    if (!entry.value.is_null()) entries.push_back({entry.key, without_nulls(entry.value, arena)});
  }
  return arena.map(entries);
}

// What a program said last, in one line. Some print an error as JSON over many lines, of which the
// last says nothing.
std::string said_by(const base::Ended& ended, std::string last) {
  constexpr std::size_t kMostSaid = 300;
  const bool says_something = std::any_of(last.begin(), last.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  if (says_something || !base::valid_utf8(ended.errors)) return last;
  std::string out;
  for (const char c : ended.errors) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  if (out.size() > kMostSaid) out.resize(base::character_limit(out, kMostSaid));
  return out;
}

void set_end(const base::Ended& ended, Answer& out) {
  out.set_number("exit", ended.how == base::Ended::How::exited ? ended.code : -1);
}

}  // namespace

Answer ask(const ProgramQuestion& question, Asking& asking, net::Deadline deadline) {
  Answer out;
  base::Process process;
  process.arguments = question.arguments;
  process.input = question.input;
  process.deadline = deadline;
  process.most_bytes = live::kMostAnswerBytes;
  if (!find(question, asking, process, out) || !add_environment(question, asking, process, out)) {
    return out;
  }
  const Place place(asking.free_programs, deadline);
  if (!place.held()) {
    out.not_asked("other programs took all the time");
    return out;
  }
  if (question.json) {
    const live::Answer answer = live::ask(process, out.arena());
    set_end(answer.ended, out);
    const std::string said = said_by(answer.ended, answer.why);
    out.set("said", answer.ended.good() ? std::string() : said);
    if (answer.good()) out.set("json", without_nulls(*answer.tree, out.arena()));
    out.conclude(answer.good(), said);
    return out;
  }
  const base::Ended ended = base::run_process(process);
  set_end(ended, out);
  out.set("text", base::valid_utf8(ended.output) ? ended.output : std::string());
  const std::string said = said_by(ended, live::last_words(ended));
  out.set("said", said);
  out.conclude(ended.how == base::Ended::How::exited, said);
  return out;
}

Answer ask(const KeyQuestion& question, Asking& asking, net::Deadline /*deadline*/) {
  Answer out;
  diag::Sink sink;
  const auto text = secrets::read_secret(question.reference, asking.directory, sink);
  if (!text) {
    out.unanswered(sink.all().empty() ? "it cannot be read" : sink.all().front().message);
    return out;
  }
  // TYPE BODY COMMENT. Whatever else stands there may be a secret, and is not shown.
  std::vector<std::string> words;
  for (const std::string_view word : base::split(*text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  const bool fits = words.size() >= 2 && text->find('\n') == std::string::npos &&
                    (words[0].starts_with("ssh-") || words[0].starts_with("ecdsa-") ||
                     words[0].starts_with("sk-")) &&
                    words[1].starts_with("AAAA");
  if (!fits) {
    asking.secrets.add(*text);
    out.unanswered("what stands there is no public key of ssh");
    return out;
  }
  out.set("type", words[0]);
  out.set("body", words[1]);
  out.set("comment", words.size() > 2 ? words[2] : std::string());
  out.answered();
  return out;
}

Answer ask(const DirectoryQuestion& question, Asking& /*asking*/, net::Deadline /*deadline*/) {
  Answer out;
  out.set("path", question.path);
  struct stat status {};
  const bool exists = ::stat(question.path.c_str(), &status) == 0;
  out.set_flag("exists", exists);
  out.set_flag("isDirectory", exists && S_ISDIR(status.st_mode));
  out.set_flag("open", exists && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0);
  std::vector<yaml::Node> names;
  if (exists && S_ISDIR(status.st_mode)) {
    const auto listed = base::list_directory(question.path);
    if (const auto* error = std::get_if<base::FileError>(&listed)) {
      out.unanswered(error->text);
      return out;
    }
    for (const std::string& name : std::get<std::vector<std::string>>(listed)) {
      names.push_back(out.arena().string(name));
    }
  }
  out.set("entries", out.arena().list(names));
  const std::string above = existing_above(question.path);
  struct statvfs space {};
  if (::statvfs(above.c_str(), &space) != 0) {
    out.unanswered(base::errno_text(errno));
    return out;
  }
  out.set_flag("writable", ::access(above.c_str(), W_OK | X_OK) == 0);
  out.set_flag("executes", (space.f_flag & ST_NOEXEC) == 0);
  out.set_number("freeGib",
                 static_cast<std::int64_t>(std::uint64_t{space.f_bavail} * space.f_frsize / kGib));
  out.answered();
  return out;
}

}  // namespace gpuctl::doctor
