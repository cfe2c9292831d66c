// SPDX-License-Identifier: Apache-2.0
//
// The English is that of analyzer/report/coverage.cc, with {} for each value.
#include "gui/model/phrase_texts.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace penstock::gui {
namespace {

struct Phrase {
  std::string_view english;
  std::string_view chinese;
};

// Coverage::blind, up to the colon that ends them there.
constexpr std::array kLibraries = {
    Phrase{"JPEG 2000 decoding on the GPU ({})", "GPU 上的 JPEG 2000 解码（{0}）"},
    Phrase{"JPEG decoding on the GPU ({})", "GPU 上的 JPEG 解码（{0}）"},
    Phrase{"image decoding on the GPU ({})", "GPU 上的图像解码（{0}）"},
    Phrase{"video decoding on the GPU ({})", "GPU 上的视频解码（{0}）"},
    Phrase{"video decoding ({})", "视频解码（{0}）"},
    Phrase{"reads straight into GPU memory ({})", "直接读入显存（{0}）"},
    Phrase{"asynchronous reads ({})", "异步读取（{0}）"},
    Phrase{"HEIF decoding ({})", "HEIF 解码（{0}）"},
    Phrase{"AVIF decoding ({})", "AVIF 解码（{0}）"},
    Phrase{"TIFF decoding ({})", "TIFF 解码（{0}）"},
    Phrase{"JPEG 2000 decoding ({})", "JPEG 2000 解码（{0}）"},
    Phrase{"JPEG XL decoding ({})", "JPEG XL 解码（{0}）"},
    Phrase{"NVIDIA DALI: its operators are known by its NVTX ranges only",
           "NVIDIA DALI（只能通过 NVTX 区间了解其算子）"},
    Phrase{"simplejpeg: it carries libjpeg-turbo inside itself",
           "simplejpeg（内置 libjpeg-turbo）"},
    Phrase{"TensorFlow: of what its threads do, reads and JPEG and PNG decoding are seen",
           "TensorFlow（其线程中只能看到读取以及 JPEG、PNG 解码）"},
};

// The values in the places of {}, each as short as what follows it allows; none where `text` is
// another sentence.
std::optional<std::vector<std::string_view>> ValuesIn(std::string_view text,
                                                      std::string_view pattern) {
  std::vector<std::string_view> values;
  std::size_t place = pattern.find("{}");
  if (!text.starts_with(pattern.substr(0, place))) return std::nullopt;
  if (place == std::string_view::npos) {
    return text == pattern ? std::optional(values) : std::nullopt;
  }
  text.remove_prefix(place);
  while (place != std::string_view::npos) {
    pattern.remove_prefix(place + 2);
    place = pattern.find("{}");
    const std::string_view literal = pattern.substr(0, place);
    std::size_t end = text.size();
    if (place != std::string_view::npos) {
      end = text.find(literal);
      if (end == std::string_view::npos) return std::nullopt;
    } else {
      if (!text.ends_with(literal)) return std::nullopt;
      end -= literal.size();
    }
    values.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + literal.size(), text.size()));
  }
  return values;
}

std::string FilledWith(std::string_view chinese, const std::vector<std::string_view>& values) {
  std::string text;
  for (std::size_t i = 0; i < chinese.size(); ++i) {
    const bool place = chinese[i] == '{' && i + 2 < chinese.size() && chinese[i + 2] == '}';
    if (!place) {
      text += chinese[i];
      continue;
    }
    const auto index = static_cast<std::size_t>(chinese[i + 1] - '0');
    if (index < values.size()) text += values[index];
    i += 2;
  }
  return text;
}

std::string Translated(std::span<const Phrase> phrases, std::string_view english) {
  for (const Phrase& phrase : phrases) {
    if (const auto values = ValuesIn(english, phrase.english)) {
      return FilledWith(phrase.chinese, *values);
    }
  }
  return std::string(english);
}

}  // namespace

std::string LibraryText(std::string_view english, Language language) {
  if (language == Language::kEnglish) return std::string(english);
  return Translated(kLibraries, english);
}

}  // namespace penstock::gui
