// SPDX-License-Identifier: Apache-2.0
#include "loader/source/tar_index.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "loader/source/sidecar.h"
#include "loader/source/tar_reader.h"

namespace penstock::loader {
namespace {

constexpr std::uint64_t kMaxLabelSize = 64;
constexpr std::uint64_t kProgressStep = 64 << 20;

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return out;
}

// WebDataset's base_plus_ext(): "a/b.c/001.seg.png" has the key "a/b.c/001" and the extension
// "seg.png".
struct KeyAndExtension {
  std::string_view key;
  std::string_view extension;
};
std::optional<KeyAndExtension> Split(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base) {
    return std::nullopt;
  }
  return KeyAndExtension{name.substr(0, dot), name.substr(dot + 1)};
}

// Collects the members of one sample, and hands the sample on when the next one begins.
class Grouper {
 public:
  Grouper(TarReader& reader, std::string tar, MemberIndexBuilder& out)
      : reader_(reader), tar_(std::move(tar)), out_(out) {}

  Result<void> Take(const TarMember& member) {
    const std::optional<KeyAndExtension> split = Split(member.name);
    if (!split || !(member.regular || member.link)) {
      return {};
    }
    if (split->key != key_) {
      if (Result<void> flushed = Flush(); !flushed) {
        return flushed;
      }
      key_ = split->key;
    }
    const std::string extension = Lower(split->extension);
    const bool label = extension == "cls";
    if (!label && !IsImageExtension(extension)) {
      return {};
    }
    if (member.link || member.sparse) {
      return Wrong(member, member.link
                               ? "is a link; make the tar with --hard-dereference --dereference"
                               : "is stored with holes; make the tar without --sparse");
    }
    if (member.name.size() > kMaxNameSize) {
      return Wrong(member, "has a name of more than 4095 bytes; give it a shorter one");
    }
    return label ? TakeLabel(member) : TakeImage(member, extension);
  }

  Result<void> Flush() {
    Result<void> added;
    if (has_image_) {
      added = out_.Add(image_.data_at, image_.size, label_.value_or(-1), image_.name);
    }
    has_image_ = false;
    label_.reset();
    key_.clear();
    return added;
  }

 private:
  Result<void> TakeImage(const TarMember& member, const std::string& extension) {
    if (has_image_ && extension == extension_) {
      return Wrong(member, "comes twice in one sample; make the tar again");
    }
    // "1.png" beside "1.jpg" is usually a mask.
    if (!has_image_ || extension == "jpg" || (extension == "jpeg" && extension_ != "jpg")) {
      has_image_ = true;
      image_ = member;
      extension_ = extension;
    }
    return {};
  }

  Result<void> TakeLabel(const TarMember& member) {
    if (label_) {
      return Wrong(member, "comes twice in one sample; make the tar again");
    }
    std::array<char, kMaxLabelSize> bytes{};
    std::string_view text;
    if (member.size <= bytes.size()) {
      const auto size = static_cast<std::size_t>(member.size);
      if (!reader_.Read(member.data_at, std::as_writable_bytes(std::span(bytes)).first(size))) {
        return Wrong(member, "cannot be read; copy the tar again");
      }
      text = std::string_view(bytes.data(), size);
      const std::size_t from = std::min(text.find_first_not_of(" \t\r\n"), text.size());
      text = text.substr(from, text.find_last_not_of(" \t\r\n") + 1 - from);
    }
    std::int64_t label = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), label);
    if (error != std::errc{} || end != text.data() + text.size()) {
      return Wrong(member, fmt::format("holds no label: \"{}\" is not an integer; mend that sample",
                                       Printable(text)));
    }
    label_ = label;
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> Wrong(const TarMember& member, std::string_view what) const {
    return Fail(ErrorKind::kInput, fmt::format("{}: member {} at byte {} {}", Printable(tar_),
                                               Printable(member.name), member.header_at, what));
  }

  TarReader& reader_;
  std::string tar_;
  MemberIndexBuilder& out_;
  std::string key_;
  bool has_image_ = false;
  TarMember image_;
  std::string extension_;
  std::optional<std::int64_t> label_;
};

