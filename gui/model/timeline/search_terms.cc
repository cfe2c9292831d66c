// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/search_terms.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "gui/model/words/stage_words.h"

namespace penstock::gui {
namespace {

using traces::StageId;

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool Contains(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) { return Lower(a) == b; };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::optional<std::int64_t> LengthOf(std::string_view word) {
  const std::string text(word);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value >= 0)) return std::nullopt;
  const std::string_view unit = end;
  const double scale = unit == "s"                    ? 1e9
                       : unit == "us"                 ? 1e3
                       : unit == "ns"                 ? 1
                       : unit == "ms" || unit.empty() ? 1e6
                                                      : -1;
  if (scale < 0 || value * scale > 9e18) return std::nullopt;
  return static_cast<std::int64_t>(value * scale);
}

// The number that `word` holds. A comma after it is ignored, as in "epoch 3, batch 12".
std::optional<std::uint32_t> NumberOf(std::string_view word) {
  for (const std::string_view comma : {",", "，"}) {
    if (word.ends_with(comma)) word.remove_suffix(comma.size());
  }
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

struct GroupWord {
  std::string_view word;
  GroupBy by;
};
constexpr std::array kGroupWords = {
    GroupWord{"file", GroupBy::kFile},     GroupWord{"文件", GroupBy::kFile},
    GroupWord{"shard", GroupBy::kShard},   GroupWord{"分片", GroupBy::kShard},
    GroupWord{"worker", GroupBy::kWorker}, GroupWord{"工作进程", GroupBy::kWorker},
    GroupWord{"stage", GroupBy::kStage},   GroupWord{"阶段", GroupBy::kStage},
    GroupWord{"name", GroupBy::kFunction}, GroupWord{"function", GroupBy::kFunction},
    GroupWord{"函数", GroupBy::kFunction}, GroupWord{"epoch", GroupBy::kEpoch}};

// The two parts of "name:value"; both are empty for any other word. The wide colon comes from a
// Chinese keyboard.
std::pair<std::string_view, std::string_view> Halves(std::string_view word) {
  for (const std::string_view mark : {":", "："}) {
    const std::size_t colon = word.find(mark);
    if (colon == std::string_view::npos) continue;
    if (colon == 0 || colon + mark.size() == word.size()) return {};
    return {word.substr(0, colon), word.substr(colon + mark.size())};
  }
  return {};
}

std::optional<GroupBy> GroupOfWord(std::string_view word) {
  const auto [name, value] = Halves(word);
  if (name != "group" && name != "分组") return std::nullopt;
  for (const GroupWord& one : kGroupWords) {
    if (one.word == value) return one.by;
  }
  return std::nullopt;
}

bool AsksForTop(std::string_view word) {
  return word == "top" || word == "前";
}

}  // namespace

std::string Lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

std::string QuotedPhrase(std::string_view phrase) {
  std::string text = "\"";
  for (const char c : phrase) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

// Splits a text into words. A quotation mark at the begin of a word starts a phrase, which lasts
// until the next mark, or until the end if there is none yet. Two marks inside a phrase stand for
// one.
std::vector<SearchTerms::Word> SearchTerms::WordsOf(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    Word word;
    word.quoted = text[at] == '"';
    if (word.quoted) {
      for (++at; at < text.size(); ++at) {
        const bool mark = text[at] == '"';
        if (mark && (at + 1 == text.size() || text[at + 1] != '"')) break;
        if (mark) ++at;
        word.text += text[at];
      }
      ++at;
    } else {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      word.text = text.substr(at, end - at);
      at = end + 1;
    }
    word.text = Lowered(word.text);
    if (!word.text.empty()) words.push_back(std::move(word));
  }
  return words;
}

// Takes "batch" and "12".
bool SearchTerms::TakeNumber(std::string_view name, std::string_view value, Term* term) {
  const auto number = NumberOf(value);
  if (!number) return false;
  if (name == "batch" || name == "批次") {
    term->batch = number;
  } else if (name == "sample" || name == "样本") {
    term->sample = number;
  } else if (name == "epoch") {
    term->epoch = number;
  } else if (name == "worker" || name == "工作进程") {
    term->worker = number;
  } else if (name == "rank") {
    term->rank = number;
  } else {
    return false;
  }
  return true;
}

// Takes "batch:12@3", "stage:decode", "file:cat.jpg".
bool SearchTerms::TakeNamed(std::string_view name, std::string_view value, Term* term) {
  if (name.empty()) return false;
  if (name == "stage" || name == "阶段") {
    term->stage = StageOfWord(value);
    return term->stage.has_value();
  }
  if (name == "file" || name == "name" || name == "function") {
    term->word = value;
    return true;
  }
  if (name == "process") {
    term->process = NumberOf(value);
    return term->process.has_value();
  }
  const std::size_t at = value.find('@');
  if (at != std::string_view::npos && (name == "batch" || name == "epoch")) {
    const auto generation = NumberOf(value.substr(at + 1));
    if (!generation || *generation > 0xffff) return false;
    term->generation = static_cast<std::uint16_t>(*generation);
    value = value.substr(0, at);
  }
  return TakeNumber(name, value, term);
}

// Takes "group:file" and "top 20" or "top:20".
bool SearchTerms::TakeTable(const std::vector<Word>& words, std::size_t* at) {
  const std::string& word = words[*at].text;
  if (const auto by = GroupOfWord(word)) {
    if (!table_) table_.emplace();
    table_->by = *by;
    return true;
  }
  if (!table_) return false;  // without a table, "top 20" may be a name
  const auto [name, value] = Halves(word);
  const bool two = AsksForTop(word) && *at + 1 < words.size();
  const auto top = two                ? NumberOf(words[*at + 1].text)
                   : AsksForTop(name) ? NumberOf(value)
                                      : std::optional<std::uint32_t>();
  if (!top) return AsksForTop(word);  // the number after "top" is not typed yet
  table_->top = *top;
  if (two) ++*at;
  return true;
}

