// SPDX-License-Identifier: Apache-2.0
#include "traces/public_facts.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "traces/names.h"
#include "traces/public_names.h"
#include "traces/text_shapes.h"

namespace penstock::traces {
namespace {

using Kinds = std::unordered_map<std::string_view, FactKind>;

void AddAll(Kinds& kinds, std::string_view keys, FactKind kind) {
  for (const std::string_view key : SplitAt(keys, ' ')) kinds[key] = kind;
}

Kinds Plain() {
  Kinds kinds;
  AddAll(kinds,
         "kernel record.root_pid clock.namespace clock.offset_ns merged.parts cpu.model "
         "cpu.cores cpu.affinity gpu.model gpu.nvml.samples gpu.driver gpu.count host.fault_ns "
         "host.page_bytes cgroup.cpu_quota cgroup.memory_limit memory.total shm.size "
         "dataset.storage dataset.bytes penstock.version record.mode record.clock "
         "record.buffer_bytes record.gpu record.start_realtime_ns record.keep_ns "
         "record.disk_full_ns record.probe_ns record.fixed_batch record.walks "
         "record.walks_cpu_ns record.bytes_lost duration_ns exit.status trace.objects "
         "stage.files stage.bytes stage.used warm.bytes warm.files warm.full begin_ns align.by "
         "align.offset_ns align.drift_ppb align.uncertainty_ns align.bound_ns align.iterations "
         "align.wall_difference_ns rank.launcher rank.local_size rank.node rank.rank "
         "rank.world_size part pid process.affinity agent.threads allocator limit.open_files "
         "gpu.level gpu.clock gpu.cupti_copies gpu.records gpu.calls gpu.dropped gpu.unstamped "
         "gpu.unknown gpu.unpaired gpu.refused_buffers gpu.foreign_buffers gpu.lost_buffers "
         "gpu.cupti_cost_ns functions.units functions.spent_ns functions.of_ns functions.method "
         "functions.event_ns torch.sharing_strategy import.format import.schema import.world_size",
         FactKind::kPublic);
  AddAll(kinds, "record.ring record.run", FactKind::kOwn);
  AddAll(kinds, "host", FactKind::kHost);
  AddAll(kinds, "boot_id", FactKind::kId);
  AddAll(kinds, "dataset.root record.stage", FactKind::kFolder);
  AddAll(kinds,
         "gpu.reason gpu.nvml probe.off functions.off stage.trouble record.stopped record.launcher",
         FactKind::kSentence);
  AddAll(kinds, "gpu.cupti", FactKind::kVersionAndPath);
  AddAll(kinds, "command file gpu.cuda_tool gpu.nvtx_tool override record.override",
         FactKind::kWords);
  return kinds;
}

Kinds OfLoader() {
  Kinds kinds;
  AddAll(kinds,
         "batch_size prefetch_factor num_workers dataset_len epoch_batches batch_length "
         "batch_tensors batch_types sample_memory pin_memory pin_memory_effective "
         "persistent_workers in_order "
         "drop_last "
         "start_method dataset_kind made_anew fixed_batch",
         FactKind::kPublic);
  AddAll(kinds, "kind package made_at called_from", FactKind::kWords);
  AddAll(kinds, "dataset_type", FactKind::kName);
  AddAll(kinds, "dataset_root", FactKind::kFolder);
  return kinds;
}

Kinds OfDevice() {
  Kinds kinds;
  AddAll(kinds,
         "used processes model pci minor memory_bytes power_limit_milliwatts mig pcie_generation "
         "pcie_width pcie_max_generation pcie_max_width",
         FactKind::kPublic);
  AddAll(kinds, "uuid", FactKind::kId);
  AddAll(kinds, "nvml", FactKind::kSentence);
  return kinds;
}

Kinds OfOverride() {
  Kinds kinds;
  AddAll(kinds,
         "workers prefetch batch pin persistent in_order at start_method threads omp mkl openblas "
         "numexpr cv2_threads malloc mmap_threshold trim_threshold pillow_blocks affinity nice "
         "warm",
         FactKind::kWords);
  return kinds;
}

using Names = std::unordered_set<std::string_view>;

Names NamesIn(std::string_view list) {
  const std::vector<std::string_view> names = SplitAt(list, ' ');
  return {names.begin(), names.end()};
}

FactKind Find(const Kinds& kinds, std::string_view key) {
  const auto found = kinds.find(key);
  return found == kinds.end() ? FactKind::kUnknown : found->second;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDecimal);
}

// What follows "beginning" in `text`; empty if it does not begin so.
std::string_view After(std::string_view text, std::string_view beginning) {
  return text.starts_with(beginning) ? text.substr(beginning.size()) : std::string_view();
}

bool IsLibrary(std::string_view name) {
  return name == "python" || IsPublicLibrary(name);
}

}  // namespace

