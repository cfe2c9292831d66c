// SPDX-License-Identifier: Apache-2.0
//
// The contents of one window, whatever it is shown on: a real window, an off-screen picture, a
// test. Frame() is called between ImGui::NewFrame() and ImGui::Render(), on one thread. The App
// owns the workspace, the loading jobs and the settings. It writes only exports, and for each
// trace a file with the person's bookmarks, notes, pins and folds.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/main/exporter.h"
#include "gui/main/mark_keeper.h"
#include "gui/main/native_dialog.h"
#include "gui/model/document.h"
#include "gui/model/settings.h"
#include "gui/model/timeline/place.h"
#include "gui/views/dialogs/command_list.h"
#include "gui/views/dialogs/file_chooser.h"
#include "gui/views/dialogs/save_dialog.h"
#include "gui/views/workspace.h"
#include "gui/widgets/early_fonts.h"

namespace penstock::gui {

class App {
 public:
  // `wake` is called from any thread when a frame is needed. `screen_scale`: physical pixels per
  // logical pixel.
  App(Settings settings, float screen_scale, std::function<void()> wake);

  // Opens a sweep at once, or begins to load a trace. What is shown now stays until the first part
  // of the trace is ready.
  void Open(const std::filesystem::path& path);
  // Begins to load the trace to compare with, and shows the comparison.
  void OpenOther(const std::filesystem::path& path);
  // Opens the files that were dropped on the window: a sweep, a trace, or two traces to compare.
  void Dropped(const std::vector<std::filesystem::path>& paths);
  // Uses the desktop's file dialogs where `search_path` ($PATH) has a program for them.
  void UseNativeDialogs(const std::string& search_path);
  // Keeps the marks of each trace in a file in `folder`.
  void UseMarks(std::filesystem::path folder) { marks_.Use(std::move(folder)); }
  // Saves the marks if they have changed. Frame() calls it while no text is typed; the window calls
  // it once more when it closes.
  void KeepMarks();
  // Shows a document that is loaded already.
  void Show(Document document);
  void ShowOther(Document document);
  void ShowSweep(Sweep sweep);
  // Opens the timeline of the next trace at these times, with this selection. This is forgotten if
  // that trace cannot be read, or if another one is opened before it.
  void WantPlace(const Place& place) { jobs_.wanted = WantedPlace{place, {}}; }
  // Copies the command line that opens the window where it is now.
  void CopyCommand();

  // Sets the physical pixels per logical pixel of the screen that the window is on now.
  void SetScreenScale(float scale);
  // Makes the first RebuildStyle() take these fonts if they fit. Requires: they outlive the App.
  void UseFonts(EarlyFonts* fonts) { style_.fonts = fonts; }
  // Returns whether fonts and style must be made anew before the next frame. Later calls return
  // false
  // until a further change.
  [[nodiscard]] bool TakeStyleChange();
  void RebuildStyle();  // Requires: no frame begun

  void Frame();

  [[nodiscard]] bool loading() const { return Reading() != nullptr; }
  [[nodiscard]] bool paused() const { return paused_; }
  // Whether a comparison is being computed, or a message is shown that disappears by itself.
  [[nodiscard]] bool waiting() const;
  // To be called after each frame that was drawn. Returns the file for a picture of this frame, if
  // one was asked for.
  [[nodiscard]] std::optional<std::filesystem::path> TakePicture() { return picture_.FrameDrawn(); }
  [[nodiscard]] bool picture_pending() const { return picture_.pending(); }
  // Shows a message that `path` was saved, or why not.
  void Saved(const std::filesystem::path& path, const Result<void>& done);
  // Asks for a file name and writes the export there.
  void Export(ExportKind kind);
  [[nodiscard]] const Notice& notice() const { return notice_; }
  [[nodiscard]] bool quit() const { return quit_; }
  // Whether a text field is about to take the keyboard.
  [[nodiscard]] bool wants_keyboard() const {
    const bool search = workspace_.view == ViewId::kTimeline && workspace_.search.focus;
    return search || dialogs_.commands.fresh() || dialogs_.recent.fresh();
  }
  [[nodiscard]] bool commands_open() const {
    return dialogs_.commands.open() || dialogs_.recent.open();
  }
  [[nodiscard]] Workspace& workspace() { return workspace_; }
  [[nodiscard]] const Ui& ui() const { return ui_; }
  [[nodiscard]] Settings& settings() { return settings_; }
  // Why the last file could not be opened.
  [[nodiscard]] const std::optional<Error>& error() const { return jobs_.error; }

