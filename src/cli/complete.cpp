#include "cli/complete.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "cli/code_page.hpp"
#include "cli/fleets.hpp"
#include "cli/page.hpp"
#include "cli/program.hpp"
#include "cli/report_files.hpp"
#include "cli/samples.hpp"
#include "fields/field.hpp"
#include "install/place.hpp"

namespace gpuctl::cli {

namespace {

// What may stand at the cursor.
struct Candidates {
  std::string form = "none";
  bool whole = true;                                       // a space may follow
  std::vector<std::pair<std::string, std::string>> words;  // and what they mean

  void add(const std::string& word, const std::string& text = {}) {
    words.emplace_back(word, text);
  }
};

// By the name of a value: what the shell completes by itself.
const std::map<std::string_view, std::string_view> kForms = {
    {"FILE", "files"}, {"FILE|DIR", "files"}, {"MANIFESTS", "files"}, {"INPUTS", "files"},
    {"DIR", "dirs"},   {"PATH|URL", "dirs"},  {"REPO", "dirs"},       {"BLUEPRINT", "yaml"},
    {"FLEET", "yaml"}, {"SOURCE", "files"},
};

// By the command below `catalog`: the table that it lists.
const std::map<std::string_view, const char*> kTables = {
    {"gpus", "gpus"}, {"machines", "machines"}, {"mig", "migClasses"}, {"vgpu", "vgpuTypes"}};

// A line, read as far as it goes.
class WrittenLine {
 public:
  explicit WrittenLine(const std::vector<std::string>& words)
      : words_(words),
        commands_(commands()),
        program_(commands_, words_, false, global_, exit_code_) {}

  Candidates at_cursor() {
    const std::vector<std::string> before(words_.begin(), words_.end() - 1);
    current_ = words_.back();
    asked_ = asked_of(program_, commands_, before);
    if (!asked_.unknown.empty()) return {};
    read(before);
    if (pending_) return value(*pending_, current_, "");
    const std::size_t equals = current_.find('=');
    if (current_.starts_with("--") && equals != std::string::npos) {
      const OptionEntry* option = find(current_.substr(0, equals));
      if (option == nullptr || option->value.empty()) return {};
      return value(*option, current_.substr(equals + 1), current_.substr(0, equals + 1));
    }
    if (current_.starts_with('-') && !only_arguments_) return options();
    const std::vector<Command>& below = asked_.below(commands_);
    if (!below.empty()) {
      Candidates out;
      for (const Command& command : below) out.add(command.name, command.summary);
      return out;
    }
    if (asked_.help || arguments_.empty()) return {};
    const std::size_t place = std::min(given_.size(), arguments_.size() - 1);
    if (place < given_.size() && !arguments_[place].many) return {};
    return value(arguments_[place], current_, "");
  }

 private:
  // Options and arguments of the command, and which of them the line has.
  void read(const std::vector<std::string>& before) {
    for (OptionEntry& entry : entries_of(program_.at(asked_.path))) {
      (entry.positional ? arguments_ : options_).push_back(std::move(entry));
    }
    if (!asked_.path.empty()) {  // the program's may stand anywhere
      for (OptionEntry& entry : entries_of(program_.at({}))) {
        if (find(entry.long_name) == nullptr) options_.push_back(std::move(entry));
      }
    }
    std::size_t commands = asked_.path.size();
    const OptionEntry* waits = nullptr;  // for its value
    for (const std::string& word : before) {
      if (waits != nullptr) {
        values_[waits->long_name].push_back(word);
        waits = nullptr;
      } else if (word == "--") {
        only_arguments_ = true;
      } else if (word.starts_with('-') && word.size() > 1 && !only_arguments_) {
        const OptionEntry* option = find(word);
        if (option == nullptr) continue;
        values_[option->long_name];
        if (!option->value.empty()) waits = option;
      } else if (commands != 0) {
        commands -= asked_.path[asked_.path.size() - commands]->name == word ? 1 : 0;
      } else {
        given_.push_back(word);
      }
    }
    if (waits != nullptr) pending_ = *waits;
  }

  const OptionEntry* find(const std::string& word) const {
    const auto found = std::find_if(options_.begin(), options_.end(), [&](const OptionEntry& one) {
      return one.long_name == word || (!one.short_name.empty() && one.short_name == word);
    });
    return found == options_.end() ? nullptr : &*found;
  }

  Candidates options() const {
    Candidates out;
    for (const OptionEntry& option : options_) {
      if (values_.contains(option.long_name) && !option.many) continue;
      out.add(option.long_name.empty() ? option.short_name : option.long_name, option.text);
    }
    return out;
  }

