// SPDX-License-Identifier: Apache-2.0
#include "analyzer/share/bundle.h"

#include <memory>
#include <span>
#include <system_error>

#include "analyzer/report/function_report.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"
#include "analyzer/share/archive.h"
#include "analyzer/share/environment.h"
#include "analyzer/share/temporary_files.h"
#include "traces/anonymous.h"
#include "traces/base/file.h"
#include "traces/pack.h"
#include "traces/translate.h"

namespace penstock::analyzer {
namespace {

constexpr const char* kTraceName = "trace.penstock";

Result<void> Pack(const traces::Trace& trace, const std::filesystem::path& path) {
  auto packer = traces::CreatePacked(path, {.suffix = ".tmp"});
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
  std::error_code stays;
  std::filesystem::remove(packed, stays);  // no signal can leave it behind from here on
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
  // Beside the archive: a trace may be too large for /tmp.
  const std::filesystem::path packed = TemporaryTrace(options.output);
  RemoveAbandonedTraces(options.output);
  const TemporaryFiles temporary(
      {packed, packed.string() + ".tmp", Archive::TemporaryName(options.output)});
  auto archive = Archive::Create(options.output, options.replace);
  PENSTOCK_TRY(archive);
  Bundle bundle;
  const auto write = [&]() -> Result<void> {
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
