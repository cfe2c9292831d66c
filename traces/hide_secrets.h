// SPDX-License-Identifier: Apache-2.0
//
// Hides what looks like a password, a token or a key in a command line. The agent and the programs
// share this code: it uses only the caller's memory and needs no library. Pure.
#pragma once

#include <stddef.h>

namespace penstock::traces {

// Replaces secrets in `text` by "***"; words are separated by a 0. Secrets are: values of options
// and variables whose name says so (--token X, --api-key=X, HF_TOKEN=X, "password": "X"), tokens
// with a known beginning (sk-, hf_, ghp_, AKIA, Bearer), passwords in URLs, queries that sign a
// URL, private keys. Returns the new size. It is at most `capacity`, the size of the memory.
// Requires: size < capacity.
size_t HideSecrets(char* text, size_t size, size_t capacity);

}  // namespace penstock::traces
