// Pack and index as `gitformat-pack` describes them, version 2 of both. Objects are stored whole:
// to look for deltas takes longer than all the rest, and `git gc` does it later.
#include "git/new_objects.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/digest.hpp"
#include "base/file.hpp"
#include "git/codes.hpp"

namespace gpuctl::git {

namespace {

constexpr std::size_t kBufferBytes = 1U << 20U;
// As git names its own, which it removes one day; ours are locked as long as their owner lives.
constexpr std::string_view kTemporary = "tmp_pack_gpuctl_";

enum class Kind : std::uint8_t { tree = 2, blob = 3 };

using Id = base::Sha1;

struct HashId {
  std::size_t operator()(const Id& id) const {
    std::size_t hash = 0;
    std::copy_n(id.begin(), sizeof hash, reinterpret_cast<unsigned char*>(&hash));
    return hash;
  }
};

struct Stored {
  std::uint64_t offset = 0;
  std::uint32_t crc = 0;
};

void put_u32(std::string& out, std::uint64_t value) {
  for (unsigned shift = 32; shift != 0;) out += static_cast<char>(value >> (shift -= 8) & 0xFFU);
}

void put_id(std::string& out, const Id& id) {
  out.append(reinterpret_cast<const char*>(id.data()), id.size());
}

// Header and compressed content of one object in a pack.
std::string packed(Kind kind, std::string_view content) {
  std::string out;
  std::size_t size = content.size();
  auto byte = static_cast<unsigned char>(static_cast<unsigned>(kind) << 4U | (size & 0xFU));
  for (size >>= 4U; size != 0; size >>= 7U) {
    out += static_cast<char>(byte | 0x80U);
    byte = static_cast<unsigned char>(size & 0x7FU);
  }
  out += static_cast<char>(byte);
  const std::size_t header = out.size();
  uLongf length = compressBound(static_cast<uLong>(content.size()));
  out.resize(header + length);
  compress2(reinterpret_cast<Bytef*>(out.data() + header), &length,
            reinterpret_cast<const Bytef*>(content.data()), static_cast<uLong>(content.size()),
            Z_BEST_SPEED);
  out.resize(header + length);
  return out;
}

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(
      ::crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

namespace {

// A new temporary file; closed when that fails, with errno.
base::FileDescriptor make_temporary(std::string& name) {
  const std::string pattern = name;
  while (true) {
    name = pattern + "XXXXXX";
    base::FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
    if (!file) return file;
    while (::flock(file.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat status {};
    // Taken for left before it was locked?
    if (::fstat(file.get(), &status) != 0 || status.st_nlink != 0) return file;
  }
}

}  // namespace

struct NewObjects::State {
  std::string directory;  // objects/pack
  std::string temporary;
  base::FileDescriptor file;
  std::mutex mutex;
  int error = 0;       // errno of the first failed write
  std::string buffer;  // not yet written
  std::uint64_t offset = 0;
  std::unordered_map<Id, Stored, HashId> objects;
  std::vector<std::string> made;  // by finish()

  Id add(Kind kind, std::string_view content) {
    const std::string header = (kind == Kind::blob ? "blob " : "tree ") +
                               std::to_string(content.size()) + std::string(1, '\0');
    const Id id = base::sha1(header, content);
    {
      const std::lock_guard<std::mutex> guard(mutex);
      if (!objects.try_emplace(id).second) return id;
    }
    const std::string bytes = packed(kind, content);
    const std::uint32_t crc = crc_of(bytes);
    const std::lock_guard<std::mutex> guard(mutex);
    objects[id] = {offset, crc};
    offset += bytes.size();
    buffer += bytes;
    if (buffer.size() >= kBufferBytes) flush();
    return id;
  }

  void flush() {
    if (error == 0) error = base::write_all(file.get(), buffer);
    buffer.clear();
  }

  // The tree of the files in [begin, end), whose paths all start with the same `skip` bytes.
  using Files = std::map<std::string, std::string>;
  Id add_tree(Files::const_iterator begin, Files::const_iterator end, std::size_t skip) {
    struct Entry {
      std::string name;
      bool directory;
      Id id;
      // As git sorts: a directory as if its name ended with a slash.
      std::string order() const { return directory ? name + "/" : name; }
    };
    std::vector<Entry> entries;
    for (auto at = begin; at != end;) {
      const std::size_t slash = at->first.find('/', skip);
      if (slash == std::string::npos) {
        entries.push_back({at->first.substr(skip), false, add(Kind::blob, at->second)});
        ++at;
        continue;
      }
      const std::string_view prefix = std::string_view(at->first).substr(0, slash + 1);
      auto last = at;
      while (last != end && last->first.starts_with(prefix)) ++last;
      entries.push_back(
          {at->first.substr(skip, slash - skip), true, add_tree(at, last, slash + 1)});
      at = last;
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.order() < b.order(); });
    std::string content;
    for (const Entry& entry : entries) {
      content += (entry.directory ? "40000 " : "100644 ") + entry.name + '\0';
      put_id(content, entry.id);
    }
    return add(Kind::tree, content);
  }

  // The finished pack gets its true number of objects, and a digest over all of it. 0 or errno.
  int seal(Id& digest) {
    flush();
    if (error != 0) return error;
    std::string header = "PACK";
    put_u32(header, 2);
    put_u32(header, objects.size());
    if (::pwrite(file.get(), header.data(), header.size(), 0) !=
        static_cast<ssize_t>(header.size())) {
      return errno == 0 ? EIO : errno;
    }
    base::Sha1Stream all;
    std::string block(kBufferBytes, '\0');
    for (std::uint64_t at = 0; at < offset;) {
      const ssize_t count = ::pread(file.get(), block.data(), block.size(), static_cast<off_t>(at));
      if (count <= 0) return count == 0 ? EIO : errno;
      all.add(std::string_view(block).substr(0, static_cast<std::size_t>(count)));
      at += static_cast<std::uint64_t>(count);
    }
    digest = all.finish();
    std::string trailer;
    put_id(trailer, digest);
    if (const int code = base::write_all(file.get(), trailer); code != 0) return code;
    return ::fsync(file.get()) == 0 ? 0 : errno;
  }

  std::string index(const Id& pack_digest) const {
    constexpr std::uint64_t kLarge = 0x8000'0000;
    std::vector<std::pair<Id, Stored>> sorted(objects.begin(), objects.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string out = "\377tOc";
    put_u32(out, 2);
    std::size_t below = 0;
    for (unsigned first = 0; first < 256; ++first) {
      while (below < sorted.size() && sorted[below].first[0] == first) ++below;
      put_u32(out, below);
    }
    for (const auto& [id, stored] : sorted) put_id(out, id);
    for (const auto& [id, stored] : sorted) put_u32(out, stored.crc);
    std::string large;
    for (const auto& [id, stored] : sorted) {
      if (stored.offset < kLarge) {
        put_u32(out, stored.offset);
        continue;
      }
      put_u32(out, kLarge | large.size() / 8);
      put_u32(large, stored.offset >> 32U);
      put_u32(large, stored.offset & 0xFFFF'FFFFU);
    }
    out += large;
    put_id(out, pack_digest);
    put_id(out, base::sha1("", out));
    return out;
  }
};

NewObjects::NewObjects(std::unique_ptr<State> state) : state_(std::move(state)) {}
NewObjects::NewObjects(NewObjects&&) noexcept = default;
NewObjects& NewObjects::operator=(NewObjects&&) noexcept = default;

NewObjects::~NewObjects() {
  if (state_ != nullptr && !state_->temporary.empty()) ::unlink(state_->temporary.c_str());
}

std::optional<NewObjects> NewObjects::start(const std::string& object_directory, diag::Sink& sink) {
  auto state = std::make_unique<State>();
  state->directory = object_directory + "/pack";
  ::mkdir(state->directory.c_str(), 0777);
  std::string name = state->directory + "/" + std::string(kTemporary);
  state->file = make_temporary(name);
  if (!state->file) {
    sink.error(kCannotWrite, diag::kNoOrigin,
               "cannot write `" + state->directory + "`: " + base::errno_text(errno));
    return std::nullopt;
  }
  state->temporary = name;
  state->buffer.assign(12, '\0');  // the header, known at the end
  state->offset = state->buffer.size();
  return NewObjects(std::move(state));
}

void NewObjects::remove_left(const std::string& object_directory) {
  const auto names = base::list_directory(object_directory + "/pack");
  const auto* list = std::get_if<std::vector<std::string>>(&names);
  for (const std::string& name : list == nullptr ? std::vector<std::string>() : *list) {
    if (!name.starts_with(kTemporary)) continue;
    const std::string path = object_directory + "/pack/" + name;
    const base::FileDescriptor file(
        ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

std::string NewObjects::add_blob(std::string_view content) {
  return base::hex(state_->add(Kind::blob, content));
}

std::string NewObjects::add_directory(const std::map<std::string, std::string>& files) {
  return base::hex(state_->add_tree(files.begin(), files.end(), 0));
}

bool NewObjects::finish(diag::Sink& sink) {
  const auto fail = [&](int code) {
    take_back();
    sink.error(kCannotWrite, diag::kNoOrigin,
               "cannot write the new objects as a pack: " + base::errno_text(code))
        .suggest("make room or grant access, then run again: nothing was changed on the branch");
    return false;
  };
  State& state = *state_;
  if (state.objects.empty()) return true;
  Id digest{};
  if (const int code = state.seal(digest); code != 0) return fail(code);
  const std::string name = state.directory + "/pack-" + base::hex(digest);
  std::string index_name = state.directory + "/" + std::string(kTemporary);
  base::FileDescriptor index = make_temporary(index_name);
  if (!index) return fail(errno);
  state.made.push_back(index_name);
  int code = base::write_all(index.get(), state.index(digest));
  const mode_t mask = ::umask(022);
  ::umask(mask);
  for (const base::FileDescriptor* file : {&state.file, &index}) {
    if (code == 0 && ::fchmod(file->get(), 0444 & ~mask) != 0) code = errno;
  }
  if (code == 0 && ::fsync(index.get()) != 0) code = errno;
  // The pack first: an index without its pack would be damage.
  const auto rename = [&](std::string& from, const std::string& to) {
    if (code == 0 && ::rename(from.c_str(), to.c_str()) != 0) code = errno;
    if (code == 0) state.made.push_back(to);
  };
  rename(state.temporary, name + ".pack");
  if (code == 0) state.temporary.clear();
  rename(index_name, name + ".idx");
  const base::FileDescriptor directory(
      ::open(state.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (code == 0 && (!directory || ::fsync(directory.get()) != 0)) code = errno;
  return code == 0 || fail(code);
}

void NewObjects::take_back() {
  for (const std::string& path : state_->made) ::unlink(path.c_str());
  state_->made.clear();
}

}  // namespace gpuctl::git
