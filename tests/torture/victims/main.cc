// SPDX-License-Identifier: Apache-2.0
//
//   torture_victim SCENARIO [arguments]     runs a scenario of victim.h; `one N` reads the N-th
//   file
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/torture/victims/victim.h"

namespace {

int Run(const std::string& name, char** arguments, const char* self) {
  const auto number = [&](int i) { return std::atoi(arguments[i]); };
  if (name == "one") {
    std::printf("%ld\n", torture::ReadFile(static_cast<std::size_t>(number(0))));
    return 0;
  }
  if (name == "processes") return torture::Processes(number(0), number(1));
  if (name == "threads") return torture::Threads(number(0), number(1));
  if (name == "fork-while-threads-read") return torture::ForkWhileThreadsRead(number(0));
  if (name == "killed-workers") return torture::KilledWorkers(number(0));
  if (name == "ends") return torture::Ends();
  if (name == "close-all") return torture::CloseAll(number(0));
  if (name == "vfork") return torture::VforkAndExec(number(0), self);
  if (name == "signals") {
    return torture::SignalStorm(number(0), number(1) != 0, number(2));
  }
  if (name == "lock-in") return torture::LockIn(arguments[0], number(1));
  if (name == "run-locked-in") return torture::RunLockedIn(arguments);
  if (name == "load-agent") return torture::LoadAgent(arguments[0], number(1));
  if (name == "paced") return torture::Paced(number(0), number(1));
  if (name == "events") {
    return torture::Events(std::atof(arguments[0]), std::strtoull(arguments[1], nullptr, 10));
  }
  torture::Fail("no such scenario");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) torture::Fail("usage: torture_victim SCENARIO [arguments]");
  // Makes both static objects before there are threads. If a process forked while another thread
  // makes one of them, the child would wait for ever.
  torture::Reads();
  torture::Files();
  const int status = Run(argv[1], argv + 2, argv[0]);
  torture::Reads().Tell();
  return status;
}
