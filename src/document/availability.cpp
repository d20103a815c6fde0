#include "document/availability.hpp"

#include <algorithm>
#include <span>

#include "base/text.hpp"
#include "catalog/codes.hpp"
#include "document/release.hpp"
#include "yaml/path.hpp"

namespace gpuctl::document {

namespace {

using yaml::Node;

std::string text(const Node& map, std::string_view key) {
  return std::string(map.get(key).as_string());
}

// Readers that are written in Go take a key in any case; those that compare letter by letter have
// no field in another case that could be meant.
const yaml::Entry* entry_of(const Node& map, std::string_view key) {
  if (const yaml::Entry* same = map.find_entry(key)) return same;
  const std::string folded = base::to_lower(key);
  for (const yaml::Entry& entry : map.entries()) {
    if (base::to_lower(entry.key.as_string()) == folded) return &entry;
  }
  return nullptr;
}

// Where a value stands: a list or map that an expression made has no place, what is in it may.
diag::Origin place_of(const Node& value) {
  if (value.origin() != diag::kNoOrigin) return value.origin();
  for (const Node& item : value.items()) {
    if (const diag::Origin at = place_of(item); at != diag::kNoOrigin) return at;
  }
  for (const yaml::Entry& entry : value.entries()) {
    if (const diag::Origin at = place_of(entry.value); at != diag::kNoOrigin) return at;
  }
  return diag::kNoOrigin;
}

// Where the last scalar stands; nothing when there is none.
diag::Origin scalar_of(const Node& value) {
  if (value.is_list() && value.size() > 0) return scalar_of(value.items().back());
  if (value.is_map() && value.size() > 0) return scalar_of(value.entries().front().value);
  return value.is_list() || value.is_map() ? diag::kNoOrigin : value.origin();
}

}  // namespace

Availability::Availability(const std::vector<Node>& specs, const catalog::Platform& platform,
                           const cel::Environment& environment, bool thorough,
                           diag::Sources& sources, diag::Sink& sink)
    : platform_(platform) {
  cel::Environment own = environment;
  own.variables = {{"value", cel::LazyType(cel::Type::dyn())},
                   {"release", cel::LazyType([] { return release_type(); })}};
  own.container = "availability";
  for (const Node& spec : specs) add(spec, own, thorough, sources, sink);
}

void Availability::add(const Node& spec, const cel::Environment& environment, bool thorough,
                       diag::Sources& sources, diag::Sink& sink) {
  auto shared = std::make_shared<cel::Environment>(environment);
  if (const Node switches = spec.get("switches"); switches.is_map()) {
    switches_ = {text(switches, "set"), text(switches, "gates")};
  }
  for (const Node& written : spec.get("unknown").items()) {
    unknown_.push_back({ordinal(written.get("since"), sink), ordinal(written.get("until"), sink),
                        text(written, "says")});
  }
  for (const Node& written : spec.get("rows").items()) {
    std::optional<Row> row = read(written, spec, sink);
    if (!row) continue;
    if (const Node* when = written.find("when")) {
      row->when = cel::LazyExpression(*when, shared, sources);
      if (thorough) row->when.check(sink);
    }
    rows_.push_back(std::move(*row));
  }
}

std::optional<Availability::Row> Availability::read(const Node& written, const Node& spec,
                                                    diag::Sink& sink) {
  Row row;
  row.written = written;
  row.codes = spec.get("codes");
  row.since = ordinal(written.get("since"), sink);
  row.until = ordinal(written.get("until"), sink);
  row.gate = text(written, "gate");
  for (const Node& value : written.get("values").items())
    row.values.emplace_back(value.as_string());
  const catalog::Table* gates =
      platform_.releases ? platform_.table(platform_.releases->gates) : nullptr;
  if (!row.gate.empty() && (gates == nullptr || gates->rows.find(row.gate) == nullptr)) {
    sink.error(catalog::kUnknownName, written.get("gate").origin(),
               "no feature gate `" + row.gate + "`");
    return std::nullopt;
  }
  // `in` names places that many rows share, such as all blocks that describe a pool.
  std::vector<std::string> places = {""};
  if (const Node* in = written.find("in")) {
    places.clear();
    for (const Node& place : spec.get("places").get(in->as_string()).items()) {
      places.push_back(std::string(place.as_string()) + ".");
    }
    if (places.empty()) {
      sink.error(catalog::kUnknownName, in->origin(),
                 "no `" + text(written, "in") + "` among `places`");
    }
  }
  for (const std::string& place : places) {
    Path path;
    const std::string whole = place + text(written, "path");
    for (const std::string_view step : base::split(whole, '.')) {
      const bool each = step.ends_with("[]");
      path.push_back({std::string(each ? step.substr(0, step.size() - 2) : step), each});
    }
    row.paths.push_back(std::move(path));
  }
  return row;
}

std::optional<std::int64_t> Availability::ordinal(std::string_view release) const {
  const catalog::Table* known =
      platform_.releases ? platform_.table(platform_.releases->table) : nullptr;
  const Node* row = known == nullptr ? nullptr : known->rows.find(release);
  if (row == nullptr) return std::nullopt;
  return row->get("ordinal").as_integer();
}

std::optional<std::int64_t> Availability::ordinal(const Node& release, diag::Sink& sink) const {
  if (!release.is_string()) return std::nullopt;
  const std::optional<std::int64_t> out = ordinal(release.as_string());
  if (!out) {
    sink.error(catalog::kUnknownName, release.origin(),
               "no release `" + std::string(release.as_string()) + "`");
  }
  return out;
}

bool Availability::concerns(const Row& row, const Node& value, const Node& release,
                            yaml::Arena& arena) const {
  if (!row.values.empty() &&
      std::find(row.values.begin(), row.values.end(), value.as_string()) == row.values.end()) {
    return false;
  }
  if (!row.when) return true;
  const std::vector<cel::Value> values = {cel::Value(value), cel::Value(release)};
  const cel::Outcome outcome = cel::evaluate(*row.when.get().program, values, arena);
  // What is of another type than the field's is said by the schema.
  return outcome.ok() && outcome.value.is_node() && outcome.value.node().as_boolean();
}

std::vector<Availability::Found> Availability::find(const Row& row, const Node& tree,
                                                    const Node& release, yaml::Arena& arena) const {
  std::vector<Found> out;
  for (const Path& path : row.paths) {
    std::vector<Found> here = {{tree, tree.origin(), {}}};
    for (const Step& step : path) {
      std::vector<Found> next;
      for (const Found& found : here) {
        const yaml::Entry* entry = entry_of(found.value, step.key);
        if (entry == nullptr) continue;
        const diag::Origin inside = place_of(entry->value);
        const diag::Origin at = inside != diag::kNoOrigin ? inside : entry->key.origin();
        const std::string below = found.path + yaml::key_step(step.key);
        if (!step.each) {
          next.push_back({entry->value, at, below});
          continue;
        }
        std::size_t index = 0;
        for (const Node& item : entry->value.items()) {
          next.push_back({item, place_of(item), below + "[" + std::to_string(index++) + "]"});
        }
      }
      here = std::move(next);
    }
    for (Found& found : here) {
      if (!concerns(row, found.value, release, arena)) continue;
      if (found.path.starts_with('.')) found.path.erase(0, 1);
      out.push_back(std::move(found));
    }
  }
  return out;
}

std::optional<std::string> Availability::state(const std::string& gate,
                                               const std::string& release) const {
  const Node row = platform_.table(platform_.releases->gates)->rows.get(gate).get("states");
  const Node* state = row.find(release);
  if (state == nullptr) return std::nullopt;
  return std::string(state->as_string());
}

bool Availability::is_on(const std::string& state, const std::string& gate, const std::string& set,
                         const Node& document) const {
  const catalog::Releases& releases = *platform_.releases;
  if (!releases.custom_set.empty() && set == releases.custom_set) {
    constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "True", "TRUE"};
    const std::span<const Node> named = document.get(switches_.gates).items();
    return std::any_of(named.begin(), named.end(), [&](const Node& switched) {
      const std::string_view written = switched.as_string();
      return written.starts_with(gate + "=") &&
             std::find(std::begin(kTrue), std::end(kTrue), written.substr(gate.size() + 1)) !=
                 std::end(kTrue);
    });
  }
  const auto& sets = releases.feature_sets;
  const auto needed = std::find(sets.begin(), sets.end(), state);
  const auto chosen = set.empty() ? sets.begin() : std::find(sets.begin(), sets.end(), set);
  return needed != sets.end() && chosen != sets.end() && needed <= chosen;
}

