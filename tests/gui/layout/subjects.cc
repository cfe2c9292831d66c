// SPDX-License-Identifier: Apache-2.0
#include "tests/gui/layout/subjects.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include "tests/analyzer/long_trace/long_trace.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_ranks.h"
#include "tests/gui/functions_support.h"
#include "tests/gui/panels_support.h"
#include "tests/traces/support.h"

namespace penstock::gui::testing {
namespace {

namespace fs = std::filesystem;
using analyzer::testing::Always;
using analyzer::testing::LongTrace;
using analyzer::testing::Synthetic;
using traces::testing::TempFolder;

template <class Value>
Value Must(Result<Value> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

// The names in a trace. Paths are left out: their slashes identify them.
std::vector<std::string> NamesOf(const Document& document) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (name.size() > 2 && name.find('/') == std::string_view::npos) names.emplace_back(name);
  };
  add(document.path.filename().string());
  for (const Lane& lane : document.timeline->lanes) {
    add(lane.label);
    for (const Level& level : lane.levels) {
      for (const SpanDetail& detail : level.detail) {
        add(document.trace->String(detail.name));
        add(document.trace->String(detail.object));
        if (names.size() < 4096) continue;
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
      }
    }
  }
  for (const UnitProfile& profile : document.analysis->functions.profiles) {
    for (const FlameFrame& frame : profile.frames) add(frame.id.name);
    for (const FunctionLine& line : profile.lines) {
      for (const SourceLine& source : line.source) add(source.text);
    }
  }
  for (const Group& group : document.timeline->groups) add(group.name);
  for (const auto& [key, value] : document.trace->facts()) add(value);
  for (const traces::ProcessInfo& process : document.trace->processes()) {
    for (const auto& [key, value] : process.facts) add(value);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  // The names of stages are translated, so they do not count as names.
  for (std::uint8_t stage = 0; stage < wire::kStageCount; ++stage) {
    std::erase(names, std::string(traces::StageName(static_cast<traces::StageId>(stage))));
  }
  // The longest come first: names are erased from texts in this order, and a name may contain a
  // shorter one.
  std::stable_sort(names.begin(), names.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  return names;
}

void WriteLong(const fs::path& path, const LongTrace& run) {
  auto out = Must(traces::CreatePacked(path));
  static_cast<void>(analyzer::testing::WriteLongTrace(run, *out));
  if (const auto done = out->Finish(); !done) throw std::runtime_error(done.error().message);
}

Document Decoding(double decode, const std::string& path) {
  Synthetic run;
  run.costs = Always({.read = 1, .decode = decode, .augment = 3, .step = 4});
  Document document = DocumentOf(analyzer::testing::SyntheticTrace(run));
  document.path = path;
  return document;
}

// A run with more workers than cores: each worker gets a third of a core.
std::unique_ptr<traces::Trace> Contended() {
  Synthetic run;
  run.workers = 6;
  run.cores = 2;
  run.cpu_share = 0.33;
  run.costs = Always({.read = 2, .decode = 40, .augment = 12, .step = 4});
  return analyzer::testing::SyntheticTrace(run);
}

// A file of PyTorch's profiler, with the annotations of the loader.
std::string KinetoText() {
  std::string text = R"({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [)";
  const auto event = [&](const char* category, int thread, int at, int length, const char* name) {
    if (text.back() != '[') text += ",";
    text += fmt::format(
        R"(
{{"ph": "X", "cat": "{}", "pid": 7, "tid": {}, "ts": {}, "dur": {}, "name": "{}"}})",
        category, thread, at, length, name);
  };
  for (int i = 0; i < 120; ++i) {
    const int at = 1000 + 20'000 * i;
    event("user_annotation", 7, at, 9000,
          "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
    event("cpu_op", 7, at + 9100, 3000, "aten::conv2d");
    event("cpu_op", 7, at + 9200, 2500, "aten::cudnn_convolution");
    event("cpu_op", 7, at + 12'500, 1500, "aten::batch_norm");
    event("cpu_op", 9, at + 14'000, 4000, "autograd::engine::evaluate_function: MmBackward0");
    event("user_annotation", 7, at + 18'500, 1200, "Optimizer.step#SGD.step");
  }
  return text + "\n]}\n";
}

// A report of Nsight Systems, exported to SQLite.
void WriteNsight(const fs::path& path) {
  constexpr std::int64_t kThread = (std::int64_t{40} << 24) + 41;
  std::string sql = R"sql(
BEGIN;
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES(1,'cudaMemcpyAsync_v3020'),
  (2,'void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x64_32x4_nhwc_align8>'),
  (3,'cudaStreamSynchronize_v3020'),(4,'pt_main_thread'),
  (5,'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__');
CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION','3.11.0');
CREATE TABLE ENUM_CUDA_MEM_KIND(id INTEGER, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES(0,'P','Pageable'),(1,'N','Pinned'),(2,'D','Device');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, correlationId INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER,
  dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, correlationId INTEGER, demangledName INTEGER, shortName INTEGER);
CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
  globalTid INTEGER, domainId INTEGER);
CREATE TABLE ThreadNames(nameId INTEGER, globalTid INTEGER);
)sql";
  sql += fmt::format("INSERT INTO ThreadNames VALUES(4,{});\n", kThread);
  for (int i = 0; i < 120; ++i) {
    const std::int64_t at = 1'000'000 + 20'000'000LL * i;
    const int call = 3 * i + 1;
    sql += fmt::format(
        "INSERT INTO NVTX_EVENTS VALUES({0},{1},59,NULL,5,{2},0);\n"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({1},{3},{2},{4},1),({3},{5},{2},{6},3);\n"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES({1},{3},0,7,{4},19267584,1,0,2);\n"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({3},{5},0,7,{6},2,2);\n",
        at, at + 8'000'000, kThread, at + 11'000'000, call, at + 19'000'000, call + 1);
  }
  sql += "COMMIT;";
  sqlite3* database = nullptr;
  const bool opened = sqlite3_open(path.c_str(), &database) == SQLITE_OK;
  const bool written =
      opened && sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  const std::string problem = written ? "" : sqlite3_errmsg(database);
  sqlite3_close(database);
  if (!written) throw std::runtime_error("Nsight's database: " + problem);
}

// The document of a trace that is still being written.
Document Growing(Document document) {
  document.live = Live::kWriting;
  document.analysis = Analyse(*document.trace, document.path.string(), true);
  return document;
}

std::unique_ptr<traces::Trace> Ranks() {
  analyzer::testing::Ranked run = analyzer::testing::OneIsSlow();
  run.ranks = 8;
  run.kernels = true;
  return traces::MakeTrace(analyzer::testing::TraceOfAll(run));
}

// A run with a training loop, but without a known loader.
std::unique_ptr<traces::Trace> Alone() {
  Synthetic run;
  run.workers = 0;
  run.loader_facts = false;
  run.events = false;
  traces::TraceData data = analyzer::testing::MakeSynthetic(run);
  analyzer::testing::AddNamedRanges(data);
  return traces::MakeTrace(std::move(data));
}

// Writes a source file for the functions of RunWithFunctions(). Its time must not be later than the
// begin of the run, in 1970; otherwise the text would not be shown.
void WriteSource(const fs::path& path) {
  std::ofstream out(path);
  for (int line = 1; line <= 70; ++line) {
    if (line == 20) {
      out << "    def __getitem__(self, index):\n";
    } else if (line == 47) {
      out << "def make_edges(boxes):\n";
    } else if (line == 52) {
      out << "    edges = [copy.deepcopy(box) for box in boxes if box.width > 4 and box.height > 4]"
             "  # each is changed below, and none may be shared with another sample\n";
    } else {
      out << "    value = value + 1\n";
    }
  }
  out.close();
  fs::last_write_time(path, std::chrono::file_clock::from_sys(std::chrono::sys_seconds{}));
}

}  // namespace

std::vector<Subject> MakeSubjects(std::uint64_t long_spans) {
  const TempFolder folder;
  std::vector<Subject> subjects;
  const auto add = [&](const std::string& name, Document document) {
    subjects.push_back({name, std::move(document), {}, false, {}});
  };
  LongTrace demo;
  demo.spans = 20'000;
  demo.workers = 2;
  demo.epoch_batches = 20;
  WriteLong(folder / "run.penstock", demo);
  add("demo", Must(LoadDocument(folder / "run.penstock")));
  subjects.back().sweep = true;
  LongTrace many;
  many.spans = long_spans;
  many.workers = 8;
  WriteLong(folder / "long.penstock", many);
  add("long", Must(LoadDocument(folder / "long.penstock")));
  add("gpu", DocumentOf(traces::MakeTrace(MakeGpuRun({}))));
  add("empty", DocumentOf(traces::MakeTrace({})));
  fs::copy_file(folder / "run.penstock", folder / "cut.penstock");
  fs::resize_file(folder / "cut.penstock", fs::file_size(folder / "cut.penstock") / 3 * 2);
  add("cut", Must(LoadDocument(folder / "cut.penstock")));
  add("live", Growing(subjects.front().document));
  add("contended", DocumentOf(Contended()));
  add("several", DocumentOf(TwoLoaders()));
  add("alone", DocumentOf(Alone()));
  std::ofstream(folder / "kineto.json") << KinetoText();
  add("kineto", Must(LoadDocument(folder / "kineto.json")));
  WriteNsight(folder / "nsight.sqlite");
  add("nsight", Must(LoadDocument(folder / "nsight.sqlite")));
  add("ranks", DocumentOf(Ranks()));
  WriteSource(folder / "dataset.py");
  add("functions",
      DocumentOf(traces::MakeTrace(RunWithFunctions((folder / "dataset.py").string(), 3))));
  add("compare", Decoding(12, "/t/before/run.penstock"));
  subjects.back().other = Decoding(6, "/t/after/run.penstock");
  std::uint64_t serial = 0;
  for (Subject& subject : subjects) {
    subject.document.serial = ++serial;
    subject.names = NamesOf(subject.document);
  }
  return subjects;
}

}  // namespace penstock::gui::testing
