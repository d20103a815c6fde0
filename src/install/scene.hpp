// What the expressions of steps see, and the words of the programs they run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "live/programs.hpp"
#include "pipeline/run.hpp"
#include "steps/steps.hpp"

namespace gpuctl::install {

/// The attempt as expressions see it.
struct AttemptView {
  std::size_t number = 1;
  std::string directory;
  std::string place;
  std::map<std::string, std::string> identity;
  std::set<std::string> made;  // things, as the journal calls them
};

/// Values for one cluster. The result of the pipeline, its platform and the steps must outlive it;
/// faults of knowledge are reported in the context of the result (GPU03xx).
class Scene {
 public:
  Scene(pipeline::Result& result, const steps::Steps& steps, const live::Programs& programs,
        const AttemptView& attempt);

  void set_documents(const yaml::Node& documents) { set(steps::kDocuments, documents); }
  void set_answer(const yaml::Node& answer) { set(steps::kAnswer, answer); }
  void set_folder(const std::string& folder);
  void set_item(const yaml::Node& item) { set(steps::kItem, item); }

  /// The value; nothing when it cannot be told. Only with a sink a fault is reported.
  std::optional<cel::Value> value(const cel::LazyExpression& expression, diag::Sink* sink);
  /// Whether it is true; what is not there is `otherwise`.
  bool is_true(const cel::LazyExpression& expression, bool otherwise, diag::Sink* sink);
  /// The text; "" after a fault.
  std::string text(const cel::LazyText& text, diag::Sink& sink);
  /// Texts of a list.
  std::vector<std::string> texts(const cel::LazyExpression& expression);

  /// The program with its words; nothing after a diagnostic.
  std::optional<base::Process> process(const steps::Call& call, diag::Sink& sink);
  /// The words as a person would type them; the program by its first name.
  std::string shown(const steps::Call& call, diag::Sink& sink);

  yaml::Arena& arena() { return *result_.arena; }
  pipeline::Result& result() { return result_; }

 private:
  void set(steps::Variable variable, const yaml::Node& value);
  std::vector<std::string> words(const steps::Call& call, diag::Sink& sink);

  pipeline::Result& result_;
  const steps::Steps& steps_;
  const live::Programs& programs_;
  std::vector<cel::Value> values_;
  std::size_t own_ = 0;  // where the variables of steps begin
};

}  // namespace gpuctl::install
