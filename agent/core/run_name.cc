// SPDX-License-Identifier: Apache-2.0
#include "agent/core/run_name.h"

#include <time.h>
#include <unistd.h>

#include "agent/core/process.h"
#include "agent/core/rank_env.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

constexpr size_t kHostDigits = 8;  // of the boot id

// Completes "PID-SECONDS.NANOSECONDS@BOOT". The boot id is needed since srun passes the environment
// of one host to others, whose processes are no part of this recording even if they see its file.
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

// The name of a recording that nobody has named.
void NameAfterProgram(Text& name) {
  char comm[32] = "run";
  const size_t n = sys::ReadFile("/proc/self/comm", comm, sizeof comm);
  name.Add(comm, n > 0 && n <= sizeof comm ? n - 1 : 3)
      .Add("-")
      .Number(sys::Pid())
      .Add(".penstock");
}

// Writes the folder that `name` is relative to, with a slash; nothing for an absolute path. False
// if there is none, or it does not fit.
bool AddFolder(const char* name, Text& path) {
  path.Add("");
  if (name[0] == '/') {
    return true;
  }
  if (getcwd(path.data, path.capacity - 1) == nullptr) {
    return false;
  }
  path.size = Length(path.data);
  path.Add("/");
  return !path.cut;
}

// Appends the first `size` bytes of `folder`, escaped so that ExpandOutput() gives them back as
// they are, except for {rank} and {host}, which it would still fill in.
void AddEscaped(const char* folder, size_t size, Text& to) {
  to.Add("");
  for (size_t i = 0; i < size; ++i) {
    to.Add(folder[i] == '%' ? "%" : "").Add(folder + i, 1);
  }
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
  char own[64];
  if (out == nullptr || out[0] == 0) {
    Text name{own, sizeof own};
    NameAfterProgram(name);
    out = own;
  }
  Text path{g_config.out, sizeof g_config.out};
  if (!AddFolder(out, path)) {
    g_config.out[0] = 0;
    return;
  }
  if (!first) {
    path.Add(out);
    if (path.cut) {
      g_config.out[0] = 0;
      return;
    }
    environment.set("PENSTOCK_OUT", g_config.out);
    return;
  }
  char host[256];
  const size_t n = sys::ReadFile("/proc/sys/kernel/hostname", host, sizeof host - 1);
  host[n > 0 && host[n - 1] == '\n' ? n - 1 : n] = 0;
  RankEnv env;
  env.rank = g_config.rank;
  env.world_size = g_config.world_size;
  const size_t folder = path.size;
  const bool names_rank = ExpandOutput(out, env, host, "launcher", path);
  if (path.cut) {
    g_config.out[0] = 0;
    return;
  }
  if (env.rank < 0 && names_rank) {
    static char left[sizeof g_config.out];  // the constructor runs once
    Text name{left, sizeof left};
    AddEscaped(path.data, folder, name);
    name.Add(out);
    if (!name.cut) {
      environment.set("PENSTOCK_OUT", left);
    }
  } else {
    environment.set("PENSTOCK_OUT", g_config.out);
    environment.set("PENSTOCK_RUN", g_config.run);
  }
}

}  // namespace penstock::agent
