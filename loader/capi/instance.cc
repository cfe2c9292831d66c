// SPDX-License-Identifier: Apache-2.0
#include "loader/capi/instance.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "loader/capi/host_pinner.h"
#include "loader/pipeline/cores.h"
#include "loader/source/sources.h"

namespace penstock::loader {
namespace {

constexpr std::uint16_t kFirstEpochNumber = 0x4000;
constexpr std::size_t kErrorLines = 10;

template <class T, std::size_t N>
Result<T> ChoiceOf(const char* option, const char* text,
                   const std::array<std::pair<const char*, T>, N>& choices) {
  std::string names;
  for (const auto& [name, value] : choices) {
    if (std::string_view(text) == name) return value;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  return Fail(ErrorKind::kUsage, fmt::format("{}=\"{}\": there is {}", option, text, names));
}

const char* Or(const char* text, const char* otherwise) {
  return text == nullptr ? otherwise : text;
}

// While such an object exists, new threads begin with all signals blocked. So signals go to the
// program's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

Result<std::unique_ptr<Source>> OpenSources(const char* const* sources, std::size_t count,
                                            const SourceOptions& options) {
  if (count == 0 || sources == nullptr) return Fail(ErrorKind::kUsage, "no source is given");
  for (std::size_t i = 0; i < count; ++i) {
    if (sources[i] == nullptr) {
      return Fail(ErrorKind::kUsage, fmt::format("source {} of {} is NULL", i + 1, count));
    }
  }
  if (count == 1) return OpenSource(sources[0], options);
  std::vector<std::filesystem::path> tars;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::string_view(sources[i]).ends_with(".tar")) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("{}: several sources must all be .tar files", sources[i]));
    }
    tars.emplace_back(sources[i]);
  }
  return OpenTars(std::move(tars), options);
}

Result<PipelineOptions> ReadOptions(const PenstockLoaderOptions& given) {
  PipelineOptions options;
  const auto on_error =
      ChoiceOf<OnError, 2>("on_error", Or(given.on_error, "skip"),
                           {{{"skip", OnError::kSkip}, {"fail", OnError::kFail}}});
  PENSTOCK_TRY(on_error);
  options.on_error = *on_error;
  const auto io = ChoiceOf<IoMethod, 4>("io", Or(given.io_method, "buffered"),
                                        {{{"buffered", IoMethod::kBuffered},
                                          {"direct", IoMethod::kDirect},
                                          {"uring", IoMethod::kUring},
                                          {"mmap", IoMethod::kMmap}}});
  PENSTOCK_TRY(io);
  options.reader.method = *io;
  constexpr std::uint32_t kMostSamples = 10'000'000;
  constexpr std::uint32_t kMostThreads = 4096;
  constexpr std::uint32_t kMostPrefetched = 100'000;
  if (given.batch == 0 || given.batch > kMostSamples) {
    return Fail(ErrorKind::kUsage,
                fmt::format("batch={}: 1 to {} samples", given.batch, kMostSamples));
  }
  const bool all_cores = given.workers == std::numeric_limits<std::uint32_t>::max();
  if (!all_cores && given.workers > kMostThreads) {
    return Fail(ErrorKind::kUsage,
                fmt::format("workers={}: at most {} threads", given.workers, kMostThreads));
  }
  if (given.prefetch > kMostPrefetched) {
    return Fail(ErrorKind::kUsage,
                fmt::format("prefetch={}: at most {} batches", given.prefetch, kMostPrefetched));
  }
  options.batch = given.batch;
  options.workers = all_cores ? CoresToUse() : given.workers;
  options.prefetch = given.prefetch;
  options.read_ahead = given.read_ahead;
  options.seed = given.seed;
  options.rank = given.rank;
  options.world = given.world;
  options.shuffle = given.shuffle != 0;
  options.drop_last = given.drop_last != 0;
  if (given.reduce != 0 && !(given.reduce >= 1 && given.reduce <= 1000)) {
    return Fail(ErrorKind::kUsage, "reduce: 0 (never), or a number from 1 on");
  }
  options.geometry = given.geometry != 0;
  options.decoder.reduce = given.reduce;
  options.decoder.exif = given.exif != 0;
  options.decoder.strict = given.lenient == 0;
  return options;
}

static_assert(sizeof(PenstockGeometry) == 12 * sizeof(std::int32_t));  // rows of a matrix

PenstockGeometry RowOf(const SampleGeometry& one) {
  return {one.picture.height, one.picture.width, one.crop.y,         one.crop.x,
          one.crop.height,    one.crop.width,    one.scaled.height,  one.scaled.width,
          one.window.y,       one.window.x,      one.flip_y ? 1 : 0, one.flip_x ? 1 : 0};
}

}  // namespace

