// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "agent/record/launch/launcher.h"
#include "agent/record/options.h"
#include "traces/base/say.h"

int main(int argc, char** argv) {
  penstock::SayWhenMemoryEnds("penstock-record");
  using namespace penstock::record;
  const auto parsed = ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!parsed) {
    penstock::SayError("penstock-record", parsed.error().message);
    return penstock::ExitStatus(parsed.error().kind);
  }
  if (parsed->print) {
    fmt::print("{}", *parsed->print);
    return 0;
  }
  const auto has_value = [](const char* name, const std::string& value) {
    const char* found = std::getenv(name);
    return found != nullptr && value == found;
  };
  penstock::record::Options options = parsed->options;
  options.force = options.force || has_value("PENSTOCK_FORCE", "1");
  options.no_command = options.no_command || has_value("PENSTOCK_NO_COMMAND", "1");
  Settings settings;
  settings.agent = std::getenv("PENSTOCK_AGENT");
  settings.runtime_folder = std::getenv("XDG_RUNTIME_DIR");
  settings.force_monotonic = has_value("PENSTOCK_CLOCK", "monotonic");
  settings.shm_folder = std::getenv("PENSTOCK_SHM");
  settings.use_memfd = !has_value("PENSTOCK_MEMFD", "0");
  if (const char* nice = std::getenv("PENSTOCK_NICE")) settings.nice = std::atoi(nice);
  return Launch(std::move(options), settings);
}
