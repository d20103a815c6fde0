#include "cli/options.hpp"

#include <CLI/CLI.hpp>

namespace gpuctl::cli {

Option& Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::required(bool required) {
  option_->required(required);
  return *this;
}

Option& Option::expected(int count) {
  option_->expected(count);
  return *this;
}

Option& Option::expected(int at_least, int at_most) {
  option_->expected(at_least, at_most);
  return *this;
}

Option& Option::allow_extra_args(bool allow) {
  option_->allow_extra_args(allow);
  return *this;
}

Option& Option::take_all() {
  option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

Option& Option::delimiter(char between) {
  option_->delimiter(between);
  return *this;
}

Option& Option::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option& Option::in_range(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option& Option::check(const std::function<std::string(const std::string& value)>& fault) {
  option_->check(fault);
  return *this;
}

Option& Option::needs(const std::string& other) {
  option_->needs(other);
  return *this;
}

Option& Option::excludes(const std::string& other) {
  option_->excludes(other);
  return *this;
}

Option Options::add_option(const std::string& name, std::string& value, const std::string& help) {
  return Option(command_.add_option(name, value, help));
}

Option Options::add_option(const std::string& name, std::vector<std::string>& values,
                           const std::string& help) {
  return Option(command_.add_option(name, values, help));
}

Option Options::add_option(const std::string& name, int& value, const std::string& help) {
  return Option(command_.add_option(name, value, help));
}

Option Options::add_option(const std::string& name, unsigned& value, const std::string& help) {
  return Option(command_.add_option(name, value, help));
}

Option Options::add_option(const std::string& name, const std::string& help) {
  return Option(command_.add_option(name, help));
}

Option Options::add_flag(const std::string& name, bool& given, const std::string& help) {
  return Option(command_.add_flag(name, given, help));
}

void Options::remove_option(const std::string& name) {
  command_.remove_option(command_.get_option(name));
}

}  // namespace gpuctl::cli
