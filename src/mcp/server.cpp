#include "mcp/server.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <initializer_list>
#include <utility>
#include <variant>

#include "diag/character.hpp"
#include "yaml/emit.hpp"
#include "yaml/json.hpp"

namespace gpuctl::mcp {

namespace {

using yaml::Arena;
using yaml::MapBuilder;
using yaml::Node;

// Errors of JSON-RPC 2.0, section 5.1, and of the protocol itself.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kInternalError = -32603;
constexpr int kNoSuchResource = -32002;  // up to 2025-11-25; then kInvalidParams
constexpr int kUnsupportedVersion = -32022;

// In which each request says what it speaks.
constexpr std::string_view kStateless = "2026-07-28";
// Those with a handshake, the newest first. 2025-03-26 alone wants batches, and has no clients that
// know no other.
constexpr std::array<std::string_view, 3> kWithHandshake = {"2025-11-25", "2025-06-18",
                                                            "2024-11-05"};

constexpr std::string_view kVersionField = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesField = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kInfoField = "io.modelcontextprotocol/serverInfo";

// For how long a client may keep lists and resources. They are as long good as the process lives.
constexpr std::int64_t kFreshMilliseconds = 3'600'000;

struct Failure {
  int code = kInternalError;
  std::string message;
  Node data = {};
};

using Outcome = std::variant<MapBuilder, Failure>;

Node map_of(std::initializer_list<std::pair<std::string_view, Node>> fields, Arena& arena) {
  MapBuilder out;
  for (const auto& [key, value] : fields) out.set(arena, key, value);
  return out.build(arena);
}

std::string written(const MapBuilder& message, Arena& arena) {
  return diag::well_formed(yaml::emit_json(message.build(arena)));
}

std::string error_message(const Node& id, const Failure& failure, Arena& arena) {
  MapBuilder error;
  error.set(arena, "code", Node::integer(failure.code));
  error.set(arena, "message", arena.string(failure.message));
  if (!failure.data.is_null()) error.set(arena, "data", failure.data);
  MapBuilder message;
  message.set(arena, "jsonrpc", arena.string("2.0"));
  message.set(arena, "id", id);
  message.set(arena, "error", error.build(arena));
  return written(message, arena);
}

// One request, and what it is answered.
class Exchange {
 public:
  Exchange(const Offer& offer, bool& is_initialized, std::string_view method, const Node& params,
           Arena& arena)
      : offer_(offer),
        is_initialized_(is_initialized),
        method_(method),
        params_(params),
        arena_(arena) {}

  Outcome outcome() {
    if (method_ == "initialize") return initialize();
    const Node meta = params_.get("_meta");
    const Node* version = meta.find(kVersionField);
    is_stateless_ = version != nullptr;
    if (is_stateless_) {
      if (version->as_string() != kStateless) return unsupported(*version);
      if (!meta.get(kCapabilitiesField).is_map()) return missing(kCapabilitiesField);
    } else if (method_ == "ping") {
      return MapBuilder();
    } else if (!is_initialized_ || method_ == "server/discover") {
      return missing(kVersionField);
    }
    Outcome out = dispatched();
    if (auto* result = std::get_if<MapBuilder>(&out); result != nullptr && is_stateless_) {
      result->set(arena_, "resultType", text("complete"));
      result->set(arena_, "_meta", map_of({{kInfoField, server_info()}}, arena_));
    }
    return out;
  }

 private:
  Node text(std::string_view text) { return arena_.string(text); }

  static Failure missing(std::string_view field) {
    return {kInvalidParams, "the request has no `" + std::string(field) + "` in `_meta`, and no " +
                                "`initialize` came before it"};
  }

  Failure unsupported(const Node& requested) {
    const std::array<Node, 1> supported = {text(kStateless)};
    return {kUnsupportedVersion, "Unsupported protocol version",
            map_of({{"supported", arena_.list(supported)}, {"requested", requested}}, arena_)};
  }

  Node server_info() {
    return map_of({{"name", text(offer_.name)},
                   {"title", text(offer_.title)},
                   {"version", text(offer_.version)}},
                  arena_);
  }

  Node capabilities() {
    const Node none = MapBuilder().build(arena_);
    return map_of({{"tools", none}, {"resources", none}}, arena_);
  }

