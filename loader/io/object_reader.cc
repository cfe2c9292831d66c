// SPDX-License-Identifier: Apache-2.0
#include "loader/io/object_reader.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "loader/io/io_file.h"

namespace penstock::loader {
namespace {

constexpr std::size_t kMaxDepth = 32768;  // the most that an io_uring can hold
constexpr std::array<std::pair<IoMethod, std::string_view>, 4> kMethods = {{
    {IoMethod::kBuffered, "buffered"},
    {IoMethod::kDirect, "direct"},
    {IoMethod::kUring, "uring"},
    {IoMethod::kMmap, "mmap"},
}};

// Looks into the RAM cache before it asks `inner`, and puts what `inner` reads into the cache.
class CachedReader : public ObjectReader {
 public:
  CachedReader(std::unique_ptr<ObjectReader> inner, const IoOptions& options)
      : inner_(std::move(inner)), cache_(*options.cache), slots_(options.depth) {}

  void Start(std::size_t index, const SampleRef& ref) override {
    Slot& slot = slots_[index];
    slot.hit = cache_.Find(ref);
    if (!slot.hit) {
      slot.ref.Assign(ref);
      inner_->Start(index, ref);
    }
  }

  Result<std::span<const std::byte>> Finish(std::size_t index) override {
    Slot& slot = slots_[index];
    if (slot.hit) {
      ++hits_;
      hit_bytes_ += slot.hit->size();
      return *slot.hit;
    }
    Result<std::span<const std::byte>> bytes = inner_->Finish(index);
    if (bytes) {
      cache_.Insert(slot.ref.ref(), *bytes);
    }
    return bytes;
  }

  IoStats stats() const override {
    IoStats stats = inner_->stats();
    stats.reads += hits_;
    stats.bytes += hit_bytes_;
    stats.cache_hits += hits_;
    return stats;
  }

 private:
  struct Slot {
    OwnedRef ref;
    std::optional<std::span<const std::byte>> hit;
  };

  std::unique_ptr<ObjectReader> inner_;
  RamCache& cache_;
  std::vector<Slot> slots_;
  std::uint64_t hits_ = 0;
  std::uint64_t hit_bytes_ = 0;
};

}  // namespace

ObjectReader::~ObjectReader() = default;

std::string_view IoMethodName(IoMethod method) {
  for (const auto& [known, name] : kMethods) {
    if (known == method) {
      return name;
    }
  }
  return "unknown";
}

Result<IoMethod> ParseIoMethod(std::string_view name) {
  for (const auto& [method, known] : kMethods) {
    if (known == name) {
      return method;
    }
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("--io {}: is unknown; use buffered, direct, uring or mmap", name));
}

Result<std::unique_ptr<ObjectReader>> MakeObjectReader(const IoOptions& options) {
  if (options.depth < 1 || options.depth > kMaxDepth) {
    return Fail(ErrorKind::kUsage,
                fmt::format("read-ahead depth {}: use 1 to {}", options.depth, kMaxDepth));
  }
  std::unique_ptr<ObjectReader> reader;
  switch (options.method) {
    case IoMethod::kBuffered:
      reader = MakeBufferedReader(options);
      break;
    case IoMethod::kDirect:
      reader = MakeDirectReader(options);
      break;
    case IoMethod::kMmap:
      reader = MakeMmapReader(options);
      break;
    case IoMethod::kUring: {
      Result<std::unique_ptr<ObjectReader>> made = MakeUringReader(options);
      if (!made) {
        return made;
      }
      reader = std::move(*made);
      break;
    }
  }
  if (options.cache != nullptr) {
    reader = std::make_unique<CachedReader>(std::move(reader), options);
  }
  return reader;
}

}  // namespace penstock::loader
