// SPDX-License-Identifier: Apache-2.0
//
// penstock-load: runs the reference loader and reports its speed. The commands make-set and pack
// make data; device-costs measures a device.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "loader/io/ram_cache.h"
#include "loader/main/arguments.h"
#include "loader/main/device_arguments.h"
#include "loader/main/device_costs.h"
#include "loader/main/report.h"
#include "loader/main/run.h"
#include "loader/main/stop_signals.h"
#include "loader/set/commands.h"
#include "loader/trace/file_tracer.h"
#include "loader/trace/tracer.h"
#include "traces/base/program.h"

namespace penstock::loader {
namespace {

constexpr int kNoDevice = 1;
constexpr int kInterrupted = 130;

int Complain(const Error& error) {
  fmt::print(stderr, "penstock-load: {}\n", error.message);
  return ExitStatus(error.kind);
}

// Whether the agent is the tool that listens to NVTX. Then no ranges are needed, since the agent
// gets every span directly.
bool AgentHearsNvtx() {
  const char* const agent = std::getenv("PENSTOCK_AGENT");
  const char* const listener = std::getenv("NVTX_INJECTION64_PATH");
  return agent != nullptr && listener != nullptr && std::string_view(agent) == listener;
}

// Makes a tracer that writes to the agent if there is one, to a file if that was asked for, and as
// NVTX ranges if a tool other than the agent listens.
Result<std::unique_ptr<Tracer>> MakeTracer(const LoadArguments& arguments,
                                           const std::vector<std::string>& command) {
  std::unique_ptr<Tracer> file;
  if (!arguments.trace.empty()) {
    FileTracerOptions options;
    options.path = arguments.trace;
    options.command = command;
    options.version = PENSTOCK_VERSION;
    if (arguments.pipeline.world > 1) {
      options.rank = static_cast<std::int32_t>(arguments.pipeline.rank);
      options.world_size = static_cast<std::int32_t>(arguments.pipeline.world);
    }
    auto made = FileTracer(options);
    PENSTOCK_TRY(made);
    file = std::move(*made);
  }
  std::unique_ptr<Tracer> agent = AgentTracer();
  const bool agent_listens = agent != nullptr && AgentHearsNvtx();
  std::unique_ptr<Tracer> tracer = BothTracers(std::move(agent), std::move(file));
  if (tracer == nullptr) tracer = NoTracer();
  if (agent_listens) return tracer;
  return WithNvtx(std::move(tracer));
}

int Load(int argc, char** argv) {
  LoadArguments arguments;
  int status = 0;
  if (!ParseArguments(argc, argv, &arguments, &status)) return status;
  const auto program = AugmentProgram::Parse(arguments.ops, arguments.output, arguments.layout);
  if (!program) return Complain(program.error());  // the error names --ops
  const auto device = OpenNamedDevice(arguments);
  if (!device) {
    static_cast<void>(Complain(device.error()));
    return kNoDevice;
  }
  arguments.pipeline.device.device = device->get();
  const TimeNs opening = SteadyNow();
  const auto source = OpenNamedSource(arguments);
  if (!source) return Complain(source.error());
  const double open_s = Seconds(SteadyNow() - opening);

  std::optional<RamCache> cache;
  if (arguments.ram_cache.value != 0) {
    cache.emplace(arguments.ram_cache);
    arguments.pipeline.reader.cache = &*cache;
  }
  // From here on a signal ends the run early, and trace and report are still written.
  StopSignals signals;
  auto tracer = MakeTracer(arguments, {argv, argv + argc});
  if (!tracer) return Complain(tracer.error());
  Result<RunResult> result = RunPipeline(arguments, **source, *program, **tracer, signals);
  const Result<void> finished = (*tracer)->Finish();
  if (!result) return Complain(result.error());
  result->open_s = open_s;
  const Result<void> printed = traces::ToStandardOutput(
      arguments.json ? JsonReport(arguments, *result) : TextReport(arguments, *result));
  if (!finished) return Complain(finished.error());
  if (!printed) return Complain(printed.error());
  return result->interrupted ? kInterrupted : 0;
}

}  // namespace
}  // namespace penstock::loader

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  std::signal(SIGXFSZ, SIG_IGN);  // at a file-size limit write() then fails with an error
  try {
    if (command == "make-set") return penstock::loader::MakeSetCommand({argv + 2, argv + argc});
    if (command == "device-costs") {
      return penstock::loader::DeviceCostsCommand({argv + 2, argv + argc});
    }
    if (command == "pack") return penstock::loader::PackCommand({argv + 2, argv + argc});
    return penstock::loader::Load(argc, argv);
  } catch (const std::exception& trouble) {  // thrown by the C++ library: no memory, or no thread
    return penstock::loader::Complain({penstock::ErrorKind::kEnvironment, trouble.what()});
  }
}
