// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/table_codec.h"

#include <algorithm>
#include <utility>

#include "traces/packed/packed_layout.h"

namespace penstock::traces::packed {
namespace {

void WriteTexts(const std::vector<std::string>& texts, ByteWriter& out) {
  out.Varint(texts.size());
  for (const std::string& text : texts) {
    out.Text(text);
  }
}

std::vector<std::string> ReadTexts(ByteReader& reader) {
  std::vector<std::string> texts;
  const std::uint64_t count = reader.Varint();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    texts.emplace_back(reader.Text());
  }
  return texts;
}

std::uint32_t Unsigned32(ByteReader& reader) {
  return static_cast<std::uint32_t>(reader.Bounded(0xffffffffu));
}

std::int32_t Signed32(ByteReader& reader) {
  return static_cast<std::int32_t>(reader.Signed());
}

ProcessInfo ReadProcess(ByteReader& r) {
  ProcessInfo p;
  p.pid = Unsigned32(r);
  p.parent = Unsigned32(r);
  p.role = static_cast<wire::ProcessRole>(r.Bounded(wire::kRoleWorker));
  p.worker_id = Signed32(r);
  p.rank = Signed32(r);
  p.local_rank = Signed32(r);
  p.world_size = Signed32(r);
  p.features = Unsigned32(r);
  p.process_start = r.Varint();
  p.comm = r.Text();
  p.command = ReadTexts(r);
  p.libraries = ReadTexts(r);
  const std::uint64_t facts = r.Varint();
  for (std::uint64_t i = 0; i < facts && r.ok(); ++i) {
    const std::string_view key = r.Text();
    p.facts[std::string(key)] = r.Text();
  }
  p.bytes_hooked.value = r.Varint();
  p.bytes_dataset.value = r.Varint();
  p.bytes_network.value = r.Varint();
  p.bytes_mapped.value = r.Varint();
  p.bytes_kernel.value = r.Varint();
  p.dropped = r.Varint();
  p.hook_misses = r.Varint();
  if (r.left() > 0) {  // old files lack it
    p.counted = r.Varint() != 0;
    p.bytes_lost.value = r.Varint();
    p.bytes_claimed.value = r.Varint();
    p.network_lost.value = r.Varint();
    p.network_claimed.value = r.Varint();
    p.bytes_open.value = r.Varint();
  }
  return p;
}

// Grows `list` for `index` unless that is more than a file can hold.
template <class T>
bool Reach(std::vector<T>& list, std::uint64_t index, std::uint32_t limit) {
  if (index >= limit || index > list.size() + kMaxIndexGap) {
    return false;
  }
  if (index >= list.size()) {
    list.resize(index + 1);
  }
  return true;
}

bool PlausibleTime(std::int64_t ns) {
  return ns >= -kMaxTime && ns <= kMaxTime;
}

constexpr std::uint8_t kTruncated = 1;
constexpr std::uint8_t kUnsealed = 2;

}  // namespace

void WriteProcess(std::uint32_t index, const ProcessInfo& p, ByteWriter& out) {
  ByteWriter part;
  part.Varint(p.pid);
  part.Varint(p.parent);
  part.Varint(p.role);
  part.Signed(p.worker_id);
  part.Signed(p.rank);
  part.Signed(p.local_rank);
  part.Signed(p.world_size);
  part.Varint(p.features);
  part.Varint(p.process_start);
  part.Text(p.comm);
  WriteTexts(p.command, part);
  WriteTexts(p.libraries, part);
  part.Varint(p.facts.size());
  for (const auto& [key, value] : p.facts) {
    part.Text(key);
    part.Text(value);
  }
  part.Varint(p.bytes_hooked.value);
  part.Varint(p.bytes_dataset.value);
  part.Varint(p.bytes_network.value);
  part.Varint(p.bytes_mapped.value);
  part.Varint(p.bytes_kernel.value);
  part.Varint(p.dropped);
  part.Varint(p.hook_misses);
  part.Varint(p.counted ? 1 : 0);
  part.Varint(p.bytes_lost.value);
  part.Varint(p.bytes_claimed.value);
  part.Varint(p.network_lost.value);
  part.Varint(p.network_claimed.value);
  part.Varint(p.bytes_open.value);
  out.Varint(index);
  out.Part(part);
}

void WriteThread(std::uint32_t index, const ThreadInfo& thread, ByteWriter& out) {
  ByteWriter part;
  part.Varint(thread.process.value);
  part.Varint(thread.tid);
  part.Text(thread.name);
  out.Varint(index);
  out.Part(part);
}

void WriteFact(std::string_view key, std::string_view value, ByteWriter& out) {
  out.Text(key);
  out.Text(value);
}

void WriteEvents(std::span<const Event> events, ByteWriter& out) {
  std::int64_t at = 0;
  for (const Event& event : events) {
    out.Signed(WrapSub(event.at.value, std::exchange(at, event.at.value)));
  }
  for (const Event& event : events) {
    out.Varint(event.thread.value);
  }
  for (const Event& event : events) {
    out.Varint(event.batch.index);
  }
  for (const Event& event : events) {
    out.Varint(event.batch.generation);
  }
  for (const Event& event : events) {
    out.Signed(event.value);
  }
  for (const Event& event : events) {
    out.U8(static_cast<std::uint8_t>(event.type));
  }
}

