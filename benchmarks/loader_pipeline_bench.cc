// SPDX-License-Identifier: Apache-2.0
//
// The whole pipeline, from files in the page cache to batches in memory. An iteration is a batch.
// Input: 16 photo-like pictures made by the program (long side 500, quality 96, 4:4:4, about 100 KB
// each), or the pictures under --files=DIR. Augmentation: random_resized_crop=224,flip,normalize to
// float16 CHW. Before a configuration is timed, one epoch of it must deliver the same bytes as an
// epoch without threads, made by the consumer alone.

#include <benchmark/benchmark.h>

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loader/pipeline/cores.h"
#include "loader/pipeline/digest.h"
#include "loader/pipeline/pipeline.h"
#include "loader/set/make_set.h"
#include "loader/source/packed_writer.h"

namespace {

using namespace penstock;          // NOLINT: the subject of every line here
using namespace penstock::loader;  // NOLINT
namespace fs = std::filesystem;

constexpr const char* kOps = "random_resized_crop=224,flip,normalize";

enum SourceKind : std::int64_t { kFolder, kPacked, kTar };
enum Decode : std::int64_t { kNone, kAccurate, kFast, kReduced };

// The pictures, in a folder that is removed at the end, or those of --files.
struct Pictures {
  fs::path folder;
  fs::path made;  // removed at the end
  std::map<std::int64_t, std::unique_ptr<Source>> sources;
};
Pictures pictures;

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "loader_pipeline_bench: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T Must(Result<T> result) {
  if (!result) Die(result.error().message);
  return std::move(*result);
}

void MakePictures(const fs::path& folder, SetFormat format) {
  SetOptions options;
  options.folder = folder;
  options.recipe = FindSetRecipe("imagenet");
  options.count = 16;
  options.classes = 4;
  options.workers = CoresToUse();
  options.format = format;
  Must(MakeSet(options, {}, [](std::uint64_t) {}));
}

void Pack(const Source& from, const fs::path& to) {
  PackedWriter writer = Must(PackedWriter::Create(to));
  const auto reader = Must(MakeObjectReader({}));
  SampleScratch scratch;
  for (std::uint64_t i = 0; i < from.size(); ++i) {
    const SampleRef ref = Must(from.At(i, scratch));
    reader->Start(0, ref);
    if (!writer.Add(ref.name, ref.label, Must(reader->Finish(0)))) Die("cannot pack");
  }
  if (!writer.Finish()) Die("cannot pack");
}

const Source& SourceOf(std::int64_t kind) {
  std::unique_ptr<Source>& source = pictures.sources[kind];
  if (source != nullptr) return *source;
  fs::path path = pictures.folder;
  if (kind == kPacked) {
    path = pictures.made / "set.packed";
    Pack(SourceOf(kFolder), path);
  } else if (kind == kTar) {
    path = pictures.made / "tar";
    MakePictures(path, SetFormat::kTar);
  }
  SourceOptions options;
  options.index_folder = pictures.made;
  source = Must(OpenSource(path, options));
  return *source;
}

const AugmentProgram& Program() {
  static const AugmentProgram program =
      Must(AugmentProgram::Parse(kOps, ElementType::kF16, Layout::kChw));
  return program;
}

EpochDigest OneEpoch(const Source& source, PipelineOptions options) {
  options.epochs = 1;
  options.fingerprint = true;
  options.on_error = OnError::kFail;
  const auto tracer = NoTracer();
  const auto pipeline = Must(Pipeline::Start(source, Program(), options, *tracer));
  Digest digest;
  for (;;) {
    const Batch batch = Must(pipeline->Next());
    if (!batch) break;
    digest.Add(batch);
  }
  if (digest.epochs().size() != 1) Die("an epoch delivered nothing");
  return digest.epochs()[0];
}

// False if this machine cannot run the configuration. Aborts if the bytes are wrong.
bool Check(benchmark::State& state, const Source& source, const PipelineOptions& options) {
  const auto possible = MakeObjectReader(options.reader);
  if (!possible) {
    state.SkipWithError(possible.error().message.c_str());
    return false;
  }
  PipelineOptions plain = options;
  plain.workers = 0;
  plain.reader.method = IoMethod::kBuffered;
  plain.read_ahead = 1;
  const EpochDigest expected = OneEpoch(source, plain);
  const EpochDigest delivered = OneEpoch(source, options);
  if (delivered.samples != source.size() || delivered.ordered != expected.ordered) {
    Die("threads deliver other bytes than the consumer alone");
  }
  return true;
}

