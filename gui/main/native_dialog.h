// SPDX-License-Identifier: Apache-2.0
//
// The file dialog of the desktop, shown by a program that comes with the desktop (zenity, kdialog
// and similar ones). It runs beside the window, which keeps drawing. There is one dialog at a time;
// the members belong to the thread that made it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace penstock::gui {

enum class DialogPurpose : std::uint8_t { kOpen, kSave };

struct DialogOutcome {
  enum class Kind : std::uint8_t {
    kChosen,
    kCancelled,
    kFailed  // it could not be shown; show another one
  };
  Kind kind = Kind::kFailed;
  std::filesystem::path path;  // kChosen
};

class NativeDialog {
 public:
  // `search_path`: as $PATH; with "" no program is found. `wake` is called from another thread when
  // there is an outcome.
  NativeDialog(const std::string& search_path, std::function<void()> wake);
  ~NativeDialog();  // closes the dialog
  NativeDialog(const NativeDialog&) = delete;
  NativeDialog& operator=(const NativeDialog&) = delete;

  [[nodiscard]] bool available() const { return !program_.empty(); }
  [[nodiscard]] bool running() const { return thread_.joinable(); }
  // `at`: the folder to begin in, or the proposed file. Requires: available() and not running().
  void Start(DialogPurpose purpose, const std::string& title, const std::filesystem::path& at);
  // Returns the outcome once.
  [[nodiscard]] std::optional<DialogOutcome> Take();

  // The command line for `program`; public for tests.
  [[nodiscard]] static std::vector<std::string> Words(const std::filesystem::path& program,
                                                      DialogPurpose purpose,
                                                      const std::string& title,
                                                      const std::filesystem::path& at);

 private:
  void Wait(int output);

  std::filesystem::path program_;  // empty: there is none
  std::function<void()> wake_;
  std::mutex mutex_;
  pid_t pid_ = -1;                 // guarded by mutex_; -1: not running, or reaped
  DialogOutcome outcome_;          // written before done_
  std::atomic<bool> done_{false};  // release in Wait() pairs with acquire in Take()
  std::thread thread_;
};

}  // namespace penstock::gui
