// SPDX-License-Identifier: Apache-2.0
#include "analyzer/words/rule_names.h"
#include "gui/model/overview.h"

namespace penstock::gui {

FindingText TextOf(const analyzer::Finding& finding, Language language) {
  const std::string seen = Render(finding.seen, language);
  const std::string action = Render(finding.action, language);
  if (language == Language::kEnglish) return {Typeset(seen), "", action};
  return {std::string(TitleOfRule(finding.id, language)), seen, action};
}

std::string_view TitleOfRule(std::string_view id, Language language) {
  if (language == Language::kEnglish) return id;
  for (const analyzer::Message& name : analyzer::words::kRuleNames) {
    if (name.id == id) return name.chinese;
  }
  return id;
}

}  // namespace penstock::gui
