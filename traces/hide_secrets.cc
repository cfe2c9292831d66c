// SPDX-License-Identifier: Apache-2.0
#include "traces/hide_secrets.h"

#include <stdint.h>

#include <initializer_list>

namespace penstock::traces {
namespace {

constexpr size_t kHidden = 3;  // "***"
constexpr uint32_t kMaxParts = 12;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
bool IsAlnum(char c) {
  return IsDigit(c) || IsUpper(c) || IsLower(c);
}
char Lower(char c) {
  return IsUpper(c) ? static_cast<char>(c + 32) : c;
}
bool IsNameChar(char c) {
  return IsAlnum(c) || c == '_' || c == '-' || c == '.';
}
bool IsQuote(char c) {
  return c == '"' || c == '\'' || c == '`';
}

// A part of the text; it does not end with a 0.
struct Piece {
  const char* data;
  size_t size;

  [[nodiscard]] bool Begins(const char* with) const {
    const size_t n = __builtin_strlen(with);
    return size >= n && __builtin_memcmp(data, with, n) == 0;
  }
  [[nodiscard]] bool Ends(const char* with) const {
    const size_t n = __builtin_strlen(with);
    return size >= n && __builtin_memcmp(data + size - n, with, n) == 0;
  }
  [[nodiscard]] bool IsIgnoringCase(const char* word) const {
    size_t i = 0;
    while (i < size && word[i] != 0 && Lower(data[i]) == word[i]) {
      ++i;
    }
    return i == size && word[i] == 0;
  }
  // The position of `word`, in lower case if `ignore_case`; `size` if it is not there.
  [[nodiscard]] size_t Find(const char* word, bool ignore_case) const {
    const size_t n = __builtin_strlen(word);
    for (size_t at = 0; at + n <= size; ++at) {
      size_t i = 0;
      while (i < n && (ignore_case ? Lower(data[at + i]) : data[at + i]) == word[i]) {
        ++i;
      }
      if (i == n) {
        return at;
      }
    }
    return size;
  }
};

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

// The length of the token at the beginning of `name`; 0: there is none.
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

class Hider {
 public:
  Hider(char* text, size_t size, size_t capacity) : text_(text), size_(size), capacity_(capacity) {}

  size_t Run() {
    while (at_ < size_) {
      Word();
    }
    return size_;
  }

 private:
  enum Next { kShow, kHide, kHideAfterColon };

  [[nodiscard]] char At(size_t i) const { return i < size_ ? text_[i] : 0; }
  [[nodiscard]] Piece Part(size_t from, size_t to) const { return {text_ + from, to - from}; }
  [[nodiscard]] size_t FindEnd(size_t from, const char* stops) const {
    size_t end = from;
    for (; At(end) != 0; ++end) {
      for (const char* stop = stops; *stop != 0; ++stop) {
        if (*stop == At(end)) {
          return end;
        }
      }
    }
    return end;
  }

  void Hide(size_t from, size_t to) {
    if (to <= from) {
      at_ = to;
      return;
    }
    // A secret of one or two letters becomes longer. If there is no room, the end of the text is
    // lost.
    size_t rest = size_ - to;
    if (from + kHidden > capacity_) {
      size_ = at_ = from;
      return;
    }
    if (from + kHidden + rest > capacity_) {
      rest = capacity_ - from - kHidden;
    }
    __builtin_memmove(text_ + from + kHidden, text_ + to, rest);
    __builtin_memcpy(text_ + from, "***", kHidden);
    size_ = from + kHidden + rest;
    at_ = from + kHidden;
  }

  void Word() {
    const size_t begin = at_;
    const size_t end = FindEnd(begin, "");
    const Next next = next_;
    next_ = kShow;
    if (next == kHide && !Part(begin, end).Begins("--")) {
      Hide(begin, end);
    } else if (next == kHideAfterColon) {
      AfterColon(begin, end);
    }
    if (At(begin) == '-' && FindEnd(begin, "= ") == FindEnd(begin, "")) {
      const size_t last = FindEnd(begin, "");
      const size_t start = begin + (At(begin + 1) == '-' ? 2 : 1);
      const Piece name = Part(start < last ? start : last, last);
      if (IsSecretName(name)) {
        next_ = kHide;
      }
      if (IsUserName(name)) {
        next_ = kHideAfterColon;
      }
    }
    while (At(at_) != 0) {
      Step(begin);
    }
    if (at_ < size_) {
      ++at_;
    }
  }

  void Step(size_t begin) {
    const Piece rest = Part(at_, size_);
    if (rest.Begins("://")) {
      return Url();
    }
    const Piece word = Part(at_, FindEnd(at_, ""));
    if (rest.Begins("-----BEGIN ") && word.Find("PRIVATE KEY", false) < word.size) {
      return Hide(at_, at_ + word.size);
    }
    if (IsNameChar(At(at_))) {
      return Name(begin);
    }
    ++at_;
  }

