// SPDX-License-Identifier: Apache-2.0
//
// Draws every view of every kind of trace in windows of several sizes, themes and languages, and
// says which texts are cut off, drawn over one another, too faint, in the other language, or
// shortened without a tip. Without --full: three windows and a shorter trace. With --write FOLDER
// it only writes the traces, for people who want to look at them with penstock-gui.
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "tests/gui/layout/looker.h"
#include "traces/pack.h"
#include "traces/translate.h"

namespace penstock::gui::testing {
namespace {

struct Wanted {
  bool full = false;
  std::uint64_t spans = 0;  // length of the long trace; 0: `full` decides
  std::string subject;
  std::string view;
  std::string look;
  std::filesystem::path folder;  // to write the traces to
};

bool Read(int count, char** arguments, Wanted* wanted) {
  for (int i = 1; i < count; ++i) {
    const std::string_view option = arguments[i];
    if (option == "--full") {
      wanted->full = true;
      continue;
    }
    if (++i == count) return false;
    const std::string_view value = arguments[i];
    if (option == "--spans") {
      std::from_chars(value.data(), value.data() + value.size(), wanted->spans);
    } else if (option == "--subject") {
      wanted->subject = value;
    } else if (option == "--view") {
      wanted->view = value;
    } else if (option == "--look") {
      wanted->look = value;
    } else if (option == "--write") {
      wanted->folder = value;
    } else {
      return false;
    }
  }
  return true;
}

std::vector<Look> LooksOf(const Wanted& wanted) {
  std::vector<Look> looks = {{1280, 720, 1, Theme::kDark, Language::kEnglish},
                             {1280, 720, 1, Theme::kLight, Language::kChinese},
                             {3840, 2160, 2, Theme::kDark, Language::kChinese}};
  if (wanted.full) looks.clear();
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    for (const Theme theme : {Theme::kDark, Theme::kLight}) {
      if (!wanted.full) break;
      looks.push_back({1280, 720, 1, theme, language});
      looks.push_back({1600, 900, 1, theme, language});
      looks.push_back({1920, 1080, 1, theme, language});
      looks.push_back({3840, 2160, 2, theme, language});
    }
  }
  std::erase_if(
      looks, [&](const Look& look) { return NameOf(look).find(wanted.look) == std::string::npos; });
  return looks;
}

void Write(const Document& document, const std::filesystem::path& path) {
  auto out = traces::CreatePacked(path);
  if (!out) throw std::runtime_error(out.error().message);
  traces::CopyTrace(*document.trace, **out);
  if (const auto done = (*out)->Finish(); !done) throw std::runtime_error(done.error().message);
}

int WriteAll(const std::vector<Subject>& subjects, const std::filesystem::path& folder) {
  for (const Subject& subject : subjects) {
    Write(subject.document, folder / (subject.name + ".penstock"));
    if (subject.other) Write(*subject.other, folder / (subject.name + "-other.penstock"));
  }
  return 0;
}

int Check(const Wanted& wanted) {
  const std::uint64_t spans = wanted.spans > 0 ? wanted.spans : wanted.full ? 10'000'000 : 50'000;
  std::vector<Subject> subjects = MakeSubjects(spans);
  if (!wanted.folder.empty()) return WriteAll(subjects, wanted.folder);
  Looker looker(wanted.subject, wanted.view);
  for (const Look& look : LooksOf(wanted)) {
    if (look.language == Language::kChinese && !HasChineseFont()) {
      fmt::print("{}: not looked at, there is no Chinese font here\n", NameOf(look));
      continue;
    }
    looker.LookAt(subjects, look);
  }
  for (const auto& [key, report] : looker.reports()) {
    fmt::print("{}: {} \"{}\" {}\n   ", report.place, NameOf(report.first.kind), report.first.text,
               report.first.detail);
    for (const std::string& look : report.looks) fmt::print(" {};", look);
    fmt::print("\n");
  }
  fmt::print("{} frames with {} texts: {} faults\n", looker.frames(), looker.texts(),
             looker.reports().size());
  const bool saw = looker.texts() > 0;
  if (!saw) fmt::print("no text came by: was this program linked with --wrap?\n");
  return saw && looker.reports().empty() ? 0 : 1;
}

}  // namespace
}  // namespace penstock::gui::testing

int main(int count, char** arguments) {
  penstock::gui::testing::Wanted wanted;
  if (!penstock::gui::testing::Read(count, arguments, &wanted)) {
    std::fputs(
        "usage: gui_layout_check [--full] [--spans N] [--subject NAME] [--view NAME] "
        "[--look PART] [--write FOLDER]\n",
        stderr);
    return 2;
  }
  try {
    return penstock::gui::testing::Check(wanted);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "gui_layout_check: {}\n", problem.what());
    return 2;
  }
}
