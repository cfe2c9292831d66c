// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/doctor.h"

#include <algorithm>

#include <fmt/core.h>

#include "analyzer/report/json_writer.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kWidth = 90;                // columns behind the indent
constexpr std::string_view kIndent = "        ";  // as wide as "  warn  "
constexpr std::string_view kRemedyIndent = "           ";

std::string_view Word(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kWarn:
      return "warn";
    case Health::kBad:
      return "bad";
  }
  return "bad";
}

std::string Marker(Health health, const Paint& paint) {
  const std::string word = fmt::format("{:<4}", Word(health));
  if (health == Health::kOk) return paint.Green(word);
  return health == Health::kWarn ? paint.Yellow(word) : paint.Red(word);
}

}  // namespace

std::string_view Variable(const DoctorInput& input, const std::string& name) {
  const auto found = input.environment.find(name);
  return found == input.environment.end() ? std::string_view() : std::string_view(found->second);
}

Checks RunDoctor(const DoctorInput& input) {
  Checks checks;
  CheckAgent(input, checks);
  CheckPreloads(input, checks);
  CheckTarget(input, checks);
  CheckHost(checks);
  CheckGpu(checks);
  CheckGpuTools(input, checks);
  return checks;
}

bool CanRecord(const Checks& checks) {
  return std::none_of(checks.begin(), checks.end(),
                      [](const Check& check) { return check.health == Health::kBad; });
}

std::string DoctorText(const Checks& checks, bool colour) {
  const Paint paint(colour);
  std::string text;
  for (const Check& check : checks) {
    std::string line = PlainText(check.fact, 400);
    if (!check.consequence.empty()) line += ": " + check.consequence;
    text += "  " + Marker(check.health, paint) + "  " + Wrapped(line, kWidth, kIndent) + "\n";
    if (!check.remedy.empty()) {
      text += std::string(kIndent) +
              paint.Dim("-> " + Wrapped(check.remedy, kWidth, kRemedyIndent)) + "\n";
    }
  }
  text += CanRecord(checks) ? "\n  Recording can work here.\n"
                            : "\n  Recording cannot work as things are.\n";
  return text;
}

std::string DoctorJson(const Checks& checks) {
  JsonWriter json;
  json.BeginObject();
  json.Field("schema", "penstock.doctor/1").Field("can_record", CanRecord(checks));
  json.Key("checks").BeginArray();
  for (const Check& check : checks) {
    json.BeginObject();
    json.Field("id", check.id).Field("health", Word(check.health)).Field("fact", check.fact);
    json.Field("consequence", check.consequence).Field("remedy", check.remedy);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

}  // namespace penstock::analyzer
