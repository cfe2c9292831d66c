// SPDX-License-Identifier: Apache-2.0
//
// The facts and counters that Penstock writes (FORMAT.md, "Facts and counters"), and which kind of
// value each fact has. A program, or a trace of another tool, may add others, whose keys and names
// may say anything. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::traces {

enum class FactKind : std::uint8_t {
  kUnknown,  // not one of ours
  kOwn,      // leads to a file of the recorder
  kPublic,   // a number, a version, a model, a state
  kHost,
  kId,        // of a boot or a device
  kFolder,    // a path
  kName,      // a class
  kSentence,  // of ours, with paths
  kVersionAndPath,
  kWords,  // a command line, a place in the program
};

// The kind of a fact's value. `key`: without the "part.N." of a merged trace.
[[nodiscard]] FactKind KindOfFact(std::string_view key);

// "kernel" of "part.3.kernel": a merged trace has the facts of its parts.
[[nodiscard]] std::string_view WithoutPart(std::string_view key);

// Whether `key` is "version.X" or "X.version" of Python or of a public library X. `key`: without
// the "part.N." of a merged trace.
[[nodiscard]] bool IsVersionOfLibrary(std::string_view key);

// Whether Penstock writes counters of this name. `name`: without the "@HOST" of a connection.
[[nodiscard]] bool IsOurCounter(std::string_view name);

}  // namespace penstock::traces