SearchTerms::SearchTerms(std::string_view text) {
  const std::vector<Word> words = WordsOf(text);
  for (std::size_t w = 0; w < words.size(); ++w) {
    Term term;
    term.word = words[w].text;
    if (words[w].quoted) {
      terms_.push_back(std::move(term));
      continue;
    }
    if (TakeTable(words, &w)) continue;
    const std::string& word = words[w].text;
    const auto [name, value] = Halves(word);
    const bool two = w + 1 < words.size() && !words[w + 1].quoted;
    if (two && TakeNumber(word, words[w + 1].text, &term)) {
      ++w;
    } else if (word.size() > 1 && word[0] == '>' && LengthOf(std::string_view(word).substr(1))) {
      term.longer = LengthOf(std::string_view(word).substr(1));
    } else if (!TakeNamed(name, value, &term)) {
      term.stage = StageOfWord(word);
    }
    terms_.push_back(std::move(term));
  }
}

bool SearchTerms::names_stage() const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [](const Term& term) { return term.stage.has_value(); });
}

void SearchTerms::Prepare(const Timeline& timeline, const traces::Trace& trace,
                          const std::stop_token& stop) {
  timeline_ = &timeline;
  trace_ = &trace;
  for (Term& term : terms_) {
    if (term.is_of_lane() && lanes_.empty()) lanes_.assign(timeline.lanes.size(), true);
    if (term.worker || term.rank) {
      for (const Group& group : timeline.groups) {
        const bool own =
            term.rank ? group.rank >= 0 && static_cast<std::uint32_t>(group.rank) == *term.rank
                      : group.kind == GroupKind::kWorker && group.worker_id >= 0 &&
                            static_cast<std::uint32_t>(group.worker_id) == *term.worker;
        for (const std::size_t lane : group.lanes) lanes_[lane] = lanes_[lane] && own;
      }
    }
    if (term.process) {
      for (std::size_t l = 0; l < lanes_.size(); ++l) {
        const ProcessId of = trace.threads()[timeline.lanes[l].thread.value].process;
        lanes_[l] = lanes_[l] && of.value == *term.process;
      }
    }
    if (!term.is_text()) continue;
    for (const Lane& lane : timeline.lanes) {
      for (const Level& level : lane.levels) {
        for (std::size_t i = 0; i < level.size(); ++i) {
          if (i % kSpansPerLook == 0 && stop.stop_requested()) return;
          const SpanDetail& detail = level.detail[i];
          if (detail.sample == SpanDetail::kNoSample || !term.Occurs(trace, detail.object))
            continue;
          const SampleKey key = SampleKeyOf(detail);
          if (term.samples.empty() || term.samples.back() != key) term.samples.push_back(key);
        }
      }
    }
    std::sort(term.samples.begin(), term.samples.end());
    term.samples.erase(std::unique(term.samples.begin(), term.samples.end()), term.samples.end());
  }
}

bool SearchTerms::Term::Occurs(const traces::Trace& trace, StringId id) {
  if (id.value == 0) return false;
  const auto [it, fresh] = texts.try_emplace(id.value, false);
  if (fresh) it->second = Contains(trace.String(id), word);
  return it->second;
}

bool SearchTerms::Holds(Term& term, StageId stage, std::int64_t length, const SpanDetail& detail) {
  if (term.stage) return stage == *term.stage;
  if (term.batch) {
    return detail.batch == *term.batch &&
           (!term.generation || detail.generation == *term.generation);
  }
  if (term.epoch) {
    return detail.key().valid() && timeline_->epochs.NumberOf(detail.generation) == *term.epoch &&
           (!term.generation || detail.generation == *term.generation);
  }
  if (term.sample) return detail.sample == *term.sample;
  if (term.longer) return length > *term.longer;
  if (term.is_of_lane()) return true;
  return term.Occurs(*trace_, detail.name) || term.Occurs(*trace_, detail.object) ||
         (detail.sample != SpanDetail::kNoSample &&
          std::binary_search(term.samples.begin(), term.samples.end(), SampleKeyOf(detail)));
}

bool SearchTerms::Hold(StageId stage, std::int64_t length, const SpanDetail& detail) {
  return std::all_of(terms_.begin(), terms_.end(),
                     [&](Term& term) { return Holds(term, stage, length, detail); });
}

std::string WithoutTable(std::string_view text) {
  std::string rest;
  bool table = false;
  bool number = false;  // the number after "top" is next
  bool quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    const std::string lower = Lowered(word);
    const bool quotes = std::count(word.begin(), word.end(), '"') % 2 != 0;
    if (!quoted && !quotes) {
      if (number && NumberOf(lower)) {
        number = false;
        continue;
      }
      number = false;
      if (GroupOfWord(lower)) {
        table = true;
        continue;
      }
      const auto [name, value] = Halves(lower);
      if (table && (AsksForTop(lower) || (AsksForTop(name) && NumberOf(value)))) {
        number = AsksForTop(lower);
        continue;
      }
    }
    quoted = quoted != quotes;
    if (!word.empty()) rest += (rest.empty() ? "" : " ") + std::string(word);
  }
  return rest;
}

}  // namespace penstock::gui
