// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/levers.h"

#include <utility>

#include "analyzer/advice/loop_transforms.h"

namespace penstock::analyzer {
namespace {

void MergeChanges(const Changes& one, Changes& all) {
  if (!one.transfer.empty()) all.transfer = one.transfer;
  if (!one.decoder.empty()) all.decoder = one.decoder;
  if (one.resize > 0) all.resize = one.resize;
  all.ram_cache = all.ram_cache || one.ram_cache;
  all.pack = all.pack || one.pack;
  all.gpu_decode = all.gpu_decode || one.gpu_decode;
  all.gpu_augment = all.gpu_augment || one.gpu_augment;
}

}  // namespace

bool Levers::Allows(LeverSet set) const {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((set >> i & 1) != 0 && (excludes[i] & set) != 0) return false;
  }
  return true;
}

bool Levers::Stays(LeverSet set) const {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((set >> i & 1) != 0 && all[i].persistent) return true;
  }
  return false;
}

Predicted<Changed> ApplyLevers(const Pipeline& pipeline, const LoaderDiagnosis& loader,
                               const Levers& levers, LeverSet set) {
  Changes changes;
  Setting parts;  // applied first, so the changes apply to the remaining costs
  parts.workers = pipeline.workers;
  parts.prefetch = pipeline.prefetch;
  bool apart = false;
  bool out_of_loop = false;
  bool even = false;
  for (std::size_t i = 0; i < levers.all.size(); ++i) {
    if ((set >> i & 1) == 0) continue;
    const Lever& lever = levers.all[i];
    MergeChanges(lever.changes, changes);
    parts.scale.insert(parts.scale.end(), lever.parts.scale.begin(), lever.parts.scale.end());
    if (lever.parts.pin) parts.pin = lever.parts.pin;
    if (lever.parts.in_order) parts.in_order = lever.parts.in_order;
    even = even || lever.even_samples;
    apart = apart || lever.apart;
    out_of_loop = out_of_loop || lever.out_of_loop;
  }
  Pipeline changed =
      Apply(even ? WithEvenSamples(pipeline, levers.even) : pipeline, parts, loader.facts);
  if (apart) {
    changed.turns = false;
    changed.device_per_sample = 0;
  }
  if (out_of_loop) MoveLoopTransforms(changed);
  LoaderFacts facts = loader.facts;
  if (parts.pin) facts.pinned = *parts.pin;
  if (!changes.any()) return Changed{std::move(changed), facts, 0, {}};
  return ApplyChanges(changed, facts, loader.material, changes,
                      BuiltInDeviceCosts(loader.material.gpu));
}

}  // namespace penstock::analyzer
