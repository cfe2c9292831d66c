// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/span_tail.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "traces/base/xxh64.h"
#include "traces/packed/packed_layout.h"

namespace penstock::traces::packed {
namespace {

constexpr std::size_t kBound = 16 * 1024;  // bytes at the beginning of the part that identify it

TailHeader HeaderOf(std::span<const std::byte> part, std::size_t bound) {
  TailHeader header{};
  std::memcpy(header.magic, kTailMagic, sizeof header.magic);
  header.major = kMajor;
  header.minor = kMinor;
  header.header_size = sizeof header;
  header.bound = bound;
  header.part_check = Xxh64(part.data(), bound);
  return header;
}

TailSpan Row(const Span& span) {
  TailSpan row{};
  row.start = span.start.value;
  row.duration = std::max<std::int64_t>(span.duration.value, 0);
  row.cpu = span.cpu.value;
  row.busy = span.busy.value;
  row.bytes = span.bytes.value;
  row.sample = span.sample;
  row.name = span.name.value;
  row.object = span.object.value;
  row.batch = span.batch.index;
  row.generation = span.batch.generation;
  row.stage = static_cast<std::uint8_t>(span.stage);
  row.flags = span.flags;
  row.depth = span.depth;
  return row;
}

bool SpanOf(const TailSpan& row, Span& span) {
  if (row.start < -kMaxTime || row.start > kMaxTime || row.duration < 0 ||
      row.duration > kMaxTime || row.cpu < -1 || row.busy < -1) {
    return false;
  }
  span.start.value = row.start;
  span.duration.value = row.duration;
  span.cpu.value = row.cpu;
  span.busy.value = row.busy;
  span.bytes.value = row.bytes;
  span.sample = row.sample;
  span.name.value = row.name;
  span.object.value = row.object;
  span.batch = {row.batch, row.generation};
  span.stage = static_cast<StageId>(row.stage);
  span.flags = row.flags;
  span.depth = row.depth;
  return true;
}

// Reads the rows at `at`; false if there are no complete ones.
bool ReadRun(std::span<const std::byte> bytes, TailSpans& out, std::size_t* size) {
  TailRun run;
  if (bytes.size() < sizeof run) return false;
  std::memcpy(&run, bytes.data(), sizeof run);
  const std::uint64_t rows = std::uint64_t{run.count} * sizeof(TailSpan);
  if (run.magic != kTailRunMagic || run.check != Xxh64(&run, offsetof(TailRun, check)) ||
      rows > bytes.size() - sizeof run) {
    return false;
  }
  const std::span<const std::byte> stored = bytes.subspan(sizeof run, rows);
  if (Xxh64(stored.data(), stored.size()) != run.rows_check) return false;
  out.thread = run.thread;
  out.before = run.before;
  out.spans.resize(run.count);
  for (std::uint32_t i = 0; i < run.count; ++i) {
    TailSpan row;
    std::memcpy(&row, stored.data() + i * sizeof row, sizeof row);
    if (!SpanOf(row, out.spans[i])) return false;
  }
  *size = sizeof run + rows;
  return true;
}

}  // namespace

void SpanTail::Add(std::uint32_t thread, std::uint64_t before, std::span<const Span> spans) {
  std::vector<TailSpan> rows(spans.size());
  std::transform(spans.begin(), spans.end(), rows.begin(), Row);
  TailRun run{};
  run.magic = kTailRunMagic;
  run.thread = thread;
  run.before = before;
  run.count = static_cast<std::uint32_t>(rows.size());
  run.rows_check = Xxh64(rows.data(), rows.size() * sizeof(TailSpan));
  run.check = Xxh64(&run, offsetof(TailRun, check));
  pending_.Raw(std::as_bytes(std::span(&run, 1)));
  pending_.Raw(std::as_bytes(std::span(rows)));
}

bool SpanTail::Write(const OutputFile& part) {
  const ByteWriter pending = std::exchange(pending_, {});
  if (pending.empty()) return true;
  if (!file_) {
    const auto bytes = part.Map();
    auto file = OutputFile::Create(part.final_path(), part.suffix() + ".tail",
                                   {.private_to_owner = part.rules().private_to_owner});
    if (!bytes || !file) return false;
    const TailHeader header = HeaderOf(bytes->bytes(), std::min(kBound, bytes->bytes().size()));
    if (!file->Append(std::as_bytes(std::span(&header, 1)))) {
      file->Discard();
      return false;
    }
    file_.emplace(std::move(*file));
  }
  return file_->Append(pending.bytes()).has_value();
}

void SpanTail::Empty() {
  if (file_ && file_->size() > sizeof(TailHeader)) file_->CutBack(sizeof(TailHeader));
}

void SpanTail::Discard() {
  if (file_) file_->Discard();
  file_.reset();
}

std::vector<TailSpans> ReadTail(const std::filesystem::path& part,
                                std::span<const std::byte> part_bytes, std::uint64_t limit,
                                std::uint64_t* damaged) {
  std::vector<TailSpans> runs;
  std::filesystem::path path = part;
  path += ".tail";
  const auto file = MappedFile::Open(path);
  TailHeader header;
  if (!file || file->bytes().size() < sizeof header) return runs;
  std::memcpy(&header, file->bytes().data(), sizeof header);
  if (std::memcmp(header.magic, kTailMagic, sizeof header.magic) != 0 || header.major != kMajor ||
      header.bound > part_bytes.size() || header.bound > kBound ||
      header.part_check != Xxh64(part_bytes.data(), header.bound)) {
    return runs;
  }
  const std::size_t size = std::min<std::uint64_t>(limit, file->bytes().size());
  if (size < sizeof header) return runs;
  std::span<const std::byte> left = file->bytes().first(size).subspan(sizeof header);
  while (!left.empty()) {
    TailSpans run;
    std::size_t run_bytes = 0;
    if (!ReadRun(left, run, &run_bytes)) {
      *damaged += left.size();  // the next run cannot be found
      break;
    }
    left = left.subspan(run_bytes);
    if (!run.spans.empty()) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace penstock::traces::packed
