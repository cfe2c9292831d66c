// SPDX-License-Identifier: Apache-2.0
#include "traces/base/command_line.h"

#include <charconv>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace penstock::traces {
namespace {

CLI::Validator ValidatorOf(const OptionCheck& check) {
  return {check.look, check.description};
}

// CLI11 by itself reads -1 as 2^64 - 1.
std::string LookForSign(const std::string& text) {
  return text.find('-') == std::string::npos ? "" : text + " is not a size";
}

}  // namespace

OptionCheck WholeNumber(std::uint64_t low, std::uint64_t high) {
  const bool endless = high == std::numeric_limits<std::uint64_t>::max();
  const std::string range =
      endless ? fmt::format("{} or more", low) : fmt::format("{} to {}", low, high);
  return {[=](std::string& text) -> std::string {
            std::uint64_t value = 0;
            const auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc{} || end != text.data() + text.size() || value < low ||
                value > high) {
              return fmt::format("{} is not a whole number {} {}", text, endless ? "of" : "from",
                                 range);
            }
            text = std::to_string(value);
            return {};
          },
          range};
}

OptionCheck NumberBetween(double low, double high) {
  const std::string range = fmt::format("{} to {}", low, high);
  return {[=](std::string& text) -> std::string {
            double value = 0;
            const bool good =
                CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
            return good ? std::string{} : fmt::format("{} is not a number from {}", text, range);
          },
          range};
}

DeclaredOption DeclaredOption::Required() {
  option_->required();
  return *this;
}

DeclaredOption DeclaredOption::Check(const OptionCheck& check) {
  option_->check(ValidatorOf(check));
  return *this;
}

DeclaredOption DeclaredOption::OneOf(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

DeclaredOption DeclaredOption::IsSize() {
  option_->transform(CLI::AsSizeValue(false));
  option_->transform(ValidatorOf({LookForSign, ""}));  // runs before AsSizeValue
  return *this;
}

DeclaredOption DeclaredOption::SplitAt(char separator) {
  option_->delimiter(separator);
  return *this;
}

DeclaredOption DeclaredOption::AtMost(int values) {
  option_->expected(0, values);
  return *this;
}

DeclaredOption DeclaredOption::OneValueEach() {
  option_->allow_extra_args(false);
  return *this;
}

DeclaredOption DeclaredOption::Excludes(DeclaredOption other) {
  option_->excludes(other.option_);
  return *this;
}

DeclaredOption DeclaredOption::Needs(DeclaredOption other) {
  option_->needs(other.option_);
  return *this;
}

DeclaredOption DeclaredOption::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

DeclaredOption DeclaredOption::ShowValueAs(const std::string& word) {
  option_->type_name(word);
  return *this;
}

DeclaredOption DeclaredOption::Hide() {
  option_->group("");
  return *this;
}

bool DeclaredOption::given() const {
  return option_->count() > 0;
}

CommandLine::CommandLine(const std::string& about, const std::string& name)
    : app_(std::make_unique<CLI::App>(about, name)), name_(name) {}

CommandLine::~CommandLine() = default;

template <class T>
DeclaredOption CommandLine::Add(const std::string& names, T& value, const std::string& help) {
  return DeclaredOption(app_->add_option(names, value, help));
}

template DeclaredOption CommandLine::Add(const std::string&, std::string&, const std::string&);
template DeclaredOption CommandLine::Add(const std::string&, std::filesystem::path&,
                                         const std::string&);
template DeclaredOption CommandLine::Add(const std::string&, bool&, const std::string&);
template DeclaredOption CommandLine::Add(const std::string&, int&, const std::string&);
template DeclaredOption CommandLine::Add(const std::string&, unsigned&, const std::string&);
template DeclaredOption CommandLine::Add(const std::string&, std::uint64_t&, const std::string&);
template DeclaredOption CommandLine::Add(const std::string&, std::optional<std::uint64_t>&,
                                         const std::string&);
template DeclaredOption CommandLine::Add(const std::string&, double&, const std::string&);
template DeclaredOption CommandLine::Add(const std::string&, std::vector<std::string>&,
                                         const std::string&);

DeclaredOption CommandLine::AddFlag(const std::string& names, bool& value,
                                    const std::string& help) {
  return DeclaredOption(app_->add_flag(names, value, help));
}

void CommandLine::AddVersion(const std::string& program) {
  app_->set_version_flag("--version", program + " " PENSTOCK_VERSION);
}

void CommandLine::SetFooter(const std::string& text) {
  app_->footer(text);
}

Result<std::optional<std::string>> CommandLine::Read(const std::vector<std::string>& words) {
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // the order that CLI11 expects
  try {
    app_->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return app_->help();
  } catch (const CLI::CallForVersion& version) {
    return std::string(version.what()) + "\n";
  } catch (const CLI::ParseError& error) {
    return Fail(ErrorKind::kUsage, error.what());
  }
  return std::nullopt;
}

bool CommandLine::Given(const std::string& option) const {
  return app_->count(option) > 0;
}

}  // namespace penstock::traces
