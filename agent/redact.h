// SPDX-License-Identifier: Apache-2.0
//
// A command line without what looks like a password, a token or a key. No memory but the caller's,
// no libc. traces/without_secrets.h does the same for the programs; what both must do is in
// tests/agent/redact_cases.h.
#pragma once

#include <stddef.h>

namespace penstock::agent {

// Puts "***" in place of what is to be hidden in `text`: words with a 0 between them. Returns the
// new size, at most `capacity`: the room that is there. Requires: size < capacity.
size_t HideSecrets(char* text, size_t size, size_t capacity);

}  // namespace penstock::agent
