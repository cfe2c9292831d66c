// SPDX-License-Identifier: Apache-2.0
#include "agent/core/rank_facts.h"

#include "agent/core/process.h"
#include "agent/core/text.h"
#include "agent/system/strings.h"

namespace penstock::agent {
namespace {

// Writes `text` as the value. If it is nullptr, writes `number`, or nothing if that is negative,
// which means not known.
void WriteFact(const char* key, const char* text, int32_t number) {
  char line[128];
  Text fact{line, sizeof line};
  fact.Add(key).Add("=");
  if (text != nullptr) {
    fact.Add(text);
  } else if (number >= 0) {
    fact.Number(static_cast<uint64_t>(number));
  } else {
    return;
  }
  WriteText(wire::kTextFact, wire::HashOf(key, Length(key)), line, fact.size);
}

}  // namespace

void WriteRankFacts() {
  if (g_config.rank < 0 || g_config.launcher == nullptr) {
    return;
  }
  WriteFact("rank.launcher", g_config.launcher, -1);
  WriteFact("rank.local_size", nullptr, g_config.local_size);
  WriteFact("rank.node", nullptr, g_config.node);
}

}  // namespace penstock::agent
