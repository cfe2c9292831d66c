// SPDX-License-Identifier: Apache-2.0
#include "traces/without_secrets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace penstock::traces {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::size_t kMaxParts = 12;

template <std::size_t N>
bool IsOneOf(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool IsAlnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
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

std::string LowerOf(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

// "hf_apiKey" -> hf, api, key.
std::vector<std::string> PartsOf(std::string_view name) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool border = name[i] == '_' || name[i] == '-' || name[i] == '.';
    const bool hump = i > 0 && IsUpper(name[i]) && IsAlnum(name[i - 1]) && !IsUpper(name[i - 1]);
    if ((border || hump) && !parts.back().empty() && parts.size() < kMaxParts) parts.emplace_back();
    if (!border) parts.back() += Lower(name[i]);
  }
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

bool IsSecretName(std::string_view name) {
  static constexpr std::array<std::string_view, 19> kAnywhere = {
      "password",      "passwd",    "passphrase", "passcode",   "secret",
      "secrets",       "apikey",    "apitoken",   "authtoken",  "accesstoken",
      "accesskey",     "secretkey", "privatekey", "credential", "credentials",
      "authorization", "cookie",    "cookies",    "webhook"};
  static constexpr std::array<std::string_view, 18> kAbout = {
      "file", "path",   "dir",    "folder", "name",    "type",     "length", "len",     "size",
      "env",  "policy", "prompt", "host",   "timeout", "endpoint", "count",  "enabled", "required"};
  static constexpr std::array<std::string_view, 18> kOfText = {
      "eos",  "bos", "pad",  "unk",   "mask", "sep",    "cls", "special", "image",
      "next", "per", "stop", "start", "end",  "prompt", "num", "max",     "time"};
  static constexpr std::array<std::string_view, 21> kOfKey = {
      "api",     "access", "secret", "private", "auth",    "account", "encryption",
      "service", "wandb",  "aws",    "ssh",     "hf",      "openai",  "license",
      "signing", "master", "shared", "session", "storage", "azure",   "deploy"};
  static constexpr std::array<std::string_view, 12> kOfPass = {"db",    "user",  "smtp",  "mail",
                                                               "redis", "root",  "admin", "ftp",
                                                               "http",  "proxy", "sudo",  "ssh"};
  const std::vector<std::string> parts = PartsOf(name);
  const std::string& last = parts.back();
  if (IsOneOf(kAbout, last)) return false;
  for (const std::string& part : parts) {
    if (IsOneOf(kAnywhere, part)) return true;
  }
  const std::string before = parts.size() > 1 ? parts[parts.size() - 2] : "";
  const bool loud = !before.empty() && name.find('_') != std::string_view::npos &&
                    LowerOf(name) != name && std::none_of(name.begin(), name.end(), [](char c) {
                      return c >= 'a' && c <= 'z';
                    });  // MY_KEY
  if (last == "token") return !IsOneOf(kOfText, before);
  if (last == "key") return loud || IsOneOf(kOfKey, before);
  if (last == "pwd" || last == "dsn") return last == "dsn" || !before.empty();
  if (last == "pass") return loud || IsOneOf(kOfPass, before);
  if (last == "auth") return before != "no" && before != "use" && before != "require";
  return false;
}

bool IsUserName(std::string_view name) {
  return name == "u" || name == "user" || name == "proxy-user" || name == "userpwd";
}

struct Beginning {
  std::string_view text;
  std::size_t rest;  // so many characters follow, at least
  bool plain;        // letters and digits alone
};
constexpr std::array<Beginning, 31> kBeginnings = {{
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
}};

// How much of `name` is a token by its beginning; 0: none.
std::size_t TokenLength(std::string_view name) {
  for (const Beginning& known : kBeginnings) {
    if (!name.starts_with(known.text)) continue;
    std::size_t end = known.text.size();
    bool random = false;
    bool dots = false;
    while (end < name.size() && (known.plain ? IsAlnum(name[end]) : IsNameChar(name[end]))) {
      random = random || (name[end] >= '0' && name[end] <= '9') || IsUpper(name[end]);
      dots = dots || name[end] == '.';
      ++end;
    }
    if (end - known.text.size() >= known.rest && random && (known.text != "eyJ" || dots))
      return end;
  }
  return 0;
}

// Hides in one text: the words of a command line with a 0 behind each.
class Hider {
 public:
  explicit Hider(std::string text) : text_(std::move(text)) {}

  std::string Run() {
    while (at_ < text_.size()) Word();
    return std::move(text_);
  }

 private:
  enum class Next { kShow, kHide, kHideAfterColon };

  [[nodiscard]] char At(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  [[nodiscard]] std::size_t End() const { return std::min(text_.find('\0', at_), text_.size()); }
  [[nodiscard]] std::string_view Part(std::size_t from, std::size_t to) const {
    return std::string_view(text_).substr(from, to - from);
  }
  [[nodiscard]] std::size_t FindEnd(std::size_t from, std::string_view stops) const {
    std::size_t end = from;
    while (At(end) != '\0' && stops.find(At(end)) == std::string_view::npos) ++end;
    return end;
  }
  void Hide(std::size_t from, std::size_t to) {
    if (to > from) text_.replace(from, to - from, kHidden);
    at_ = to > from ? from + kHidden.size() : to;
  }

  void Word() {
    const std::size_t begin = at_;
    const std::size_t end = End();
    const Next next = std::exchange(next_, Next::kShow);
    if (next == Next::kHide && !Part(begin, end).starts_with("--")) {
      Hide(begin, end);
    } else if (next == Next::kHideAfterColon) {
      AfterColon(begin, end);
    }
    if (At(begin) == '-' && Part(begin, end).find_first_of("= ") == std::string_view::npos) {
      const std::size_t dashes = At(begin + 1) == '-' ? 2 : 1;
      const std::string_view name = Part(std::min(begin + dashes, end), end);
      if (IsSecretName(name)) next_ = Next::kHide;
      if (IsUserName(LowerOf(name))) next_ = Next::kHideAfterColon;
    }
    while (At(at_) != '\0') Step(begin);
    if (at_ < text_.size()) ++at_;
  }

  void Step(std::size_t begin) {
    const std::string_view rest = Part(at_, text_.size());
    if (rest.starts_with("://")) return Url();
    if (rest.starts_with("-----BEGIN ") &&
        Part(at_, End()).find("PRIVATE KEY") != std::string::npos) {
      return Hide(at_, End());
    }
    if (IsNameChar(At(at_))) return Name(begin);
    ++at_;
  }

  void Name(std::size_t begin) {
    const std::size_t from = at_;
    std::size_t end = from;
    while (IsNameChar(At(end))) ++end;
    std::size_t start = from;
    while (At(start) == '-') ++start;
    const std::string_view name = Part(start, end);
    if (const std::size_t length = TokenLength(name); length > 0)
      return Hide(start, start + length);
    const std::string lower = LowerOf(name);
    std::size_t value = end;
    if (lower == "bearer" || lower == "basic") {
      while (At(value) == ' ') ++value;
      const std::size_t last = FindEnd(value, " \t\n\r\"'`,;");
      const std::string_view word = Part(value, last);
      const bool random =
          std::any_of(word.begin(), word.end(), [](char c) { return !(c >= 'a' && c <= 'z'); });
      if (value > end && word.size() >= 8 && (lower == "bearer" || random))
        return Hide(value, last);
    }
    const bool secret = IsSecretName(name);
    if (secret || IsUserName(lower)) {
      if (IsQuote(At(value))) ++value;
      const std::size_t spaces = value;
      while (At(value) == ' ') ++value;
      const char sign = At(value);
      if (sign == '=' || (sign == ':' && Part(value, text_.size()).substr(0, 3) != "://")) {
        return Value(value + 1, sign, start == begin || from == begin, secret);
      }
      if (secret && start > from && value > spaces && sign != '-' && sign != '\0') {
        return Value(value, ' ', false, true);
      }
    }
    at_ = end;
  }

  // `sign`: what stands between name and value. `whole`: the name is the beginning of the word.
  void Value(std::size_t value, char sign, bool whole, bool secret) {
    while (At(value) == ' ') ++value;
    std::size_t end = value;
    if (IsQuote(At(value))) {
      const char quote = At(value++);
      end = FindEnd(value, std::string_view(&quote, 1));
    } else if (sign == ':') {
      end = FindEnd(value, "\"'`,;}]&\n");
    } else if (sign == '=' && whole) {
      end = FindEnd(value, "");
    } else {
      end = FindEnd(value, " \t\n\r\"'`,;|&)}]");
    }
    if (!secret) return AfterColon(value, end);
    Hide(value, end);
  }

  // "name:password"; but "1000:1000" is a user and a group.
  void AfterColon(std::size_t from, std::size_t end) {
    const std::size_t colon = Part(from, end).find(':');
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view() : Part(from + colon + 1, end);
    const bool number =
        std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
    const bool hides = !value.empty() && !number && !value.starts_with("//");
    if (hides) return Hide(from + colon + 1, end);
    at_ = from;
  }

  void Url() {
    std::size_t scheme = at_;
    while (scheme > 0 && (IsAlnum(At(scheme - 1)) || At(scheme - 1) == '+')) --scheme;
    const std::string_view named = Part(scheme, at_);
    const bool web =
        named.ends_with("http") || named.ends_with("https") || named.starts_with("ftp");
    at_ += 3;
    const std::size_t end = FindEnd(at_, "/?# \t\n\"'`");
    const std::size_t sign = Part(at_, end).rfind('@');
    if (sign != std::string_view::npos) {
      const std::size_t colon = Part(at_, at_ + sign).find(':');
      const std::size_t from = at_ + (colon == std::string_view::npos ? 0 : colon + 1);
      if (colon != std::string_view::npos || web) Hide(from, at_ + sign);
    }
    at_ = FindEnd(at_, "/?# \t\n\"'`");
    for (const std::string_view hook : {"/services/T", "/api/webhooks/"}) {
      const std::size_t last = FindEnd(at_, "?# \t\n\"'`");
      const std::size_t from = std::min(scheme, at_);
      const std::size_t found = Part(from, last).find(hook);
      if (found != std::string_view::npos) Hide(from + found + hook.size(), last);
    }
    at_ = FindEnd(at_, "?# \t\n\"'`");
    if (At(at_) != '?') return;
    const std::size_t last = FindEnd(++at_, "# \t\n\"'`");
    const std::string query = LowerOf(Part(at_, last));
    for (const std::string_view word :
         {"sig", "token", "credential", "key", "secret", "pass", "auth"}) {
      if (query.find(word) != std::string::npos) return Hide(at_, last);
    }
    at_ = last;
  }

  std::string text_;
  std::size_t at_ = 0;
  Next next_ = Next::kShow;
};

}  // namespace

std::vector<std::string> WithoutSecrets(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += word.substr(0, word.find('\0'));
    text += '\0';
  }
  text = Hider(std::move(text)).Run();
  std::vector<std::string> shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    shown.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return shown;
}

std::string WithoutSecrets(std::string_view text) {
  return Hider(std::string(text)).Run();
}

}  // namespace penstock::traces
