// SPDX-License-Identifier: Apache-2.0
//
// Predictions and suggestions in the report's JSON.
#pragma once

#include <cstddef>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/report/json_writer.h"

namespace penstock::analyzer {

// Writes the fields of a prediction into the open object.
// Requires: `prediction` did not go through OnBase() yet, so its speed-up is that of the whole run.
void WritePrediction(const Diagnosis& diagnosis, const Prediction& prediction, JsonWriter& json);

// Writes the key "suggestion" of the main loader.
void WriteSuggestion(const Diagnosis& diagnosis, JsonWriter& json);

// Writes the key "suggestion" of the loader with the index `loader`.
// Writes nothing for a loader without a suggestion: a loader of another process, or one that comes
// after eight others.
void WriteSuggestionFor(std::size_t loader, const Diagnosis& diagnosis, JsonWriter& json);

}  // namespace penstock::analyzer
