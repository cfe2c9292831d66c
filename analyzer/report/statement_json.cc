// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/statement_json.h"

#include <string>

namespace penstock::analyzer {
namespace {

struct ValueWriter {
  JsonWriter& json;

  void operator()(bool value) const { json.Value(value); }
  void operator()(double value) const { json.Value(value); }
  void operator()(const std::string& value) const { json.Value(std::string_view(value)); }
  void operator()(const Statements& parts) const {
    json.BeginArray();
    for (const Statement& part : parts) WriteStatement(part, json);
    json.EndArray();
  }
};

}  // namespace

void WriteStatement(const Statement& statement, JsonWriter& json) {
  json.BeginObject();
  if (!statement.empty()) {
    json.Field("id", statement.message->id).Key("values").BeginObject();
    for (const auto& [name, value] : statement.values) {
      json.Key(name);
      std::visit(ValueWriter{json}, value);
    }
    json.EndObject();
  }
  json.EndObject();
}

void WriteStatements(std::string_view key, const Statements& statements, JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const Statement& one : statements) json.Value(English(one));
  json.EndArray().Key(std::string(key) + "_statements").BeginArray();
  for (const Statement& one : statements) WriteStatement(one, json);
  json.EndArray();
}

}  // namespace penstock::analyzer
