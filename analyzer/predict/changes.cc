// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/changes.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/predict/decoders.h"

namespace penstock::analyzer {
namespace {

constexpr double kMemory = 2e9;  // bytes a second: advice/fits_in_ram.cc

Error NotEnough(std::string needs) {
  return {ErrorKind::kInput, "not enough: needs " + std::move(needs)};
}

class Changer {
 public:
  Changer(const Pipeline& pipeline, const LoaderFacts& facts, const Material& material,
          const DeviceCosts& costs)
      : material_(material), costs_(costs) {
    out_.pipeline = pipeline;
    out_.facts = facts;
  }

  Result<void> Transfer(const std::string& type);
  void Cache();
  Result<void> Pack();
  Result<void> Resize(double longest);
  Result<void> Decode(const std::string& decoder);
  Result<void> Disk(double bytes_per_s);
  void Alone();
  Result<void> ToGpu(bool decode, bool augment, double overlap);

  Changed Take() { return std::move(out_); }

 private:
  template <class OfBatch, class OfSample>
  void ForEach(OfBatch of_batch, OfSample of_sample) {
    for (EpochDemand& epoch : out_.pipeline.epochs) {
      for (Demand& demand : epoch.batches) of_batch(demand);
      for (SampleCost& cost : epoch.samples) of_sample(cost);
    }
  }
  void Scale(Factor part, double scale) { ScalePart(out_.pipeline, part, scale); }
  void ScaleBatch(double ratio);
  // Device time for each sample, of which `overlap` runs beside the step.
  void LengthenStep(double seconds, double overlap);
  void Note(std::string text) { out_.notes.push_back(std::move(text)); }

