// SPDX-License-Identifier: Apache-2.0
//
// A text file with "path label" lines. The index holds where each line begins, in 8 bytes for each
// sample. A line is read when it is needed.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "loader/source/member_index.h"
#include "loader/source/record_file.h"
#include "loader/source/sidecar.h"
#include "loader/source/sources.h"

namespace penstock::loader {
namespace {

constexpr std::size_t kMaxLine = 8192;
constexpr std::size_t kReadSize = 1 << 20;
// Reading a smaller list takes less time than looking for a sidecar on a busy file server.
constexpr std::uint64_t kSidecarFrom = 4 << 20;
constexpr std::string_view kBom = "\xef\xbb\xbf";

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && IsBlank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

struct Line {
  std::string_view path;  // empty: a blank line
  std::int64_t label = -1;
};

// Returns what is wrong with the line; nullopt if nothing is.
std::optional<std::string> ParseLine(std::string_view text, Line& line) {
  text = Trim(text);
  line = {};
  if (text.empty()) {
    return std::nullopt;
  }
  if (text.find('\0') != std::string_view::npos) {
    return "holds a byte 0; this is not a list of \"path label\" lines";
  }
  const std::size_t blank = text.find_last_of(" \t");
  if (blank == std::string_view::npos) {
    return fmt::format("\"{}\" has no label; write \"path label\"", Printable(text.substr(0, 80)));
  }
  const std::string_view label = text.substr(blank + 1);
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), line.label);
  if (error != std::errc{} || end != label.data() + label.size()) {
    return fmt::format("label \"{}\" is not an integer; write \"path label\"",
                       Printable(label.substr(0, 80)));
  }
  line.path = Trim(text.substr(0, blank));
  return std::nullopt;
}

struct ListIndex {
  FileRange offsets;
  std::uint64_t count = 0;
  std::uint64_t classes = 0;
};

// Reads the whole list once.
class ListScan {
 public:
  ListScan(int fd, std::uint64_t size, std::string name, const SourceOptions& options)
      : fd_(fd),
        size_(size),
        name_(std::move(name)),
        options_(options),
        offsets_(options.index_folder) {}

  Result<ListIndex> Run() {
    std::string buffer;
    buffer.resize(kReadSize + kMaxLine);
    std::size_t kept = 0;  // bytes of a line whose end has not been read
    for (std::uint64_t at = 0; at < size_;) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(kReadSize, size_ - at));
      if (!ReadFully(fd_, at, std::as_writable_bytes(std::span(buffer).subspan(kept, part)))) {
        return Fail(ErrorKind::kInput, fmt::format("{}: cannot be read at byte {}; check the disk",
                                                   Printable(name_), at));
      }
      std::string_view text(buffer.data(), kept + part);
      const std::uint64_t text_at = at - kept;
      at += part;
      Result<std::size_t> used = TakeLines(text, text_at, at == size_);
      PENSTOCK_TRY(used);
      kept = text.size() - *used;
      std::memmove(buffer.data(), buffer.data() + *used, kept);
      if (options_.progress) {
        options_.progress(at, size_);
      }
    }
    if (count_ == 0) {
      return Fail(ErrorKind::kInput,
                  fmt::format("{}: holds no sample; write \"path label\" lines", Printable(name_)));
    }
    Result<FileRange> offsets = offsets_.Finish();
    PENSTOCK_TRY(offsets);
    return ListIndex{std::move(*offsets), count_, labels_.classes()};
  }

 private:
  // Takes the complete lines and returns how many bytes they have.
  Result<std::size_t> TakeLines(std::string_view text, std::uint64_t text_at, bool last) {
    std::size_t from = text_at == 0 && text.starts_with(kBom) ? kBom.size() : 0;
    while (from < text.size()) {
      const std::size_t newline = text.find('\n', from);
      const bool ends = newline != std::string_view::npos;
      const std::size_t to = ends ? newline : text.size();
      const bool too_long = to - from > kMaxLine;
      if (!ends && !last && !too_long) {
        break;
      }
      ++line_;
      Line line;
      const std::optional<std::string> wrong =
          too_long ? "is longer than 8192 bytes; this is not a list of \"path label\" lines"
                   : ParseLine(text.substr(from, to - from), line);
      if (wrong) {
        return Fail(ErrorKind::kInput,
                    fmt::format("{}: line {}: {}", Printable(name_), line_, *wrong));
      }
      if (!line.path.empty()) {
        labels_.Add(line.label);
        ++count_;
        PENSTOCK_TRY(offsets_.AppendValue(text_at + from));
      }
      from = ends ? to + 1 : to;
    }
    return from;
  }

  int fd_;
  std::uint64_t size_;
  std::string name_;
  const SourceOptions& options_;
  RecordFile offsets_;
  LabelRange labels_;
  std::uint64_t count_ = 0;
  std::uint64_t line_ = 0;
};

