#include "cel/store.hpp"

#include <algorithm>

#include "cel/code.hpp"
#include "cel/functions.hpp"
#include "cel/opaque.hpp"
#include "yaml/packed.hpp"

namespace gpuctl::cel {

namespace {

enum Flag : std::uint8_t {
  kReal = 1U << 0U,
  kTransient = 1U << 1U,
  kFiltered = 1U << 2U,
  kOptional = 1U << 3U,
  kInspect = 1U << 4U,
  kWiden = 1U << 5U,
  kOptionalEntry = 1U << 6U,
  kPattern = 1U << 7U,
};

enum class ConstantKind : std::uint8_t { node, omit, type };

class ProgramWriter {
 public:
  explicit ProgramWriter(const Program& program) : program_(program) {}

  std::optional<std::string> write() {
    out_ += program_.builds ? '\1' : '\0';
    yaml::pack_number(out_, program_.variable_count);
    yaml::pack_number(out_, program_.local_count);
    return code(program_.code) ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  // False when it holds what bytes cannot.
  bool code(const Code& code) {
    const auto flag = [](bool set, unsigned bit) { return set ? bit : 0U; };
    out_ += static_cast<char>(code.op);
    out_ += static_cast<char>(code.macro);
    out_ += static_cast<char>(
        flag(code.real, kReal) | flag(code.transient, kTransient) | flag(code.filtered, kFiltered) |
        flag(code.optional, kOptional) | flag(code.inspect, kInspect) | flag(code.widen, kWiden) |
        flag(code.optional_entry, kOptionalEntry) | flag(code.pattern != nullptr, kPattern));
    yaml::pack_number(out_, code.variables);
    yaml::pack_number(out_, code.slot);
    yaml::pack_number(out_, code.begin);
    yaml::pack_number(out_, code.end);
    yaml::pack_number(out_, code.cost);
    yaml::pack_text(out_, code.text);
    if (code.op == Op::constant && !constant(code.constant)) return false;
    if (code.pattern != nullptr) yaml::pack_text(out_, code.pattern->text());
    yaml::pack_number(out_, code.candidates.size());
    for (const Function* function : code.candidates) {
      const auto* overloads = program_.functions->table().find(function->name, function->method);
      if (overloads == nullptr) return false;
      const auto found = std::find_if(overloads->begin(), overloads->end(),
                                      [&](const auto& other) { return other.get() == function; });
      if (found == overloads->end()) return false;
      out_ += function->method ? '\1' : '\0';
      yaml::pack_text(out_, function->name);
      yaml::pack_number(out_, static_cast<std::uint64_t>(found - overloads->begin()));
    }
    yaml::pack_number(out_, code.args.size());
    return std::all_of(code.args.begin(), code.args.end(),
                       [&](const Code& arg) { return this->code(arg); });
  }

  bool constant(const Value& value) {
    if (value.is_node()) {
      out_ += static_cast<char>(ConstantKind::node);
      yaml::pack(out_, value.node());
    } else if (value.is_omit()) {
      out_ += static_cast<char>(ConstantKind::omit);
    } else if (const auto* type = dynamic_cast<const TypeValue*>(value.opaque())) {
      out_ += static_cast<char>(ConstantKind::type);
      yaml::pack_text(out_, type->name);
    } else {
      return false;
    }
    return true;
  }

  const Program& program_;
  std::string out_;
};

class ProgramReader {
 public:
  ProgramReader(std::string_view bytes, Program& program) : bytes_(bytes), program_(program) {}

  void read() {
    program_.builds = bytes_.byte() != 0;
    program_.variable_count = bytes_.number();
    program_.local_count = static_cast<std::uint32_t>(bytes_.number());
    code(program_.code);
  }

 private:
  std::uint32_t number() { return static_cast<std::uint32_t>(bytes_.number()); }

  void code(Code& out) {
    out.op = static_cast<Op>(bytes_.byte());
    out.macro = static_cast<Macro>(bytes_.byte());
    const std::uint8_t flags = bytes_.byte();
    out.real = (flags & kReal) != 0;
    out.transient = (flags & kTransient) != 0;
    out.filtered = (flags & kFiltered) != 0;
    out.optional = (flags & kOptional) != 0;
    out.inspect = (flags & kInspect) != 0;
    out.widen = (flags & kWiden) != 0;
    out.optional_entry = (flags & kOptionalEntry) != 0;
    out.variables = static_cast<std::uint8_t>(bytes_.number());
    out.slot = number();
    out.begin = number();
    out.end = number();
    out.cost = bytes_.number();
    out.text = bytes_.text();
    if (out.op == Op::constant) out.constant = constant();
    if ((flags & kPattern) != 0) {
      out.pattern = std::make_shared<const Pattern>(bytes_.text());
    }
    out.candidates.resize(bytes_.number());
    for (const Function*& function : out.candidates) {
      const bool method = bytes_.byte() != 0;
      const auto* overloads = program_.functions->table().find(bytes_.text(), method);
      function = overloads->at(bytes_.number()).get();
    }
    out.args.resize(bytes_.number());
    for (Code& arg : out.args) code(arg);
  }

  Value constant() {
    switch (static_cast<ConstantKind>(bytes_.byte())) {
      case ConstantKind::node:
        return bytes_.tree(program_.constants);
      case ConstantKind::omit:
        return Value::omit();
      case ConstantKind::type:
        return Value(std::make_shared<const TypeValue>(std::string(bytes_.text())));
    }
    return {};
  }

  yaml::Unpacker bytes_;
  Program& program_;
};

std::string_view key_in(std::string_view record) {
  return yaml::Unpacker(record).text();
}

}  // namespace

std::string Store::key_of(std::string_view text, const Environment& environment) {
  std::string key;
  for (const Variable& variable : environment.variables) {
    key += variable.name;
    key += ',';
  }
  key += environment.container;
  key += '\n';
  key += text;
  return key;
}

void Store::record(const Environment& environment, const Program& program) {
  if (opened_) return;
  std::optional<std::string> bytes = ProgramWriter(program).write();
  const auto [found, added] = recorded_.try_emplace(key_of(program.text, environment), bytes);
  if (!added && found->second != bytes) found->second.reset();
}

std::string Store::packed() const {
  std::string out;
  for (const auto& [key, bytes] : recorded_) {
    if (!bytes) continue;
    std::string record;
    yaml::pack_text(record, key);
    record += *bytes;
    yaml::pack_text(out, record);
  }
  return out;
}

std::shared_ptr<Store> Store::open(std::string_view bytes) {
  auto store = std::make_shared<Store>();
  store->opened_ = true;
  yaml::Unpacker all(bytes);
  while (!all.at_end()) store->records_.push_back(all.text());
  return store;
}

std::shared_ptr<const Program> Store::find(std::string_view text,
                                           const Environment& environment) const {
  if (!opened_) return nullptr;
  const std::string key = key_of(text, environment);
  const auto at = std::lower_bound(
      records_.begin(), records_.end(), key,
      [](std::string_view record, const std::string& wanted) { return key_in(record) < wanted; });
  if (at == records_.end() || key_in(*at) != key) return nullptr;
  auto program = std::make_shared<Program>();
  program->text = text;
  program->functions = environment.functions;
  program->environment = std::make_unique<const Environment>(environment);
  yaml::Unpacker record(*at);
  record.text();
  ProgramReader(record.rest(), *program).read();
  return program;
}

}  // namespace gpuctl::cel
