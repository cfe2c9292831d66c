// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/rank_output.h"

#include <cstdlib>
#include <string_view>

namespace penstock::record {
namespace {

struct Expanded {
  std::string name;
  bool names_rank = false;
};

Expanded Expand(const std::filesystem::path& output, const agent::RankEnv& rank,
                const std::string& host, const char* absent) {
  std::string to(8192, '\0');
  agent::Text text{to.data(), to.size()};
  text.Add("");
  const bool names_rank = agent::ExpandOutput(output.c_str(), rank, host.c_str(), absent, text);
  if (text.cut) return {output.string(), names_rank};
  to.resize(text.size);
  return {to, names_rank};
}

}  // namespace

std::filesystem::path OutputOfRank(const std::filesystem::path& output, const agent::RankEnv& rank,
                                   const std::string& host) {
  return Expand(output, rank, host, "all").name;
}

std::string OutputsOfRanks(const std::filesystem::path& output, const std::string& host) {
  if (const Expanded named = Expand(output, {}, host, "*"); named.names_rank) return named.name;
  agent::RankEnv first;
  first.rank = 0;
  first.world_size = 2;
  std::string all = Expand(output, first, host, "").name;
  constexpr std::string_view kRank = ".rank0";
  const std::size_t at = all.rfind(kRank);
  if (at != std::string::npos) all.replace(at + kRank.size() - 1, 1, "*");
  return all;
}

agent::RankEnv OwnRank() {
  return agent::ReadRankEnv([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace penstock::record
