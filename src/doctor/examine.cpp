#include "doctor/examine.hpp"

#include <arpa/inet.h>

#include <thread>

#include "base/text.hpp"
#include "doctor/codes.hpp"
#include "doctor/examination.hpp"
#include "net/load.hpp"

namespace gpuctl::doctor {

namespace {

// The variable `run`: what the command line says; what it does not say is absent.
yaml::Node run_of(const Settings& settings, yaml::Arena& arena) {
  yaml::MapBuilder out;
  const auto set = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) out.set(arena, name, arena.string(value));
  };
  set("pullSecret", settings.pull_secret_file);
  set("resolver", settings.resolver);
  set("repository", settings.repository);
  set("installerDirectory", settings.installer_directory);
  return out.build(arena);
}

}  // namespace

bool is_server_address(const std::string& text) {
  std::string address = text;
  std::string port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string::npos) return false;
    address = text.substr(1, close - 1);
    port = text.substr(close + 1);
  } else if (const std::size_t colon = text.find(':');
             colon != std::string::npos && text.find(':', colon + 1) == std::string::npos) {
    address = text.substr(0, colon);
    port = text.substr(colon);
  }
  if (!port.empty()) {
    const auto number = base::parse_integer(std::string_view(port).substr(1));
    if (port.front() != ':' || !number || *number < 1 || *number > kMostPort) return false;
  }
  in6_addr ignored{};
  return ::inet_pton(AF_INET, address.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, address.c_str(), &ignored) == 1;
}

std::optional<std::vector<Result>> examine(const Checks& checks, const live::Programs& programs,
                                           const Subject& subject, const Settings& settings,
                                           const diag::Mask& mask, diag::Sources& sources,
                                           diag::Sink& sink) {
  if (const auto fault = net::load_libraries()) {
    sink.error(kNoNetwork, diag::kNoOrigin, *fault)
        .suggest("install the library; `ldd` does not show it, because only some commands need it");
    return std::nullopt;
  }
  yaml::Arena arena;
  Shared shared{checks, subject, mask, sources, run_of(settings, arena), {}, {}};
  shared.asking.programs = &programs;
  shared.asking.directory = subject.directory;
  shared.asking.pull_secret_file = settings.pull_secret_file;
  shared.asking.resolver = settings.resolver;
  shared.asking.deadline = net::Clock::now() + settings.limit;
  std::vector<const Check*> wanted;
  for (const Check& check : checks.all()) {
    const bool named = settings.only.empty() || settings.only.contains(check.id) ||
                       settings.only.contains(check.number());
    if (named && (check.fatal || !settings.only_fatal)) wanted.push_back(&check);
  }
  std::vector<Result> results(wanted.size());
  {
    // Most of their time is spent waiting, and there are few.
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      threads.emplace_back([&, i] { results[i] = run_check(*wanted[i], shared); });
    }
  }
  return results;
}

}  // namespace gpuctl::doctor
