// SPDX-License-Identifier: Apache-2.0
//
// kUring: opens and reads by io_uring, with at most one operation in flight for each slot. A file
// takes two operations of the ring, to open and to read it. Between them fstat() gives the size,
// which the kernel then has in memory, and exactly that much is read. A shard is opened without the
// ring; it stays open, so a sample costs one read. Every call advances all slots, so with a depth
// of two or more the read can begin while the thread works on another sample.
//
// Linking the two operations would save one step. But a read that does not know the size cannot
// tell a whole file from one that was cut, and every buffer would have to hold the largest file.
#include <fcntl.h>
#include <fmt/format.h>
#include <liburing.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "loader/io/io_file.h"

namespace penstock::loader {
namespace {

constexpr std::uint64_t kMaxRead = 0x7ffff000;  // the most bytes that one read may ask for

class UringReader : public ObjectReader {
 public:
  explicit UringReader(const IoOptions& options) : options_(options), slots_(options.depth) {}

  ~UringReader() override {
    if (made_) {
      // The kernel writes into our buffers until the last read has ended.
      while (in_flight_ > 0 && Reap(true)) {
      }
      ::io_uring_queue_exit(&ring_);
    }
  }

  Result<void> Init() {
    const auto entries = static_cast<unsigned>(std::max<std::size_t>(options_.depth, 2));
    const int status = ::io_uring_queue_init(entries, &ring_, 0);
    if (status < 0) {
      return Fail(ErrorKind::kEnvironment,
                  fmt::format("io_uring is not available here: {} (a container's seccomp filter, "
                              "kernel.io_uring_disabled or an old kernel); use --io buffered",
                              ErrnoText(-status)));
    }
    made_ = true;
    const std::unique_ptr<io_uring_probe, decltype(&::io_uring_free_probe)> probe(
        ::io_uring_get_probe_ring(&ring_), &::io_uring_free_probe);
    if (probe == nullptr || ::io_uring_opcode_supported(probe.get(), IORING_OP_OPENAT) == 0 ||
        ::io_uring_opcode_supported(probe.get(), IORING_OP_READ) == 0) {
      return Fail(ErrorKind::kEnvironment,
                  "io_uring of this kernel cannot open or read files (needs Linux 5.6); use --io "
                  "buffered");
    }
    return {};
  }

  void Start(std::size_t index, const SampleRef& ref) override {
    Slot& slot = slots_[index];
    while (slot.busy && Reap(true)) {  // the slot's last read was dropped before Finish()
    }
    slot.file.Reset();
    slot.ref.Assign(ref);
    slot.error.reset();
    slot.size = 0;
    slot.done = 0;
    if (ref.whole_file) {
      slot.stage = Stage::kOpening;
      Submit(index);
    } else if (const int fd = shards_.Get(slot.ref, 0); fd < 0) {
      Stop(slot, OpenFailed(slot.ref.ref(), -fd).value());
    } else {
      BeginRead(index, fd);
    }
    Reap(false);
  }

  Result<std::span<const std::byte>> Finish(std::size_t index) override {
    Slot& slot = slots_[index];
    while (slot.busy && Reap(true)) {
    }
    if (slot.busy) {
      slot.error = Broken(slot);
    }
    if (slot.error) {
      ++stats_.failed;
      return tl::unexpected(*slot.error);
    }
    ++stats_.reads;
    stats_.bytes += slot.size;
    return std::span<const std::byte>(slot.buffer.data(), static_cast<std::size_t>(slot.size));
  }

  IoStats stats() const override { return stats_; }

 private:
  enum class Stage { kOpening, kReading, kEnded };
  struct Slot {
    OwnedRef ref;
    Stage stage = Stage::kEnded;
    bool busy = false;  // an operation is in flight
    Descriptor file;    // for a whole file
    int fd = -1;        // descriptor to read from: that of `file`, or a shard's
    std::uint64_t size = 0;
    std::uint64_t done = 0;
    IoBuffer buffer;
    std::optional<Error> error;
  };

  static void Stop(Slot& slot, Error error) {
    slot.error = std::move(error);
    slot.stage = Stage::kEnded;
    slot.file.Reset();
  }

  Error Broken(const Slot& slot) const {
    return {ErrorKind::kEnvironment,
            fmt::format("{}: io_uring failed: {}; use --io buffered",
                        Printable(slot.ref.ref().path), ErrnoText(broken_))};
  }

