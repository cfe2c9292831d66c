// SPDX-License-Identifier: Apache-2.0
//
// The pipeline over files: small JPEGs in a folder, every way of reading them, damaged ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "loader/trace/file_tracer.h"
#include "tests/loader/pipeline/support.h"
#include "tests/loader/support/jpeg_writer.h"
#include "traces/trace.h"

namespace penstock::loader {
namespace {

namespace fs = std::filesystem;
using test::Delivered;
using test::RunAll;

constexpr const char* kOps = "random_resized_crop=24,flip,normalize";
constexpr std::uint64_t kFiles = 40;

void Write(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

fs::path FileName(std::uint64_t i) {
  return fs::path(std::to_string(i % 4)) / (std::to_string(100 + i) + ".jpg");
}

std::vector<std::byte> Picture(std::uint64_t i) {
  test::JpegSpec spec;
  spec.width = 40 + static_cast<int>(i);
  spec.height = 90 - static_cast<int>(i);
  spec.progressive = i % 7 == 0;
  if (i % 5 == 0) spec.colour = test::JpegColour::kGrey;
  if (i % 3 == 0) spec.sampling_x = spec.sampling_y = 2;
  return test::MakeJpeg(spec, static_cast<std::uint32_t>(i));
}

// A folder of forty pictures in four classes, which the destructor removes.
class Files {
 public:
  explicit Files(const char* name) : path_(fs::path(testing::TempDir()) / name) {
    fs::remove_all(path_);
    for (std::uint64_t i = 0; i < kFiles; ++i) {
      fs::create_directories((path_ / FileName(i)).parent_path());
      Write(path_ / FileName(i), Picture(i));
    }
  }
  ~Files() { fs::remove_all(path_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::unique_ptr<Source> Open() const {
    auto source = OpenSource(path_, {});
    if (!source) ADD_FAILURE() << source.error().message;
    return source ? std::move(*source) : nullptr;
  }
  // Puts in an empty file, a text, a picture cut in the middle, and one cut in its header.
  void Damage() const {
    Write(path_ / FileName(5), {});
    std::ofstream(path_ / FileName(13)) << "no picture at all\n";
    const std::vector<std::byte> whole = Picture(21);
    Write(path_ / FileName(21), std::span(whole).first(whole.size() / 2));
    Write(path_ / FileName(22), std::span(whole).first(20));
  }

 private:
  fs::path path_;
};

AugmentProgram FloatProgram() {
  const auto program = AugmentProgram::Parse(kOps, ElementType::kF32, Layout::kChw);
  EXPECT_TRUE(program);
  return *program;
}

PipelineOptions Options(unsigned workers, unsigned batch) {
  PipelineOptions options;
  options.workers = workers;
  options.batch = batch;
  options.seed = 11;
  options.on_error = OnError::kFail;
  return options;
}

void ExpectSameFiles(const Delivered& a, const Delivered& b, const std::string& what) {
  EXPECT_EQ(a.error, b.error) << what;
  EXPECT_EQ(a.ids, b.ids) << what;
  ASSERT_EQ(a.digests.size(), b.digests.size()) << what;
  for (std::size_t i = 0; i < a.digests.size(); ++i) {
    EXPECT_EQ(a.digests[i].ordered, b.digests[i].ordered) << what;
    EXPECT_EQ(a.digests[i].unordered, b.digests[i].unordered) << what;
  }
}

TEST(FilesTest, BytesDependOnNeitherThreadsNorBatchesNorReading) {
  const Files files("penstock_pipeline_identity");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const AugmentProgram program = FloatProgram();
  PipelineOptions options = Options(0, 7);
  options.epochs = 2;
  const Delivered reference = RunAll(*source, options, program);
  ASSERT_EQ(reference.error, "");
  ASSERT_EQ(reference.ids.size(), 2 * kFiles);
  EXPECT_NE(reference.digests[0].unordered, reference.digests[1].unordered);

  const unsigned batches[] = {1, 7, 64};
  const unsigned workers[] = {0, 1, 2, 8};
  for (const unsigned batch : batches) {
    for (const unsigned threads : workers) {
      options.workers = threads;
      options.batch = batch;
      ExpectSameFiles(RunAll(*source, options, program), reference,
                      std::to_string(threads) + " workers, batch " + std::to_string(batch));
    }
  }
  for (const IoMethod method :
       {IoMethod::kBuffered, IoMethod::kDirect, IoMethod::kUring, IoMethod::kMmap}) {
    options = Options(2, 7);
    options.epochs = 2;
    options.reader.method = method;
    const auto possible = MakeObjectReader(options.reader);
    if (!possible && possible.error().kind == ErrorKind::kEnvironment) continue;  // seccomp
    for (const unsigned read_ahead : {1u, 4u}) {
      for (const unsigned mask : {0u, 1u, 2u, 4u, 7u}) {
        options.read_ahead = read_ahead;
        options.read.threads = (mask & 1) != 0 ? 2 : 0;
        options.decode.threads = (mask & 2) != 0 ? 2 : 0;
        options.augment.threads = (mask & 4) != 0 ? 1 : 0;
        ExpectSameFiles(RunAll(*source, options, program), reference,
                        std::string(IoMethodName(method)) + ", stages " + std::to_string(mask));
      }
    }
    RamCache cache(Bytes{40'000});  // only some of the pictures fit
    options.reader.cache = &cache;
    const Delivered cached = RunAll(*source, options, program);
    ExpectSameFiles(cached, reference, "RAM cache");
    EXPECT_GT(cached.stats.io_cache_hits, 0u);
  }
}

TEST(FilesTest, RanksAndResumptionDeliverTheBytesOfTheWhole) {
  const Files files("penstock_pipeline_ranks");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const AugmentProgram program = FloatProgram();
  const Delivered whole = RunAll(*source, Options(2, 8), program);
  ASSERT_EQ(whole.error, "");
  for (const std::uint64_t world : {2u, 3u}) {
    std::uint64_t sum = 0;
    for (std::uint64_t rank = 0; rank < world; ++rank) {
      PipelineOptions options = Options(2, 8);
      options.rank = rank;
      options.world = world;
      sum += RunAll(*source, options, program).digests[0].unordered;
    }
    EXPECT_EQ(sum, whole.digests[0].unordered) << world;
  }
  for (const std::uint64_t position : {1u, 17u, 39u}) {
    PipelineOptions rest = Options(2, 8);
    rest.resume = {0, position};
    PipelineOptions before = Options(1, static_cast<unsigned>(position));
    before.batches = 1;
    const Delivered first = RunAll(*source, before, program);
    const Delivered second = RunAll(*source, rest, program);
    EXPECT_EQ(first.digests[0].unordered + second.digests[0].unordered, whole.digests[0].unordered);
    EXPECT_EQ(first.ids.size() + second.ids.size(), kFiles);
  }
}

TEST(FilesTest, DamagedFilesAreReplacedAndNamed) {
  const Files files("penstock_pipeline_skip");
  files.Damage();
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const AugmentProgram program = FloatProgram();
  PipelineOptions options = Options(0, 8);
  options.on_error = OnError::kSkip;
  const Delivered reference = RunAll(*source, options, program);
  EXPECT_EQ(reference.error, "");
  EXPECT_EQ(reference.ids.size(), kFiles);
  EXPECT_EQ(reference.stats.errors, 4u);
  for (const std::uint64_t damaged : {5u, 13u, 21u, 22u}) {
    const std::string name = FileName(damaged).filename();
    int named = 0;
    for (const SampleError& error : reference.stats.first_errors) {
      if (error.message.find(name) != std::string::npos) ++named;
      EXPECT_EQ(error.message.find('\n'), std::string::npos);
    }
    EXPECT_EQ(named, 1) << name;
  }
  for (const unsigned mask : {0u, 1u, 2u, 4u, 7u}) {
    options.workers = 2;
    options.read.threads = (mask & 1) != 0 ? 1 : 0;
    options.decode.threads = (mask & 2) != 0 ? 2 : 0;
    options.augment.threads = (mask & 4) != 0 ? 1 : 0;
    options.read_ahead = 1 + mask;
    const Delivered run = RunAll(*source, options, program);
    ExpectSameFiles(run, reference, "skip, stages " + std::to_string(mask));
    EXPECT_EQ(run.stats.errors, 4u);
  }
}

TEST(FilesTest, DamagedFileFailsTheRunWithItsName) {
  const Files files("penstock_pipeline_fail");
  files.Damage();
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  for (const unsigned workers : {0u, 2u}) {
    PipelineOptions options = Options(workers, 8);
    options.shuffle = false;
    const Delivered run = RunAll(*source, options, FloatProgram());
    EXPECT_EQ(run.error_kind, ErrorKind::kInput);
    // The first of the four in the folder's order: 0/100.jpg, 0/104.jpg, ..., 1/105.jpg.
    EXPECT_NE(run.error.find("105.jpg"), std::string::npos) << run.error;
    EXPECT_EQ(run.error.find('\n'), std::string::npos);
    EXPECT_EQ(run.ids.size(), 8u);
  }
}

TEST(FilesTest, FileThatVanishesIsReplacedUnderSkip) {
  const Files files("penstock_pipeline_gone");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  fs::remove(files.path() / FileName(8));
  PipelineOptions options = Options(2, 8);
  options.on_error = OnError::kSkip;
  const Delivered run = RunAll(*source, options, FloatProgram());
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.stats.errors, 1u);
  ASSERT_EQ(run.stats.first_errors.size(), 1u);
  EXPECT_NE(run.stats.first_errors[0].message.find("108.jpg"), std::string::npos);
}

TEST(FilesTest, StagesSwitchedOffStillShowWhatTheOthersMade) {
  const Files files("penstock_pipeline_without");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  const auto digest = [&](bool read, bool decode, bool augment) {
    PipelineOptions options = Options(2, 8);
    options.shuffle = false;
    options.read.on = read;
    options.decode.on = decode;
    options.augment.on = augment;
    options.fingerprint = true;
    const Delivered run = RunAll(*source, options, FloatProgram());
    EXPECT_EQ(run.error, "");
    EXPECT_EQ(run.ids.size(), kFiles);
    EXPECT_EQ(run.stats.io_reads, read ? kFiles : 0u);
    return run.digests[0].unordered;
  };
  const std::uint64_t read = digest(true, false, false);
  const std::uint64_t decoded = digest(true, true, false);
  EXPECT_NE(read, decoded);
  EXPECT_NE(digest(true, true, true), digest(false, true, true));  // without reads: always one file
  const std::uint64_t nothing = digest(false, false, false);
  EXPECT_EQ(digest(false, false, false), nothing);
  std::ofstream(files.path() / FileName(39), std::ios::app) << "one more byte";
  EXPECT_NE(digest(true, false, false), read);
  EXPECT_EQ(digest(false, false, false), nothing);
}

TEST(FilesTest, WithoutAugmentationTheRegionOrTheWholeImageIsDecoded) {
  const Files files("penstock_pipeline_whole");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  for (const bool whole : {false, true}) {
    PipelineOptions options = Options(2, 8);
    options.augment.on = false;
    options.fingerprint = true;
    options.whole_images = whole;
    options.epochs = 2;
    const Delivered run = RunAll(*source, options, FloatProgram());
    EXPECT_EQ(run.error, "");
    ASSERT_EQ(run.digests.size(), 2u);
    // Regions are drawn anew in each epoch; whole images stay the same.
    EXPECT_EQ(run.digests[0].unordered == run.digests[1].unordered, whole);
  }
}

TEST(FilesTest, SteadyStateOverFilesAllocatesNothing) {
  const Files files("penstock_pipeline_steady");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  // All regions have one size, and there is one thread. Otherwise chance would decide when the
  // largest region comes.
  const auto program =
      AugmentProgram::Parse("random_crop=24,flip,normalize", ElementType::kF32, Layout::kChw);
  ASSERT_TRUE(program);
  for (const IoMethod method : {IoMethod::kBuffered, IoMethod::kMmap}) {
    PipelineOptions options = Options(1, 8);
    options.epochs = 8;
    options.reader.method = method;
    EXPECT_EQ(test::AllocationsInSteadyState(*source, options, *program), 0u)
        << IoMethodName(method);
  }
}

TEST(FilesTest, TraceSaysWhatWasDone) {
  const Files files("penstock_pipeline_trace");
  const auto source = files.Open();
  ASSERT_NE(source, nullptr);
  FileTracerOptions to;
  to.path = files.path() / "run.penstock";
  auto tracer = FileTracer(to);
  ASSERT_TRUE(tracer);
  const AugmentProgram program = FloatProgram();
  PipelineOptions options = Options(2, 16);
  options.epochs = 2;
  {
    auto pipeline = Pipeline::Start(*source, program, options, **tracer);
    ASSERT_TRUE(pipeline);
    while (*(*pipeline)->Next()) {
    }
    (*pipeline)->Stop();
  }
  ASSERT_TRUE((*tracer)->Finish());
  const auto trace = traces::OpenTrace(to.path);
  ASSERT_TRUE(trace) << trace.error().message;
  std::map<traces::StageId, std::uint64_t> spans;
  for (std::uint32_t t = 0; t < (*trace)->threads().size(); ++t) {
    for (const traces::Span& span : (*trace)->Spans(ThreadId{t})) ++spans[span.stage];
  }
  EXPECT_EQ(spans[traces::StageId::kSample], 2 * kFiles);
  EXPECT_EQ(spans[traces::StageId::kRead], 2 * kFiles);
  EXPECT_EQ(spans[traces::StageId::kDecode], 2 * kFiles);
  EXPECT_GE(spans[traces::StageId::kAugment], 2 * kFiles);  // each sample's stage, and its steps
  EXPECT_EQ(spans[traces::StageId::kWait], 6u);
  EXPECT_EQ(spans[traces::StageId::kStep], 6u);
  EXPECT_EQ(spans[traces::StageId::kStartup], 1u);
  std::map<traces::EventType, std::uint64_t> events;
  for (const traces::Event& event : (*trace)->events()) ++events[event.type];
  for (const traces::EventType type :
       {traces::EventType::kBatchPut, traces::EventType::kBatchGot,
        traces::EventType::kBatchDelivered, traces::EventType::kNextEntered}) {
    EXPECT_EQ(events[type], 6u) << traces::EventName(type);
  }
  EXPECT_EQ(events[traces::EventType::kEpochStart], 2u);
  EXPECT_EQ(events[traces::EventType::kEpochEnd], 2u);
  EXPECT_EQ((*trace)->facts().count("loader.0.kind") +
                (*trace)->processes()[0].facts.count("loader.0.kind"),
            1u);
}

}  // namespace
}  // namespace penstock::loader
