// Values of a document together with what the schema says of them.
#include "schema/compiled.hpp"

namespace gpuctl::schema {

namespace {

class Visit {
 public:
  explicit Visit(const ValueVisitor& visit) : visit_(visit) {}

  // `schema`: of the value, nullptr when nothing is known of it; `definition`: the nearest known.
  void value(const Schema* schema, const yaml::Node& definition, const yaml::Node& value) {
    const yaml::Node& written = schema == nullptr ? definition : schema->definition;
    visit_(path_, written, value);
    for (const yaml::Entry& entry : value.entries()) {
      const Schema* below = nullptr;
      if (schema != nullptr) {
        below = schema->property(entry.key.as_string());
        if (below == nullptr && schema->additional) below = &schema->additional->get();
      }
      path_.emplace_back(entry.key.as_string());
      this->value(below, written, entry.value);
      path_.pop_back();
    }
    const Schema* items = schema != nullptr && schema->items ? &schema->items->get() : nullptr;
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      path_.push_back(std::to_string(i));
      this->value(items, written, value.items()[i]);
      path_.pop_back();
    }
  }

 private:
  const ValueVisitor& visit_;
  std::vector<std::string> path_;
};

}  // namespace

void for_each_value(const Schema& schema, const yaml::Node& document, const ValueVisitor& visit) {
  Visit(visit).value(&schema, schema.definition, document);
}

}  // namespace gpuctl::schema
