// Source files and the spans in them. Every node, token and diagnostic refers to a piece of text by
// a 32-bit Origin; this table turns it back into file, line and column.
//
// Tables chain: the knowledge that is embedded in the program (or shadowed by --providers) is one
// frozen table, each blueprint has a table of its own on top of it. Reading a frozen parent from
// several threads is safe; adding is not.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/concealed.hpp"
#include "diag/mask.hpp"

namespace gpuctl::diag {

/// Index of a span; 0 means "unknown position".
using Origin = std::uint32_t;
inline constexpr Origin kNoOrigin = 0;

using FileId = std::uint32_t;

/// Byte range [begin, end) of a file.
struct Span {
  FileId file = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

/// One-based line and column; the column counts Unicode code points.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

/// A file whose name and text live elsewhere for the whole run (the embedded image).
struct FileView {
  std::string_view name;
  std::string_view text;
};

/// `text` of a file behind the byte order mark that it may start with: the mark is no column.
std::string_view without_byte_order_mark(std::string_view text);

class Sources {
 public:
  Sources() = default;
  /// A table on top of `parent`, which must outlive it. The parent may still grow a little (a fault
  /// found late), but not while another thread reads it.
  explicit Sources(const Sources* parent);
  /// A root table over files and spans that live for the whole run. Span i has origin i + 1.
  Sources(std::span<const FileView> files, std::span<const Span> spans);
  /// A table that begins as another one, under the same numbers and without copies of its texts:
  /// one of several that share their first files. `shared` must outlive it and not change, and
  /// `files` are its file_views().
  Sources(const Sources& shared, std::span<const FileView> files);

  FileId add_file(std::string name, std::string text);
  /// The files of this table that it owns.
  std::vector<FileView> file_views() const;
  Origin add_span(FileId file, std::uint32_t begin, std::uint32_t end);
  /// A span inside an existing one: [begin, end) relative to its start. Unknown stays unknown.
  Origin add_subspan(Origin within, std::uint32_t begin, std::uint32_t end);

  /// Bytes [begin, end) of a file of this table hold a secret: no excerpt shows them.
  void hide(FileId file, std::uint32_t begin, std::uint32_t end);
  /// The same for what an origin covers; unknown places and those of parents are left alone.
  void hide(Origin origin);
  /// `line`, which begins at byte `offset` of the file, with `*` for each hidden byte.
  std::string without_hidden(FileId file, std::size_t offset, std::string_view line) const;

  /// No message may show this text, nor a large part of it.
  void conceal(std::string_view secret) { concealed_.add(secret); }
  /// Who knows what may be shown of a text; it must outlive this table and those on top of it.
  void set_mask(const Mask* mask) { mask_ = mask; }
  /// The one of this table, or of the nearest parent that has one, or nullptr.
  const Mask* mask() const;
  /// What may be shown of a text that speaks of these sources.
  std::string shown(std::string_view text) const;

  /// True when some of what an origin covers is hidden.
  bool is_hidden(Origin origin) const;

  /// The span of an origin, or nullptr when it is unknown.
  const Span* span(Origin origin) const;
  std::string_view file_name(FileId file) const;
  std::string_view file_text(FileId file) const;
  /// True when the span is in this table and not in a parent's.
  bool owns(Origin origin) const { return origin > span_base_ && span(origin) != nullptr; }
  /// True when the span is in a table over files that live for the whole run: built in, so that the
  /// user has no such file.
  bool is_built_in(Origin origin) const;
  /// The text the origin covers; empty when unknown.
  std::string_view text(Origin origin) const;
  Position position(FileId file, std::uint32_t offset) const;
  /// "file:line:column" of where the origin begins; empty when unknown.
  std::string place(Origin origin) const;
  /// The whole line `line` (one-based) without its line break.
  std::string_view line_text(FileId file, std::uint32_t line) const;

  /// One more than the highest number in use, spare numbers of parents included.
  std::uint32_t span_count() const {
    return span_base_ + static_cast<std::uint32_t>(own_span_count());
  }
  std::uint32_t file_count() const {
    return file_base_ + static_cast<std::uint32_t>(own_file_count());
  }

 private:
  struct OwnedFile {
    std::string name;
    std::string text;
  };
  std::size_t own_span_count() const { return frozen_spans_.size() + spans_.size(); }
  std::size_t own_file_count() const { return frozen_files_.size() + files_.size(); }

  const Sources* parent_ = nullptr;
  std::uint32_t span_base_ = 0;  // number of spans in all parents
  std::uint32_t file_base_ = 0;
  std::span<const FileView> frozen_files_;
  std::span<const Span> frozen_spans_;
  std::deque<OwnedFile> files_;  // deque: views into texts stay valid
  std::vector<Span> spans_;
  std::vector<Span> hidden_;
  Concealed concealed_;
  const Mask* mask_ = nullptr;
};

}  // namespace gpuctl::diag
