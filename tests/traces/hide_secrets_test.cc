// SPDX-License-Identifier: Apache-2.0
#include "traces/hide_secrets.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/traces/secret_cases.h"

namespace penstock::traces {
namespace {

// Joins the words as in /proc/self/cmdline, without the last null byte, and hides the secrets.
std::vector<std::string> Hidden(const std::vector<std::string>& words, std::size_t room = 4096) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  text.pop_back();
  const std::size_t size = text.size();
  text.resize(std::max(size + 1, room), '#');
  text.resize(HideSecrets(text.data(), size, text.size()));
  std::vector<std::string> shown(1);
  for (const char c : text) {
    if (c != '\0') {
      shown.back() += c;
    } else {
      shown.emplace_back();
    }
  }
  return shown;
}

TEST(HideSecretsTest, SecretsOfCommandLinesAreHidden) {
  for (const SecretCase& one : SecretCases()) EXPECT_EQ(Hidden(one.words), one.shown);
}

TEST(HideSecretsTest, ItStaysWithinItsRoom) {
  for (const SecretCase& one : SecretCases()) {
    for (std::size_t cut = 1; cut < 40; ++cut) {
      std::string text;
      for (const std::string& word : one.words) text += word + '\0';
      text.resize(std::min(text.size(), cut));
      std::string room = text + '#';
      const std::size_t size = HideSecrets(room.data(), text.size(), text.size() + 1);
      EXPECT_LE(size, text.size() + 1);
    }
  }
}

}  // namespace
}  // namespace penstock::traces
