// SPDX-License-Identifier: Apache-2.0
#include "analyzer/words/names.h"

#include "analyzer/words/part_names.h"
#include "analyzer/words/rule_names.h"

namespace penstock::analyzer {

std::string_view NameIn(std::string_view name, Language language) {
  if (language == Language::kEnglish) return name;
  for (const Message& part : words::kPartNames) {
    if (part.english == name) return part.chinese;
  }
  for (const Message& rule : words::kRuleNames) {
    if (rule.id == name) return rule.chinese;
  }
  return name;
}

}  // namespace penstock::analyzer