  const Material& material_;
  const DeviceCosts& costs_;
  Changed out_;
  double pixels_ = 1;  // left of each picture
};

void Changer::ScaleBatch(double ratio) {
  const double handing = kHandoverPerBatch + (1 - kHandoverPerBatch) * ratio;
  Scale(Factor::kCollate, ratio);
  Scale(Factor::kH2d, ratio);
  ForEach(
      [&](Demand& demand) {
        for (double* part : {&demand.put, &demand.feed, &demand.get}) *part *= handing;
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
  // The device's time is none of the CPU's.
  if (after > 0) out_.pipeline.step_load *= before / after;
}

Result<void> Changer::Transfer(const std::string& asked) {
  const std::size_t colon = asked.find(':');
  const std::string from = colon == std::string::npos ? "" : asked.substr(0, colon);
  const std::string type = colon == std::string::npos ? asked : asked.substr(colon + 1);
  const double width = type == "u8" ? 1 : type == "f16" ? 2 : type == "f32" ? 4 : 0;
  if (width == 0 || !(from.empty() || from == "u8" || from == "f16" || from == "f32")) {
    return Fail(ErrorKind::kUsage, fmt::format("--transfer {}: there are u8, f16 and f32", asked));
  }
  double f32 = material_.f32;
  double f16 = material_.f16;
  double u8 = material_.u8;
  const double kept = material_.i64 + material_.other;
  double all = f32 + f16 + u8 + kept;
  if (!from.empty()) {  // the user knows better than the trace, which tells the sum at least
    const double pixels = all > 0 ? all - kept : out_.facts.batch_bytes;
    f32 = from == "f32" ? pixels : 0;
    f16 = from == "f16" ? pixels : 0;
    u8 = from == "u8" ? pixels : 0;
    all = pixels + (all > 0 ? kept : 0);
  }
  if (!(all > 0)) {
    return tl::unexpected<Error>(
        NotEnough("the data types of a batch, which the trace does not tell; say them, as in "
                  "--transfer f32:u8"));
  }
  const double numbers = f32 / 4 + f16 / 2 + u8;
  const double ratio = (numbers * width + kept) / all;
  ScaleBatch(ratio);
  Note(fmt::format("batches take {:.2f} times the bytes they had", ratio));
  const bool integers = type == "u8" && f32 + f16 > u8;
  if (!integers) return {};
  Scale(Factor::kAugment, 1 - material_.conversion);
  const double samples = std::max(1.0, out_.facts.batch_size);
  LengthenStep(numbers / samples / 3e6 * costs_.convert.ms_per_megapixel * 1e-3, 0);
  Note(material_.conversion > 0
           ? fmt::format("the conversion to floating point, {:.0f} % of augmentation, moves to the "
                         "device ({})",
                         100 * material_.conversion, costs_.convert.source)
           : "the conversion to floating point was not seen as a transform of its own, so the "
             "workers keep its cost");
  return {};
}

void Changer::Cache() {
  const double copy = material_.file_bytes / kMemory;  // of one sample
  const auto in_memory = [](double wall, double cpu, double least) {
    return std::min(wall, std::max(cpu, least));
  };
  ForEach(
      [&](Demand& demand) {
        demand.read.wall = in_memory(demand.read.wall, demand.read.cpu, copy * demand.samples);
        demand.read.cpu = demand.read.wall;  // a copy waits for nothing
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
    Note(fmt::format("the dataset takes {:.1f} GB of memory; half of the memory is {:.1f} GB",
                     material_.dataset_bytes * pixels_ / 1e9, material_.memory / 1e9));
  } else {
    Note("the size of the dataset is not known: whether it fits into memory was not checked");
  }
}

Result<void> Changer::Pack() {
  const ReadCosts& reads = material_.reads;
  if (!reads.split) {
    return tl::unexpected<Error>(NotEnough(
        "64 reads of files of different sizes, to tell the time to open one from the time for its "
        "bytes"));
  }
  const double share = reads.latency_share();
  Scale(Factor::kRead, 1 - share);
  Note(
      fmt::format("{:.0f} % of reading ({:.2f} ms of {:.2f} ms a read) does not depend on the "
                  "bytes and goes",
                  100 * share, 1e3 * reads.latency, 1e3 * reads.mean));
  return {};
}

Result<void> Changer::Resize(double longest) {
  if (!(longest >= 1)) return Fail(ErrorKind::kUsage, "--offline-resize: give 1 pixel or more");
  if (!(material_.decoded_bytes > 0)) {
    return tl::unexpected<Error>(NotEnough("the sizes of decoded pictures, and none was seen"));
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
  Note(
      fmt::format("the mean picture has {:.2f} megapixels, about {:.0f} on its long side, of which "
                  "{:.0f} % of the pixels stay{}",
                  material_.megapixels(), side, 100 * ratio,
                  reads.split ? ""
                              : "; what reading would save is not known and left out: files of "
                                "different sizes are needed to tell"));
  return {};
}

Result<void> Changer::Decode(const std::string& decoder) {
  const auto wanted = FindDecoder(decoder);
  if (!wanted) {
    std::string names;
    for (const DecoderSpeed& speed : DecoderSpeeds()) names += fmt::format(" {}", speed.name);
    return Fail(ErrorKind::kUsage, fmt::format("--decoder {}: known are{}", decoder, names));
  }
  const auto recorded = FindDecoder(material_.decoder);
  if (!recorded) {
    return tl::unexpected<Error>(
        NotEnough("decode spans of a decoder it has figures for, and these were by " +
                  (material_.decoder.empty() ? std::string("an unknown one") : material_.decoder)));
  }
  Scale(Factor::kDecode, recorded->ratio / wanted->ratio);
  Note(
      fmt::format("{} decodes {:.2f} times as fast as {} ({:.2f} to {:.2f} on five CPUs; "
                  "imread_benchmark)",
                  wanted->name, wanted->ratio / recorded->ratio, recorded->name,
                  wanted->low / recorded->high, wanted->high / recorded->low));
  return {};
}

Result<void> Changer::Disk(double bytes_per_s) {
  if (!(material_.file_bytes > 0)) {
    return tl::unexpected<Error>(NotEnough("the bytes that were read, and none were seen"));
  }
  const double each = material_.file_bytes * pixels_ / bytes_per_s;
  // Reads that came faster than this storage can give take as long as it needs.
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
    Note(fmt::format("without the {:.1f} threads of other programs that competed for the cores",
                     out_.pipeline.others));
  }
  out_.pipeline.others = 0;
  out_.pipeline.crowded = false;
}

Result<void> Changer::ToGpu(bool decode, bool augment, double overlap) {
  double augmenting = 0;
  ForEach([&](Demand& demand) { augmenting += demand.augment.wall; }, [](SampleCost&) {});
  if (decode && !augment && augmenting > 0) {
    return Fail(ErrorKind::kUsage,
                "--gpu decode: pictures would come back to the CPU for augmentation; say "
                "decode,augment");
  }
  const double megapixels = material_.megapixels() * pixels_;
  if (!(megapixels > 0)) {
    return tl::unexpected<Error>(NotEnough("the sizes of decoded pictures, and none was seen"));
  }
  double device = 0;  // seconds a sample
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
  Note(
      fmt::format("the step grows by {:.3f} ms a sample on {}, {:.0f} % of it overlapped; workers "
                  "hand over {}",
                  1e3 * device * (1 - overlap), costs_.device, 100 * overlap,
                  decode ? "files" : "decoded pictures"));
  if (decode) Note("decoding on the device: " + costs_.decode.source);
  if (augment) Note("augmenting on the device: " + costs_.augment.source);
  return {};
}

}  // namespace

bool Changes::any() const {
  return !transfer.empty() || ram_cache || pack || resize > 0 || !decoder.empty() || disk > 0 ||
         alone || gpu_decode || gpu_augment;
}

Result<Changed> ApplyChanges(const Pipeline& pipeline, const LoaderFacts& facts,
                             const Material& material, const Changes& changes,
                             const DeviceCosts& costs) {
  Changer changer(pipeline, facts, material, costs);
  if (!changes.transfer.empty() && changes.gpu_decode) {
    return Fail(ErrorKind::kUsage, "--transfer says nothing where files are handed over (--gpu)");
  }
  // In this order: what is stored, where, and then what is done with it.
  Result<void> done;
  if (changes.resize > 0) done = changer.Resize(changes.resize);
  if (done && changes.pack) done = changer.Pack();
  if (done && changes.disk > 0) done = changer.Disk(changes.disk);
  if (done && changes.ram_cache) changer.Cache();
  if (done && !changes.decoder.empty()) done = changer.Decode(changes.decoder);
  if (done && !changes.transfer.empty()) done = changer.Transfer(changes.transfer);
  if (done && (changes.gpu_decode || changes.gpu_augment)) {
    done = changer.ToGpu(changes.gpu_decode, changes.gpu_augment, changes.gpu_overlap);
  }
  if (!done) return tl::unexpected<Error>(done.error());
  if (changes.alone) changer.Alone();
  return changer.Take();
}

}  // namespace penstock::analyzer
