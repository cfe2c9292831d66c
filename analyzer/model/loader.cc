// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/loader.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace penstock::analyzer {
namespace {

constexpr int kMostInBatch = 1 << 20;  // samples; more is a damaged trace

int IntFact(const Facts& facts, const std::string& key, int otherwise) {
  const double value = NumberFact(facts, key).value_or(otherwise);
  return value >= 0 && value < 1e9 ? static_cast<int>(value) : otherwise;
}

// A length or count; `unknown` if the fact is missing, negative or at least 2^63. A dataset without
// end gives sys.maxsize, which is 2^63 - 1, and 2^63 as a double.
std::int64_t CountFact(const Facts& facts, const std::string& key, std::int64_t unknown) {
  constexpr double kEndless = 9223372036854775808.0;  // 2^63
  const double value = NumberFact(facts, key).value_or(-1);
  return value >= 0 && value < kEndless ? static_cast<std::int64_t>(value) : unknown;
}

}  // namespace

std::vector<LoaderConfig> ReadLoaders(const Facts& facts, ProcessId process) {
  constexpr std::string_view kPrefix = "loader.";
  std::set<int> ids;
  for (auto it = facts.lower_bound(std::string(kPrefix)); it != facts.end(); ++it) {
    const std::string& key = it->first;
    if (key.compare(0, kPrefix.size(), kPrefix) != 0) break;
    int id = 0;
    const char* from = key.data() + kPrefix.size();
    const auto result = std::from_chars(from, key.data() + key.size(), id);
    if (result.ec == std::errc() && *result.ptr == '.' && id >= 0) ids.insert(id);
  }
  std::vector<LoaderConfig> loaders;
  for (const int id : ids) {
    const std::string prefix = std::string(kPrefix) + std::to_string(id) + ".";
    LoaderConfig loader;
    loader.id = id;
    loader.consumer = process;
    loader.kind = TextFact(facts, prefix + "kind");
    if (loader.kind.empty()) loader.kind = "pytorch";  // other hooks always write a kind
    if (loader.kind != "pytorch" && loader.kind != "penstock") loader.kind = "other";
    loader.sample_tasks = loader.kind == "penstock";
    loader.num_workers = std::min(IntFact(facts, prefix + "num_workers", 0), 4096);
    loader.workers_known = facts.count(prefix + "num_workers") != 0;  // some imported traces lack
                                                                      // it
    loader.prefetch_factor = std::clamp(IntFact(facts, prefix + "prefetch_factor", 2), 1, 65536);
    loader.batch_size = std::min(IntFact(facts, prefix + "batch_size", 0), kMostInBatch);
    loader.batch_length = IntFact(facts, prefix + "batch_length", 0);
    if (TextFact(facts, "torch.sharing_strategy") == "file_descriptor") {
      loader.descriptors = IntFact(facts, prefix + "batch_tensors", 0);
    }
    loader.pin_memory = TrueFact(facts, prefix + "pin_memory", false);
    loader.pins = TrueFact(facts, prefix + "pin_memory_effective", loader.pin_memory);
    loader.persistent_workers =
        TrueFact(facts, prefix + "persistent_workers", loader.sample_tasks);  // threads stay
    loader.in_order = TrueFact(facts, prefix + "in_order", true);
    loader.fixed_batch = TrueFact(facts, prefix + "fixed_batch", false);
    loader.package = TextFact(facts, prefix + "package");
    loader.start_method = TextFact(facts, prefix + "start_method");
    loader.dataset_kind = TextFact(facts, prefix + "dataset_kind");
    loader.dataset_length = CountFact(facts, prefix + "dataset_len", -1);
    loader.epoch_batches = CountFact(facts, prefix + "epoch_batches", 0);
    loader.made_at = TextFact(facts, prefix + "made_at");
    loader.called_from = TextFact(facts, prefix + "called_from");
    loader.made_anew = TrueFact(facts, prefix + "made_anew", false);
    loaders.push_back(std::move(loader));
  }
  return loaders;
}

int LoaderOfGeneration(const Facts& facts, std::uint16_t generation) {
  return IntFact(facts, "epoch." + std::to_string(generation), -1);
}

}  // namespace penstock::analyzer
