// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/io_history.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace penstock::record {
namespace {

constexpr std::size_t kMaxThreads = 256;

std::uint64_t Less(Bytes a, Bytes b) {
  return a.value - std::min(a.value, b.value);
}

}  // namespace

bool IoHistory::Sample(const std::string& folder) {
  const auto text = ReadFile(folder + "/io", 4096);
  const auto io = text ? ParseIo(*text) : std::nullopt;
  if (!io) return false;
  whole_ = *io;
  if (!follows_threads_) return true;
  std::map<std::uint64_t, ProcIo> current;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder + "/task", error), end; !error && it != end;
       it.increment(error)) {
    const auto tid = ParseNumber(it->path().filename().string());
    const auto own = ReadFile(it->path().string() + "/io", 4096);
    const auto parsed = own ? ParseIo(*own) : std::nullopt;
    if (tid && parsed) current[*tid] = *parsed;
    if (current.size() > kMaxThreads) {
      follows_threads_ = false;
      return true;
    }
  }
  for (const auto& [tid, last] : threads_) {
    if (current.contains(tid)) continue;
    // The kernel cuts a listing short if a thread ends meanwhile, and a file may be unreadable for
    // a moment. If a living thread counted as ended, its bytes would be counted twice from then on.
    const auto place = std::filesystem::status(folder + "/task/" + std::to_string(tid), error);
    if (place.type() != std::filesystem::file_type::not_found) {
      current[tid] = last;
      continue;
    }
    ended_.rchar += last.rchar;
    ended_.read_bytes += last.read_bytes;
  }
  threads_ = std::move(current);
  return true;
}

void IoHistory::AddChild(const ProcIo& child) {
  children_.rchar += child.rchar;
  children_.read_bytes += child.read_bytes;
}

ProcIo IoHistory::own() const {
  if (!follows_threads_) {
    return {Bytes{Less(whole_.rchar, children_.rchar)},
            Bytes{Less(whole_.read_bytes, children_.read_bytes)}};
  }
  ProcIo sum = ended_;
  for (const auto& [tid, io] : threads_) {
    sum.rchar += io.rchar;
    sum.read_bytes += io.read_bytes;
  }
  return sum;
}

Coverage IoHistory::Pair(Bytes start, Bytes before, Bytes after) const {
  const std::uint64_t low = Less(own().rchar, start);
  const std::uint64_t high = std::max(low, Less(Bytes{Less(whole_.rchar, children_.rchar)}, start));
  // For the moment when the kernel's count was read, the hooks' count is known only as a range.
  // Uses the value of that range that agrees best with the kernel's count.
  const std::uint64_t hooked = before.value > high ? before.value
                               : after.value < low ? after.value
                                                   : std::clamp(low, before.value, after.value);
  return {Bytes{hooked}, Bytes{std::clamp(hooked, low, high)}};
}

}  // namespace penstock::record
