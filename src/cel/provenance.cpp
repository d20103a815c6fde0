#include "cel/provenance.hpp"

#include <algorithm>
#include <set>

#include "yaml/path.hpp"

namespace gpuctl::cel {

using diag::Origin;

Origin Provenance::record(Record record) {
  records_.push_back(std::move(record));
  return kFirstMark + static_cast<Origin>(records_.size() - 1);
}

const Provenance::Record* Provenance::find(Origin mark) const {
  if (!is_mark(mark) || mark - kFirstMark >= records_.size()) return nullptr;
  return &records_[mark - kFirstMark];
}

const Provenance::Place* Provenance::place(Origin mark) const {
  const Record* found = find(mark);
  return found == nullptr ? nullptr : std::get_if<Place>(found);
}

const Provenance::Evaluation* Provenance::evaluation(Origin mark) const {
  const Record* found = find(mark);
  return found == nullptr ? nullptr : std::get_if<Evaluation>(found);
}

yaml::Node Provenance::mark(std::string_view root, const yaml::Node& tree, yaml::Arena& arena) {
  const yaml::Node marked = mark_at(tree, diag::kNoOrigin, std::string(root), arena);
  roots_.insert_or_assign(std::string(root), marked);
  return marked;
}

yaml::Node Provenance::root(std::string_view name) const {
  const auto found = roots_.find(name);
  return found == roots_.end() ? yaml::Node() : found->second;
}

yaml::Node Provenance::mark_at(const yaml::Node& node, Origin parent, std::string step,
                               yaml::Arena& arena) {
  const Place* known = place(node.origin());
  Origin mark = node.origin();
  if (known == nullptr || known->parent != parent || known->step != step) {
    mark = record(Place{parent, std::move(step), node});
  } else {
    // The same place with another content: its parts were set since.
    const Origin before = known->value.origin();
    std::get<Place>(records_[mark - kFirstMark]).value = node.with_origin(before);
  }
  return mark_below(node, mark, arena);
}

namespace {

// Whether two nodes are one and the same, content and origin.
bool is_same(const yaml::Node& a, const yaml::Node& b) {
  return a.origin() == b.origin() && a.items().data() == b.items().data() &&
         a.entries().data() == b.entries().data();
}

}  // namespace

yaml::Node Provenance::mark_below(const yaml::Node& node, Origin mark, yaml::Arena& arena) {
  bool changed = false;
  if (node.is_list()) {
    std::vector<yaml::Node> items(node.items().begin(), node.items().end());
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i] = mark_at(items[i], mark, yaml::item_step(items[i], i), arena);
      changed = changed || !is_same(items[i], node.items()[i]);
    }
    return (changed ? arena.list(items) : node).with_origin(mark);
  }
  if (node.is_map()) {
    std::vector<yaml::Entry> entries(node.entries().begin(), node.entries().end());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      yaml::Entry& entry = entries[i];
      entry.value = mark_at(entry.value, mark, yaml::key_step(entry.key.as_string()), arena);
      // An expression that reads the key says nothing of the value; both stand at one place.
      entry.key = entry.key.with_origin(entry.value.origin());
      changed = changed || !is_same(entry.value, node.entries()[i].value);
    }
    return (changed ? arena.map(entries) : node).with_origin(mark);
  }
  return node.with_origin(mark);
}

Origin Provenance::add(Evaluation evaluation) {
  std::set<Origin> above;
  for (const Origin read : evaluation.reads) {
    for (const Place* at = place(read); at != nullptr; at = place(at->parent)) {
      if (!above.insert(at->parent).second) break;
    }
  }
  std::set<Origin> seen;
  std::erase_if(evaluation.reads, [&](Origin read) {
    return find(read) == nullptr || above.contains(read) || !seen.insert(read).second;
  });
  return record(std::move(evaluation));
}

yaml::Node Provenance::mark_result(Evaluation evaluation, const yaml::Node& result,
                                   yaml::Arena& arena) {
  return mark_below(result, add(std::move(evaluation)), arena);
}

std::string Provenance::path(Origin place_mark) const {
  std::vector<const std::string*> steps;
  for (const Place* at = place(place_mark); at != nullptr; at = place(at->parent)) {
    steps.push_back(&at->step);
  }
  std::string out;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) out += **step;
  return out;
}

std::string_view Provenance::root_of(Origin place_mark) const {
  const Place* at = place(place_mark);
  while (at != nullptr && at->parent != diag::kNoOrigin) at = place(at->parent);
  return at == nullptr ? std::string_view() : at->step;
}

Origin Provenance::behind(Origin place_mark) const {
  const Place* at = place(place_mark);
  while (at != nullptr) {
    if (at->value.origin() != diag::kNoOrigin) return at->value.origin();
    if (evaluation(at->parent) != nullptr) return at->parent;
    at = place(at->parent);
  }
  return diag::kNoOrigin;
}

}  // namespace gpuctl::cel
