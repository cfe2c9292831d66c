// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "loader/source/member_index.h"
#include "loader/source/packed_layout.h"
#include "loader/source/record_file.h"
#include "loader/source/sources.h"

namespace penstock::loader {
namespace {

class PackedSource : public Source {
 public:
  PackedSource(std::string path, MemberIndex index)
      : path_(std::move(path)), index_(std::move(index)) {}

  std::uint64_t size() const override { return index_.count; }
  std::string_view kind() const override { return "packed"; }
  std::uint64_t classes() const override { return index_.classes; }

  Result<SampleRef> At(std::uint64_t index, SampleScratch& scratch) const override {
    MemberEntry entry;
    scratch.name.clear();
    if (!index_.Read(index, entry) || !index_.AppendName(entry, scratch.name)) {
      return Fail(
          ErrorKind::kInput,
          fmt::format("{}: sample {}: its index entry cannot be read; was the file changed?",
                      Printable(path_), index));
    }
    return SampleRef{path_, entry.offset, entry.size, false, entry.label, scratch.name};
  }

 private:
  std::string path_;
  MemberIndex index_;
};

bool ChecksumHolds(const FileRange& index, std::uint64_t expected) {
  StreamChecksum checksum;
  const bool whole = StreamRange(index, [&](auto bytes) {
    checksum.Add(bytes);
    return true;
  });
  return whole && checksum.Value() == expected;
}

}  // namespace

Result<std::unique_ptr<Source>> OpenPacked(const std::filesystem::path& file,
                                           const SourceOptions& /*options*/) {
  const auto wrong = [&](std::string_view what) {
    return Fail(ErrorKind::kInput, fmt::format("{}: {}", Printable(file.native()), what));
  };
  Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return wrong(fmt::format("cannot be opened: {}; check path and permissions", ErrnoText(errno)));
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  PackHeader header;
  PackFooter footer;
  if (size < sizeof(header) + sizeof(footer) ||
      !ReadFully(fd.get(), 0, std::as_writable_bytes(std::span(&header, 1))) ||
      !ReadFully(fd.get(), size - sizeof(footer), std::as_writable_bytes(std::span(&footer, 1)))) {
    return wrong("is cut: a packed file has at least 96 bytes; copy or pack it again");
  }
  if (header.magic != kPackMagic) {
    return wrong("is no packed file; make one with penstock-load pack");
  }
  if (header.version != kPackVersion) {
    return wrong(
        fmt::format("packed file of version {}, this program reads version {}; pack it again",
                    header.version, kPackVersion));
  }
  if (footer.magic != kPackEnd) {
    return wrong(
        fmt::format("is cut at byte {}: the index at its end is missing; copy or pack it "
                    "again",
                    size));
  }
  const std::uint64_t footer_at = size - sizeof(footer);
  const bool fits =
      footer.footer_checksum == FooterChecksum(header, footer) &&
      footer.index_at >= sizeof(header) && footer.index_at <= footer_at && footer.count > 0 &&
      footer.count <= (footer_at - footer.index_at) / sizeof(MemberEntry) &&
      footer.names_size == footer_at - footer.index_at - footer.count * sizeof(MemberEntry);
  if (!fits) {
    return wrong(
        fmt::format("byte {}: the footer is damaged (checksum); copy or pack it again", footer_at));
  }
  const auto shared = std::make_shared<const Descriptor>(std::move(fd));
  if (!ChecksumHolds(FileRange(shared, footer.index_at, footer_at - footer.index_at),
                     footer.index_checksum)) {
    return wrong(fmt::format("byte {}: the index is damaged (checksum); copy or pack it again",
                             footer.index_at));
  }
  const std::uint64_t entries_size = footer.count * sizeof(MemberEntry);
  MemberIndex index{FileRange(shared, footer.index_at, entries_size),
                    FileRange(shared, footer.index_at + entries_size, footer.names_size),
                    footer.count, footer.classes};
  // The entries are checked although the checksum is right, since the writer may have been wrong.
  LabelRange labels;
  const bool valid = ForEachMember(index, [&](const MemberEntry& entry, std::string_view name) {
    labels.Add(entry.label);
    return entry.offset >= sizeof(header) && entry.offset <= footer.index_at &&
           entry.size <= footer.index_at - entry.offset && !name.empty() &&
           name.size() <= kMaxNameSize;
  });
  if (!valid || labels.classes() != footer.classes) {
    return wrong(fmt::format("byte {}: the index contradicts the data or itself; pack it again",
                             footer.index_at));
  }
  return std::make_unique<PackedSource>(file.native(), std::move(index));
}

}  // namespace penstock::loader
