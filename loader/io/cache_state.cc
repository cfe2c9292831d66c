// SPDX-License-Identifier: Apache-2.0
#include "loader/io/cache_state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "loader/io/io_file.h"

namespace penstock::loader {
namespace {

constexpr long kCachestat = 451;  // the same number on every architecture; glibc has no wrapper

// From linux/mman.h of 6.5, which Debian 12 does not have yet.
struct CachestatRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
struct Cachestat {
  std::uint64_t cached = 0;
  std::uint64_t dirty = 0;
  std::uint64_t writeback = 0;
  std::uint64_t evicted = 0;
  std::uint64_t recently_evicted = 0;
};

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The part of the file that holds the sample. False if it is no regular file.
bool RangeOf(int fd, const SampleRef& ref, Range& range, struct stat& info) {
  if (fd < 0 || ::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return false;
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  range.begin = ref.whole_file ? 0 : std::min(ref.offset, size);
  range.end = ref.whole_file ? size : range.begin + std::min(ref.size, size - range.begin);
  return true;
}

Descriptor Open(const SampleRef& ref) {
  return Descriptor(OpenForReading(std::string(ref.path).c_str(), 0));
}

// Since Linux 5.2 mincore() says that all pages are cached if the caller neither owns the file nor
// may write it.
bool MincoreTellsTheTruth(int fd, const struct stat& info) {
  return info.st_uid == ::geteuid() || ::geteuid() == 0 ||
         ::faccessat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str(), W_OK, AT_EACCESS) ==
             0;
}

}  // namespace

CacheState PageCacheState(const SampleRef& ref) {
  CacheState state;
  const Descriptor fd = Open(ref);
  Range range;
  struct stat info {};
  if (!RangeOf(fd.get(), ref, range, info)) {
    return state;
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t first = range.begin / page * page;
  state.pages = range.end == range.begin ? 0 : (range.end - first + page - 1) / page;
  if (state.pages == 0) {
    state.known = true;
    return state;
  }
  const CachestatRange asked{first, state.pages * page};
  Cachestat answer;
  if (::syscall(kCachestat, fd.get(), &asked, &answer, 0) == 0) {
    state.cached = std::min(answer.cached, state.pages);
    state.known = true;
    return state;
  }
  if (!MincoreTellsTheTruth(fd.get(), info)) {
    return state;
  }
  const auto length = static_cast<std::size_t>(range.end - first);
  void* map = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd.get(), static_cast<off_t>(first));
  if (map == MAP_FAILED) {
    return state;
  }
  std::vector<unsigned char> resident(static_cast<std::size_t>(state.pages));
  if (::mincore(map, length, resident.data()) == 0) {
    state.cached = static_cast<std::uint64_t>(
        std::count_if(resident.begin(), resident.end(),
                      [](unsigned char page_state) { return (page_state & 1) != 0; }));
    state.known = true;
  }
  ::munmap(map, length);
  return state;
}

bool DropFromPageCache(const SampleRef& ref) {
  const Descriptor fd = Open(ref);
  Range range;
  struct stat info {};
  if (!RangeOf(fd.get(), ref, range, info)) {
    return false;
  }
  // A length of 0 would mean up to the end of the file. The kernel keeps pages that lie only partly
  // inside the range.
  return range.end == range.begin ||
         ::posix_fadvise(fd.get(), static_cast<off_t>(range.begin),
                         static_cast<off_t>(range.end - range.begin), POSIX_FADV_DONTNEED) == 0;
}

}  // namespace penstock::loader
