#include "pipeline/encryption.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/date.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "cel/encoding.hpp"
#include "pipeline/codes.hpp"
#include "pipeline/version.hpp"
#include "secrets/ciphertext.hpp"
#include "secrets/codes.hpp"
#include "secrets/fields.hpp"
#include "secrets/seal.hpp"
#include "secrets/sops.hpp"
#include "yaml/packed.hpp"
#include "yaml/read.hpp"

namespace gpuctl::pipeline {

namespace {

constexpr std::chrono::days kSoon{30};
constexpr std::string_view kSealedVersion = "bitnami.com/v1alpha1";
constexpr std::string_view kScopePrefix = "sealedsecrets.bitnami.com/";

yaml::Node settings_of(const derive::Derived& derived) {
  return derived.cluster.get({"gitops", "encryption"});
}

const render::Held* held_by(const render::Document& document, const yaml::Node& value) {
  const std::string_view text = value.as_string();
  const auto found = std::find_if(document.held.begin(), document.held.end(),
                                  [&](const render::Held& one) { return one.stand_in == text; });
  return found == document.held.end() || text.empty() ? nullptr : &*found;
}

// The tree with `value_of` in place of each text that it gives a value for.
template <typename ValueOf>
yaml::Node replaced(const yaml::Node& node, const ValueOf& value_of, yaml::Arena& arena) {
  if (node.is_list()) {
    std::vector<yaml::Node> items;
    for (const yaml::Node& item : node.items()) items.push_back(replaced(item, value_of, arena));
    return arena.list(items, node.origin());
  }
  if (node.is_map()) {
    std::vector<yaml::Entry> entries;
    for (const yaml::Entry& entry : node.entries()) {
      entries.push_back({entry.key, replaced(entry.value, value_of, arena)});
    }
    return arena.map(entries, node.origin());
  }
  return value_of(node);
}

// One cluster's way of encrypting.
class Encryption {
 public:
  Encryption(const Opened& opened, const Loaded& loaded, const derive::Derived& derived,
             std::string directory, const Request& request, yaml::Context context)
      : opened_(opened),
        loaded_(loaded),
        derived_(derived),
        settings_(settings_of(derived)),
        directory_(std::move(directory)),
        request_(request),
        context_(context),
        sealed_(settings_.get("method").as_string() == "sealedSecrets") {
    for (const yaml::Node& one : settings_.get("recipients").items()) {
      recipients_.emplace_back(one.as_string());
    }
    const std::string_view scope = settings_.get("scope").as_string();
    if (scope == "namespace-wide") scope_ = secrets::SealingScope::space;
    if (scope == "cluster-wide") scope_ = secrets::SealingScope::cluster;
  }

  // False after a diagnostic about the certificate.
  bool read_certificate() {
    if (!sealed_) return true;
    auto read = secrets::SealingKey::read(settings_.get("certificate").as_string());
    if (const std::string* fault = std::get_if<std::string>(&read)) {
      context_.sink
          .error(secrets::kUnusableCertificate, certificate_at(),
                 "the certificate " + *fault + ": nothing can be sealed for it")
          .expect("the certificate of the controller in PEM, with an RSA key of 2048 bits or more")
          .suggest("`kubeseal --fetch-cert > FILE` gets it from the cluster");
      return false;
    }
    key_ = std::get<secrets::SealingKey>(std::move(read));
    return true;
  }

  bool operator()(render::Document& document) {
    if (document.body.get("kind").as_string() != "Secret") {
      context_.sink
          .error(kNoSecretObject, place_of(document),
                 "a " + std::string(document.body.get("kind").as_string()) +
                     " would hold this secret, and only a Secret can be encrypted")
          .expect("`existing`, with an object that you make in the cluster");
      return false;
    }
    return sealed_ ? seal(document) : encrypt_whole(document);
  }

 private:
  diag::Origin certificate_at() const { return settings_.get("certificate").origin(); }

  // What is committed at a path, if a run of ours encrypted it for this very basis and nobody
  // changed it since; otherwise what a branch has that is made anew.
  std::optional<yaml::Node> committed(const std::string& path, const std::string& basis) const {
    if (request_.refresh_secrets) return std::nullopt;
    if (request_.earlier && loaded_.lock() != nullptr) {
      auto found = read_back(path, basis, *loaded_.lock(), request_.earlier);
      if (found) return found;
    }
    if (!request_.proposed) return std::nullopt;
    const std::optional<plan::Lock> lock = proposed_lock();
    return lock ? read_back(path, basis, *lock, request_.proposed) : std::nullopt;
  }

