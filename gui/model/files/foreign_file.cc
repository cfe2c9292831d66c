// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/foreign_file.h"

#include <stdlib.h>

#include <array>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include "traces/exchange/import.h"

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqlite = "SQLite format 3";

bool EndsIn(const std::string& name, std::string_view end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

bool IsNsightReport(const fs::path& path) {
  return path.extension() == ".nsys-rep" || path.extension() == ".qdrep";
}

// A temporary folder that is removed with its contents.
class Workplace {
 public:
  Workplace() {
    for (const char* place : {"/tmp", "/var/tmp", "/dev/shm"}) {
      std::string name = std::string(place) + "/penstock-import-XXXXXX";
      if (::mkdtemp(name.data()) == nullptr) continue;
      folder_ = name;
      return;
    }
  }
  ~Workplace() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  [[nodiscard]] const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

}  // namespace

bool IsForeign(std::string_view head, const fs::path& path) {
  const std::string name = path.filename().string();
  if (head.rfind("PENST", 0) == 0) return false;
  if (head.rfind("\x1f\x8b", 0) == 0 || head.rfind(kSqlite, 0) == 0) return true;
  if (IsNsightReport(path)) return true;
  for (const std::string_view end :
       {".pftrace", ".perfetto-trace", ".perfetto", ".pfw", ".json.gz", ".pfw.gz", ".sqlite"}) {
    if (EndsIn(name, end)) return true;
  }
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (head[first] == '[') return true;  // not a sweep, which is an object
  if (head[first] != '{') return false;
  // Penstock's own export for Chrome. It also holds facts such as "penstock.version", which the
  // next
  // test would take for the schema of a report.
  if (head.find("\"penstockTrace\"") != std::string_view::npos) return true;
  if (head.find("\"penstock.") != std::string_view::npos) return false;  // the schema of a report
  for (const std::string_view key :
       {"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"", "\"displayTimeUnit\""}) {
    if (head.find(key) != std::string_view::npos) return true;
  }
  return head.find("\"ph\"") != std::string_view::npos;
}

Result<std::unique_ptr<traces::Trace>> OpenForeign(const fs::path& path) {
  if (IsNsightReport(path)) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: a report of Nsight Systems has to be exported first; run: nsys "
                            "export --type sqlite {}, then open the .sqlite file",
                            path.string(), path.filename().string()));
  }
  const Workplace workplace;
  if (workplace.folder().empty()) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("{}: there is no room in /tmp, /var/tmp or /dev/shm to carry it over",
                            path.string()));
  }
  const fs::path made = workplace.folder() / "imported.penstock";
  const auto summary = traces::ImportTrace(path, made);
  PENSTOCK_TRY(summary);
  return traces::OpenTrace(made);
}

}  // namespace penstock::gui