std::uint16_t SharedEpochNumbers::Of(std::uint64_t epoch) {
  static std::atomic<std::uint32_t> next{0};  // relaxed: numbers need only differ
  const std::lock_guard lock(mutex_);
  const auto found = numbers_.find(epoch);
  if (found != numbers_.end()) return found->second;
  // Drops the oldest epoch. It has no sample in flight any more, unless more than kInFlight epochs
  // are in flight, each with a single batch.
  constexpr std::size_t kInFlight = 8192;
  if (numbers_.size() >= kInFlight) numbers_.erase(numbers_.begin());
  const auto number =
      static_cast<std::uint16_t>(kFirstEpochNumber + next.fetch_add(1, std::memory_order_relaxed) %
                                                         (0x10000u - kFirstEpochNumber));
  numbers_.emplace(epoch, number);
  return number;
}

void SharedEpochNumbers::Renew() {
  const std::lock_guard lock(mutex_);
  numbers_.clear();
}

Instance::Instance() : process_(getpid()) {}

Instance::~Instance() {
  Stop();
}

bool Instance::InItsProcess() const {
  return process_ == getpid();
}

Result<std::unique_ptr<Instance>> Instance::Open(const char* const* sources, std::size_t count,
                                                 const PenstockLoaderOptions& options) {
  std::unique_ptr<Instance> made(new Instance);
  const auto output = ChoiceOf<ElementType, 3>(
      "output", Or(options.output, "f16"),
      {{{"u8", ElementType::kU8}, {"f16", ElementType::kF16}, {"f32", ElementType::kF32}}});
  PENSTOCK_TRY(output);
  const auto layout = ChoiceOf<Layout, 2>("layout", Or(options.layout, "chw"),
                                          {{{"hwc", Layout::kHwc}, {"chw", Layout::kChw}}});
  PENSTOCK_TRY(layout);
  Result<PipelineOptions> pipeline = ReadOptions(options);
  PENSTOCK_TRY(pipeline);
  made->options_ = *pipeline;
  made->persistent_ = options.persistent != 0;
  const char* usual = *output == ElementType::kU8 ? "random_resized_crop=224,flip"
                                                  : "random_resized_crop=224,flip,normalize";
  auto program = AugmentProgram::Parse(Or(options.ops, usual), *output, *layout);
  PENSTOCK_TRY(program);
  made->program_ = std::move(*program);
  if (made->options_.geometry) {
    if (auto reason = WhyNoGeometry(made->program_->ops())) {
      return Fail(ErrorKind::kUsage, "ops: " + *std::move(reason));
    }
  }
  SourceOptions where;
  where.index_folder = Or(options.index_folder, "");
  auto source = OpenSources(sources, count, where);
  PENSTOCK_TRY(source);
  made->source_ = std::move(*source);
  auto order = SampleOrder::Make(made->source_->size(), made->options_);
  PENSTOCK_TRY(order);
  made->order_ = *order;

  made->tracer_ = AgentTracer(Company::kBesideOthers);
  if (made->tracer_ == nullptr) made->tracer_ = NoTracer();
  made->options_.trace.loader = options.trace_loader;
  if (made->tracer_->on()) made->options_.trace.numbers = &made->numbers_;
  if (options.ram_cache != 0) {
    made->cache_.emplace(Bytes{options.ram_cache});
    made->options_.reader.cache = &*made->cache_;
  }
  const std::size_t batch = made->options_.batch;
  made->labels_offset_ = BatchRing::BatchBytes(batch, made->program_->format().bytes());
  made->ids_offset_ = made->labels_offset_ + batch * sizeof(std::int64_t);
  made->geometry_offset_ = made->ids_offset_ + batch * sizeof(std::uint64_t);
  made->batch_bytes_ =
      made->geometry_offset_ + (made->options_.geometry ? batch * sizeof(PenstockGeometry) : 0);
  std::unique_ptr<HostPinner> pinner;
  if (options.pin != 0) pinner = HostPinner::Open(static_cast<int>(options.pin_device));
  // Room for the batches of the ring, and for those that the caller has or has just released.
  made->pool_ = BatchPool::Make(made->batch_bytes_ - made->labels_offset_,
                                std::size_t{options.prefetch} + 4, std::move(pinner));
  made->options_.memory = made->pool_.get();
  return made;
}

PenstockLoaderFacts Instance::Facts() const {
  const OutputFormat format = program_->format();
  PenstockLoaderFacts facts{};
  facts.samples = source_->size();
  facts.classes = source_->classes();
  facts.epoch_samples = order_->epoch_samples();
  facts.epoch_batches = order_->epoch_batches();
  facts.labels_offset = labels_offset_;
  facts.ids_offset = ids_offset_;
  facts.geometry_offset = options_.geometry ? geometry_offset_ : 0;
  facts.batch_bytes = batch_bytes_;
  facts.height = static_cast<std::uint32_t>(format.height);
  facts.width = static_cast<std::uint32_t>(format.width);
  facts.element_bytes = static_cast<std::uint32_t>(ElementSize(format.type));
  facts.channels_first = format.layout == Layout::kChw ? 1 : 0;
  facts.workers = options_.workers;
  facts.pinned = pool_->pins() ? 1 : 0;
  source_->kind().copy(&facts.kind[0], sizeof facts.kind - 1);
  return facts;
}

