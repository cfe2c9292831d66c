// SPDX-License-Identifier: Apache-2.0
//
// The machine of a trace as its facts describe it, or one rank's part of it. Values; 0 where a fact
// is missing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/units.h"

namespace penstock::analyzer {

using Facts = std::map<std::string, std::string>;

struct Host {
  int cores = 0;     // online
  int affinity = 0;  // number of cores that the run's mask allows, or a narrower mask of its
                     // workers
  double quota = 0;  // CPU quota of the control group in cores; 0: none
  double share = 0;  // cores of this rank; 0: the rank has the host to itself
  int ranks = 1;     // ranks on the host; if several, the sizes below are one rank's part
  Bytes ram;
  Bytes memory_limit;  // of the control group; 0: none
  Bytes shm_size;      // /dev/shm
  Bytes shm_free;
  bool known = false;  // some core count was found

  // Cores that can really be used: the smallest of the known ones among affinity (`cores` if no
  // mask is known), quota and share, but at least 0.1. 1 if nothing is known.
  [[nodiscard]] double usable_cores() const;
  // Bytes that can really be used: the smaller of `ram` and `memory_limit`; if only one is known,
  // that one.
  [[nodiscard]] Bytes memory() const;
};

[[nodiscard]] Host ReadHost(const Facts& facts);

// Lowers host.affinity to the number of CPUs that at least one of `masks` allows. These are the
// masks of the processes that make batches, as kernel lists. Such a process may have set its mask
// after it started, and the collector's own mask does not show this change.
void NarrowAffinity(Host& host, std::span<const std::string_view> masks);

// The CPUs in a kernel list, ascending, each once. Malformed parts are ignored.
[[nodiscard]] std::vector<int> CpusIn(std::string_view list);
// Their number: "0-1,4" -> 3.
[[nodiscard]] int CountCpuList(std::string_view list);

// The finite number that a fact begins with; nullopt if there is none.
[[nodiscard]] std::optional<double> NumberFact(const Facts& facts, std::string_view key);
// The truth value of a fact: "true", "True" and "1", or "false", "False", "0" and "None"; else
// `otherwise`.
[[nodiscard]] bool TrueFact(const Facts& facts, std::string_view key, bool otherwise);
// The text of a fact; empty if it is missing.
[[nodiscard]] std::string TextFact(const Facts& facts, std::string_view key);

}  // namespace penstock::analyzer
