// SPDX-License-Identifier: Apache-2.0
//
// Reports of long traces: their memory grows in proportion to the file, and the verdict does not
// depend on the length.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "tests/analyzer/long_trace/long_trace.h"
#include "tests/paths.h"
#include "tests/traces/support.h"
#include "traces/pack.h"

namespace penstock::analyzer::testing {
namespace {

using traces::testing::TempFolder;

void Write(const LongTrace& run, const std::filesystem::path& path) {
  auto out = traces::CreatePacked(path);
  ASSERT_TRUE(out);
  WriteLongTrace(run, **out);
  ASSERT_TRUE((*out)->Finish());
}

#ifndef PENSTOCK_SANITIZED
// Peak memory of `penstock report --json` on `path` in bytes; its output is thrown away.
double PeakOfReport(const std::filesystem::path& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) != nullptr) {
      ::execl(paths::kPenstock, "penstock", "report", "--json", path.c_str(), nullptr);
    }
    ::_exit(127);
  }
  int status = 0;
  struct rusage used {};
  EXPECT_EQ(::wait4(child, &status, 0, &used), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return static_cast<double>(used.ru_maxrss) * 1024;
}

// Compares growth, not size, because the program itself takes some megabytes.
TEST(LongTraceTest, MemoryGrowsByLessThanOneAndAHalfTimesTheFile) {
  for (const bool lean : {false, true}) {
    const TempFolder folder;
    LongTrace run;
    run.lean = lean;
    run.spans = 1'000'000;
    Write(run, folder / "short");
    run.spans = 3'000'000;
    Write(run, folder / "long");
    const auto more = static_cast<double>(std::filesystem::file_size(folder / "long") -
                                          std::filesystem::file_size(folder / "short"));
    ASSERT_GT(more, 10e6);
    EXPECT_LT(PeakOfReport(folder / "long") - PeakOfReport(folder / "short"), 1.5 * more)
        << (lean ? "4" : "12") << " spans a sample";
  }
}
#endif

// If a trace has more than 2.1 million spans, only some batches keep the costs of their samples.
// With 5 million spans it is every third batch. With sanitizers, which take ten times as long, the
// trace has 2.2 million spans, and every second batch keeps them.
#ifdef PENSTOCK_SANITIZED
constexpr std::uint64_t kManySpans = 2'200'000;
#else
constexpr std::uint64_t kManySpans = 5'000'000;
#endif

TEST(LongTraceTest, VerdictDoesNotDependOnTheLength) {
  const TempFolder folder;
  std::vector<Report> reports;
  for (const std::uint64_t spans : {std::uint64_t{200'000}, kManySpans}) {
    LongTrace run;
    run.lean = true;
    run.spans = spans;
    Write(run, folder / "trace");
    const auto trace = traces::OpenTrace(folder / "trace");
    ASSERT_TRUE(trace);
    reports.push_back(BuildReport(**trace, "trace"));
  }
  const Diagnosis& brief = reports[0].diagnosis;
  const Diagnosis& full = reports[1].diagnosis;
  EXPECT_EQ(brief.bottleneck, full.bottleneck);
  EXPECT_NEAR(full.samples_rate / brief.samples_rate, 1, 0.05);
  ASSERT_TRUE(brief.loader && full.loader);
  EXPECT_NEAR(full.loader->replay.error(), 0, 0.03);
  EXPECT_EQ(brief.loader->suggestion.workers, full.loader->suggestion.workers);
}

}  // namespace
}  // namespace penstock::analyzer::testing
