// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/material.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/model/loader_memory.h"

namespace penstock::analyzer {
namespace {

// Beginnings of the names of decode spans that give pictures, and the decoder that each beginning
// means; "" if FindDecoder() does not know the decoder.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kPictureDecoders = {{
    {"PIL.", "pillow"},
    {"datasets.Image", "pillow"},
    {"cv2.im", "opencv"},
    {"cv::im", "opencv"},
    {"torchvision.decode_", "torchvision"},
    {"torchvision.read_image", "torchvision"},
    {"turbojpeg", "turbojpeg"},
    {"simplejpeg", "simplejpeg"},
    {"imageio.", "imageio"},
    {"skimage.io.", "skimage"},
    {"libjpeg", "turbojpeg"},
    {"kornia_rs.", "kornia"},
    {"imagecodecs.jpeg8", "imagecodecs"},
    {"imagecodecs.mozjpeg", "imagecodecs"},
    {"imagecodecs.", ""},
    {"jpeg", ""},
    {"png", ""},
    {"webp", ""},
    {"pyvips.", ""},
    {"tensorflow::", ""},
    {"torchcodec.decode_", ""},
}};
// Beginnings of the names of decode spans that give video, sound, arrays or tables.
constexpr std::array<std::string_view, 21> kOtherDecoders = {
    "ffmpeg",          "av.",        "cv2.VideoCapture", "decord.",        "torchcodec.",
    "imageio_ffmpeg.", "soundfile.", "torchaudio.",      "librosa.",       "nibabel.",
    "pydicom.",        "zarr.",      "blosc.",           "numcodecs.",     "parquet.",
    "numpy.",          "h5py.",      "datasets.Audio",   "datasets.Video", "datasets.Nifti",
    "datasets.Pdf"};

