#include "catalog/image.hpp"

#include <bit>
#include <cstring>

#include "base/digest.hpp"
#include "yaml/packed.hpp"

namespace gpuctl::catalog {

namespace {

constexpr std::string_view kMagic = "gpuctl-image-02\n";
constexpr std::size_t kDigestBytes = 64;
static_assert(sizeof(diag::Span) == 12);
static_assert(std::endian::native == std::endian::little, "the image is read as it was written");

void put_u32(std::string& out, std::size_t value) {
  const auto narrow = static_cast<std::uint32_t>(value);
  char bytes[sizeof narrow];
  std::memcpy(bytes, &narrow, sizeof narrow);
  out.append(bytes, sizeof narrow);
}

std::uint32_t get_u32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Header after the magic: file count, span count, place and size of the programs, then per file six
// numbers.
constexpr std::size_t kCounts = kMagic.size() + kDigestBytes;
constexpr std::size_t kHeaderBytes = kCounts + 4 * sizeof(std::uint32_t);
constexpr std::size_t kFileRowBytes = 6 * sizeof(std::uint32_t);

}  // namespace

std::string write_image(std::span<const ImageFile> files, const diag::Sources& sources,
                        const Programs& programs) {
  // Names come first and together: a search goes through them, and texts between would make it
  // touch all pages of the image.
  std::string pool;
  for (const ImageFile& file : files) pool += file.name;
  std::size_t name_at = 0;
  std::string rows;
  std::string everything;
  const std::size_t span_bytes = sources.span_count() * sizeof(diag::Span);
  const std::size_t pool_at = kHeaderBytes + files.size() * kFileRowBytes + span_bytes;
  const auto put = [&](std::size_t at, std::size_t size) {
    put_u32(rows, pool_at + at);
    put_u32(rows, size);
  };
  for (const ImageFile& file : files) {
    put(name_at, file.name.size());
    name_at += file.name.size();
    put(pool.size(), file.text.size());
    pool += file.text;
    for (const std::string_view part : {std::string_view(file.name), std::string_view(file.text)}) {
      everything += part;
      everything += '\0';
    }
    std::string tree;
    yaml::pack(tree, file.tree);
    put(pool.size(), tree.size());
    pool += tree;
  }
  std::string compiled;
  for (const auto& [platform, bytes] : programs) {
    yaml::pack_text(compiled, platform);
    yaml::pack_text(compiled, bytes);
  }
  std::string out(kMagic);
  out += base::sha256_hex(everything);
  put_u32(out, files.size());
  put_u32(out, sources.span_count());
  put_u32(out, pool_at + pool.size());
  put_u32(out, compiled.size());
  out += rows;
  for (diag::Origin origin = 1; origin <= sources.span_count(); ++origin) {
    const diag::Span* span = sources.span(origin);
    put_u32(out, span->file);
    put_u32(out, span->begin);
    put_u32(out, span->end);
  }
  out += pool;
  out += compiled;
  return out;
}

std::optional<Image> Image::open(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  Image image;
  image.digest_ = bytes.substr(kMagic.size(), kDigestBytes);
  const std::uint32_t file_count = get_u32(bytes, kCounts);
  const std::uint32_t span_count = get_u32(bytes, kCounts + 4);
  const std::size_t spans_at = kHeaderBytes + file_count * kFileRowBytes;
  if (bytes.size() < spans_at + span_count * sizeof(diag::Span)) return std::nullopt;
  image.files_.reserve(file_count);
  image.trees_.reserve(file_count);
  for (std::uint32_t i = 0; i < file_count; ++i) {
    const std::size_t row = kHeaderBytes + i * kFileRowBytes;
    const auto part = [&](std::size_t which) {
      return bytes.substr(get_u32(bytes, row + which * 8), get_u32(bytes, row + which * 8 + 4));
    };
    image.files_.push_back({part(0), part(1)});
    image.trees_.push_back(part(2));
  }
  yaml::Unpacker programs(bytes.substr(get_u32(bytes, kCounts + 8), get_u32(bytes, kCounts + 12)));
  while (!programs.at_end()) {
    const std::string_view platform = programs.text();
    image.programs_.emplace(platform, programs.text());
  }
  // The linker aligns the image, and header and rows are multiples of four bytes.
  image.spans_ = {reinterpret_cast<const diag::Span*>(bytes.data() + spans_at), span_count};
  return image;
}

std::string_view Image::programs(std::string_view platform) const {
  const auto found = programs_.find(platform);
  return found == programs_.end() ? std::string_view() : found->second;
}

yaml::Node Image::tree(std::size_t file, yaml::SharedArena& arena) const {
  return yaml::Unpacker(trees_[file]).lazy_tree(arena);
}

}  // namespace gpuctl::catalog
