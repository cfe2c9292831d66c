// SPDX-License-Identifier: Apache-2.0
//
// A command line without what looks like a password, a token or a key. The agent and the programs
// share this code: it takes no memory but the caller's and needs no library. Pure.
#pragma once

#include <stddef.h>

namespace penstock::traces {

// Puts "***" in place of what is to be hidden in `text`, words with a 0 between them: values of
// options and variables whose name says that they are secret (--token X, --api-key=X, HF_TOKEN=X,
// "password": "X"), tokens known by how they begin (sk-, hf_, ghp_, AKIA, Bearer), passwords in
// URLs, queries that sign a URL, private keys. Returns the new size, at most `capacity`: the room
// that is there. Requires: size < capacity.
size_t HideSecrets(char* text, size_t size, size_t capacity);

}  // namespace penstock::traces
