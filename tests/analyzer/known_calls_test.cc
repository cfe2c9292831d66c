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

// Before Python 3.11, the recorded name lacks the class. In NumPy 2, vectorize is in another file.
TEST(KnownCallTest, TakesVectorizeOfEachNumpy) {
  const std::string packages = "/venv/lib/python3.10/site-packages/";
  for (const char* file : {"numpy/lib/function_base.py", "numpy/lib/_function_base_impl.py"}) {
    const KnownCall* known = FindKnownCall("__call__", packages + file);
    ASSERT_NE(known, nullptr) << file;
    EXPECT_EQ(known->shown, "numpy.vectorize");
  }
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
