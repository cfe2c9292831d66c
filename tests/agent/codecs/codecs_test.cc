// SPDX-License-Identifier: Apache-2.0
//
// Tests of the codec hooks with the installed codecs. A program must print the same with and
// without the hooks, and every image must be recorded once, with the right name, size and outcome.
#include <gtest/gtest.h>

#include <string>

#include "tests/agent/resolve/run_victim.h"
#include "tests/paths.h"

namespace penstock::agent_test {
namespace {

const std::string kDir = paths::kCodecsVictims;
const std::string kPreload = "LD_PRELOAD=" + std::string(paths::kCodecsPreload);

std::string Command(const std::string& victim, const std::string& arguments) {
  return kDir + "/" + victim + " " + arguments;
}

// Returns the lines that the victim printed, without the lines that stub_recorder.cc printed.
std::string Own(const std::string& output) {
  std::istringstream lines(output);
  std::string own;
  for (std::string line; std::getline(lines, line);) {
    const bool ours = line.rfind("span ", 0) == 0 || line.rfind("misses ", 0) == 0 ||
                      line.rfind("insane ", 0) == 0 || line.rfind("left ", 0) == 0;
    if (!ours) own += line + "\n";
  }
  return own;
}

struct Recorded {
  Outcome outcome;
  // Returns "count N bytes B nested K stage S cpu C" for the spans with this name, or "none".
  std::string Spans(const std::string& name) const {
    const std::string key = "span " + name + ": ";
    const size_t at = outcome.output.find(key);
    if (at == std::string::npos) return "none";
    const size_t from = at + key.size();
    return outcome.output.substr(from, outcome.output.find('\n', from) - from);
  }
};

// Runs the victim without the hooks, with them, and with recording off. Checks that it prints the
// same each time.
Recorded Record(const std::string& victim, const std::string& arguments) {
  const Outcome without = RunVictim("", Command(victim, arguments));
  Recorded with{RunVictim(kPreload, Command(victim, arguments))};
  const Outcome off = RunVictim(kPreload + " STUB_OFF=1", Command(victim, arguments));
  EXPECT_EQ(without.status, 0) << without.output;
  EXPECT_EQ(with.outcome.status, 0) << with.outcome.output;
  EXPECT_EQ(Own(with.outcome.output), without.output);
  EXPECT_EQ(Own(off.output), without.output);
  EXPECT_EQ(off.output.find("span "), std::string::npos);
  EXPECT_NE(with.outcome.output.find("misses 0\ninsane 0\n"), std::string::npos)
      << with.outcome.output;
  return with;
}

constexpr int kJpeg = 64 * 48 * 3;  // bytes of the victims' JPEG when it is decoded

std::string Line(int count, int bytes, int nested = 0, int stage = 2, int cpu = 1) {
  return "count " + std::to_string(count) + " bytes " + std::to_string(bytes) + " nested " +
         std::to_string(nested) + " stage " + std::to_string(stage) + " cpu " + std::to_string(cpu);
}

TEST(JpegHooksTest, EveryWayOutOfAnImageIsOneRecord) {
  const Recorded run = Record("victim_jpeg", "ways");
  EXPECT_EQ(run.Spans("jpeg"), Line(4, 4 * kJpeg)) << run.outcome.output;
  // The size is known after HALF, HALF_GENERIC, EARLY_FINISH, BAD_START and BAD_SCAN, but not after
  // BAD_HEADER.
  EXPECT_EQ(run.Spans("jpeg error"), Line(6, 5 * kJpeg));
  EXPECT_EQ(run.Spans("jpeg header"), Line(2, kJpeg));  // header only, and tables without a size
}

TEST(JpegHooksTest, LongjmpInThreeThreadsLeavesNothingBehind) {
  const Recorded run = Record("victim_jpeg", "storm");
  EXPECT_EQ(run.Spans("jpeg"), Line(751, 751 * kJpeg));  // the last one after the storm
  EXPECT_EQ(run.Spans("jpeg error"), Line(2250, 1500 * kJpeg));
  EXPECT_EQ(run.Spans("jpeg header"), "none");
}

TEST(JpegHooksTest, SuspendedSourceIsOneImage) {
  const Recorded run = Record("victim_jpeg", "suspend");
  EXPECT_GT(std::stoi(Fields(run.outcome.output)["headers"]), 2);
  EXPECT_EQ(run.Spans("jpeg"), Line(1, kJpeg)) << run.outcome.output;
  EXPECT_EQ(run.Spans("jpeg error"), "none");
}

TEST(JpegHooksTest, EachOfTwoLibjpegsKeepsItsOwn) {
  const Recorded run = Record("victim_two", kDir);
  const auto fields = Fields(run.outcome.output);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(fields.at("copy.a." + std::to_string(round)),
              "made libjpgA.so.62 raised libjpgA.so.62 good 1 bad -1");
    EXPECT_EQ(fields.at("copy.b." + std::to_string(round)),
              "made libjpgB.so.62 raised libjpgB.so.62 good 1 bad -1");
  }
  EXPECT_EQ(run.Spans("jpeg"), Line(6, 6 * kJpeg));
  EXPECT_EQ(run.Spans("jpeg error"), Line(6, 0));
}

TEST(TurboJpegHooksTest, EveryCallIsRecorded) {
  const Recorded run = Record("victim_turbojpeg", "");
  // The library's old functions call the new ones through its own PLT, so their spans nest.
  const std::string header = run.Spans("turbojpeg header");
  EXPECT_EQ(header.rfind("count 3 bytes 0 nested 1 ", 0), 0u) << run.outcome.output;
  const std::string decode = run.Spans("turbojpeg");
  EXPECT_EQ(decode.rfind("count 6 ", 0), 0u) << run.outcome.output;
  EXPECT_EQ(run.Spans("turbojpeg error"), Line(1, kJpeg));
}

constexpr int kPng = 40 * 30 * 4;

TEST(PngHooksTest, EveryWayToReadIsOneRecord) {
  for (const char* mode : {"plain", "interlaced"}) {
    const Recorded run = Record("victim_png", mode);
    // Here png_read_png gives 3 channels, and the other three ways give 4.
    EXPECT_EQ(run.Spans("png"), Line(4, 3 * kPng + kPng / 4 * 3)) << mode << run.outcome.output;
    EXPECT_EQ(run.Spans("png error"), "none");
    EXPECT_EQ(run.Spans("png header"), "none");
  }
}

TEST(PngHooksTest, DamageIsRecordedAsError) {
  const Recorded damaged = Record("victim_png", "damaged");
  EXPECT_EQ(damaged.Spans("png error").rfind("count 4 ", 0), 0u) << damaged.outcome.output;
  EXPECT_EQ(damaged.Spans("png"), "none");
  const Recorded garbage = Record("victim_png", "garbage");
  EXPECT_EQ(garbage.Spans("png error"), Line(4, 0)) << garbage.outcome.output;
}

TEST(PngHooksTest, AnInterlacedImageWithoutRowsIsAnError) {
  const Recorded run = Record("victim_png", "cut");
  EXPECT_EQ(run.Spans("png error").rfind("count 4 ", 0), 0u) << run.outcome.output;
  EXPECT_EQ(run.Spans("png"), "none");
}

TEST(PngHooksTest, HeaderAloneIsNamedSo) {
  const Recorded run = Record("victim_png", "header");
  EXPECT_EQ(run.Spans("png header"), Line(1, kPng / 4 * 3)) << run.outcome.output;
  EXPECT_EQ(run.Spans("png"), "none");
}

TEST(PngHooksTest, SimplifiedApiIsNotCountedTwice) {
  const Recorded run = Record("victim_png", "simple");
  EXPECT_EQ(run.Spans("png"), Line(1, kPng)) << run.outcome.output;
  EXPECT_EQ(run.Spans("png header"), Line(1, 0));
  EXPECT_EQ(run.Spans("png header error"), Line(1, 0));
}

TEST(PngHooksTest, APixelOfAColourMapIsOneByte) {
  const Recorded run = Record("victim_png", "mapped");
  EXPECT_EQ(run.Spans("png"), Line(1, kPng / 4)) << run.outcome.output;
}

TEST(WebpHooksTest, EveryCallIsRecorded) {
  const Recorded run = Record("victim_webp", "");
  const int pixels = 40 * 30;
  // The victim decodes to RGB, RGBA, BGR, BGRA, ARGB and YUV, by RGBInto and by WebPDecode; the
  // animation's frame makes a ninth call. RGBA counts no bytes: the victim does not ask for its
  // size.
  const int bytes = pixels * (3 + 3 + 4 + 4 + 3 + 4 + 4) + pixels * 3 / 2;
  EXPECT_EQ(run.Spans("webp"), Line(9, bytes, 1)) << run.outcome.output;
  EXPECT_EQ(run.Spans("webp frame"), Line(1, pixels * 4));
  EXPECT_EQ(run.Spans("webp part"), Line(2, 0));
  EXPECT_EQ(run.Spans("webp error"), Line(1, 0));
}

TEST(TensorflowHooksTest, DecodersAreRecordedAndTheirArgumentsArriveAsTheyWere) {
  const Recorded run = Record("victim_tensorflow", "");
  EXPECT_EQ(run.Spans("tensorflow::jpeg"), Line(3, 0)) << run.outcome.output;
  EXPECT_EQ(run.Spans("tensorflow::jpeg error"), Line(1, 0));
  EXPECT_EQ(run.Spans("tensorflow::png"), Line(1, 0));
  EXPECT_EQ(run.Spans("tensorflow::png error"), Line(1, 0));
  EXPECT_NE(run.outcome.output.find("thrown no room"), std::string::npos);
}

TEST(FfmpegHooksTest, DecodersAreRecordedAndWaitingForMoreIsNoError) {
  const Recorded run = Record("victim_ffmpeg", "");
  EXPECT_EQ(run.Spans("ffmpeg"), Line(9, 2 * kJpeg / 2)) << run.outcome.output;
  EXPECT_EQ(run.Spans("ffmpeg error"), Line(1, 0));
  EXPECT_EQ(run.Spans("ffmpeg scale"), Line(2, 0));
}

TEST(FfmpegHooksTest, OpeningFindingPacketsAndSeekingAreApart) {
  const Recorded run = Record("victim_ffmpeg", "");
  EXPECT_EQ(run.Spans("ffmpeg open"), Line(3, 0)) << run.outcome.output;
  EXPECT_EQ(run.Spans("ffmpeg close"), Line(2, 0));
  EXPECT_EQ(run.Spans("ffmpeg open error"), Line(1, 0));
  EXPECT_EQ(run.Spans("ffmpeg demux"), Line(4, 0));
  EXPECT_EQ(run.Spans("ffmpeg seek"), Line(1, 0));
  EXPECT_NE(run.outcome.output.find("packet -541478725 3"), std::string::npos);
  EXPECT_NE(run.outcome.output.find("decoder 0 0"), std::string::npos);
  EXPECT_NE(run.outcome.output.find("closed 1 1"), std::string::npos);
}

#ifdef CODECS_OPENCV
TEST(OpenCvHooksTest, DecodesAndTransformsAreRecordedAndExceptionsPass) {
  const Recorded run = Record("victim_opencv", kDir);
  EXPECT_EQ(run.Spans("cv::imread"), Line(1, kJpeg)) << run.outcome.output;
  EXPECT_EQ(run.Spans("cv::imread error"), Line(1, 0));
  EXPECT_EQ(run.Spans("cv::imdecode"), Line(2, kJpeg + kJpeg / 3));
  // cv::resize succeeds twice before and once after a hundred calls that throw. Calls that throw
  // leave no open span.
  EXPECT_EQ(run.Spans("cv::resize"), Line(3, 0, 0, 3));
  EXPECT_EQ(run.Spans("cv::warpAffine"), Line(1, 0, 0, 3));
  EXPECT_EQ(run.Spans("cv::GaussianBlur"), Line(1, 0, 0, 3));
  EXPECT_EQ(run.Spans("cv::cvtColor"), Line(1, 0, 0, 3));
  EXPECT_NE(run.outcome.output.find("left 0"), std::string::npos);
  // Debian's OpenCV uses Debian's libjpeg. The span of libjpeg lies inside that of a cv:: function,
  // which has the CPU time.
  EXPECT_EQ(run.Spans("jpeg"), Line(1, kJpeg, 1, 2, 0));
}
#endif

}  // namespace
}  // namespace penstock::agent_test
