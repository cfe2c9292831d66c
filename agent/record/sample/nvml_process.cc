// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/nvml_process.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "agent/record/detach.h"
#include "agent/record/sample/clock.h"
#include "agent/record/sample/nvml_library.h"

namespace penstock::record {
namespace {

constexpr TimeNs kProcessesPeriod{1'000'000'000};
constexpr std::int64_t kCpuShare = 50;  // the process may use a fiftieth of a core
constexpr int kNice = 5;                // added to the collector's niceness

template <std::size_t kSize>
void Fill(char (&to)[kSize], std::string_view text) {
  const std::size_t size = std::min(text.size(), kSize - 1);
  std::memcpy(to, text.data(), size);
  to[size] = '\0';
}

std::int64_t OwnCpu() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void Sleep(TimeNs time) {
  const timespec span{static_cast<time_t>(time.value / 1'000'000'000),
                      static_cast<long>(time.value % 1'000'000'000)};
  nanosleep(&span, nullptr);
}

class Reporter {
 public:
  explicit Reporter(const NvmlChild& child)
      : child_(child), library_([this](const char* name) { Enter(name); }) {}

  void Run() {
    if (const auto opened = library_.Open(); !opened) {
      Status("unavailable: " + opened.error().message);
      return;
    }
    const auto devices = library_.Devices();
    if (!devices) {
      Status("unavailable: " + devices.error().message);
      return;
    }
    devices_ = *devices;
    Describe();
    TimeNs next = MonotonicNow();
    while (true) {
      const std::int64_t before = OwnCpu();
      Sample();
      const TimeNs pause{std::max(child_.period.value, (OwnCpu() - before) * kCpuShare)};
      next = std::max(next + pause, MonotonicNow() + TimeNs{pause.value / 4});
      do {
        Enter("waiting");
        Sleep(std::clamp(next - MonotonicNow(), TimeNs{0}, TimeNs{kNvmlSilence.value / 4}));
        if (getppid() != child_.parent) return;
      } while (MonotonicNow() < next);
    }
  }

 private:
  void Enter(const char* call) {
    child_.progress->call.store(call, std::memory_order_relaxed);
    child_.progress->count.fetch_add(1, std::memory_order_relaxed);
  }

  void Send(const GpuRecord& record) {
    // The collector is gone, so this process ends.
    if (write(child_.fd, &record, sizeof record) != static_cast<ssize_t>(sizeof record)) _exit(0);
  }

  void Status(const std::string& text) {
    GpuRecord record;
    record.kind = GpuRecord::kStatus;
    Fill(record.text, text);
    Send(record);
  }

  void Fact(std::int32_t device, std::string_view key, std::string_view value) {
    GpuRecord record;
    record.kind = GpuRecord::kFact;
    record.device = device;
    Fill(record.key, key);
    Fill(record.text, value);
    Send(record);
  }

  template <class Value>
  void Counter(std::int32_t device, std::string_view key, const std::optional<Value>& value) {
    if (!value) return;
    GpuRecord record;
    record.kind = GpuRecord::kCounter;
    record.device = device;
    record.at = MonotonicNow().value;
    record.value = static_cast<std::int64_t>(*value);
    Fill(record.key, key);
    Send(record);
  }

  void Describe() {
    if (const auto driver = library_.Driver()) Fact(-1, "driver", *driver);
    Fact(-1, "count", std::to_string(devices_.size()));
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const nvml::Device device = devices_[i];
      const auto index = static_cast<std::int32_t>(i);
      if (device == nullptr) {
        Fact(index, "nvml", "the device does not answer");
        continue;
      }
      const auto text = [&](std::string_view key, const std::optional<std::string>& value) {
        if (value) Fact(index, key, *value);
      };
      const auto number = [&](std::string_view key, const auto& value) {
        if (value) Fact(index, key, std::to_string(*value));
      };
      text("model", library_.Name(device));
      text("uuid", library_.Uuid(device));
      text("pci", library_.PciId(device));
      number("minor", library_.Minor(device));
      number("power_limit_milliwatts", library_.PowerLimit(device));
      if (const auto memory = library_.Memory(device)) {
        Fact(index, "memory_bytes", std::to_string(memory->total.value));
      }
      if (const auto mig = library_.Mig(device)) Fact(index, "mig", *mig ? "1" : "0");
      Link(index, "pcie_max", library_.MaxLink(device));
    }
    links_.resize(devices_.size());
    Status("");
  }

  void Link(std::int32_t index, const std::string& key, const std::optional<NvmlLink>& link) {
    if (!link) return;
    Fact(index, key + "_generation", std::to_string(link->generation));
    Fact(index, key + "_width", std::to_string(link->width));
  }

  void Sample() {
    const TimeNs now = MonotonicNow();
    const bool processes = now >= next_processes_;
    if (processes) next_processes_ = now + kProcessesPeriod;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i] != nullptr) SampleDevice(static_cast<std::int32_t>(i), processes);
    }
    // Measures the PCIe rates of only one device at a time, since the two directions together take
    // 40 ms.
    if (devices_.empty()) return;
    turn_ = (turn_ + 1) % devices_.size();
    const nvml::Device device = devices_[turn_];
    if (device == nullptr) return;
    const auto index = static_cast<std::int32_t>(turn_);
    Counter(index, "pcie_rx_bytes_per_s", library_.Pcie(device, nvml::kPcieReceived));
    Counter(index, "pcie_tx_bytes_per_s", library_.Pcie(device, nvml::kPcieSent));
  }

  void SampleDevice(std::int32_t index, bool processes) {
    const auto at = static_cast<std::size_t>(index);
    const nvml::Device device = devices_[at];
    if (const auto use = library_.Utilization(device)) {
      Counter(index, "nvml_utilization_percent", std::optional(use->gpu));
      Counter(index, "nvml_memory_utilization_percent", std::optional(use->memory));
    }
    if (const auto memory = library_.Memory(device)) {
      Counter(index, "memory_used_bytes", std::optional(memory->used.value));
    }
    Counter(index, "power_milliwatts", library_.Power(device));
    Counter(index, "temperature_celsius", library_.Temperature(device));
    Counter(index, "sm_clock_mhz", library_.Clock(device, nvml::kSmClock));
    Counter(index, "memory_clock_mhz", library_.Clock(device, nvml::kMemoryClock));
    Counter(index, "clock_event_reasons", library_.ClockEvents(device));
    if (!processes) return;
    // The link is slower while the device is idle, so a link is recorded only if it is faster than
    // all before.
    if (const auto link = library_.Link(device)) {
      const bool better = link->generation * link->width > links_[at].generation * links_[at].width;
      if (better) Link(index, "pcie", links_[at] = *link);
    }
    const auto found = library_.Processes(device);
    if (!found) return;
    GpuRecord record;
    record.device = index;
    record.at = MonotonicNow().value;
    record.kind = GpuRecord::kProcess;
    for (const NvmlProcess& process : *found) {
      record.value = process.pid;
      record.extra = process.memory ? static_cast<std::int64_t>(process.memory->value) : -1;
      Send(record);
    }
    record.kind = GpuRecord::kListed;
    Send(record);
  }

  const NvmlChild& child_;
  NvmlLibrary library_;
  std::vector<nvml::Device> devices_;
  std::vector<NvmlLink> links_;
  std::size_t turn_ = 0;
  TimeNs next_processes_;
};

}  // namespace

void RunNvmlChild(const NvmlChild& child) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != child.parent) _exit(0);
  prctl(PR_SET_NAME, "penstock-nvml");
  CloseDescriptors(3, static_cast<unsigned>(child.fd) - 1);
  CloseDescriptors(static_cast<unsigned>(child.fd) + 1, ~0u);
  setpriority(PRIO_PROCESS, 0, std::min(kNice + getpriority(PRIO_PROCESS, 0), 19));
  // A crash ends this process even if the recorder was started with these signals ignored. The
  // signals that end a job stay ignored, as in the collector: the command may go on for a while
  // after them.
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
    std::signal(signal, SIG_DFL);
  }
  Reporter(child).Run();
  _exit(0);
}

}  // namespace penstock::record
