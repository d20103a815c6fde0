#include "diag/sources.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace gpuctl::diag {

namespace {
// Numbers left free above a parent, so that a fault in knowledge that is compiled late can still
// add its span there.
constexpr std::uint32_t kSpareSpans = 1U << 20U;
constexpr std::uint32_t kSpareFiles = 1U << 12U;
}  // namespace

Sources::Sources(const Sources* parent)
    : parent_(parent),
      span_base_(parent == nullptr ? 0 : parent->span_count() + kSpareSpans),
      file_base_(parent == nullptr ? 0 : parent->file_count() + kSpareFiles) {}

Sources::Sources(std::span<const FileView> files, std::span<const Span> spans)
    : frozen_files_(files), frozen_spans_(spans) {}

Sources::Sources(const Sources& shared, std::span<const FileView> files)
    : parent_(shared.parent_),
      span_base_(shared.span_base_),
      file_base_(shared.file_base_),
      frozen_files_(files),
      frozen_spans_(shared.spans_),
      hidden_(shared.hidden_),
      concealed_(shared.concealed_),
      mask_(shared.mask_) {}

std::vector<FileView> Sources::file_views() const {
  std::vector<FileView> out;
  for (const OwnedFile& file : files_) out.push_back({file.name, file.text});
  return out;
}

FileId Sources::add_file(std::string name, std::string text) {
  files_.push_back({std::move(name), std::move(text)});
  return file_count() - 1;
}

Origin Sources::add_span(FileId file, std::uint32_t begin, std::uint32_t end) {
  spans_.push_back({file, begin, end});
  return span_count();
}

Origin Sources::add_subspan(Origin within, std::uint32_t begin, std::uint32_t end) {
  const Span* outer = span(within);
  if (outer == nullptr) return kNoOrigin;
  return add_span(outer->file, outer->begin + begin, outer->begin + end);
}

void Sources::hide(FileId file, std::uint32_t begin, std::uint32_t end) {
  if (begin < end) hidden_.push_back({file, begin, end});
}

void Sources::hide(Origin origin) {
  const Span* found = owns(origin) ? span(origin) : nullptr;
  if (found != nullptr) hide(found->file, found->begin, found->end);
}

std::string Sources::without_hidden(FileId file, std::size_t offset, std::string_view line) const {
  std::string out(line);
  for (const Span& hidden : hidden_) {
    if (hidden.file != file) continue;
    const std::size_t begin = std::max<std::size_t>(hidden.begin, offset);
    const std::size_t end = std::min<std::size_t>(hidden.end, offset + out.size());
    for (std::size_t i = begin; i < end; ++i) out[i - offset] = '*';
  }
  return out;
}

const Mask* Sources::mask() const {
  return mask_ != nullptr || parent_ == nullptr ? mask_ : parent_->mask();
}

std::string Sources::shown(std::string_view text) const {
  std::string out = concealed_.empty() ? std::string(text) : concealed_.shown(text);
  const Mask* known = mask();
  return known == nullptr ? out : known->shown(out);
}

bool Sources::is_hidden(Origin origin) const {
  const Span* found = owns(origin) ? span(origin) : nullptr;
  return found != nullptr && std::any_of(hidden_.begin(), hidden_.end(), [&](const Span& hidden) {
           return hidden.file == found->file && hidden.begin < found->end &&
                  found->begin < hidden.end;
         });
}

const Span* Sources::span(Origin origin) const {
  if (origin == kNoOrigin) return nullptr;
  const std::uint32_t index = origin - 1;
  if (index < span_base_) return parent_->span(origin);
  const std::size_t own = index - span_base_;
  if (own < frozen_spans_.size()) return &frozen_spans_[own];
  if (own - frozen_spans_.size() < spans_.size()) return &spans_[own - frozen_spans_.size()];
  return nullptr;
}

bool Sources::is_built_in(Origin origin) const {
  if (origin == kNoOrigin) return false;
  if (origin - 1 < span_base_) return parent_->is_built_in(origin);
  return parent_ == nullptr && origin - 1 - span_base_ < frozen_spans_.size();
}

std::string_view Sources::file_name(FileId file) const {
  if (file < file_base_) return parent_->file_name(file);
  const std::size_t own = file - file_base_;
  if (own < frozen_files_.size()) return frozen_files_[own].name;
  return files_[own - frozen_files_.size()].name;
}

std::string_view Sources::file_text(FileId file) const {
  if (file < file_base_) return parent_->file_text(file);
  const std::size_t own = file - file_base_;
  if (own < frozen_files_.size()) return frozen_files_[own].text;
  return files_[own - frozen_files_.size()].text;
}

std::string_view Sources::text(Origin origin) const {
  const Span* where = span(origin);
  if (where == nullptr) return {};
  const std::string_view all = file_text(where->file);
  if (where->begin > all.size()) return {};
  return all.substr(where->begin, where->end - where->begin);
}

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

Position Sources::position(FileId file, std::uint32_t offset) const {
  const std::string_view all = file_text(file);
  const std::string_view before = all.substr(0, std::min<std::size_t>(offset, all.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n');
  const std::string_view in_line = line_start == std::string_view::npos
                                       ? without_byte_order_mark(before)
                                       : before.substr(line_start + 1);
  return {static_cast<std::uint32_t>(lines) + 1,
          static_cast<std::uint32_t>(base::code_points(in_line)) + 1};
}

std::string Sources::place(Origin origin) const {
  const Span* where = span(origin);
  if (where == nullptr) return {};
  const Position at = position(where->file, where->begin);
  return std::string(file_name(where->file)) + ":" + std::to_string(at.line) + ":" +
         std::to_string(at.column);
}

std::string_view Sources::line_text(FileId file, std::uint32_t line) const {
  std::string_view rest = without_byte_order_mark(file_text(file));
  for (std::uint32_t i = 1; i < line; ++i) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  std::string_view text = rest.substr(0, rest.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace gpuctl::diag
