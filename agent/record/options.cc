// SPDX-License-Identifier: Apache-2.0
#include "agent/record/options.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "agent/record/overrides.h"
#include "agent/record/sample/proc_fs.h"
#include "traces/base/command_line.h"

namespace penstock::record {
namespace {

constexpr std::uint64_t kMinBuffer = 1u << 20;
constexpr TimeNs kMinMemoryPeriod{50'000'000};
constexpr std::uint64_t kMaxBuffer = std::uint64_t{16} << 30;

constexpr TimeNs kShortestKeep{1'000'000'000};
constexpr TimeNs kShortestProbe{100'000'000};
constexpr TimeNs kLongestProbe{600'000'000'000};
constexpr TimeNs kProbeWindow{5'000'000'000};

// Values of options, as they stand on the command line.
struct Texts {
  std::string buffer;
  std::string overrides;
  std::string batches;
  std::string keep;
  std::string memory = "auto";
  bool probe = false;
  std::string probe_window;
};

// A non-negative decimal number and the unit after it.
struct Amount {
  double value = 0;
  std::string_view unit;
};

std::optional<Amount> ParseAmount(std::string_view text) {
  const std::string copy(text);
  if (copy.empty() || (copy[0] != '.' && (copy[0] < '0' || copy[0] > '9'))) return std::nullopt;
  const auto digits = copy.find_first_not_of("0123456789.");
  const std::string number = copy.substr(0, digits);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (end != number.c_str() + number.size()) return std::nullopt;
  return Amount{value, digits == std::string::npos ? std::string_view{} : text.substr(digits)};
}

// The index where the command begins: after "--", or at the first word that belongs to no option.
std::size_t CommandStart(const std::vector<std::string>& args) {
  static constexpr std::array<std::string_view, 12> kWithValue = {
      "-o",         "--output", "--gpu",    "--for",  "--keep",  "--batches",
      "--override", "--buffer", "--memory", "--data", "--stage", "--probe-window"};
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--" || args[i].empty() || args[i][0] != '-') return i;
    if (std::find(kWithValue.begin(), kWithValue.end(), args[i]) != kWithValue.end()) ++i;
  }
  return args.size();
}

// The cores that this process may use. Empty if the cores are not known, for example on a machine
// with more than 1024 cores; then affinity= may name any core.
std::vector<int> OwnCores() {
  std::vector<int> cores;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cores;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mask)) cores.push_back(static_cast<int>(core));
  }
  return cores;
}

// Errors: kUsage.
Result<void> CheckKeep(const std::string& text, Options& options) {
  const auto time = ParseDuration(text);
  if (!time || *time < kShortestKeep) {
    return Fail(ErrorKind::kUsage,
                fmt::format("--keep: '{}' is not a time of 1s or more: give 60s or 5m", text));
  }
  options.keep = *time;
  return {};
}

// Errors: kUsage.
Result<void> CheckProbe(const Texts& texts, Options& options) {
  if (texts.probe) options.probe = kProbeWindow;
  if (texts.probe_window.empty()) return {};
  const auto time = ParseDuration(texts.probe_window);
  if (!time || *time < kShortestProbe || *time > kLongestProbe) {
    return Fail(ErrorKind::kUsage,
                fmt::format("--probe-window: '{}' is not a time from 100ms to 10m: give 5s",
                            texts.probe_window));
  }
  options.probe = *time;
  return {};
}

// The script or module that Python runs; nullopt if Python runs the text of -c or standard input.
// Options of one letter may be joined to one word, as in -uc. Their value may follow without a
// space.
std::optional<std::filesystem::path> PythonProgram(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "-") return std::nullopt;
    if (word == "--check-hash-based-pycs") ++i;  // the only long option with a value
    if (word.empty() || word.rfind("--", 0) == 0) continue;
    if (word[0] != '-') return std::filesystem::path(word).filename();
    const std::size_t option = word.find_first_of("cmWX", 1);
    if (option == std::string::npos) continue;
    if (word[option] == 'c') return std::nullopt;
    std::string value = word.substr(option + 1);
    if (value.empty() && ++i < command.size()) value = command[i];
    if (word[option] != 'm') continue;
    if (value.empty()) return std::nullopt;
    return value.substr(value.rfind('.') + 1);
  }
  return std::nullopt;
}

