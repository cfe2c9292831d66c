// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/changes.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/predict/decoders.h"
#include "analyzer/words/assumptions.h"
#include "analyzer/words/needs.h"

namespace penstock::analyzer {
namespace {

constexpr double kMemory = 2e9;  // bytes per second, as in advice/fits_in_ram.cc
// CPU seconds in which the training process makes a byte of normalised floats from uint8. Source:
// ours, x.float().sub_(mean).div_(deviation) of 64 pictures of 224 x 224 with PyTorch 1.13: 0.70 to
// 0.71 ns with one thread, 1.1 ns with two.
constexpr double kConvertPerByte = 0.7e-9;

class Changer {
 public:
  Changer(const Pipeline& pipeline, const LoaderFacts& facts, const Material& material,
          const DeviceCosts& costs)
      : material_(material), costs_(costs) {
    out_.pipeline = pipeline;
    out_.facts = facts;
  }

  // `on_gpu`: another change moves work to a GPU, so there is one.
  Predicted<void> Transfer(const std::string& type, bool on_gpu);
  void Cache();
  Predicted<void> Pack();
  // Return an error if the decoded data are known not to be pictures, or not to come from JPEG
  // files.
  [[nodiscard]] Predicted<void> NeedPictures() const;
  [[nodiscard]] Predicted<void> NeedJpeg() const;
  Predicted<void> Resize(double longest);
  Predicted<void> Decode(const std::string& decoder);
  Predicted<void> Disk(double bytes_per_s);
  void Alone();
  void OnCores(const Changes& changes);
  Predicted<void> ToGpu(bool decode, bool augment, double overlap);

  Changed Take() { return std::move(out_); }

 private:
  template <class OfBatch, class OfSample>
  void ForEach(OfBatch of_batch, OfSample of_sample) {
    for (EpochDemand& epoch : out_.pipeline.epochs) {
      for (Demand& demand : epoch.batches) of_batch(demand);
      for (SampleCost& cost : epoch.samples) of_sample(cost);
    }
  }
  void Scale(Factor part, double scale) {
    ScaleFactor(out_.pipeline, part, scale, FirstBatches::kScaled);
  }
  // Scales the bytes of a batch, and the costs that depend on them.
  void ScaleBatch(double ratio);
  // Adds device time for each sample to the steps. The fraction `overlap` of this time runs beside
  // the step and does not lengthen it.
  void LengthenStep(double seconds, double overlap);
  // Adds the conversion of each sample's pixels to the steps; `bytes`: of its floats.
  void ConvertInLoop(double bytes);
  void Note(Statement note) { out_.notes.push_back(std::move(note)); }

