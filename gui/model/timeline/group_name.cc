// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/group_name.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace penstock::gui {
namespace {

// Each rank may call its device 0.
void TellDevicesApart(Timeline& timeline) {
  std::map<std::int32_t, std::set<std::uint32_t>> devices;  // by rank
  for (const Group& group : timeline.groups) {
    for (const std::size_t lane : group.lanes) {
      const std::optional<DeviceStream>& stream = timeline.lanes[lane].stream;
      if (stream && group.rank >= 0) devices[group.rank].insert(stream->device);
    }
  }
  std::set<std::uint32_t> numbers;
  for (const auto& [rank, of_rank] : devices) {
    if (of_rank.size() > 1) return;
    numbers.insert(*of_rank.begin());
  }
  if (numbers.size() == devices.size()) return;
  for (const Group& group : timeline.groups) {
    for (const std::size_t lane : group.lanes) {
      if (timeline.lanes[lane].stream) timeline.lanes[lane].rank_of_device = group.rank;
    }
  }
}

// The first iterator for which each lane moved a batch.
std::vector<std::optional<Generation>> FirstIterators(const Timeline& timeline) {
  std::vector<std::optional<Generation>> first(timeline.lanes.size());
  for (const BatchStop& stop : timeline.stops) {
    std::optional<Generation>& of_lane = first[stop.span.lane];
    of_lane = std::min(of_lane.value_or(stop.key.generation), stop.key.generation);
  }
  return first;
}

}  // namespace

void TellWorkersApart(Timeline& timeline) {
  const std::vector<std::optional<Generation>> first = FirstIterators(timeline);
  // The workers of a training process by number.
  std::map<std::pair<std::uint32_t, std::int32_t>, std::vector<Group*>> workers;
  for (Group& group : timeline.groups) {
    if (group.kind != GroupKind::kWorker || group.worker_id < 0) continue;
    for (const std::size_t lane : group.lanes) {
      if (!first[lane]) continue;
      group.epoch = std::min(group.epoch.value_or(*first[lane]), *first[lane]);
    }
    const ProcessId consumer = timeline.lanes[group.lanes.front()].consumer;
    if (group.epoch) workers[{consumer.value, group.worker_id}].push_back(&group);
  }
  for (const auto& [number, same] : workers) {
    std::map<int, std::size_t> of_loader;
    for (const Group* group : same) ++of_loader[timeline.epochs.LoaderOf(*group->epoch)];
    for (Group* group : same) {
      group->other_loader = of_loader.size() > 1;
      if (of_loader[timeline.epochs.LoaderOf(*group->epoch)] > 1) group->anew = true;
    }
  }
}

void TellLanesApart(Timeline& timeline) {
  std::vector<Lane>& lanes = timeline.lanes;
  for (Group& group : timeline.groups) {
    std::stable_sort(group.lanes.begin(), group.lanes.end(), [&](std::size_t a, std::size_t b) {
      return lanes[a].stream < lanes[b].stream;
    });
    std::map<std::string_view, int> threads;  // by label
    const auto shows_label = [](const Lane& lane) {
      return !lane.main && !lane.stream && lane.role == LaneRole::kNone && !lane.label.empty();
    };
    for (const std::size_t lane : group.lanes) {
      if (shows_label(lanes[lane])) ++threads[lanes[lane].label];
    }
    for (const std::size_t lane : group.lanes) {
      lanes[lane].alike = shows_label(lanes[lane]) && threads[lanes[lane].label] > 1;
    }
  }
  TellDevicesApart(timeline);
}

std::string GroupName(const Timeline& timeline, const Group& group,
                      const std::vector<std::string>& loaders, Language language) {
  constexpr std::string_view kBetween = " · ";
  const bool ranked =
      timeline.groups.front().rank != timeline.groups.back().rank && group.rank >= 0;
  std::string name(group.name.empty() ? TextOf(Text::kProgram, language) : group.name);
  if (group.kind == GroupKind::kConsumer) {
    name = TextOf(ranked ? Text::kTraining : Text::kTrainingProcess, language);
  } else if (group.kind == GroupKind::kWorker && group.worker_id >= 0) {
    name = Filled(Text::kWorkerN, language, group.worker_id);
    if (group.anew) {
      name += kBetween;
      name += Filled(Text::kEpochN, language, timeline.epochs.NumberOf(*group.epoch));
    }
    const int loader = group.other_loader ? timeline.epochs.LoaderOf(*group.epoch) : -1;
    if (loader >= 0 && static_cast<std::size_t>(loader) < loaders.size()) {
      const std::string& line = loaders[static_cast<std::size_t>(loader)];
      if (!line.empty()) name.append(kBetween).append(line);
    }
  }
  return ranked ? Filled(Text::kOfRank, language, group.rank, name) : name;
}

std::vector<std::string> WithoutFiles(const std::vector<std::string>& loaders) {
  std::vector<std::string> names = loaders;
  std::set<std::string> told;
  for (std::string& name : names) {
    const std::size_t line = name.rfind(':');
    if (line != std::string::npos) name.erase(0, line);
    if (!name.empty() && !told.insert(name).second) return loaders;
  }
  return names;
}

}  // namespace penstock::gui