  // Hands the slot's next operation to the kernel.
  void Submit(std::size_t index) {
    Slot& slot = slots_[index];
    io_uring_sqe* sqe = broken_ == 0 ? ::io_uring_get_sqe(&ring_) : nullptr;
    if (sqe == nullptr) {  // cannot happen: the ring has room for all slots
      broken_ = broken_ == 0 ? EBUSY : broken_;
      Stop(slot, Broken(slot));
      return;
    }
    if (slot.stage == Stage::kOpening) {
      // O_NONBLOCK: a FIFO must not hang us.
      ::io_uring_prep_openat(sqe, AT_FDCWD, slot.ref.path(), O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    } else {
      ::io_uring_prep_read(sqe, slot.fd, slot.buffer.data() + slot.done,
                           static_cast<unsigned>(std::min(slot.size - slot.done, kMaxRead)),
                           slot.ref.ref().offset + slot.done);
    }
    ::io_uring_sqe_set_data64(sqe, index);
    slot.busy = true;
    ++in_flight_;
    for (;;) {
      const int status = ::io_uring_submit(&ring_);
      if (status >= 0) {
        return;
      }
      if (status == -EINTR ||
          ((status == -EBUSY || status == -EAGAIN) && in_flight_ > 1 && Reap(true))) {
        continue;
      }
      broken_ = -status;
      slot.busy = false;
      --in_flight_;
      Stop(slot, Broken(slot));
      return;
    }
  }

  // Submits the same operation again, or the rest of a read. The shard may have been closed
  // meanwhile.
  void Again(std::size_t index) {
    Slot& slot = slots_[index];
    if (slot.stage == Stage::kReading && !slot.ref.ref().whole_file) {
      slot.fd = shards_.Get(slot.ref, 0);
      if (slot.fd < 0) {
        Stop(slot, OpenFailed(slot.ref.ref(), -slot.fd).value());
        return;
      }
    }
    Submit(index);
  }

  void BeginRead(std::size_t index, int fd) {
    Slot& slot = slots_[index];
    const SampleRef& ref = slot.ref.ref();
    slot.fd = fd;
    slot.stage = Stage::kReading;
    const Result<std::uint64_t> size = ObjectSize(fd, ref, options_.max_object);
    if (!size) {
      Stop(slot, size.error());
      return;
    }
    slot.size = *size;
    if (!slot.buffer.Reserve(static_cast<std::size_t>(slot.size))) {
      Stop(slot, NoMemory(ref, slot.size).value());
      return;
    }
    if (slot.size == 0) {
      EndRead(slot);
      return;
    }
    Submit(index);
  }

  static void EndRead(Slot& slot) {
    slot.stage = Stage::kEnded;
    slot.file.Reset();
  }

  // Continues a slot whose operation has completed.
  void Advance(std::size_t index, int result) {
    Slot& slot = slots_[index];
    slot.busy = false;
    --in_flight_;
    const SampleRef& ref = slot.ref.ref();
    if (result == -EINTR || result == -EAGAIN) {
      Again(index);
    } else if (slot.stage == Stage::kOpening) {
      if (result < 0) {
        Stop(slot, OpenFailed(ref, -result).value());
        return;
      }
      slot.file = Descriptor(result);
      ::fcntl(result, F_SETFL, 0);  // with O_NONBLOCK a read could be refused
      BeginRead(index, result);
    } else if (result < 0) {
      Stop(slot, ReadFailed(ref, -result).value());
    } else if (result == 0) {
      Stop(slot, TooShort(ref, slot.size, slot.done).value());
    } else {
      slot.done += static_cast<std::uint64_t>(result);
      if (slot.done < slot.size) {
        Again(index);
      } else {
        EndRead(slot);
      }
    }
  }

  // Takes completed operations; with `wait` at least one. False if the ring is broken.
  bool Reap(bool wait) {
    io_uring_cqe* cqe = nullptr;
    if (wait) {
      int status = 0;
      do {
        status = ::io_uring_wait_cqe(&ring_, &cqe);
      } while (status == -EINTR || status == -EAGAIN);
      if (status < 0) {
        broken_ = -status;
        return false;
      }
    }
    while (::io_uring_peek_cqe(&ring_, &cqe) == 0) {
      const std::size_t index = ::io_uring_cqe_get_data64(cqe);
      const int result = cqe->res;
      ::io_uring_cqe_seen(&ring_, cqe);
      Advance(index, result);
    }
    return true;
  }

  IoOptions options_;
  io_uring ring_{};
  bool made_ = false;
  int broken_ = 0;
  std::size_t in_flight_ = 0;
  std::vector<Slot> slots_;
  OpenShards shards_;
  IoStats stats_;
};

}  // namespace

Result<std::unique_ptr<ObjectReader>> MakeUringReader(const IoOptions& options) {
  auto reader = std::make_unique<UringReader>(options);
  PENSTOCK_TRY(reader->Init());
  return reader;
}

}  // namespace penstock::loader