  // What an option or argument takes, each word behind `prefix`.
  Candidates value(const OptionEntry& entry, const std::string& begun, const std::string& prefix) {
    Candidates out;
    if (!entry.choices.empty()) {
      for (const std::string& choice : entry.choices) out.add(choice);
    } else if (const auto form = kForms.find(entry.value); form != kForms.end()) {
      out.form = form->second;
    } else {
      look_up(entry.value, begun, out);
    }
    for (auto& [word, text] : out.words) word = prefix + word;
    return out;
  }

  void look_up(const std::string& name, const std::string& begun, Candidates& out) {
    const bool of_journal = arguments_.size() == 1 && arguments_.front().value == "NAME";
    if (name.starts_with("CODE")) {
      add_codes(out);
      if (name.ends_with("FIELD")) add_fields(begun, out);
    } else if (name == "SAMPLE") {
      for (const std::string& sample : sample_names()) out.add(sample);
    } else if (name == "COMMAND") {
      for (const Command& command : commands_) out.add(command.name, command.summary);
    } else if (name == "PLATFORM") {
      add_platforms(out);
    } else if (name == "MODEL") {
      add_table("gpus", out);
    } else if (name == "MACHINE") {
      add_table("machines", out);
    } else if (name.starts_with("PROFILE")) {
      add_profiles(begun, out);
    } else if (name == "FILTER") {
      add_entries(out);
    } else if (name == "STAGE" || name == "WAVE" || (name == "CLUSTER" && !of_journal)) {
      add_of_fleets(name, out);
    } else if (of_journal) {
      for (const std::string& cluster : install::known_clusters()) out.add(cluster);
    } else if (name == "CHOICE" || name == "NAME") {
      add_of_blueprint(name, out);
    } else if (name == "text|json") {
      for (const char* form : {"text", "json"}) out.add(form);
    } else if (name == "FORMAT=FILE") {
      add_report_forms(begun, out);
    } else if (name == "OBJECT") {
      out.form = "files";
    }
  }

  Knowledge& knowledge() {
    diag::Sink unsaid;
    return open_knowledge(global_, unsaid);
  }

  static void add_codes(Candidates& out) {
    for (const std::string& code : codes_with_pages()) out.add(code, code_title(code));
  }

  // The next step of a path: `spec.` may be left out.
  void add_fields(const std::string& begun, Candidates& out) {
    const std::string above = begun.substr(0, begun.rfind('.') + 1);  // nothing, or with the dot
    std::vector<std::string> places = {above};
    if (above.empty()) places.emplace_back("spec");
    with_platforms([&](const catalog::Platform& platform) {
      for (const std::string& place : places) {
        const fields::Lookup around =
            fields::find_field(schema::definition(*platform.blueprint), place);
        if (!around.field) continue;
        for (const fields::Field& field : fields::fields_of(*around.field)) {
          out.add(above + field.path.substr(field.path.rfind('.') + 1),
                  fields::first_sentence(field.definition));
        }
      }
    });
    if (!begun.empty()) out.whole = begun.starts_with("GPU");  // a path may go on
  }

  void add_platforms(Candidates& out) {
    catalog::Library& library = knowledge().library();
    for (const std::string& name : catalog::platforms(library)) {
      const yaml::Node* provider = library.file("providers/" + name + "/provider.yaml");
      out.add(name, provider == nullptr
                        ? std::string()
                        : std::string(provider->get({"spec", "title"}).as_string()));
    }
  }

  template <typename Use>
  void with_platforms(const Use& use) {
    diag::Sink unsaid;
    catalog::Library& library = knowledge().library();
    for (const std::string& name : catalog::platforms(library)) {
      const auto loaded = catalog::load_platform(library, name, diag::kNoOrigin, unsaid);
      if (loaded != nullptr) use(*loaded);
    }
  }

  template <typename Use>
  void with_tables(const char* name, const Use& use) {
    std::set<std::string> seen;
    with_platforms([&](const catalog::Platform& platform) {
      const catalog::Table* table = platform.table(name);
      if (table != nullptr && seen.insert(table->provider).second) use(*table);
    });
  }

  void add_table(const char* name, Candidates& out) {
    with_tables(name, [&](const catalog::Table& table) {
      for (const yaml::Entry& row : table.rows.entries()) {
        out.add(std::string(row.key.as_string()), std::string(row.value.get("title").as_string()));
      }
    });
  }

  static void add_report_forms(const std::string& begun, Candidates& out) {
    if (begun.find('=') != std::string::npos) {
      out.form = "files";
      return;
    }
    for (const std::string& form : report_forms()) out.add(form + "=");
    out.whole = false;
  }

