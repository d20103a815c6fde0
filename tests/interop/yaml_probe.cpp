// Lets the scripts of this folder use the YAML reader and emitter of the project, and yaml-cpp's
// own Node API for comparison. One JSON list comes on standard input, one goes to standard output.
//
//   yaml_probe emit    [VALUE]                 -> [TEXT]
//   yaml_probe read    [[TEXT, LIMITS]]        -> [RESULT]   LIMITS: "own" or "published"
//   yaml_probe bytes   [HEXADECIMAL]           -> [RESULT]   a text of the user, any bytes
//   yaml_probe node    [TEXT]                  -> [RESULT]   read by yaml-cpp's Node API
//
// RESULT is {"documents": [VALUE]} or {"findings": [[CODE, LINE, COLUMN, MESSAGE]]}. A VALUE tells
// its type: ["n"], ["b", true], ["i", "5"], ["f", "1.5"], ["s", "text"], ["l", [VALUE...]],
// ["m", [[KEY, VALUE]...]] with a VALUE as key.
#include <yaml-cpp/yaml.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/sources.hpp"
#include "yaml/emit.hpp"
#include "yaml/node.hpp"
#include "yaml/read.hpp"

namespace {

using gpuctl::yaml::Arena;
using gpuctl::yaml::Kind;
using gpuctl::yaml::Node;
using nlohmann::json;

// The shortest text that Python's float() takes for this number.
std::string real_text(double value) {
  std::array<char, 40> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

double real_value(const std::string& text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

json to_json(const Node& node) {
  switch (node.kind()) {
    case Kind::null:
      return {"n"};
    case Kind::boolean:
      return {"b", node.as_boolean()};
    case Kind::integer:
      return {"i", std::to_string(node.as_integer())};
    case Kind::real:
      return {"f", real_text(node.as_real())};
    case Kind::string:
      return {"s", std::string(node.as_string())};
    case Kind::list: {
      json items = json::array();
      for (const Node& item : node.items()) items.push_back(to_json(item));
      return {"l", items};
    }
    case Kind::map: {
      json entries = json::array();
      for (const auto& entry : node.entries()) {
        entries.push_back(json::array({to_json(entry.key), to_json(entry.value)}));
      }
      return {"m", entries};
    }
  }
  return nullptr;
}

Node from_json(const json& value, Arena& arena) {
  const std::string type = value.at(0);
  if (type == "b") return Node::boolean(value.at(1));
  if (type == "i") return Node::integer(std::stoll(value.at(1).get<std::string>()));
  if (type == "f") return Node::real(real_value(value.at(1)));
  if (type == "s") return arena.string(value.at(1).get_ref<const std::string&>());
  if (type == "l") {
    std::vector<Node> items;
    for (const json& item : value.at(1)) items.push_back(from_json(item, arena));
    return arena.list(items);
  }
  if (type == "m") {
    std::vector<gpuctl::yaml::Entry> entries;
    for (const json& pair : value.at(1)) {
      entries.push_back({from_json(pair.at(0), arena), from_json(pair.at(1), arena)});
    }
    return arena.map(entries);
  }
  return {};
}

std::string bytes_of(const std::string& digits) {
  std::string out;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    out += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
  }
  return out;
}

json read_own(const std::string& text, bool published) {
  gpuctl::diag::Sources sources;
  gpuctl::diag::Sink sink;
  Arena arena;
  const auto file = sources.add_file("probe.yaml", text);
  json documents = json::array();
  if (!published) {
    if (const auto root = read(file, sources, arena, sink)) documents.push_back(to_json(*root));
  } else {
    const auto all = read_all(file, sources, arena, sink, gpuctl::yaml::published_limits());
    for (const Node& root : all.value_or(std::vector<Node>())) documents.push_back(to_json(root));
  }
  if (!sink.has_errors()) return {{"documents", documents}};
  json findings = json::array();
  for (const auto& diagnostic : sink.sorted(sources)) {
    gpuctl::diag::Position at;
    if (const auto* span = sources.span(diagnostic.primary.at)) {
      at = sources.position(span->file, span->begin);
    }
    findings.push_back({diagnostic.code, at.line, at.column, diagnostic.message});
  }
  return {{"findings", findings}};
}

// What a user of yaml-cpp gets who asks a scalar what it can be.
json to_json(const YAML::Node& node) {
  if (node.IsNull()) return {"n"};
  if (node.IsSequence()) {
    json items = json::array();
    for (const YAML::Node& item : node) items.push_back(to_json(item));
    return {"l", items};
  }
  if (node.IsMap()) {
    json entries = json::array();
    for (const auto& entry : node) {
      entries.push_back(json::array({to_json(entry.first), to_json(entry.second)}));
    }
    return {"m", entries};
  }
  if (node.Tag() == "?") {
    if (bool value = false; YAML::convert<bool>::decode(node, value)) return {"b", value};
    if (std::int64_t value = 0; YAML::convert<std::int64_t>::decode(node, value)) {
      return {"i", std::to_string(value)};
    }
    if (double value = 0; YAML::convert<double>::decode(node, value)) {
      return {"f", real_text(value)};
    }
  }
  return {"s", node.Scalar()};
}

json read_node(const json& text) {
  try {
    json documents = json::array();
    for (const YAML::Node& root : YAML::LoadAll(text.get<std::string>())) {
      documents.push_back(to_json(root));
    }
    return {{"documents", documents}};
  } catch (const YAML::Exception& exception) {
    return {{"findings",
             {{"yaml-cpp", exception.mark.line + 1, exception.mark.column + 1, exception.msg}}}};
  }
}

json answer(const std::string& mode, const json& request) {
  if (mode == "emit") {
    Arena arena;
    return emit(from_json(request, arena));
  }
  if (mode == "read") return read_own(request.at(0), request.at(1) == "published");
  if (mode == "bytes") return read_own(bytes_of(request), false);
  if (mode == "node") return read_node(request);
  throw std::invalid_argument("unknown mode " + mode);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::invalid_argument("usage: yaml_probe emit|read|bytes|node");
    json answers = json::array();
    for (const json& request : json::parse(std::cin)) {
      answers.push_back(answer(argv[1], request));
    }
    std::cout << answers.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "yaml_probe: " << problem.what() << "\n";
    return 1;
  }
}
