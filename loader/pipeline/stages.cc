// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/stages.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "loader/source/descriptor.h"
#include "traces/base/xxh64.h"

namespace penstock::loader {
namespace {

using traces::StageId;

// The operations for the random numbers of synthetic costs. They are far from the operations of the
// augmentation.
constexpr std::uint32_t kCostOperation = 0xC0570000;

// How many neighbours are tried in place of a damaged sample. If more samples in a row are damaged,
// the whole data set counts as damaged.
constexpr std::uint64_t kMostProbes = 1000;

StageId TraceStage(Stage stage) {
  return stage == Stage::kRead     ? StageId::kRead
         : stage == Stage::kDecode ? StageId::kDecode
                                   : StageId::kAugment;
}

SampleKey KeyOf(const Shared& shared, const Item& item) {
  return {shared.options.seed, item.at.epoch, item.sample};
}

SampleKey CostKeyOf(const Shared& shared, const Item& item) {
  return shared.options.CostKey(item.at.epoch, item.sample);
}

// "cat/1.jpg: is no JPEG" on one line, unless the error names the file already.
Error Named(const Item& item, Error error) {
  const std::string name = Printable(item.ref.name.empty() ? item.ref.path : item.ref.name);
  const std::string path = Printable(item.ref.path);
  if (!name.empty() && error.message.find(name) == std::string::npos &&
      (path.empty() || error.message.find(path) == std::string::npos)) {
    error.message = fmt::format("{}: {}", name, error.message);
  }
  return error;
}

// The part of a message that tells how many other samples were tried.
std::string AndTheNext(std::uint64_t samples) {
  if (samples == 0) return ", and there is no other sample";
  if (samples == 1) return ", and so is the sample that follows";
  return fmt::format(", and so are the {} samples that follow", samples);
}

}  // namespace

void ErrorLog::Add(SampleError error) {
  count_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  const auto place =
      std::upper_bound(first_.begin(), first_.end(), error,
                       [](const SampleError& a, const SampleError& b) { return a.at < b.at; });
  first_.insert(place, std::move(error));
  if (first_.size() > kKept) first_.pop_back();
}

std::vector<SampleError> ErrorLog::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

Stages::Stages(Shared& shared, const Roles& roles, ThreadStats& stats)
    : shared_(shared), roles_(roles), stats_(stats) {}

Result<std::unique_ptr<Stages>> Stages::Make(Shared& shared, const Roles& roles, std::size_t reads,
                                             ThreadStats& stats) {
  std::unique_ptr<Stages> stages(new Stages(shared, roles, stats));
  if (roles.read && shared.options.read.on) {
    IoOptions io = shared.options.reader;
    io.depth = reads;
    auto reader = MakeObjectReader(io);
    PENSTOCK_TRY(reader);
    stages->reader_ = std::move(*reader);
  }
  if (roles.decode && roles.augment && shared.options.decode.on) {
    stages->decoder_.emplace(shared.options.decoder);
  }
  if (roles.decode || roles.augment) stages->augmenter_.emplace(shared.program);
  return stages;
}

void StepSpans::Begin(std::string_view name) {
  for (const auto& [text, id] : names_) {
    if (text == name.data()) {
      thread_.Begin(StageId::kAugment, id);
      return;
    }
  }
  names_.emplace_back(name.data(), tracer_.Name(name));
  thread_.Begin(StageId::kAugment, names_.back().second);
}

void Stages::SetTracer(ThreadTracer& tracer) {
  tracer_ = &tracer;
  if (!tracer.on() || !augmenter_) return;
  step_spans_.emplace(shared_.tracer, tracer);
  augmenter_->SetObserver(&*step_spans_);
}

Stages::Clocks Stages::ReadClocks() {
  // Reads the CPU clock first. It is a system call, after which a thread whose time slice is over
  // is preempted. That wait belongs to the stage that ends here, not to the next one.
  Clocks now;
  now.cpu = ThreadCpuNow();
  now.wall = SteadyNow();
  return now;
}

void Stages::BeginLap() {
  lap_ = ReadClocks();
}

Place Stages::PlaceOf(const Item& item) const {
  return {static_cast<std::int64_t>(item.sample), static_cast<std::uint32_t>(item.batch_index),
          shared_.options.trace.EpochOf(item.at.epoch)};
}

template <class Work>
void Stages::Run(Stage stage, Item& item, Work&& work) {
  if (item.error) return;
  tracer_->Begin(TraceStage(stage), shared_.names.stages[static_cast<std::size_t>(stage)]);
  try {
    Result<void> done = work();
    if (!done) item.error = Named(item, std::move(done.error()));
  } catch (const std::exception& trouble) {  // of the C++ library: memory, threads
    item.error = Named(item, Error{ErrorKind::kEnvironment, trouble.what()});
  }
  std::uint64_t bytes = 0;
  if (!item.error) {
    bytes = stage == Stage::kAugment ? shared_.ring->sample_bytes() : item.file.size();
  }
  const Clocks now = ReadClocks();
  stats_.stages[static_cast<std::size_t>(stage)].Add(now.wall - lap_.wall, now.cpu - lap_.cpu,
                                                     bytes);
  lap_ = now;
  tracer_->End(Bytes{bytes}, item.ref.path, item.error ? wire::kFlagError : std::uint8_t{0});
}

Result<void> Stages::Locate(Item& item) {
  Result<SampleRef> ref = shared_.source.At(item.sample, item.scratch);
  if (!ref) {
    item.ref = SampleRef{};
    return tl::unexpected<Error>(std::move(ref.error()));
  }
  item.ref = *ref;
  return {};
}

void Stages::Start(Item& item) {
  item.error.reset();
  item.file = {};
  item.on_device = false;
  try {
    if (Result<void> located = Locate(item); !located) {
      item.error = std::move(located.error());
    } else if (reader_ != nullptr) {
      reader_->Start(item.reader_slot, item.ref);
    }
  } catch (const std::exception& trouble) {
    item.error = Error{ErrorKind::kEnvironment, trouble.what()};
  }
  const StageOptions& read = shared_.options.read;
  if (!read.cost.none()) {
    item.due = read.cost.Draw(CostKeyOf(shared_, item), kCostOperation);
    if (!read.cost.burns()) item.due += SteadyNow();
  }
}

Result<void> Stages::ReadFile(Item& item, ObjectReader* reader) {
  const StageOptions& read = shared_.options.read;
  if (read.on) {
    auto file = reader->Finish(item.reader_slot);
    PENSTOCK_TRY(file);
    item.file = *file;
  } else {
    item.file = shared_.one_file;
  }
  if (!read.cost.none()) {
    if (read.cost.burns()) {
      Burn(item.due, shared_.stop);
    } else {
      SleepUntil(item.due, shared_.stop);
    }
  }
  return {};
}

void Stages::Read(Item& item) {
  Run(Stage::kRead, item, [&] { return ReadFile(item, reader_.get()); });
}

JpegDecoder& Stages::DecoderFor(Item& item) {
  return item.decoder != nullptr ? *item.decoder : *decoder_;
}

Result<void> Stages::DecodeFile(Item& item, JpegDecoder* decoder) {
  const StageOptions& decode = shared_.options.decode;
  if (decode.on) {
    Result<ImageInfo> info = decoder->ReadHeader(item.file);
    PENSTOCK_TRY(info);
    stats_.pixels +=
        static_cast<std::uint64_t>(info->width) * static_cast<std::uint64_t>(info->height);
    item.picture = {info->width, info->height};
    if (shared_.options.augment.on || !shared_.options.whole_images) {
      item.plan = augmenter_->Draw(*info, KeyOf(shared_, item));
    } else {
      item.plan.region = {0, 0, info->width, info->height};
      item.plan.target = {};
    }
    if (shared_.device != nullptr && shared_.device->Takes(item, *info)) {
      item.on_device = true;
      return shared_.device->StageFile(item, *info);
    }
    auto image = decoder->Decode(item.plan.region, item.plan.target);
    PENSTOCK_TRY(image);
    item.image = *image;
    return {};
  }
  const Cost& cost = decode.cost;
  Spend(cost, cost.Draw(CostKeyOf(shared_, item), kCostOperation + 1), shared_.stop);
  if (shared_.options.augment.on) {
    ImageInfo info{};
    info.width = kStandInWidth;
    info.height = kStandInHeight;
    item.picture = {info.width, info.height};
    item.plan = augmenter_->Draw(info, KeyOf(shared_, item));
    item.image.view = {shared_.stand_in.data(), kStandInWidth, kStandInHeight, kStandInWidth * 3};
    item.image.covers = {0, 0, kStandInWidth, kStandInHeight};
    item.image.denominator = 1;
  }
  return {};
}

void Stages::Decode(Item& item) {
  Run(Stage::kDecode, item,
      [&] { return DecodeFile(item, shared_.options.decode.on ? &DecoderFor(item) : nullptr); });
}

void Stages::Fingerprint(Item& item) {
  std::uint64_t hash = 0;
  if (shared_.options.decode.on) {
    const ImageView& view = item.image.view;
    for (int row = 0; row < view.height; ++row) {
      hash = Xxh64(view.pixels + row * view.stride, static_cast<std::size_t>(view.width) * 3, hash);
    }
  } else {
    hash = Xxh64(item.file.data(), item.file.size());
  }
  BatchRing& ring = *shared_.ring;
  const std::span<std::byte> out = ring.Sample(ring.slot(item.batch), item.index);
  std::memcpy(out.data(), &hash, std::min(out.size(), sizeof hash));
}

Result<void> Stages::MakePixels(Item& item) {
  const StageOptions& augment = shared_.options.augment;
  if (shared_.device != nullptr && shared_.device->augments()) {
    return shared_.device->StagePixels(item);
  }
  if (augment.on) {
    BatchRing& ring = *shared_.ring;
    return augmenter_->Run(item.plan, item.image, ring.Sample(ring.slot(item.batch), item.index));
  }
  const Cost& cost = augment.cost;
  Spend(cost, cost.Draw(CostKeyOf(shared_, item), kCostOperation + 2), shared_.stop);
  if (shared_.options.fingerprint) Fingerprint(item);
  return {};
}

void Stages::Augment(Item& item) {
  Run(Stage::kAugment, item, [&] { return MakePixels(item); });
}

Result<void> Stages::MakeSpare(Item& item) {
  if (shared_.options.read.on && spare_reader_ == nullptr) {
    IoOptions io = shared_.options.reader;
    io.depth = 1;
    auto reader = MakeObjectReader(io);
    PENSTOCK_TRY(reader);
    spare_reader_ = std::move(*reader);
  }
  if (shared_.options.decode.on && item.decoder == nullptr && !decoder_) {
    decoder_.emplace(shared_.options.decoder);
  }
  return {};
}

void Stages::Replace(Item& item) {
  const std::uint64_t samples = shared_.order.samples();
  const std::uint64_t damaged = item.sample;
  const std::size_t slot = std::exchange(item.reader_slot, 0);
  const Error first = *item.error;
  if (Result<void> made = MakeSpare(item); !made) item.error = std::move(made.error());
  const std::uint64_t probes = std::min(samples - 1, kMostProbes);
  std::swap(reader_, spare_reader_);
  for (std::uint64_t i = 1; i <= probes && item.error->kind == ErrorKind::kInput; ++i) {
    item.sample = damaged + i < samples ? damaged + i : damaged + i - samples;
    tracer_->SetContext(PlaceOf(item));
    Start(item);
    Read(item);
    Decode(item);
    Augment(item);
    if (!item.error || shared_.stop.set()) break;
  }
  std::swap(reader_, spare_reader_);
  item.reader_slot = slot;
  if (!item.error) {
    shared_.errors.Add({item.at, damaged, first.message});
  } else if (item.error->kind == ErrorKind::kInput) {
    item.error = Error{ErrorKind::kInput, first.message + AndTheNext(probes)};
  }
}

void Stages::Finish(Item& item) {
  if (item.error && item.error->kind == ErrorKind::kInput &&
      shared_.options.on_error == OnError::kSkip) {
    Replace(item);
  }
  BatchRing& ring = *shared_.ring;
  BatchRing::Slot& slot = ring.slot(item.batch);
  if (item.error) {
    ring.Fail(slot, item.index, std::move(*item.error));
  } else if (shared_.options.geometry) {
    slot.geometry[item.index] = GeometryOf(item.plan, item.picture);
  }
  slot.labels[item.index] = item.ref.label;
  slot.ids[item.index] = item.sample;
  ++stats_.samples;
}

void Stages::Collect(IoStats* io) {
  for (const ObjectReader* reader : {reader_.get(), spare_reader_.get()}) {
    if (reader == nullptr) continue;
    const IoStats read = reader->stats();
    io->bytes += read.bytes;
    io->reads += read.reads;
    io->cache_hits += read.cache_hits;
    io->direct_refused += read.direct_refused;
    io->failed += read.failed;
  }
  if (decoder_) stats_.warnings += decoder_->warnings();
}

}  // namespace penstock::loader
