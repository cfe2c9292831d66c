// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/device_stage.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "loader/pipeline/cost.h"
#include "loader/pipeline/shared.h"

namespace penstock::loader {
namespace {

using traces::StageId;

// Operation of the random numbers that share decoding out, far from those of the augmentation.
constexpr std::uint32_t kShareOperation = 0xDEC0DE00;

std::size_t RoundedUp(std::size_t bytes) {
  constexpr std::size_t kUnit = cuda::kPictureAlignment;
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

std::size_t PictureBytes(int width, int height) {
  return static_cast<std::size_t>(cuda::PitchOf(width)) * static_cast<std::size_t>(height);
}

}  // namespace

DeviceStage::DeviceStage(Shared& shared, unsigned slots)
    : shared_(shared),
      options_(shared.options.device),
      device_(*options_.device),
      sample_bytes_(shared.program.format().bytes()),
      queue_(slots),
      passes_(shared.program) {}

Result<std::unique_ptr<DeviceStage>> DeviceStage::Make(Shared& shared, unsigned slots) {
  const PipelineOptions& options = shared.options;
  if (options.device.decode && !options.device.augment) {
    return penstock::Fail(ErrorKind::kUsage,
                          "--gpu decode needs augment there too, or the pixels would travel back: "
                          "--gpu decode,augment");
  }
  if (options.device.augment && !options.augment.on) {
    return penstock::Fail(ErrorKind::kUsage, "--gpu augment: the stage augment is switched off");
  }
  if (options.device.decode && !options.decode.on) {
    return penstock::Fail(ErrorKind::kUsage, "--gpu decode: the stage decode is switched off");
  }
  std::unique_ptr<DeviceStage> stage(new DeviceStage(shared, slots));
  if (Result<void> begun = stage->Begin(slots); !begun) {
    return tl::unexpected<Error>(std::move(begun.error()));
  }
  return stage;
}

Result<void> DeviceStage::Begin(unsigned slots) {
  if (Result<void> current = device_.MakeCurrent(); !current) return current;
  const std::size_t batch = shared_.order.batch_size();
  if (!options_.augment || options_.fetch) {
    const std::size_t bytes = slots * BatchRing::BatchBytes(batch, sample_bytes_);
    Result<cuda::DeviceMemory> made = device_.Allocate(cuda::Kind::kPinned, bytes);
    if (!made) return tl::unexpected<Error>(std::move(made.error()));
    ring_memory_ = std::move(*made);
  }
  for (unsigned i = 0; i < slots; ++i) {
    states_.push_back(std::make_unique<SlotState>(device_));
    states_.back()->samples.resize(options_.augment ? batch : 0);
    Result<cuda::DeviceMemory> output =
        device_.Allocate(cuda::Kind::kDevice, batch * sample_bytes_ + cuda::kReadableBeyond);
    if (!output) return tl::unexpected<Error>(std::move(output.error()));
    states_.back()->output = std::move(*output);
  }
  for (Lane& lane : lanes_) {
    auto stream = device_.MakeStream();
    if (!stream) return tl::unexpected<Error>(std::move(stream.error()));
    lane.stream = std::move(*stream);
    if (!options_.decode) continue;
    auto jpeg = cuda::JpegBatches::Make(options_.jpeg);
    if (!jpeg) return tl::unexpected<Error>(std::move(jpeg.error()));
    lane.jpeg = std::move(*jpeg);
    stats_.jpeg_backend = cuda::JpegBackendName(lane.jpeg->backend());
    stats_.jpeg_engines = lane.jpeg->engines();
  }
  if (options_.decode) decoder_.emplace(shared_.options.decoder);
  stats_.device = device_.info();
  return {};
}

Result<void> DeviceStage::Start() {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::exception& trouble) {
    return penstock::Fail(ErrorKind::kEnvironment,
                          fmt::format("cannot start the device's thread: {}", trouble.what()));
  }
  return {};
}

void DeviceStage::Join() {
  if (!thread_.joinable()) return;
  thread_.join();
  for (const auto& state : states_) {
    stats_.pinned_bytes += state->pixels.capacity() + state->files.capacity();
    stats_.device_bytes += state->output.size();
  }
  for (const Lane& lane : lanes_) stats_.device_bytes += lane.input.size();
  stats_.pinned_bytes += ring_memory_.size();
}

// -------------------------------------------------------------------------------- by the workers

bool DeviceStage::Takes(const Item& item, const ImageInfo& info) const {
  if (!options_.decode || info.cmyk || info.orientation != 1) return false;
  if (options_.decode_share >= 1) return true;
  Random random({shared_.options.seed, item.at.epoch, item.sample}, kShareOperation);
  return random.Uniform() < options_.decode_share;
}

Result<void> DeviceStage::StageFile(const Item& item, const ImageInfo& info) {
  SlotState& state = StateOf(shared_.ring->slot(item.batch));
  Staged& staged = state.samples[item.index];
  staged.file = true;
  staged.plan = item.plan;
  staged.path = item.ref.name.empty() ? item.ref.path : item.ref.name;
  staged.pixels = static_cast<std::uint64_t>(info.width) * static_cast<std::uint64_t>(info.height);
  staged.bytes = item.file.size();
  Result<cuda::Staging::Piece> piece = state.files.Take(item.file.size());
  if (!piece) return tl::unexpected<Error>(std::move(piece.error()));
  staged.piece = *piece;
  std::memcpy(piece->data, item.file.data(), item.file.size());
  return {};
}

Result<void> DeviceStage::PutPixels(cuda::Staging& staging, const ImageView& view, Staged* staged) {
  const auto pitch = static_cast<std::size_t>(cuda::PitchOf(view.width));
  Result<cuda::Staging::Piece> piece = staging.Take(PictureBytes(view.width, view.height));
  if (!piece) return tl::unexpected<Error>(std::move(piece.error()));
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(view.width);
  for (int row = 0; row < view.height; ++row) {
    std::memcpy(piece->data + static_cast<std::size_t>(row) * pitch,
                view.pixels + row * view.stride, row_bytes);
  }
  staged->piece = *piece;
  staged->file = false;
  staged->picture.at = {cuda::Memory::kInput, 0, static_cast<std::int64_t>(pitch), view.width,
                        view.height};
  return {};
}

Result<void> DeviceStage::StagePixels(const Item& item) {
  if (item.on_device) return {};  // its file is there
  SlotState& state = StateOf(shared_.ring->slot(item.batch));
  Staged& staged = state.samples[item.index];
  staged.plan = item.plan;
  staged.picture.covers = item.image.covers;
  staged.picture.denominator = item.image.denominator;
  return PutPixels(state.pixels, item.image.view, &staged);
}

// ----------------------------------------------------------------------------- by the one thread

void DeviceStage::Run() {
  pthread_setname_np(pthread_self(), "device");
  ThreadTracer& tracer = shared_.tracer.Thread("device", ThreadRole::kOther);
  spans_.emplace(shared_.tracer, tracer, device_);
  const Result<void> current = device_.MakeCurrent();
  unsigned next = 0;    // lane to fill
  unsigned oldest = 0;  // lane to wait for
  unsigned flying = 0;
  while (!shared_.stop.set()) {
    BatchRing::Slot* slot = nullptr;
    // A new anchor waits until nothing is in flight that is stamped from the old one.
    const bool room = flying == 0 || (flying < kLanes && !spans_->Due());
    if (room && queue_.TryPop(&slot)) {
      if (flying == 0) spans_->Anchor();
      Lane& lane = lanes_[next];
      Result<void> queued = slot->failure ? Result<void>{} : current;
      if (!slot->failure && queued) queued = Queue(lane, *slot);
      if (!queued) shared_.ring->Fail(*slot, 0, std::move(queued.error()));
      lane.busy = slot;
      next = (next + 1) % kLanes;
      ++flying;
    } else if (flying != 0) {
      Retire(lanes_[oldest]);
      oldest = (oldest + 1) % kLanes;
      --flying;
    } else {
      queue_.Wait(shared_.stop);
    }
  }
  for (const Lane& lane : lanes_) {  // what they use must outlive it
    if (lane.busy != nullptr) static_cast<void>(lane.stream->Wait(kFetched));
  }
  shared_.tracer.Leave(tracer);
}

Result<void> DeviceStage::Queue(Lane& lane, BatchRing::Slot& slot) {
  SlotState& state = StateOf(slot);
  cuda::Stream& stream = *lane.stream;
  const std::size_t bytes = slot.place.valid * sample_bytes_;
  lane.bytes = 0;
  lane.decodes = false;
  slot.device = state.output.data();
  if (!options_.augment) {
    if (Result<void> marked = stream.Mark(kBegun); !marked) return marked;
    lane.bytes = bytes;
    if (Result<void> copied = stream.CopyIn(slot.device, slot.pixels, bytes); !copied)
      return copied;
    for (const Mark mark : {kCopied, kDecoded, kAugmented, kFetched}) {
      if (Result<void> marked = stream.Mark(mark); !marked) return marked;
    }
    return {};
  }
  if (Result<void> queued = QueueSamples(lane, slot, state); !queued) return queued;
  if (Result<void> marked = stream.Mark(kAugmented); !marked) return marked;
  if (options_.fetch) {
    if (Result<void> copied = stream.CopyOut(slot.pixels, slot.device, bytes); !copied) {
      return copied;
    }
  }
  return stream.Mark(kFetched);
}

// Copies, decodes and augments what the workers have left.
Result<void> DeviceStage::QueueSamples(Lane& lane, BatchRing::Slot& slot, SlotState& state) {
  lane.pictures.clear();
  lane.samples.clear();
  // What nvJPEG does not take is decoded here, before the copy.
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
  std::size_t decoded_bytes = 0;
  for (const cuda::JpegPicture& picture : lane.pictures) {
    decoded_bytes += RoundedUp(PictureBytes(picture.region.width, picture.region.height) +
                               cuda::kReadableBeyond);
  }
  lane.bytes = state.pixels.bytes();
  if (Result<void> grown = lane.input.Reserve(device_, cuda::Kind::kDevice,
                                              lane.bytes + decoded_bytes + cuda::kReadableBeyond);
      !grown) {
    return grown;
  }
  cuda::Stream& stream = *lane.stream;
  if (Result<void> marked = stream.Mark(kBegun); !marked) return marked;
  if (Result<void> copied = state.pixels.CopyTo(lane.input.data(), stream); !copied) return copied;
  if (Result<void> marked = stream.Mark(kCopied); !marked) return marked;
  if (Result<void> decoded = QueueDecode(lane, slot, state); !decoded) return decoded;
  if (Result<void> marked = stream.Mark(kDecoded); !marked) return marked;
  return QueuePasses(lane, slot, state);
}

Result<void> DeviceStage::QueueDecode(Lane& lane, BatchRing::Slot& slot, SlotState& state) {
  if (lane.pictures.empty()) return {};
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
    offset += RoundedUp(PictureBytes(region.width, region.height) + cuda::kReadableBeyond);
  }
  const Result<void> decoded = lane.jpeg->Decode(lane.pictures, *lane.stream);
  if (decoded) {
    lane.decodes = true;
    stats_.decoded += lane.pictures.size();
    for (const std::size_t i : lane.samples) {
      const Region& region = state.samples[i].plan.region;
      stats_.decoded_pixels += state.samples[i].pixels;
      stats_.region_pixels +=
          static_cast<std::uint64_t>(region.width) * static_cast<std::uint64_t>(region.height);
    }
    return {};
  }
  if (decoded.error().kind != ErrorKind::kInput) return decoded;
  // One of them is damaged, and nvJPEG does not say which: libjpeg does.
  for (const std::size_t i : lane.samples) {
    if (Result<void> by_cpu = DecodeOnCpu(slot, state, i); !by_cpu) return by_cpu;
  }
  lane.bytes = state.pixels.bytes();
  if (Result<void> grown =
          lane.input.Reserve(device_, cuda::Kind::kDevice, lane.bytes + cuda::kReadableBeyond);
      !grown) {
    return grown;
  }
  return state.pixels.CopyTo(lane.input.data(), *lane.stream);
}