  using Read = std::function<std::optional<std::string>(const std::string& path)>;

  std::optional<yaml::Node> read_back(const std::string& path, const std::string& basis,
                                      const plan::Lock& lock, const Read& read) const {
    const auto row = lock.files.find(path);
    if (row == lock.files.end() || row->second.encrypted != basis) return std::nullopt;
    const std::optional<std::string> text = read(in_output(path));
    if (!text || base::sha256_hex(*text) != row->second.sha256) return std::nullopt;
    diag::Sources apart;
    diag::Sink unread;
    const auto node = yaml::read(apart.add_file(path, *text), apart, context_.arena, unread);
    if (!node || !node->is_map()) return std::nullopt;
    return yaml::without_origins(*node, context_.arena);
  }

  std::optional<plan::Lock> proposed_lock() const {
    std::optional<std::string> text = request_.proposed(in_output(plan::kLockFile));
    if (!text) return std::nullopt;
    diag::Sources apart;
    diag::Sink unread;
    const diag::FileId file = apart.add_file("lock", std::move(*text));
    return plan::read_lock(file, opened_.blueprint.name, kVersion, {apart, context_.arena, unread});
  }

  std::string in_output(std::string_view path) const {
    return "clusters/" + opened_.blueprint.stage + "/" + opened_.blueprint.name + "/" +
           std::string(path);
  }

  // The value behind a stand-in. It is concealed in all that is said from now on.
  std::optional<std::string> value_of(const render::Held& held) const {
    diag::Sink findings;
    std::optional<std::string> value = resolve_secret(held.reference, held.checked_as, directory_,
                                                      *opened_.compiled, context_.into(findings));
    for (diag::Diagnostic finding : findings.all()) {
      if (finding.severity == diag::Severity::error) {
        finding.note("it has to be encrypted: what is committed is absent, or of other keys");
      }
      context_.sink.add(std::move(finding));
    }
    if (!value) return value;
    for (const std::string_view line : base::split(*value, '\n')) context_.sources.conceal(line);
    return value;
  }

  // The document with its secrets in place, as its readers take it.
  std::optional<yaml::Node> in_clear(const render::Document& document) const {
    bool complete = true;
    render::Document clear = document;
    clear.body = replaced(
        document.body,
        [&](const yaml::Node& node) {
          const render::Held* held = held_by(document, node);
          if (held == nullptr || !complete) return node;
          const std::optional<std::string> value = value_of(*held);
          complete = value.has_value();
          return value ? context_.arena.string(*value, node.origin()) : node;
        },
        context_.arena);
    if (!complete) return std::nullopt;
    // Messages about a value that breaks its schema would quote it.
    diag::Sink hidden;
    verify({clear}, *opened_.compiled, cluster_of(opened_, loaded_, derived_), false, request_,
           context_.into(hidden));
    if (!hidden.has_errors()) return clear.body;
    context_.sink
        .error(secrets::kSecretUnavailable, place_of(document),
               "Secret `" + std::string(document.body.get({"metadata", "name"}).as_string()) +
                   "` does not pass its checks once its values are in place")
        .suggest("check the referenced secrets");
    return std::nullopt;
  }

  static diag::Origin place_of(const render::Document& document) {
    return document.held.empty() ? document.origin
                                 : secrets::place_of_secret(document.held.front().reference);
  }

  // The references behind the stand-ins in a value, so that another one is another basis.
  void add_references(const render::Document& document, const yaml::Node& value,
                      std::string& basis) const {
    for (const yaml::Node& item : value.items()) add_references(document, item, basis);
    for (const yaml::Entry& entry : value.entries()) add_references(document, entry.value, basis);
    const render::Held* held = held_by(document, value);
    if (held == nullptr) return;
    yaml::pack_content(basis, held->reference);
    yaml::pack_text(basis, held->checked_as);
  }

