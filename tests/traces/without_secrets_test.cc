// SPDX-License-Identifier: Apache-2.0
#include "traces/without_secrets.h"

#include <gtest/gtest.h>

#include "tests/traces/secret_cases.h"

namespace penstock::traces {
namespace {

TEST(WithoutSecretsTest, SecretsOfCommandLinesAreHidden) {
  for (const SecretCase& one : SecretCases()) EXPECT_EQ(WithoutSecrets(one.words), one.shown);
}

TEST(WithoutSecretsTest, WordsMayGrowAndBeEmpty) {
  EXPECT_EQ(WithoutSecrets({"s3://bucket/key?X-Amz-Signature=1", ""}),
            (std::vector<std::string>{"s3://bucket/key?***", ""}));
  EXPECT_EQ(WithoutSecrets({"--token=x", "--token", "y"}),
            (std::vector<std::string>{"--token=***", "--token", "***"}));
  EXPECT_TRUE(WithoutSecrets({}).empty());
}

}  // namespace
}  // namespace penstock::traces
