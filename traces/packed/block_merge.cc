// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/block_merge.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "traces/order.h"
#include "traces/packed/block_codec.h"

namespace penstock::traces::packed {
namespace {

// An open block and how far it was visited. `spans` is empty while the block is set aside.
struct Cursor {
  const SectionRef* block = nullptr;  // nullptr: spans of the tail, which are never set aside
  std::vector<Span> spans;
  std::size_t at = 0;
  Span next;  // spans[at]; also set while the block is set aside
};

class Merger {
 public:
  Merger(const MappedFile& file, std::span<const SectionRef> blocks,
         const std::function<void(std::span<const Span>)>& visit, std::span<const Span> more)
      : file_(file), visit_(visit) {
    if (!more.empty()) {
      open_.push_back({nullptr, {more.begin(), more.end()}, 0, more.front()});
    }
    for (const SectionRef& block : blocks) {
      waiting_.push_back(&block);
    }
    blocks_ = waiting_.size();
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const SectionRef* a, const SectionRef* b) {
                       return a->header.first > b->header.first;  // the earliest one is at the back
                     });
  }

  void Run() {
    while (true) {
      OpenDue();
      if (open_.empty()) {
        break;
      }
      Advance();
    }
    if (!run_.empty()) {
      visit_(run_);
    }
  }

 private:
  [[nodiscard]] static bool Before(const Cursor& a, const Cursor& b) {
    return StartsBefore(a.next, b.next);
  }

  // Opens every block that may contain the next span or an earlier one.
  void OpenDue() {
    while (!waiting_.empty()) {
      const auto first = std::min_element(open_.begin(), open_.end(), Before);
      if (first != open_.end() && first->next.start.value < waiting_.back()->header.first) {
        return;
      }
      Cursor cursor;
      cursor.block = std::exchange(waiting_.back(), nullptr);
      waiting_.pop_back();
      if (Decode(cursor)) {
        cursor.next = cursor.spans.front();
        SetOneAside();
        open_.push_back(std::move(cursor));
      }
    }
  }

  bool Decode(Cursor& cursor) {
    ++decodes_;
    std::span<const std::byte> payload;
    if (!spare_.empty()) {
      cursor.spans = std::move(spare_.back());
      spare_.pop_back();
    }
    const SectionHeader& header = cursor.block->header;
    const bool sound = decoder_.Decode(file_.bytes(), *cursor.block, &payload) &&
                       DecodeBlock(payload, header.items, cursor.spans) &&
                       cursor.spans.front().start.value == header.first;
    ReleaseSection(file_, *cursor.block);
    return sound;
  }

  // Bounds the number of decoded blocks: sets aside the one that is needed last. A forged file may
  // have many blocks that all interleave. They would have to be decoded again for every span, so
  // after too many decodes all of them are held; the budget of the file bounds their memory.
  void SetOneAside() {
    const auto held = [](const Cursor& c) { return c.block != nullptr && !c.spans.empty(); };
    if (decodes_ > kMostDecodes * blocks_) return;
    if (static_cast<std::size_t>(std::count_if(open_.begin(), open_.end(), held)) <
        kMaxHeldBlocks) {
      return;
    }
    Cursor* last = nullptr;
    for (Cursor& cursor : open_) {
      if (held(cursor) && (last == nullptr || Before(*last, cursor))) {
        last = &cursor;
      }
    }
    last->spans = std::vector<Span>();
  }

  // Moves the spans of the first block that come before those of all others.
  void Advance() {
    const auto first = std::min_element(open_.begin(), open_.end(), Before);
    if (first->spans.empty()) {
      SetOneAside();
      if (!Decode(*first)) {
        open_.erase(first);
        return;
      }
    }
    const Span* other = nullptr;
    for (const Cursor& cursor : open_) {
      if (&cursor != &*first && (other == nullptr || StartsBefore(cursor.next, *other))) {
        other = &cursor.next;
      }
    }
    std::size_t to = first->spans.size();
    const auto from = first->spans.begin() + static_cast<std::ptrdiff_t>(first->at);
    if (!waiting_.empty()) {
      const std::int64_t due = waiting_.back()->header.first;
      to = static_cast<std::size_t>(
          std::partition_point(from, first->spans.end(),
                               [due](const Span& s) { return s.start.value < due; }) -
          first->spans.begin());
    }
    if (other != nullptr) {
      const auto end =
          std::partition_point(from, first->spans.begin() + static_cast<std::ptrdiff_t>(to),
                               [other](const Span& s) { return !StartsBefore(*other, s); });
      to = static_cast<std::size_t>(end - first->spans.begin());
    }
    to = std::max(to, first->at + 1);
    Emit({first->spans.data() + first->at, to - first->at});
    first->at = to;
    if (to == first->spans.size()) {
      spare_.push_back(std::move(first->spans));
      open_.erase(first);
      return;
    }
    first->next = first->spans[to];
  }

  // Passes long runs on as they are. Gathers short runs, which come where blocks interleave.
  void Emit(std::span<const Span> spans) {
    if (run_.empty() && spans.size() >= kGather) {
      visit_(spans);
      return;
    }
    run_.insert(run_.end(), spans.begin(), spans.end());
    if (run_.size() >= kGather) {
      visit_(run_);
      run_.clear();
    }
  }

  static constexpr std::size_t kGather = 4096;    // spans; shorter runs are gathered
  static constexpr std::size_t kMostDecodes = 4;  // decodes per block, on average

  const MappedFile& file_;
  const std::function<void(std::span<const Span>)>& visit_;
  SectionDecoder decoder_;
  std::size_t blocks_ = 0;
  std::size_t decodes_ = 0;
  std::vector<const SectionRef*> waiting_;  // not opened yet
  std::vector<Cursor> open_;
  std::vector<std::vector<Span>> spare_;  // of finished blocks: their memory is used again
  std::vector<Span> run_;                 // gathered by Emit()
};

}  // namespace

void MergeBlocks(const MappedFile& file, std::span<const SectionRef> blocks,
                 const std::function<void(std::span<const Span>)>& visit,
                 std::span<const Span> more) {
  Merger(file, blocks, visit, more).Run();
}

}  // namespace penstock::traces::packed