Result<void> DeviceStage::DecodeFile(SlotState& state, Staged& staged) {
  const std::span<const std::byte> file(staged.piece.data, staged.bytes);
  if (auto info = decoder_->ReadHeader(file); !info) return tl::unexpected<Error>(info.error());
  const auto image = decoder_->Decode(staged.plan.region, staged.plan.target);
  if (!image) return tl::unexpected<Error>(image.error());
  staged.picture.covers = image->covers;
  staged.picture.denominator = image->denominator;
  return PutPixels(state.pixels, image->view, &staged);
}

// Of a file that nvJPEG refuses. One that libjpeg refuses too is damaged: the sample becomes the
// next good one of its batch, as workers would take the next of the data set.
Result<void> DeviceStage::DecodeOnCpu(BatchRing::Slot& slot, SlotState& state, std::size_t index) {
  const std::size_t valid = slot.place.valid;
  Staged& staged = state.samples[index];
  std::optional<Error> first;
  for (std::size_t k = 0; k < valid; ++k) {
    const std::size_t other = (index + k) % valid;
    if (k != 0) staged = state.samples[other];
    ++stats_.refused;
    Result<void> decoded = staged.file ? DecodeFile(state, staged) : Result<void>{};
    if (decoded && k == 0) return {};
    if (decoded) {
      shared_.errors.Add({{slot.place.epoch, shared_.order.Position(slot.place, index)},
                          slot.ids[index],
                          first->message});
      slot.labels[index] = slot.labels[other];
      slot.ids[index] = slot.ids[other];
      return {};
    }
    if (k == 0) {
      first = std::move(decoded.error());
      first->message = fmt::format("{}: {}", staged.path, first->message);
    }
    if (shared_.options.on_error != OnError::kSkip) break;
  }
  return tl::unexpected<Error>(std::move(*first));
}

