// SPDX-License-Identifier: Apache-2.0
//
// Scripts stand in for the desktop's dialog program. The outcome depends on their output and their
// exit status.
#include "gui/main/native_dialog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

class NativeDialogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(::testing::TempDir()) /
        (std::string("dialog_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Script(const std::string& name, const std::string& body) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }

  static DialogOutcome Outcome(NativeDialog& dialog) {
    while (true) {
      if (auto outcome = dialog.Take()) return *outcome;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  DialogOutcome Run(const std::string& body, DialogPurpose purpose = DialogPurpose::kOpen) {
    Script("zenity", body);
    NativeDialog dialog(folder_.string(), [] {});
    EXPECT_TRUE(dialog.available());
    dialog.Start(purpose, "Open", "/tmp");
    return Outcome(dialog);
  }

  fs::path folder_;
};

TEST_F(NativeDialogTest, ThereIsNoneWithoutAProgram) {
  EXPECT_FALSE(NativeDialog("", [] {}).available());
  EXPECT_FALSE(NativeDialog(folder_.string() + ":relative:", [] {}).available());
  std::ofstream(folder_ / "zenity") << "not executable";
  EXPECT_FALSE(NativeDialog(folder_.string(), [] {}).available());
}

TEST_F(NativeDialogTest, WhatItPrintsIsTheFile) {
  const DialogOutcome outcome = Run("echo '/data/my run.penstock'");
  EXPECT_EQ(outcome.kind, DialogOutcome::Kind::kChosen);
  EXPECT_EQ(outcome.path, "/data/my run.penstock");
}

TEST_F(NativeDialogTest, StatusOneIsCancelled) {
  EXPECT_EQ(Run("exit 1").kind, DialogOutcome::Kind::kCancelled);
  EXPECT_EQ(Run("exit 0").kind, DialogOutcome::Kind::kCancelled) << "nothing was named";
}

TEST_F(NativeDialogTest, OneThatCannotShowItselfIsNotAskedAgain) {
  Script("zenity", "echo 'cannot open display' >&2; exit 255");
  NativeDialog dialog(folder_.string(), [] {});
  dialog.Start(DialogPurpose::kOpen, "Open", "/tmp");
  EXPECT_EQ(Outcome(dialog).kind, DialogOutcome::Kind::kFailed);
  EXPECT_FALSE(dialog.available());
}

TEST_F(NativeDialogTest, ItIsCalledWithTitleAndFolder) {
  const DialogOutcome outcome = Run("for w in \"$@\"; do printf '%s|' \"$w\"; done; echo");
  EXPECT_THAT(outcome.path.string(), HasSubstr("--title=Open|"));
  EXPECT_THAT(outcome.path.string(), HasSubstr("--filename=/tmp/|"));
}

TEST_F(NativeDialogTest, SavingAsksBeforeItReplaces) {
  const auto words = NativeDialog::Words("/usr/bin/zenity", DialogPurpose::kSave, "T", "/d/a.csv");
  EXPECT_THAT(words, Contains("--save"));
  EXPECT_THAT(words, Contains("--confirm-overwrite"));
  EXPECT_THAT(words, Contains("--filename=/d/a.csv"));
  const auto kde = NativeDialog::Words("/usr/bin/kdialog", DialogPurpose::kSave, "T", "/d/a.csv");
  EXPECT_THAT(kde, Contains("--getsavefilename"));
  EXPECT_THAT(kde, Contains("/d/a.csv"));
}

TEST_F(NativeDialogTest, TheWindowGoesOnMeanwhileAndClosesItAtItsEnd) {
  Script("zenity", "sleep 1000 & sleep 1000");
  const auto begin = std::chrono::steady_clock::now();
  {
    NativeDialog dialog(folder_.string(), [] {});
    dialog.Start(DialogPurpose::kOpen, "Open", "/tmp");
    EXPECT_TRUE(dialog.running());
    EXPECT_FALSE(dialog.Take());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(500));
}

TEST_F(NativeDialogTest, ASecondDialogMayFollowTheFirst) {
  Script("zenity", "echo /a");
  NativeDialog dialog(folder_.string(), [] {});
  for (int i = 0; i < 3; ++i) {
    dialog.Start(DialogPurpose::kOpen, "Open", "/tmp");
    EXPECT_EQ(Outcome(dialog).path, "/a");
    EXPECT_FALSE(dialog.running());
  }
}

}  // namespace
}  // namespace penstock::gui
