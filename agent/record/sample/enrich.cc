// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/enrich.h"

#include <algorithm>

namespace penstock::record {
namespace {

ProcessKey KeyOf(const traces::ProcessInfo& info) {
  return {info.pid, info.process_start};
}

}  // namespace

traces::ProcessInfo EnrichingPacker::Merged(const traces::ProcessInfo& info) const {
  traces::ProcessInfo merged = info;
  const auto found = views_.find(KeyOf(info));
  if (found == views_.end()) return merged;
  const KernelView& view = found->second;
  if (view.coverage) {
    merged.bytes_hooked = view.bytes_hooked;
    merged.bytes_kernel = view.bytes_kernel;
  }
  merged.features |= view.features;
  if (!view.allocator.empty()) merged.facts["allocator"] = view.allocator;
  for (const std::string& library : view.libraries) {
    if (std::find(merged.libraries.begin(), merged.libraries.end(), library) ==
        merged.libraries.end()) {
      merged.libraries.push_back(library);
    }
  }
  return merged;
}

void EnrichingPacker::Apply(ProcessKey key) {
  const auto known = known_.find(key);
  if (known != known_.end()) inner().UpdateProcess(known->second.id, Merged(known->second.info));
}

void EnrichingPacker::ApplyAll() {
  for (const auto& [key, known] : known_) inner().UpdateProcess(known.id, Merged(known.info));
}

void EnrichingPacker::Forget(ProcessKey key) {
  constexpr std::size_t kMostFacts = 4096;
  views_.erase(key);
  const auto known = known_.find(key);
  if (known == known_.end()) return;
  for (const auto& [name, value] : known->second.info.facts) {
    if (facts_of_ended_.size() < kMostFacts) facts_of_ended_.try_emplace(name, value);
  }
  known_.erase(known);
}

std::string EnrichingPacker::FindFact(std::string_view key) const {
  if (const auto fact = facts_.find(key); fact != facts_.end()) return fact->second;
  for (const auto& [process, known] : known_) {
    const auto fact = known.info.facts.find(std::string(key));
    if (fact != known.info.facts.end()) return fact->second;
  }
  if (const auto fact = facts_of_ended_.find(key); fact != facts_of_ended_.end()) {
    return fact->second;
  }
  return {};
}

ProcessId EnrichingPacker::AddProcess(const traces::ProcessInfo& process) {
  const ProcessId id = inner().AddProcess(Merged(process));
  known_[KeyOf(process)] = {id, process};
  return id;
}

void EnrichingPacker::UpdateProcess(ProcessId id, const traces::ProcessInfo& process) {
  known_[KeyOf(process)] = {id, process};
  inner().UpdateProcess(id, Merged(process));
}

void EnrichingPacker::SetFact(std::string_view key, std::string_view value) {
  facts_[std::string(key)] = value;
  inner().SetFact(key, value);
}

}  // namespace penstock::record
