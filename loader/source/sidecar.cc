// SPDX-License-Identifier: Apache-2.0
#include "loader/source/sidecar.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "loader/source/member_index.h"
#include "traces/base/file.h"
#include "traces/base/xxh64.h"

namespace penstock::loader {
namespace {

constexpr std::array<char, 8> kSidecarMagic = {'P', 'S', 'T', 'K', 'I', 'D', 'X', '\n'};
constexpr std::uint32_t kVersion = 1;

struct Header {
  std::array<char, 8> magic{};
  std::uint32_t version = 0;
  std::uint32_t kind = 0;
  std::uint64_t source_size = 0;
  std::int64_t source_mtime_ns = 0;
  std::uint64_t count = 0;
  std::uint64_t classes = 0;
  std::uint64_t names_size = 0;
  std::uint64_t reserved = 0;
  std::uint64_t body_checksum = 0;
  std::uint64_t header_checksum = 0;  // of what comes before it
};
static_assert(sizeof(Header) == 80);

std::uint64_t HeaderChecksum(const Header& header) {
  return Xxh64(&header, sizeof(Header) - sizeof(header.header_checksum));
}

std::uint64_t EntrySize(SidecarKind kind) {
  return kind == SidecarKind::kList ? sizeof(std::uint64_t) : sizeof(MemberEntry);
}

}  // namespace

Described Described::Of(SidecarKind kind, const struct stat& info) {
  // Unsigned, since the nanoseconds of a time after the year 2262 exceed 63 bits. They wrap around,
  // which does no harm: times are only compared.
  const std::uint64_t ns = static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000U +
                           static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
  return {kind, static_cast<std::uint64_t>(info.st_size), static_cast<std::int64_t>(ns)};
}

std::filesystem::path SidecarPath(const std::filesystem::path& file,
                                  const std::filesystem::path& index_folder) {
  if (index_folder.empty()) {
    std::filesystem::path beside = file;
    return beside += ".idx";
  }
  std::error_code ignored;
  std::filesystem::path whole = std::filesystem::absolute(file, ignored).lexically_normal();
  const std::string& text = whole.native();
  return index_folder /
         fmt::format("{}.{:016x}.idx", file.filename().string(), Xxh64(text.data(), text.size()));
}

std::optional<Sidecar> OpenSidecar(const std::filesystem::path& path, const Described& described) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  Header header;
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      !ReadFully(fd.get(), 0, std::as_writable_bytes(std::span(&header, 1)))) {
    return std::nullopt;
  }
  const std::uint64_t body = static_cast<std::uint64_t>(info.st_size) - sizeof(Header);
  const std::uint64_t entry = EntrySize(described.kind);
  const Described found{SidecarKind{header.kind}, header.source_size, header.source_mtime_ns};
  if (header.magic != kSidecarMagic || header.version != kVersion || !(found == described) ||
      header.header_checksum != HeaderChecksum(header) || header.count > body / entry ||
      header.count * entry + header.names_size != body) {
    return std::nullopt;
  }
  const auto shared = std::make_shared<const Descriptor>(std::move(fd));
  StreamChecksum checksum;
  const bool whole = StreamRange(FileRange(shared, sizeof(Header), body), [&](auto bytes) {
    checksum.Add(bytes);
    return true;
  });
  if (!whole || checksum.Value() != header.body_checksum) {
    return std::nullopt;
  }
  const std::uint64_t names_at = sizeof(Header) + header.count * entry;
  return Sidecar{header.count, header.classes,
                 FileRange(shared, sizeof(Header), header.count * entry),
                 FileRange(shared, names_at, header.names_size)};
}

bool WriteSidecar(const std::filesystem::path& path, const Described& described,
                  const Sidecar& sidecar) {
  Header header;
  header.magic = kSidecarMagic;
  header.version = kVersion;
  header.kind = static_cast<std::uint32_t>(described.kind);
  header.source_size = described.size;
  header.source_mtime_ns = described.mtime_ns;
  header.count = sidecar.count;
  header.classes = sidecar.classes;
  header.names_size = sidecar.names.size();
  StreamChecksum checksum;
  const auto add = [&](std::span<const std::byte> bytes) {
    checksum.Add(bytes);
    return true;
  };
  if (!StreamRange(sidecar.entries, add) || !StreamRange(sidecar.names, add)) {
    return false;
  }
  header.body_checksum = checksum.Value();
  header.header_checksum = HeaderChecksum(header);

  // Two processes or threads may make the same index at once, so each uses a name of its own.
  static std::atomic<unsigned> counter{0};  // relaxed: numbers need only differ
  Result<OutputFile> file = OutputFile::Create(
      path, fmt::format(".{}-{}.tmp", ::getpid(), counter.fetch_add(1, std::memory_order_relaxed)));
  if (!file) {
    return false;
  }
  const auto append = [&](std::span<const std::byte> bytes) {
    return file->Append(bytes).has_value();
  };
  if (!append(std::as_bytes(std::span(&header, 1))) || !StreamRange(sidecar.entries, append) ||
      !StreamRange(sidecar.names, append)) {
    file->Discard();
    return false;
  }
  const std::filesystem::path temporary = file->temporary();
  if (!file->Commit()) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return false;
  }
  return true;
}

}  // namespace penstock::loader
