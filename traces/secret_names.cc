// SPDX-License-Identifier: Apache-2.0
#include "traces/secret_names.h"

#include <stdint.h>

namespace penstock::traces {
namespace {

constexpr uint32_t kMaxParts = 12;

// Whether `word` is in `list`, which has a blank before and after each word.
bool IsOneOf(const char* list, Piece word) {
  for (const char* p = list; *p != 0;) {
    while (*p == ' ') {
      ++p;
    }
    const char* end = p;
    while (*end != 0 && *end != ' ') {
      ++end;
    }
    const auto n = static_cast<size_t>(end - p);
    size_t i = 0;
    while (i < n && i < word.size && Lower(word.data[i]) == p[i]) {
      ++i;
    }
    if (n > 0 && i == n && word.size == n) {
      return true;
    }
    p = end;
  }
  return false;
}

struct Parts {
  Piece part[kMaxParts];
  uint32_t count;
};

// Splits "hf_apiKey" into hf, api, key.
void Split(Piece name, Parts& parts) {
  parts.count = 1;
  parts.part[0] = {name.data, 0};
  for (size_t i = 0; i < name.size; ++i) {
    const char c = name.data[i];
    const bool border = c == '_' || c == '-' || c == '.';
    const bool hump =
        i > 0 && IsUpper(c) && IsAlnum(name.data[i - 1]) && !IsUpper(name.data[i - 1]);
    Piece* last = &parts.part[parts.count - 1];
    if ((border || hump) && last->size > 0 && parts.count < kMaxParts) {
      last = &parts.part[parts.count++];
      *last = {name.data + i, 0};
    }
    if (!border) {
      if (last->size == 0) {
        last->data = name.data + i;
      }
      ++last->size;
    }
  }
  if (parts.count > 1 && parts.part[parts.count - 1].size == 0) {
    --parts.count;
  }
}

struct Beginning {
  const char* text;
  uint32_t rest;  // at least so many characters follow
  bool plain;     // only letters and digits follow
};
constexpr Beginning kBeginnings[] = {
    {"sk-", 17, false},       {"sk_live_", 8, true},      {"sk_test_", 8, true},
    {"rk_live_", 8, true},    {"hf_", 17, true},          {"ghp_", 16, true},
    {"gho_", 16, true},       {"ghu_", 16, true},         {"ghs_", 16, true},
    {"ghr_", 16, true},       {"github_pat_", 16, false}, {"glpat-", 12, false},
    {"AKIA", 12, true},       {"ASIA", 12, true},         {"xoxa-", 10, false},
    {"xoxb-", 10, false},     {"xoxp-", 10, false},       {"xoxr-", 10, false},
    {"xoxs-", 10, false},     {"xapp-", 10, false},       {"AIza", 26, false},
    {"ya29.", 16, false},     {"npm_", 26, true},         {"pypi-", 26, false},
    {"dop_v1_", 16, true},    {"SG.", 20, false},         {"nvapi-", 16, false},
    {"wandb_v1_", 16, false}, {"r8_", 26, true},          {"gsk_", 26, true},
    {"eyJ", 17, false},
};

}  // namespace

bool IsSecretName(Piece name) {
  Parts parts;
  Split(name, parts);
  const Piece last = parts.part[parts.count - 1];
  if (IsOneOf("file path dir folder name type length len size env policy prompt host timeout "
              "endpoint count enabled required",
              last)) {
    return false;
  }
  for (uint32_t i = 0; i < parts.count; ++i) {
    if (IsOneOf("password passwd passphrase passcode secret secrets apikey apitoken authtoken "
                "accesstoken accesskey secretkey privatekey credential credentials authorization "
                "cookie cookies webhook",
                parts.part[i])) {
      return true;
    }
  }
  const Piece before = parts.count > 1 ? parts.part[parts.count - 2] : Piece{"", 0};
  bool upper = false;
  bool lower = false;
  bool joined = false;
  for (size_t i = 0; i < name.size; ++i) {
    upper = upper || IsUpper(name.data[i]);
    lower = lower || IsLower(name.data[i]);
    joined = joined || name.data[i] == '_';
  }
  const bool loud = before.size > 0 && joined && upper && !lower;  // MY_KEY
  if (last.IsIgnoringCase("token")) {
    return !IsOneOf(
        "eos bos pad unk mask sep cls special image next per stop start end prompt num "
        "max time",
        before);
  }
  if (last.IsIgnoringCase("key")) {
    return loud || IsOneOf(
                       "api access secret private auth account encryption service wandb aws "
                       "ssh hf openai license signing master shared session storage azure "
                       "deploy",
                       before);
  }
  if (last.IsIgnoringCase("dsn")) {
    return true;
  }
  if (last.IsIgnoringCase("pwd")) {
    return before.size > 0;
  }
  if (last.IsIgnoringCase("pass")) {
    return loud || IsOneOf("db user smtp mail redis root admin ftp http proxy sudo ssh", before);
  }
  return last.IsIgnoringCase("auth") && !IsOneOf("no use require", before);
}

bool IsUserName(Piece name) {
  return IsOneOf("u user proxy-user userpwd", name);
}

size_t TokenLength(Piece name) {
  for (const Beginning& known : kBeginnings) {
    if (!name.Begins(known.text)) {
      continue;
    }
    const size_t begin = __builtin_strlen(known.text);
    size_t end = begin;
    bool random = false;
    bool dots = false;
    while (end < name.size &&
           (known.plain ? IsAlnum(name.data[end]) : IsNameChar(name.data[end]))) {
      random = random || IsDigit(name.data[end]) || IsUpper(name.data[end]);
      dots = dots || name.data[end] == '.';
      ++end;
    }
    if (end - begin >= known.rest && random && (known.text[0] != 'e' || dots)) {
      return end;
    }
  }
  return 0;
}

}  // namespace penstock::traces
