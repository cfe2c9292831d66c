// SPDX-License-Identifier: Apache-2.0
#include "traces/event.h"

#include <array>
#include <cstddef>

namespace penstock::traces {
namespace {

// Index = wire value: append only.
constexpr std::array<std::string_view, wire::kStageCount> kStageNames = {
    "none", "read", "decode", "augment", "sample", "collate",  "fetch", "put",
    "get",  "pin",  "wait",   "idle",    "h2d",    "kernel",   "step",  "startup",
    "mark", "sync", "copy",   "call",    "block",  "tokenize",
};

constexpr std::array<std::string_view, 15> kEventNames = {
    "none",        "index_sent",      "index_received", "batch_put",
    "batch_got",   "batch_delivered", "next_entered",   "epoch_start",
    "epoch_end",   "major_faults",    "worker_start",   "worker_end",
    "queue_depth", "digest",          "probe",
};

}  // namespace

std::string_view StageName(StageId stage) {
  const auto index = static_cast<std::size_t>(stage);
  return index < kStageNames.size() ? kStageNames[index] : "unknown";
}

std::string_view EventName(EventType type) {
  const auto index = static_cast<std::size_t>(type);
  return index < kEventNames.size() ? kEventNames[index] : "unknown";
}

std::string_view RoleName(wire::ProcessRole role) {
  switch (role) {
    case wire::kRoleConsumer:
      return "consumer";
    case wire::kRoleWorker:
      return "worker";
    case wire::kRoleOther:
      break;
  }
  return "other";
}

}  // namespace penstock::traces
