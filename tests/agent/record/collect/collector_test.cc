// SPDX-License-Identifier: Apache-2.0
#include "agent/record/collect/collector.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

#include "agent/record/collect/channel.h"

namespace penstock::record {
namespace {

TEST(CollectorTest, LeavesNothingIfTheLauncherEndsBeforeItStartsTheCommand) {
  char name[] = "/tmp/penstock-collector-test-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::filesystem::path folder = name;
  auto pair = Channel::Pair();
  ASSERT_TRUE(pair);
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    pair->first.Close();
    CollectorConfig config;
    config.options.output = folder / "t";
    config.options.output_given = true;
    config.options.command = {"true"};
    config.options.gpu = "off";
    _exit(Collector(std::move(config), std::move(pair->second)).Run());
  }
  pair->second.Close();
  Message message;
  message.type = MessageType::kNote;
  while (message.type != MessageType::kReady) {
    if (pair->first.Receive(&message, 60'000) != Channel::Event::kMessage) break;
  }
  EXPECT_EQ(message.type, MessageType::kReady);
  EXPECT_TRUE(std::filesystem::exists(folder / "t.part"));
  pair->first.Close();
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace penstock::record
