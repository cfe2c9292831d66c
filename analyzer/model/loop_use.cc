// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/loop_use.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::analyzer {
namespace {

// A place such as "src/data/train.py:88", with `folders` folders in front of the file.
std::string Shortened(const std::string& place, int folders) {
  std::size_t from = place.size();
  for (; folders >= 0 && from != std::string::npos && from > 0; --folders) {
    from = place.rfind('/', from - 1);
  }
  return from == std::string::npos || folders >= 0 ? place : place.substr(from + 1);
}

bool AreInterleaved(const LoaderRun& a, const LoaderRun& b) {
  return a.use == LoopUse::kInterleaved && b.use == LoopUse::kInterleaved &&
         a.config.consumer == b.config.consumer;
}

struct Delivery {
  std::int64_t at = 0;
  std::uint32_t thread = 0;
  std::size_t loader = 0;
  std::uint16_t generation = 0;
};

// By pair of loaders: how often the loop came back to the first loader right after a batch of the
// second, in the middle of an epoch of the first.
std::map<std::pair<std::size_t, std::size_t>, std::size_t> CountReturns(
    const std::vector<Delivery>& deliveries) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> returns;
  std::map<std::pair<std::size_t, std::uint16_t>, std::size_t> last;  // place of the last delivery
  for (std::size_t i = 0; i < deliveries.size(); ++i) {
    const Delivery& now = deliveries[i];
    const auto [at, first] = last.try_emplace({now.loader, now.generation}, i);
    if (!first && at->second + 1 < i) {
      const std::size_t other = deliveries[i - 1].loader;
      if (other != now.loader) ++returns[{now.loader, other}];
    }
    at->second = i;
  }
  return returns;
}

// With interleaved loaders, the step of a batch ends at the next wait for the same loader.
void EndStepsAtOwnWaits(LoaderRun& run) {
  for (const Epoch& epoch : run.epochs) {
    for (std::size_t i = epoch.first; i + 1 < epoch.first + epoch.count; ++i) {
      Batch& batch = run.batches[i];
      const Batch& next = run.batches[i + 1];
      batch.next_wait = batch.step_end;
      if (next.wait_start >= batch.delivered) batch.step_end = next.wait_start;
    }
  }
}

}  // namespace

void NameLoaders(std::vector<LoaderRun>& loaders) {
  std::map<std::pair<std::uint32_t, std::string>, int> makes;  // by process and line
  for (const LoaderRun& run : loaders) ++makes[{run.config.consumer.value, run.config.made_at}];
  const auto place = [&](const LoaderConfig& config) -> const std::string& {
    const bool alone = makes[{config.consumer.value, config.made_at}] == 1;
    return alone || config.called_from.empty() ? config.made_at : config.called_from;
  };
  for (LoaderRun& run : loaders) {
    const std::string& own = place(run.config);
    if (own.empty()) continue;
    const auto clashes = [&](const std::string& name) {
      return std::any_of(loaders.begin(), loaders.end(), [&](const LoaderRun& other) {
        return &other != &run && other.config.consumer == run.config.consumer &&
               place(other.config) != own && place(other.config).ends_with(name);
      });
    };
    int folders = 0;
    while (folders < 8 && clashes("/" + Shortened(own, folders))) ++folders;
    run.name = Shortened(own, folders);
  }
  std::map<std::pair<std::uint32_t, std::string>, int> seen;
  for (LoaderRun& run : loaders) {
    if (run.name.empty()) continue;
    const int times = ++seen[{run.config.consumer.value, run.name}];
    if (times > 1) run.name += " #" + std::to_string(times);
  }
}

