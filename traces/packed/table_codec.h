// SPDX-License-Identifier: Apache-2.0
//
// Payloads of the sections that are not spans. Each entry of a list starts with its size, so a
// later minor version may append fields. Readers return false if something does not fit; what was
// read before it stays. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/event.h"

namespace penstock::traces::packed {

void WriteProcess(std::uint32_t index, const ProcessInfo& process, ByteWriter& out);
void WriteThread(std::uint32_t index, const ThreadInfo& thread, ByteWriter& out);
void WriteFact(std::string_view key, std::string_view value, ByteWriter& out);
void WriteEvents(std::span<const Event> events, ByteWriter& out);
void WriteCounters(std::span<const CounterSample> counters, ByteWriter& out);
void WriteSummary(const Losses& losses, TimeNs realtime_offset, ByteWriter& out);
// `number`: of the mark, from 1. `tail_bytes`: how much of the tail belongs to it.
void WriteMark(std::uint64_t number, std::uint64_t tail_bytes, ByteWriter& out);

[[nodiscard]] bool ReadProcesses(std::span<const std::byte> payload,
                                 std::vector<ProcessInfo>& processes);
[[nodiscard]] bool ReadThreads(std::span<const std::byte> payload,
                               std::vector<ThreadInfo>& threads);
[[nodiscard]] bool ReadFacts(std::span<const std::byte> payload,
                             std::map<std::string, std::string>& facts);
[[nodiscard]] bool ReadEvents(std::span<const std::byte> payload, std::uint32_t count,
                              std::vector<Event>& events);
[[nodiscard]] bool ReadCounters(std::span<const std::byte> payload, std::uint32_t count,
                                std::vector<CounterSample>& counters);
[[nodiscard]] bool ReadSummary(std::span<const std::byte> payload, Losses& losses,
                               TimeNs& realtime_offset);
[[nodiscard]] bool ReadMark(std::span<const std::byte> payload, std::uint64_t& number,
                            std::uint64_t& tail_bytes);

}  // namespace penstock::traces::packed