  Outcome initialize() {
    const Node wanted = params_.get("protocolVersion");
    if (!wanted.is_string()) return Failure{kInvalidParams, "`protocolVersion` must be a string"};
    const bool known = std::find(kWithHandshake.begin(), kWithHandshake.end(),
                                 wanted.as_string()) != kWithHandshake.end();
    MapBuilder out;
    out.set(arena_, "protocolVersion", known ? wanted : text(kWithHandshake.front()));
    out.set(arena_, "capabilities", capabilities());
    out.set(arena_, "serverInfo", server_info());
    out.set(arena_, "instructions", text(offer_.instructions));
    is_initialized_ = true;
    return out;
  }

  Outcome dispatched() {
    if (method_ == "tools/call") return call();
    if (method_ == "resources/read") return read();
    MapBuilder out;
    if (method_ == "server/discover") {
      const std::array<Node, 1> supported = {text(kStateless)};
      out.set(arena_, "supportedVersions", arena_.list(supported));
      out.set(arena_, "capabilities", capabilities());
      out.set(arena_, "instructions", text(offer_.instructions));
      return cacheable(std::move(out));
    }
    const bool lists = method_ == "tools/list" || method_ == "resources/list" ||
                       method_ == "resources/templates/list";
    if (!lists) return Failure{kMethodNotFound, "unknown method `" + diag::shown(method_) + "`"};
    if (params_.find("cursor") != nullptr) {
      return Failure{kInvalidParams, "`cursor` is none that was given: lists come whole"};
    }
    if (method_ == "tools/list") {
      std::vector<Node> all;
      for (const Tool& tool : offer_.tools) all.push_back(described(tool));
      out.set(arena_, "tools", arena_.list(all));
    } else if (method_ == "resources/list") {
      out.set(arena_, "resources", described(offer_.resources, "uri"));
    } else {
      out.set(arena_, "resourceTemplates", described(offer_.templates, "uriTemplate"));
    }
    return cacheable(std::move(out));
  }

  MapBuilder cacheable(MapBuilder result) {
    if (is_stateless_) {
      result.set(arena_, "ttlMs", Node::integer(kFreshMilliseconds));
      result.set(arena_, "cacheScope", text("public"));
    }
    return result;
  }

  Node described(const Tool& tool) {
    const Node annotations = map_of({{"readOnlyHint", Node::boolean(true)},
                                     {"destructiveHint", Node::boolean(false)},
                                     {"idempotentHint", Node::boolean(true)},
                                     {"openWorldHint", Node::boolean(false)}},
                                    arena_);
    return map_of({{"name", text(tool.name)},
                   {"title", text(tool.title)},
                   {"description", text(tool.description)},
                   {"inputSchema", tool.input},
                   {"outputSchema", tool.output},
                   {"annotations", annotations}},
                  arena_);
  }

  Node described(const std::vector<Resource>& resources, std::string_view address) {
    std::vector<Node> all;
    for (const Resource& one : resources) {
      all.push_back(map_of({{address, text(one.address)},
                            {"name", text(one.name)},
                            {"title", text(one.title)},
                            {"description", text(one.description)},
                            {"mimeType", text(one.media_type)}},
                           arena_));
    }
    return arena_.list(all);
  }

  Outcome call() {
    const std::string_view name = params_.get("name").as_string();
    const auto tool = std::find_if(offer_.tools.begin(), offer_.tools.end(),
                                   [&](const Tool& one) { return one.name == name; });
    if (tool == offer_.tools.end()) {
      return Failure{kInvalidParams, "unknown tool `" + diag::shown(name) + "`"};
    }
    const Node* given = params_.find("arguments");
    if (given != nullptr && !given->is_map()) {
      return Failure{kInvalidParams, "`arguments` must be an object"};
    }
    const ToolResult result =
        tool->call(given == nullptr ? MapBuilder().build(arena_) : *given, arena_);
    const std::string json = yaml::emit_json(result.structured);
    const bool fits = json.size() <= kMostResultBytes;
    std::vector<Node> blocks;
    if (!result.said.empty()) blocks.push_back(block(result.said));
    // Clients that know no structured results read its text.
    blocks.push_back(fits ? block(json)
                          : block("the result has " + std::to_string(json.size()) +
                                  " bytes, more than the " + std::to_string(kMostResultBytes) +
                                  " that are sent: ask for less at a time"));
    MapBuilder out;
    out.set(arena_, "content", arena_.list(blocks));
    if (fits) out.set(arena_, "structuredContent", result.structured);
    out.set(arena_, "isError", Node::boolean(result.failed || !fits));
    return out;
  }

