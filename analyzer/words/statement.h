// SPDX-License-Identifier: Apache-2.0
//
// A statement: a message with its values. The analyzer's conclusions are statements. Only Render()
// puts them into words. A statement that lacks a value of its message, or has a value that the
// message does not use, does not compile.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/words/message.h"

namespace penstock::analyzer {

struct Statement;
using Statements = std::vector<Statement>;
using Value = std::variant<bool, double, std::string, Statements>;

struct Statement {
  const Message* message = nullptr;  // nullptr: there is nothing to say
  std::vector<std::pair<std::string_view, Value>> values;

  [[nodiscard]] bool empty() const { return message == nullptr; }
  [[nodiscard]] bool Is(const Message& one) const { return message == &one; }
  bool operator==(const Statement& other) const = default;
};

// The text of a statement; "" if it is empty.
[[nodiscard]] std::string Render(const Statement& statement, Language language);
[[nodiscard]] std::string English(const Statement& statement);

// Sorts statements alphabetically by their English text and removes duplicates.
void SortAndMerge(Statements& statements);

template <std::size_t N>
struct FixedName {
  char text[N]{};
  consteval FixedName(const char (&name)[N]) {  // NOLINT: implicit, so that a literal converts
    std::copy_n(name, N, text);
  }
  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

template <FixedName Name, class T>
struct Given {
  T value;
};

// A value with its name: Give<"wait">(0.3). Numbers, flags, texts, statements, and optional ones.
template <FixedName Name, class T>
[[nodiscard]] Given<Name, std::decay_t<T>> Give(T&& value) {
  return {std::forward<T>(value)};
}
// A value that is missing unless `known`.
template <FixedName Name, class T>
[[nodiscard]] Given<Name, std::optional<std::decay_t<T>>> GiveIf(bool known, T&& value) {
  if (!known) return {std::nullopt};
  return {std::forward<T>(value)};
}

namespace internal {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
struct Bare {
  using Type = T;
};
template <class T>
struct Bare<std::optional<T>> {
  using Type = T;
};

enum class Sort : std::uint8_t { kFlag, kNumber, kText, kWords };
template <class T>
[[nodiscard]] consteval Sort SortOf() {
  using Type = typename Bare<T>::Type;
  if constexpr (std::is_same_v<Type, bool>) return Sort::kFlag;
  if constexpr (std::is_arithmetic_v<Type>) return Sort::kNumber;
  if constexpr (std::is_same_v<Type, Statement> || std::is_same_v<Type, Statements>) {
    return Sort::kWords;
  }
  return Sort::kText;
}

struct Supplied {
  std::string_view name;
  Sort sort;
  bool optional;
};

[[nodiscard]] constexpr Sort SortOf(FormatKind kind) {
  return kind == FormatKind::kText || kind == FormatKind::kName        ? Sort::kText
         : kind == FormatKind::kWords || kind == FormatKind::kSentence ? Sort::kWords
                                                                       : Sort::kNumber;
}

// Whether every value and condition in `text` was supplied.
template <std::size_t N>
[[nodiscard]] consteval bool Covers(std::string_view text, const Supplied (&supplied)[N]) {
  bool covered = true;
  ForEachPlace(
      text, false,
      [&](const ValuePlace& place, bool guarded) {
        bool found = false;
        for (const Supplied& one : supplied) {
          found = found || (one.name == place.name && one.sort == SortOf(place.format.kind) &&
                            (guarded || !one.optional));
        }
        covered = covered && found;
      },
      [&](std::string_view flag) {
        bool found = false;
        for (const Supplied& one : supplied) {
          found = found || (one.name == flag && (one.sort == Sort::kFlag || one.optional));
        }
        covered = covered && found;
      });
  return covered;
}

// Whether a text of the message has each of these names. Each text is read once, since clang allows
// a million steps for a constant.
consteval bool Knows(const Message& message, std::initializer_list<std::string_view> names) {
  const NameList in_one = NamesOf(message.english);
  const NameList in_other = NamesOf(message.chinese);
  for (const std::string_view name : names) {
    if (!in_one.Has(name) && !in_other.Has(name)) return false;
  }
  return true;
}

template <class T>
void Add(std::string_view name, T value, Statement& statement) {
  if constexpr (kIsOptional<T>) {
    if (value) Add(name, *std::move(value), statement);
  } else if constexpr (SortOf<T>() == Sort::kFlag) {
    statement.values.emplace_back(name, value);
  } else if constexpr (SortOf<T>() == Sort::kNumber) {
    statement.values.emplace_back(name, static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, Statement>) {
    statement.values.emplace_back(name, Statements{std::move(value)});
  } else if constexpr (std::is_same_v<T, Statements>) {
    statement.values.emplace_back(name, std::move(value));
  } else {
    statement.values.emplace_back(name, std::string(value));
  }
}

}  // namespace internal

// The statement of a message: Say<kWaits>(Give<"wait">(0.3)).
template <const Message& Said, FixedName... Names, class... Ts>
[[nodiscard]] Statement Say(Given<Names, Ts>... values) {
  constexpr internal::Supplied kSupplied[] = {
      {Names.view(), internal::SortOf<Ts>(), internal::kIsOptional<Ts>}...,
      {"", internal::Sort::kFlag, false}};
  static_assert(internal::Covers(Said.english, kSupplied),
                "the English text names a value that is not given, or is of another kind");
  static_assert(internal::Covers(Said.chinese, kSupplied),
                "the Chinese text names a value that is not given, or is of another kind");
  static_assert(internal::Knows(Said, {Names.view()...}),
                "a value is given that the message does not know");
  Statement statement{&Said, {}};
  (internal::Add(Names.view(), std::move(values.value), statement), ...);
  return statement;
}

}  // namespace penstock::analyzer