std::string Availability::first_by_default(const std::string& gate,
                                           const std::string& after) const {
  const catalog::Releases& releases = *platform_.releases;
  const std::optional<std::int64_t> from = ordinal(after);
  const Node row = platform_.table(releases.gates)->rows.get(gate).get("states");
  std::string first;
  std::int64_t least = 0;
  for (const yaml::Entry& entry : row.entries()) {
    const std::optional<std::int64_t> at = ordinal(entry.key.as_string());
    const Node known = platform_.table(releases.table)->rows.get(entry.key.as_string());
    if (!at || !from || *at <= *from || known.get("branch").as_boolean() ||
        releases.feature_sets.empty() || entry.value.as_string() != releases.feature_sets.front()) {
      continue;
    }
    if (first.empty() || *at < least) {
      first = entry.key.as_string();
      least = *at;
    }
  }
  return first;
}

// What we rendered leads to the blueprint by its scalars; lists and maps stand in templates. A list
// that an expression made has no place when its items have none either.
diag::Origin Availability::placed(const Found& found, const Reading& reading) {
  if (reading.rendered) {
    if (const diag::Origin at = scalar_of(found.value); at != diag::kNoOrigin) return at;
  }
  return found.at != diag::kNoOrigin ? found.at : reading.fallback;
}

