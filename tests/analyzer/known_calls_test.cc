// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/known_calls.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::analyzer {
namespace {

TEST(KnownCallTest, TakesBuiltinsByTheirPackage) {
  const KnownCall* known = FindKnownCall("numpy.random.mtrand.RandomState.choice", "");
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->shown, "numpy.random.choice");
  EXPECT_EQ(FindKnownCall("numpy.random.RandomState.choice", ""), known) << "by Cython 3";
  EXPECT_EQ(FindKnownCall("numpy.random.Generator.choice", ""), nullptr) << "is the advice";
  EXPECT_EQ(FindKnownCall("random.Random.choice", "/usr/lib/python3.11/random.py"), nullptr);
}

TEST(KnownCallTest, TakesTheModuleReForNoFolderThatBeginsLikeIt) {
  for (const char* file : {"/usr/lib/python3.11/re/__init__.py", "/usr/lib/python3.9/re.py"}) {
    const KnownCall* known = FindKnownCall("_compile", file);
    ASSERT_NE(known, nullptr) << file;
    EXPECT_EQ(known->shown, "re.compile");
  }
  const std::string packages = "/home/u/research/venv/lib/python3.11/site-packages/";
  EXPECT_EQ(FindKnownCall("Environment.compile", packages + "jinja2/environment.py"), nullptr);
}

}  // namespace
}  // namespace penstock::analyzer
