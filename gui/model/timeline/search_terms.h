// SPDX-License-Identifier: Apache-2.0
//
// What a search says. Its words must all hold for a span:
//   decode               a stage, in any language; also stage:decode
//   batch 12, sample 345 also batch:12; batch:12@3 is that of iterator 3
//   epoch 3              as a person counts the epochs of a loader; also epoch:3; epoch:3@5 is that
//                        of iterator 5 alone, whatever other loaders have a third one
//   worker 2             what the process of this worker did; also worker:2
//   process:4            one process alone, by its place in the trace: each rank has a worker 2
//   >5ms                 longer than
//   cat.jpg              a part of a name or path, in any case; also file:cat.jpg
//   "train step"         in quotation marks: a part of a name, whatever it says
// A word of a path finds all spans of the samples for which that file was read: also their decoding
// and transforms. "group:file top 20" says nothing about a span: it asks for a table.
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

// The text that searches for this part of a name, although it may have spaces or name a stage.
[[nodiscard]] std::string QuotedPhrase(std::string_view phrase);

// A sample as one process made it: batch, generation, index.
using SampleKey = std::array<std::uint32_t, 3>;
[[nodiscard]] constexpr SampleKey SampleKeyOf(const SpanDetail& detail) {
  return {detail.batch, detail.generation, detail.sample};
}

// A pass over all spans looks at its stop token once for this many of them.
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

  // Whether no word says what a span is.
  [[nodiscard]] bool empty() const { return terms_.empty(); }
  [[nodiscard]] const std::optional<TableWish>& table() const { return table_; }
  // Whether a stage is asked for.
  [[nodiscard]] bool names_stage() const;
  // To be called once before the others. The arguments must outlive this.
  // Ends early when `stop` is requested; the answers of the others are then of no use.
  // Cost: for each word of a name or path one pass over all spans.
  void Prepare(const Timeline& timeline, const traces::Trace& trace,
               const std::stop_token& stop = {});
  // Whether a span of this lane may be one that is searched for.
  [[nodiscard]] bool MayHold(std::uint32_t lane) const { return lanes_.empty() || lanes_[lane]; }
  // Whether all words hold for a span of a lane that MayHold(). Remembers which texts have a word.
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
    std::optional<std::uint32_t> process;
    std::optional<std::int64_t> longer;
    std::unordered_map<std::uint32_t, bool> texts;  // by StringId: whether the text has the word
    std::vector<SampleKey> samples;                 // samples that read a file with the word

    [[nodiscard]] bool is_text() const {
      return !stage && !batch && !epoch && !sample && !worker && !process && !longer;
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
  std::vector<bool> lanes_;  // empty: all of them
  const Timeline* timeline_ = nullptr;
  const traces::Trace* trace_ = nullptr;
};

[[nodiscard]] inline bool AsksForTable(std::string_view text) {
  return SearchTerms(text).table().has_value();
}
// The text without the words that ask for a table.
[[nodiscard]] std::string WithoutTable(std::string_view text);

}  // namespace penstock::gui
