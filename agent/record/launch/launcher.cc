// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/launcher.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "agent/record/collect/collector.h"
#include "agent/record/collect/rescue.h"
#include "agent/record/collect/stager.h"
#include "agent/record/detach.h"
#include "agent/record/launch/command.h"
#include "agent/record/launch/find_agent.h"
#include "agent/record/launch/rank_output.h"
#include "agent/record/launch/supervisor.h"
#include "agent/record/launch/target_check.h"
#include "agent/record/launch/verdict.h"
#include "agent/record/launch/warm.h"
#include "agent/record/overrides.h"
#include "agent/record/sample/spare_memory.h"
#include "traces/base/json_text.h"
#include "traces/base/say.h"

namespace penstock::record {
namespace {

void Say(const std::string& text) {
  SayError("penstock-record", VisibleText(text));
}

// Opens /dev/null under each of the numbers 0, 1 and 2 that is closed. Otherwise the channel to the
// collector would get one of these numbers. Messages for the user would then go into the channel,
// and the collector would close it when it replaces its own streams. The command still finds these
// numbers closed.
void OccupyStandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0) return;
  }
}

// Returns only if the command cannot be executed. Otherwise no destructor of the caller runs.
int RunUntraced(const std::vector<std::string>& command, const std::string& why) {
  Say(why + "; the command runs untraced");
  const int error = Become(command);
  Say(fmt::format("{}: {}", command.front(), std::strerror(error)));
  return ExecStatus(error);
}

// Ends as the command ended, so that the shell sees no difference.
int EndLike(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (!WIFSIGNALED(status)) return 1;
  const int signal = WTERMSIG(status);
  // The command may have left a core dump already, so ours is prevented. The limit alone does not
  // keep the kernel from starting a program that takes core dumps (a '|' in core_pattern).
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_DUMPABLE, 0);
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  std::fflush(nullptr);
  raise(signal);
  return 128 + signal;
}

std::string HostName() {
  utsname name{};
  return uname(&name) == 0 ? name.nodename : "host";
}

// Makes `path` absolute. ".." after a link means the folder above the link's target.
std::filesystem::path Absolute(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (std::find(whole.begin(), whole.end(), fs::path("..")) == whole.end()) {
    return whole.lexically_normal();
  }
  // The last part is not resolved: if it is a link, it is refused later as an output.
  const fs::path folder = fs::weakly_canonical(whole.parent_path(), error);
  return error ? whole : folder / whole.filename();
}

// The folder of the copies, which is removed at the end of the scope.
class StageFolder {
 public:
  explicit StageFolder(std::string path) : path_(std::move(path)) {}
  ~StageFolder() { Remove(); }
  StageFolder(const StageFolder&) = delete;
  StageFolder& operator=(const StageFolder&) = delete;
  void Remove() const { RemoveStage(path_); }

 private:
  std::string path_;
};

struct CollectorProcess {
  pid_t pid = -1;
  Channel channel;
};

// Errors: kEnvironment.
Result<CollectorProcess> StartCollector(const CollectorConfig& config) {
  auto pair = Channel::Pair();
  if (!pair) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("no channel to a collector: {}", std::strerror(errno)));
  }
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) {
    return Fail(ErrorKind::kEnvironment, fmt::format("no collector: {}", std::strerror(errno)));
  }
  if (pid == 0) {
    pair->first.Close();
    DetachProcess(pair->second.fd(), config.nice);
    _exit(Collector(config, std::move(pair->second)).Run());
  }
  CollectorProcess process;
  process.pid = pid;
  process.channel = std::move(pair->first);
  return process;
}

// Waits until the collector has made the ring. Changes `output` if the collector puts the trace
// elsewhere.
// Errors: kEnvironment, or that of the collector's refusal.
Result<Arena> AwaitReady(const CollectorProcess& collector, std::filesystem::path& output) {
  for (;;) {
    Message message;
    const Channel::Event event = collector.channel.Receive(&message, -1);
    if (event == Channel::Event::kNothing) continue;
    if (event == Channel::Event::kClosed) {
      return Fail(ErrorKind::kEnvironment, "the collector could not start");
    }
    const std::string text(message.text());
    if (message.type == MessageType::kRefused) {
      return Fail(static_cast<ErrorKind>(message.status), text);
    }
    if (message.type == MessageType::kReady) return Arena::Open(text);
    if (message.type == MessageType::kPlaced) output = text;
    if (message.type == MessageType::kNote) Say(text);
  }
}

}  // namespace

