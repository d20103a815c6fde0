// What a question brought, as a tree that expressions judge.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "yaml/node.hpp"

namespace gpuctl::doctor {

/// A map with `ok` (it was answered), `why` (otherwise, in one line), `about` and `tag` of the
/// question, and fields of its kind. Owns its tree.
class Answer {
 public:
  Answer() : arena_(std::make_unique<yaml::Arena>()) {}

  void set(std::string_view field, const yaml::Node& value) { fields_.set(*arena_, field, value); }
  void set(std::string_view field, std::string_view text) { set(field, arena_->string(text)); }
  void set(std::string_view field, const std::string& text) { set(field, arena_->string(text)); }
  void set(std::string_view field, const char* text) { set(field, arena_->string(text)); }
  void set_flag(std::string_view field, bool value) { set(field, yaml::Node::boolean(value)); }
  void set_number(std::string_view field, std::int64_t value) {
    set(field, yaml::Node::integer(value));
  }
  /// Answered where that is `told`.
  void conclude(bool told, std::string_view why) { told ? answered() : unanswered(why); }
  void answered() { set_flag("ok", true); }
  void unanswered(std::string_view why) {
    set_flag("ok", false);
    set("why", why);
  }

  /// There was no time to put the question: nothing is known, and no field of its kind is there.
  void not_asked(std::string_view why) {
    asked_ = false;
    unanswered("not asked: " + std::string(why));
  }
  bool asked() const { return asked_; }

  yaml::Arena& arena() { return *arena_; }
  yaml::Node tree() { return fields_.build(*arena_); }

 private:
  std::unique_ptr<yaml::Arena> arena_;
  yaml::MapBuilder fields_;
  bool asked_ = true;
};

}  // namespace gpuctl::doctor
