// SPDX-License-Identifier: Apache-2.0
#include "loader/set/pack.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "loader/io/object_reader.h"
#include "loader/set/parallel.h"
#include "loader/set/reencoder.h"
#include "loader/set/tar_writer.h"
#include "loader/source/descriptor.h"
#include "loader/source/packed_writer.h"

namespace penstock::loader {
namespace {

struct Counts {
  std::uint64_t encoded = 0;
  std::uint64_t bytes_read = 0;
};

// Reads samples and, if asked, converts them.
class PackWorker : public OrderedWorker {
 public:
  PackWorker(const Source& source, const PackOptions& options, std::unique_ptr<ObjectReader> reader)
      : source_(source),
        skip_bad_(options.skip_bad),
        reader_(std::move(reader)),
        reencoder_({options.resize, options.quality, options.skip_bad}) {}

  Result<Piece> Make(std::uint64_t index) override {
    const Result<SampleRef> ref = source_.At(index, scratch_);
    PENSTOCK_TRY(ref);
    reader_->Start(0, *ref);
    const auto bytes = reader_->Finish(0);
    if (!bytes) return Bad(bytes.error());
    const auto converted = reencoder_.Convert(*bytes);
    if (!converted) {
      return Bad({converted.error().kind,
                  fmt::format("{}: {}", Printable(ref->name), converted.error().message)});
    }
    counts_.bytes_read += bytes->size();
    if (*converted) ++counts_.encoded;
    const std::span<const std::byte> kept = *converted ? **converted : *bytes;
    return Piece{{kept.begin(), kept.end()}, false, {}};
  }

  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  // Leaves the sample out if that was asked for. A lack of memory or of descriptors is not an error
  // of the sample and always ends the packing.
  Result<Piece> Bad(Error error) const {
    if (!skip_bad_ || error.kind != ErrorKind::kInput) return tl::unexpected<Error>(error);
    return Piece{{}, true, std::move(error.message)};
  }

  const Source& source_;
  bool skip_bad_;
  std::unique_ptr<ObjectReader> reader_;
  Reencoder reencoder_;
  SampleScratch scratch_;
  Counts counts_;
};

// The destination of the samples.
class Sink {
 public:
  Sink() = default;
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual Result<void> Add(const SampleRef& ref, std::span<const std::byte> bytes) = 0;
  virtual Result<void> Finish() = 0;
};

class PackedSink : public Sink {
 public:
  explicit PackedSink(PackedWriter writer) : writer_(std::move(writer)) {}
  Result<void> Add(const SampleRef& ref, std::span<const std::byte> bytes) override {
    return writer_.Add(ref.name, ref.label, bytes);
  }
  Result<void> Finish() override { return writer_.Finish(); }

 private:
  PackedWriter writer_;
};

class TarSink : public Sink {
 public:
  TarSink(TarWriter writer, std::uint64_t count)
      : writer_(std::move(writer)), digits_(std::to_string(count - 1).size()) {}
  ~TarSink() override {
    if (!finished_) writer_.Discard();
  }

  Result<void> Add(const SampleRef& ref, std::span<const std::byte> bytes) override {
    const std::string key = Key(ref.name);
    Result<void> done = writer_.Add(key + Extension(ref.name), bytes);
    if (done && ref.label >= 0) {
      const std::string label = std::to_string(ref.label);
      done = writer_.Add(key + ".cls", std::as_bytes(std::span(label.data(), label.size())));
    }
    ++added_;
    return done;
  }

  Result<void> Finish() override {
    Result<void> done = writer_.Commit();
    finished_ = done.has_value();
    return done;
  }

 private:
  // WebDataset ends a key at the first dot in its last part, so the key must have no dot there.
  [[nodiscard]] std::string Key(std::string_view name) const {
    const std::size_t slash = name.rfind('/');
    const std::size_t last = slash == std::string_view::npos ? 0 : slash + 1;
    // A list may hold absolute paths and "..", which do not belong in an archive.
    std::size_t first = std::min(last, name.find_first_not_of('/'));
    if (const std::size_t up = name.substr(0, last).rfind("../"); up != std::string_view::npos) {
      first = std::max(first, up + 3);
    }
    std::string base(name.substr(last));
    if (const std::size_t dot = base.rfind('.'); dot != std::string::npos) base.resize(dot);
    std::replace_if(
        base.begin(), base.end(), [](char c) { return c == '.' || c == ':'; }, '_');
    return fmt::format("{}{:0{}}-{}", name.substr(first, last - first), added_, digits_, base);
  }

  static std::string Extension(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    const std::string_view extension = dot == std::string_view::npos ? "" : name.substr(dot);
    return extension == ".jpeg" || extension == ".JPEG" ? ".jpeg" : ".jpg";
  }

  TarWriter writer_;
  std::size_t digits_;
  std::uint64_t added_ = 0;
  bool finished_ = false;
};

Result<std::unique_ptr<Sink>> MakeSink(const PackOptions& options, std::uint64_t count) {
  if (options.format == PackFormat::kTar) {
    Result<TarWriter> writer = TarWriter::Create(options.output);
    PENSTOCK_TRY(writer);
    return std::make_unique<TarSink>(std::move(*writer), count);
  }
  Result<PackedWriter> writer = PackedWriter::Create(options.output);
  PENSTOCK_TRY(writer);
  return std::make_unique<PackedSink>(std::move(*writer));
}

}  // namespace

Result<PackSummary> Pack(const Source& source, const PackOptions& options,
                         const std::stop_token& stop,
                         const std::function<void(std::uint64_t)>& progress,
                         const std::function<void(const std::string&)>& left_out) {
  Result<std::unique_ptr<Sink>> sink = MakeSink(options, source.size());
  PENSTOCK_TRY(sink);
  std::vector<std::unique_ptr<OrderedWorker>> workers;
  std::vector<const PackWorker*> counters;
  for (unsigned i = 0; i < options.workers; ++i) {
    Result<std::unique_ptr<ObjectReader>> reader = MakeObjectReader({});
    PENSTOCK_TRY(reader);
    auto worker = std::make_unique<PackWorker>(source, options, std::move(*reader));
    counters.push_back(worker.get());
    workers.push_back(std::move(worker));
  }
  PackSummary summary;
  SampleScratch scratch;
  const auto take = [&](std::uint64_t index, const Piece& piece) -> Result<void> {
    progress(index + 1);
    if (piece.left_out) {
      ++summary.left_out;
      left_out(piece.note);
      return {};
    }
    const Result<SampleRef> ref = source.At(index, scratch);
    PENSTOCK_TRY(ref);
    ++summary.packed;
    summary.bytes_written += piece.bytes.size();
    return (*sink)->Add(*ref, piece.bytes);
  };
  PENSTOCK_TRY(RunOrdered(source.size(), workers, stop, take));
  if (stop.stop_requested()) return Fail(ErrorKind::kEnvironment, "interrupted");
  if (summary.packed == 0) {
    return Fail(ErrorKind::kInput, "every sample is bad: nothing to pack");
  }
  PENSTOCK_TRY((*sink)->Finish());
  for (const PackWorker* worker : counters) {
    summary.encoded += worker->counts().encoded;
    summary.bytes_read += worker->counts().bytes_read;
  }
  return summary;
}

}  // namespace penstock::loader
