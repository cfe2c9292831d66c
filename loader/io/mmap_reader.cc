// SPDX-License-Identifier: Apache-2.0
//
// kMmap: gives the pages of the page cache themselves, without a copy. Each thread maps a shard
// once, as a whole, and a file for as long as its slot holds it.
//
// If someone cuts a mapped file, an access raises SIGBUS. So Finish() makes the kernel populate the
// pages of the sample (MADV_POPULATE_READ, Linux 5.14). This gives EFAULT where an access would
// raise SIGBUS, and moves the wait for the disk into the read, where it belongs. Before 5.14 only
// the size at mapping is checked. A file may still be cut between Finish() and the use of the
// bytes; a program that must survive a cut uses another method. Mapped pages count as resident
// memory of the process, although the kernel can take them back.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "loader/io/io_file.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace penstock::loader {
namespace {

// Maps a whole file, read-only. An empty file is not mapped, as mmap() would refuse.
class FileMap {
 public:
  FileMap() = default;
  ~FileMap() { Reset(); }
  FileMap(FileMap&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  FileMap& operator=(FileMap&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;

  void Reset() {
    if (data_ != nullptr) {
      ::munmap(data_, size_);
    }
    data_ = nullptr;
    size_ = 0;
  }

  static Result<FileMap> Open(const OwnedRef& owned, std::uint64_t limit) {
    const SampleRef& ref = owned.ref();
    const Descriptor fd(OpenForReading(owned.path(), 0));
    if (!fd) {
      return OpenFailed(ref, -fd.get());
    }
    // Uses the size of the file, not the one in the reference: memory beyond the file's end must
    // not be touched.
    SampleRef whole = ref;
    whole.whole_file = true;
    whole.size = 0;
    const Result<std::uint64_t> size = ObjectSize(fd.get(), whole, limit);
    PENSTOCK_TRY(size);
    FileMap map;
    if (*size > 0) {
      void* data =
          ::mmap(nullptr, static_cast<std::size_t>(*size), PROT_READ, MAP_SHARED, fd.get(), 0);
      if (data == MAP_FAILED) {
        return errno == ENOMEM ? NoMemory(ref, *size) : ReadFailed(ref, errno);
      }
      map.data_ = static_cast<std::byte*>(data);
      map.size_ = static_cast<std::size_t>(*size);
    }
    return map;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Calls madvise for the pages that hold `bytes`. Returns 0 or an errno.
int Advise(std::span<const std::byte> bytes, int advice) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): an address to round
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t lead = begin % page;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): advice changes nothing
  auto* from = const_cast<std::byte*>(bytes.data()) - lead;
  for (;;) {
    if (::madvise(from, bytes.size() + lead, advice) == 0) {
      return 0;
    }
    if (errno != EINTR && errno != EAGAIN) {
      return errno;
    }
  }
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

class MmapReader : public ObjectReader {
 public:
  explicit MmapReader(const IoOptions& options) : options_(options), slots_(options.depth) {}

  void Start(std::size_t index, const SampleRef& ref) override {
    Slot& slot = slots_[index];
    slot.ref.Assign(ref);
    slot.file.Reset();
    slot.shard.reset();
    slot.prepared.reset();
    if (slots_.size() > 1) {
      slot.prepared = Prepare(slot);
    }
  }

  Result<std::span<const std::byte>> Finish(std::size_t index) override {
    Slot& slot = slots_[index];
    if (!slot.prepared) {
      slot.prepared = Prepare(slot);
    }
    Result<std::span<const std::byte>> bytes = *slot.prepared;
    if (bytes && !bytes->empty()) {
      const int error = Advise(*bytes, MADV_POPULATE_READ);
      if (error != 0 && error != EINVAL) {  // EINVAL: a kernel before 5.14
        bytes = Unreadable(slot, bytes->size(), error);
      }
    }
    if (bytes) {
      ++stats_.reads;
      stats_.bytes += bytes->size();
    } else {
      ++stats_.failed;
    }
    return bytes;
  }

  IoStats stats() const override { return stats_; }

 private:
  // A process may have 65,530 mappings. With 1024 in each of 32 threads, half of them are left.
  static constexpr std::size_t kShards = 1024;
  struct Shard {
    std::shared_ptr<const FileMap> map;
    std::uint64_t used = 0;
  };
  struct Slot {
    OwnedRef ref;
    FileMap file;
    std::shared_ptr<const FileMap> shard;
    std::optional<Result<std::span<const std::byte>>> prepared;
  };

  // Maps the sample and asks for all its pages at once. Page faults would read only 128 KiB at a
  // time.
  Result<std::span<const std::byte>> Prepare(Slot& slot) {
    const SampleRef& ref = slot.ref.ref();
    std::span<const std::byte> bytes;
    if (ref.whole_file) {
      Result<FileMap> map = FileMap::Open(slot.ref, options_.max_object);
      PENSTOCK_TRY(map);
      slot.file = std::move(*map);
      bytes = slot.file.bytes();
      if (ref.size != 0) {
        if (bytes.size() < ref.size) {
          return TooShort(ref, ref.size, bytes.size());
        }
        bytes = bytes.first(static_cast<std::size_t>(ref.size));
      }
    } else {
      Result<std::shared_ptr<const FileMap>> map = MapOf(slot.ref);
      PENSTOCK_TRY(map);
      // MapOf() sets no limit to a shard. The size of a part is known without a descriptor.
      PENSTOCK_TRY(ObjectSize(-1, ref, options_.max_object));
      slot.shard = *map;
      const std::span<const std::byte> all = slot.shard->bytes();
      if (ref.offset > all.size() || ref.size > all.size() - ref.offset) {
        return TooShort(ref, ref.size,
                        all.size() - std::min<std::uint64_t>(ref.offset, all.size()));
      }
      bytes = all.subspan(static_cast<std::size_t>(ref.offset), static_cast<std::size_t>(ref.size));
    }
    if (!bytes.empty()) {
      Advise(bytes, MADV_WILLNEED);
    }
    return bytes;
  }

  Result<std::shared_ptr<const FileMap>> MapOf(const OwnedRef& ref) {
    ++clock_;
    if (const auto found = shards_.find(ref.ref().path); found != shards_.end()) {
      found->second.used = clock_;
      return found->second.map;
    }
    Result<FileMap> map = FileMap::Open(ref, ~std::uint64_t{0});
    PENSTOCK_TRY(map);
    if (shards_.size() >= kShards) {
      // Slots that still read from the map keep it.
      shards_.erase(std::min_element(shards_.begin(), shards_.end(), [](auto& a, auto& b) {
        return a.second.used < b.second.used;
      }));
    }
    auto shared = std::make_shared<const FileMap>(std::move(*map));
    shards_.emplace(std::string(ref.ref().path), Shard{shared, clock_});
    return shared;
  }

  static tl::unexpected<Error> Unreadable(const Slot& slot, std::uint64_t wanted, int error) {
    const SampleRef& ref = slot.ref.ref();
    struct stat info {};
    if (error == EFAULT && ::stat(slot.ref.path(), &info) == 0 &&
        static_cast<std::uint64_t>(info.st_size) < ref.offset + wanted) {
      const auto size = static_cast<std::uint64_t>(info.st_size);
      return TooShort(ref, wanted, size - std::min(ref.offset, size));
    }
    return ReadFailed(ref, error == EFAULT ? EIO : error);
  }

  IoOptions options_;
  std::vector<Slot> slots_;
  std::unordered_map<std::string, Shard, TextHash, std::equal_to<>> shards_;
  std::uint64_t clock_ = 0;
  IoStats stats_;
};

}  // namespace

std::unique_ptr<ObjectReader> MakeMmapReader(const IoOptions& options) {
  return std::make_unique<MmapReader>(options);
}

}  // namespace penstock::loader
