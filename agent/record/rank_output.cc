// SPDX-License-Identifier: Apache-2.0
#include "agent/record/rank_output.h"

#include <cstdlib>
#include <string_view>

namespace penstock::record {
namespace {

std::string Expand(const std::filesystem::path& output, const agent::RankEnv& rank,
                   const std::string& host, const char* absent) {
  std::string to(8192, '\0');
  agent::Text text{to.data(), to.size()};
  text.Add("");
  agent::ExpandOutput(output.c_str(), rank, host.c_str(), absent, text);
  if (text.cut) return output;
  to.resize(text.size);
  return to;
}

}  // namespace

std::filesystem::path OutputOfRank(const std::filesystem::path& output, const agent::RankEnv& rank,
                                   const std::string& host) {
  return Expand(output, rank, host, "all");
}

std::string OutputsOfRanks(const std::filesystem::path& output, const std::string& host) {
  const std::string name = output.string();
  if (agent::NamesRank(name.c_str())) return Expand(output, {}, host, "*");
  agent::RankEnv first;
  first.rank = 0;
  first.world_size = 2;
  std::string all = Expand(output, first, host, "");
  constexpr std::string_view kRank = ".rank0";
  const std::size_t at = all.rfind(kRank);
  if (at != std::string::npos) all.replace(at + kRank.size() - 1, 1, "*");
  return all;
}

agent::RankEnv OwnRank() {
  return agent::ReadRankEnv([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace penstock::record
