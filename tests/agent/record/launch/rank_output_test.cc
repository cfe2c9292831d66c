// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/rank_output.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace penstock::record {
namespace {

using agent::RankEnv;

RankEnv Read(const std::map<std::string, std::string>& variables) {
  return agent::ReadRankEnv([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

void Expect(const RankEnv& env, const char* launcher, int rank, int world, int local, int size,
            int node) {
  EXPECT_STREQ(env.launcher, launcher);
  EXPECT_EQ(env.rank, rank) << launcher;
  EXPECT_EQ(env.world_size, world) << launcher;
  EXPECT_EQ(env.local_rank, local) << launcher;
  EXPECT_EQ(env.local_size, size) << launcher;
  EXPECT_EQ(env.node, node) << launcher;
}

TEST(RankEnvTest, EveryLauncherIsUnderstood) {
  Expect(Read({{"RANK", "5"},
               {"WORLD_SIZE", "8"},
               {"LOCAL_RANK", "1"},
               {"LOCAL_WORLD_SIZE", "4"},
               {"GROUP_RANK", "1"}}),
         "torch", 5, 8, 1, 4, 1);
  Expect(Read({{"OMPI_COMM_WORLD_RANK", "3"},
               {"OMPI_COMM_WORLD_SIZE", "4"},
               {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
               {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
         "openmpi", 3, 4, 1, 2, -1);
  Expect(Read({{"MV2_COMM_WORLD_RANK", "3"},
               {"MV2_COMM_WORLD_SIZE", "4"},
               {"MV2_COMM_WORLD_LOCAL_RANK", "1"},
               {"MV2_COMM_WORLD_LOCAL_SIZE", "2"}}),
         "mvapich2", 3, 4, 1, 2, -1);
  Expect(Read({{"PMI_RANK", "2"},
               {"PMI_SIZE", "4"},
               {"MPI_LOCALRANKID", "0"},
               {"MPI_LOCALNRANKS", "2"}}),
         "mpich", 2, 4, 0, 2, -1);
  Expect(Read({{"SLURM_PROCID", "6"},
               {"SLURM_NTASKS", "7"},
               {"SLURM_LOCALID", "2"},
               {"SLURM_NODEID", "1"},
               {"SLURM_TASKS_PER_NODE", "4,3"}}),
         "slurm", 6, 7, 2, 3, 1);
}

TEST(RankEnvTest, WithoutALauncherThereIsNoRank) {
  Expect(Read({{"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"RANK", ""}}), "", -1, -1, -1, -1, -1);
}

TEST(RankEnvTest, TheInnermostLauncherCounts) {
  // srun starts one torchrun on each of two hosts, so srun's tasks are hosts and not ranks.
  Expect(Read({{"SLURM_PROCID", "1"},
               {"SLURM_NTASKS", "2"},
               {"SLURM_LOCALID", "0"},
               {"SLURM_NODEID", "1"},
               {"RANK", "6"},
               {"WORLD_SIZE", "8"},
               {"LOCAL_RANK", "2"}}),
         "torch", 6, 8, 2, -1, -1);
}

TEST(RankEnvTest, AnotherLauncherThatSaysTheSameFillsInTheRest) {
  Expect(Read({{"PMI_RANK", "5"},
               {"PMI_SIZE", "6"},
               {"SLURM_PROCID", "5"},
               {"SLURM_NTASKS", "6"},
               {"SLURM_LOCALID", "2"},
               {"SLURM_NODEID", "1"},
               {"SLURM_TASKS_PER_NODE", "3(x2)"}}),
         "mpich", 5, 6, 2, 3, 1);
}

TEST(RankEnvTest, ASizeThatOneLauncherDoesNotTellIsTakenFromAnotherOfTheSameRank) {
  // `srun --mpi=pmix` sets these variables.
  std::map<std::string, std::string> variables = {
      {"PMIX_RANK", "5"},     {"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "6"},
      {"SLURM_LOCALID", "2"}, {"SLURM_NODEID", "1"}, {"SLURM_TASKS_PER_NODE", "3(x2)"}};
  Expect(Read(variables), "mpich", 5, 6, 2, 3, 1);
  variables["SLURM_PROCID"] = "1";
  Expect(Read(variables), "mpich", 5, -1, -1, -1, -1);
}

TEST(RankEnvTest, ABatchScriptIsNoRank) {
  std::map<std::string, std::string> variables = {
      {"SLURM_JOB_ID", "17"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}};
  EXPECT_EQ(Read(variables).rank, -1);
  variables["SLURM_STEP_ID"] = "0";
  variables["SLURM_STEP_NUM_TASKS"] = "4";
  EXPECT_EQ(Read(variables).rank, 0);
  EXPECT_EQ(Read(variables).world_size, 4);
}

TEST(RankEnvTest, SlurmsListsAreRead) {
  EXPECT_EQ(agent::SlurmTasksOf("4(x2),3", 0), 4);
  EXPECT_EQ(agent::SlurmTasksOf("4(x2),3", 1), 4);
  EXPECT_EQ(agent::SlurmTasksOf("4(x2),3", 2), 3);
  EXPECT_EQ(agent::SlurmTasksOf("4(x2),3", 3), -1);
  for (const char* wrong : {"", "x", "4(", "4(x", "4(x0)", ",", "4(x2", "(x2)"}) {
    EXPECT_LE(agent::SlurmTasksOf(wrong, 7), 4) << wrong;
  }
}

RankEnv Rank(int rank, int world) {
  RankEnv env;
  env.rank = rank;
  env.world_size = world;
  return env;
}

TEST(RankOutputTest, RanksDoNotOverwriteEachOther) {
  EXPECT_EQ(OutputOfRank("run.penstock", Rank(3, 4), "h"), "run.rank3.penstock");
  EXPECT_EQ(OutputOfRank("/a.b/run", Rank(12, 16), "h"), "/a.b/run.rank12");
  EXPECT_EQ(OutputOfRank("/a/.run", Rank(0, 2), "h"), "/a/.run.rank0");
}

TEST(RankOutputTest, OneRankKeepsTheName) {
  EXPECT_EQ(OutputOfRank("run.penstock", Rank(0, 1), "h"), "run.penstock");
  EXPECT_EQ(OutputOfRank("run.penstock", {}, "h"), "run.penstock");
}

TEST(RankOutputTest, PlaceholdersAreFilledIn) {
  EXPECT_EQ(OutputOfRank("t/%h/r%r.penstock", Rank(3, 4), "node1"), "t/node1/r3.penstock");
  EXPECT_EQ(OutputOfRank("{host}-{rank}", Rank(3, 4), "node1"), "node1-3");
  EXPECT_EQ(OutputOfRank("%h.penstock", Rank(3, 4), "n"), "n.rank3.penstock");
  EXPECT_EQ(OutputOfRank("r%r", {}, "h"), "rall");
  EXPECT_EQ(OutputOfRank("100%%r%x%", Rank(0, 1), "h"), "100%r%x%");
}

TEST(RankOutputTest, AllOfThemAreNamedForTheShell) {
  EXPECT_EQ(OutputsOfRanks("run.penstock", "h"), "run.rank*.penstock");
  EXPECT_EQ(OutputsOfRanks("t/%r.penstock", "h"), "t/*.penstock");
  EXPECT_EQ(OutputsOfRanks("100%%r.penstock", "h"), "100%r.rank*.penstock");
}

}  // namespace
}  // namespace penstock::record
