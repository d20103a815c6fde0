#include "cli/cost_options.hpp"

#include "base/file.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cli {

namespace {

// "200", or "POOL=200".
std::string fault_in_hours(const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto number =
      base::parse_integer(equals == std::string::npos ? text : text.substr(equals + 1));
  const bool fits = number && *number >= 0 && *number <= cost::Hours().month && equals != 0;
  return fits ? "" : "not 0 to " + std::to_string(cost::Hours().month) + ", or POOL=HOURS: " + text;
}

}  // namespace

void CostOptions::add_to(Options& command) {
  command.add_option("--costs", costs, "Own figures: a file of kind Costs").type_name("FILE");
  command
      .add_option("--hours", hours,
                  "Hours a month that scaled pools are at their maximum, in a typical month; "
                  "POOL=HOURS for one pool; may be repeated")
      .type_name("HOURS")
      .allow_extra_args(false)
      .check(fault_in_hours);
}

cost::Hours CostOptions::month() const {
  cost::Hours out;
  for (const std::string& word : hours) {
    const std::size_t equals = word.find('=');
    const std::string digits = equals == std::string::npos ? word : word.substr(equals + 1);
    const std::int64_t number = base::parse_integer(digits).value_or(0);
    if (equals == std::string::npos) {
      out.at_max = number;
    } else {
      out.pool_at_max[word.substr(0, equals)] = number;
    }
  }
  return out;
}

bool OwnCosts::read(const std::string& path, Knowledge& knowledge, Report& report) {
  if (path.empty()) return true;
  auto content = base::read_file(path, yaml::ReadLimits().bytes);
  if (const auto* error = std::get_if<base::FileError>(&content)) {
    sink.error(kUnreadable, diag::kNoOrigin, "cannot read `" + shown(path) + "`: " + error->text);
  } else {
    const diag::FileId file = sources.add_file(path, std::move(std::get<std::string>(content)));
    knowledge.hide_secrets(file, sources);
    figures.read(file, knowledge.library(), {sources, arena, sink});
  }
  report.show(sink, sources);
  return !sink.has_errors();
}

void OwnCosts::report_doubtful(Report& report) const {
  diag::Sink doubtful;
  figures.report_doubtful(doubtful);
  report.show(doubtful, sources);
}

}  // namespace gpuctl::cli
