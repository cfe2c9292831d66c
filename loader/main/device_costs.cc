// SPDX-License-Identifier: Apache-2.0
#include "loader/main/device_costs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "loader/device/measure.h"
#include "loader/io/object_reader.h"
#include "loader/main/device_arguments.h"
#include "loader/source/sources.h"
#include "traces/base/command_line.h"
#include "traces/base/file.h"
#include "traces/base/program.h"

namespace penstock::loader {
namespace {

constexpr int kNoDevice = 1;        // exit status, as in main.cc
constexpr Size kPicture{500, 375};  // the usual size of an ImageNet photograph

int Complain(const Error& error) {
  fmt::print(stderr, "penstock-load device-costs: {}\n", error.message);
  return ExitStatus(error.kind);
}

// Reads up to `count` samples of the source. Errors: those of reading.
Result<std::vector<std::vector<std::byte>>> ReadFiles(const std::string& name, std::size_t count) {
  const auto source = OpenSource(name, {});
  PENSTOCK_TRY(source);
  const auto reader = MakeObjectReader({});
  PENSTOCK_TRY(reader);
  std::vector<std::vector<std::byte>> files;
  SampleScratch scratch;
  const auto wanted = std::min<std::uint64_t>((*source)->size(), count);
  for (std::uint64_t i = 0; i < wanted; ++i) {
    // Spread over the whole set, since its beginning may be one class.
    const auto ref = (*source)->At((*source)->size() * i / wanted, scratch);
    PENSTOCK_TRY(ref);
    (*reader)->Start(0, *ref);
    const auto file = (*reader)->Finish(0);
    PENSTOCK_TRY(file);
    files.emplace_back(file->begin(), file->end());
  }
  return files;
}

struct Wanted {
  std::string source;
  std::string output;
  std::string device = "cuda";
  std::string decoder = "auto";
  std::string nvjpeg;  // path of the library
  unsigned batch = 256;
};

std::string Line(std::string_view key, const DeviceTime& time, std::string_view what) {
  return fmt::format("{} {:.6g} {}, {:.0f} GB/s\n", key, time.ms_per_megapixel(), what,
                     time.bytes_per_s() * 1e-9);
}

Result<DeviceTime> MeasureOps(cuda::Device& device, const char* ops, Size picture, unsigned batch) {
  const auto program = AugmentProgram::Parse(ops, ElementType::kF16, Layout::kChw);
  PENSTOCK_TRY(program);
  return MeasureProgram(device, *program, picture, batch, TimingFor(device.info()));
}

// The line for decoding. Errors: the reason why decoding cannot be measured.
Result<std::string> DecodeLine(cuda::Device& device, const cuda::JpegOptions& options,
                               const std::vector<std::vector<std::byte>>& files,
                               const std::string& day) {
  if (device.info().emulated && options.path.empty()) {
    return Fail(ErrorKind::kUsage, "nvJPEG needs a GPU, or a stand-in named with --nvjpeg");
  }
  const auto jpeg = cuda::JpegBatches::Make(options, device);
  PENSTOCK_TRY(jpeg);
  const auto time = MeasureDecode(device, **jpeg, files, TimingFor(device.info()));
  PENSTOCK_TRY(time);
  return fmt::format("decode {:.6g} nvJPEG, {}, {} whole pictures of {:.2f} megapixels, {}\n",
                     time->ms_per_megapixel(), cuda::JpegBackendName((*jpeg)->backend()),
                     time->pictures, time->megapixels / static_cast<double>(time->pictures), day);
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

// The text of the file. If decoding cannot be measured, its line is a comment with the reason.
Result<std::string> Measure(const Wanted& wanted, cuda::Device& device) {
  const std::string day = Today();
  const cuda::DeviceInfo& info = device.info();
  std::string out =
      fmt::format("# penstock-load device-costs, {}; milliseconds a megapixel\n", day);
  out += fmt::format("device {}\n", info.name);
  if (wanted.source.empty()) {
    out += "# decode: give a SOURCE of JPEGs to measure it\n";
  } else {
    const auto files = ReadFiles(wanted.source, wanted.batch);
    PENSTOCK_TRY(files);
    cuda::JpegOptions options;
    options.path = wanted.nvjpeg;
    const auto backend = cuda::ParseJpegBackend(wanted.decoder);
    if (!backend) return Fail(ErrorKind::kUsage, "--gpu-decoder " + backend.error().message);
    options.backend = *backend;
    const auto decode = DecodeLine(device, options, *files, day);
    out += decode ? *decode : fmt::format("# decode: {}\n", decode.error().message);
  }
  const auto augment =
      MeasureOps(device, "random_resized_crop=224,flip,normalize", kPicture, wanted.batch);
  PENSTOCK_TRY(augment);
  out += Line("augment", *augment,
              fmt::format("random_resized_crop=224,flip,normalize of {}x{} to float16, {}",
                          kPicture.width, kPicture.height, day));
  const auto convert = MeasureOps(device, "crop=224x224,normalize", Size{224, 224}, wanted.batch);
  PENSTOCK_TRY(convert);
  out += Line("convert", *convert, fmt::format("uint8 HWC to normalised float16 CHW, {}", day));
  const auto copy = MeasureCopy(device, std::size_t{64} << 20, TimingFor(info));
  PENSTOCK_TRY(copy);
  out += fmt::format("# copy from pinned memory: {:.2f} GB/s\n", copy->bytes_per_s() * 1e-9);
  if (info.memory_bytes_per_s > 0) {
    out += fmt::format(
        "# peak of the device's memory: {:.0f} GB/s; augment reaches {:.0f} %, "
        "convert {:.0f} %\n",
        info.memory_bytes_per_s * 1e-9, 100 * augment->bytes_per_s() / info.memory_bytes_per_s,
        100 * convert->bytes_per_s() / info.memory_bytes_per_s);
  }
  return out;
}

Result<void> Write(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") return traces::ToStandardOutput(text);
  return WriteWhole(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

int DeviceCostsCommand(const std::vector<std::string>& arguments) {
  Wanted wanted;
  traces::CommandLine line{
      "Measures how long a GPU takes to decode, augment and convert one megapixel, and writes\n"
      "that as a file for penstock whatif (--device-costs).",
      "penstock-load device-costs"};
  line.Add("SOURCE", wanted.source, "JPEGs to decode; without them decode is left out");
  line.Add("-o,--output", wanted.output, "the file (default: standard output)");
  line.Add("--device", wanted.device, "cuda or cuda:NUMBER; emulated: to see the format")
      .ShowDefault();
  line.Add("-b,--batch", wanted.batch, "pictures at a time")
      .Check(traces::WholeNumber(1, 65536))
      .ShowDefault();
  line.Add("--gpu-decoder", wanted.decoder, "auto, hardware, gpu-hybrid or hybrid").ShowDefault();
  line.Add("--nvjpeg", wanted.nvjpeg, "the nvJPEG library (default: searched for)");
  int status = 0;
  std::vector<std::string> words = {"penstock-load device-costs"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  if (!traces::ParseCommandLine(line, static_cast<int>(argv.size()), argv.data(), &status)) {
    return status;
  }
  ArgumentTexts texts;
  texts.device = wanted.device;
  LoadArguments load;
  if (Result<void> read = ReadPlacement(texts, &load); !read) return Complain(read.error());
  if (load.device == "cpu") {
    return Complain(
        {ErrorKind::kUsage, "--device cpu: device-costs measures a GPU; give cuda or cuda:NUMBER"});
  }
  const auto device = OpenNamedDevice(load);
  if (!device) {
    static_cast<void>(Complain(device.error()));
    return kNoDevice;
  }
  const auto text = Measure(wanted, **device);
  if (!text) return Complain(text.error());
  if (Result<void> written = Write(wanted.output, *text); !written) {
    return Complain(written.error());
  }
  return 0;
}

}  // namespace penstock::loader