// Checks what CLI11 has only stored as text.
// Errors: kUsage.
Result<void> Check(Options& options, const Texts& texts) {
  const std::string& buffer = texts.buffer;
  const std::string& overrides = texts.overrides;
  const std::string& batches = texts.batches;
  const std::string& keep = texts.keep;
  const std::string& memory = texts.memory;
  if (auto checked = CheckProbe(texts, options); !checked) return checked;
  if (!options.limit_time_text.empty()) {
    const auto time = ParseDuration(options.limit_time_text);
    if (!time || time->value <= 0) {
      return Fail(ErrorKind::kUsage, fmt::format("--for: '{}' is not a time: give 500ms, 60s or 5m",
                                                 options.limit_time_text));
    }
    options.limit_time = *time;
  }
  if (!keep.empty()) {
    if (auto checked = CheckKeep(keep, options); !checked) return checked;
  }
  if (!batches.empty()) {
    options.limit_batches = ParseNumber(batches).value_or(0);
    if (options.limit_batches == 0) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--batches: '{}' is not a number of 1 or more", batches));
    }
  }
  if (!buffer.empty()) {
    const auto size = ParseSize(buffer);
    if (!size || size->value < kMinBuffer || size->value > kMaxBuffer) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--buffer: '{}' is not a size from 1M to 16G: give 64M", buffer));
    }
    options.buffer = *size;
    options.buffer_given = true;
  }
  if (memory == "off") {
    options.memory = false;
  } else if (memory != "auto") {
    const auto every = ParseDuration(memory);
    if (!every || every->value < kMinMemoryPeriod.value) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--memory: '{}' is not auto, off or a time of 50ms or more", memory));
    }
    options.memory_every = *every;
  }
  if (!overrides.empty()) {
    auto checked = ParseOverrides(overrides, OwnCores());
    PENSTOCK_TRY(checked);
    options.overrides = std::move(*checked);
    if (ValueOf(options.overrides, "warm") == "1" && options.data.empty()) {
      return Fail(ErrorKind::kUsage,
                  "--override: warm=1 needs --data DIR: the data set to read beforehand");
    }
  }
  static constexpr std::array<std::string_view, 7> kGpu = {"auto",  "off",   "nvtx", "nvml",
                                                           "calls", "cupti", "yield"};
  if (std::find(kGpu.begin(), kGpu.end(), options.gpu) == kGpu.end()) {
    return Fail(ErrorKind::kUsage,
                fmt::format("--gpu: '{}' is none of auto, off, nvtx, nvml, calls, cupti, yield",
                            options.gpu));
  }
  if (options.stop && options.limit_time.value == 0 && options.limit_batches == 0) {
    return Fail(ErrorKind::kUsage, "--stop needs --for TIME or --batches N");
  }
  if (options.command.empty()) {
    return Fail(ErrorKind::kUsage, "no command: penstock-record [options] -- CMD [args]");
  }
  options.output_given = !options.output.empty();
  if (!options.output_given) options.output = DefaultOutput(options.command);
  return {};
}

}  // namespace

std::optional<TimeNs> ParseDuration(std::string_view text) {
  const auto amount = ParseAmount(text);
  if (!amount) return std::nullopt;
  double unit = 0;
  if (amount->unit.empty() || amount->unit == "s") unit = 1e9;
  if (amount->unit == "ms") unit = 1e6;
  if (amount->unit == "m" || amount->unit == "min") unit = 60e9;
  if (amount->unit == "h") unit = 3600e9;
  if (unit == 0 || amount->value * unit > 9e18) return std::nullopt;
  return TimeNs{static_cast<std::int64_t>(amount->value * unit)};
}

std::optional<Bytes> ParseSize(std::string_view text) {
  const auto amount = ParseAmount(text);
  if (!amount) return std::nullopt;
  std::string_view unit = amount->unit;
  double factor = 1;
  if (!unit.empty()) {
    switch (unit.front() & ~0x20) {
      case 'K':
        factor = 1024.0;
        break;
      case 'M':
        factor = 1024.0 * 1024;
        break;
      case 'G':
        factor = 1024.0 * 1024 * 1024;
        break;
      default:
        return std::nullopt;
    }
    unit.remove_prefix(1);
    if (!unit.empty() && unit != "B" && unit != "iB") return std::nullopt;
  }
  if (amount->value * factor > 1e18) return std::nullopt;
  return Bytes{static_cast<std::uint64_t>(amount->value * factor)};
}

std::filesystem::path DefaultOutput(const std::vector<std::string>& command) {
  std::filesystem::path name = std::filesystem::path(command.front()).filename();
  const std::string program = name.string();
  if (program.rfind("python", 0) == 0 || program.rfind("pypy", 0) == 0) {
    name = PythonProgram(command).value_or(name);
  }
  if (name.extension() == ".py" || name.extension() == ".sh") name = name.stem();
  if (name.empty() || name == "." || name == "..") name = "trace";
  return name.string() + ".penstock";
}

