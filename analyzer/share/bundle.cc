// SPDX-License-Identifier: Apache-2.0
#include "analyzer/share/bundle.h"

#include <algorithm>
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

// "b.tar.gz" -> "b": the files unpack into a folder of the archive's name.
std::string FolderFor(const std::filesystem::path& output) {
  constexpr std::size_t kMost = 64;
  std::string name = output.filename().string();
  name.resize(
      std::min(name.find('.', std::min(name.find_first_not_of('.'), name.size())), name.size()));
  if (name.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // UTF-8
    name.resize(end);
  }
  // "..zip" has no name of its own.
  return name.empty() || name.front() == '.' ? "penstock-share" : name;
}

class Writer {
 public:
  Writer(Archive& archive, Bundle& bundle, const std::filesystem::path& output)
      : archive_(archive), bundle_(bundle), folder_(FolderFor(output) + '/') {}

  Result<void> Add(const std::string& name, std::span<const std::byte> bytes) {
    bundle_.files.push_back({name, bytes.size()});
    return archive_.Add(folder_ + name, bytes);
  }
  Result<void> Add(const std::string& name, const std::string& text) {
    return Add(name, std::as_bytes(std::span(text)));
  }

 private:
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
  // The trace lies beside the archive, because it may be too large for /tmp.
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
