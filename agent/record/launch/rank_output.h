// SPDX-License-Identifier: Apache-2.0
//
// Decides where the trace of one rank goes. mpirun and srun start several recorders with the same
// command line, and these must not overwrite each other's traces. Pure, except OwnRank().
#pragma once

#include <filesystem>
#include <string>

#include "agent/core/rank_env.h"

namespace penstock::record {

// Replaces %r and {rank} by the rank, %h and {host} by the host, and %% by a percent sign. If there
// are several ranks and the name does not contain the rank, puts ".rank3" before the extension.
// Without a rank %r becomes "all", since this recorder sees all ranks. If the result would be
// longer than 8 KiB, returns `output` unchanged.
[[nodiscard]] std::filesystem::path OutputOfRank(const std::filesystem::path& output,
                                                 const agent::RankEnv& rank,
                                                 const std::string& host);

// "run.rank*.penstock": a pattern for the traces of all ranks, to be printed as part of a command.
[[nodiscard]] std::string OutputsOfRanks(const std::filesystem::path& output,
                                         const std::string& host);

// The rank of this process, from its environment.
[[nodiscard]] agent::RankEnv OwnRank();

}  // namespace penstock::record