int Launch(Options options, const Settings& settings) {
  OccupyStandardStreams();
  const char* path = std::getenv("PATH");
  const char* preload = std::getenv("LD_PRELOAD");
  const TargetReport target =
      CheckTarget(options.command.front(), path != nullptr ? path : "/bin:/usr/bin",
                  preload != nullptr ? preload : "");
  if (target.status != 0) {
    Say(target.message);
    return target.status;
  }
  if (!target.preload) return RunUntraced(options.command, target.warnings.front());
  for (const std::string& warning : target.warnings) Say(warning);
  const std::string agent =
      FindAgent(settings.agent, OwnFolder(), [&] { return LinkFolder(settings.runtime_folder); });
  if (agent.empty()) {
    Say("the agent (libpenstock_agent.so) is not beside this program; name it in PENSTOCK_AGENT");
    return penstock::ExitStatus(ErrorKind::kEnvironment);
  }
  std::error_code error;
  const agent::RankEnv rank = OwnRank();
  const std::string host = HostName();
  const std::string ranks = OutputsOfRanks(options.output, host);
  const std::filesystem::path asked = options.output.parent_path();
  options.output = OutputOfRank(options.output, rank, host);
  // Makes the folder if its name contains rank or host, since the user cannot make the folders of
  // all ranks beforehand.
  if (options.output.parent_path() != asked) {
    std::filesystem::create_directories(options.output.parent_path(), error);
  }
  // If each rank has its own recorder, only the recorder of rank 0 prints. Its verdict is only
  // about its own rank.
  const bool one_of_several = rank.rank >= 0 && rank.world_size > 1;
  options.quiet = options.quiet || (one_of_several && rank.rank > 0);
  options.output = Absolute(options.output);
  for (std::string& folder : options.data) {
    folder = std::filesystem::absolute(folder, error).lexically_normal().string();
  }

  const std::string malloc = ValueOf(options.overrides, "malloc");
  if (malloc == "jemalloc" || malloc == "tcmalloc") {
    auto allocator = FindAllocator(
        malloc, LibraryFolders(std::getenv("LD_LIBRARY_PATH"), std::getenv("CONDA_PREFIX")));
    if (allocator) allocator = PreloadAllocator(preload != nullptr ? preload : "", *allocator);
    if (!allocator) {
      Say(allocator.error().message);
      return penstock::ExitStatus(allocator.error().kind);
    }
    options.allocator = allocator->substr(allocator->rfind(':') + 1);
  }

  CollectorConfig config;
  WarmFiles warmed;
  if (ValueOf(options.overrides, "warm") == "1") {
    warmed.Read(options.data, MemoryToSpare());
    config.facts["override.warm"] = "1";
    config.facts["warm.bytes"] = std::to_string(warmed.bytes().value);
    config.facts["warm.files"] = std::to_string(warmed.files());
    if (warmed.full()) config.facts["warm.full"] = "1";
    if (warmed.full() && !options.quiet) {
      Say(fmt::format("warm=1: memory has room for only {} files of the dataset", warmed.files()));
    }
  }
  if (!options.stage.empty()) {
    config.facts["record.stage"] = options.stage;
    auto stage = MakeStage(Absolute(options.stage).string());
    if (!stage) {
      Say(stage.error().message);
      return penstock::ExitStatus(stage.error().kind);
    }
    options.stage = std::move(*stage);
  }
  // Collector and launcher both remove the folder, in case one of them is killed.
  const StageFolder staged(options.stage);
  const auto run_untraced = [&](const std::string& why) {
    staged.Remove();
    return RunUntraced(options.command, why);
  };
  config.options = options;
  config.force_monotonic = settings.force_monotonic;
  config.send_progress = !options.quiet && isatty(STDERR_FILENO) == 1;
  config.nice = settings.nice;
  if (settings.shm_folder != nullptr) config.shm_folder = settings.shm_folder;
  config.use_memfd = settings.use_memfd;
  auto collector = StartCollector(config);
  if (!collector) return run_untraced(collector.error().message);
  auto arena = AwaitReady(*collector, options.output);
  if (!arena) {
    collector->channel.Close();
    waitpid(collector->pid, nullptr, 0);
    if (arena.error().kind == ErrorKind::kUsage) {
      Say(arena.error().message);
      return penstock::ExitStatus(ErrorKind::kUsage);
    }
    return run_untraced(arena.error().message);
  }

  Supervisor supervisor(options, std::move(collector->channel), collector->pid, *arena,
                        config.send_progress);
  const auto environment = TracedEnvironment(Environment(), options, agent, arena->path());
  Outcome outcome = supervisor.Run(environment);
  if (outcome.no_process) {
    return run_untraced(
        fmt::format("no process for the command: {}", std::strerror(outcome.start_error)));
  }
  if (outcome.start_error != 0) {
    Say(fmt::format("{}: {}", options.command.front(), std::strerror(outcome.start_error)));
    return ExecStatus(outcome.start_error);
  }
  std::string trouble = outcome.trouble;
  bool complete = outcome.complete;
  if (outcome.collector_died) {
    trouble = "the collector was killed while the command ran";
    const auto rescued = Rescue(options.output, *arena, options.force);
    complete = rescued.has_value();
    if (rescued) {
      outcome.output = *rescued;
      arena->Unlink();
    } else {  // for example a full disk: nothing is lost, and recovering can be tried again
      trouble += fmt::format(": {}; then: penstock recover {}", rescued.error().message,
                             options.output.string());
    }
  }
  for (const std::string& note : outcome.notes) Say(note);
  if (!trouble.empty()) Say(trouble);
  if (complete && !options.quiet) {
    ShowVerdict(outcome.output, outcome.totals);
    if (one_of_several) {
      Say(
          fmt::format("this is rank {} of {}; its steps include its waiting for the other ranks. "
                      "All ranks: penstock report {}",
                      rank.rank, rank.world_size, ranks));
    }
  }
  staged.Remove();
  warmed.GiveBack();  // now, since the next line may end this process
  return EndLike(outcome.wait_status);
}

}  // namespace penstock::record
