// SPDX-License-Identifier: Apache-2.0
//
// Cost of reading one sample with each method, from a file of its own and from a shard, and cost of
// the source's look-up before the read. The page cache is warm; one thread. Input: 256 objects of
// 105 KB (the mean of ImageNet's files) with pseudo-random bytes, in a temporary folder, as single
// files and back to back in one file. Before a method is timed, its bytes are compared with those
// that were written. One byte of each page of a mapped object is touched. Without that the cost of
// loading pages would not be measured, since it falls on the code that uses the bytes.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "loader/io/cache_state.h"
#include "loader/io/object_reader.h"
#include "loader/source/packed_writer.h"
#include "loader/source/source.h"

namespace {

using namespace penstock;          // NOLINT: the subject of every line here
using namespace penstock::loader;  // NOLINT

constexpr std::size_t kObjects = 256;
constexpr std::size_t kObjectSize = 105'000;

template <class T>
T OrDie(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "loader_read_bench: %s\n", result.error().message.c_str());
    std::exit(static_cast<int>(ExitStatus(result.error().kind)));
  }
  return std::move(*result);
}

// The set on disk, removed at exit.
struct Set {
  std::filesystem::path root;
  std::vector<std::string> bytes;
  std::unique_ptr<Source> files;
  std::unique_ptr<Source> packed;

  Set() {
    std::string name = (std::filesystem::temp_directory_path() / "penstock-read-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      std::fprintf(stderr, "loader_read_bench: no temporary folder\n");
      std::exit(3);
    }
    root = name;
    std::filesystem::create_directory(root / "files");
    std::filesystem::create_directory(root / "files" / "a");
    PackedWriter writer = OrDie(PackedWriter::Create(root / "set.pack"));
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < kObjects; ++i) {
      std::string object(kObjectSize + i, '\0');
      for (char& c : object) {
        state = state * 1664525U + 1013904223U;
        c = static_cast<char>(state >> 24);
      }
      std::string file = std::to_string(1000 + i) + ".jpg";
      std::ofstream(root / "files" / "a" / file, std::ios::binary) << object;
      const Result<void> added = writer.Add(file, 0, std::as_bytes(std::span(object)));
      bytes.push_back(added ? std::move(object) : std::string());
    }
    if (!writer.Finish()) {
      std::exit(3);
    }
    files = OrDie(OpenSource(root / "files", {}));
    packed = OrDie(OpenSource(root / "set.pack", {}));
  }
  ~Set() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;
};

Set& TheSet() {
  static Set set;
  return set;
}

enum class From { kFiles, kShard };

std::uint64_t Touch(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 4096) {
    sum += std::to_integer<std::uint64_t>(bytes[i]);
  }
  return sum;
}

// True if every object is read as it was written.
bool Check(ObjectReader& reader, const Source& source) {
  SampleScratch scratch;
  for (std::size_t i = 0; i < kObjects; ++i) {
    const SampleRef ref = OrDie(source.At(i, scratch));
    reader.Start(0, ref);
    const std::span<const std::byte> got = OrDie(reader.Finish(0));
    const std::string& want = TheSet().bytes[i];
    if (got.size() != want.size() || std::memcmp(got.data(), want.data(), want.size()) != 0) {
      return false;
    }
  }
  return true;
}

void BM_Read(benchmark::State& state, IoMethod method, From from, std::size_t depth,
             std::uint64_t cache_budget) {
  const Set& set = TheSet();
  const Source& source = from == From::kFiles ? *set.files : *set.packed;
  RamCache cache(Bytes{cache_budget});
  IoOptions options;
  options.method = method;
  options.depth = depth;
  options.cache = cache_budget > 0 ? &cache : nullptr;
  Result<std::unique_ptr<ObjectReader>> made = MakeObjectReader(options);
  if (!made) {
    state.SkipWithError(made.error().message.c_str());
    return;
  }
  ObjectReader& reader = **made;
  if (!Check(reader, source)) {
    state.SkipWithError("wrong bytes");
    return;
  }
  SampleScratch scratch;
  std::uint64_t started = 0;
  std::uint64_t finished = 0;
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    for (; started < finished + depth; ++started) {
      reader.Start(started % depth, OrDie(source.At(started * 97 % kObjects, scratch)));
    }
    const std::span<const std::byte> got = OrDie(reader.Finish(finished++ % depth));
    benchmark::DoNotOptimize(Touch(got));
    bytes += got.size();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(finished));
  state.counters["direct_refused"] = static_cast<double>(reader.stats().direct_refused);
}

void BM_LookUp(benchmark::State& state, From from) {
  const Set& set = TheSet();
  const Source& source = from == From::kFiles ? *set.files : *set.packed;
  SampleScratch scratch;
  std::uint64_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(OrDie(source.At(i++ * 97 % kObjects, scratch)));
  }
}

void BM_PageCacheState(benchmark::State& state) {
  SampleScratch scratch;
  const SampleRef ref = OrDie(TheSet().files->At(0, scratch));
  for (auto _ : state) {
    benchmark::DoNotOptimize(PageCacheState(ref));
  }
}

void RegisterAll() {
  for (const From from : {From::kFiles, From::kShard}) {
    const std::string what = from == From::kFiles ? "file" : "member";
    for (const IoMethod method :
         {IoMethod::kBuffered, IoMethod::kDirect, IoMethod::kUring, IoMethod::kMmap}) {
      for (const std::size_t depth : {1U, 4U}) {
        const std::string name = "BM_Read/" + what + "/" + std::string(IoMethodName(method)) +
                                 "/depth:" + std::to_string(depth);
        benchmark::RegisterBenchmark(
            name.c_str(), [=](benchmark::State& state) { BM_Read(state, method, from, depth, 0); });
      }
    }
    benchmark::RegisterBenchmark(
        ("BM_Read/" + what + "/ram_cache").c_str(),
        [=](benchmark::State& state) { BM_Read(state, IoMethod::kBuffered, from, 1, 1U << 30); });
    benchmark::RegisterBenchmark(("BM_LookUp/" + what).c_str(),
                                 [=](benchmark::State& state) { BM_LookUp(state, from); });
  }
  benchmark::RegisterBenchmark("BM_PageCacheState/file", BM_PageCacheState);
}

}  // namespace

int main(int argc, char** argv) {
  RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