void Availability::lacks(const Row& row, const Found& found, const Reading& reading, bool later,
                         diag::Sink& sink) const {
  const std::string& title = platform_.releases->title;
  const std::string minor = text(reading.release, "minor");
  const std::string own = text(row.written, "what");
  const std::string what = !own.empty()         ? own
                           : row.values.empty() ? "field `" + row.paths.front().back().key + "`"
                                                : "`" + std::string(found.value.as_string()) +
                                                      "` as `" + row.paths.front().back().key + "`";
  diag::Diagnostic& error = sink.error(text(row.codes, "lacks"), placed(found, reading),
                                       reading.prefix + title + " " + minor + " has no " + what);
  error.path = found.path;
  const std::string bound = title + " " + text(row.written, later ? "since" : "until");
  error.label((later ? "new in " : "gone after ") + bound)
      .expect(bound + (later ? " or newer" : " or older"));
  if (const std::string help = text(row.written, "help"); !help.empty()) error.suggest(help);
  const std::string does = unknown_fields(minor);
  if (!reading.rendered && row.values.empty() && !row.when && !does.empty()) error.note(does);
  error.note("source: " + text(row.written, "source"));
}

void Availability::shut(const Row& row, const Found& found, const Reading& reading,
                        const std::string& state, const std::string& set, diag::Sink& sink) const {
  const catalog::Releases& releases = *platform_.releases;
  const std::string minor = text(reading.release, "minor");
  const std::string own = text(row.written, "what");
  const std::string what = !own.empty() ? own : "`" + row.paths.front().back().key + "`";
  const bool custom = set == releases.custom_set && !set.empty();
  diag::Diagnostic& error =
      sink.error(text(row.codes, "gate"), placed(found, reading),
                 reading.prefix + "feature gate `" + row.gate + "` is off in " +
                     (custom ? "feature set " + set + " unless it is named"
                             : releases.title + " " + minor +
                                   (set.empty() ? "" : ", in feature set " + set + " as well")) +
                     ": no " + what);
  error.path = found.path;
  std::vector<std::string> ways;
  const auto& sets = releases.feature_sets;
  if (!custom && std::find(sets.begin(), sets.end(), state) != sets.end()) {
    ways.push_back("`" + switches_.set + ": " + state + "`");
  }
  if (!releases.custom_set.empty()) {
    ways.push_back("`" + switches_.gates + ": [" + row.gate + "=true]` with `" + switches_.set +
                   ": " + releases.custom_set + "`");
  }
  const std::string first = first_by_default(row.gate, minor);
  if (!custom && !first.empty()) {
    ways.push_back(releases.title + " " + first + " or newer, where it is on by default");
  }
  error.expect(base::join(ways, ", or "));
  const std::string help = text(row.written, "help");
  error.suggest(help.empty() ? "clusters with such a feature set cannot be updated" : help);
  error.note("source: " + text(row.written, "source"));
}

std::string Availability::unknown_fields(const std::string& release) const {
  const std::optional<std::int64_t> here = ordinal(release);
  for (const Unknown& unknown : unknown_) {
    if (here && (!unknown.since || *unknown.since <= *here) &&
        (!unknown.until || *here <= *unknown.until)) {
      return unknown.says;
    }
  }
  return {};
}

void Availability::check(const Reading& reading, yaml::Arena& arena, diag::Sink& sink) const {
  const std::string minor = text(reading.release, "minor");
  const std::optional<std::int64_t> here = ordinal(minor);
  if (!here) return;
  const std::string set = text(reading.decoded, switches_.set);
  for (const Row& row : rows_) {
    const bool early = row.since && *here < *row.since;
    if (early || (row.until && *row.until < *here)) {
      const bool whole = row.values.empty() && !row.when;
      for (const Found& found :
           find(row, whole ? reading.written : reading.decoded, reading.release, arena)) {
        lacks(row, found, reading, early, sink);
      }
      continue;
    }
    if (row.gate.empty()) continue;
    const std::optional<std::string> opened = state(row.gate, minor);
    if (!opened || is_on(*opened, row.gate, set, reading.decoded)) continue;
    for (const Found& found : find(row, reading.decoded, reading.release, arena)) {
      shut(row, found, reading, *opened, set, sink);
    }
  }
}

}  // namespace gpuctl::document