std::string_view WithoutPart(std::string_view key) {
  const std::string_view rest = After(key, "part.");
  const std::size_t dot = rest.find('.');
  const bool part = dot != std::string_view::npos && IsDigits(rest.substr(0, dot));
  return part ? rest.substr(dot + 1) : key;
}

FactKind KindOfFact(std::string_view key) {
  static const Kinds plain = Plain();
  static const Kinds loader = OfLoader();
  static const Kinds device = OfDevice();
  static const Kinds overrides = OfOverride();
  if (const FactKind kind = Find(plain, key); kind != FactKind::kUnknown) return kind;
  if (const auto gpu = SplitGpuName(key)) return Find(device, gpu->rest);
  if (const std::string_view rest = After(key, "loader."); !rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    if (!IsDigits(rest.substr(0, dot)) || dot == rest.size()) return FactKind::kUnknown;
    return Find(loader, rest.substr(dot + 1));
  }
  if (const std::string_view rest = After(key, "epoch."); !rest.empty()) {
    const std::string_view number = rest.substr(0, rest.find('.'));
    const std::string_view end = rest.substr(number.size());
    const bool known = IsDigits(number) && (end.empty() || end == ".shards");
    return known ? FactKind::kPublic : FactKind::kUnknown;
  }
  if (const std::string_view lost = After(key, "override.lost."); !lost.empty()) {
    return Find(overrides, lost);
  }
  if (const std::string_view rest = After(key, "override."); !rest.empty()) {
    return Find(overrides, rest);
  }
  return IsVersionOfLibrary(key) ? FactKind::kPublic : FactKind::kUnknown;
}

bool IsVersionOfLibrary(std::string_view key) {
  constexpr std::string_view kEnd = ".version";
  return IsLibrary(After(key, "version.")) ||
         (key.ends_with(kEnd) && IsLibrary(key.substr(0, key.size() - kEnd.size())));
}

bool IsOurCounter(std::string_view name) {
  static const Names plain = NamesIn(
      "cpu_ns children_cpu_ns run_delay_ns rss_bytes rss_anon_bytes disk_read_bytes rchar_bytes "
      "minor_faults major_faults threads shm_used_bytes memory_available_bytes "
      "cgroup_memory_bytes pss_bytes uss_bytes private_dirty_bytes anonymous_bytes "
      "pss_anon_bytes swap_bytes video.frames_decoded video.frames_used http.connect_ns "
      "http.first_byte_ns");
  static const Names device = NamesIn(
      "nvml_utilization_percent nvml_memory_utilization_percent memory_used_bytes "
      "power_milliwatts temperature_celsius sm_clock_mhz memory_clock_mhz clock_event_reasons "
      "pcie_rx_bytes_per_s pcie_tx_bytes_per_s process_memory_bytes");
  const auto gpu = SplitGpuName(name);
  return gpu ? device.count(gpu->rest) != 0 : plain.count(name) != 0;
}

}  // namespace penstock::traces