  // The document itself with encrypted values. All of it is authenticated: nothing may change it.
  bool encrypt_whole(render::Document& document) const {
    std::string basis = "sops";
    std::vector<std::string> sorted = recipients_;
    std::sort(sorted.begin(), sorted.end());
    for (const std::string& recipient : sorted) yaml::pack_text(basis, recipient);
    yaml::pack_content(basis, document.body);
    add_references(document, document.body, basis);
    document.encrypted = base::sha256_hex(basis);
    document.authentic = true;
    const auto kept = committed(render::path_of(document), document.encrypted);
    if (kept && secrets::is_sops_object(*kept)) {
      document.body = *kept;
      return true;
    }
    if (!request_.encrypt) {
      document.pending = true;
      return true;
    }
    const std::optional<yaml::Node> clear = in_clear(document);
    if (!clear) return false;
    const std::optional<yaml::Node> made =
        secrets::encrypt_with_sops(*clear, recipients_, place_of(document), context_);
    if (made) document.body = *made;
    return made.has_value();
  }

  // Values of the Secret by key: what is sealed, and what is no secret and stays readable.
  struct Values {
    std::vector<yaml::Entry> secret;
    std::vector<yaml::Entry> open;
  };

  Values values_of(const render::Document& document) const {
    Values out;
    for (const char* field : {"data", "stringData"}) {
      const bool encoded = std::string_view(field) == "data";
      for (const yaml::Entry& entry : document.body.get(field).entries()) {
        // The controller takes what is open as a template.
        const bool open = !encoded && held_by(document, entry.value) == nullptr &&
                          entry.value.as_string().find("{{") == std::string_view::npos;
        (open ? out.open : out.secret).push_back(entry);
      }
    }
    return out;
  }

  // The object that the controller makes the Secret of.
  yaml::Node sealed_object(const render::Document& document, const Values& values,
                           std::span<const yaml::Entry> encrypted) const {
    yaml::Arena& arena = context_.arena;
    yaml::MapBuilder inner(document.body.get("metadata"));
    yaml::MapBuilder annotations(inner.find("annotations") == nullptr ? yaml::Node()
                                                                      : *inner.find("annotations"));
    // Those that a Secret in Git carries; this one is made in the cluster.
    for (const yaml::Entry& entry : document.kind->annotations.entries()) {
      annotations.remove(entry.key.as_string());
    }
    yaml::MapBuilder outer;
    for (const char* field : {"name", "namespace"}) {
      outer.set(arena, field, document.body.get({"metadata", field}));
    }
    if (scope_ != secrets::SealingScope::strict) {
      const std::string key =
          std::string(kScopePrefix) + std::string(settings_.get("scope").as_string());
      const std::vector<yaml::Entry> wide = {arena.entry(key, arena.string("true"))};
      outer.set(arena, "annotations", arena.map(wide));
      annotations.set(arena, key, arena.string("true"));
    }
    inner.remove("annotations");
    if (!annotations.empty()) inner.set(arena, "annotations", annotations.build(arena));
    yaml::MapBuilder made;
    made.set(arena, "metadata", inner.build(arena));
    for (const char* field : {"type", "immutable"}) {
      if (const yaml::Node* value = document.body.find(field)) made.set(arena, field, *value);
    }
    if (!values.open.empty()) made.set(arena, "data", arena.map(values.open));
    yaml::MapBuilder spec;
    spec.set(arena, "encryptedData", arena.map(encrypted));
    spec.set(arena, "template", made.build(arena));
    yaml::MapBuilder out;
    out.set(arena, "apiVersion", arena.string(kSealedVersion));
    out.set(arena, "kind", arena.string("SealedSecret"));
    out.set(arena, "metadata", outer.build(arena));
    out.set(arena, "spec", spec.build(arena));
    return out.build(arena);
  }

  std::string basis_of(const render::Document& document, const Values& values) const {
    std::string basis = "sealed";
    yaml::pack_text(basis, key_->fingerprint());
    yaml::pack_text(basis, secrets::sealing_label(
                               scope_, document.body.get({"metadata", "namespace"}).as_string(),
                               document.body.get({"metadata", "name"}).as_string()));
    for (const yaml::Entry& entry : values.secret) {
      yaml::pack_text(basis, entry.key.as_string());
      yaml::pack_content(basis, entry.value);
      add_references(document, entry.value, basis);
    }
    return base::sha256_hex(basis);
  }

  // What is committed, when it has all values and no others.
  std::optional<std::vector<yaml::Entry>> kept_values(const render::Document& document,
                                                      const Values& values) const {
    const auto kept = committed(render::path_of(document), document.encrypted);
    const yaml::Node there = kept ? kept->get({"spec", "encryptedData"}) : yaml::Node();
    if (there.size() != values.secret.size()) return std::nullopt;
    std::vector<yaml::Entry> out;
    for (const yaml::Entry& entry : values.secret) {
      const yaml::Node value = there.get(entry.key.as_string());
      if (!secrets::is_sealed_value(value.as_string())) return std::nullopt;
      out.push_back({entry.key, value});
    }
    return out;
  }

