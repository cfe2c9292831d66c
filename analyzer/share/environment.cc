// SPDX-License-Identifier: Apache-2.0
#include "analyzer/share/environment.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/report/json_writer.h"
#include "traces/base/small_file.h"
#include "traces/host_facts.h"
#include "traces/names.h"
#include "traces/public_facts.h"

namespace penstock::analyzer {
namespace {

using traces::Facts;

bool IsOfMachine(std::string_view key) {
  constexpr std::array<std::string_view, 8> kKeys = {
      "kernel",       "cpu.model",           "cpu.cores", "cpu.affinity",
      "memory.total", "cgroup.memory_limit", "shm.size",  "cgroup.cpu_quota"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// Whether `key` is one of these facts of a run, or of a part of a merged run: "part.1.kernel".
bool IsOfRun(std::string_view key) {
  constexpr std::array<std::string_view, 7> kKeys = {
      "penstock.version", "record.mode", "dataset.storage", "gpu.model",
      "gpu.level",        "gpu.nvml",    "allocator"};
  key = traces::WithoutPart(key);
  if (const auto gpu = traces::SplitGpuName(key)) return gpu->rest == "model";
  return IsOfMachine(key) || std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end() ||
         traces::IsVersionOfLibrary(key);
}

// PRETTY_NAME="Debian GNU/Linux 12 (bookworm)". Source: os-release(5).
std::string Distribution() {
  constexpr std::string_view kName = "PRETTY_NAME=";
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto text = ReadFile(path);
    if (!text) continue;
    for (std::string_view line : SplitLines(*text)) {
      if (!line.starts_with(kName)) continue;
      line = Trimmed(line.substr(kName.size()));
      const bool quoted = line.size() >= 2 && line.front() == '"' && line.back() == '"';
      return std::string(quoted ? line.substr(1, line.size() - 2) : line);
    }
  }
  return "unknown";
}

void Write(JsonWriter& json, std::string_view key, const Facts& facts) {
  json.Key(key).BeginObject();
  for (const auto& [name, value] : facts) json.Field(name, value);
  json.EndObject();
}

}  // namespace

std::map<std::string, std::string> RecordedEnvironment(const traces::Trace& trace) {
  Facts facts;
  for (const auto& [key, value] : trace.facts()) {
    if (IsOfRun(key)) facts[key] = value;
  }
  for (const traces::ProcessInfo& process : trace.processes()) {
    for (const auto& [key, value] : process.facts) {
      if (IsOfRun(key)) facts.emplace(key, value);
    }
  }
  return facts;
}

std::map<std::string, std::string> OwnEnvironment() {
  Facts facts;
  for (const auto& [key, value] : traces::HostFacts()) {
    if (IsOfMachine(key)) facts[key] = value;
  }
  facts["distribution"] = Distribution();
  return facts;
}

std::string EnvironmentJson(const traces::Trace& trace, std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Field("schema", "penstock.environment/1");
  json.Field("penstock", version);
  Write(json, "recorded", RecordedEnvironment(trace));
  Write(json, "this_machine", OwnEnvironment());
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace penstock::analyzer
