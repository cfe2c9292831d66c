// SPDX-License-Identifier: Apache-2.0
#include "agent/run_name.h"

#include <time.h>
#include <unistd.h>

#include "agent/linear.h"
#include "agent/process.h"
#include "agent/rank_env.h"
#include "agent/strings.h"
#include "agent/sys.h"

namespace penstock::agent {
namespace {

constexpr size_t kHostDigits = 8;  // of the boot id

// "PID-SECONDS.NANOSECONDS@BOOT": srun hands the environment of its host to others, whose
// processes are no part of this recording even where they see its file.
void AddBoot(Text& run) {
  char boot[64];
  const size_t n = sys::ReadFile("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
  run.Add("@").Add(boot, n < kHostDigits ? n : kHostDigits);
}

bool IsOfThisHost(const char* run) {
  char here[16];
  Text text{here, sizeof here};
  AddBoot(text);
  return Find(run, "@") == nullptr || EndsWith(run, Length(run), here);
}

void MakeRun() {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  Text run{g_config.run, sizeof g_config.run};
  run.Number(sys::Pid()).Add("-").Number(static_cast<uint64_t>(now.tv_sec)).Add(".");
  run.Number(static_cast<uint64_t>(now.tv_nsec));
  AddBoot(run);
}

// `name`, or one of our own if there is none, as an absolute path. False: it does not fit.
bool NameFile(const char* name, char* to, size_t capacity) {
  Text path{to, capacity};
  path.Add("");
  if (name == nullptr || name[0] != '/') {
    if (getcwd(to, capacity - 1) == nullptr) {
      return false;
    }
    path.size = Length(to);
    path.Add("/");
  }
  if (name != nullptr && name[0] != 0) {
    path.Add(name);
  } else {
    char comm[32] = "run";
    const size_t n = sys::ReadFile("/proc/self/comm", comm, sizeof comm);
    path.Add(comm, n > 0 ? n - 1 : 3).Add("-").Number(sys::Pid()).Add(".penstock");
  }
  return !path.cut;
}

}  // namespace

void ReadRank(const Environment& environment) {
  const RankEnv env = ReadRankEnv(environment.get);
  g_config.rank = env.rank;
  g_config.local_rank = env.local_rank;
  g_config.world_size = env.world_size;
  g_config.local_size = env.local_size;
  g_config.node = env.node;
  g_config.launcher = env.launcher;
}

void NameRun(const Environment& environment) {
  const char* out = environment.get("PENSTOCK_OUT");
  const char* run = environment.get("PENSTOCK_RUN");
  Text known{g_config.run, sizeof g_config.run};
  known.Add(run != nullptr && IsOfThisHost(run) ? run : "");
  const bool first = known.size == 0;
  const bool linear = g_config.arena[0] == 0;
  if (first) {
    MakeRun();
  }
  if (!linear) {
    if (first) {
      environment.set("PENSTOCK_RUN", g_config.run);
    }
    return;
  }
  char name[sizeof g_config.out];
  if (!NameFile(out, name, sizeof name)) {
    return;
  }
  if (!first) {
    Text{g_config.out, sizeof g_config.out}.Add(name);
    environment.set("PENSTOCK_OUT", g_config.out);
    return;
  }
  char host[256];
  const size_t n = sys::ReadFile("/proc/sys/kernel/hostname", host, sizeof host - 1);
  host[n > 0 && host[n - 1] == '\n' ? n - 1 : n] = 0;
  RankEnv env;
  env.rank = g_config.rank;
  env.world_size = g_config.world_size;
  Text path{g_config.out, sizeof g_config.out};
  ExpandOutput(name, env, host, "launcher", path);
  if (path.cut) {
    g_config.out[0] = 0;
    return;
  }
  const bool left_to_children = env.rank < 0 && NamesRank(name);
  environment.set("PENSTOCK_OUT", left_to_children ? name : g_config.out);
  if (!left_to_children) {
    environment.set("PENSTOCK_RUN", g_config.run);
  }
  RemoveStaleRecording();  // of an earlier run: this one starts anew
}

}  // namespace penstock::agent
