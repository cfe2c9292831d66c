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

// Runs a collector in a process of its own, with a temporary folder.
class Collecting {
 public:
  Collecting() {
    char name[] = "/tmp/penstock-collector-test-XXXXXX";
    EXPECT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    auto pair = Channel::Pair();
    EXPECT_TRUE(pair);
    pid_ = fork();
    EXPECT_GE(pid_, 0);
    if (pid_ == 0) {
      pair->first.Close();
      CollectorConfig config;
      config.options.output = folder_ / "t";
      config.options.output_given = true;
      config.options.command = {"true"};
      config.options.gpu = "off";
      _exit(Collector(std::move(config), std::move(pair->second)).Run());
    }
    channel_ = std::move(pair->first);
  }
  ~Collecting() { std::filesystem::remove_all(folder_); }
  Collecting(const Collecting&) = delete;
  Collecting& operator=(const Collecting&) = delete;

  [[nodiscard]] bool IsReady() const {
    Message message;
    message.type = MessageType::kNote;
    while (message.type != MessageType::kReady) {
      if (channel_.Receive(&message, 60'000) != Channel::Event::kMessage) return false;
    }
    return true;
  }
  // Waits for the collector to end and returns its wait status.
  [[nodiscard]] int Wait() const {
    int status = -1;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return status;
  }
  [[nodiscard]] Channel& channel() { return channel_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  Channel channel_;
  pid_t pid_ = -1;
};

TEST(CollectorTest, LeavesNothingIfTheLauncherEndsBeforeItStartsTheCommand) {
  Collecting collecting;
  EXPECT_TRUE(collecting.IsReady());
  EXPECT_TRUE(std::filesystem::exists(collecting.folder() / "t.part"));
  collecting.channel().Close();
  EXPECT_EQ(collecting.Wait(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(collecting.folder()));
}

TEST(CollectorTest, WaitsForDescendantsIfLauncherAndCommandEndAtOnce) {
  const pid_t command = fork();
  ASSERT_GE(command, 0);
  if (command == 0) _exit(0);
  ASSERT_EQ(waitpid(command, nullptr, 0), command);
  const TimeNs begin = MonotonicNow();
  Collecting collecting;
  EXPECT_TRUE(collecting.IsReady());
  Message started;
  started.type = MessageType::kStarted;
  started.values[0] = static_cast<std::uint64_t>(command);
  started.values[1] = static_cast<std::uint64_t>(MonotonicNow().value);
  EXPECT_TRUE(collecting.channel().Send(started));
  collecting.channel().Close();
  EXPECT_EQ(collecting.Wait(), 0);
  EXPECT_GE(MonotonicNow() - begin, TimeNs{500'000'000});
  EXPECT_TRUE(std::filesystem::exists(collecting.folder() / "t"));
}

}  // namespace
}  // namespace penstock::record
