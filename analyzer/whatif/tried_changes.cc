// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/tried_changes.h"

#include <algorithm>
#include <utility>

#include "analyzer/predict/changes.h"

namespace penstock::analyzer {
namespace {

constexpr double kWorthTelling = 1.01;  // speed-up

std::vector<std::pair<std::string, Changes>> Candidates(const Material& material) {
  std::vector<std::pair<std::string, Changes>> all;
  const auto add = [&](std::string option, auto set) {
    Changes changes;
    set(changes);
    all.emplace_back(std::move(option), std::move(changes));
  };
  add("--ram-cache", [](Changes& changes) { changes.ram_cache = true; });
  add("--pack", [](Changes& changes) { changes.pack = true; });
  add("--decoder simplejpeg", [](Changes& changes) { changes.decoder = "simplejpeg"; });
  add("--transfer u8", [](Changes& changes) { changes.transfer = "u8"; });
  if (material.gpu.empty()) return all;
  add("--gpu augment", [](Changes& changes) { changes.gpu_augment = true; });
  add("--gpu decode,augment",
      [](Changes& changes) { changes.gpu_decode = changes.gpu_augment = true; });
  return all;
}

}  // namespace

std::vector<TriedChange> TryChanges(const LoaderDiagnosis& loader) {
  std::vector<TriedChange> tried;
  if (!loader.suggestion.missing.empty() || !loader.pipeline.beside.empty()) return tried;
  const DeviceCosts costs = BuiltInDeviceCosts(loader.material.gpu);
  Setting setting;
  setting.workers = loader.pipeline.workers;
  setting.prefetch = loader.pipeline.prefetch;
  for (auto& [option, changes] : Candidates(loader.material)) {
    const auto changed =
        ApplyChanges(loader.pipeline, loader.facts, loader.material, changes, costs);
    if (!changed) continue;
    TriedChange one;
    one.option = std::move(option);
    one.predicted = Predict(loader.pipeline, changed->pipeline, loader.replay);
    if (one.predicted.speedup < kWorthTelling || !one.predicted.SurelyGains()) continue;
    const auto batches = static_cast<double>(RamOf(changed->pipeline, setting, changed->facts));
    one.predicted.ram = static_cast<std::uint64_t>(batches + changed->memory);
    one.notes = changed->notes;
    tried.push_back(std::move(one));
  }
  std::stable_sort(tried.begin(), tried.end(), [](const TriedChange& a, const TriedChange& b) {
    return a.predicted.speedup > b.predicted.speedup;
  });
  return tried;
}

}  // namespace penstock::analyzer
