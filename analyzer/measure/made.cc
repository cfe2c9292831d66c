// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/made.h"

#include <algorithm>

namespace penstock::analyzer {
namespace {

void AddParts(Demand& sum, const Demand& more) {
  for (const auto part : kDemandParts) {
    (sum.*part).wall += (more.*part).wall;
    (sum.*part).cpu += (more.*part).cpu;
  }
}

}  // namespace

void Made::Add(const Demand& demand) {
  services.push_back(demand.service() / demand.samples);
  samples += demand.samples;
  AddParts(sum, demand);
}

void Made::Add(const Made& more) {
  services.insert(services.end(), more.services.begin(), more.services.end());
  samples += more.samples;
  AddParts(sum, more.sum);
}

Demand TakeOffBeyond(const Made& own, const Made& usual, std::span<Demand* const> batches) {
  Demand beyond;
  const double scale = own.samples / usual.samples;
  for (const auto part : kDemandParts) {
    const Work took = own.sum.*part;
    const Work rest = {(usual.sum.*part).wall * scale, (usual.sum.*part).cpu * scale};
    const double wall = took.wall > rest.wall ? rest.wall / took.wall : 1;
    const double cpu = took.cpu > rest.cpu ? rest.cpu / took.cpu : 1;
    beyond.*part = {(1 - wall) * took.wall, (1 - cpu) * took.cpu};
    for (Demand* demand : batches) {
      Work& work = demand->*part;
      work.wall *= wall;
      work.cpu = std::min(work.cpu * cpu, work.wall);
    }
  }
  return beyond;
}

}  // namespace penstock::analyzer