  Node block(std::string_view content) {
    return map_of({{"type", text("text")}, {"text", text(content)}}, arena_);
  }

  Outcome read() {
    const Node address = params_.get("uri");
    if (!address.is_string()) return Failure{kInvalidParams, "`uri` must be a string"};
    const std::optional<Content> content = offer_.read(address.as_string());
    if (!content) {
      return Failure{is_stateless_ ? kInvalidParams : kNoSuchResource, "Resource not found",
                     map_of({{"uri", address}}, arena_)};
    }
    const Node one = map_of(
        {{"uri", address}, {"mimeType", text(content->media_type)}, {"text", text(content->text)}},
        arena_);
    MapBuilder out;
    out.set(arena_, "contents", arena_.list({&one, 1}));
    return cacheable(std::move(out));
  }

  const Offer& offer_;
  bool& is_initialized_;
  std::string_view method_;
  Node params_;
  Arena& arena_;
  bool is_stateless_ = false;
};

// What makes a message none that can be answered by its method; nothing where it can.
std::optional<Failure> fault_of(const Node& message) {
  if (message.is_list()) {
    return Failure{kInvalidRequest, "batches are not part of the protocol: one message a line"};
  }
  if (!message.is_map()) return Failure{kInvalidRequest, "a message must be an object"};
  if (message.get("jsonrpc").as_string() != "2.0") {
    return Failure{kInvalidRequest, "`jsonrpc` must be \"2.0\""};
  }
  if (!message.get("method").is_string()) {
    return Failure{kInvalidRequest, "`method` must be a string"};
  }
  const Node* id = message.find("id");
  if (id != nullptr && !id->is_string() && !id->is_integer()) {
    return Failure{kInvalidRequest, "`id` must be a string or an integer"};
  }
  return std::nullopt;
}

bool is_response(const Node& message) {
  return message.find("method") == nullptr &&
         (message.find("result") != nullptr || message.find("error") != nullptr);
}

}  // namespace

std::string Server::answer(std::string_view message) {
  Arena arena;
  std::string why;
  const std::optional<Node> read = yaml::read_json(message, arena, why);
  if (!read) return error_message(Node(), {kParseError, "the message " + why}, arena);
  // We ask for nothing, and answering an answer could go on forever.
  if (is_response(*read)) return {};
  Node id = read->get("id");
  if (!id.is_string() && !id.is_integer()) id = Node();
  if (const std::optional<Failure> fault = fault_of(*read)) {
    return error_message(id, *fault, arena);
  }
  // None of the notifications that clients send changes what a server does that answers in turn.
  if (read->find("id") == nullptr) return {};
  const Node* params = read->find("params");
  if (params != nullptr && !params->is_map()) {
    return error_message(id, {kInvalidParams, "`params` must be an object"}, arena);
  }
  try {
    Exchange exchange(offer_, is_initialized_, read->get("method").as_string(),
                      params == nullptr ? Node() : *params, arena);
    const Outcome outcome = exchange.outcome();
    if (const auto* failure = std::get_if<Failure>(&outcome)) {
      return error_message(id, *failure, arena);
    }
    MapBuilder out;
    out.set(arena, "jsonrpc", arena.string("2.0"));
    out.set(arena, "id", id);
    out.set(arena, "result", std::get<MapBuilder>(outcome).build(arena));
    return written(out, arena);
  } catch (const std::exception&) {
    // Nothing a client sends should get here; the next request may go well.
    return error_message(id, {kInternalError, "internal error"}, arena);
  }
}

std::string Server::answer_too_long() {
  Arena arena;
  return error_message(Node(),
                       {kInvalidRequest, "the message is longer than " +
                                             std::to_string(kMostMessageBytes) + " bytes"},
                       arena);
}

}  // namespace gpuctl::mcp
