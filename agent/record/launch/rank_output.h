// SPDX-License-Identifier: Apache-2.0
//
// Where the trace of one rank goes: several recorders that mpirun or srun started with the same
// command line must not overwrite each other. Pure.
#pragma once

#include <filesystem>
#include <string>

#include "agent/core/rank_env.h"

namespace penstock::record {

// %r or {rank} is the rank, %h or {host} the host, %% a percent sign. Where neither names the rank
// and the recorder is one of several, ".rank3" goes before the extension. Without a rank, %r is
// "all": this recorder sees all of them. Errors: none; a name that does not fit is returned as it
// is.
[[nodiscard]] std::filesystem::path OutputOfRank(const std::filesystem::path& output,
                                                 const agent::RankEnv& rank,
                                                 const std::string& host);

// "run.rank*.penstock": the traces of all ranks beside that one, for the next command line.
[[nodiscard]] std::string OutputsOfRanks(const std::filesystem::path& output,
                                         const std::string& host);

// The rank of this process by its environment.
[[nodiscard]] agent::RankEnv OwnRank();

}  // namespace penstock::record
