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

// Appends "@BOOT" to "PID-SECONDS.NANOSECONDS". srun passes one host's environment to other hosts.
// Their processes are no part of this recording, even if they see its file. The boot id tells the
// hosts apart.
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

// Appends the name of a recording that nobody has named: "python3-4711.penstock".
void NameAfterProgram(Text& name) {
  char comm[32] = "run";
  const size_t n = sys::ReadFile("/proc/self/comm", comm, sizeof comm);
  name.Add(comm, n > 0 && n <= sizeof comm ? n - 1 : 3)
      .Add("-")
      .Number(sys::Pid())
      .Add(".penstock");
}

// Writes the working folder and a slash if `name` is relative, else nothing. False if the folder
// cannot be found or does not fit.
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

// Appends the first `size` bytes of `folder` with each % doubled, so that ExpandOutput() restores
// them. {rank} and {host} cannot be escaped: ExpandOutput() fills them in.
void AddEscaped(const char* folder, size_t size, Text& to) {
  to.Add("");
  for (size_t i = 0; i < size; ++i) {
    to.Add(folder[i] == '%' ? "%" : "").Add(folder + i, 1);
  }
}

void TwoDigits(Text& text, int64_t value) {
  text.Add(value < 10 ? "0" : "").Number(static_cast<uint64_t>(value));
}

// Appends the date of the day that is `days` days after 1970-01-01. Source: Howard Hinnant,
// "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
void AddDate(Text& text, int64_t days) {
  const int64_t shifted = days + 719468;
  const int64_t era = shifted / 146097;
  const int64_t of_era = shifted - era * 146097;
  const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  text.Number(static_cast<uint64_t>(year_of_era + era * 400 + (month <= 2 ? 1 : 0)));
  TwoDigits(text, month);
  TwoDigits(text, day_of_year - (153 * shifted_month + 2) / 5 + 1);
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
    // This process is a launcher. It does not set PENSTOCK_RUN, so each rank begins a run under its
    // own name.
    static char left[sizeof g_config.out];  // static: the agent's constructor calls this once
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

bool NameBeside(const char* out, const char* run, char* name, size_t capacity) {
  const char* base = BaseName(out);
  const char* dot = base;
  for (const char* p = base; *p != 0; ++p) {
    dot = *p == '.' && p != base ? p : dot;
  }
  const size_t stem = dot != base ? static_cast<size_t>(dot - out) : Length(out);
  const int64_t pid = ParseNumber(run);
  const char* dash = Find(run, "-");
  const int64_t seconds = dash != nullptr ? ParseNumber(dash + 1) : -1;
  Text text{name, capacity};
  text.Add(out, stem).Add(".");
  if (pid >= 0 && seconds >= 0) {
    AddDate(text, seconds / 86400);
    text.Add("-");
    TwoDigits(text, seconds % 86400 / 3600);
    TwoDigits(text, seconds % 3600 / 60);
    TwoDigits(text, seconds % 60);
    text.Add("-").Number(static_cast<uint64_t>(pid));
  } else {
    text.Number(wire::HashOf(run, Length(run)));  // somebody else has named the run
  }
  text.Add(out + stem);
  return !text.cut;
}

}  // namespace penstock::agent
