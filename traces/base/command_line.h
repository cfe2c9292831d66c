// SPDX-License-Identifier: Apache-2.0
//
// Declares the options of a program and reads its command line. CLI11 does it; command_line.cc
// alone includes that library, which takes seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "traces/base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace penstock::traces {

// What a value may be. `look` returns what is wrong with the text, or nothing, and may write the
// text in another way; `description` stands in --help.
struct OptionCheck {
  std::function<std::string(std::string&)> look;
  std::string description;
};

// A whole number, low to high. CLI11 alone takes -1 for 2^64 - 1, 010 for 8, and what is too large
// for the largest number.
[[nodiscard]] OptionCheck WholeNumber(
    std::uint64_t low = 0, std::uint64_t high = std::numeric_limits<std::uint64_t>::max());

// A number, low to high; no NaN, which a comparison with either end would let through.
[[nodiscard]] OptionCheck NumberBetween(double low, double high);

// A declared option, to say more of it. Lives as long as its CommandLine.
class DeclaredOption {
 public:
  explicit DeclaredOption(CLI::Option* option) : option_(option) {}

  DeclaredOption Required();
  DeclaredOption Check(const OptionCheck& check);
  DeclaredOption OneOf(const std::vector<std::string>& words);
  // The value is a number of bytes: 4096, 500M, 2G; K, M and G are powers of 1024.
  DeclaredOption IsSize();
  // One word may hold several values, with this between them.
  DeclaredOption SplitAt(char separator);
  DeclaredOption AtMost(int values);
  // Each value comes with the option's name; without this, several may follow it.
  DeclaredOption OneValueEach();
  DeclaredOption Excludes(DeclaredOption other);
  DeclaredOption Needs(DeclaredOption other);
  // In --help: the value as it is now, as the default; another word than TEXT; nothing at all.
  DeclaredOption ShowDefault();
  DeclaredOption ShowValueAs(const std::string& word);
  DeclaredOption Hide();

  [[nodiscard]] bool given() const;

 private:
  CLI::Option* option_;
};

class CommandLine {
 public:
  // `name` is the program's, as --help and messages say it.
  CommandLine(const std::string& about, const std::string& name);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  // `names`: "-o,--output", or a word for what stands without an option. Read() writes to `value`
  // if the option is there. T: string, path, bool, int, unsigned, 64 bits without a sign (also
  // std::optional of it), double, or a vector of strings.
  template <class T>
  DeclaredOption Add(const std::string& names, T& value, const std::string& help = "");
  DeclaredOption AddFlag(const std::string& names, bool& value, const std::string& help);
  // --version: `program` and the version of Penstock.
  void AddVersion(const std::string& program);
  // What --help ends with.
  void SetFooter(const std::string& text);

  // Reads the words that follow the program's own name. Returns what --help or --version print: the
  // program prints it and ends. Errors: kUsage.
  [[nodiscard]] Result<std::optional<std::string>> Read(const std::vector<std::string>& words);

  // Whether the option was among the words that Read() read.
  [[nodiscard]] bool Given(const std::string& option) const;

 private:
  std::unique_ptr<CLI::App> app_;
  std::string name_;
};

}  // namespace penstock::traces