bool GivesNoPicture(std::string_view name) {
  return std::any_of(kOtherDecoders.begin(), kOtherDecoders.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

// The decoder that a decode span's name means; "" if FindDecoder() does not know the decoder.
// nullopt if the span is not known to give pictures.
std::optional<std::string_view> PictureDecoder(std::string_view name) {
  for (const auto& [start, decoder] : kPictureDecoders) {
    if (name.starts_with(start)) return decoder;
  }
  return std::nullopt;
}

// The format that a decoder's name tells: "png" for "torchvision.decode_png"; else "".
std::string_view NamedFormat(std::string_view name) {
  for (const std::string_view format : {"jpeg2k", "jpegls", "jpegxl", "jpegxr", "jpeg", "png",
                                        "webp", "tiff", "avif", "heic", "gif"}) {
    if (name.find(format) != std::string_view::npos) return format;
  }
  return "";
}

// The calls that decode, by what they give.
struct DecodeCalls {
  double pictures = 0;  // seconds
  double other = 0;
  double longest_picture = 0;
  double longest_other = 0;
  std::uint64_t bytes = 0;                     // of all pictures
  std::uint64_t most_bytes = 0;                // of all calls of the name with the most bytes
  std::uint64_t with_bytes = 0;                // calls
  std::map<std::string_view, double> formats;  // seconds, by the format in the name

  void AddPicture(std::string_view name, std::string_view decoder, const PartTotals& part,
                  Material& material) {
    const double wall = Seconds(part.wall);
    pictures += wall;
    bytes += part.bytes.value;
    most_bytes = std::max(most_bytes, part.bytes.value);
    with_bytes += part.with_bytes;
    formats[NamedFormat(name)] += wall;
    if (wall > longest_picture) {
      longest_picture = wall;
      material.decoder = decoder;
    }
  }
  void AddOther(std::string_view name, double wall, Material& material) {
    other += wall;
    if (wall > longest_other) {
      longest_other = wall;
      material.decode_call = name;
    }
  }
  // The format with at least 80 % of the time. "mixed" if the other named formats have more than a
  // fifth. Otherwise "": decoders whose names tell no format took too much of the time.
  [[nodiscard]] std::string_view Format() const {
    constexpr double kMost = 0.8;
    double named = 0;
    double most = 0;
    std::string_view found;
    for (const auto& [format, wall] : formats) {
      if (format.empty()) continue;
      named += wall;
      if (wall > most) found = format;
      most = std::max(most, wall);
    }
    if (most >= kMost * pictures) return found;
    return named - most > (1 - kMost) * pictures ? "mixed" : "";
  }
};

// Sets what the decode spans of `samples` samples tell about the data.
void ReadDecoders(const traces::Trace& trace, const StageTotals& decode, double samples,
                  Material& material) {
  constexpr double kOnce = 1.1;  // calls for each sample
  DecodeCalls calls;
  for (const auto& [id, part] : decode.children) {
    const std::string_view name = trace.String(id);
    if (const auto decoder = PictureDecoder(name)) {
      calls.AddPicture(name, *decoder, part, material);
    } else if (GivesNoPicture(name)) {
      calls.AddOther(name, Seconds(part.wall), material);
    }
  }
  const double half = Seconds(decode.wall) / 2;
  if (calls.other > half) {
    material.media = Media::kOther;
    material.decoder.clear();
    return;
  }
  if (const std::string_view format = calls.Format(); !format.empty()) material.format = format;
  if (!(calls.pictures > half)) return;
  material.media = Media::kPictures;
  // A picture may pass several calls, such as decoding and converting it, and each call has the
  // bytes of its pixels.
  const bool once = static_cast<double>(calls.with_bytes) <= kOnce * samples;
  const std::uint64_t bytes = once ? calls.bytes : calls.most_bytes;
  if (bytes > 0 && samples > 0) material.decoded_bytes = static_cast<double>(bytes) / samples;
}

// Reads "uint8:150528 int64:401408": the bytes of one batch by type.
void ReadTypes(const std::string& fact, Material& material) {
  std::size_t at = 0;
  while (at < fact.size()) {
    const std::size_t end = std::min(fact.find(' ', at), fact.size());
    const std::string entry = fact.substr(at, end - at);
    at = end + 1;
    const std::size_t colon = entry.find(':');
    if (colon == std::string::npos) continue;
    const double bytes = std::strtod(entry.c_str() + colon + 1, nullptr);
    if (!(bytes > 0) || bytes > 1e15) continue;
    const std::string type = entry.substr(0, colon);
    double& sum = type == "float32"                         ? material.f32
                  : type == "float16" || type == "bfloat16" ? material.f16
                  : type == "uint8"                         ? material.u8
                  : type == "int64"                         ? material.i64
                                                            : material.other;
    sum += bytes;
  }
}

// PyTorch's fraction of the bytes in a fact such as "torch:602112 other:0"; 0 if the fact is
// missing.
double TorchShare(const std::string& fact) {
  unsigned long long own = 0;
  unsigned long long other = 0;
  if (std::sscanf(fact.c_str(), "torch:%llu other:%llu", &own, &other) != 2) return 0;
  const double all = static_cast<double>(own) + static_cast<double>(other);
  return all > 0 ? static_cast<double>(own) / all : 0;
}

// Bytes of one sample in a collated batch, over all batches whose bytes are known: texts and boxes
// give batches of different sizes. 0 if none is known.
double MeanSampleBytes(const LoaderRun& run) {
  double bytes = 0;
  double samples = 0;
  for (const Batch& batch : run.batches) {
    if (batch.bytes == 0) continue;
    bytes += static_cast<double>(batch.bytes);
    samples += static_cast<double>(batch.samples > 0 ? batch.samples : run.samples_per_batch);
  }
  return samples > 0 ? bytes / samples : 0;
}

double DatasetBytes(const traces::Trace& trace, const LoaderRun& run, const FilesSeen& files,
                    double file_bytes) {
  constexpr double kReturns = 0.05;  // of the files; a read that was retried is no return
  constexpr double kMostly = 0.5;    // files drawn at random were then nearly all seen
  if (const auto fact = NumberFact(trace.facts(), "dataset.bytes"); fact && *fact > 0) return *fact;
  if (files.returned > kMostly) return files.bytes;
  if (files.returned > kReturns) return 0;  // how many files there are is not known
  if (const double all = run.config.dataset_samples(); all > 0) return file_bytes * all;
  double samples = 0;
  double epochs = 0;
  for (const Epoch& epoch : run.epochs) {
    if (!epoch.ended) return 0;
    epochs += 1;
  }
  for (const Batch& batch : run.batches) samples += static_cast<double>(batch.samples);
  return epochs > 0 ? file_bytes * samples / epochs : 0;
}

// Whether the run may use a device of the host: a device was in use, or no fact says which were.
bool MayUseDevice(const Facts& facts) {
  bool told = false;
  for (const auto& [key, use] : facts) {  // gpu.N.used
    if (!key.starts_with("gpu.") || !key.ends_with(".used")) continue;
    if (use != "no") return true;
    told = true;
  }
  return !told;
}

}  // namespace

bool MakesFloats(std::string_view transform) {
  const auto has = [transform](std::string_view part) {
    return transform.find(part) != std::string_view::npos;
  };
  if (has("PILToTensor") || has("ToTensorV2")) return false;  // the type stays
  return has("Normalize") || has("normalize") || has("ToTensor") || has("ConvertImageDtype") ||
         has("ToDtype") || has("ToFloat");
}

bool DecodesPicture(std::string_view name) {
  return PictureDecoder(name).has_value();
}

Material MaterialOf(const traces::Trace& trace, const RunModel& model, const LoaderRun& run) {
  Material material;
  const StageTotals& read = model.stages[traces::StageId::kRead];
  const StageTotals& decode = model.stages[traces::StageId::kDecode];
  const StageTotals& augment = model.stages[traces::StageId::kAugment];
  const double samples = model.samples();
  if (samples > 0) {
    material.file_bytes = static_cast<double>(read.bytes.value) / samples;
    material.decoded_bytes = static_cast<double>(decode.bytes.value) / samples;
  }
  const auto size = static_cast<double>(run.samples_per_batch);
  material.sample_bytes = MeanSampleBytes(run);
  if (size > 0 && !(material.sample_bytes > 0)) {
    material.sample_bytes = FilledBatchBytes(model, run) / size;
  }
  const ProcessId consumer = run.config.consumer;
  if (run.config.id >= 0 && consumer.value < trace.processes().size()) {
    const std::string loader = "loader." + std::to_string(run.config.id);
    const auto& facts = trace.processes()[consumer.value].facts;
    ReadTypes(TextFact(facts, loader + ".batch_types"), material);
    material.torch_share = TorchShare(TextFact(facts, loader + ".sample_memory"));
  }
  if (size > 0 && !(material.sample_bytes > 0)) {  // no worker has put a batch
    material.sample_bytes = material.batch_bytes() / size;
  }
  material.format = model.picture_format;
  ReadDecoders(trace, decode, samples, material);
  double conversion = 0;
  for (const auto& [name, part] : augment.children) {
    const std::string_view text = trace.String(name);
    if (MakesFloats(text)) conversion += Seconds(part.wall);
  }
  if (augment.wall.value > 0) {
    material.conversion = std::min(1.0, conversion / Seconds(augment.wall));
  }
  material.dataset_bytes = DatasetBytes(trace, run, model.files, material.file_bytes);
  material.memory = BudgetOf(model.machine()).ram;
  material.gpu = TextFact(trace.facts(), "gpu.model");
  material.device = !material.gpu.empty() && MayUseDevice(trace.facts());
  for (const auto stage : {traces::StageId::kH2d, traces::StageId::kKernel, traces::StageId::kCopy,
                           traces::StageId::kCall}) {
    material.device = material.device || model.stages[stage].count > 0;
  }
  material.reads = model.reads;
  return material;
}

}  // namespace penstock::analyzer
