// SPDX-License-Identifier: Apache-2.0
#include "loader/main/arguments.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "loader/main/device_arguments.h"
#include "loader/pipeline/cores.h"
#include "traces/base/command_line.h"
#include "traces/base/program.h"

namespace penstock::loader {
namespace {

constexpr const char* kAbout =
    "Loads images as a training run would: reads, decodes, augments and batches them, and says how "
    "fast that went and where the time was spent.\n"
    "SOURCE is a folder with a folder per class, a folder of images, a list of \"path label\" "
    "lines, a tar or a folder of tars, a packed file, or synthetic:COUNT (no files).";
constexpr const char* kFooter =
    "A COST is a length of time, and how it varies: 5ms, 5ms+-2ms (normal), 5ms~uniform:2ms, "
    "5ms~exponential, 5ms~lognormal:0.5, 5ms~pareto:1.5; with burn: (CPU time) or sleep: in "
    "front.\n"
    "Other commands: penstock-load make-set ..., penstock-load pack ..., penstock-load "
    "device-costs ... (each with --help).";

template <class T>
Result<T> Choose(const char* option, const std::string& text,
                 const std::map<std::string_view, T>& choices) {
  if (const auto found = choices.find(text); found != choices.end()) return found->second;
  std::string names;
  for (const auto& [name, value] : choices)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return Fail(ErrorKind::kUsage, fmt::format("{} {}: there is {}", option, text, names));
}

Result<void> ReadCost(const char* option, const std::string& text, bool burns, Cost* cost) {
  if (text.empty()) return {};
  Result<Cost> read = Cost::Parse(text, burns);
  if (!read) return Fail(read.error().kind, fmt::format("{}: {}", option, read.error().message));
  *cost = *read;
  return {};
}

Result<void> ReadWithout(const std::vector<std::string>& stages, PipelineOptions* options) {
  for (const std::string& name : stages) {
    if (name == "read") {
      options->read.on = false;
    } else if (name == "decode") {
      options->decode.on = false;
    } else if (name == "augment") {
      options->augment.on = false;
    } else {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--without {}: there is read, decode and augment", name));
    }
  }
  return {};
}

Result<void> ReadCosts(const ArgumentTexts& texts, LoadArguments* arguments) {
  PipelineOptions& options = arguments->pipeline;
  struct Text {
    const char* option;
    const std::string& text;
    bool burns;
    Cost* cost;
  };
  const std::array<Text, 5> all = {
      {{"--read-latency", texts.read_latency, false, &options.read.cost},
       {"--decode-cost", texts.decode_cost, true, &options.decode.cost},
       {"--augment-cost", texts.augment_cost, true, &options.augment.cost},
       {"--collate-cost", texts.collate_cost, true, &options.collate},
       {"--step", texts.step, false, &arguments->step}}};
  for (const Text& one : all) {
    if (Result<void> read = ReadCost(one.option, one.text, one.burns, one.cost); !read) return read;
  }
  // A decode cost replaces the real work. A read latency is added to it.
  if (!texts.decode_cost.empty()) options.decode.on = false;
  if (!texts.augment_cost.empty()) options.augment.on = false;
  if (texts.step_ms > 0) {
    return ReadCost("--step-ms", fmt::format("{}ms", texts.step_ms), false, &arguments->step);
  }
  return {};
}

}  // namespace

Result<void> ReadTexts(const ArgumentTexts& texts, LoadArguments* arguments) {
  PipelineOptions& options = arguments->pipeline;
  const auto output = Choose<ElementType>(
      "--output", texts.output,
      {{"u8", ElementType::kU8}, {"f16", ElementType::kF16}, {"f32", ElementType::kF32}});
  PENSTOCK_TRY(output);
  arguments->output = *output;
  const auto layout =
      Choose<Layout>("--layout", texts.layout, {{"hwc", Layout::kHwc}, {"chw", Layout::kChw}});
  PENSTOCK_TRY(layout);
  arguments->layout = *layout;
  const auto on_error = Choose<OnError>("--on-error", texts.on_error,
                                        {{"skip", OnError::kSkip}, {"fail", OnError::kFail}});
  PENSTOCK_TRY(on_error);
  options.on_error = *on_error;
  const Result<IoMethod> io = ParseIoMethod(texts.method);
  PENSTOCK_TRY(io);  // the error names the option
  options.reader.method = *io;
  if (!texts.resume.empty()) {
    const auto at = StreamPosition::Parse(texts.resume);
    if (!at) return Fail(at.error().kind, fmt::format("--resume-at: {}", at.error().message));
    options.resume = *at;
  }
  if (!texts.longest.empty()) {
    const auto longest = ParseLength(texts.longest, TimeNs{1'000'000'000});
    if (!longest)
      return Fail(longest.error().kind, fmt::format("--for: {}", longest.error().message));
    if (longest->value == 0) return Fail(ErrorKind::kUsage, "--for: give more than no time at all");
    arguments->longest = *longest;
  }
  if (Result<void> read = ReadWithout(texts.without, &options); !read) return read;
  if (Result<void> read = ReadCosts(texts, arguments); !read) return read;
  options.shuffle = !texts.shuffle_off;
  options.decoder.fancy_upsampling = !texts.fancy_off;
  options.decoder.strict = !texts.lenient;
  options.decoder.own_huffman = !texts.libjpeg_huffman;
  options.fingerprint = arguments->digest;
  if (Result<void> read = ReadPlacement(texts, arguments); !read) return read;
  options.whole_images = arguments->ops.empty();
  if (arguments->ops.empty()) {
    arguments->ops = arguments->output == ElementType::kU8
                         ? "random_resized_crop=224,flip"
                         : "random_resized_crop=224,flip,normalize";
  }
  return {};
}

namespace {

void AddLoaderOptions(traces::CommandLine& line, LoadArguments& arguments, ArgumentTexts& texts) {
  PipelineOptions& options = arguments.pipeline;
  const auto threads = traces::WholeNumber(0, 4096);
  line.Add("SOURCE", arguments.source, "what to load").Required();
  line.Add("-j,--workers", options.workers,
           "threads; 0: the loop makes each batch itself (default: one per usable core)")
      .Check(threads);
  line.Add("--prefetch", options.prefetch, "batches made ahead")
      .Check(traces::WholeNumber(1, 100'000))
      .ShowDefault();
  line.Add("-b,--batch", options.batch, "samples in a batch")
      .Check(traces::WholeNumber(1, 10'000'000))
      .ShowDefault();
  line.Add("--epochs", options.epochs, "0: without end (default: 1, or 0 with --for, --batches)")
      .Check(traces::WholeNumber());
  line.Add("--batches", options.batches, "stop after that many").Check(traces::WholeNumber(1));
  line.Add("--for", texts.longest, "stop after that time: 10s");
  line.AddFlag("--drop-last", arguments.pipeline.drop_last,
               "no short batch at the end of an epoch");
  line.AddFlag("--no-shuffle", texts.shuffle_off, "in the order of the source");
  line.Add("--seed", options.seed, "seed of order and augmentation")
      .Check(traces::WholeNumber())
      .ShowDefault();
  line.Add("--cost-seed", options.cost_seed,
           "seed of synthetic costs: with it each sample has the same costs in each epoch and "
           "under each --seed")
      .Check(traces::WholeNumber());
  line.Add("--rank", options.rank, "this process among --world")
      .Check(traces::WholeNumber())
      .ShowDefault();
  line.Add("--world", options.world, "processes that share each epoch")
      .Check(traces::WholeNumber(1))
      .ShowDefault();
  line.Add("--resume-at", texts.resume,
           "POSITION or EPOCH:POSITION; position counts the samples of all ranks");
  line.Add("--on-error", texts.on_error, "skip: another sample instead; fail: stop").ShowDefault();
}

void AddStageOptions(traces::CommandLine& line, LoadArguments& arguments, ArgumentTexts& texts) {
  PipelineOptions& options = arguments.pipeline;
  const auto threads = traces::WholeNumber(0, 4096);
  line.Add("--ops", arguments.ops,
           "augmentation (default: random_resized_crop=224,flip,normalize; without normalize "
           "for u8)");
  line.Add("--output", texts.output, "u8, f16 or f32").ShowDefault();
  line.Add("--layout", texts.layout, "hwc or chw").ShowDefault();
  line.Add("--io", texts.method, "buffered, direct, uring or mmap").ShowDefault();
  line.Add("--ram-cache", arguments.ram_cache.value, "keep files in memory, up to this size: 2G")
      .IsSize();
  line.Add("--index-folder", arguments.index_folder, "where indexes go (default: beside SOURCE)");
  line.Add("--read-ahead", options.read_ahead, "reads in flight per thread")
      .Check(traces::WholeNumber(1, 4096))
      .ShowDefault();
  line.AddFlag("--libjpeg-huffman", texts.libjpeg_huffman,
               "Huffman codes by libjpeg instead of by our faster decoder (same pixels)");
  line.AddFlag("--fast-dct", options.decoder.fast_dct, "fast, less accurate inverse DCT");
  line.AddFlag("--no-fancy-upsampling", texts.fancy_off, "chroma repeated instead of interpolated");
  line.Add("--reduce", options.decoder.reduce,
           "decode at 1/2, 1/4 or 1/8 where that leaves Q times the pixels wanted; Q >= 1")
      .Check(traces::NumberBetween(1, 1000));
  line.AddFlag("--exif", options.decoder.exif, "apply the EXIF orientation");
  line.AddFlag("--lenient", texts.lenient, "accept damage that libjpeg only warns of");
  line.Add("--read-threads", options.read.threads, "threads that only read").Check(threads);
  line.Add("--decode-threads", options.decode.threads, "threads that only decode").Check(threads);
  line.Add("--augment-threads", options.augment.threads, "threads that only augment")
      .Check(threads);
  line.Add("--without", texts.without,
           "switch stages off: read,decode,augment; without augment, images are decoded whole "
           "unless "
           "--ops says which region")
      .SplitAt(',');
  line.Add("--read-latency", texts.read_latency, "COST on top of each read (sleeping)");
  line.Add("--decode-cost", texts.decode_cost, "COST instead of decoding (CPU time)");
  line.Add("--augment-cost", texts.augment_cost, "COST instead of augmenting (CPU time)");
  line.Add("--collate-cost", texts.collate_cost, "COST of completing a batch (CPU time)");
  line.Add("--step", texts.step, "COST of the step after each batch (sleeping)");
  line.Add("--step-ms", texts.step_ms, "the same in milliseconds")
      .Check(traces::NumberBetween(0, 3.6e6));
}

}  // namespace

bool ParseArguments(int argc, char** argv, LoadArguments* arguments, int* status) {
  traces::CommandLine line(kAbout, "penstock-load");
  line.SetFooter(kFooter);
  ArgumentTexts texts;
  PipelineOptions& options = arguments->pipeline;
  options.workers = CoresToUse();
  AddLoaderOptions(line, *arguments, texts);
  AddStageOptions(line, *arguments, texts);
  AddDeviceOptions(line, *arguments, texts);
  line.Add("--trace", arguments->trace, "write a trace of this run");
  line.AddFlag("--digest", arguments->digest, "a hash over what was delivered, for each epoch");
  line.AddFlag("--json", arguments->json, "one object on standard output and nothing else");
  if (!traces::ParseCommandLine(line, argc, argv, status)) return false;
  if (!line.Given("--epochs") && (line.Given("--for") || line.Given("--batches"))) {
    options.epochs = 0;
  }
  if (!line.Given("--workers") && options.read.threads != 0 && options.decode.threads != 0 &&
      options.augment.threads != 0) {
    options.workers = 0;
  }
  if (Result<void> read = ReadTexts(texts, arguments); !read) {
    *status = traces::Complain(line, read.error());
    return false;
  }
  return true;
}

}  // namespace penstock::loader