void BM_Pipeline(benchmark::State& state) {
  PipelineOptions options;
  options.workers = static_cast<unsigned>(state.range(0));
  options.prefetch = static_cast<unsigned>(state.range(1));
  options.batch = static_cast<unsigned>(state.range(2));
  options.read_ahead = state.range(4) == 0 ? 1 : 4;
  options.reader.method = static_cast<IoMethod>(state.range(4));
  options.decode.on = options.augment.on = state.range(5) != kNone;
  options.decoder.fast_dct = state.range(5) == kFast;
  options.decoder.fancy_upsampling = state.range(5) != kFast;
  options.decoder.reduce = state.range(5) == kReduced ? 1 : 0;
  const Source& source = SourceOf(state.range(3));
  if (!Check(state, source, options)) return;

  options.epochs = 0;
  const auto tracer = NoTracer();
  const auto pipeline = Must(Pipeline::Start(source, Program(), options, *tracer));
  for (unsigned i = 0; i < options.prefetch + 1; ++i) Must(pipeline->Next()).Release();  // warm-up
  std::int64_t samples = 0;
  for (auto _ : state) {
    const Batch batch = Must(pipeline->Next());
    benchmark::DoNotOptimize(batch.pixels().data());
    samples += static_cast<std::int64_t>(batch.size());
  }
  pipeline->Stop();
  state.SetItemsProcessed(samples);
  const PipelineStats& stats = pipeline->stats();
  const StageStats& read = stats.stage(Stage::kRead);
  state.counters["file_KB"] =
      static_cast<double>(read.bytes) / static_cast<double>(read.count) * 1e-3;
  state.counters["per_core_s"] =  // samples begun for each second of a busy core
      static_cast<double>(read.count) / Seconds(stats.worker_cpu);
}

void Register() {
  const auto cores = static_cast<std::int64_t>(CoresToUse());
  auto* pipeline = benchmark::RegisterBenchmark("BM_Pipeline", BM_Pipeline)
                       ->ArgNames({"workers", "prefetch", "batch", "source", "io", "decode"})
                       ->UseRealTime()
                       ->Unit(benchmark::kMillisecond);
  const auto io = [](IoMethod method) { return static_cast<std::int64_t>(method); };
  const std::int64_t buffered = io(IoMethod::kBuffered);
  for (const std::int64_t workers : {std::int64_t{0}, std::int64_t{1}, cores}) {
    pipeline->Args({workers, 4, 16, kFolder, buffered, kAccurate});
  }
  for (const std::int64_t prefetch : {1, 2, 8}) {
    pipeline->Args({cores, prefetch, 16, kFolder, buffered, kAccurate});
  }
  for (const std::int64_t batch : {1, 64}) {
    pipeline->Args({cores, 4, batch, kFolder, buffered, kAccurate});
  }
  for (const std::int64_t source : {kPacked, kTar}) {
    if (source == kTar && pictures.folder != pictures.made / "folder") continue;  // --files
    pipeline->Args({cores, 4, 16, source, buffered, kAccurate});
  }
  for (const IoMethod method : {IoMethod::kDirect, IoMethod::kUring, IoMethod::kMmap}) {
    pipeline->Args({cores, 4, 16, kFolder, io(method), kAccurate});
  }
  for (const std::int64_t decode : {kNone, kFast, kReduced}) {
    pipeline->Args({cores, 4, 16, kFolder, buffered, decode});
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  constexpr std::string_view kFiles = "--files=";
  std::string files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, kFiles.size()) != kFiles) {
      Die(std::string(argument) + ": not known; there is --files=DIR and --benchmark_...");
    }
    files = argument.substr(kFiles.size());
  }
  std::string made = (fs::temp_directory_path() / "penstock-bench-XXXXXX").string();
  if (mkdtemp(made.data()) == nullptr) Die("cannot make a folder in " + made);
  pictures.made = made;
  pictures.folder = files.empty() ? pictures.made / "folder" : fs::path(files);
  if (files.empty()) MakePictures(pictures.folder, SetFormat::kFolder);
  Register();
  benchmark::RunSpecifiedBenchmarks();
  pictures.sources.clear();
  fs::remove_all(pictures.made);
  return 0;
}
