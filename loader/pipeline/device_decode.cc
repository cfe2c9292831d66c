// SPDX-License-Identifier: Apache-2.0
//
// Brings the pictures of one batch to the device: they are decoded there, or on the CPU if nvJPEG
// does not accept the file. The neighbours of a file in its batch have no influence on that choice.
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "loader/pipeline/device_stage.h"
#include "loader/pipeline/shared.h"
#include "loader/pipeline/stages.h"
#include "loader/source/descriptor.h"

namespace penstock::loader {
namespace {

std::size_t RoomFor(const cuda::Box& region) {
  constexpr std::size_t kUnit = cuda::kPictureAlignment;
  const std::size_t bytes = static_cast<std::size_t>(cuda::PitchOf(region.width)) *
                                static_cast<std::size_t>(region.height) +
                            cuda::kReadableBeyond;
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

// Queues the work that turns the workers' files and pixels into pixels in the lane's input.
Result<void> DeviceStage::QueuePictures(Lane& lane, BatchRing::Slot& slot, SlotState& state) {
  lane.pictures.clear();
  lane.samples.clear();
  // Files that nvJPEG does not accept are decoded here, before the copy.
  for (std::size_t i = 0; i < slot.place.valid; ++i) {
    Staged& staged = state.samples[i];
    if (!staged.file) continue;
    const Region& region = staged.plan.region;
    const cuda::JpegPicture picture{{staged.piece.data, staged.bytes},
                                    {region.x, region.y, region.width, region.height},
                                    nullptr,
                                    static_cast<std::size_t>(cuda::PitchOf(region.width))};
    if (lane.jpeg->Takes(picture)) {
      lane.pictures.push_back(picture);
      lane.samples.push_back(i);
    } else if (Result<void> decoded = DecodeOnCpu(slot, state, i); !decoded) {
      return decoded;
    }
  }
  // Each round removes the files that nvJPEG has refused. The CPU decodes them, and their pixels
  // are copied with those of the workers. The other pictures get new places and are decoded again.
  for (;;) {
    if (Result<void> copied = QueueCopy(lane, state); !copied) return copied;
    lane.refused.clear();
    if (Result<void> decoded = QueueDecode(lane, 0, lane.pictures.size()); !decoded) return decoded;
    if (lane.refused.empty()) break;
    if (Result<void> waited = Drain(lane); !waited) return waited;
    for (auto k = lane.refused.rbegin(); k != lane.refused.rend(); ++k) {
      const auto at = static_cast<std::ptrdiff_t>(*k);
      if (Result<void> decoded = DecodeOnCpu(slot, state, lane.samples[*k]); !decoded) {
        return decoded;
      }
      lane.pictures.erase(lane.pictures.begin() + at);
      lane.samples.erase(lane.samples.begin() + at);
    }
  }
  lane.decodes = !lane.pictures.empty();
  stats_.decoded += lane.pictures.size();
  for (const std::size_t i : lane.samples) {
    const Region& region = state.samples[i].plan.region;
    stats_.decoded_pixels += state.samples[i].pixels;
    stats_.region_pixels +=
        static_cast<std::uint64_t>(region.width) * static_cast<std::uint64_t>(region.height);
  }
  return lane.stream->Mark(kDecoded);
}

// Copies the pixels that the CPU has decoded to the front of the lane's input. The other pictures
// get places after them. Requires: nothing of the lane is in flight.
Result<void> DeviceStage::QueueCopy(Lane& lane, SlotState& state) {
  lane.bytes = state.pixels.bytes();
  std::size_t all = lane.bytes;
  for (const cuda::JpegPicture& picture : lane.pictures) all += RoomFor(picture.region);
  if (Result<void> grown =
          lane.input.Reserve(device_, cuda::Kind::kDevice, all + cuda::kReadableBeyond);
      !grown) {
    return grown;
  }
  std::size_t offset = lane.bytes;
  for (std::size_t k = 0; k < lane.pictures.size(); ++k) {
    cuda::JpegPicture& picture = lane.pictures[k];
    Staged& staged = state.samples[lane.samples[k]];
    const Region& region = staged.plan.region;
    picture.pixels = reinterpret_cast<std::uint8_t*>(lane.input.data()) + offset;
    staged.picture.at = {cuda::Memory::kInput, static_cast<std::int64_t>(offset),
                         static_cast<std::int64_t>(picture.pitch), region.width, region.height};
    staged.picture.covers = region;
    staged.picture.denominator = 1;
    offset += RoomFor(picture.region);
  }
  if (Result<void> marked = lane.stream->Mark(kBegun); !marked) return marked;
  if (Result<void> copied = state.pixels.CopyTo(lane.input.data(), *lane.stream); !copied) {
    return copied;
  }
  return lane.stream->Mark(kCopied);
}

// Queues the decoding of pictures [from, to) of the lane. If nvJPEG refuses a batch without saying
// which picture is the cause, halves the batch again and again to find it. This ends, because
// JpegBatches always names the picture of a batch of one.
Result<void> DeviceStage::QueueDecode(Lane& lane, std::size_t from, std::size_t to) {
  if (from == to) return {};
  const std::span<const cuda::JpegPicture> pictures(lane.pictures);
  std::vector<std::size_t> refused;
  Result<void> decoded =
      lane.jpeg->Decode(pictures.subspan(from, to - from), *lane.stream, refused);
  if (decoded || decoded.error().kind != ErrorKind::kInput) return decoded;
  // nvJPEG may still work on pictures that it accepted, in memory that the next attempt uses.
  if (Result<void> waited = Drain(lane); !waited) return waited;
  for (const std::size_t index : refused) lane.refused.push_back(from + index);
  if (!refused.empty()) return {};
  const std::size_t middle = from + (to - from) / 2;
  if (Result<void> half = QueueDecode(lane, from, middle); !half) return half;
  if (Result<void> waited = Drain(lane); !waited) return waited;
  return QueueDecode(lane, middle, to);
}

Result<void> DeviceStage::Drain(Lane& lane) {
  if (Result<void> marked = lane.stream->Mark(kFetched); !marked) return marked;
  return lane.stream->Wait(kFetched);
}

Result<void> DeviceStage::DecodeFile(SlotState& state, Staged& staged) {
  const std::span<const std::byte> file(staged.piece.data, staged.bytes);
  PENSTOCK_TRY(decoder_->ReadHeader(file));
  const auto image = decoder_->Decode(staged.plan.region, staged.plan.target);
  PENSTOCK_TRY(image);
  staged.picture.covers = image->covers;
  staged.picture.denominator = image->denominator;
  return PutPixels(state.pixels, image->view, &staged);
}

// Decodes a file that nvJPEG refuses. If libjpeg refuses it too, the file is damaged, and the
// sample fails or is replaced, as in a worker.
Result<void> DeviceStage::DecodeOnCpu(BatchRing::Slot& slot, SlotState& state, std::size_t index) {
  Staged& staged = state.samples[index];
  ++stats_.refused;
  Result<void> decoded = DecodeFile(state, staged);
  if (decoded) return {};
  Error& error = decoded.error();
  error.message = fmt::format("{}: {}", Printable(staged.path), error.message);
  if (error.kind != ErrorKind::kInput || shared_.options.on_error != OnError::kSkip) return decoded;
  return Replace(slot, index, std::move(error));
}

// Replaces the sample by the next good one of the data set, decoded by the CPU.
Result<void> DeviceStage::Replace(BatchRing::Slot& slot, std::size_t index, Error error) {
  if (replacing_ == nullptr) {
    Roles roles;
    roles.read = false;  // replacements have a reader of their own
    auto made = Stages::Make(shared_, roles, 1, cpu_stats_);
    PENSTOCK_TRY(made);
    replacing_ = std::move(*made);
    replacing_->SetTracer(*tracer_);
  }
  Item item;
  item.batch = slot.number;
  item.batch_index = slot.place.index;
  item.index = index;
  item.at = {slot.place.epoch, shared_.order.Position(slot.place, index)};
  item.sample = slot.ids[index];
  item.by_cpu = true;
  item.error = std::move(error);
  replacing_->BeginLap();
  replacing_->Finish(item);
  tracer_->SetContext({});
  if (slot.failure) return tl::unexpected<Error>(*slot.failure);
  return {};
}

}  // namespace penstock::loader
