// SPDX-License-Identifier: Apache-2.0
//
// penstock-sweep: measures the reference loader, or any training program, over a grid of settings.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/sweep/ablation.h"
#include "benchmarks/sweep/driver.h"
#include "benchmarks/sweep/live_view.h"
#include "benchmarks/sweep/options.h"
#include "benchmarks/sweep/table.h"
#include "cuda/device.h"
#include "loader/set/interruption.h"
#include "traces/base/file.h"

namespace penstock::sweep {
namespace {

namespace fs = std::filesystem;

int Complain(const Error& error) {
  fmt::print(stderr, "penstock-sweep: {}\n", error.message);
  return ExitStatus(error.kind);
}

Result<void> WriteFile(const fs::path& path, const std::string& text) {
  if (path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
      return Fail(ErrorKind::kOutput, "standard output cannot be written");
    }
    return {};
  }
  return WriteWhole(path, std::as_bytes(std::span(text.data(), text.size())));
}

// Checks that the result can be written, before hours of measuring. Errors: kOutput.
Result<void> CheckWritable(const fs::path& path) {
  if (path.empty() || path == "-") return {};
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  }
  if (fs::is_directory(path)) {
    return Fail(ErrorKind::kOutput, fmt::format("{}: is a folder", path.string()));
  }
  return {};
}

// Errors: kUsage for a grid that is too large, kEnvironment for a program that is missing.
Result<SweepResult> Prepare(const Options& options) {
  SweepResult result;
  result.repeats = options.repeats;
  result.tie = options.tie;
  result.axes = options.axes;
  result.threads = options.threads;
  if (options.ablate) {
    result.mode = "ablation";
    result.cells = AblationCells(cuda::DeviceCount() > 0);
  } else {
    Result<std::vector<Cell>> grid = MakeGrid(options.axes);
    PENSTOCK_TRY(grid);
    for (Cell& cell : *grid) {
      CellResult measured;
      measured.cell = std::move(cell);
      result.cells.push_back(std::move(measured));
    }
  }
  if (!options.command.empty()) {
    result.mode = "command";
    result.subject = options.command;
  } else {
    result.subject = {"penstock-load", options.source};
    result.subject.insert(result.subject.end(), options.fixed.begin(), options.fixed.end());
  }
  return result;
}

Result<std::unique_ptr<Runner>> MakeRunner(const Options& options, const SweepResult& result,
                                           const sigset_t& mask) {
  std::error_code error;
  const fs::path folder = options.programs.empty()
                              ? fs::read_symlink("/proc/self/exe", error).parent_path()
                              : fs::absolute(options.programs, error);
  const bool trains = !options.command.empty();
  for (const char* name : {"penstock-load", "penstock-record", "penstock"}) {
    const bool needed = (std::strcmp(name, "penstock-load") == 0) != trains;
    if (needed && ::access((folder / name).c_str(), X_OK) != 0) {
      return Fail(ErrorKind::kEnvironment,
                  fmt::format("{}: {}; give its folder with --programs", (folder / name).string(),
                              std::strerror(errno)));
    }
  }
  ProcessLimits limits;
  limits.timeout_s = options.timeout_s;
  limits.signal_mask = mask;
  if (trains) {
    CommandOptions command;
    command.record = folder / "penstock-record";
    command.penstock = folder / "penstock";
    command.overrides = options.overrides;
    command.pattern = options.pattern;
    command.keep = options.keep;
    command.command = options.command;
    return std::make_unique<CommandRunner>(std::move(command), result.axes, limits);
  }
  std::vector<std::string> words = {(folder / "penstock-load").string(), options.source};
  if (options.ablate) {
    words.insert(words.end(), {"--workers", std::to_string(options.threads)});
  }
  words.insert(words.end(), options.fixed.begin(), options.fixed.end());
  return std::make_unique<LoaderRunner>(std::move(words), result.axes, limits);
}

