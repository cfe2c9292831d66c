// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/runner.h"

#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

namespace penstock::sweep {
namespace {

// One line that says how a program ended and what it printed last. If we ended the program because
// its time was up, the last output is not the reason and is left out.
std::string Story(const std::string& program, const Finished& finished) {
  std::string said;
  if (!finished.timed_out) said = LastLine(finished.err.empty() ? finished.out : finished.err);
  return fmt::format("{}: {}{}{}", std::filesystem::path(program).filename().string(),
                     EndOf(finished), said.empty() ? "" : ": ", said);
}

Result<double> Number(const simdjson::dom::element& object, const char* pointer) {
  double value = 0;
  if (object.at_pointer(pointer).get(value) != simdjson::SUCCESS) {
    return Fail(ErrorKind::kInput, fmt::format("no {} in its JSON", pointer + 1));
  }
  return value;
}

// If one of our own programs ends with status 2 or 3, the next run would end in the same way.
ErrorKind KindOf(const Finished& finished) {
  if (!WIFEXITED(finished.status)) return ErrorKind::kInput;
  switch (WEXITSTATUS(finished.status)) {
    case 2:
      return ErrorKind::kUsage;
    case 3:
      return ErrorKind::kEnvironment;
    default:
      return ErrorKind::kInput;
  }
}

}  // namespace

LoaderRunner::LoaderRunner(std::vector<std::string> words, std::vector<Axis> axes,
                           ProcessLimits limits)
    : words_(std::move(words)), axes_(std::move(axes)), limits_(limits) {}

Result<Measurement> LoaderRunner::Run(const Cell& cell, const std::stop_token& stop) {
  std::vector<std::string> argv = words_;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if (cell.values[a] == kAny) continue;
    argv.push_back("--" + axes_[a].name);
    argv.push_back(cell.values[a]);
  }
  argv.insert(argv.end(), cell.options.begin(), cell.options.end());
  argv.emplace_back("--json");
  const Result<Finished> finished = RunProcess(argv, limits_, stop);
  PENSTOCK_TRY(finished);
  if (!EndOf(*finished).empty()) return Fail(KindOf(*finished), Story(argv[0], *finished));
  simdjson::dom::parser parser;
  simdjson::dom::element object;
  if (parser.parse(finished->out).get(object) != simdjson::SUCCESS) {
    return Fail(ErrorKind::kInput, "penstock-load: what it printed is not JSON");
  }
  const Result<double> rate = Number(object, "/samples_per_s");
  if (!rate) return Fail(ErrorKind::kInput, "penstock-load: " + rate.error().message);
  Measurement measurement;
  // The rate without the start of the threads and the first batch, if the report has it.
  const double steady = Number(object, "/steady_samples_per_s").value_or(0);
  measurement.samples_per_s = steady > 0 ? steady : *rate;
  measurement.wall_s = finished->wall_s;
  measurement.first_batch_s = Number(object, "/first_batch_s").value_or(-1);
  return measurement;
}

CommandRunner::CommandRunner(CommandOptions options, std::vector<Axis> axes, ProcessLimits limits)
    : options_(std::move(options)), axes_(std::move(axes)), limits_(limits) {}

CommandRunner::~CommandRunner() {
  std::error_code ignored;
  if (!scratch_.empty()) std::filesystem::remove_all(scratch_, ignored);
}

Result<Measurement> CommandRunner::Run(const Cell& cell, const std::stop_token& stop) {
  if (scratch_.empty()) {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "penstock-sweep-XXXXXX");
    if (error || ::mkdtemp(name.data()) == nullptr) {
      return Fail(ErrorKind::kEnvironment, name + ": cannot be made; set TMPDIR");
    }
    scratch_ = name;
  }
  ++runs_;
  const std::filesystem::path trace =
      (options_.keep.empty() ? scratch_ : options_.keep) / fmt::format("run-{:04}.penstock", runs_);
  std::string overrides = options_.overrides;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if (cell.values[a] == kAny) continue;
    overrides +=
        fmt::format("{}{}={}", overrides.empty() ? "" : ",", axes_[a].name, cell.values[a]);
  }
  std::vector<std::string> argv = {options_.record.string(), "--force", "-o", trace.string(),
                                   "--quiet"};
  if (!overrides.empty()) {
    argv.emplace_back("--override");
    argv.push_back(overrides);
  }
  argv.emplace_back("--");
  argv.insert(argv.end(), options_.command.begin(), options_.command.end());
  const Result<Finished> finished = RunProcess(argv, limits_, stop);
  PENSTOCK_TRY(finished);
  if (!EndOf(*finished).empty()) {
    // penstock-record ends with the command's status. As in a shell, 127 and 126 mean that the
    // command cannot be run.
    const int status = WIFEXITED(finished->status) ? WEXITSTATUS(finished->status) : 0;
    const bool never = status == 127 || status == 126;
    return Fail(never ? ErrorKind::kEnvironment : ErrorKind::kInput,
                Story(options_.command.front(), *finished));
  }
  Result<Measurement> measurement = Measurement{};
  if (options_.pattern) {
    const std::optional<double> figure =
        FigureIn(finished->out + "\n" + finished->err, *options_.pattern);
    if (!figure) {
      return Fail(ErrorKind::kInput, fmt::format("{}: no line of its output matches --pattern",
                                                 options_.command.front()));
    }
    measurement->samples_per_s = *figure;
  } else {
    measurement = Report(trace, stop);
  }
  if (measurement) measurement->wall_s = finished->wall_s;
  std::error_code error;
  if (options_.keep.empty()) {
    std::filesystem::remove(trace, error);
  } else if (measurement) {
    measurement->trace = std::filesystem::absolute(trace, error).string();
  }
  return measurement;
}

Result<Measurement> CommandRunner::Report(const std::filesystem::path& trace,
                                          const std::stop_token& stop) {
  const Result<Finished> finished =
      RunProcess({options_.penstock.string(), "report", trace.string(), "--json"}, limits_, stop);
  PENSTOCK_TRY(finished);
  if (!EndOf(*finished).empty())
    return Fail(ErrorKind::kInput, Story("penstock report", *finished));
  simdjson::dom::parser parser;
  simdjson::dom::element object;
  if (parser.parse(finished->out).get(object) != simdjson::SUCCESS) {
    return Fail(ErrorKind::kInput, "penstock report: what it printed is not JSON");
  }
  const Result<double> rate = Number(object, "/throughput/samples_per_s");
  if (!rate) return Fail(ErrorKind::kInput, "penstock report: " + rate.error().message);
  if (*rate <= 0) {
    return Fail(ErrorKind::kInput,
                "no batches in the trace: the command uses no DataLoader that was seen; give "
                "--pattern");
  }
  Measurement measurement;
  measurement.samples_per_s = *rate;
  if (const Result<double> workers = Number(object, "/loader/num_workers")) {
    measurement.workers = static_cast<int>(*workers);
  }
  std::string_view bottleneck;
  if (object.at_pointer("/verdict/bottleneck").get(bottleneck) == simdjson::SUCCESS) {
    measurement.bottleneck = bottleneck;
  }
  return measurement;
}

std::optional<double> FigureIn(const std::string& text, const std::regex& pattern) {
  std::optional<double> figure;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::smatch match;
    if (line.size() > 4096 || !std::regex_search(line, match, pattern) || match.size() < 2)
      continue;
    const std::string number = match[1].str();
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (end != number.c_str() && std::isfinite(value)) figure = value;
  }
  return figure;
}

}  // namespace penstock::sweep
