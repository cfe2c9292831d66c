// SPDX-License-Identifier: Apache-2.0
//
// Cost of a frame of the timeline in a window of 1920x1080: rows, counters, arrows, map, axis, hits
// and input, up to the triangles for OpenGL. Dear ImGui runs without a window. The time is the CPU
// time that DrawTimeline() alone takes in the drawing thread, so other programs do not matter. The
// CPU column is for the whole frame, with ImGui's part.
#include <benchmark/benchmark.h>
#include <imgui.h>

#include <memory>

#include "benchmarks/gui_timeline_run.h"
#include "tests/gui/headless.h"

namespace penstock::gui {
namespace {

class Screen {
 public:
  Screen() {
    ImGui::GetIO().MousePos = {1000, 500};
    Document document;
    document.path = "bench.penstock";
    document.trace = BenchRun();
    document.timeline = BenchTimeline();
    static const std::shared_ptr<const Analysis> analysis = Analyse(*document.trace, "bench");
    document.analysis = analysis;
    window_.app().Show(std::move(document));
    workspace().view = ViewId::kTimeline;
    for (int i = 0; i < 3; ++i) Frame();
  }

  void Frame() { window_.Frame(); }
  Workspace& workspace() { return window_.app().workspace(); }

 private:
  testing::Headless window_{1920, 1080};
};

void Measure(benchmark::State& state, Screen& screen) {
  screen.Frame();
  for (auto _ : state) {
    screen.Frame();
    state.SetIterationTime(screen.workspace().build_ms * 1e-3);
  }
  const int vertices = ImGui::GetDrawData()->TotalVtxCount;
  if (vertices < 1'000) state.SkipWithError("nothing was drawn");
  state.counters["vertices"] = vertices;
}

void ZoomIn(Screen& screen, std::int64_t zoom) {
  const std::int64_t length = screen.workspace().timeline.view.trace_length();
  const std::int64_t part = length / zoom;
  if (zoom > 1) screen.workspace().timeline.view.Show({length / 2, length / 2 + part});
}

void BM_Frame(benchmark::State& state) {
  Screen screen;
  ZoomIn(screen, state.range(0));
  Measure(state, screen);
}

// A frame with a search of many hits, a selection with its table, notes and pinned rows.
void BM_FullFrame(benchmark::State& state) {
  Screen screen;
  ZoomIn(screen, state.range(0));
  Workspace& workspace = screen.workspace();
  const TimeRange visible = workspace.timeline.view.range();
  const std::int64_t third = visible.length() / 3;
  workspace.search.text = "pil.load";
  workspace.timeline.selection = TimeRange{visible.from + third, visible.to - third};
  workspace.timeline.notes.push_back({*workspace.timeline.selection, ""});
  workspace.timeline.TogglePin({RowKind::kLevel, 1002, 1002});
  workspace.timeline.TogglePin(
      {RowKind::kCounter, Pin::kWholeRun, static_cast<std::uint32_t>(CounterKind::kCpu)});
  const auto rows =
      LayOutRows(*BenchTimeline(), workspace.document.analysis->counters, workspace.timeline);
  if (PinnedHeight(rows) <= 0) state.SkipWithError("nothing is pinned");
  Measure(state, screen);
  if (!workspace.search.found || workspace.search.found->hits().empty()) {
    state.SkipWithError("nothing was found");
    return;
  }
  state.counters["hits"] = static_cast<double>(workspace.search.found->hits().size());
}

void Zooms(benchmark::internal::Benchmark* bench) {
  for (const int zoom : {1, 4, 10, 40, 100, 1'000, 10'000, 100'000}) bench->Arg(zoom);
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(BM_Frame)->Apply(Zooms);
BENCHMARK(BM_FullFrame)->Apply(Zooms);

}  // namespace
}  // namespace penstock::gui
