// SPDX-License-Identifier: Apache-2.0
//
// Command lines without what looks like a password, a token or a key. The agent, which cannot use
// this code, has its own (agent/redact.h); tests/agent/redact_cases.h is what both must do. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock::traces {

// The words of a command line with "***" for what is hidden: values of options and variables whose
// name says that they are secret (--token X, --api-key=X, HF_TOKEN=X, "password": "X"), tokens
// known by how they begin (sk-, hf_, ghp_, AKIA, Bearer), passwords in URLs, queries that sign a
// URL, private keys.
[[nodiscard]] std::vector<std::string> WithoutSecrets(const std::vector<std::string>& words);

// The same for one text.
[[nodiscard]] std::string WithoutSecrets(std::string_view text);

}  // namespace penstock::traces
