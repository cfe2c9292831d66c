// SPDX-License-Identifier: Apache-2.0
//
// Opens any bytes as a tar, a packed file, a list or the index of a tar; the first byte chooses.
// Opening must either fail with an error of one line, or give samples that lie inside the file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "loader/source/member_index.h"
#include "loader/source/packed_layout.h"
#include "loader/source/sidecar.h"
#include "loader/source/sources.h"
#include "traces/base/xxh64.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace penstock::loader {
namespace {

void Require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "fuzz_loader_tar: %s\n", what);
    std::abort();
  }
}

// A file in memory that can be opened by name.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    Require(
        ::pwrite(fd_.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
        "memfd cannot be written");
  }
  [[nodiscard]] std::filesystem::path path() const {
    return "/proc/self/fd/" + std::to_string(fd_.get());
  }

 private:
  Descriptor fd_;
};

void CheckAll(const Result<std::unique_ptr<Source>>& source, std::uint64_t file_size) {
  if (!source) {
    Require(source.error().message.find('\n') == std::string::npos, "an error of two lines");
    Require(source.error().kind == ErrorKind::kInput, "an error that does not blame the input");
    return;
  }
  Require((*source)->size() > 0, "an empty source was opened");
  SampleScratch scratch;
  for (std::uint64_t i = 0; i < (*source)->size(); ++i) {
    const Result<SampleRef> ref = (*source)->At(i, scratch);
    Require(ref.has_value(), "a sample of an untouched source is not there");
    Require(!ref->name.empty() && !ref->path.empty(), "a sample without a name");
    Require(ref->whole_file || (ref->offset <= file_size && ref->size <= file_size - ref->offset),
            "a sample outside of its file");
    const std::uint64_t classes = (*source)->classes();
    Require(classes == 0 || (ref->label >= 0 && static_cast<std::uint64_t>(ref->label) < classes),
            "a label outside of the classes");
  }
}

// Returns the tar with correct checksums, so that the reader does not stop at them.
std::string WithTarChecksums(std::string bytes) {
  for (std::size_t at = 0; at + 512 <= bytes.size(); at += 512) {
    if (bytes.compare(at + 257, 5, "ustar") == 0) {
      bytes.replace(at + 148, 8, "        ");
      unsigned sum = 0;
      for (std::size_t i = 0; i < 512; ++i) {
        sum += static_cast<unsigned char>(bytes[at + i]);
      }
      char text[8];
      std::snprintf(text, sizeof(text), "%06o", sum & 0777777U);
      bytes.replace(at + 148, 7, text, 7);
    }
  }
  return bytes;
}

std::string WithPackChecksums(std::string bytes) {
  PackHeader header;
  PackFooter footer;
  if (bytes.size() < sizeof(header) + sizeof(footer)) {
    return bytes;
  }
  bytes.replace(0, header.magic.size(), header.magic.data(), header.magic.size());
  const std::size_t footer_at = bytes.size() - sizeof(footer);
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::memcpy(&footer, bytes.data() + footer_at, sizeof(footer));
  footer.magic = kPackEnd;
  if (footer.index_at <= footer_at) {
    StreamChecksum checksum;
    checksum.Add(
        std::as_bytes(std::span(bytes)).subspan(footer.index_at, footer_at - footer.index_at));
    footer.index_checksum = checksum.Value();
  }
  footer.footer_checksum = FooterChecksum(header, footer);
  std::memcpy(bytes.data() + footer_at, &footer, sizeof(footer));
  return bytes;
}

// Opens `bytes` as the index of a tar and as that of a list, after correcting their checksums.
// Everything else in the index may be wrong.
void OpenIndex(std::string bytes) {
  constexpr std::size_t kHeader = 80;
  if (bytes.size() < kHeader) {
    return;
  }
  StreamChecksum checksum;
  checksum.Add(std::as_bytes(std::span(bytes)).subspan(kHeader));
  const std::uint64_t body = checksum.Value();
  std::memcpy(bytes.data() + 64, &body, sizeof(body));
  const std::uint64_t whole = Xxh64(bytes.data(), 72);
  std::memcpy(bytes.data() + 72, &whole, sizeof(whole));
  const MemoryFile file(bytes);
  for (const SidecarKind kind : {SidecarKind::kTar, SidecarKind::kList}) {
    Described described{kind, 0, 0};
    std::memcpy(&described.size, bytes.data() + 16, sizeof(described.size));
    std::memcpy(&described.mtime_ns, bytes.data() + 24, sizeof(described.mtime_ns));
    const std::optional<Sidecar> sidecar = OpenSidecar(file.path(), described);
    if (sidecar && kind == SidecarKind::kTar) {
      const MemberIndex index{sidecar->entries, sidecar->names, sidecar->count, sidecar->classes};
      std::uint64_t seen = 0;
      const bool read = ForEachMember(index, [&](const MemberEntry& entry, std::string_view name) {
        Require(name.size() == entry.name_size(), "a name of another length");
        ++seen;
        return true;
      });
      Require(!read || seen == index.count, "not every entry was seen");
    }
  }
}

}  // namespace
}  // namespace penstock::loader

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock::loader;
  if (size == 0) {
    return 0;
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      bytes = WithTarChecksums(std::move(bytes));
      [[fallthrough]];
    case 1: {
      const MemoryFile file(bytes);
      CheckAll(OpenTars({file.path()}, {}), bytes.size());
      break;
    }
    case 2: {
      const MemoryFile file(WithPackChecksums(bytes));
      CheckAll(OpenPacked(file.path(), {}), bytes.size());
      break;
    }
    case 3: {
      const MemoryFile file(bytes);
      CheckAll(OpenList(file.path(), {}), bytes.size());
      break;
    }
    case 4:
      OpenIndex(std::move(bytes));
      break;
    default: {
      const MemoryFile file(bytes);
      CheckAll(OpenSource(file.path(), {}), bytes.size());
    }
  }
  return 0;
}
