// SPDX-License-Identifier: Apache-2.0
#include "traces/hide_secrets.h"

#include <initializer_list>

#include "traces/secret_names.h"

namespace penstock::traces {
namespace {

constexpr size_t kHidden = 3;  // "***"

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