void FindLoopUse(std::vector<LoaderRun>& loaders) {
  std::map<std::uint32_t, std::vector<Delivery>> by_process;
  for (std::size_t i = 0; i < loaders.size(); ++i) {
    for (const Batch& batch : loaders[i].batches) {
      by_process[loaders[i].config.consumer.value].push_back(
          {batch.delivered, batch.wait_thread, i, batch.key.generation});
    }
  }
  for (auto& [process, deliveries] : by_process) {
    std::sort(deliveries.begin(), deliveries.end(), [](const Delivery& a, const Delivery& b) {
      return a.thread != b.thread ? a.thread < b.thread : a.at < b.at;
    });
    const std::size_t first = deliveries.front().loader;
    const bool several = std::any_of(deliveries.begin(), deliveries.end(),
                                     [first](const Delivery& one) { return one.loader != first; });
    if (!several) continue;
    for (const Delivery& one : deliveries) loaders[one.loader].use = LoopUse::kInTurn;
    // A validation within an epoch interrupts the epoch only a few times. Loaders are used together
    // if the loop comes back from one to the other for at least every fifth batch (ours). If both
    // loaders' epochs are interrupted, the batches of the loader with fewer count. If only one
    // loader's are, as training by validations, its batches count.
    constexpr double kOften = 0.2;
    const auto counts = CountReturns(deliveries);
    std::set<std::size_t> interrupted;
    for (const auto& [pair, returns] : counts) interrupted.insert(pair.first);
    for (const auto& [pair, returns] : counts) {
      LoaderRun& run = loaders[pair.first];
      LoaderRun& other = loaders[pair.second];
      const bool both = interrupted.count(pair.second) > 0;
      const std::size_t batches =
          both ? std::min(run.batches.size(), other.batches.size()) : run.batches.size();
      if (returns < 2 || static_cast<double>(returns) < kOften * static_cast<double>(batches)) {
        continue;
      }
      run.use = other.use = LoopUse::kInterleaved;
    }
  }
  for (LoaderRun& run : loaders) {
    for (const Batch& batch : run.batches) {
      run.waited += batch.wait();
      run.lasted += batch.wait() + batch.step();
    }
    if (run.use == LoopUse::kInterleaved) EndStepsAtOwnWaits(run);
  }
}

void PutMostAwaitedFirst(std::vector<LoaderRun>& loaders) {
  constexpr double kMatters = 0.05;
  std::map<std::uint32_t, std::pair<double, double>> totals;  // waited, lasted
  for (const LoaderRun& run : loaders) {
    totals[run.config.consumer.value].first += run.waited;
    totals[run.config.consumer.value].second += run.lasted;
  }
  const auto weight = [&](const LoaderRun& run) {
    const auto& [waited, lasted] = totals[run.config.consumer.value];
    return waited >= kMatters * lasted ? run.waited : run.lasted;
  };
  std::stable_sort(loaders.begin(), loaders.end(), [&](const LoaderRun& a, const LoaderRun& b) {
    const std::uint32_t at = a.config.consumer.value;
    const std::uint32_t bt = b.config.consumer.value;
    if (at == bt) return weight(a) > weight(b);
    if (totals[at].second != totals[bt].second) return totals[at].second > totals[bt].second;
    return at < bt;
  });
}

std::vector<const LoaderRun*> DrainedWith(const RunModel& model, const LoaderRun& run) {
  std::vector<const LoaderRun*> others;
  for (const LoaderRun& other : model.loaders) {
    if (&other != &run && AreInterleaved(run, other)) others.push_back(&other);
  }
  return others;
}

double WaitForOthers(const RunModel& model, const LoaderRun& run, const SteadyState* steady) {
  double waits = 0;
  for (const LoaderRun* other : DrainedWith(model, run)) {
    for (const Batch& batch : other->batches) {
      const auto inside = [&](const std::pair<std::int64_t, std::int64_t>& window) {
        return batch.delivered > window.first && batch.delivered <= window.second;
      };
      const bool counts =
          steady == nullptr || std::any_of(steady->windows.begin(), steady->windows.end(), inside);
      if (counts) waits += batch.wait();
    }
  }
  return waits;
}

double WaitFraction(const RunModel& model, const LoaderRun& run, const SteadyState& steady) {
  if (run.use != LoopUse::kInterleaved) return steady.wait_fraction();
  const double waits = steady.wait + WaitForOthers(model, run, &steady);
  return steady.time > 0 ? std::min(1.0, waits / steady.time) : 0;
}

double PartOfLoop(const RunModel& model) {
  const LoaderRun& main = model.loader();
  if (main.use != LoopUse::kInTurn) return 1;
  const auto same_loop = [&](const LoaderRun& run) {
    if (run.config.consumer != main.config.consumer) return false;
    return run.batches.empty() || main.batches.empty() ||
           run.batches.front().wait_thread == main.batches.front().wait_thread;
  };
  double lasted = 0;
  for (const LoaderRun& run : model.loaders) {
    if (same_loop(run)) lasted += run.lasted;
  }
  return lasted > 0 ? main.lasted / lasted : 1;
}

double StepFraction(const RunModel& model) {
  double waited = 0;
  double lasted = 0;
  for (const LoaderRun& run : model.loaders) {
    if (run.config.consumer != model.loader().config.consumer) continue;
    waited += run.waited;
    lasted += run.lasted;
  }
  return lasted > 0 ? 1 - waited / lasted : 0;
}

}  // namespace penstock::analyzer
