// SPDX-License-Identifier: Apache-2.0
//
// Finds which rank of a distributed run a process is, from the variables that its launcher set. It
// needs only a way to look up variables, so the agent and the recorder share it. Pure.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/system/strings.h"

namespace penstock::agent {

// -1 where a value is not known. Without a rank nothing else is known.
struct RankEnv {
  int32_t rank = -1;
  int32_t local_rank = -1;
  int32_t world_size = -1;
  int32_t local_size = -1;  // ranks on this host
  int32_t node = -1;        // number of the host
  const char* launcher = "";
};

// The variables of one launcher. Each value has up to three variables; the first of them that holds
// a number counts.
struct RankVariables {
  const char* launcher;
  const char* rank[3];
  const char* world_size[3];
  const char* local_rank[3];
  const char* local_size[3];
  const char* node[3];
  bool slurm = false;  // srun: batch scripts have its variables too; a list gives each host's ranks
};

// Innermost launcher first: srun may start mpirun or torchrun, which set variables of their own.
// Values of another launcher are used only if its rank and size agree, since it may count other
// things (srun's tasks may be hosts). If no size is known yet, the rank alone must agree: PMIx,
// which srun may use, puts no size into the environment.
// Source: torch/distributed/run.py; Open MPI's, MVAPICH2's and Intel MPI's lists of variables;
// srun(1), "OUTPUT ENVIRONMENT VARIABLES".
inline constexpr RankVariables kRankVariables[] = {
    {"torch",
     {"RANK"},
     {"WORLD_SIZE"},
     {"LOCAL_RANK"},
     {"LOCAL_WORLD_SIZE", "LOCAL_SIZE"},
     {"GROUP_RANK", "CROSS_RANK", "NODE_RANK"}},
    {"openmpi",
     {"OMPI_COMM_WORLD_RANK"},
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_RANK"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"},
     {}},
    {"mvapich2",
     {"MV2_COMM_WORLD_RANK"},
     {"MV2_COMM_WORLD_SIZE"},
     {"MV2_COMM_WORLD_LOCAL_RANK"},
     {"MV2_COMM_WORLD_LOCAL_SIZE"},
     {}},
    {"mpich",
     {"PMI_RANK", "PMIX_RANK", "PALS_RANKID"},
     {"PMI_SIZE"},
     {"MPI_LOCALRANKID", "PMI_LOCAL_RANK", "PALS_LOCAL_RANKID"},
     {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "PALS_LOCAL_SIZE"},
     {"PALS_NODEID"}},
    {"slurm",
     {"SLURM_PROCID"},
     {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"},
     {"SLURM_LOCALID"},
     {},
     {"SLURM_NODEID"},
     true},
};

// Number of tasks of host `node` in Slurm's list: "4(x2),3" stands for 4, 4 and 3. -1 if the list
// does not have it.
inline int32_t SlurmTasksOf(const char* list, int32_t node) {
  int64_t first = 0;
  while (*list != 0) {
    const int64_t tasks = ParseNumber(list);
    int64_t hosts = 1;
    while (*list != 0 && *list != ',' && *list != '(') {
      ++list;
    }
    if (*list == '(' && list[1] == 'x') {
      hosts = ParseNumber(list + 2);
      while (*list != 0 && *list != ',') {
        ++list;
      }
    }
    if (tasks < 0 || hosts < 1) {
      return -1;
    }
    first += hosts;
    if (node < first) {
      return static_cast<int32_t>(tasks);
    }
    if (*list == ',') {
      ++list;
    }
  }
  return -1;
}

// `variable` returns the value of an environment variable, nullptr if it is not set.
template <class Lookup>
RankEnv ReadRankEnv(Lookup variable) {
  constexpr int64_t kMost = 1 << 24;
  const auto number = [&](const char* const(&names)[3]) -> int32_t {
    for (const char* name : names) {
      const char* value = name != nullptr ? variable(name) : nullptr;
      const int64_t parsed = value != nullptr ? ParseNumber(value) : -1;
      if (parsed >= 0 && parsed < kMost) {
        return static_cast<int32_t>(parsed);
      }
    }
    return -1;
  };
  const auto fill = [](int32_t* to, int32_t value) { *to = *to >= 0 ? *to : value; };
  // A batch script has SLURM_PROCID 0 and is no rank: only srun's steps have a step id.
  const bool script = variable("SLURM_JOB_ID") != nullptr && variable("SLURM_STEP_ID") == nullptr;
  RankEnv env;
  for (const RankVariables& names : kRankVariables) {
    const int32_t rank = names.slurm && script ? -1 : number(names.rank);
    if (rank < 0 || (env.rank >= 0 && rank != env.rank)) {
      continue;
    }
    const int32_t world_size = number(names.world_size);
    if (env.world_size >= 0 && world_size != env.world_size) {
      continue;
    }
    // The first launcher with a rank counts. Another one with the same rank and size fills in
    // values that the first one lacks.
    if (env.rank < 0) {
      env.launcher = names.launcher;
      env.rank = rank;
    }
    fill(&env.world_size, world_size);
    fill(&env.local_rank, number(names.local_rank));
    fill(&env.node, number(names.node));
    fill(&env.local_size, number(names.local_size));
    if (names.slurm) {
      const char* list = variable("SLURM_STEP_TASKS_PER_NODE");
      list = list != nullptr ? list : variable("SLURM_TASKS_PER_NODE");
      const int32_t node = env.node >= 0 ? env.node : 0;
      fill(&env.local_size, list != nullptr ? SlurmTasksOf(list, node) : -1);
    }
  }
  if (env.world_size == 1) {
    env.local_size = 1;
  }
  return env;
}

// Appends `name` to `to`, with %r and {rank}, %h and {host} replaced, and %% as %. If `name` does
// not contain the rank and there are several ranks, puts ".rank3" before the last dot of the file's
// name, since ranks must not overwrite each other. `absent` stands for a rank that is not known. A
// result that does not fit into `to` is cut. Returns whether `name` contains the rank.
inline bool ExpandOutput(const char* name, const RankEnv& env, const char* host, const char* absent,
                         Text& to) {
  bool named = false;
  size_t dot = 0;          // in `to`; 0: none in the last component
  size_t begin = to.size;  // of the last component
  const auto add_rank = [&] {
    if (env.rank >= 0) {
      to.Number(static_cast<uint64_t>(env.rank));
    } else {
      to.Add(absent);
    }
    named = true;
  };
  while (*name != 0) {
    if (StartsWith(name, "%r")) {
      add_rank();
      name += 2;
    } else if (StartsWith(name, "{rank}")) {
      add_rank();
      name += 6;
    } else if (StartsWith(name, "%h")) {
      to.Add(host);
      name += 2;
    } else if (StartsWith(name, "{host}")) {
      to.Add(host);
      name += 6;
    } else {
      name += StartsWith(name, "%%") ? 1 : 0;
      if (*name == '/') {
        begin = to.size + 1;
        dot = 0;
      } else if (*name == '.' && to.size > begin) {
        dot = to.size;
      }
      to.Add(name++, 1);
    }
  }
  if (named || env.rank < 0 || env.world_size <= 1 || to.cut) {
    return named;
  }
  char tail[256];
  Text rest{tail, sizeof tail};
  if (dot != 0) {
    rest.Add(to.data + dot, to.size - dot);
    to.size = dot;
  } else {
    rest.Add("");
  }
  to.Add(".rank").Number(static_cast<uint64_t>(env.rank)).Add(tail);
  to.cut = to.cut || rest.cut;
  return false;
}

}  // namespace penstock::agent
