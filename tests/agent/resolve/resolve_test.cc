// SPDX-License-Identifier: Apache-2.0
//
// Compares agent/system/resolve.cc with ld.so itself. Each victim runs without and with the
// preload; both times the same copy of the codec must answer a call. The callers are the executable
// and extensions: with private libraries, with -fno-plt, with static or symbolic linking, and with
// RTLD_DEEPBIND.
#include <gtest/gtest.h>

#include <string>

#include "tests/agent/resolve/run_victim.h"
#include "tests/paths.h"

namespace penstock::agent_test {
namespace {

const std::string kDir = paths::kResolveVictims;
const std::string kPreload = "LD_PRELOAD=" + std::string(paths::kResolvePreload);
const std::string kPreloadOld =
    "LD_PRELOAD=" + std::string(paths::kResolvePreloadOld);  // glibc before 2.35

std::map<std::string, std::string> Answers(const std::string& environment,
                                           const std::string& victim, const std::string& mode) {
  const Outcome outcome = RunVictim(environment, kDir + "/" + victim + " " + kDir + " " + mode);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  return Fields(outcome.output);
}

int Value(const std::map<std::string, std::string>& fields, const std::string& key) {
  const auto found = fields.find(key);
  return found == fields.end() ? -99 : std::stoi(found->second);
}

bool Hooked(int value) {
  return value >= 10000;
}

class ResolveTest : public testing::TestWithParam<const char*> {};

TEST_P(ResolveTest, EveryCallerGetsTheFunctionItHadWithoutTheAgent) {
  const auto without = Answers("", GetParam(), "cases");
  const auto with = Answers(kPreload, GetParam(), "cases");
  ASSERT_EQ(without.size(), with.size());
  for (const auto& [key, text] : without) {
    if (key == "foreign") continue;  // differs on purpose: AnObjectIsUsedByTheCopyThatMadeIt
    // After a tail call the hook sees a return address in the executable. This executable is linked
    // with a codec of its own, so the hook calls that one.
    if (key == "tail" && GetParam() == std::string("victim_global")) continue;
    EXPECT_EQ(Value(with, key) % 10000, std::stoi(text)) << key;
  }
}

TEST_P(ResolveTest, InterceptsAllButSymbolicAndDeepBoundCallers) {
  const auto with = Answers(kPreload, GetParam(), "cases");
  for (const char* key : {"versioned", "plain", "noplt", "static", "lazy", "tail"}) {
    EXPECT_TRUE(Hooked(Value(with, key))) << key;
  }
  // Calls of these extensions do not go through a preload. They work as without it.
  EXPECT_FALSE(Hooked(Value(with, "symbolic")));
  EXPECT_FALSE(Hooked(Value(with, "deep")));
}

TEST_P(ResolveTest, AnObjectIsUsedByTheCopyThatMadeIt) {
  const auto with = Answers(kPreload, GetParam(), "cases");
  EXPECT_EQ(Value(with, "foreign"), 10000 + 2 * 100 + 2);
}

TEST_P(ResolveTest, FindsLibcFunctions) {
  EXPECT_EQ(Value(Answers(kPreload, GetParam(), "cases"), "getppid"), 1);
}

INSTANTIATE_TEST_SUITE_P(Victims, ResolveTest, testing::Values("victim", "victim_global"),
                         [](const auto& victim) { return std::string(victim.param); });

TEST(ResolveVictimTest, MainExecutableAsCallerDoesNotRecurse) {
  EXPECT_EQ(Value(Answers(kPreload, "victim_global", "cases"), "main"), 10003);
}

TEST(ResolveVictimTest, ForgetsLibrariesThatWereUnloaded) {
  const auto fields = Answers(kPreload, "victim", "reload");
  EXPECT_EQ(Value(fields, "wrong"), 0);
  RecordProperty("same_address_again", Value(fields, "coincidences"));
}

TEST(ResolveVictimTest, KeepsLibrariesMappedWhereItCannotTellThatTheyWent) {
  EXPECT_EQ(Value(Answers(kPreloadOld, "victim", "reload"), "wrong"), 0);
}

TEST(ResolveVictimTest, AnswersAlikeWithoutFindObject) {
  EXPECT_EQ(Answers(kPreload, "victim", "cases"), Answers(kPreloadOld, "victim", "cases"));
}

TEST(ResolveVictimTest, ManyThreadsGetTheirOwn) {
  EXPECT_EQ(Value(Answers(kPreload, "victim", "threads"), "wrong"), 0);
}

TEST(ResolveVictimTest, MissingFunctionIsReportedNotCalled) {
  EXPECT_EQ(Value(Answers(kPreload, "victim", "missing"), "missing"), -1);
}

}  // namespace
}  // namespace penstock::agent_test
