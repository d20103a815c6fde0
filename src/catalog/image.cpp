#include "catalog/image.hpp"

#include <bit>
#include <cstring>

#include "base/digest.hpp"

namespace gpuctl::catalog {

namespace {

constexpr std::string_view kMagic = "gpuctl-image-01\n";
constexpr std::size_t kDigestBytes = 64;
static_assert(sizeof(diag::Span) == 12);
static_assert(std::endian::native == std::endian::little, "the image is read as it was written");

void put_u32(std::string& out, std::size_t value) {
  const auto narrow = static_cast<std::uint32_t>(value);
  char bytes[sizeof narrow];
  std::memcpy(bytes, &narrow, sizeof narrow);
  out.append(bytes, sizeof narrow);
}

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7F) | 0x80);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

void put_tree(std::string& out, const yaml::Node& node) {
  out += static_cast<char>(node.kind());
  put_varint(out, node.origin());
  switch (node.kind()) {
    case yaml::Kind::null:
      break;
    case yaml::Kind::boolean:
      out += node.as_boolean() ? '\1' : '\0';
      break;
    case yaml::Kind::integer: {
      const auto bits = static_cast<std::uint64_t>(node.as_integer());
      put_varint(out, (bits << 1U) ^ (node.as_integer() < 0 ? ~std::uint64_t{0} : 0));
      break;
    }
    case yaml::Kind::real: {
      const double value = node.as_real();
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      out.append(bytes, sizeof value);
      break;
    }
    case yaml::Kind::string:
      put_varint(out, node.size());
      out += node.as_string();
      break;
    case yaml::Kind::list:
      put_varint(out, node.size());
      for (const yaml::Node& item : node.items()) put_tree(out, item);
      break;
    case yaml::Kind::map:
      put_varint(out, node.size());
      for (const yaml::Entry& entry : node.entries()) {
        put_tree(out, entry.key);
        put_tree(out, entry.value);
      }
      break;
  }
}

class TreeReader {
 public:
  TreeReader(std::string_view bytes, yaml::Arena& arena) : rest_(bytes), arena_(arena) {}

  yaml::Node read() {
    const auto kind = static_cast<yaml::Kind>(rest_.front());
    rest_.remove_prefix(1);
    const auto origin = static_cast<diag::Origin>(varint());
    switch (kind) {
      case yaml::Kind::null:
        return yaml::Node::null(origin);
      case yaml::Kind::boolean: {
        const bool value = rest_.front() != '\0';
        rest_.remove_prefix(1);
        return yaml::Node::boolean(value, origin);
      }
      case yaml::Kind::integer: {
        const std::uint64_t bits = varint();
        return yaml::Node::integer(static_cast<std::int64_t>((bits >> 1U) ^ (~(bits & 1U) + 1U)),
                                   origin);
      }
      case yaml::Kind::real: {
        double value = 0;
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_.remove_prefix(sizeof value);
        return yaml::Node::real(value, origin);
      }
      case yaml::Kind::string: {
        const std::size_t size = varint();
        const std::string_view text = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return yaml::Node::view(text, origin);
      }
      case yaml::Kind::list: {
        std::vector<yaml::Node> items(varint());
        for (yaml::Node& item : items) item = read();
        return arena_.list(items, origin);
      }
      case yaml::Kind::map: {
        std::vector<yaml::Entry> entries(varint());
        for (yaml::Entry& entry : entries) {
          entry.key = read();
          entry.value = read();
        }
        return arena_.map(entries, origin);
      }
    }
    return {};
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
      shift += 7;
    }
  }

  std::string_view rest_;
  yaml::Arena& arena_;
};

std::uint32_t get_u32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Header after the magic: file count, span count, then per file six numbers.
constexpr std::size_t kHeaderBytes = kMagic.size() + kDigestBytes + 8;
constexpr std::size_t kFileRowBytes = 6 * sizeof(std::uint32_t);

}  // namespace

std::string write_image(std::span<const ImageFile> files, const diag::Sources& sources) {
  std::string pool;
  std::string rows;
  std::string everything;
  const std::size_t span_bytes = sources.span_count() * sizeof(diag::Span);
  const std::size_t pool_at = kHeaderBytes + files.size() * kFileRowBytes + span_bytes;
  for (const ImageFile& file : files) {
    for (const std::string_view part : {std::string_view(file.name), std::string_view(file.text)}) {
      put_u32(rows, pool_at + pool.size());
      put_u32(rows, part.size());
      pool += part;
      everything += part;
      everything += '\0';
    }
    std::string tree;
    put_tree(tree, file.tree);
    put_u32(rows, pool_at + pool.size());
    put_u32(rows, tree.size());
    pool += tree;
  }
  std::string out(kMagic);
  out += base::sha256_hex(everything);
  put_u32(out, files.size());
  put_u32(out, sources.span_count());
  out += rows;
  for (diag::Origin origin = 1; origin <= sources.span_count(); ++origin) {
    const diag::Span* span = sources.span(origin);
    put_u32(out, span->file);
    put_u32(out, span->begin);
    put_u32(out, span->end);
  }
  out += pool;
  return out;
}

std::optional<Image> Image::open(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  Image image;
  image.digest_ = bytes.substr(kMagic.size(), kDigestBytes);
  const std::uint32_t file_count = get_u32(bytes, kMagic.size() + kDigestBytes);
  const std::uint32_t span_count = get_u32(bytes, kMagic.size() + kDigestBytes + 4);
  const std::size_t spans_at = kHeaderBytes + file_count * kFileRowBytes;
  if (bytes.size() < spans_at + span_count * sizeof(diag::Span)) return std::nullopt;
  for (std::uint32_t i = 0; i < file_count; ++i) {
    const std::size_t row = kHeaderBytes + i * kFileRowBytes;
    const auto part = [&](std::size_t which) {
      return bytes.substr(get_u32(bytes, row + which * 8), get_u32(bytes, row + which * 8 + 4));
    };
    image.files_.push_back({part(0), part(1)});
    image.trees_.push_back(part(2));
  }
  // The linker aligns the image, and header and rows are multiples of four bytes.
  image.spans_ = {reinterpret_cast<const diag::Span*>(bytes.data() + spans_at), span_count};
  return image;
}

yaml::Node Image::tree(std::size_t file, yaml::Arena& arena) const {
  return TreeReader(trees_[file], arena).read();
}

}  // namespace gpuctl::catalog
