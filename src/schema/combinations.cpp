// allOf, anyOf, oneOf and not.
#include <utility>

#include "base/text.hpp"
#include "schema/walk.hpp"

namespace gpuctl::schema {

using yaml::Node;

namespace {

/// The field that a branch asks for, when that is all it says: `{required: [x]}`.
std::string_view sole_field(const Schema& branch) {
  if (branch.definition.size() != 1 || branch.required.size() != 1) return {};
  return branch.required.front();
}

/// The fields of branches that each ask for one field and nothing else; empty otherwise.
std::vector<std::string> fields_of(const Slots& branches) {
  std::vector<std::string> out;
  for (const Slot& branch : branches) {
    const std::string_view field = sole_field(branch.get());
    if (field.empty()) return {};
    out.emplace_back(field);
  }
  return out;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "`" : ", `") + name + "`";
  return out;
}

}  // namespace

bool Walk::matches(const Schema& schema, const Node& value, const Place& place, bool* blocks) {
  diag::Sink* const before = std::exchange(sink_, nullptr);
  const std::size_t blocking = blocking_;
  const bool ok = check(schema, value, place);
  if (blocks != nullptr) *blocks = *blocks && blocking != blocking_;
  blocking_ = blocking;
  sink_ = before;
  return ok;
}

bool Walk::check_combinations(const Schema& schema, const Node& value, const Place& place) {
  bool ok = true;
  for (const Slot& branch : schema.all_of) ok = check(branch.get(), value, place) && ok;
  // When no branch fits, the API server gives the findings of one of them, so that these block
  // rules as any other finding does.
  if (!schema.any_of.empty()) {
    bool any = false;
    bool blocks = true;
    for (const Slot& branch : schema.any_of) {
      any = any || matches(branch.get(), value, place, &blocks);
    }
    if (!any) {
      if (blocks) ++blocking_;
      ok = no_branch(schema.any_of, "at least one", 0, value, place);
    }
  }
  if (!schema.one_of.empty()) {
    std::size_t matched = 0;
    bool blocks = true;
    for (const Slot& branch : schema.one_of) {
      if (matches(branch.get(), value, place, &blocks)) ++matched;
    }
    if (matched != 1) {
      if (matched == 0 && blocks) ++blocking_;
      ok = no_branch(schema.one_of, "exactly one", matched, value, place);
    }
  }
  if (schema.not_ && matches(schema.not_->get(), value, place, nullptr)) {
    const Schema& refused = schema.not_->get();
    ok = refuse(kCombination, place, place.at, [&](diag::Diagnostic& finding) {
      finding.message = place.quoted() + " is of a form that is not allowed";
      const std::string_view field = sole_field(refused);
      if (!field.empty()) {
        finding.message = "`" + place.below(field) + "` must not be set here";
      } else {
        finding.note("refused form: " + one_line(canonical(refused.definition), 160));
      }
    });
  }
  return ok;
}

void Walk::explain_branches(const Slots& branches, const Node& value, const Place& place,
                            diag::Diagnostic& finding) {
  if (nested_) return;  // the reasons of reasons help nobody
  constexpr std::size_t kMostReasons = 8;
  nested_ = true;
  const std::size_t blocking = blocking_;
  diag::Sink* const before = sink_;
  for (std::size_t i = 0; i < branches.size() && i < kMostReasons; ++i) {
    diag::Sink reasons;
    sink_ = &reasons;
    check(branches[i].get(), value, place);
    if (!reasons.empty()) {
      finding.note("alternative " + std::to_string(i + 1) + ": " + reasons.all().front().message);
    }
  }
  sink_ = before;
  blocking_ = blocking;
  nested_ = false;
}

bool Walk::no_branch(const Slots& branches, std::string_view which, std::size_t matched,
                     const Node& value, const Place& place) {
  return refuse(kCombination, place, place.at, [&](diag::Diagnostic& finding) {
    const std::vector<std::string> fields = fields_of(branches);
    if (!fields.empty()) {
      std::vector<std::string> present;
      for (const std::string& field : fields) {
        if (value.find(field) != nullptr) present.push_back(field);
      }
      finding.message =
          present.empty()
              ? "none of the fields " + quoted_list(fields) + " is set in " + place.quoted()
              : "the fields " + quoted_list(present) + " exclude each other in " + place.quoted();
      finding.expect(std::string(which) + " of " + quoted_list(fields));
      finding.got(present.empty() ? "none" : quoted_list(present));
      return;
    }
    const std::string all = std::to_string(branches.size());
    finding.expect(std::string(which) + " of " + all + " alternatives");
    if (matched == 0) {
      finding.message = place.quoted() + " fits none of its " + all + " alternatives";
      finding.got("none");
      explain_branches(branches, value, place, finding);
    } else {
      finding.message = place.quoted() + " fits " + std::to_string(matched) + " of its " + all +
                        " alternatives at once";
      finding.got(std::to_string(matched));
    }
  });
}

}  // namespace gpuctl::schema