  void add_entries(Candidates& out) {
    const std::string& command = asked_.path.back()->name;
    if (const auto table = kTables.find(command); table != kTables.end()) {
      add_table(table->second, out);
    } else if (command == "platforms") {
      add_platforms(out);
    } else if (command == "codes") {
      add_codes(out);
    }
  }

  // "PROFILE:COUNT,...": what is begun behind the last comma.
  void add_profiles(const std::string& begun, Candidates& out) {
    const auto gpu = values_.find("--gpu");
    if (gpu == values_.end() || gpu->second.empty()) return;
    std::string group;
    with_tables("gpus", [&](const catalog::Table& table) {
      const yaml::Node* row = table.rows.find(gpu->second.back());
      if (row != nullptr) group = row->get("migClass").as_string();
    });
    const std::string before = begun.substr(0, begun.rfind(',') + 1);
    with_tables("migClasses", [&](const catalog::Table& table) {
      const yaml::Node* row = table.rows.find(group.empty() ? gpu->second.back() : group);
      if (row == nullptr) return;
      for (const yaml::Node& profile : row->get("profiles").items()) {
        out.add(before + std::string(profile.get("name").as_string()) + ":");
      }
    });
    out.whole = false;
  }

  // Blueprints that the line names so far.
  std::vector<std::string> blueprints() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const std::string& kind = arguments_[std::min(i, arguments_.size() - 1)].value;
      const bool counts = kind == "BLUEPRINT" || kind == "FLEET" || kind == "FILE";
      if (counts && given_[i] != "-") out.push_back(given_[i]);
    }
    return out;
  }

  void add_of_fleets(const std::string& name, Candidates& out) {
    BlueprintOptions options;
    options.blueprints = blueprints();
    if (options.blueprints.empty()) return;
    Report report(global_);
    const auto all = choose_clusters(options, knowledge(), report);
    if (!all) return;
    if (name == "CLUSTER") {
      for (const Chosen& one : all->chosen) out.add(one.cluster->id());
      for (const Chosen& one : all->chosen) out.add(one.cluster->name, one.cluster->stage);
      return;
    }
    for (const auto& fleet : all->fleets) {
      for (const fleet::Stage& stage : fleet->stages()) {
        if (name == "STAGE") out.add(stage.name);
        for (const fleet::Wave& wave : stage.waves) {
          if (name == "WAVE") out.add(wave.name, stage.name);
        }
      }
    }
  }

  // Names that a blueprint gives, and choices that it leaves open: pools are in both.
  void add_of_blueprint(const std::string& name, Candidates& out) {
    BlueprintOptions options;
    options.blueprints = blueprints();
    Request request;
    Report report(global_);
    if (options.blueprints.empty() || !expand_fleets(options, request, knowledge(), report)) return;
    request.despite_rules = true;
    const Result result = pipeline::run(options.blueprints.front(), request, knowledge());
    if (!result.derived) return;
    if (name == "CHOICE") {
      for (const derive::Choice& choice : result.derived->choices) out.add(choice.path);
      return;
    }
    for (const auto& [group, names] : result.derived->names) {
      for (const auto& one : names) out.add(one.first);
    }
  }

  std::vector<std::string> words_;
  std::vector<Command> commands_;
  GlobalOptions global_;
  int exit_code_ = kOk;
  Program program_;
  std::string current_;
  Asked asked_;
  std::vector<OptionEntry> options_;
  std::vector<OptionEntry> arguments_;
  std::vector<std::string> given_;                          // arguments before the cursor
  std::map<std::string, std::vector<std::string>> values_;  // by long name of an option
  std::optional<OptionEntry> pending_;                      // the cursor is at its value
  bool only_arguments_ = false;                             // behind `--`
};

// On one line, and not steering the terminal.
std::string on_one_line(std::string text) {
  text = diag::shown(text);
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::replace(text.begin(), text.end(), '\n', ' ');
  constexpr std::size_t kMost = 60;
  if (text.size() <= kMost) return text;
  return text.substr(0, base::character_limit(text, kMost)) + "...";
}

}  // namespace

int complete(const std::vector<std::string>& words) {
  Candidates found;
  const std::string current = words.empty() ? std::string() : words.back();
  if (!words.empty()) found = WrittenLine(words).at_cursor();
  std::string out = found.form + (found.whole ? "" : " nospace") + "\n";
  std::set<std::string> seen;
  for (const auto& [word, text] : found.words) {
    if (!word.starts_with(current) || !seen.insert(word).second) continue;
    out += word + (text.empty() ? "" : "\t" + on_one_line(text)) + "\n";
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return kOk;
}

}  // namespace gpuctl::cli