Result<std::string> Instance::ClassName(std::uint64_t label) const {
  if (label >= source_->classes()) {
    return Fail(ErrorKind::kUsage, fmt::format("there is no class {}", label));
  }
  return source_->ClassName(label);
}

Result<std::string> Instance::SampleName(std::uint64_t id) const {
  if (id >= source_->size()) {
    return Fail(ErrorKind::kUsage, fmt::format("there is no sample {}", id));
  }
  SampleScratch scratch;
  Result<SampleRef> found = source_->At(id, scratch);
  PENSTOCK_TRY(found);
  return std::string(found->whole_file ? found->path : found->name);
}

Result<void> Instance::Start(StreamPosition at) {
  interrupted_.store(false, std::memory_order_relaxed);
  // A pipeline whose threads do not persist ends with its epoch: it has no batch of the next one.
  const bool goes_on = pipeline_ != nullptr && (persistent_ || !epoch_over_);
  if (goes_on && at_ == at) {
    epoch_over_ = false;
    return {};
  }
  Stop();
  PipelineOptions options = options_;
  options.resume = at;
  options.epochs = persistent_ ? 0 : at.epoch + 1;  // epochs count from 0: this is the last one
  numbers_.Renew();
  Result<std::unique_ptr<Pipeline>> started;
  {
    const SignalsBlocked blocked;
    started = Pipeline::Start(*source_, *program_, options, *tracer_);
  }
  PENSTOCK_TRY(started);
  pipeline_ = std::move(*started);
  at_ = at;
  // After a resume this rank may have no batch left in the epoch. A pipeline without end then
  // begins with the next epoch, which belongs to the next Start().
  const SampleOrder& order = pipeline_->order();
  epoch_over_ = order.batches() != 0 && order.At(0).epoch != at.epoch;
  if (epoch_over_) at_ = {at.epoch + 1, 0};
  return {};
}

Result<PenstockStatus> Instance::Next(std::chrono::nanoseconds limit, PenstockBatch* out) {
  if (pipeline_ == nullptr) return PENSTOCK_END;
  if (epoch_over_) return EndEpoch();
  if (interrupted_.load(std::memory_order_relaxed)) return PENSTOCK_STOPPED;
  bool waiting = false;
  Result<Batch> batch = pipeline_->Next(limit, &waiting);
  if (!batch) {
    const Error error = batch.error();
    Stop();
    return tl::unexpected<Error>(error);
  }
  if (waiting) return PENSTOCK_WAITING;
  if (!*batch) return EndEpoch();
  if (!Take(*batch, out)) {
    const std::size_t held = pool_->blocks();
    batch->Release();
    Stop();
    return Fail(ErrorKind::kEnvironment,
                fmt::format("no memory for one more batch; {} are in use: let go of batches that "
                            "are done with, or lower batch or prefetch",
                            held));
  }
  return PENSTOCK_OK;
}

PenstockStatus Instance::EndEpoch() {
  epoch_over_ = true;
  pipeline_->EndStep();
  if (!persistent_) Stop();
  return PENSTOCK_END;
}

bool Instance::Take(Batch& batch, PenstockBatch* out) {
  std::byte* const memory = batch.Detach();
  if (memory == nullptr) return false;
  const std::span<const std::int64_t> labels = batch.labels();
  const std::span<const std::uint64_t> ids = batch.ids();
  std::memcpy(memory + labels_offset_, labels.data(), labels.size_bytes());
  std::memcpy(memory + ids_offset_, ids.data(), ids.size_bytes());
  if (options_.geometry) {
    std::byte* place = memory + geometry_offset_;
    for (const SampleGeometry& one : batch.geometry()) {
      const PenstockGeometry row = RowOf(one);
      std::memcpy(place, &row, sizeof row);
      place += sizeof row;
    }
  }
  pool_->HandOut(memory);
  *out = {memory,        batch.size(),       batch.epoch(),
          batch.index(), batch.next().epoch, batch.next().position};
  at_ = batch.next();
  epoch_over_ = batch.last_of_epoch();
  return true;
}

void Instance::Stop() {
  epoch_over_ = true;
  if (pipeline_ == nullptr) return;
  pipeline_->Stop();
  errors_ += pipeline_->errors();
  for (const SampleError& error : pipeline_->first_errors()) {
    if (error_lines_.size() < kErrorLines) error_lines_.push_back(error.message);
  }
  pipeline_.reset();
}

std::uint64_t Instance::Errors(std::string* lines) const {
  std::uint64_t count = errors_;
  std::vector<std::string> all = error_lines_;
  if (pipeline_ != nullptr) {
    count += pipeline_->errors();
    for (const SampleError& error : pipeline_->first_errors()) all.push_back(error.message);
  }
  if (all.size() > kErrorLines) all.resize(kErrorLines);
  lines->clear();
  for (const std::string& line : all) *lines += (lines->empty() ? "" : "\n") + line;
  return count;
}

}  // namespace penstock::loader