bool WantsColour(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(fd) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

// Returns the exit status: 0, 3 if nothing could be measured or written, 4 if the loader's input
// cannot be read, 130 after an interruption.
int Finish(const Options& options, SweepResult& result, bool own_format) {
  if (!result.interrupted && result.mode != "ablation") {
    // Removes the cells that --benchmark_filter left out.
    std::erase_if(result.cells,
                  [](const CellResult& cell) { return cell.state == CellState::kPending; });
  }
  const bool table_on_stderr = options.json == "-" || options.csv == "-" || own_format;
  const TableStyle style{WantsColour(table_on_stderr ? STDERR_FILENO : STDOUT_FILENO)};
  const std::string matrix = RenderMatrix(result, style);
  fmt::print(table_on_stderr ? stderr : stdout, "{}\n{}{}", RenderTable(result, style), matrix,
             RenderVerdict(result, style));
  Result<void> written;
  if (!options.json.empty()) written = WriteFile(options.json, ToJson(result));
  if (written && !options.csv.empty()) written = WriteFile(options.csv, ToCsv(result));
  if (!written) return Complain(written.error());
  if (result.interrupted) return 130;
  const CellResult* failed = nullptr;
  for (const CellResult& cell : result.cells) {
    if (!cell.runs.empty()) return 0;
    if (cell.state == CellState::kFailed && failed == nullptr) failed = &cell;
  }
  // If penstock-load failed, the error says which kind of failure it was. For a command this is not
  // known.
  const bool source = failed != nullptr && result.mode != "command";
  return Complain({source ? failed->kind : ErrorKind::kEnvironment,
                   fmt::format("no configuration could be measured: {}",
                               failed == nullptr ? "there is none" : failed->error)});
}

// Executes penstock-load, which measures devices, in place of this program. Returns only if the
// program cannot be executed.
int MeasureDevice(const Options& options) {
  std::error_code error;
  const fs::path folder = options.programs.empty()
                              ? fs::read_symlink("/proc/self/exe", error).parent_path()
                              : fs::absolute(options.programs, error);
  std::vector<std::string> words = {(folder / "penstock-load").string(), "device-costs", "-o",
                                    options.device_costs.string()};
  if (!options.source.empty()) words.push_back(options.source);
  words.insert(words.end(), options.fixed.begin(), options.fixed.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  return Complain({ErrorKind::kEnvironment, fmt::format("{}: {}; give its folder with --programs",
                                                        words[0], std::strerror(errno))});
}

int Main(const std::vector<std::string>& arguments) {
  const Result<Options> options = ParseOptions(arguments);
  if (!options) return Complain(options.error());
  if (options->print) {
    fmt::print("{}", *options->print);
    return 0;
  }
  if (!options->device_costs.empty()) return MeasureDevice(*options);
  Result<SweepResult> result = Prepare(*options);
  if (!result) return Complain(result.error());
  for (const fs::path* path : {&options->json, &options->csv}) {
    if (Result<void> writable = CheckWritable(*path); !writable) return Complain(writable.error());
  }
  if (!options->keep.empty()) {
    std::error_code error;
    fs::create_directories(options->keep, error);
    if (error) {
      return Complain(
          {ErrorKind::kOutput, fmt::format("{}: {}", options->keep.string(), error.message())});
    }
  }
  const loader::Interruption interruption;
  const auto runner = MakeRunner(*options, *result, interruption.former_mask());
  if (!runner) return Complain(runner.error());
  // While Google Benchmark prints, we print nothing between its lines.
  const bool theirs = std::any_of(options->benchmark_flags.begin(), options->benchmark_flags.end(),
                                  [](const std::string& flag) {
                                    return flag.rfind("--benchmark_format", 0) == 0 ||
                                           flag.rfind("--benchmark_list", 0) == 0;
                                  });
  const int fd = theirs ? -1 : options->json == "-" ? STDERR_FILENO : STDOUT_FILENO;
  LiveView view(*result, result->cells.size() * options->repeats, fd);
  Session* self = nullptr;
  Session session(*result, **runner, interruption.token(), [&] { view.Show(self->runs_done()); });
  self = &session;
  const DriverOptions driver{options->repeats, options->warmup, options->benchmark_flags};
  if (!theirs) view.Show(0);
  const Result<Driven> driven = Drive(*result, session, driver);
  view.Clear();
  result->interrupted = interruption.happened();
  if (!driven && !result->interrupted) return Complain(driven.error());
  if (driven && driven->listed) return 0;
  return Finish(*options, *result, driven && driven->own_format);
}

}  // namespace
}  // namespace penstock::sweep

int main(int argc, char** argv) {
  return penstock::sweep::Main({argv + 1, argv + argc});
}