Result<MemberIndex> WalkTar(int fd, std::uint64_t size, const std::string& name,
                            const SourceOptions& options) {
  MemberIndexBuilder builder(options.index_folder);
  TarReader reader(fd, size, name);
  Grouper grouper(reader, name, builder);
  TarMember member;
  std::uint64_t members = 0;
  std::uint64_t next_progress = kProgressStep;
  for (;; ++members) {
    Result<bool> more = reader.Next(member);
    PENSTOCK_TRY(more);
    if (!*more) {
      break;
    }
    PENSTOCK_TRY(grouper.Take(member));
    if (options.progress && reader.position() >= next_progress) {
      options.progress(reader.position(), size);
      next_progress = reader.position() + kProgressStep;
    }
  }
  PENSTOCK_TRY(grouper.Flush());
  if (builder.count() == 0) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: holds {} members and no image among them; a sample is KEY.jpg "
                            "(.jpeg, .png, ...) with KEY.cls beside it",
                            Printable(name), members));
  }
  return builder.Finish();
}

}  // namespace

bool IsImageExtension(std::string_view extension) {
  // torchvision's IMG_EXTENSIONS.
  static constexpr std::array<std::string_view, 9> kKnown = {"jpg", "jpeg", "png",  "ppm", "bmp",
                                                             "pgm", "tif",  "tiff", "webp"};
  if (extension.size() > 4) {
    return false;
  }
  return std::find(kKnown.begin(), kKnown.end(), Lower(extension)) != kKnown.end();
}

Result<std::uint64_t> AppendTarIndex(const std::filesystem::path& tar, const SourceOptions& options,
                                     MemberIndexBuilder& builder) {
  const Descriptor fd(::open(tar.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: cannot be opened: {}; check path and permissions",
                            Printable(tar.native()), ErrnoText(errno)));
  }
  if (!S_ISREG(info.st_mode)) {
    return Fail(ErrorKind::kInput, fmt::format("{}: is not a regular file; give a tar on disk",
                                               Printable(tar.native())));
  }
  const Described described = Described::Of(SidecarKind::kTar, info);
  const std::filesystem::path sidecar_path = SidecarPath(tar, options.index_folder);

  MemberIndex index;
  // An index is not of this tar if one of its entries points outside the tar or has no name.
  const auto fits = [&](const MemberEntry& entry, std::string_view name) {
    return entry.offset <= described.size && entry.size <= described.size - entry.offset &&
           !name.empty() && name.size() <= kMaxNameSize;
  };
  bool fresh = false;
  if (std::optional<Sidecar> sidecar = OpenSidecar(sidecar_path, described)) {
    index = {sidecar->entries, sidecar->names, sidecar->count, sidecar->classes};
    fresh = index.count > 0 && ForEachMember(index, fits);
  }
  if (!fresh) {
    Result<MemberIndex> walked = WalkTar(fd.get(), described.size, tar.native(), options);
    PENSTOCK_TRY(walked);
    index = std::move(*walked);
    struct stat after {};
    // No sidecar is written while the tar still grows.
    if (::fstat(fd.get(), &after) == 0 && Described::Of(SidecarKind::kTar, after) == described) {
      WriteSidecar(sidecar_path, described,
                   {index.count, index.classes, index.entries, index.names});
    }
  }
  Result<void> added;
  const bool read = ForEachMember(index, [&](const MemberEntry& entry, std::string_view name) {
    added = builder.Add(entry.offset, entry.size, entry.label, name);
    return added.has_value();
  });
  PENSTOCK_TRY(added);
  if (!read) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: its index cannot be read; delete {}", Printable(tar.native()),
                            Printable(sidecar_path.native())));
  }
  return index.count;
}

}  // namespace penstock::loader
