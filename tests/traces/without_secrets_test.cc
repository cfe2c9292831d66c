// SPDX-License-Identifier: Apache-2.0
#include "traces/without_secrets.h"

#include <gtest/gtest.h>

#include "tests/agent/redact_cases.h"

namespace penstock::traces {
namespace {

TEST(WithoutSecretsTest, SecretsOfCommandLinesAreHidden) {
  for (const RedactCase& one : RedactCases()) EXPECT_EQ(WithoutSecrets(one.words), one.shown);
}

TEST(WithoutSecretsTest, ATextIsCutNowhere) {
  EXPECT_EQ(WithoutSecrets("s3://bucket/key?X-Amz-Signature=1"), "s3://bucket/key?***");
  EXPECT_EQ(WithoutSecrets(""), "");
}

}  // namespace
}  // namespace penstock::traces
