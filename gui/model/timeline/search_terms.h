// SPDX-License-Identifier: Apache-2.0
//
// The words of a search. A span is found if all of them hold for it:
//   decode               a stage, in any language; also stage:decode
//   batch 12, sample 345 also batch:12; batch:12@3 is that of iterator 3
//   epoch 3              the epochs of each loader count from 1; also epoch:3; epoch:3@5 is only
//   the
//                        epoch of iterator 5, even if other loaders also have an epoch 3
//   worker 2             the spans in the process of this worker; also worker:2
//   rank 1               the spans in the processes of this rank; also rank:1
//   process:4            only process 4 of the trace (each rank may have a worker 2)
//   >5ms                 longer than
//   cat.jpg              a part of a name or path, in any case; also file:cat.jpg
//   "train step"         in quotation marks: a part of a name, even if it has spaces or is a stage
// A part of a path finds all spans of the samples for which that file was read, including their
// decoding and transforms. "group:file top 20" is no condition for a span: it asks for a table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gui/model/timeline/timeline.h"
#include "traces/trace.h"

namespace penstock::gui {

// The text with its ASCII letters in lower case.
[[nodiscard]] std::string Lowered(std::string_view text);

// The part of a name in quotation marks, so that it is searched for even if it has spaces or is the
// name of a stage.
[[nodiscard]] std::string QuotedPhrase(std::string_view phrase);

// A sample in one batch: batch, generation, index in the dataset.
using SampleKey = std::array<std::uint32_t, 3>;
[[nodiscard]] constexpr SampleKey SampleKeyOf(const SpanDetail& detail) {
  return {detail.batch, detail.generation, detail.sample};
}

// A pass over all spans checks its stop token once in this many spans.
inline constexpr std::size_t kSpansPerLook = 4096;

// What the rows of a table are.
enum class GroupBy : std::uint8_t { kFile, kShard, kWorker, kStage, kFunction, kEpoch };
// The table that a search asks for: "group:file top 20".
struct TableWish {
  GroupBy by = GroupBy::kFile;
  std::size_t top = 0;  // 0: all rows
  bool operator==(const TableWish&) const = default;
};

class SearchTerms {
 public:
  explicit SearchTerms(std::string_view text);

  // Whether the search has no condition for spans.
  [[nodiscard]] bool empty() const { return terms_.empty(); }
  [[nodiscard]] const std::optional<TableWish>& table() const { return table_; }
  // Whether a stage is asked for.
  [[nodiscard]] bool names_stage() const;
  // Must be called once before MayHold() and Hold(). The arguments must outlive this object.
  // Ends early when `stop` is requested; MayHold() and Hold() then give wrong answers.
  // Cost: one pass over all spans for each term that is a part of a name or path.
  void Prepare(const Timeline& timeline, const traces::Trace& trace,
               const std::stop_token& stop = {});
  // Whether this lane may hold spans that are searched for.
  [[nodiscard]] bool MayHold(std::uint32_t lane) const { return lanes_.empty() || lanes_[lane]; }
  // Whether all terms hold for a span, in a lane for which MayHold() is true. Remembers which texts
  // contain a word.
  [[nodiscard]] bool Hold(traces::StageId stage, std::int64_t length, const SpanDetail& detail);

 private:
  struct Term {
    std::string word;
    std::optional<traces::StageId> stage;
    std::optional<std::uint32_t> batch;
    std::optional<std::uint16_t> generation;
    std::optional<std::uint32_t> epoch;
    std::optional<std::uint32_t> sample;
    std::optional<std::uint32_t> worker;
    std::optional<std::uint32_t> rank;
    std::optional<std::uint32_t> process;
    std::optional<std::int64_t> longer;
    std::unordered_map<std::uint32_t, bool> texts;  // by StringId: whether the text has the word
    std::vector<SampleKey> samples;                 // samples that read a file with the word

    // Whether it holds for all spans of a lane or for none: MayHold() checks it.
    [[nodiscard]] bool is_of_lane() const { return worker || rank || process; }
    [[nodiscard]] bool is_text() const {
      return !stage && !batch && !epoch && !sample && !is_of_lane() && !longer;
    }
    [[nodiscard]] bool Occurs(const traces::Trace& trace, StringId id);
  };
  // A word as it was typed.
  struct Word {
    std::string text;
    bool quoted = false;
  };
  static std::vector<Word> WordsOf(std::string_view text);
  static bool TakeNumber(std::string_view name, std::string_view value, Term* term);
  static bool TakeNamed(std::string_view name, std::string_view value, Term* term);
  bool TakeTable(const std::vector<Word>& words, std::size_t* at);
  [[nodiscard]] bool Holds(Term& term, traces::StageId stage, std::int64_t length,
                           const SpanDetail& detail);

  std::vector<Term> terms_;
  std::optional<TableWish> table_;
  std::vector<bool> lanes_;  // by lane: MayHold(); empty: all true
  const Timeline* timeline_ = nullptr;
  const traces::Trace* trace_ = nullptr;
};

[[nodiscard]] inline bool AsksForTable(std::string_view text) {
  return SearchTerms(text).table().has_value();
}
// The text without the words that ask for a table.
[[nodiscard]] std::string WithoutTable(std::string_view text);

}  // namespace penstock::gui
