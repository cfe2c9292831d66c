// SPDX-License-Identifier: Apache-2.0
//
// kBuffered and kDirect: open and pread. kDirect opens with O_DIRECT, so it reads whole blocks to
// aligned memory.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "loader/io/io_file.h"

namespace penstock::loader {
namespace {

class PreadReader : public ObjectReader {
 public:
  PreadReader(const IoOptions& options, bool direct)
      : options_(options), direct_(direct), slots_(options.depth) {}

  void Start(std::size_t index, const SampleRef& ref) override {
    Slot& slot = slots_[index];
    slot.ref.Assign(ref);
    slot.file.Reset();
    slot.error = 0;
    // An early start would gain nothing in these cases. With one slot, Finish() follows at once.
    // O_DIRECT has no cache to read ahead into, so only opening a file can be done early. An empty
    // part has nothing to read.
    if (slots_.size() < 2 || (direct_ && !ref.whole_file) || (!ref.whole_file && ref.size == 0)) {
      return;
    }
    const int fd = Open(slot);
    if (fd >= 0 && !slot.direct) {
      ::posix_fadvise(fd, static_cast<off_t>(ref.offset), static_cast<off_t>(ref.size),
                      POSIX_FADV_WILLNEED);  // length 0 means to the end
    }
  }

  Result<std::span<const std::byte>> Finish(std::size_t index) override {
    Slot& slot = slots_[index];
    Result<std::span<const std::byte>> bytes = Read(slot);
    slot.file.Reset();
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
  struct Slot {
    OwnedRef ref;
    Descriptor file;  // for a whole file; shards are in shards_
    int error = 0;
    bool direct = false;
    IoBuffer buffer;
  };

  // Returns the slot's descriptor, and opens it if need be; or -errno.
  int Open(Slot& slot) {
    if (slot.error != 0) {
      return -slot.error;
    }
    if (slot.file) {
      return slot.file.get();
    }
    slot.direct = direct_;
    int fd = OpenOnce(slot);
    if (fd == -EINVAL && slot.direct) {  // this file system has no O_DIRECT
      slot.direct = false;
      ++stats_.direct_refused;
      fd = OpenOnce(slot);
    }
    slot.error = fd < 0 ? -fd : 0;
    return fd;
  }

  int OpenOnce(Slot& slot) {
    const int flags = slot.direct ? O_DIRECT : 0;
    if (!slot.ref.ref().whole_file) {
      return (slot.direct ? direct_shards_ : shards_).Get(slot.ref, flags);
    }
    slot.file = Descriptor(OpenForReading(slot.ref.path(), flags));
    return slot.file.get();
  }

  Result<std::span<const std::byte>> Read(Slot& slot) {
    const SampleRef& ref = slot.ref.ref();
    const int fd = Open(slot);
    if (fd < 0) {
      return OpenFailed(ref, -fd);
    }
    const Result<std::uint64_t> size = ObjectSize(fd, ref, options_.max_object);
    PENSTOCK_TRY(size);
    // With O_DIRECT there must be room for whole blocks before and after.
    if (!slot.buffer.Reserve(static_cast<std::size_t>(*size) + 2 * kDirectAlign)) {
      return NoMemory(ref, *size);
    }
    if (slot.direct) {
      return ReadDirect(slot, fd, *size);
    }
    return ReadBuffered(slot, fd, *size);
  }

  static Result<std::span<const std::byte>> ReadBuffered(Slot& slot, int fd, std::uint64_t size) {
    const std::int64_t got = ReadAll(fd, slot.buffer.data(), size, slot.ref.ref().offset);
    if (got < 0) {
      return ReadFailed(slot.ref.ref(), static_cast<int>(-got));
    }
    if (static_cast<std::uint64_t>(got) < size) {
      return TooShort(slot.ref.ref(), size, static_cast<std::uint64_t>(got));
    }
    return std::span<const std::byte>(slot.buffer.data(), static_cast<std::size_t>(size));
  }

  Result<std::span<const std::byte>> ReadDirect(Slot& slot, int fd, std::uint64_t size) {
    const SampleRef& ref = slot.ref.ref();
    const std::uint64_t begin = ref.offset / kDirectAlign * kDirectAlign;
    const std::uint64_t lead = ref.offset - begin;
    const std::uint64_t wanted = lead + size;
    std::uint64_t done = 0;
    while (done < wanted) {
      // A short read is not always the end of the file: go on from the last whole block.
      const std::uint64_t from = done / kDirectAlign * kDirectAlign;
      const std::uint64_t length = (wanted - from + kDirectAlign - 1) / kDirectAlign * kDirectAlign;
      const ssize_t got = ::pread(fd, slot.buffer.data() + from, static_cast<std::size_t>(length),
                                  static_cast<off_t>(begin + from));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0 && errno == EINVAL) {  // the file needs another block size than ours
        return ReadWithoutDirect(slot, size);
      }
      if (got < 0) {
        return ReadFailed(ref, errno);
      }
      if (from + static_cast<std::uint64_t>(got) <= done) {
        return TooShort(ref, size, std::max(done, lead) - lead);
      }
      done = from + static_cast<std::uint64_t>(got);
    }
    return std::span<const std::byte>(slot.buffer.data() + lead, static_cast<std::size_t>(size));
  }

  Result<std::span<const std::byte>> ReadWithoutDirect(Slot& slot, std::uint64_t size) {
    ++stats_.direct_refused;
    slot.direct = false;
    slot.file.Reset();
    const int fd = OpenOnce(slot);
    return fd < 0 ? OpenFailed(slot.ref.ref(), -fd) : ReadBuffered(slot, fd, size);
  }

  IoOptions options_;
  bool direct_;
  std::vector<Slot> slots_;
  OpenShards shards_;
  OpenShards direct_shards_;
  IoStats stats_;
};

}  // namespace

std::unique_ptr<ObjectReader> MakeBufferedReader(const IoOptions& options) {
  return std::make_unique<PreadReader>(options, false);
}

std::unique_ptr<ObjectReader> MakeDirectReader(const IoOptions& options) {
  return std::make_unique<PreadReader>(options, true);
}

}  // namespace penstock::loader
