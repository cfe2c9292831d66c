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
#include "loader/pipeline/stages.h"

namespace penstock::loader {
namespace {

using traces::StageId;

// The operation for the random numbers that choose between device and workers. It is far from the
// operations of the augmentation.
constexpr std::uint32_t kShareOperation = 0xDEC0DE00;

}  // namespace

DeviceStage::DeviceStage(Shared& shared, unsigned slots)
    : shared_(shared),
      options_(shared.options.device),
      device_(*options_.device),
      sample_bytes_(shared.program.format().bytes()),
      queue_(slots),
      passes_(shared.program) {}

DeviceStage::~DeviceStage() {
  Join();
}

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
  PENSTOCK_TRY(stage->Begin(slots));
  return stage;
}

Result<void> DeviceStage::Begin(unsigned slots) {
  if (Result<void> current = device_.MakeCurrent(); !current) return current;
  const std::size_t batch = shared_.order.batch_size();
  if (!options_.augment || options_.fetch) {
    const std::size_t bytes = slots * BatchRing::BatchBytes(batch, sample_bytes_);
    Result<cuda::DeviceMemory> made = device_.Allocate(cuda::Kind::kPinned, bytes);
    PENSTOCK_TRY(made);
    ring_memory_ = std::move(*made);
  }
  for (unsigned i = 0; i < slots; ++i) {
    states_.push_back(std::make_unique<SlotState>(device_));
    states_.back()->samples.resize(options_.augment ? batch : 0);
    Result<cuda::DeviceMemory> output =
        device_.Allocate(cuda::Kind::kDevice, batch * sample_bytes_ + cuda::kReadableBeyond);
    PENSTOCK_TRY(output);
    states_.back()->output = std::move(*output);
  }
  for (Lane& lane : lanes_) {
    auto stream = device_.MakeStream();
    PENSTOCK_TRY(stream);
    lane.stream = std::move(*stream);
    if (!options_.decode) continue;
    auto jpeg = cuda::JpegBatches::Make(options_.jpeg, device_);
    PENSTOCK_TRY(jpeg);
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
  if (replacing_ != nullptr) replacing_->Collect(&cpu_io_);
  if (decoder_) cpu_stats_.warnings += decoder_->warnings();
  for (const auto& state : states_) {
    stats_.pinned_bytes += state->pixels.capacity() + state->files.capacity();
    stats_.device_bytes += state->output.size();
  }
  for (const Lane& lane : lanes_) stats_.device_bytes += lane.input.size();
  stats_.pinned_bytes += ring_memory_.size();
}

// -------------------------------------------------------------------------------- by the workers

bool DeviceStage::Takes(const Item& item, const ImageInfo& info) const {
  if (!options_.decode || item.by_cpu || info.cmyk || info.orientation != 1) return false;
  if (options_.decode_share < 1) {
    Random random({shared_.options.seed, item.at.epoch, item.sample}, kShareOperation);
    if (random.Uniform() >= options_.decode_share) return false;
  }
  // nvJPEG decodes at full size only, so the kernels may refuse its pictures where they accept
  // libjpeg's reduced ones.
  const Region& region = item.plan.region;
  DevicePicture picture;
  picture.at = {cuda::Memory::kInput, 0, cuda::PitchOf(region.width), region.width, region.height};
  picture.covers = region;
  return Check(item.plan, picture).has_value();
}

// Checks the plan for the kernels. A plan that they refuse counts as an error of the sample, and
// must be found while a worker can still take another sample.
Result<void> DeviceStage::Check(const AugmentPlan& plan, const DevicePicture& picture) const {
  thread_local cuda::PassList list;
  list.Clear();
  return passes_.Add(plan, picture, 0, list);
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
  PENSTOCK_TRY(piece);
  staged.piece = *piece;
  std::memcpy(piece->data, item.file.data(), item.file.size());
  return {};
}

Result<void> DeviceStage::PutPixels(cuda::Staging& staging, const ImageView& view, Staged* staged) {
  const auto pitch = static_cast<std::size_t>(cuda::PitchOf(view.width));
  Result<cuda::Staging::Piece> piece = staging.Take(pitch * static_cast<std::size_t>(view.height));
  PENSTOCK_TRY(piece);
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
  if (item.on_device) return {};  // its file is there already
  SlotState& state = StateOf(shared_.ring->slot(item.batch));
  Staged& staged = state.samples[item.index];
  staged.plan = item.plan;
  staged.picture.covers = item.image.covers;
  staged.picture.denominator = item.image.denominator;
  const ImageView& view = item.image.view;
  staged.picture.at = {cuda::Memory::kInput, 0, cuda::PitchOf(view.width), view.width, view.height};
  if (Result<void> checked = Check(item.plan, staged.picture); !checked) return checked;
  return PutPixels(state.pixels, view, &staged);
}

// -------------------------------------------------------------------------- by the device's thread

void DeviceStage::Run() {
  pthread_setname_np(pthread_self(), "device");
  ThreadTracer& tracer = shared_.tracer.Thread("device", ThreadRole::kOther);
  tracer_ = &tracer;
  spans_.emplace(shared_.tracer, tracer, device_);
  const Result<void> current = device_.MakeCurrent();
  unsigned next = 0;    // lane to fill
  unsigned oldest = 0;  // lane to wait for
  unsigned flying = 0;
  while (!shared_.stop.set()) {
    BatchRing::Slot* slot = nullptr;
    // A new anchor must wait until all work that is stamped relative to the old one has ended.
    const bool room = flying == 0 || (flying < kLanes && !spans_->Due());
    if (room && queue_.TryPop(&slot)) {
      if (flying == 0) spans_->Anchor();
      Lane& lane = lanes_[next];
      Result<void> queued = slot->failure ? Result<void>{} : current;
      if (!slot->failure && queued) queued = QueueOrDrain(lane, *slot);
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
  for (const Lane& lane : lanes_) {  // their memory must outlive the work
    if (lane.busy != nullptr) static_cast<void>(lane.stream->Wait(kFetched));
  }
  shared_.tracer.Leave(tracer);
}

// Calls Queue(). If that fails, waits until no work of the batch is in flight.
Result<void> DeviceStage::QueueOrDrain(Lane& lane, BatchRing::Slot& slot) {
  Result<void> queued;
  try {
    queued = Queue(lane, slot);
  } catch (const std::exception& trouble) {  // of the C++ library: memory
    queued = penstock::Fail(ErrorKind::kEnvironment,
                            fmt::format("work for the device: {}", trouble.what()));
  }
  // Copies that were queued may still read pinned memory that will be used again.
  if (!queued) static_cast<void>(Drain(lane));
  return queued;
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
    for (const Mark mark : {kCopied, kDecoded}) {
      if (Result<void> marked = stream.Mark(mark); !marked) return marked;
    }
  } else {
    if (Result<void> queued = QueuePictures(lane, slot, state); !queued) return queued;
    if (Result<void> queued = QueuePasses(lane, slot, state); !queued) return queued;
  }
  if (Result<void> marked = stream.Mark(kAugmented); !marked) return marked;
  if (options_.fetch) {
    if (Result<void> copied = stream.CopyOut(slot.pixels, slot.device, bytes); !copied) {
      return copied;
    }
  }
  return stream.Mark(kFetched);
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

void DeviceStage::Count(Lane& lane) {
  cuda::Stream& stream = *lane.stream;
  const BatchPlace& at = lane.busy->place;
  const Place place = {wire::kNoSample, static_cast<std::uint32_t>(at.index),
                       shared_.options.trace.EpochOf(at.epoch)};
  ++stats_.batches;
  stats_.copied_bytes += lane.bytes;
  if (lane.bytes != 0) {
    stats_.copy += spans_->Between(stream, kBegun, kCopied);
    spans_->Emit(stream, kBegun, kCopied, StageId::kH2d, spans_->copy, place, Bytes{lane.bytes});
  }
  if (lane.decodes) {
    // Between the marks the CPU may have worked too, so only the GPU's own intervals count.
    const auto stretches = lane.jpeg->Stretches();
    for (const auto& [begun, ended] : stretches) {
      stats_.decode += ended - begun;
      spans_->Emit(begun, ended, StageId::kKernel, spans_->decode, place, {});
    }
    if (stretches.empty()) {
      stats_.decode += spans_->Between(stream, kCopied, kDecoded);
      spans_->Emit(stream, kCopied, kDecoded, StageId::kKernel, spans_->decode, place, {});
    }
  }
  if (options_.augment) {
    stats_.augment += spans_->Between(stream, kDecoded, kAugmented);
    spans_->Emit(stream, kDecoded, kAugmented, StageId::kKernel, spans_->augment, place, {});
  }
  if (options_.fetch) stats_.fetch += spans_->Between(stream, kAugmented, kFetched);
}

// Waits for the lane's batch and publishes it.
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
