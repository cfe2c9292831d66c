// SPDX-License-Identifier: Apache-2.0
#include "analyzer/share/bundle.h"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "analyzer/report/function_report.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"
#include "analyzer/share/archive.h"
#include "analyzer/share/environment.h"
#include "traces/anonymous.h"
#include "traces/pack.h"
#include "traces/translate.h"

namespace penstock::analyzer {
namespace {

constexpr const char* kTraceName = "trace.penstock";

// A folder beside the archive, which is removed with the object: a trace may be too large for /tmp.
class WorkFolder {
 public:
  static Result<WorkFolder> MakeBeside(const std::filesystem::path& path) {
    WorkFolder folder;
    std::string name = path.string() + ".XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      return Fail(ErrorKind::kOutput,
                  fmt::format("{}: cannot be written: {}; choose another place", path.string(),
                              std::generic_category().message(errno)));
    }
    folder.path_ = name;
    return folder;
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;

  [[nodiscard]] std::filesystem::path File(const char* name) const { return path_ / name; }

 private:
  WorkFolder() = default;
  std::filesystem::path path_;
};

Result<void> Pack(const traces::Trace& trace, const std::filesystem::path& path) {
  auto packer = traces::CreatePacked(path);
  PENSTOCK_TRY(packer);
  traces::CopyTrace(trace, **packer);
  return (*packer)->Finish();
}

class Writer {
 public:
  Writer(Archive& archive, Bundle& bundle, const std::filesystem::path& output)
      : archive_(archive), bundle_(bundle) {
    // The files unpack into a folder of the archive's name.
    folder_ = output.filename().string();
    folder_.resize(folder_.find('.', 1));
    if (folder_.size() > kMostFolder) folder_.resize(kMostFolder);
    folder_ += '/';
  }

  Result<void> Add(const std::string& name, std::span<const std::byte> bytes) {
    bundle_.files.push_back({name, bytes.size()});
    return archive_.Add(folder_ + name, bytes);
  }
  Result<void> Add(const std::string& name, const std::string& text) {
    return Add(name, std::as_bytes(std::span(text)));
  }

 private:
  static constexpr std::size_t kMostFolder = 64;
  Archive& archive_;
  Bundle& bundle_;
  std::string folder_;
};

Result<void> AddFiles(const std::filesystem::path& packed, const BundleOptions& options,
                      Writer& writer) {
  // The reports are made from the trace that is in the bundle.
  const auto trace = traces::OpenTrace(packed);
  PENSTOCK_TRY(trace);
  const auto file = MappedFile::Open(packed);
  PENSTOCK_TRY(file);
  PENSTOCK_TRY(writer.Add(kTraceName, file->bytes()));
  Report report = BuildReport(**trace, kTraceName);
  if (!options.anonymous) ShowSources(SourceLines(report.started), report);
  const std::string page = ReportHtml(report, BuildPlots(**trace, report), Language::kEnglish);
  PENSTOCK_TRY(writer.Add("report.html", page));
  PENSTOCK_TRY(writer.Add("report.json", ReportJson(report)));
  PENSTOCK_TRY(writer.Add("report.txt", ReportText(report, Colour::kOff)));
  return writer.Add("environment.json", EnvironmentJson(**trace, options.version));
}

}  // namespace

Result<Bundle> WriteBundle(const traces::Trace& trace, const BundleOptions& options) {
  auto archive = Archive::Create(options.output, options.replace);
  PENSTOCK_TRY(archive);
  Bundle bundle;
  const auto write = [&]() -> Result<void> {
    const Result<WorkFolder> folder = WorkFolder::MakeBeside(options.output);
    PENSTOCK_TRY(folder);
    const std::filesystem::path packed = folder->File(kTraceName);
    if (options.anonymous) {
      traces::StandIns names;
      PENSTOCK_TRY(Pack(*traces::WithoutNames(trace, names), packed));
      bundle.replaced = names.counts();
    } else {
      PENSTOCK_TRY(Pack(trace, packed));
    }
    Writer writer(**archive, bundle, options.output);
    PENSTOCK_TRY(AddFiles(packed, options, writer));
    return (*archive)->Finish();
  };
  if (const Result<void> done = write(); !done) {
    (*archive)->Discard();
    return PassOn(done);
  }
  bundle.path = (*archive)->path();
  bundle.size = (*archive)->size();
  return bundle;
}

}  // namespace penstock::analyzer
