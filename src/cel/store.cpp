#include "cel/store.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/digest.hpp"
#include "cel/code.hpp"
#include "cel/functions.hpp"
#include "cel/opaque.hpp"
#include "yaml/packed.hpp"

namespace gpuctl::cel {

namespace {

enum Flag : std::uint16_t {
  kReal = 1U << 0U,
  kTransient = 1U << 1U,
  kFiltered = 1U << 2U,
  kOptional = 1U << 3U,
  kInspect = 1U << 4U,
  kWiden = 1U << 5U,
  kOptionalEntry = 1U << 6U,
  kPattern = 1U << 7U,
  kText = 1U << 8U,
  kSlot = 1U << 9U,
  kCost = 1U << 10U,
  kCandidates = 1U << 11U,
};

// What most operations have none of.
constexpr unsigned kMarks =
    kReal | kTransient | kFiltered | kOptional | kInspect | kWiden | kOptionalEntry;

enum class ConstantKind : std::uint8_t { node, omit, type, call };

class ProgramWriter {
 public:
  explicit ProgramWriter(const Program& program) : program_(program) {}

  std::optional<std::string> write() {
    out_ += program_.builds ? '\1' : '\0';
    yaml::pack_number(out_, program_.variable_count);
    yaml::pack_number(out_, program_.local_count);
    yaml::pack_number(out_, program_.codes.size());
    yaml::pack_number(out_, program_.candidates.size());
    return code(program_.code()) ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  // False when it holds what bytes cannot.
  bool code(const Code& code) {
    const auto flag = [](bool set, unsigned bit) { return set ? bit : 0U; };
    const unsigned flags =
        flag(code.real, kReal) | flag(code.transient, kTransient) | flag(code.filtered, kFiltered) |
        flag(code.optional, kOptional) | flag(code.inspect, kInspect) | flag(code.widen, kWiden) |
        flag(code.optional_entry, kOptionalEntry) | flag(code.pattern != nullptr, kPattern) |
        flag(!code.text.empty(), kText) | flag(code.slot != 0, kSlot) |
        flag(code.cost != 0, kCost) | flag(!code.candidates.empty(), kCandidates);
    out_ += static_cast<char>(code.op);
    yaml::pack_number(out_, flags);
    if (code.op == Op::macro) {
      out_ += static_cast<char>(code.macro);
      out_ += static_cast<char>(code.variables);
    }
    if ((flags & kSlot) != 0) yaml::pack_number(out_, code.slot);
    if ((flags & kCost) != 0) yaml::pack_number(out_, code.cost);
    if ((flags & kText) != 0) yaml::pack_text(out_, code.text);
    if (code.op == Op::constant && !constant(code)) return false;
    if (code.pattern != nullptr) yaml::pack_text(out_, code.pattern->text());
    if ((flags & kCandidates) != 0) yaml::pack_number(out_, code.candidates.size());
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

  bool constant(const Code& code) {
    const Value& value = code.constant;
    if (value.is_node()) {
      out_ += static_cast<char>(ConstantKind::node);
      yaml::pack(out_, value.node());
    } else if (value.is_omit()) {
      out_ += static_cast<char>(ConstantKind::omit);
    } else if (const auto* type = dynamic_cast<const TypeValue*>(value.opaque())) {
      out_ += static_cast<char>(ConstantKind::type);
      yaml::pack_text(out_, type->name);
    } else if (code.candidates.size() == 1) {
      out_ += static_cast<char>(ConstantKind::call);
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
    const std::size_t codes = bytes_.number();
    program_.reserve(codes, bytes_.number());
    code(program_.add_codes(1).front());
  }

 private:
  void code(Code& out) {
    out.op = static_cast<Op>(bytes_.byte());
    const auto flags = static_cast<unsigned>(bytes_.number());
    if (out.op == Op::macro) {
      out.macro = static_cast<Macro>(bytes_.byte());
      out.variables = bytes_.byte();
    }
    if ((flags & kMarks) != 0) mark(out, flags);
    if ((flags & kSlot) != 0) out.slot = static_cast<std::uint32_t>(bytes_.number());
    if ((flags & kCost) != 0) out.cost = bytes_.number();
    if ((flags & kText) != 0) out.text = bytes_.text();
    const bool called = out.op == Op::constant && !constant(out.constant);
    if ((flags & kPattern) != 0) {
      out.pattern = std::make_shared<const Pattern>(bytes_.text());
    }
    if ((flags & kCandidates) != 0) candidates(out);
    if (const std::size_t count = bytes_.number(); count != 0) {
      const std::span<Code> args = program_.add_codes(count);
      out.args = args;
      for (Code& arg : args) code(arg);
    }
    if (called) out.constant = call(out);
  }

  static void mark(Code& out, unsigned flags) {
    out.real = (flags & kReal) != 0;
    out.transient = (flags & kTransient) != 0;
    out.filtered = (flags & kFiltered) != 0;
    out.optional = (flags & kOptional) != 0;
    out.inspect = (flags & kInspect) != 0;
    out.widen = (flags & kWiden) != 0;
    out.optional_entry = (flags & kOptionalEntry) != 0;
  }

  void candidates(Code& out) {
    const std::span<const Function*> candidates = program_.add_candidates(bytes_.number());
    out.candidates = candidates;
    for (const Function*& function : candidates) {
      const bool method = bytes_.byte() != 0;
      const auto* overloads = program_.functions->table().find(bytes_.text(), method);
      function = overloads->at(bytes_.number()).get();
    }
  }

  // False when the constant is the result of a call.
  bool constant(Value& out) {
    switch (static_cast<ConstantKind>(bytes_.byte())) {
      case ConstantKind::node:
        out = bytes_.tree(program_.constants);
        break;
      case ConstantKind::omit:
        out = Value::omit();
        break;
      case ConstantKind::type:
        out = Value(std::make_shared<const TypeValue>(std::string(bytes_.text())));
        break;
      case ConstantKind::call:
        return false;
    }
    return true;
  }

  Value call(const Code& code) {
    std::vector<Value> values;
    for (const Code& arg : code.args) values.push_back(arg.constant);
    CallContext context{program_.constants};
    return code.candidates.front()->call(values, context).value;
  }

  yaml::Unpacker bytes_;
  Program& program_;
};

constexpr std::size_t kIndexRow = sizeof(std::uint64_t) + sizeof(std::uint32_t);

template <typename T>
T number_at(std::string_view bytes, std::size_t at) {
  T value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <typename T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

// Short names stand for many things: a text means the same in environments of the same number.
std::uint64_t number_of(const Environment& environment) {
  return environment.variables.digest() ^ base::quick_digest(environment.container);
}

}  // namespace

void Store::record(const Environment& environment, const Program& program) {
  if (opened_) return;
  std::optional<std::string> bytes = ProgramWriter(program).write();
  const auto [found, added] =
      recorded_.try_emplace(Key(std::string(program.text), number_of(environment)), bytes);
  if (!added && found->second != bytes) found->second.reset();
}

std::uint32_t Store::Records::place(std::string_view record) {
  if (const auto found = places_.find(record); found != places_.end()) return found->second;
  const auto at = static_cast<std::uint32_t>(bytes_.size());
  places_.emplace(record, at);
  yaml::pack_text(bytes_, record);
  return at;
}

std::string Store::packed(Records& records) const {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> index;
  for (const auto& [key, bytes] : recorded_) {
    if (!bytes) continue;
    std::string record;
    yaml::pack_text(record, key.first);
    record += *bytes;
    index.emplace_back(base::quick_digest(key.first) ^ key.second, records.place(record));
  }
  std::sort(index.begin(), index.end());
  std::string out;
  for (const auto& [digest, at] : index) {
    put(out, digest);
    put(out, at);
  }
  return out;
}

std::shared_ptr<Store> Store::open(std::string_view index, std::string_view records) {
  auto store = std::make_shared<Store>();
  store->opened_ = true;
  store->index_ = index;
  store->records_ = records;
  return store;
}

std::shared_ptr<const Program> Store::find(std::string_view text,
                                           const Environment& environment) const {
  if (!opened_) return nullptr;
  const std::uint64_t digest = base::quick_digest(text) ^ number_of(environment);
  const auto digest_in = [&](std::size_t row) {
    return number_at<std::uint64_t>(index_, row * kIndexRow);
  };
  const std::size_t count = index_.size() / kIndexRow;
  std::size_t row = 0;
  for (std::size_t rows = count; rows > 0;) {
    const std::size_t half = rows / 2;
    if (digest_in(row + half) < digest) {
      row += half + 1;
      rows -= half + 1;
    } else {
      rows = half;
    }
  }
  for (; row < count && digest_in(row) == digest; ++row) {
    const std::size_t at =
        number_at<std::uint32_t>(index_, row * kIndexRow + sizeof(std::uint64_t));
    yaml::Unpacker record(yaml::Unpacker(records_.substr(at)).text());
    const std::string_view stored = record.text();
    if (stored != text) continue;
    auto program = std::make_shared<Program>();
    program->text = stored;
    program->functions = environment.functions;
    program->environment = environment.weak_from_this().lock();
    if (program->environment == nullptr) {
      program->environment = std::make_shared<const Environment>(environment);
    }
    ProgramReader(record.rest(), *program).read();
    return program;
  }
  return nullptr;
}

}  // namespace gpuctl::cel
