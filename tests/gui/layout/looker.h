// SPDX-License-Identifier: Apache-2.0
//
// Draws the dashboard in windows as people may have them, and gathers the faults of its texts.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/palette.h"
#include "tests/gui/headless.h"
#include "tests/gui/layout/faults.h"
#include "tests/gui/layout/subjects.h"

namespace penstock::gui::testing {

// The properties of a window.
struct Look {
  int width = 1280;
  int height = 720;
  double scale = 1;
  Theme theme = Theme::kDark;
  Language language = Language::kEnglish;
};
// "1280x720 dark en"
[[nodiscard]] std::string NameOf(const Look& look);

// A fault, and the looks that have it.
struct Report {
  Fault first;
  std::string place;  // subject and view
  std::vector<std::string> looks;
};

class Looker {
 public:
  // Looks only at subjects and views whose names contain these.
  Looker(std::string_view subject, std::string_view view) : subject_(subject), view_(view) {}

  // Looks at all views of all subjects, each in several states.
  void LookAt(std::vector<Subject>& subjects, const Look& look);

  [[nodiscard]] const std::map<std::string, Report>& reports() const { return reports_; }
  [[nodiscard]] std::size_t frames() const { return frames_; }  // checked frames
  [[nodiscard]] std::size_t texts() const { return texts_; }    // texts in these frames

 private:
  // What is open and how it is shown.
  struct Place {
    std::string name;
    std::string_view view;
    std::vector<std::string> names;
  };
  void Visit(Subject& subject);
  void VisitView(const Subject& subject, const ViewInfo& view);
  void VisitPanels(const Subject& subject, const ViewInfo& view);
  void VisitDialogs(const Subject& subject);
  void SettleAndCheck(const Place& place);
  void Scroll(const Place& place);
  void Hover(const Place& place, const std::vector<SeenText>& shortened);
  void Frames(int count);
  void Press(int key, int mods);
  // Checks the last frame.
  Scene Check(const Place& place);
  void Add(const Place& place, Fault fault);
  [[nodiscard]] bool Wanted(const Subject& subject, std::string_view view) const;

  std::string subject_;
  std::string view_;
  Look look_;
  Headless* window_ = nullptr;
  std::map<std::string, Report> reports_;
  std::set<std::string> explained_;  // shortened texts whose tips have been looked at
  std::size_t frames_ = 0;
  std::size_t texts_ = 0;
};

}  // namespace penstock::gui::testing