  void Name(size_t begin) {
    const size_t from = at_;
    size_t end = from;
    while (IsNameChar(At(end))) {
      ++end;
    }
    size_t start = from;
    while (At(start) == '-') {
      ++start;
    }
    const Piece name = Part(start, end);
    if (const size_t length = TokenLength(name); length > 0) {
      return Hide(start, start + length);
    }
    size_t value = end;
    const bool bearer = name.IsIgnoringCase("bearer");
    if (bearer || name.IsIgnoringCase("basic")) {
      while (At(value) == ' ') {
        ++value;
      }
      const size_t last = FindEnd(value, " \t\n\r\"'`,;");
      bool random = false;
      for (size_t i = value; i < last; ++i) {
        random = random || !IsLower(At(i));
      }
      if (value > end && last - value >= 8 && (bearer || random)) {
        return Hide(value, last);
      }
      value = end;
    }
    const bool secret = IsSecretName(name);
    if (secret || IsUserName(name)) {
      if (IsQuote(At(value))) {
        ++value;
      }
      const size_t spaces = value;
      while (At(value) == ' ') {
        ++value;
      }
      const char sign = At(value);
      if (sign == '=' || (sign == ':' && !Part(value, size_).Begins("://"))) {
        return Value(value + 1, sign, start == begin || from == begin, secret);
      }
      if (secret && start > from && value > spaces && sign != '-' && sign != 0) {
        return Value(value, ' ', false, true);
      }
    }
    at_ = end;
  }

  // `sign`: the character between name and value. `whole`: the name begins the word.
  void Value(size_t value, char sign, bool whole, bool secret) {
    while (At(value) == ' ') {
      ++value;
    }
    size_t end = value;
    if (IsQuote(At(value))) {
      const char quote[2] = {At(value++), 0};
      end = FindEnd(value, quote);
    } else if (sign == ':') {
      end = FindEnd(value, "\"'`,;}]&\n");
    } else if (sign == '=' && whole) {
      end = FindEnd(value, "");
    } else {
      end = FindEnd(value, " \t\n\r\"'`,;|&)}]");
    }
    if (!secret) {
      return AfterColon(value, end);
    }
    Hide(value, end);
  }

  // "name:password" is hidden, but "1000:1000" is a user and a group.
  void AfterColon(size_t from, size_t end) {
    const size_t value = from + Part(from, end).Find(":", false) + 1;
    bool number = true;
    for (size_t i = value; i < end; ++i) {
      number = number && IsDigit(At(i));
    }
    if (value < end && !number && !Part(value, end).Begins("//")) {
      return Hide(value, end);
    }
    at_ = from;
  }

  void Url() {
    size_t scheme = at_;
    while (scheme > 0 && (IsAlnum(At(scheme - 1)) || At(scheme - 1) == '+')) {
      --scheme;
    }
    const Piece named = Part(scheme, at_);
    const bool web = named.Ends("http") || named.Ends("https") || named.Begins("ftp");
    at_ += 3;
    const size_t end = FindEnd(at_, "/?# \t\n\"'`");
    size_t sign = end;
    for (size_t i = at_; i < end; ++i) {
      sign = At(i) == '@' ? i : sign;
    }
    if (sign < end) {
      const size_t colon = Part(at_, sign).Find(":", false);
      const bool has_colon = at_ + colon < sign;
      if (has_colon || web) {
        Hide(has_colon ? at_ + colon + 1 : at_, sign);
      }
    }
    at_ = FindEnd(at_, "/?# \t\n\"'`");
    for (const char* hook : {"/services/T", "/api/webhooks/"}) {
      const size_t last = FindEnd(at_, "?# \t\n\"'`");
      const size_t found = Part(scheme, last).Find(hook, false);
      if (found < last - scheme) {
        Hide(scheme + found + __builtin_strlen(hook), last);
      }
    }
    at_ = FindEnd(at_, "?# \t\n\"'`");
    if (At(at_) != '?') {
      return;
    }
    const size_t last = FindEnd(++at_, "# \t\n\"'`");
    const Piece query = Part(at_, last);
    for (const char* word : {"sig", "token", "credential", "key", "secret", "pass", "auth"}) {
      if (query.Find(word, true) < query.size) {
        return Hide(at_, last);
      }
    }
    at_ = last;
  }

  char* text_;
  size_t size_;
  size_t capacity_;
  size_t at_ = 0;
  Next next_ = kShow;
};

}  // namespace

size_t HideSecrets(char* text, size_t size, size_t capacity) {
  return Hider(text, size, capacity).Run();
}

}  // namespace penstock::traces
