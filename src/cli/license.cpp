// `gpuctl license`: what a licence token says, without showing it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <variant>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/day.hpp"
#include "document/token.hpp"
#include "secrets/mask.hpp"
#include "secrets/reference.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

// A token has a few thousand bytes.
constexpr std::size_t kMostTokenBytes = 64 * 1024;
constexpr std::string_view kKind = "LicenseToken";
constexpr std::string_view kStandardInput = "-";

struct LicenseOptions {
  std::string file;
  std::string date;
  std::string output = "text";
};

std::variant<std::string, base::FileError> read_standard_input() {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::FileError{"standard input", errno, base::errno_text(errno)};
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostTokenBytes) {
      return base::FileError{"standard input", EFBIG, base::errno_text(EFBIG)};
    }
  }
}

// "validFrom" -> "valid from".
std::string words(std::string_view key) {
  std::string out;
  for (const char c : key) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper) out += ' ';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::string cell(const yaml::Node& value) {
  if (value.is_string()) return shown(value.as_string());
  if (!value.is_list()) return yaml::emit_json(value);
  std::vector<std::string> parts;
  for (const yaml::Node& item : value.items()) parts.push_back(cell(item));
  return base::join(parts, ", ");
}

std::string summary_text(const yaml::Node& summary) {
  std::size_t width = 0;
  for (const yaml::Entry& entry : summary.entries()) {
    width = std::max(width, words(entry.key.as_string()).size());
  }
  std::string out;
  for (const yaml::Entry& entry : summary.entries()) {
    const std::string name = words(entry.key.as_string());
    out += name + std::string(width - name.size() + 2, ' ') + cell(entry.value) + "\n";
  }
  return out;
}

int run_check(const LicenseOptions& options, const GlobalOptions& global) {
  Report report(global);
  std::int64_t now = document::seconds_now();
  if (const std::optional<std::chrono::sys_days> day = named_day("")) {
    now = std::chrono::seconds(day->time_since_epoch()).count();
  }
  diag::Sink sink;
  if (!options.date.empty()) {
    const std::optional<std::int64_t> date = document::seconds_of_date(options.date);
    if (!date) {
      sink.error(kUsage, diag::kNoOrigin, "what `--date` says is no date")
          .expect("a date such as 2031-12-31");
      report.show(sink, diag::Sources());
      return kUsageError;
    }
    now = *date;
  }
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const bool piped = options.file == kStandardInput;
  // A token may stand in the place of its file by mistake.
  const std::string name = piped ? "standard input" : secrets::masked(shown(options.file));
  auto content = piped ? read_standard_input() : base::read_file(options.file, kMostTokenBytes);
  diag::Sources sources(&knowledge->library().sources());
  yaml::Arena arena;
  yaml::MapBuilder json;
  std::string text;
  if (const auto* error = std::get_if<base::FileError>(&content)) {
    sink.error(kUnreadable, diag::kNoOrigin, "cannot read `" + name + "`: " + error->text);
  } else if (const std::string token = secrets::without_line_end(std::get<std::string>(content));
             !secrets::is_text(token)) {
    sink.error(kNoToken, diag::kNoOrigin,
               name + (token.empty() ? " is empty" : " holds no text in UTF-8"))
        .expect("a licence token: one line of text");
  } else {
    const yaml::Node written = document::token_document(kKind, token, now, arena);
    const pipeline::Compiled* platform =
        knowledge->platform(knowledge->platform_for(written), diag::kNoOrigin, sink);
    if (platform != nullptr) {
      document::Context context;
      context.prefix = name + ": ";
      platform->documents->check(written, context, {sources, arena, sink});
      const auto read = platform->documents->read(written, context, false, sources, arena);
      const yaml::Node summary = read ? read->get("summary") : yaml::Node();
      for (const yaml::Entry& entry : summary.entries()) json.set(entry.key, entry.value);
      text = summary_text(summary);
    }
  }
  report.show(sink, sources);
  const bool good = !sink.has_errors();
  json.set(arena, "ok", yaml::Node::boolean(good));
  global.result->set("token", json.build(arena));
  if (options.output == "json") text = yaml::emit_json(json.build(arena)) + "\n";
  return print(text, global) && good ? kOk : kFindings;
}

RunFunction set_up_license(Options& check, const GlobalOptions& global) {
  auto options = std::make_shared<LicenseOptions>();
  check.add_option("FILE", options->file, "File with the token, or `-` for standard input")
      .required();
  check
      .add_option("--date", options->date,
                  "Day on which the token is wanted, such as 2031-12-31 (default: today)")
      .type_name("DATE");
  check.add_option("-o,--output", options->output, "Format: text or json").one_of({"text", "json"});
  return [options, &global] { return run_check(*options, global); };
}

}  // namespace

Command license_command() {
  return {
      "license",
      "Check licence tokens",
      "Example:\n  gpuctl license check client_configuration_token.tok\n",
      nullptr,
      {{"check", "Say what a licence token is for, and until when",
        "Nothing leaves the machine. Form, times and addresses are checked; the signature is not.\n"
        "The token itself is never shown.\n\n"
        "Exit code 0: the token can be used, 1: it cannot.\n\n"
        "Example:\n"
        "  gpuctl license check client_configuration_token.tok\n"
        "  vault kv get -field=token gpu/lab | gpuctl license check - --date 2031-12-31\n",
        set_up_license}}};
}

}  // namespace gpuctl::cli