void WriteCounters(std::span<const CounterSample> counters, ByteWriter& out) {
  std::int64_t at = 0;
  for (const CounterSample& sample : counters) {
    out.Signed(WrapSub(sample.at.value, std::exchange(at, sample.at.value)));
  }
  for (const CounterSample& sample : counters) {
    out.Varint(sample.name.value);
  }
  for (const CounterSample& sample : counters) {
    out.Varint(sample.process.value);
  }
  for (const CounterSample& sample : counters) {
    out.Signed(sample.value);
  }
}

void WriteSummary(const Losses& losses, TimeNs realtime_offset, ByteWriter& out) {
  out.Signed(realtime_offset.value);
  out.Varint(losses.dropped_events);
  out.Varint(losses.damaged_records);
  out.Varint(losses.damaged_bytes);
  out.Varint(losses.damaged_chunks);
  out.Varint(losses.lost_threads);
  out.U8(static_cast<std::uint8_t>((losses.truncated ? kTruncated : 0) |
                                   (losses.unsealed ? kUnsealed : 0)));
}

void WriteMark(std::uint64_t number, std::uint64_t tail_bytes, ByteWriter& out) {
  out.Varint(number);
  out.Varint(tail_bytes);
}

bool ReadProcesses(std::span<const std::byte> payload, std::vector<ProcessInfo>& processes) {
  ByteReader reader(payload);
  while (reader.left() > 0) {
    const std::uint64_t index = reader.Varint();
    ByteReader part = reader.Part();
    ProcessInfo process = ReadProcess(part);
    if (!reader.ok() || !part.ok() || !Reach(processes, index, kMaxProcesses)) {
      return false;
    }
    processes[index] = std::move(process);
  }
  return true;
}

bool ReadThreads(std::span<const std::byte> payload, std::vector<ThreadInfo>& threads) {
  ByteReader reader(payload);
  while (reader.left() > 0) {
    const std::uint64_t index = reader.Varint();
    ByteReader part = reader.Part();
    ThreadInfo thread;
    thread.process.value = Unsigned32(part);
    thread.tid = Unsigned32(part);
    thread.name = part.Text();
    if (!reader.ok() || !part.ok() || !Reach(threads, index, kMaxThreads)) {
      return false;
    }
    threads[index] = std::move(thread);
  }
  return true;
}

bool ReadFacts(std::span<const std::byte> payload, std::map<std::string, std::string>& facts) {
  ByteReader reader(payload);
  while (reader.left() > 0) {
    const std::string_view key = reader.Text();
    const std::string_view value = reader.Text();
    if (!reader.ok()) {
      return false;
    }
    facts[std::string(key)] = value;
  }
  return true;
}

bool ReadEvents(std::span<const std::byte> payload, std::uint32_t count,
                std::vector<Event>& events) {
  ByteReader reader(payload);
  if (count > payload.size()) {
    return false;
  }
  std::vector<Event> read(count);
  bool sound = true;
  std::int64_t at = 0;
  for (Event& event : read) {
    event.at.value = at = WrapAdd(at, reader.Signed());
    sound = sound && PlausibleTime(at);
  }
  for (Event& event : read) {
    event.thread.value = Unsigned32(reader);
  }
  for (Event& event : read) {
    event.batch.index = Unsigned32(reader);
  }
  for (Event& event : read) {
    event.batch.generation = static_cast<std::uint16_t>(reader.Bounded(0xffff));
  }
  for (Event& event : read) {
    event.value = reader.Signed();
  }
  for (Event& event : read) {
    event.type = static_cast<EventType>(reader.U8());
  }
  if (!reader.ok() || !sound) {
    return false;
  }
  events.insert(events.end(), read.begin(), read.end());
  return true;
}

bool ReadCounters(std::span<const std::byte> payload, std::uint32_t count,
                  std::vector<CounterSample>& counters) {
  ByteReader reader(payload);
  if (count > payload.size()) {
    return false;
  }
  std::vector<CounterSample> read(count);
  bool sound = true;
  std::int64_t at = 0;
  for (CounterSample& sample : read) {
    sample.at.value = at = WrapAdd(at, reader.Signed());
    sound = sound && PlausibleTime(at);
  }
  for (CounterSample& sample : read) {
    sample.name.value = Unsigned32(reader);
  }
  for (CounterSample& sample : read) {
    sample.process.value = Unsigned32(reader);
  }
  for (CounterSample& sample : read) {
    sample.value = reader.Signed();
  }
  if (!reader.ok() || !sound) {
    return false;
  }
  counters.insert(counters.end(), read.begin(), read.end());
  return true;
}

bool ReadSummary(std::span<const std::byte> payload, Losses& losses, TimeNs& realtime_offset) {
  ByteReader reader(payload);
  Losses read;
  const std::int64_t offset = reader.Signed();
  read.dropped_events = reader.Varint();
  read.damaged_records = reader.Varint();
  read.damaged_bytes = reader.Varint();
  read.damaged_chunks = reader.Varint();
  read.lost_threads = reader.Varint();
  const std::uint8_t bits = reader.U8();
  read.truncated = (bits & kTruncated) != 0;
  read.unsealed = (bits & kUnsealed) != 0;
  if (!reader.ok() || !PlausibleTime(offset)) {
    return false;
  }
  losses = read;
  realtime_offset.value = offset;
  return true;
}

bool ReadMark(std::span<const std::byte> payload, std::uint64_t& number,
              std::uint64_t& tail_bytes) {
  ByteReader reader(payload);
  number = reader.Varint();
  tail_bytes = reader.Varint();
  return reader.ok() && number != 0;
}

}  // namespace penstock::traces::packed