class ListSource : public Source {
 public:
  ListSource(std::filesystem::path path, Descriptor fd, const Described& described, ListIndex index)
      : path_(std::move(path)),
        folder_(path_.parent_path().native()),
        fd_(std::move(fd)),
        described_(described),
        index_(std::move(index)) {
    if (!folder_.empty() && folder_.back() != '/') {
      folder_ += '/';
    }
  }

  std::uint64_t size() const override { return index_.count; }
  std::string_view kind() const override { return "list"; }
  std::uint64_t classes() const override { return index_.classes; }

  Result<SampleRef> At(std::uint64_t index, SampleScratch& scratch) const override {
    // Where the line begins, and where the next one does.
    std::array<std::uint64_t, 2> at{0, described_.size};
    const std::size_t known = index + 1 < index_.count ? 2 : 1;
    struct stat info {};
    if (!index_.offsets.Read(index * sizeof(std::uint64_t),
                             std::as_writable_bytes(std::span(at).first(known))) ||
        ::fstat(fd_.get(), &info) != 0 ||
        !(Described::Of(SidecarKind::kList, info) == described_) || at[0] >= at[1]) {
      return Changed(index);
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(at[1] - at[0], kMaxLine));
    scratch.name.resize(size);
    if (!ReadFully(fd_.get(), at[0], std::as_writable_bytes(std::span(scratch.name)))) {
      return Changed(index);
    }
    Line line;
    const std::string_view text = scratch.name;
    if (ParseLine(text.substr(0, text.find('\n')), line) || line.path.empty()) {
      return Changed(index);
    }
    scratch.path.clear();
    if (line.path.front() != '/') {
      scratch.path.append(folder_);
    }
    scratch.path.append(line.path);
    return SampleRef{scratch.path, 0, 0, true, line.label, line.path};
  }

 private:
  [[nodiscard]] tl::unexpected<Error> Changed(std::uint64_t index) const {
    return Fail(ErrorKind::kInput, fmt::format("{}: sample {}: the list was changed while in use; "
                                               "start again",
                                               Printable(path_.native()), index));
  }

  std::filesystem::path path_;
  std::string folder_;
  Descriptor fd_;
  Described described_;
  ListIndex index_;
};

}  // namespace

Result<std::unique_ptr<Source>> OpenList(const std::filesystem::path& list,
                                         const SourceOptions& options) {
  Descriptor fd(::open(list.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: cannot be opened: {}; check path and permissions",
                            Printable(list.native()), ErrnoText(errno)));
  }
  const Described described = Described::Of(SidecarKind::kList, info);
  const std::filesystem::path sidecar_path = SidecarPath(list, options.index_folder);
  if (described.size >= kSidecarFrom) {
    if (std::optional<Sidecar> sidecar = OpenSidecar(sidecar_path, described);
        sidecar && sidecar->count > 0) {
      ListIndex index{sidecar->entries, sidecar->count, sidecar->classes};
      return std::make_unique<ListSource>(list, std::move(fd), described, std::move(index));
    }
  }
  Result<ListIndex> index = ListScan(fd.get(), described.size, list.native(), options).Run();
  PENSTOCK_TRY(index);
  struct stat after {};
  if (described.size >= kSidecarFrom && ::fstat(fd.get(), &after) == 0 &&
      Described::Of(SidecarKind::kList, after) == described) {
    WriteSidecar(sidecar_path, described, {index->count, index->classes, index->offsets, {}});
  }
  return std::make_unique<ListSource>(list, std::move(fd), described, std::move(*index));
}

}  // namespace penstock::loader