Result<Parsed> ParseOptions(const std::vector<std::string>& args) {
  Parsed parsed;
  Options& options = parsed.options;
  std::string output;
  Texts texts;
  traces::CommandLine line{
      "Runs CMD under the Penstock agent and writes a trace of its data path.\n"
      "The exit status is that of CMD.",
      "penstock-record"};
  line.AddVersion(line.name());
  line.Add("-o,--output", output,
           "trace to write (default: CMD.penstock in this folder); %r is the rank, %h the host; "
           "without them, traces of what mpirun or srun starts end in .rankN");
  line.AddFlag("--force", options.force,
               "replace a trace of that name when this one is complete; without it, the new trace "
               "gets a name with time and process (PENSTOCK_FORCE=1 does the same)");
  line.AddFlag("--no-command", options.no_command,
               "record no command lines; without this option they are recorded, except what looks "
               "like a password, token or key");
  line.Add("--gpu", options.gpu,
           "what to record of the GPU; each level adds to the one before: off, nvtx (the program's "
           "ranges), nvml (utilisation), calls (CUDA calls), cupti (copies and kernels). auto: as "
           "much as possible; yield: all but CUPTI, which only one tool can use, so that the "
           "program's profiler keeps it");
  line.Add("--for", options.limit_time_text, "stop recording after this time: 500ms, 60s, 5m");
  line.Add("--keep", texts.keep,
           "keep only the last part of the recording, 60s or 5m: for runs of hours");
  line.Add("--batches", texts.batches, "stop recording after so many batches");
  line.AddFlag("--stop", options.stop, "with --for or --batches: also interrupt CMD then");
  line.AddFlag("--fixed-batch", options.fixed_batch,
               "repeat one cached batch for ever: shows how fast the run is if data costs nothing");
  line.Add(
      "--override", texts.overrides,
      "changes from outside, for this run only. DataLoader: workers=8,prefetch=4,batch=64,pin=1,"
      "persistent=1,in_order=0,start_method=spawn; at=train.py:88 changes only the loader that "
      "this "
      "line makes. Threads: threads=1 (or omp=, mkl=, "
      "openblas=, numexpr= apart), cv2_threads=0. Memory: malloc=keep (or jemalloc, tcmalloc), "
      "mmap_threshold=32M, trim_threshold=256M, pillow_blocks=16. Workers: affinity=0-3+8, "
      "nice=5. Data read into the page cache first: warm=1, with --data");
  line.Add(
      "--stage", options.stage,
      "copy the data files that the run reads to this folder (tmpfs, a local disk) and let later "
      "reads go to the copies; removed after the run; files opened for writing are not copied");
  line.AddFlag("--probe", texts.probe,
               "experiments inside the run (PyTorch's DataLoader): in 30 windows of 5s everything "
               "except one stage takes twice as long; the report then says what the run would gain "
               "if that stage took half its time. Results stay the same");
  line.Add("--probe-window", texts.probe_window,
           "the same with windows of this length: 2s, or 20s if a batch takes seconds");
  line.Add("--buffer", texts.buffer, "memory between the program and the collector (default 64M)");
  line.Add("--memory", texts.memory,
           "how often to measure the private and shared memory of each process: auto (costs "
           "a thousandth of the cores' time at most), off, or a time such as 500ms");
  line.Add("--data", options.data, "directory of the dataset, if it is not recognised");
  line.AddFlag("--quiet", options.quiet, "no progress, no verdict");

  const std::size_t start = CommandStart(args);
  const std::vector<std::string> own(args.begin(),
                                     args.begin() + static_cast<std::ptrdiff_t>(start));
  const std::size_t command = start < args.size() && args[start] == "--" ? start + 1 : start;
  options.command.assign(args.begin() + static_cast<std::ptrdiff_t>(command), args.end());
  auto print = line.Read(own);
  if (!print) {
    std::string& message = print.error().message;
    std::replace(message.begin(), message.end(), '\n', ' ');
    return Fail(ErrorKind::kUsage, message + " (see --help)");
  }
  if (*print) {
    parsed.print = std::move(**print);
    const auto usage = parsed.print->find("[OPTIONS]");
    if (usage != std::string::npos) parsed.print->replace(usage, 9, "[OPTIONS] -- CMD [args]");
    return parsed;
  }
  options.output = output;
  PENSTOCK_TRY(Check(options, texts));
  return parsed;
}

}  // namespace penstock::record