Result<void> DeviceStage::QueuePasses(Lane& lane, BatchRing::Slot& slot, SlotState& state) {
  list_.Clear();
  for (std::size_t i = 0; i < slot.place.valid; ++i) {
    Staged& staged = state.samples[i];
    if (!staged.file) staged.picture.at.offset = state.pixels.OffsetOf(staged.piece);
    Result<void> added = passes_.Add(staged.plan, staged.picture,
                                     static_cast<std::int64_t>(i * sample_bytes_), list_);
    if (!added) return added;
  }
  list_.Arrange();
  stats_.moved_bytes += list_.bytes_moved();
  return lane.stream->Run(list_, lane.input.data(), slot.device);
}

void DeviceStage::Count(const Lane& lane) {
  cuda::Stream& stream = *lane.stream;
  const BatchPlace& at = lane.busy->place;
  const Place place = {wire::kNoSample, static_cast<std::uint32_t>(at.index),
                       static_cast<std::uint16_t>(at.epoch)};
  ++stats_.batches;
  stats_.copied_bytes += lane.bytes;
  if (lane.bytes != 0) {
    stats_.copy += spans_->Between(stream, kBegun, kCopied);
    spans_->Emit(stream, kBegun, kCopied, StageId::kH2d, spans_->copy, place, Bytes{lane.bytes});
  }
  if (lane.decodes) {
    stats_.decode += spans_->Between(stream, kCopied, kDecoded);
    spans_->Emit(stream, kCopied, kDecoded, StageId::kKernel, spans_->decode, place, {});
  }
  if (!options_.augment) return;
  stats_.augment += spans_->Between(stream, kDecoded, kAugmented);
  spans_->Emit(stream, kDecoded, kAugmented, StageId::kKernel, spans_->augment, place, {});
  if (options_.fetch) stats_.fetch += spans_->Between(stream, kAugmented, kFetched);
}

// Waits for the lane's batch, and publishes it.
void DeviceStage::Retire(Lane& lane) {
  BatchRing::Slot& slot = *lane.busy;
  if (!slot.failure) {
    const TimeNs from = SteadyNow();
    Result<void> done = lane.stream->Wait(kFetched);
    stats_.waited += SteadyNow() - from;
    if (done) {
      Count(lane);
    } else {
      shared_.ring->Fail(slot, 0, std::move(done.error()));
    }
  }
  SlotState& state = StateOf(slot);
  state.pixels.Reset();
  state.files.Reset();
  lane.busy = nullptr;
  shared_.ring->Publish(slot);
}

}  // namespace penstock::loader
