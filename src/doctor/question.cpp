#include "doctor/question.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "base/text.hpp"

namespace gpuctl::doctor {

namespace {

struct Field {
  std::string_view name;
  bool required = false;
};

// Reads the fields of one question; remembers the first that is wrong.
class Reader {
 public:
  Reader(const yaml::Node& written, std::string& why) : written_(written), why_(why) {}

  std::string text(std::string_view name, std::string otherwise = {}) {
    const yaml::Node* value = written_.find(name);
    if (value == nullptr || value->is_null()) return otherwise;
    if (!value->is_string()) fault(name, "a text");
    return std::string(value->as_string());
  }

  int port(std::string_view name, int otherwise) {
    const yaml::Node* value = written_.find(name);
    return value == nullptr || value->is_null() ? otherwise : port_in(*value, name);
  }

  std::vector<int> ports(std::string_view name) {
    std::vector<int> out;
    for (const yaml::Node& item : written_.get(name).items()) out.push_back(port_in(item, name));
    return out;
  }

  std::vector<std::string> texts(std::string_view name) {
    std::vector<std::string> out;
    const yaml::Node value = written_.get(name);
    if (!value.is_null() && !value.is_list()) fault(name, "a list of texts");
    for (const yaml::Node& item : value.items()) {
      if (!item.is_string()) fault(name, "a list of texts");
      out.emplace_back(item.as_string());
    }
    return out;
  }

  yaml::Node node(std::string_view name) { return written_.get(name); }

  std::vector<std::pair<std::string, yaml::Node>> entries(std::string_view name) {
    std::vector<std::pair<std::string, yaml::Node>> out;
    const yaml::Node value = written_.get(name);
    if (!value.is_null() && !value.is_map()) fault(name, "a map");
    for (const yaml::Entry& entry : value.entries()) {
      out.emplace_back(entry.key.as_string(), entry.value);
    }
    return out;
  }

  void fault(std::string_view name, const std::string& wanted) {
    if (why_.empty()) why_ = "`" + std::string(name) + "` is not " + wanted;
  }

 private:
  int port_in(const yaml::Node& value, std::string_view name) {
    const std::int64_t number = value.as_integer();
    if (!value.is_integer() || number < 1 || number > kMostPort) fault(name, "a port");
    return static_cast<int>(std::clamp<std::int64_t>(number, 1, kMostPort));
  }

  const yaml::Node& written_;
  std::string& why_;
};

Ask read_names(Reader& in) {
  NameQuestion out{in.text("name"), net::RecordType::a, in.text("by", "system")};
  const auto type = net::record_type(in.text("type", "A"));
  if (type) {
    out.type = *type;
  } else {
    in.fault("type", "A, AAAA, NS, PTR or SOA");
  }
  return out;
}

Ask read_program(Reader& in) {
  ProgramQuestion out;
  out.role = in.text("role");
  out.arguments = in.texts("arguments");
  for (const auto& [name, value] : in.entries("environment")) {
    if (!value.is_string()) in.fault("environment", "a map of texts");
    out.environment.emplace_back(name, value.as_string());
  }
  out.secrets = in.entries("secrets");
  out.input = in.text("input");
  const std::string form = in.text("form", "json");
  if (form != "json" && form != "text") in.fault("form", "`json` or `text`");
  out.json = form == "json";
  return out;
}

// A kind: its fields besides `kind`, `about` and `tag`, and how they are read.
struct Kind {
  std::string_view name;
  std::vector<Field> fields;
  Ask (*read)(Reader& in);
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"names", {{"name", true}, {"type"}, {"by"}}, read_names},
      {"tls",
       {{"host", true}, {"port"}, {"authorities"}},
       [](Reader& in) -> Ask {
         return TlsQuestion{in.text("host"), in.port("port", 443), in.text("authorities")};
       }},
      {"web",
       {{"url", true}, {"proxy"}, {"authorities"}},
       [](Reader& in) -> Ask {
         return WebQuestion{in.text("url"), in.text("proxy"), in.text("authorities")};
       }},
      {"accounts",
       {{"credentials"}},
       [](Reader& in) -> Ask { return AccountsQuestion{in.node("credentials")}; }},
      {"registry",
       {{"host", true}, {"image"}, {"credentials"}, {"authorities"}},
       [](Reader& in) -> Ask {
         return RegistryQuestion{in.text("host"), in.text("image"), in.node("credentials"),
                                 in.text("authorities")};
       }},
      {"address",
       {{"address", true}, {"ports", true}},
       [](Reader& in) -> Ask {
         return AddressQuestion{in.text("address"), in.ports("ports")};
       }},
      {"clock",
       {{"server", true}, {"port"}},
       [](Reader& in) -> Ask {
         return ClockQuestion{in.text("server"), in.port("port", 123)};
       }},
      {"proxy",
       {{"proxy", true}, {"host", true}, {"port"}, {"authorities"}},
       [](Reader& in) -> Ask {
         return ProxyQuestion{in.text("proxy"), in.text("host"), in.port("port", 443),
                              in.text("authorities")};
       }},
      {"git",
       {{"address", true}},
       [](Reader& in) -> Ask { return GitQuestion{in.text("address")}; }},
      {"program",
       {{"role", true}, {"arguments"}, {"environment"}, {"secrets"}, {"input"}, {"form"}},
       read_program},
      {"key",
       {{"reference", true}},
       [](Reader& in) -> Ask { return KeyQuestion{in.node("reference")}; }},
      {"directory",
       {{"path", true}},
       [](Reader& in) -> Ask { return DirectoryQuestion{in.text("path")}; }},
  };
  return all;
}

const Kind* kind_named(std::string_view name) {
  const auto found = std::find_if(kinds().begin(), kinds().end(),
                                  [&](const Kind& kind) { return kind.name == name; });
  return found == kinds().end() ? nullptr : &*found;
}

std::string unknown_kind(const yaml::Node& written) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.emplace_back(kind.name);
  return "`kind` of a question is one of " + base::join(names, ", ") + ", not `" +
         std::string(written.get("kind").as_string()) + "`";
}

bool is_known(const Kind& kind, std::string_view name) {
  if (name == "kind" || name == "about" || name == "tag") return true;
  return std::any_of(kind.fields.begin(), kind.fields.end(),
                     [&](const Field& field) { return field.name == name; });
}

}  // namespace

std::string fault_in(const yaml::Node& written) {
  const Kind* kind = kind_named(written.get("kind").as_string());
  if (kind == nullptr) return unknown_kind(written);
  for (const yaml::Entry& entry : written.entries()) {
    const std::string_view name = entry.key.as_string();
    if (!name.starts_with('$') && !is_known(*kind, name)) {
      return "a question of kind `" + std::string(kind->name) + "` has no field `" +
             std::string(name) + "`";
    }
  }
  for (const Field& field : kind->fields) {
    if (!field.required || written.find(field.name) != nullptr) continue;
    return "a question of kind `" + std::string(kind->name) + "` needs the field `" +
           std::string(field.name) + "`";
  }
  return {};
}

std::optional<Question> read_question(const yaml::Node& written, std::string& why) {
  why = fault_in(written);
  if (!why.empty()) return std::nullopt;
  Reader reader(written, why);
  Question out;
  out.about = reader.text("about");
  out.tag = reader.node("tag");
  out.ask = kind_named(written.get("kind").as_string())->read(reader);
  if (!why.empty()) return std::nullopt;
  return out;
}

}  // namespace gpuctl::doctor
