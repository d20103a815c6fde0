// A server of the Model Context Protocol: what it answers to each message of a client. What tools
// do and what resources hold is given to it; it reads and writes nothing itself.
//
// Source: https://modelcontextprotocol.io/specification, revisions 2024-11-05 to 2026-07-28.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::mcp {

/// Longest message that is read, in bytes. Arguments are names and paths.
inline constexpr std::size_t kMostMessageBytes = 1024 * 1024;
/// Longest result of a tool, in bytes of JSON; it is sent twice, as structure and as text.
inline constexpr std::size_t kMostResultBytes = 4 * 1024 * 1024;

/// What a tool answers.
struct ToolResult {
  yaml::Node structured;  // a map
  std::string said;       // what a model should read first; may be empty
  bool failed = false;    // the tool ran and says no: no error of the protocol
};

/// Something a client may call. It changes nothing, whatever it is called with.
struct Tool {
  std::string name;
  std::string title;
  std::string description;
  yaml::Node input;   // JSON Schema 2020-12 of the arguments
  yaml::Node output;  // of the structured result
  /// Gets a map. What it gives lives in the arena. It must bear any arguments.
  std::function<ToolResult(const yaml::Node& arguments, yaml::Arena& arena)> call;
};

/// Something a client may read, or with `{}` in its address a template of such.
struct Resource {
  std::string address;
  std::string name;
  std::string title;
  std::string description;
  std::string media_type;
};

/// What is behind the address of a resource.
struct Content {
  std::string media_type;
  std::string text;
};

/// All that a server has.
struct Offer {
  std::string name;
  std::string title;
  std::string version;
  std::string instructions;  // for models: what it is good for
  std::vector<Tool> tools;
  std::vector<Resource> resources;
  std::vector<Resource> templates;
  /// Nothing where no resource has this address.
  std::function<std::optional<Content>(std::string_view address)> read;
};

/// One connection. Not for several threads.
class Server {
 public:
  /// `offer` must outlive it.
  explicit Server(const Offer& offer) : offer_(offer) {}

  /// The answer to a message, on one line without its line feed; empty where none is due. Nothing
  /// in the message makes it throw.
  std::string answer(std::string_view message);
  /// The answer to a message that was longer than kMostMessageBytes.
  static std::string answer_too_long();

 private:
  const Offer& offer_;
  bool is_initialized_ = false;  // by the handshake of the revisions before 2026-07-28
};

}  // namespace gpuctl::mcp