  const Material& material_;
  const DeviceCosts& costs_;
  Changed out_;
  double pixels_ = 1;  // fraction of each picture's pixels that Resize() leaves
};

void Changer::ScaleBatch(double ratio) {
  const double handover = kHandoverPerBatch + (1 - kHandoverPerBatch) * ratio;
  Scale(Factor::kCollate, ratio);
  Scale(Factor::kH2d, ratio);
  ForEach(
      [&](Demand& demand) {
        for (double* part : {&demand.put, &demand.feed, &demand.get}) *part *= handover;
        demand.pin *= ratio;
      },
      [](SampleCost&) {});
  out_.facts.batch_bytes *= ratio;
}

void Changer::LengthenStep(double seconds, double overlap) {
  double before = 0;
  double after = 0;
  ForEach(
      [&](Demand& demand) {
        before += demand.step;
        demand.step += demand.samples * seconds * (1 - overlap);
        after += demand.step;
      },
      [](SampleCost&) {});
  // In the added device time, the CPU does not compute, and the loop transforms nothing.
  if (!(after > 0)) return;
  out_.pipeline.step_load *= before / after;
  out_.pipeline.step_transforms *= before / after;
}

void Changer::ConvertInLoop(double bytes) {
  double before = 0;
  double after = 0;
  ForEach(
      [&](Demand& demand) {
        before += demand.step;
        demand.step += demand.samples * bytes * kConvertPerByte;
        after += demand.step;
      },
      [](SampleCost&) {});
  if (!(after > 0)) return;
  const auto with_conversion = [&](double share) {
    return (share * before + after - before) / after;
  };
  out_.pipeline.step_load = with_conversion(out_.pipeline.step_load);
  out_.pipeline.step_transforms = with_conversion(out_.pipeline.step_transforms);
}

Predicted<void> Changer::Transfer(const std::string& asked, bool on_gpu) {
  const std::size_t colon = asked.find(':');
  const std::string from = colon == std::string::npos ? "" : asked.substr(0, colon);
  const std::string type = colon == std::string::npos ? asked : asked.substr(colon + 1);
  const double width = type == "u8" ? 1 : type == "f16" ? 2 : type == "f32" ? 4 : 0;
  if (width == 0 || !(from.empty() || from == "u8" || from == "f16" || from == "f32")) {
    return Refuse(Say<words::kUnknownType>(Give<"given">(asked)), ErrorKind::kUsage);
  }
  double f32 = material_.f32;
  double f16 = material_.f16;
  double u8 = material_.u8;
  const double kept = material_.i64 + material_.other;
  double all = f32 + f16 + u8 + kept;
  if (!from.empty()) {  // the user's types replace those of the trace; the bytes stay
    const double pixels = all > 0 ? all - kept : out_.facts.batch_bytes;
    f32 = from == "f32" ? pixels : 0;
    f16 = from == "f16" ? pixels : 0;
    u8 = from == "u8" ? pixels : 0;
    all = pixels + (all > 0 ? kept : 0);
  }
  if (!(all > 0)) {
    return Refuse(Say<words::kNeedsTypes>());
  }
  const double numbers = f32 / 4 + f16 / 2 + u8;
  const double ratio = (numbers * width + kept) / all;
  ScaleBatch(ratio);
  Note(Say<words::kBatchBytes>(Give<"ratio">(ratio)));
  const bool conversion_moves = type == "u8" && f32 + f16 > u8;
  if (!conversion_moves) return {};
  Scale(Factor::kAugment, 1 - material_.conversion);
  const double samples = std::max(1.0, out_.facts.batch_size);
  const bool on_device = material_.device || costs_.given || on_gpu;
  if (on_device) {
    LengthenStep(numbers / samples / 3e6 * costs_.convert.ms_per_megapixel * 1e-3, 0);
  } else {
    ConvertInLoop(4 * numbers / samples);
    Note(Say<words::kConversionInLoop>(Give<"each">(4 * numbers * kConvertPerByte)));
  }
  if (!(material_.conversion > 0)) {
    Note(Say<words::kConversionStays>());
  } else if (on_device) {
    Note(Say<words::kConversionMoves>(Give<"share">(material_.conversion),
                                      Give<"source">(costs_.convert.source)));
  }
  return {};
}

void Changer::Cache() {
  const double copy = material_.file_bytes * pixels_ / kMemory;  // seconds for one sample
  const auto in_memory = [](double wall, double cpu, double least) {
    return std::min(wall, std::max(cpu, least));
  };
  ForEach(
      [&](Demand& demand) {
        demand.read.wall = in_memory(demand.read.wall, demand.read.cpu, copy * demand.samples);
        demand.read.cpu = demand.read.wall;  // a copy from memory does not wait
      },
      [&](SampleCost& cost) {
        cost.read = static_cast<float>(
            in_memory(static_cast<double>(cost.read), static_cast<double>(cost.read_cpu), copy));
        cost.read_cpu = cost.read;
      });
  out_.pipeline.device_per_sample = 0;
  out_.pipeline.turns = false;
  out_.memory += material_.dataset_bytes * pixels_;
  if (material_.dataset_bytes > 0) {
    Note(Say<words::kDatasetInMemory>(Give<"dataset">(material_.dataset_bytes * pixels_),
                                      Give<"room">(material_.memory)));
  } else {
    Note(Say<words::kDatasetUnknown>());
  }
}

Predicted<void> Changer::Pack() {
  const ReadCosts& reads = material_.reads;
  if (!reads.split) {
    return Refuse(Say<words::kNeedsReads>());
  }
  const double share = reads.latency_share();
  Scale(Factor::kRead, 1 - share);
  Note(Say<words::kOpeningGoes>(Give<"share">(share), Give<"fixed">(reads.latency),
                                Give<"mean">(reads.mean)));
  return {};
}

Predicted<void> Changer::NeedPictures() const {
  if (material_.media != Media::kOther) return {};
  return Refuse(Say<words::kNeedsPictures>(Give<"call">(material_.decode_call)));
}

Predicted<void> Changer::NeedJpeg() const {
  PENSTOCK_TRY(NeedPictures());
  if (material_.may_be_jpeg()) return {};
  return Refuse(Say<words::kNeedsJpeg>(Give<"mixed">(material_.format == "mixed"),
                                       Give<"format">(material_.format)));
}

Predicted<void> Changer::Resize(double longest) {
  if (!(longest >= 1)) return Refuse(Say<words::kNoPixel>(), ErrorKind::kUsage);
  PENSTOCK_TRY(NeedPictures());
  if (!(material_.decoded_bytes > 0)) {
    return Refuse(Say<words::kNeedsSizes>());
  }
  const double side = std::sqrt(material_.decoded_bytes / 3 * 4 / 3);
  const double sides = std::min(1.0, longest / side);
  const double ratio = sides * sides;
  pixels_ = ratio;
  Scale(Factor::kDecode, ratio);
  const ReadCosts& reads = material_.reads;
  const double fixed = reads.split ? reads.latency_share() : 1;
  Scale(Factor::kRead, fixed + (1 - fixed) * ratio);
  out_.pipeline.device_per_sample *= ratio;
  Note(Say<words::kSmallerPictures>(Give<"megapixels">(material_.megapixels()), Give<"side">(side),
                                    Give<"kept">(ratio), Give<"reads">(reads.split)));
  return {};
}

Predicted<void> Changer::Decode(const std::string& decoder) {
  const auto wanted = FindDecoder(decoder);
  if (!wanted) {
    std::string names;
    for (const DecoderSpeed& speed : DecoderSpeeds()) names += fmt::format(" {}", speed.name);
    return Refuse(Say<words::kUnknownDecoder>(Give<"given">(decoder), Give<"known">(names)),
                  ErrorKind::kUsage);
  }
  PENSTOCK_TRY(NeedJpeg());
  const auto recorded = FindDecoder(material_.decoder);
  if (!recorded) {
    const std::string& name = material_.decoder;
    return Refuse(Say<words::kNeedsKnownDecoder>(
        Give<"decoder">(name.empty() ? std::nullopt : std::optional(name))));
  }
  Scale(Factor::kDecode, recorded->ratio / wanted->ratio);
  Note(Say<words::kOtherDecoder>(
      Give<"wanted">(wanted->name), Give<"ratio">(wanted->ratio / recorded->ratio),
      Give<"recorded">(recorded->name), Give<"low">(wanted->low / recorded->high),
      Give<"high">(wanted->high / recorded->low), Give<"jpeg">(material_.format == "jpeg")));
  return {};
}

Predicted<void> Changer::Disk(double bytes_per_s) {
  if (!(material_.file_bytes > 0)) {
    return Refuse(Say<words::kNeedsBytes>());
  }
  const double each = material_.file_bytes * pixels_ / bytes_per_s;
  // Reads that were faster than this storage now take the time that the storage needs.
  ForEach(
      [&](Demand& demand) {
        demand.read.wall = std::max(demand.read.wall, demand.read.cpu + each * demand.samples);
      },
      [&](SampleCost& cost) {
        cost.read = std::max(cost.read, cost.read_cpu + static_cast<float>(each));
      });
  out_.pipeline.device_per_sample = each;
  out_.pipeline.turns = false;
  return {};
}

void Changer::Alone() {
  if (out_.pipeline.others > 0) {
    Note(Say<words::kAlone>(Give<"threads">(out_.pipeline.others)));
  }
  out_.pipeline.others = 0;
  out_.pipeline.crowded = false;
}

// Puts the program's own computing on other cores. Waiting for storage, a device or a lock takes as
// long as before.
void Changer::OnCores(const Changes& changes) {
  Pipeline& pipeline = out_.pipeline;
  pipeline.others = 0;
  pipeline.crowded = false;
  const double before = pipeline.cores;
  if (changes.cores > 0) pipeline.cores = changes.cores;
  const double speed = changes.core_speed;
  ScaleComputing(pipeline, 1 / speed);
  Note(Say<words::kOtherCores>(
      Give<"several">(changes.several), GiveIf<"cores">(!changes.several, pipeline.cores),
      Give<"recorded">(before), Give<"faster">(speed != 1), Give<"speed">(speed)));
}

Predicted<void> Changer::ToGpu(bool decode, bool augment, double overlap) {
  double augmenting = 0;
  ForEach([&](Demand& demand) { augmenting += demand.augment.wall; }, [](SampleCost&) {});
  if (decode && !augment && augmenting > 0) {
    return Refuse(Say<words::kDecodeAlone>(), ErrorKind::kUsage);
  }
  PENSTOCK_TRY(decode ? NeedJpeg() : NeedPictures());
  const double megapixels = material_.megapixels() * pixels_;
  if (!(megapixels > 0)) {
    return Refuse(Say<words::kNeedsSizes>());
  }
  double device = 0;  // seconds per sample
  if (decode) device += megapixels * costs_.decode.ms_per_megapixel * 1e-3;
  if (augment) device += megapixels * costs_.augment.ms_per_megapixel * 1e-3;
  if (decode) Scale(Factor::kDecode, 0);
  if (augment) Scale(Factor::kAugment, 0);
  const double carried = pixels_ * (decode ? material_.file_bytes : material_.decoded_bytes);
  if (carried > 0 && material_.sample_bytes > 0) {
    ScaleBatch(carried * std::max(1.0, out_.facts.batch_size) /
               std::max(1.0, out_.facts.batch_bytes));
  }
  LengthenStep(device, overlap);
  Note(Say<words::kLongerStep>(Give<"more">(device * (1 - overlap)), Give<"device">(costs_.device),
                               Give<"overlap">(overlap), Give<"files">(decode)));
  if (decode) Note(Say<words::kDecodeSource>(Give<"source">(costs_.decode.source)));
  if (augment) Note(Say<words::kAugmentSource>(Give<"source">(costs_.augment.source)));
  return {};
}

}  // namespace

bool Changes::any() const {
  return !transfer.empty() || ram_cache || pack || resize > 0 || !decoder.empty() || disk > 0 ||
         alone || cores > 0 || core_speed != 1 || gpu_decode || gpu_augment;
}

Predicted<Changed> ApplyChanges(const Pipeline& pipeline, const LoaderFacts& facts,
                                const Material& material, const Changes& changes,
                                const DeviceCosts& costs) {
  Changer changer(pipeline, facts, material, costs);
  if (!changes.transfer.empty() && changes.gpu_decode) {
    return Refuse(Say<words::kTransferOfFiles>(), ErrorKind::kUsage);
  }
  // The order matters: first the stored files, then the storage, then the work on the data.
  Predicted<void> done;
  if (changes.resize > 0) done = changer.Resize(changes.resize);
  if (done && changes.pack) done = changer.Pack();
  if (done && changes.disk > 0) done = changer.Disk(changes.disk);
  if (done && changes.ram_cache) changer.Cache();
  if (done && !changes.decoder.empty()) done = changer.Decode(changes.decoder);
  if (done && !changes.transfer.empty()) {
    done = changer.Transfer(changes.transfer, changes.gpu_augment);
  }
  if (done && (changes.gpu_decode || changes.gpu_augment)) {
    done = changer.ToGpu(changes.gpu_decode, changes.gpu_augment, changes.gpu_overlap);
  }
  PENSTOCK_TRY(done);
  if (changes.cores > 0 || changes.core_speed != 1) {
    changer.OnCores(changes);
  } else if (changes.alone) {
    changer.Alone();
  }
  return changer.Take();
}

}  // namespace penstock::analyzer
