// Questions to image registries, with the accounts of a pull secret.
#include <map>

#include "base/text.hpp"
#include "doctor/asking.hpp"
#include "net/web.hpp"
#include "secrets/reference.hpp"
#include "yaml/json.hpp"

namespace gpuctl::doctor {

namespace {

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kOk = 200;
constexpr int kNotFound = 404;
constexpr std::string_view kManifests =
    "Accept: application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.docker.distribution.manifest.v2+json";

struct Account {
  std::string user;
  std::string password;
};

// Base64 as pull secrets have it; empty when it is none.
std::string decoded(std::string_view text) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned held = 0;
  unsigned bits = 0;
  for (const char c : text) {
    if (c == '=' || c == '\n' || c == '\r') continue;
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return {};
    held = (held << 6U | static_cast<unsigned>(digit)) & 0xffffU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(held >> bits & 0xffU);
  }
  return out;
}

using Accounts = std::map<std::string, Account>;

// The accounts of a pull secret by registry; nothing with the reason. Its values become secrets.
std::optional<Accounts> read_accounts(const yaml::Node& reference, Asking& asking,
                                      std::string& why) {
  yaml::Arena arena;
  diag::Sink sink;
  yaml::Node from = reference;
  if (!asking.pull_secret_file.empty()) {
    yaml::MapBuilder file;
    file.set(arena, "file", arena.string(asking.pull_secret_file));
    from = file.build(arena);
  }
  if (!from.is_map()) {
    why = "there is no pull secret";
    return std::nullopt;
  }
  // A path of the command line is relative to where we are.
  const std::string directory = asking.pull_secret_file.empty() ? asking.directory : std::string();
  const std::optional<std::string> text = secrets::read_secret(from, directory, sink);
  if (!text) {
    why = sink.all().empty() ? "it cannot be read" : sink.all().front().message;
    return std::nullopt;
  }
  std::string fault;
  const std::optional<yaml::Node> tree = yaml::read_json(*text, arena, fault);
  if (!tree || !tree->get("auths").is_map()) {
    why = tree ? "the pull secret has no `auths`" : "the pull secret is no JSON: it " + fault;
    return std::nullopt;
  }
  Accounts accounts;
  for (const yaml::Entry& entry : tree->get("auths").entries()) {
    const std::string encoded(entry.value.get("auth").as_string());
    const std::string pair = decoded(encoded);
    const std::size_t colon = pair.find(':');
    Account account;
    if (colon != std::string::npos) account = {pair.substr(0, colon), pair.substr(colon + 1)};
    for (const std::string& secret : {encoded, pair, account.password}) asking.secrets.add(secret);
    accounts.emplace(entry.key.as_string(), std::move(account));
  }
  return accounts;
}

// The account for a registry: that of its longest path, as the runtime on nodes chooses it.
const Account* account_for(const Accounts& accounts, const std::string& host,
                           const std::string& repository) {
  std::string place = repository.empty() ? host : host + "/" + repository;
  while (true) {
    const auto found = accounts.find(place);
    if (found != accounts.end()) return &found->second;
    const std::size_t slash = place.rfind('/');
    if (slash == std::string::npos) return nullptr;
    place.resize(slash);
  }
}

// Parameters of a challenge: `Bearer realm="https://...",service="..."`.
std::map<std::string, std::string> parameters_of(std::string_view challenge) {
  std::map<std::string, std::string> out;
  const std::size_t space = challenge.find(' ');
  if (space == std::string_view::npos) return out;
  challenge.remove_prefix(space);
  while (true) {
    const std::size_t begin = challenge.find_first_not_of(" ,");
    const std::size_t equal = challenge.find('=');
    if (begin == std::string_view::npos || equal == std::string_view::npos) return out;
    const std::string name = base::to_lower(challenge.substr(begin, equal - begin));
    challenge.remove_prefix(equal + 1);
    const bool quoted = challenge.starts_with('"');
    if (quoted) challenge.remove_prefix(1);
    const std::size_t end = std::min(challenge.find(quoted ? '"' : ','), challenge.size());
    out[name] = challenge.substr(0, end);
    challenge.remove_prefix(std::min(end + 1, challenge.size()));
  }
}

// One registry, asked as the runtime on a node would.
class Registry {
 public:
  Registry(const RegistryQuestion& question, const Account* account, Asking& asking,
           net::Deadline deadline, Answer& out)
      : question_(question), account_(account), asking_(asking), deadline_(deadline), out_(out) {
    const std::size_t at = question.image.find('@');
    const std::size_t colon = question.image.rfind(':', at);
    const std::size_t cut = at != std::string::npos ? at : colon;
    repository_ = question.image.substr(0, cut);
    if (cut != std::string::npos) reference_ = question.image.substr(cut + 1);
  }

