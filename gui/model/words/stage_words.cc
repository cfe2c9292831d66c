// SPDX-License-Identifier: Apache-2.0
#include "gui/model/words/stage_words.h"

#include <array>

namespace penstock::gui {
namespace {

using traces::StageId;

struct Word {
  StageId stage;
  Text text;
};
constexpr std::array kWords = {
    Word{StageId::kRead, Text::kRead},         Word{StageId::kDecode, Text::kDecode},
    Word{StageId::kAugment, Text::kAugment},   Word{StageId::kSample, Text::kSpanSample},
    Word{StageId::kCollate, Text::kCollate},   Word{StageId::kFetch, Text::kWordFetch},
    Word{StageId::kPut, Text::kPut},           Word{StageId::kGet, Text::kGet},
    Word{StageId::kPin, Text::kPinning},       Word{StageId::kWait, Text::kWait},
    Word{StageId::kIdle, Text::kIdleTime},     Word{StageId::kH2d, Text::kCopyToGpu},
    Word{StageId::kKernel, Text::kGpuKernel},  Word{StageId::kStep, Text::kStep},
    Word{StageId::kStartup, Text::kStartup},   Word{StageId::kMark, Text::kWordMark},
    Word{StageId::kSync, Text::kWordSync},     Word{StageId::kCopy, Text::kWordCopy},
    Word{StageId::kCall, Text::kGpuCall},      Word{StageId::kBlock, Text::kWordBlock},
    Word{StageId::kTokenize, Text::kTokenize},
};

}  // namespace

std::string_view WordOf(StageId stage, Language language) {
  if (language == Language::kEnglish) return traces::StageName(stage);
  for (const Word& word : kWords) {
    if (word.stage == stage) return TextOf(word.text, language);
  }
  return traces::StageName(stage);
}

std::optional<StageId> StageOfWord(std::string_view word) {
  for (const Word& one : kWords) {
    for (const Language language : {Language::kEnglish, Language::kChinese}) {
      if (WordOf(one.stage, language) == word) return one.stage;
    }
  }
  return std::nullopt;
}

}  // namespace penstock::gui
