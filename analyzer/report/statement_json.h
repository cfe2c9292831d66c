// SPDX-License-Identifier: Apache-2.0
//
// Statements in JSON reports: {"id": ..., "values": {...}}, next to the text. A number is in
// seconds, bytes or samples per second, or it is a fraction of 1 or a count.
#pragma once

#include "analyzer/report/json_writer.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// Writes an empty object for an empty statement.
void WriteStatement(const Statement& statement, JsonWriter& json);

// Writes an array of texts, and the statements under KEY_statements.
void WriteStatements(std::string_view key, const Statements& statements, JsonWriter& json);

}  // namespace penstock::analyzer
