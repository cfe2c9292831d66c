// SPDX-License-Identifier: Apache-2.0
//
// Traces on disk for tests of commands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "traces/pack.h"
#include "traces/trace.h"

namespace penstock::analyzer::testing {

// Writes `data` as a packed trace, without its counters and calls. Expects that this succeeds.
inline void WritePacked(const std::filesystem::path& path, const traces::TraceData& data) {
  auto packer = traces::CreatePacked(path);
  for (const auto& [key, value] : data.facts) (*packer)->SetFact(key, value);
  for (const auto& process : data.processes) (void)(*packer)->AddProcess(process);
  for (const std::string& text : data.strings) (void)(*packer)->Intern(text);
  for (std::uint32_t i = 0; i < data.threads.size(); ++i) {
    (void)(*packer)->AddThread(data.threads[i]);
    for (const traces::Span& span : data.spans[i]) (*packer)->AddSpan(ThreadId{i}, span);
  }
  for (const traces::Event& event : data.events) (*packer)->AddEvent(event);
  EXPECT_TRUE((*packer)->Finish());
}

}  // namespace penstock::analyzer::testing