  void run() {
    const net::WebAnswer ping = get("https://" + question_.host + "/v2/");
    out_.set_number("ping", ping.status);
    if (ping.status == 0) {
      out_.set_flag("certificate", ping.certificate);
      out_.unanswered(ping.why);
      return;
    }
    out_.answered();
    const auto challenge = ping.headers.find("www-authenticate");
    if (ping.status == kUnauthorized && challenge != ping.headers.end() &&
        !log_in(challenge->second)) {
      return;
    }
    if (ping.status != kUnauthorized && ping.status != kOk) {
      outcome("no-registry");
    } else if (ping.status == kUnauthorized && challenge == ping.headers.end()) {
      outcome("no-registry");
    } else if (reference_.empty()) {
      outcome("accepted");
    } else {
      look_for_image();
    }
  }

 private:
  net::WebAnswer get(const std::string& url, bool with_account = false, bool head = false,
                     bool wants_manifest = false) {
    net::WebRequest request;
    request.url = url;
    request.head = head;
    request.authorities = question_.authorities;
    request.deadline = deadline_;
    if (wants_manifest) request.headers.emplace_back(kManifests);
    if (!token_.empty() && !with_account) {
      request.headers.push_back("Authorization: Bearer " + token_);
    }
    if (with_account && account_ != nullptr) {
      request.user = account_->user;
      request.password = account_->password;
    }
    return net::ask_web(request);
  }

  void outcome(std::string_view text) { out_.set("outcome", text); }

  // False when there is no use in going on; the outcome is set then.
  bool log_in(const std::string& challenge) {
    basic_ = base::to_lower(challenge).starts_with("basic");
    if (basic_) {
      const net::WebAnswer again = get("https://" + question_.host + "/v2/", true);
      out_.set_number("token", again.status);
      return took_account(again);
    }
    const std::map<std::string, std::string> found = parameters_of(challenge);
    const auto realm = found.find("realm");
    // The account goes nowhere but to a server that is known by its certificate.
    if (realm == found.end() || !realm->second.starts_with("https://")) {
      outcome("no-registry");
      return false;
    }
    std::string url = realm->second + (realm->second.find('?') == std::string::npos ? "?" : "&");
    const auto service = found.find("service");
    if (service != found.end()) url += "service=" + base::percent_encoded(service->second) + "&";
    if (!repository_.empty())
      url += "scope=" + base::percent_encoded("repository:" + repository_ + ":pull");
    if (url.ends_with('&') || url.ends_with('?')) url.pop_back();
    const net::WebAnswer given = get(url, true);
    out_.set_number("token", given.status);
    if (!took_account(given)) return false;
    yaml::Arena arena;
    std::string fault;
    const std::optional<yaml::Node> tree = yaml::read_json(given.body, arena, fault);
    for (const char* name : {"token", "access_token"}) {
      if (tree && tree->get(name).is_string()) token_ = tree->get(name).as_string();
    }
    asking_.secrets.add(token_);
    return true;
  }

  bool took_account(const net::WebAnswer& answer) {
    if (answer.status == kOk) return true;
    if (answer.status == 0) {
      out_.unanswered(answer.why);
    } else if (answer.status == kUnauthorized || answer.status == kForbidden) {
      outcome(account_ == nullptr ? "no-account" : "refused");
    } else {
      outcome("no-registry");
    }
    return false;
  }

  void look_for_image() {
    const net::WebAnswer found =
        get("https://" + question_.host + "/v2/" + repository_ + "/manifests/" + reference_, basic_,
            true, true);
    out_.set_number("manifest", found.status);
    if (found.status == 0) {
      out_.unanswered(found.why);
    } else if (found.status == kOk) {
      outcome("present");
    } else if (found.status == kNotFound) {
      outcome("missing");
    } else if (found.status == kUnauthorized || found.status == kForbidden) {
      outcome(account_ == nullptr ? "no-account" : "refused");
    } else {
      outcome("no-registry");
    }
  }

  const RegistryQuestion& question_;
  const Account* account_;
  Asking& asking_;
  net::Deadline deadline_;
  Answer& out_;
  std::string repository_;
  std::string reference_;  // tag or digest
  std::string token_;
  bool basic_ = false;
};

}  // namespace

Answer ask(const AccountsQuestion& question, Asking& asking, net::Deadline /*deadline*/) {
  Answer out;
  std::string why;
  const std::optional<Accounts> accounts = read_accounts(question.credentials, asking, why);
  if (!accounts) {
    out.unanswered(why);
    return out;
  }
  std::vector<yaml::Node> names;
  std::vector<yaml::Node> empty;
  for (const auto& [name, account] : *accounts) {
    names.push_back(out.arena().string(name));
    if (account.user.empty()) empty.push_back(names.back());
  }
  out.set("registries", out.arena().list(names));
  out.set("unreadable", out.arena().list(empty));
  out.answered();
  return out;
}

Answer ask(const RegistryQuestion& question, Asking& asking, net::Deadline deadline) {
  Answer out;
  out.set("host", question.host);
  out.set("image", question.image);
  std::string why;
  std::optional<Accounts> accounts = read_accounts(question.credentials, asking, why);
  if (!accounts) accounts.emplace();  // some registries need no account
  const std::string repository = question.image.substr(0, question.image.find_first_of(":@"));
  Registry(question, account_for(*accounts, question.host, repository), asking, deadline, out)
      .run();
  return out;
}

}  // namespace gpuctl::doctor