  // Says when the certificate is not to be used; false when it cannot be.
  bool check_dates() {
    if (dates_checked_) return dates_good_;
    dates_checked_ = true;
    const std::optional<std::chrono::sys_days> today = base::parse_date(request_.date);
    if (!today) return true;
    if (key_->end() < *today || key_->begin() > *today + std::chrono::days(1)) {
      dates_good_ = false;
      context_.sink
          .error(secrets::kEndedCertificate, certificate_at(),
                 key_->end() < *today
                     ? "the certificate ended on " + base::day_text(key_->end())
                     : "the certificate does not hold before " + base::day_text(key_->begin()))
          .label("what is sealed now may be for a key that nobody holds")
          .suggest("`kubeseal --fetch-cert > FILE` gets the one of today from the cluster");
    } else if (key_->end() < *today + kSoon) {
      context_.sink
          .warning(secrets::kEndingCertificate, certificate_at(),
                   "the certificate ends on " + base::day_text(key_->end()))
          .label("nothing is sealed for it after that day")
          .suggest("`kubeseal --fetch-cert > FILE` gets the one of today from the cluster");
    }
    return dates_good_;
  }

  bool seal(render::Document& document) {
    const Values values = values_of(document);
    document.encrypted = basis_of(document, values);
    const yaml::Node shell = sealed_object(document, values, values.secret);
    render::Document sealed = document;
    sealed.body = shell;
    std::optional<std::vector<yaml::Entry>> encrypted = kept_values(sealed, values);
    if (!encrypted) {
      if (!check_dates()) return false;
      document.pending = !request_.encrypt;
      encrypted = request_.encrypt ? sealed_values(document) : values.secret;
    }
    if (!encrypted) return false;
    document.body = sealed_object(document, values, *encrypted);
    document.body_of = nullptr;
    return true;
  }

  std::optional<std::vector<yaml::Entry>> sealed_values(const render::Document& document) const {
    const std::optional<yaml::Node> clear = in_clear(document);
    if (!clear) return std::nullopt;
    const std::string label =
        secrets::sealing_label(scope_, document.body.get({"metadata", "namespace"}).as_string(),
                               document.body.get({"metadata", "name"}).as_string());
    std::vector<yaml::Entry> out;
    for (const yaml::Entry& entry : values_of(document).secret) {
      const std::string_view key = entry.key.as_string();
      const yaml::Node* encoded = clear->get("data").find(key);
      const std::optional<std::string> value =
          encoded != nullptr ? cel::base64_decode(encoded->as_string())
                             : std::string(clear->get({"stringData", key}).as_string());
      const std::optional<std::string> made = value ? key_->seal(*value, label) : std::nullopt;
      if (!made) {
        context_.sink
            .error(secrets::kNotSealed, place_of(document),
                   "the value of `" + std::string(key) + "` cannot be sealed")
            .label(value ? "OpenSSL failed" : "is no base64");
        return std::nullopt;
      }
      out.push_back({entry.key, context_.arena.string(*made)});
    }
    return out;
  }

  const Opened& opened_;
  const Loaded& loaded_;
  const derive::Derived& derived_;
  yaml::Node settings_;
  std::string directory_;
  const Request& request_;
  yaml::Context context_;
  bool sealed_;
  std::vector<std::string> recipients_;
  secrets::SealingScope scope_ = secrets::SealingScope::strict;
  std::optional<secrets::SealingKey> key_;
  bool dates_checked_ = false;
  bool dates_good_ = true;
};

}  // namespace

bool encrypts(const derive::Derived& derived) {
  return settings_of(derived).is_map();
}

render::Encrypt encryption(const Opened& opened, const Loaded& loaded,
                           const derive::Derived& derived, const std::string& directory,
                           const Request& request, yaml::Context context) {
  if (!encrypts(derived)) return {};
  const auto made =
      std::make_shared<Encryption>(opened, loaded, derived, directory, request, context);
  if (!made->read_certificate()) return {};
  return [made](render::Document& document) { return (*made)(document); };
}

}  // namespace gpuctl::pipeline
