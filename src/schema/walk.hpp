// The walk over a document and its schema (internal to this library).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codes.hpp"
#include "schema/compiled.hpp"

namespace gpuctl::schema {

/// Where in the document the walk is. Lives on the stack; paths are made only for messages.
struct Place {
  enum class Step : std::uint8_t { root, field, key, item };
  const Place* parent = nullptr;
  Step step = Step::root;
  std::string_view name;                 // field or key
  std::size_t index = 0;                 // item
  diag::Origin at = diag::kNoOrigin;     // what a diagnostic about the whole value points at
  diag::Origin value = diag::kNoOrigin;  // of the value itself; none when it is absent

  static Place root(const yaml::Node& document);
  Place field(const yaml::Entry& entry) const;
  Place key(const yaml::Entry& entry) const;
  Place item(const yaml::Node& item, std::size_t index) const;

  /// `spec.gpuPools[1].mig`; empty at the root.
  std::string path() const;
  /// The same without indexes and without keys of maps with arbitrary keys.
  std::string field_path() const;
  /// "`spec.x`", or "the document".
  std::string quoted() const;
  /// The path of a field below.
  std::string below(std::string_view field) const;
};

class Walk {
 public:
  /// `found` may be null.
  Walk(yaml::Arena& arena, const diag::Sources& sources, diag::Sink& sink,
       const ValidateOptions& options, std::vector<Finding>* found);

  /// True when `value` conforms. Everything that does not is reported.
  bool check(const Schema& schema, const yaml::Node& value, const Place& place);

 private:
  // walk.cpp
  bool check_null(const Schema& schema, const yaml::Node& value, const Place& place);
  bool check_type(const Schema& schema, const yaml::Node& value, const Place& place);
  bool check_object(const Schema& schema, const yaml::Node& value, const Place& place);
  bool check_untyped(const yaml::Node& value, const Place& place);
  /// `unknown` counts the fields that the schema does not have.
  bool check_entry(const Schema& schema, const yaml::Entry& entry, const Place& place,
                   std::size_t& unknown);
  bool check_required(const Schema& schema, const yaml::Node& value, const Place& place);
  /// `schema` is null where there is none.
  bool unknown_field(const Schema* schema, const yaml::Entry& entry, const Place& place);
  bool check_list(const Schema& schema, const yaml::Node& value, const Place& place);
  bool exempt(const Place& place) const;
  // metadata.cpp
  bool check_metadata(const Schema& schema, const yaml::Node& value, const Place& place);
  bool check_type_meta(const yaml::Node& value, const Place& place);
  // values.cpp
  bool check_scalar(const Schema& schema, const yaml::Node& value, const Place& place);
  bool check_number(const Schema& schema, const yaml::Node& value, const Place& place);
  bool check_text(const Schema& schema, const yaml::Node& value, const Place& place);
  bool check_enum(const Schema& schema, const yaml::Node& value, const Place& place);
  bool check_count(const std::optional<std::int64_t>& least,
                   const std::optional<std::int64_t>& most, std::size_t size, std::string_view unit,
                   const Place& place);
  // lists.cpp
  bool check_unique(const Schema& schema, const yaml::Node& list, const Place& place);
  bool duplicate(const Schema& schema, const yaml::Node& list, std::size_t first,
                 std::size_t second, const Place& place);
  // combinations.cpp
  bool check_combinations(const Schema& schema, const yaml::Node& value, const Place& place);
  /// Silently. `blocks`, when not null, stays true only when what is wrong blocks rules.
  bool matches(const Schema& schema, const yaml::Node& value, const Place& place, bool* blocks);
  void explain_branches(const Slots& branches, const yaml::Node& value, const Place& place,
                        diag::Diagnostic& finding);
  bool no_branch(const Slots& branches, std::string_view which, std::size_t matched,
                 const yaml::Node& value, const Place& place);
  // rules.cpp
  bool check_rules(const Schema& schema, const yaml::Node& value, const Place& place);
  bool about_exempt(const Rule& rule, const Place& place) const;
  bool rule_not_met(const Schema& schema, const Rule& rule, const yaml::Node& value,
                    const cel::Value& self, const Place& place, const std::string& problem);
  void not_checked(const Schema& schema, const void* what, diag::Origin at, const Place& place,
                   const std::string& problem);

  /// Reports what is wrong at `place` through `describe(diagnostic)` unless only the answer is
  /// wanted; `at` is what the diagnostic points at. Always false.
  template <typename Describe>
  bool refuse(std::string_view code, const Place& place, diag::Origin at, Describe&& describe) {
    if (code == kWrongType || code == kNullValue || code == kMissingField || code == kNotAllowed) {
      ++blocking_;
    }
    if (sink_ == nullptr) return false;
    if (found_ != nullptr && sink_ == &out_) found_->push_back({std::string(code), place.path()});
    if (options_.failed != nullptr && sink_ == &out_ && place.value != diag::kNoOrigin) {
      options_.failed->insert(place.value);
    }
    diag::Diagnostic finding;
    finding.code = code;
    finding.primary.at = at;
    finding.path = place.path();
    describe(finding);
    if (!nested_) finding.message = options_.subject + finding.message;
    sink_->add(std::move(finding));
    return false;
  }

  yaml::Arena& arena_;
  const diag::Sources& sources_;
  diag::Sink& out_;   // for what is said once, whatever the mode
  diag::Sink* sink_;  // nullptr while only the answer is wanted
  const ValidateOptions& options_;
  std::vector<Finding>* found_;
  bool nested_ = false;  // collecting the reasons of a branch
  // Findings so far after which rules are not evaluated on the values around: the API server calls
  // them blocking (wrong type, null, absent, not in the enum, too long, too many).
  std::size_t blocking_ = 0;
  // What a resource asks of its metadata beyond ObjectMeta; it knows only some of the fields.
  const Schema* metadata_ = nullptr;
  // Items of lists whose unknown fields are preserved.
  std::set<const Schema*> preserved_;
  std::set<const void*> said_;
  bool out_of_steps_ = false;  // a rule took too many: no more are evaluated
};

/// How a value is shown in "found": `string "abc"`, `integer 3`, `list`. Secrets are not shown.
std::string show(const Schema& schema, const yaml::Node& value);
/// The type that a schema wants: "map", "list", "integer or string".
std::string wanted_type(const Schema& schema);
/// The first sentence of the description, when it is short enough to help; otherwise empty.
std::string first_sentence(const Schema& schema);
/// A text on one line, at most `most` code points.
std::string one_line(std::string_view text, std::size_t most);
/// A value as a message may hold it: one short line, and nothing that looks like a secret.
std::string shown_text(std::string_view text);
/// True for integers, and for reals that are one but for a little, as the API server sees it.
bool is_whole(const yaml::Node& value);
/// A text that is the same for equal nodes and differs otherwise.
std::string canonical(const yaml::Node& node);
/// file:line:column of a place in the schema, or an empty text.
std::string schema_position(const Schema& schema, diag::Origin at);

}  // namespace gpuctl::schema
