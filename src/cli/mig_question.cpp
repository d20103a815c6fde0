#include "cli/mig_question.hpp"

#include <algorithm>
#include <variant>

#include "base/text.hpp"
#include "cli/codes.hpp"
#include "gpu/functions.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

// "1g.5gb:2,3g.20gb"; nothing after a usage error.
std::optional<MigCounts> read_counts(const std::string& text, diag::Sink& sink) {
  MigCounts out;
  for (const std::string_view part : base::split(text, ',')) {
    const std::size_t colon = part.find(':');
    const std::string name(part.substr(0, colon));
    const std::string digits(colon == std::string_view::npos ? "1" : part.substr(colon + 1));
    const bool number =
        !digits.empty() && digits.size() <= 9 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (name.empty() || !number) {
      sink.error(kUsage, diag::kNoOrigin, "`" + shown(part) + "` is no profile with a number")
          .expect("PROFILE:COUNT, several with commas, such as `1g.5gb:2,3g.20gb:1`");
      return std::nullopt;
    }
    out.emplace_back(name, std::stoll(digits));
  }
  return out;
}

// The class of a GPU model, or of a class itself.
std::optional<gpu::MigClass> class_of(const std::string& name, Knowledge& knowledge,
                                      diag::Sink& sink) {
  for (const std::string& platform_name : catalog::platforms(knowledge.library())) {
    const std::shared_ptr<const catalog::Platform> platform =
        catalog::load_platform(knowledge.library(), platform_name, diag::kNoOrigin, sink);
    if (platform == nullptr) return std::nullopt;
    const catalog::Table* models = platform->table("gpus");
    const catalog::Table* classes = platform->table("migClasses");
    if (models == nullptr || classes == nullptr) continue;
    std::vector<std::string> known;
    for (const yaml::Entry& entry : models->rows.entries()) {
      if (entry.value.get("migClass").is_string()) known.emplace_back(entry.key.as_string());
    }
    for (const yaml::Entry& entry : classes->rows.entries()) {
      known.emplace_back(entry.key.as_string());
    }
    const yaml::Node model = models->rows.get(name);
    const yaml::Node row = classes->rows.get(model.is_map() ? model.get("migClass").as_string()
                                                            : std::string_view(name));
    if (!row.is_map()) {
      sink.error(kUsage, diag::kNoOrigin,
                 model.is_map() ? "`" + shown(name) + "` cannot be partitioned"
                                : "unknown GPU model `" + shown(name) + "`")
          .expect("one of " + base::join(known, ", "))
          .did_you_mean_longer(name, known);
      return std::nullopt;
    }
    auto read = gpu::read_class(row);
    if (auto* made = std::get_if<gpu::MigClass>(&read)) return std::move(*made);
    sink.error(kUsage, diag::kNoOrigin, "`" + shown(name) + "`: " + std::get<std::string>(read));
    return std::nullopt;
  }
  sink.error(kUsage, diag::kNoOrigin, "no platform has tables of GPUs");
  return std::nullopt;
}

}  // namespace

std::string text_of(const gpu::MigLayout& layout) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : layout) parts.push_back(name + ":" + std::to_string(count));
  return base::join(parts, ",");
}

yaml::Node node_of(const gpu::MigLayout& layout, yaml::Arena& arena) {
  yaml::MapBuilder out;
  for (const auto& [name, count] : layout) out.set(arena, name, yaml::Node::integer(count));
  return out.build(arena);
}

std::optional<gpu::MigClass> MigQuestion::gpu(const std::string& name) {
  Knowledge* knowledge = open_knowledge(global_, report_);
  if (knowledge == nullptr) return std::nullopt;
  diag::Sink sink;
  std::optional<gpu::MigClass> out = class_of(name, *knowledge, sink);
  report_.show(sink, knowledge->library().sources());
  return out;
}

std::optional<MigCounts> MigQuestion::counts(const std::string& text) {
  diag::Sink sink;
  std::optional<MigCounts> out = read_counts(text, sink);
  report_.show(sink, diag::Sources());
  return out;
}

int MigQuestion::answer(const std::string& text, const yaml::Node& json, bool good) {
  if (json.is_list()) {
    global_.result->set("answers", json);
  } else {
    global_.result->set("answers", global_.result->arena().list({&json, 1}));
  }
  const bool as_json = options_.output == "json";
  if (!print(as_json ? yaml::emit_json(json) + "\n" : text, global_)) return kFindings;
  return good ? kOk : kFindings;
}

}  // namespace gpuctl::cli
