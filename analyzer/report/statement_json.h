// SPDX-License-Identifier: Apache-2.0
//
// Statements in reports: {"id": ..., "values": {...}}, beside the text. Values keep their units:
// seconds, bytes, fractions of 1.
#pragma once

#include "analyzer/report/json_writer.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// An empty object where there is nothing to say.
void WriteStatement(const Statement& statement, JsonWriter& json);

// An array of texts, and under KEY_statements the statements.
void WriteStatements(std::string_view key, const Statements& statements, JsonWriter& json);

}  // namespace penstock::analyzer
