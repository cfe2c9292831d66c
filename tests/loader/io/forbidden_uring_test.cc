// SPDX-License-Identifier: Apache-2.0
//
// io_uring under a seccomp filter like those of container runtimes, in a child process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>

#include "loader/io/cache_state.h"
#include "loader/io/object_reader.h"
#include "tests/loader/source/temp_set.h"

namespace penstock::loader {
namespace {

// From now on system call `number` fails with EPERM in this process. False if that is not possible.
bool Forbid(long number) {
  const auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
  };
  std::array<sock_filter, 4> program = {
      load(offsetof(seccomp_data, nr)),
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(number)},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(UringReaderTest, ForbiddenRingNamesWhatToUseInstead) {
  EXPECT_EXIT(
      {
        if (!Forbid(SYS_io_uring_setup)) {
          std::fputs("--io buffered: no seccomp here", stderr);
          ::_exit(3);
        }
        IoOptions options;
        options.method = IoMethod::kUring;
        const auto reader = MakeObjectReader(options);
        std::fputs(reader ? "was made" : reader.error().message.c_str(), stderr);
        ::_exit(reader ? 0 : ExitStatus(reader.error().kind));
      },
      ::testing::ExitedWithCode(3), "--io buffered");
}

TEST(CacheStateTest, WithoutCachestatMincoreTells) {
  const testing::TempSet set("/var/tmp");
  const std::string path = set.Write("a", testing::Pattern(50000)).string();
  const SampleRef ref{path, 0, 0, true, -1, path};
  const CacheState expected = PageCacheState(ref);
  EXPECT_EXIT(
      {
        if (!Forbid(451)) {
          ::_exit(0);
        }
        const CacheState state = PageCacheState(ref);
        ::_exit(state.known && state.pages == expected.pages && state.cached == expected.cached
                    ? 0
                    : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace penstock::loader
