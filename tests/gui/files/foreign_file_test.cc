// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/foreign_file.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "gui/model/document.h"
#include "gui/model/files/sweep.h"

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKineto = R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "pid": 7, "tid": 7, "ts": 1000, "dur": 500,
   "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"},
  {"ph": "X", "cat": "cpu_op", "pid": 7, "tid": 7, "ts": 2000, "dur": 300, "name": "aten::conv2d"},
  {"ph": "X", "cat": "user_annotation", "pid": 7, "tid": 7, "ts": 3000, "dur": 400,
   "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"}
]})";

class ForeignFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path Make(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  fs::path folder_;
};

TEST_F(ForeignFiles, AFileOfPyTorchsProfilerOpensAsADocument) {
  const auto document = LoadDocument(Make("run.json", kKineto));
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->trace->span_count(), 3U);
  EXPECT_EQ(document->path, folder_ / "run.json");
  ASSERT_TRUE(document->analysis->report.diagnosis.loader.has_value());
  // The iterator has workers, but the file does not say how many.
  EXPECT_FALSE(document->analysis->report.diagnosis.run.loader().config.workers_known);
}

TEST_F(ForeignFiles, TheWindowsJobOpensItToo) {
  LoadJob job(Make("run.json", kKineto), [] {});
  for (int i = 0; i < 10'000 && !job.finished(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(job.finished());
  EXPECT_FALSE(job.error().has_value());
  EXPECT_TRUE(job.document().complete());
}

TEST_F(ForeignFiles, AnUnexportedReportOfNsightSaysHowToExportIt) {
  const auto opened = OpenForeign(Make("run.nsys-rep", "anything"));
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("nsys export --type sqlite run.nsys-rep"),
            std::string::npos)
      << opened.error().message;
}

TEST_F(ForeignFiles, OurOwnExportForChromeIsATraceAndASweepIsNot) {
  const std::string exported =
      R"({"penstockTrace":1,"realtimeOffsetNanoseconds":0,"displayTimeUnit":"ms",)"
      R"("otherData":{"penstock.version":"0.1.0"},)"
      "\n\"traceEvents\":[\n]}\n";
  EXPECT_EQ(KindOf(Make("run.json", exported)), FileKind::kForeign);
  EXPECT_EQ(KindOf(Make("sweep.json", R"({"schema": "penstock.sweep/1", "cells": []})")),
            FileKind::kJson);
}

TEST_F(ForeignFiles, WhatHoldsNoSpansIsRefusedWithItsName) {
  const auto opened = OpenForeign(Make("run.json", "{\"traceEvents\": []}"));
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("run.json"), std::string::npos);
}

}  // namespace
}  // namespace penstock::gui
