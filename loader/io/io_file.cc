// SPDX-License-Identifier: Apache-2.0
#include "loader/io/io_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace penstock::loader {
namespace {

std::string Who(const SampleRef& ref) {
  std::string who = Printable(ref.path);
  if (!ref.whole_file) {
    who += fmt::format(": {} at byte {}", Printable(ref.name), ref.offset);
  }
  return who;
}

// A lack of memory is no fault of the file, so a sample must not be skipped for it.
ErrorKind KindOf(int error) {
  return error == ENOMEM ? ErrorKind::kEnvironment : ErrorKind::kInput;
}

}  // namespace

void IoBuffer::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{kDirectAlign});
}

bool IoBuffer::Reserve(std::size_t size) {
  if (size <= capacity_ && data_ != nullptr) {
    return true;
  }
  // Grows by a half, so that slowly growing objects do not allocate each time.
  const std::size_t wanted = std::max({size, capacity_ + capacity_ / 2, std::size_t{256} << 10});
  const std::size_t rounded = (wanted + kDirectAlign - 1) / kDirectAlign * kDirectAlign;
  data_.reset();
  capacity_ = 0;
  data_.reset(static_cast<std::byte*>(
      ::operator new (rounded, std::align_val_t{kDirectAlign}, std::nothrow)));
  capacity_ = data_ == nullptr ? 0 : rounded;
  return data_ != nullptr;
}

void OwnedRef::Assign(const SampleRef& ref) {
  path_.assign(ref.path);
  name_.assign(ref.name);
  ref_ = ref;
  ref_.path = path_;
  ref_.name = name_;
}

tl::unexpected<Error> OpenFailed(const SampleRef& ref, int error) {
  if (error == EMFILE || error == ENFILE) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("{}: cannot be opened: {}; raise the limit with ulimit -n", Who(ref),
                            ErrnoText(error)));
  }
  return Fail(KindOf(error), fmt::format("{}: cannot be opened: {}; was the set changed or moved?",
                                         Who(ref), ErrnoText(error)));
}

tl::unexpected<Error> ReadFailed(const SampleRef& ref, int error) {
  return Fail(KindOf(error),
              fmt::format("{}: cannot be read: {}; check the disk", Who(ref), ErrnoText(error)));
}

tl::unexpected<Error> TooShort(const SampleRef& ref, std::uint64_t wanted, std::uint64_t got) {
  const std::string_view remedy = ref.whole_file
                                      ? "it shrank while it was read; is something writing to it?"
                                      : "the file was cut after its index was made; copy it again";
  return Fail(ErrorKind::kInput,
              fmt::format("{}: has {} bytes where {} must be; {}", Who(ref), got, wanted, remedy));
}

tl::unexpected<Error> NoMemory(const SampleRef& ref, std::uint64_t size) {
  return Fail(ErrorKind::kEnvironment, fmt::format("{}: no memory for its {} bytes; use fewer "
                                                   "threads or a smaller depth",
                                                   Who(ref), size));
}

int OpenForReading(const char* path, int extra_flags) {
  for (;;) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | extra_flags);
    if (fd >= 0) {
      return fd;
    }
    if (errno != EINTR) {
      return -errno;
    }
  }
}

Result<std::uint64_t> ObjectSize(int fd, const SampleRef& ref, std::uint64_t limit) {
  std::uint64_t size = ref.size;
  if (ref.whole_file && size == 0) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) {
      return ReadFailed(ref, errno);
    }
    if (!S_ISREG(info.st_mode)) {
      return Fail(ErrorKind::kInput,
                  fmt::format("{}: is not a regular file; take it out of the set", Who(ref)));
    }
    size = static_cast<std::uint64_t>(info.st_size);
  }
  if (size > limit) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: has {} bytes, more than the {} that one sample may have; take it "
                            "out of the set",
                            Who(ref), size, limit));
  }
  return size;
}

std::int64_t ReadAll(int fd, std::byte* to, std::uint64_t size, std::uint64_t offset) {
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd, to + done, static_cast<std::size_t>(size - done),
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return -errno;
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::uint64_t>(got);
  }
  return static_cast<std::int64_t>(done);
}

int OpenShards::Get(const OwnedRef& ref, int extra_flags) {
  ++clock_;
  const std::string_view path = ref.ref().path;
  for (Entry& entry : entries_) {
    if (entry.path == path) {
      entry.used = clock_;
      return entry.fd.get();
    }
  }
  Descriptor fd(OpenForReading(ref.path(), extra_flags));
  if (!fd) {
    return fd.get();
  }
  // O_NONBLOCK was needed only for open(). With it io_uring would return EAGAIN instead of waiting.
  ::fcntl(fd.get(), F_SETFL, extra_flags);
  if (entries_.size() < kOpen) {
    entries_.emplace_back();
  } else {
    std::iter_swap(std::min_element(entries_.begin(), entries_.end(),
                                    [](const Entry& a, const Entry& b) { return a.used < b.used; }),
                   std::prev(entries_.end()));
  }
  Entry& entry = entries_.back();
  entry.path.assign(path);
  entry.fd.Reset();
  entry.fd = std::move(fd);
  entry.used = clock_;
  return entry.fd.get();
}

}  // namespace penstock::loader
