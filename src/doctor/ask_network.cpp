// Questions to the network that need no account.
#include <cmath>

#include "base/text.hpp"
#include "doctor/asking.hpp"
#include "git/access.hpp"
#include "git/address.hpp"
#include "git/codes.hpp"
#include "net/clock.hpp"
#include "net/names.hpp"
#include "net/reach.hpp"
#include "net/tls.hpp"
#include "net/web.hpp"

namespace gpuctl::doctor {

namespace {

yaml::Node texts(const std::vector<std::string>& values, yaml::Arena& arena) {
  std::vector<yaml::Node> items;
  items.reserve(values.size());
  for (const std::string& value : values) items.push_back(arena.string(value));
  return arena.list(items);
}

std::string_view status_name(net::NameAnswer::Status status) {
  using Status = net::NameAnswer::Status;
  switch (status) {
    case Status::found:
      return "found";
    case Status::no_data:
      return "no-data";
    case Status::no_name:
      return "no-name";
    case Status::refused:
      return "refused";
    case Status::silent:
      return "silent";
    case Status::failed:
      break;
  }
  return "failed";
}

void set_clock(const net::ClockAnswer& clock, Answer& out) {
  if (!clock.told) return;
  // Two digits are more than the way there and back allows for.
  const double seconds = std::round(clock.seconds * 100) / 100;
  out.set("seconds", yaml::Node::real(seconds));
  out.set("secondsText", base::format_real(seconds));
}

}  // namespace

Answer ask(const NameQuestion& question, Asking& asking, net::Deadline deadline) {
  Answer out;
  std::string server = question.by;
  std::string name = question.name;
  if (question.type == net::RecordType::ptr) {
    const std::string reverse = net::reverse_name(name);
    if (!reverse.empty()) name = reverse;
  }
  out.set("name", question.name);
  out.set("by", question.by);
  if (question.by == "system") server.clear();
  if (question.by == "resolver") server = asking.resolver;
  if (question.by == "zone") {
    const net::Zone zone = net::zone_of(name, asking.resolver, deadline);
    out.set("zone", zone.name);
    if (zone.servers.empty()) {
      out.unanswered("its zone is not known: " + zone.why);
      return out;
    }
    server = zone.servers.front();
  }
  const net::NameAnswer answer = net::ask_names(name, question.type, server, deadline);
  out.set("server", server);
  out.set("status", status_name(answer.status));
  out.set("records", texts(answer.records, out.arena()));
  out.conclude(answer.told(), answer.why);
  return out;
}

Answer ask(const TlsQuestion& question, Asking& /*asking*/, net::Deadline deadline) {
  Answer out;
  out.set("host", question.host);
  const net::TlsAnswer answer =
      net::ask_tls(question.host, question.port, question.authorities, deadline);
  if (!answer.shaken) {
    out.unanswered(answer.why);
    return out;
  }
  out.answered();
  out.set_flag("trusted", answer.trusted);
  out.set_flag("named", answer.named);
  out.set("fault", answer.fault);
  out.set_flag("expired", answer.expired);
  out.set_flag("unknownAuthority", answer.unknown);
  out.set("subject", answer.subject);
  out.set("issuer", answer.issuer);
  out.set("names", answer.names);
  out.set_number("days", answer.days);
  out.set("version", answer.version);
  return out;
}

Answer ask(const WebQuestion& question, Asking& /*asking*/, net::Deadline deadline) {
  Answer out;
  net::WebRequest request;
  request.url = question.url;
  request.head = true;
  request.proxy = question.proxy;
  request.authorities = question.authorities;
  request.deadline = deadline;
  const net::WebAnswer answer = net::ask_web(request);
  out.set_number("status", answer.status);
  out.set_flag("certificate", answer.certificate);
  if (answer.status == 0) {
    out.unanswered(answer.why);
    return out;
  }
  out.answered();
  const auto date = answer.headers.find("date");
  if (date != answer.headers.end()) set_clock(net::compare_date(date->second), out);
  return out;
}

Answer ask(const AddressQuestion& question, Asking& /*asking*/, net::Deadline deadline) {
  Answer out;
  out.set("address", question.address);
  const net::Reach reach = net::reach(question.address, question.ports, deadline);
  out.set_flag("inUse", reach.in_use);
  out.set("sign", reach.sign);
  out.conclude(reach.why.empty(), reach.why);
  return out;
}

Answer ask(const ClockQuestion& question, Asking& /*asking*/, net::Deadline deadline) {
  Answer out;
  out.set("server", question.server);
  const net::ClockAnswer answer = net::ask_clock(question.server, question.port, deadline);
  set_clock(answer, out);
  out.set_number("stratum", answer.stratum);
  out.conclude(answer.told, answer.why);
  return out;
}

Answer ask(const ProxyQuestion& question, Asking& /*asking*/, net::Deadline deadline) {
  Answer out;
  out.set("host", question.host);
  const net::ProxyAnswer answer =
      net::ask_proxy(question.proxy, question.authorities, question.host, question.port, deadline);
  out.set_number("status", answer.status);
  out.set_flag("through", answer.through);
  // A proxy that refuses has answered.
  out.conclude(answer.through || answer.status != 0, answer.why);
  return out;
}

Answer ask(const GitQuestion& question, Asking& asking, net::Deadline deadline) {
  Answer out;
  diag::Sink sink;
  const bool elsewhere = git::is_address(question.address);
  const std::optional<git::Address> address =
      elsewhere ? git::read_address(question.address, sink) : std::nullopt;
  if (!address) {
    out.unanswered(elsewhere ? "it is no address that git takes" : "it is on this machine");
    return out;
  }
  asking.secrets.add(address->user);
  out.set("address", address->shown);
  const git::Access access = git::try_access(*address, deadline);
  // Where nobody could be asked, nothing was seen to be wrong.
  if (access.code == git::kUnreachable || access.code == git::kGitProgram) {
    out.unanswered(access.why);
    return out;
  }
  out.set_flag("readable", access.readable);
  out.set_flag("writable", access.writable);
  out.set("code", access.code);
  out.set("said", access.why);
  out.answered();
  return out;
}

}  // namespace gpuctl::doctor
