// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/rank_layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

namespace penstock::analyzer {
namespace {

constexpr int kMostRanks = 1 << 20;  // on one host; a stranger's trace may contain any number

std::string PartOf(const traces::ProcessInfo& process) {
  return TextFact(process.facts, "part");
}

// All facts of `part`, under their names without the part.
Facts FactsOfPart(const traces::Trace& trace, const std::string& part) {
  if (part.empty()) return trace.facts();
  const std::string prefix = "part." + part + ".";
  Facts facts;
  for (auto it = trace.facts().lower_bound(prefix);
       it != trace.facts().end() && it->first.compare(0, prefix.size(), prefix) == 0; ++it) {
    facts.emplace(it->first.substr(prefix.size()), it->second);
  }
  return facts;
}

struct Masks {
  std::vector<std::vector<int>> of;  // by index of `places`: the CPUs of its mask; empty: not known
  std::map<int, int> sharers;        // by CPU: ranks whose masks allow it
  bool known = true;
};

Masks MasksOf(const traces::Trace& trace, const std::vector<RankPlace*>& places) {
  Masks masks;
  for (const RankPlace* place : places) {
    const traces::ProcessInfo& process = trace.processes()[place->consumer.value];
    std::string mask = TextFact(process.facts, "process.affinity");
    if (mask.empty()) mask = FactOfPart(trace, PartOf(process), "cpu.affinity");
    masks.of.push_back(CpusIn(mask));
    masks.known = masks.known && !masks.of.back().empty();
    for (const int cpu : masks.of.back()) ++masks.sharers[cpu];
  }
  return masks;
}

void ShareCores(const traces::Trace& trace, RankHost& host, const std::vector<RankPlace*>& places) {
  const Masks masks = MasksOf(trace, places);
  const bool complete = host.recorded >= host.ranks;
  const auto ranks = static_cast<double>(host.ranks);
  for (std::size_t i = 0; i < places.size(); ++i) {
    double cores = 0;
    if (masks.known && complete) {
      for (const int cpu : masks.of[i]) cores += 1.0 / masks.sharers.at(cpu);
    } else {
      const double own = masks.of[i].empty() ? host.machine.usable_cores()
                                             : static_cast<double>(masks.of[i].size());
      cores = std::min(own, std::max(own, static_cast<double>(host.machine.cores)) / ranks);
    }
    if (host.machine.quota > 0) cores = std::min(cores, host.machine.quota / ranks);
    places[i]->cores = std::max(cores, 0.1);
    host.cores += places[i]->cores;
  }
}

class LayoutReader {
 public:
  explicit LayoutReader(const traces::Trace& trace) : trace_(trace) {}

  RankLayout Read() {
    const auto processes = trace_.processes();
    for (std::uint32_t i = 0; i < processes.size(); ++i) {
      const traces::ProcessInfo& process = processes[i];
      const std::size_t host = HostOf(PartOf(process));
      layout_.host_of.push_back(host);
      layout_.world_size = std::max(layout_.world_size, process.world_size);
      if (process.rank >= 0 && process.role == wire::kRoleConsumer) AddPlace(ProcessId{i}, host);
    }
    if (layout_.hosts.empty()) HostOf("");
    std::stable_sort(layout_.places.begin(), layout_.places.end(),
                     [](const RankPlace& a, const RankPlace& b) { return a.rank < b.rank; });
    for (std::size_t host = 0; host < layout_.hosts.size(); ++host) {
      std::vector<RankPlace*> places;
      for (RankPlace& place : layout_.places) {
        if (place.host == host) places.push_back(&place);
      }
      if (!places.empty()) ShareCores(trace_, layout_.hosts[host], places);
    }
    return std::move(layout_);
  }

 private:
  // The index of the host of `part`. Parts with the same boot_id come from the same host.
  std::size_t HostOf(const std::string& part) {
    const auto seen = host_of_part_.find(part);
    if (seen != host_of_part_.end()) return seen->second;
    std::string id = FactOfPart(trace_, part, "boot_id");
    std::string name = FactOfPart(trace_, part, "host");
    if (id.empty()) id = name.empty() ? "#" + part : name;
    auto [at, first] = by_id_.emplace(id, layout_.hosts.size());
    if (first) {
      RankHost host;
      host.name = name.empty() ? fmt::format("host {}", layout_.hosts.size()) : name;
      host.machine = ReadHost(FactsOfPart(trace_, part));
      layout_.hosts.push_back(std::move(host));
    } else {  // one rank may have a narrower mask than the host
      const Host other = ReadHost(FactsOfPart(trace_, part));
      Host& machine = layout_.hosts[at->second].machine;
      machine.affinity = std::max(machine.affinity, other.affinity);
    }
    host_of_part_.emplace(part, at->second);
    return at->second;
  }

  void AddPlace(ProcessId consumer, std::size_t host) {
    const traces::ProcessInfo& process = trace_.processes()[consumer.value];
    // A rank has a second training process if a child of its training process also has a loader.
    // Only the first counts.
    if (!seen_.insert(process.rank).second) return;
    RankPlace place;
    place.consumer = consumer;
    place.rank = process.rank;
    place.local_rank = process.local_rank;
    place.host = host;
    layout_.places.push_back(place);
    RankHost& at = layout_.hosts[host];
    ++at.recorded;
    const double told = NumberFact(process.facts, "rank.local_size").value_or(0);
    const int size = told >= 1 && told <= kMostRanks ? static_cast<int>(told) : 0;
    const int local = std::min(process.local_rank, kMostRanks) + 1;
    at.ranks = std::max({at.ranks, size, local, at.recorded});
    if (layout_.launcher.empty()) layout_.launcher = TextFact(process.facts, "rank.launcher");
  }

  const traces::Trace& trace_;
  RankLayout layout_;
  std::map<std::string, std::size_t> host_of_part_;
  std::map<std::string, std::size_t> by_id_;
  std::set<std::int32_t> seen_;
};

Bytes Equally(Bytes whole, int ranks) {
  return Bytes{whole.value / static_cast<std::uint64_t>(ranks)};
}

}  // namespace

const RankPlace* RankLayout::Find(ProcessId consumer) const {
  const auto found = std::find_if(places.begin(), places.end(), [&](const RankPlace& place) {
    return place.consumer == consumer;
  });
  return found == places.end() ? nullptr : &*found;
}

RankLayout ReadRankLayout(const traces::Trace& trace) {
  return LayoutReader(trace).Read();
}

std::string FactOfPart(const traces::Trace& trace, std::string_view part, std::string_view key) {
  return TextFact(trace.facts(),
                  part.empty() ? std::string(key) : fmt::format("part.{}.{}", part, key));
}

Host ShareOf(const RankHost& host, const RankPlace& place) {
  Host share = host.machine;
  share.share = place.cores;
  share.ranks = host.ranks;
  share.ram = Equally(share.ram, host.ranks);
  share.memory_limit = Equally(share.memory_limit, host.ranks);
  share.shm_size = Equally(share.shm_size, host.ranks);
  share.shm_free = Equally(share.shm_free, host.ranks);
  return share;
}

}  // namespace penstock::analyzer