 private:
  void PollJob();
  void ShowTimeline();
  void CheckLoader();
  void ShowPlace();
  void ShowRows(const Place& place, SpanRef span);
  void KeepPlaceFor(const std::filesystem::path& path);
  // The load that a person waits for: jobs_.own, or jobs_.other if jobs_.own is empty or only
  // follows a growing trace. nullptr: none.
  [[nodiscard]] const LoadJob* Reading() const {
    if (jobs_.own && !jobs_.own->following()) return jobs_.own.get();
    return jobs_.other.get();
  }
  [[nodiscard]] bool LacksGlyphs() const;
  [[nodiscard]] std::string Texts() const;
  [[nodiscard]] bool WantsCommonGlyphs() const;
  void Replace(Document document);
  void CancelLoading();
  void StopFollowing();
  void TogglePause();
  void JobKeys();
  void LetKeyboardWalk();
  float DrawJobBadge(Area bar, float right);
  void GoTo(ViewId view);
  void GlobalKeys();
  void DrawTopBar(Area area);
  float DrawTabs(float end);
  float DrawWarnings(Area area);
  void DrawView(Area area);
  void DrawWelcome(Area area);
  void DrawLoading(Area area);
  void DrawError(Area area);
  void SetScale(double scale);
  void SwitchLanguage();
  std::vector<Command> Commands();
  std::vector<Command> TimelineCommands();
  std::vector<Command> RecentCommands();
  std::vector<Command> FileCommands();
  // In app_files.cc:
  void PollOther();
  void GrantWish();
  void FileKeys();
  void DrawDialogs();
  void DrawFileMenus();
  void Choose(bool other);
  void Opened(const std::filesystem::path& path, bool other);
  void Write(ExportKind kind, const std::filesystem::path& path);
  [[nodiscard]] std::filesystem::path Folder() const;

  // The place to show first, and the path of its trace. An empty path means the next trace.
  struct WantedPlace {
    Place place;
    std::filesystem::path path;
  };
  // The loading jobs, the place to show first, and the last error.
  struct Jobs {
    std::unique_ptr<LoadJob> own;                   // loads the shown trace, and follows it
    std::unique_ptr<LoadJob> other;                 // loads the trace to compare with
    std::vector<std::unique_ptr<LoadJob>> retired;  // cancelled, still running
    std::optional<WantedPlace> wanted;              // see WantPlace()
    std::optional<Error> error;                     // why the last file could not be opened
    std::filesystem::path failed;
  };
  // What fonts and style depend on, and whether they must be made anew.
  struct StyleState {
    float screen_scale = 1;
    EarlyFonts* fonts = nullptr;
    bool stale = true;  // to be made anew before the next frame
    std::string glyphs;
    bool common_glyphs = false;
  };
  // The dialogs and lists that may lie over the view.
  struct Dialogs {
    FileChooser chooser;
    CommandList commands;
    CommandList recent;
    SaveDialog save;
    std::unique_ptr<NativeDialog> native;
    bool choosing_other = false;          // the chosen file is the one to compare with
    std::optional<ExportKind> exporting;  // the dialog asks for the file name of this export
    bool open_menu = false;               // the list of recent files opens when the bar is drawn
    bool export_menu = false;             // the export menu opens when the bar is drawn
  };

  Settings settings_;
  std::function<void()> wake_;
  Ui ui_;
  Workspace workspace_;
  Jobs jobs_;
  StyleState style_;
  Dialogs dialogs_;
  MarkKeeper marks_;
  PictureWish picture_;
  Notice notice_;
  bool menu_open_ = false;  // a menu was open when the last frame ended
  bool paused_ = false;     // a growing trace is not updated on the screen
  bool quit_ = false;
};

}  // namespace penstock::gui
