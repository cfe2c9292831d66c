// SPDX-License-Identifier: Apache-2.0
//
// Declares the options of a program and reads its command line. Uses CLI11, which takes seconds to
// compile; so only command_line.cc includes it.
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

// A check of an option's value. `look` returns what is wrong with the text, or nothing; it may
// rewrite the text. `description` appears in --help.
struct OptionCheck {
  std::function<std::string(std::string&)> look;
  std::string description;
};

// A whole number from low to high. CLI11 by itself reads -1 as 2^64 - 1, 010 as 8, and a number
// that is too large as the largest one.
[[nodiscard]] OptionCheck WholeNumber(
    std::uint64_t low = 0, std::uint64_t high = std::numeric_limits<std::uint64_t>::max());

// A number from low to high. NaN is refused; CLI::Range would accept it, because no comparison says
// that NaN is too small or too large.
[[nodiscard]] OptionCheck NumberBetween(double low, double high);

// A declared option, to set more of its properties. Valid as long as its CommandLine.
class DeclaredOption {
 public:
  explicit DeclaredOption(CLI::Option* option) : option_(option) {}

  DeclaredOption Required();
  DeclaredOption Check(const OptionCheck& check);
  DeclaredOption OneOf(const std::vector<std::string>& words);
  // The value is a number of bytes: 4096, 500M, 2G. K, M and G are powers of 1024.
  DeclaredOption IsSize();
  // One word may hold several values, separated by `separator`.
  DeclaredOption SplitAt(char separator);
  DeclaredOption AtMost(int values);
  // Each value needs the option's name in front; otherwise several values may follow one name.
  DeclaredOption OneValueEach();
  DeclaredOption Excludes(DeclaredOption other);
  DeclaredOption Needs(DeclaredOption other);
  // What --help shows. ShowDefault(): the present value as the default. ShowValueAs(): `word` in
  // place of TEXT. Hide(): nothing.
  DeclaredOption ShowDefault();
  DeclaredOption ShowValueAs(const std::string& word);
  DeclaredOption Hide();

  [[nodiscard]] bool given() const;

 private:
  CLI::Option* option_;
};

class CommandLine {
 public:
  // `name` is the program's name in --help and in messages.
  CommandLine(const std::string& about, const std::string& name);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  // `names`: "-o,--output", or a word for an argument without an option. Read() writes to `value`
  // if the option is given. T: string, path, bool, int, unsigned, unsigned 64 bits (also
  // std::optional of it), double, or a vector of strings.
  template <class T>
  DeclaredOption Add(const std::string& names, T& value, const std::string& help = "");
  DeclaredOption AddFlag(const std::string& names, bool& value, const std::string& help);
  // Adds --version, which prints `program` and the version of Penstock.
  void AddVersion(const std::string& program);
  // Sets the text at the end of --help.
  void SetFooter(const std::string& text);

  // Reads the words after the program's own name. Returns the text of --help or --version if one
  // was given; the program prints it and ends. Errors: kUsage.
  [[nodiscard]] Result<std::optional<std::string>> Read(const std::vector<std::string>& words);

  // Whether Read() found the option.
  [[nodiscard]] bool Given(const std::string& option) const;

 private:
  std::unique_ptr<CLI::App> app_;
  std::string name_;
};

}  // namespace penstock::traces
