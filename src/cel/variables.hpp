// The variables that expressions may use.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/once.hpp"
#include "cel/type.hpp"

namespace gpuctl::cel {

/// A type that is worked out when it is first asked for, because programs that the build has
/// compiled need none. Thread-safe; copies share the result.
class LazyType {
 public:
  LazyType(Type type);  // NOLINT: a type is one
  /// `make()` is the type. There are many of these: it stands in one block with the result.
  template <typename Make>
  requires std::is_invocable_r_v<Type, const Make&>
  explicit LazyType(Make make) : state_(std::make_shared<MadeBy<Make>>(std::move(make))) {}
  const Type& get() const;

 private:
  struct State {
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    virtual ~State() = default;
    virtual Type make() const { return type; }
    base::Once once;
    Type type;
  };
  template <typename Make>
  struct MadeBy final : State {
    explicit MadeBy(Make how_) : how(std::move(how_)) {}
    Type make() const override { return how(); }
    Make how;
  };
  std::shared_ptr<State> state_;
};

/// A name that expressions may use, and its type.
struct Variable {
  std::string name;
  LazyType type;
};

/// The variables of an environment, in order. Copies share what they have in common.
class Variables {
 public:
  Variables() = default;
  Variables(std::initializer_list<Variable> variables);
  /// `definition` is the text that makes its value, if there is one: it tells apart what has the
  /// same name in environments that are otherwise alike.
  void push_back(Variable variable, std::string_view definition = {});
  /// Takes the last ones away, until there are `size`.
  void shrink(std::size_t size);
  std::size_t size() const { return last_ == nullptr ? 0 : last_->size; }
  bool contains(std::string_view name) const;
  /// Number `i` in order of declaration, which must be there.
  const Variable& at(std::size_t i) const;
  /// In order of declaration. They live as long as this or a copy of it.
  std::vector<const Variable*> all() const;
  /// A number for their names and definitions: the same in the build and in a run.
  std::uint64_t digest() const { return last_ == nullptr ? 0 : last_->digest; }

 private:
  struct Link {
    std::shared_ptr<const Link> before;
    std::size_t size;  // with those before it
    std::uint64_t digest;
    Variable variable;
  };
  std::shared_ptr<const Link> last_;
};

}  // namespace gpuctl::cel
