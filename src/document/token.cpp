#include "document/token.hpp"

#include <chrono>

#include "base/date.hpp"
#include "catalog/wrapper.hpp"

namespace gpuctl::document {

yaml::Node token_document(std::string_view kind, std::string_view token, std::int64_t now,
                          yaml::Arena& arena) {
  yaml::MapBuilder out;
  out.set(arena, "apiVersion", yaml::Node::view(catalog::kApiVersion));
  out.set(arena, "kind", arena.string(kind));
  out.set(arena, "token", arena.string(token));
  out.set(arena, "now", yaml::Node::integer(now));
  return out.build(arena);
}

std::int64_t seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::optional<std::int64_t> seconds_of_date(std::string_view date) {
  const std::optional<std::chrono::sys_days> day = base::parse_date(date);
  if (!day) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(day->time_since_epoch()).count();
}

}  // namespace gpuctl::document
