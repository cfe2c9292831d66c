// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/coverage.h"

#include <string>

#include <gtest/gtest.h>

#include "analyzer/report/limits.h"

namespace penstock::analyzer {
namespace {

traces::ProcessInfo Process(std::uint32_t pid, std::uint32_t parent, std::uint64_t hooked,
                            std::uint64_t kernel) {
  traces::ProcessInfo info;
  info.pid = pid;
  info.parent = parent;
  info.bytes_hooked = Bytes{hooked};
  info.bytes_kernel = Bytes{kernel};
  return info;
}

Coverage CoverageOf(std::vector<traces::ProcessInfo> processes) {
  traces::TraceData data;
  data.processes = std::move(processes);
  return MeasureCoverage(*traces::MakeTrace(std::move(data)), false);
}

TEST(CoverageTest, ComparesHooksWithTheKernel) {
  const Coverage coverage = CoverageOf({Process(1, 0, 90, 100), Process(2, 0, 100, 100)});
  EXPECT_TRUE(coverage.known);
  EXPECT_DOUBLE_EQ(coverage.fraction(), 0.95);
}

TEST(CoverageTest, OneProcessCannotHideTheGapOfAnother) {
  const Coverage coverage = CoverageOf({Process(1, 0, 200, 100), Process(2, 0, 0, 100)});
  EXPECT_DOUBLE_EQ(coverage.fraction(), 0.5);
}

TEST(CoverageTest, IsNotKnownWithoutTheKernelsCount) {
  EXPECT_FALSE(CoverageOf({Process(1, 0, 90, 0)}).known);
}

// A dataset calls a program for each sample. The programs end before the sampler sees them.
TEST(CoverageTest, CountsWhatShortProgramsRead) {
  std::vector<traces::ProcessInfo> processes = {Process(1, 0, 99, 100)};
  for (std::uint32_t i = 0; i < 3; ++i) {
    processes.push_back(Process(10 + i, 1, 50, 0));
    processes.back().features = wire::kFeatureIsolated;
  }
  const Coverage coverage = CoverageOf(processes);
  EXPECT_EQ(coverage.bytes_seen, 249U);
  EXPECT_EQ(coverage.bytes_total, 250U);
  ASSERT_EQ(coverage.blind.size(), 2U);
  const std::string blind = English(coverage.blind[0]) + English(coverage.blind[1]);
  EXPECT_NE(blind.find("a child process runs Python"), std::string::npos) << blind;
  EXPECT_NE(blind.find("150 B that hooks saw"), std::string::npos) << blind;
}

TEST(CoverageTest, NamesWhatItIsBlindTo) {
  traces::ProcessInfo info = Process(1, 0, 1, 1);
  info.libraries = {"/usr/lib/libnvjpeg.so.12", "/usr/lib/libjpeg.so.62"};
  info.features = wire::kFeatureIoUring;
  const Coverage coverage = CoverageOf({info});
  ASSERT_EQ(coverage.blind.size(), 2u);
  EXPECT_NE(English(coverage.blind[0]).find("nvJPEG"), std::string::npos);
  EXPECT_NE(English(coverage.blind[1]).find("io_uring"), std::string::npos);
}

TEST(CoverageTest, NamesNoLibraryOfGpusWhereThereIsNone) {
  traces::TraceData data;
  data.processes = {Process(1, 0, 1, 1)};
  data.processes[0].libraries = {"/usr/lib/libcufile.so.0"};
  data.facts["gpu.nvml"] = "libnvidia-ml.so.1 was not found";
  const auto trace = traces::MakeTrace(std::move(data));
  EXPECT_TRUE(MeasureCoverage(*trace, false).blind.empty());
  EXPECT_EQ(MeasureCoverage(*trace, true).blind.size(), 1u);
}

TEST(CoverageTest, AProgramThatRecordsItselfMayReadByIoUringAndAio) {
  traces::ProcessInfo info = Process(1, 0, 1, 1);
  info.features = wire::kFeatureIoUring | wire::kFeatureAio | wire::kFeatureNative;
  EXPECT_TRUE(CoverageOf({info}).blind.empty());
  info.features |= wire::kFeatureMapped;
  EXPECT_EQ(CoverageOf({info}).blind.size(), 1u);
}

TEST(CoverageTest, OpenCvIsSeenFromPythonOnly) {
  traces::ProcessInfo info = Process(1, 0, 1, 1);
  info.libraries = {"/venv/lib/python3.11/site-packages/cv2/cv2.abi3.so"};
  EXPECT_EQ(CoverageOf({info}).blind.size(), 1u);
  for (const std::uint32_t features : {wire::kFeaturePython, wire::kFeatureHooks}) {
    info.features = features;
    EXPECT_TRUE(CoverageOf({info}).blind.empty());
  }
}

// The hooks' count and the kernel's hold every file that a process reads: 46.7 MB in a run whose
// data was 29.3 MB.
TEST(CoverageTest, SaysThatLibrariesCountToo) {
  const Coverage coverage = CoverageOf({Process(1, 0, 46'700'000, 46'700'000)});
  EXPECT_EQ(English(Seen(coverage)),
            "100 % of all that its processes read, libraries too (46.7 MB of 46.7 MB)");
}

// The folder of an environment or a user may have the name of a library that is not used.
TEST(CoverageTest, TheNameOfAnEnvironmentIsNoLibrary) {
  for (const char* path :
       {"/opt/conda/envs/tensorflow/lib/libjpeg.so.8",
        "/home/ann/opencv/venv/lib/python3.11/site-packages/pillow.libs/libjpeg-77ae51ab.so.62",
        "/home/decord/lib/libpng16.so.16"}) {
    EXPECT_EQ(SightOf(path).sight, Sight::kSeen) << path;
  }
  const char* const packages = "/opt/conda/envs/tensorflow/lib/python3.11/site-packages/";
  const std::string video = "opencv_python.libs/libavcodec-9aae324f.so.59";
  for (const std::string& library : {std::string("cv2/cv2.abi3.so"), video}) {
    EXPECT_EQ(SightOf(packages + library).sight, Sight::kPython) << library;
  }
  const std::string framework = "tensorflow/libtensorflow_framework.so.2";
  EXPECT_EQ(SightOf(packages + framework).sight, Sight::kBlind);
}

}  // namespace
}  // namespace penstock::analyzer
