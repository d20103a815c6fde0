// `gpuctl mcp`: a server for agents and editors on standard input and output.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/file.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/mcp_tools.hpp"
#include "mcp/lines.hpp"
#include "mcp/server.hpp"

namespace gpuctl::cli {

namespace {

// The two streams of the protocol, out of reach of all else: a command that reads standard input
// finds it empty, and what would be printed goes to standard error.
struct Streams {
  int in = -1;
  int out = -1;
};

std::optional<Streams> take_streams() {
  Streams taken;
  taken.in = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  taken.out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool good = taken.in >= 0 && taken.out >= 0 && nothing >= 0 &&
                    ::dup2(nothing, STDIN_FILENO) >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
  if (nothing >= 0) ::close(nothing);
  if (!good) return std::nullopt;
  return taken;
}

// A client that has gone away is no finding.
int end_of(const char* what, int code, const GlobalOptions& global) {
  if (code == EPIPE) return kOk;
  diag::Sink sink;
  sink.error(kUnwritable, diag::kNoOrigin,
             std::string("cannot ") + what + ": " + base::errno_text(code));
  Report(global).show(sink, diag::Sources());
  return kFindings;
}

int serve(const Streams& streams, const GlobalOptions& global) {
  yaml::Arena arena;
  const mcp::Offer offer = mcp_offer(global, arena);
  mcp::Server server(offer);
  mcp::Lines lines(streams.in, mcp::kMostMessageBytes);
  std::string line;
  for (;;) {
    const mcp::Lines::Got got = lines.next(line);
    if (got == mcp::Lines::Got::end) return kOk;
    if (got == mcp::Lines::Got::failed) return end_of("read standard input", errno, global);
    const bool whole = got == mcp::Lines::Got::line;
    if (whole && line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string answer = whole ? server.answer(line) : mcp::Server::answer_too_long();
    if (answer.empty()) continue;
    if (const int code = base::write_all(streams.out, answer + "\n"); code != 0) {
      return end_of("write to standard output", code, global);
    }
  }
}

int run_mcp(const GlobalOptions& global) {
  {
    // Faults in knowledge are said once, here; then it is there for all calls.
    Report report(global);
    if (open_knowledge(global, report) == nullptr) return kFindings;
    if (::isatty(STDIN_FILENO) == 1) {
      report.say(
          "Waiting for requests of a program; `gpuctl mcp --help` shows how to configure one.");
    }
  }
  const std::optional<Streams> streams = take_streams();
  if (!streams) return end_of("take standard input and output", errno, global);
  return serve(*streams, global);
}

}  // namespace

Command mcp_command() {
  return {
      "mcp",
      "Serve agents and editors over the Model Context Protocol",
      "A server on standard input and output, started by an agent or editor. It offers what only\n"
      "reads: validate, render, plan, cost, explain, catalog, MIG layouts as tools; JSON Schemas\n"
      "and the pages of codes as resources. It writes nothing, reads no secrets, does not use the\n"
      "network, and exits when its input ends. See docs/agents.md.\n\n"
      "Configuration of a client:\n"
      "  {\"mcpServers\": {\"gpuctl\": {\"command\": \"gpuctl\", \"args\": [\"mcp\"]}}}\n\n"
      "Example:\n"
      "  gpuctl mcp\n"
      "  gpuctl mcp --providers company/providers\n",
      [](Options&, const GlobalOptions& global) {
        return [&global] {
          if (global.format != "text") {
            throw UsageError("--format: the protocol prescribes the output; leave the option out");
          }
          return run_mcp(global);
        };
      },
      {},
      false};
}

}  // namespace gpuctl::cli
