// Judges what would be committed: one guard a cluster, for its inputs and for what is rendered.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clean_record.hpp"
#include "diag/diagnostic.hpp"
#include "secrets/search.hpp"

namespace gpuctl::secrets {

/// An exception that a blueprint states: what stands at paths of this form is no secret.
struct Allowance {
  std::string path;  // `*` stands for any text
  std::string reason;
  diag::Origin at = diag::kNoOrigin;
  std::size_t used = 0;
};

class Guard {
 public:
  /// `clean`: where trees without findings are recorded, or nullptr. All that use one record have
  /// the same rules.
  explicit Guard(std::shared_ptr<const Rules> rules, std::shared_ptr<base::CleanRecord> clean = {})
      : rules_(std::move(rules)), clean_(std::move(clean)) {}

  /// `allow` of a blueprint: rows of `path` and `reason`.
  void allow(const yaml::Node& rows);

  /// Judges a tree that a user wrote. `subject` begins the paths: "" for a blueprint,
  /// "ConfigMap/name:" for an object. What is found is hidden in `sources`, and reported at its
  /// place.
  void check_input(const yaml::Node& tree, const std::string& subject, diag::Sources& sources,
                   diag::Sink& sink);

  /// Judges a rendered file. `path` is that of the file, `content` the bytes that the tree gives.
  /// What was reported as an input is not reported again. `digest`: of the content of the tree,
  /// when it is known; such a tree is not searched again when the record has it.
  void check_output(const yaml::Node& tree, const std::string& subject, const std::string& path,
                    std::string_view content, diag::Sources& sources, diag::Sink& sink,
                    const std::optional<base::Sha256>& digest = {});

  /// Exceptions that nothing needed are GPU0655.
  void report_idle(diag::Sink& sink) const;

  /// "PATH: REASON" for each exception that was used.
  std::vector<std::string> used() const;

 private:
  bool allowed(const Finding& finding);
  std::vector<Finding> search(const yaml::Node& tree, const std::string& subject,
                              const std::optional<base::Sha256>& digest);

  std::shared_ptr<const Rules> rules_;
  std::shared_ptr<base::CleanRecord> clean_;
  Budget budget_;
  std::vector<Allowance> allowances_;
  std::set<std::string, std::less<>> known_;  // texts that were reported, or allowed
};

/// "KIND/NAME:" of an object, otherwise "".
std::string subject_of(const yaml::Node& document);

}  // namespace gpuctl::secrets
