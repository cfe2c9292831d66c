// SPDX-License-Identifier: Apache-2.0
//
// Texts in the recording: strings by hash, facts, command lines.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent {

// Writes a text as consecutive records of one chunk, cut after kMaxText bytes. `type`, `id`: as in
// wire::TextRecord. False if there was no room, and then counts the records as dropped; also false
// if the thread does not record.
bool WriteText(uint8_t type, uint64_t id, const char* text, size_t size);

inline constexpr size_t kMaxText = 8192;

}  // namespace penstock::agent
