// SPDX-License-Identifier: Apache-2.0
#include "gui/views/workspace.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gui/model/timeline/group_name.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {

void Workspace::Reset() {
  timeline = TimelineState();
  drag = DragState{};
  search = SearchState{};
  menu = {};
  sums = {};
  own_times = {};
  groups = {};
  parts = {};
  samples = {};
  map = {};
  plan.chosen = {};
  plan.plan.Forget();
  stages = StagesState{};
  workers = WorkersState{};
  reading = IoState{};
  gpu = GpuState{};
  thumbnail.Forget();
  whatif = WhatIfState{};
  sql.ForgetTrace();
  part = nullptr;
  loader.clear();
  evidence.reset();
}

void Workspace::TakeFinished() {
  sums.TakeFinished();
  own_times.TakeFinished();
  plan.plan.TakeFinished();
  groups.table.TakeFinished();
  sql.reply.TakeFinished();
  stages.lines.TakeFinished();
  stages.tail.TakeFinished();
  workers.model.TakeFinished();
  reading.model.TakeFinished();
  gpu.model.TakeFinished();
  thumbnail.TakeFinished();
}

void Workspace::ForgetUnseen() {
  if (view != ViewId::kTimeline) {
    sums = {};
    own_times = {};
    groups.table = {};
    parts = {};
  }
  samples = {};
  map = {};
  if (view != ViewId::kStages) {
    stages.lines = {};
    stages.tail = {};
  }
  if (view != ViewId::kWorkers) workers.model = {};
  if (view != ViewId::kIo) reading.model = {};
  if (view != ViewId::kGpu) gpu.model = {};
}

bool ObeysRange(ViewId view) {
  // These views do not obey the selection: it is made in the timeline, a prediction is about a
  // whole run, and a sweep is about no trace.
  constexpr std::array kWhole{ViewId::kTimeline, ViewId::kWhatIf, ViewId::kSweep, ViewId::kCompare,
                              ViewId::kSql};
  return std::find(kWhole.begin(), kWhole.end(), view) == kWhole.end();
}

bool ObeysLoader(ViewId view) {
  constexpr std::array kOfOne{ViewId::kOverview, ViewId::kWhatIf, ViewId::kWorkers};
  return std::find(kOfOne.begin(), kOfOne.end(), view) != kOfOne.end();
}

bool ShowsChosen(ViewId view) {
  constexpr std::array kViewsWithRows{ViewId::kStages, ViewId::kWorkers, ViewId::kIo, ViewId::kGpu};
  return std::find(kViewsWithRows.begin(), kViewsWithRows.end(), view) != kViewsWithRows.end();
}

std::optional<SpanRef> Workspace::ChosenSpan() const {
  const bool spans = document.timeline && !document.timeline->preview && document.trace;
  return spans ? timeline.span : std::nullopt;
}

std::optional<std::uint32_t> Workspace::ChosenWorker() const {
  if (workers.chosen) return workers.chosen;
  const auto span = ChosenSpan();
  if (!span) return std::nullopt;
  const Group* group = document.timeline->GroupOf(span->lane);
  if (group == nullptr || group->kind != GroupKind::kWorker) return std::nullopt;
  return group->process.value;
}

bool Workspace::IsOfChosen(const Call& call) const {
  const auto span = ChosenSpan();
  return span && IsOfBatchOf(*document.timeline, call, *span);
}

std::optional<TimeRange> Workspace::Range() const {
  if (!document.timeline || !timeline.selection || timeline.selection->empty()) return std::nullopt;
  const TimeRange range{std::max<std::int64_t>(timeline.selection->from, 0),
                        std::min(timeline.selection->to, document.timeline->length)};
  if (range.empty()) return std::nullopt;
  return range;
}

std::shared_ptr<const OwnTimes> Workspace::Times() {
  if (!document.complete() || document.trace == nullptr) return nullptr;
  const OwnTimesKey key{document.timeline, document.analysis, document.serial};
  // Each state of a growing trace needs its own index. It is made only if a person has asked for
  // the table.
  const bool asked =
      document.live != Live::kWriting || timeline.table.value_or(false) || timeline.selection;
  if (!asked && !(own_times.key() == key)) return nullptr;
  const auto* found =
      own_times.Get(key, at_once, [trace = document.trace, key](const std::stop_token& stop) {
        return OwnTimes::Build(*trace, key.timeline, key.analysis->report.diagnosis.run, stop);
      });
  return found != nullptr ? *found : nullptr;
}

std::optional<TimeParts> Workspace::PartsOf(SpanRef span) {
  const std::shared_ptr<const OwnTimes> times = Times();
  if (times == nullptr || own_times.key().timeline != document.timeline) return std::nullopt;
  if (parts.times != times || parts.span != span) parts = {times, span, times->PartsOf(span)};
  return parts.parts;
}

const SampleData& Workspace::SampleOf(SpanRef span) {
  const auto kept = [&](const KeptSample& one) {
    return one.timeline == document.timeline && one.span == span;
  };
  if (!kept(samples[0])) {
    std::swap(samples[0], samples[1]);
    if (!kept(samples[0])) {
      samples[0] = {document.timeline, span,
                    gui::SampleOf(*document.timeline, *document.trace, span)};
    }
  }
  return samples[0].data;
}

void Workspace::RunSearch() {
  if (search.done == search.text || document.trace == nullptr) return;
  search.Forget();
  groups.chosen.reset();
  FindHits(search.text);
}

void Workspace::NarrowSearch(const std::string& words) {
  FindHits(WithoutTable(search.text) + " " + words);
}

void Workspace::FindHits(const std::string& words) {
  search.Forget();
  search.done = search.text;
  search.hit = 0;
  if (search.text.empty()) return;
  search.found = std::make_unique<Search>(*document.timeline, *document.trace, words);
  const auto& hits = search.found->hits();
  const auto here =
      timeline.span ? std::find(hits.begin(), hits.end(), *timeline.span) : hits.end();
  if (here != hits.end()) search.hit = static_cast<std::size_t>(here - hits.begin());
}

std::vector<std::string> Workspace::LoadersById() const {
  std::vector<std::string> loaders;
  if (document.timeline->epochs.several_loaders() && document.analysis) {
    for (const analyzer::LoaderRun& run : document.analysis->report.diagnosis.run.loaders) {
      if (run.config.id < 0) continue;
      const auto id = static_cast<std::size_t>(run.config.id);
      if (loaders.size() <= id) loaders.resize(id + 1);
      if (loaders[id].empty()) loaders[id] = run.name;
    }
  }
  return loaders;
}

std::string Workspace::BatchNameOf(const SpanDetail& detail, Language language, bool brief) const {
  return BatchName(document.timeline->epochs, detail.batch, detail.generation,
                   brief ? WithoutFiles(LoadersById()) : LoadersById(), language);
}

std::vector<std::string> Workspace::Loaders() const {
  if (!document.analysis) return {};
  std::vector<std::string> names = LoaderNames(document.analysis->report);
  if (names.size() < 2) names.clear();
  return names;
}

bool Workspace::IsMain(const std::string& name) const {
  if (!document.analysis) return false;
  const analyzer::RunModel& run = document.analysis->report.diagnosis.run;
  return run.has_loader() && run.loader().name == name;
}

void Workspace::ChooseLoader(const std::string& name) {
  // Even the main loader is kept by its name: in a trace that grows, another loader may become the
  // main one.
  loader = name;
  part = nullptr;
  whatif = WhatIfState{};
  workers.chosen.reset();
}

std::optional<RunPart> Workspace::PartFor(ViewId of) const {
  RunPart wanted;
  if (ObeysRange(of)) wanted.range = Range();
  if (ObeysLoader(of)) wanted.loader = loader;
  const bool main = wanted.loader.empty() || IsMain(wanted.loader);
  if (!wanted.range && main) return std::nullopt;
  return wanted;
}

bool Workspace::Prepare(ViewId of) {
  part = nullptr;
  const auto wanted = PartFor(of);
  if (!wanted) return true;
  part = (wanted->range ? ranges : of_loader)->Ask(document, *wanted);
  return part != nullptr;
}

void Workspace::TimelineCame() {
  timeline.view = TimeView(document.timeline->length);
  if (!evidence) return;
  const EvidenceWish wanted = *evidence;
  evidence.reset();
  const std::int64_t length = document.timeline->length;
  TimeRange range{std::clamp<std::int64_t>(wanted.range.from, 0, length),
                  std::clamp<std::int64_t>(wanted.range.to, 0, length)};
  if (range.empty()) range = {0, length};
  timeline.selection.reset();
  timeline.span.reset();
  timeline.view.ShowWithMargin(range);
  if (document.trace == nullptr) return;
  const auto found = FindEvidence(*document.timeline, *document.trace, wanted.rule, range);
  if (!found) return;
  search.Forget();
  search.text = search.longest_of = found->search;
  search.longest = found->longest;
  ShowSpan(found->longest.front());
}

void Workspace::ShowSpan(SpanRef span) {
  const std::int64_t start = document.timeline->start(span);
  const std::int64_t lasts = std::max<std::int64_t>(document.timeline->end(span) - start, 1);
  timeline.span = span;
  timeline.view.ShowWithMargin({start - 3 * lasts, start + 4 * lasts});
  reveal = true;
}

void Workspace::ShowFunction(const FunctionId& id) {
  view = ViewId::kStages;
  functions = true;
  FunctionsState& state = stages.functions;
  state = {};
  state.chosen = id;
  state.reveal = true;
  if (!Shown().analysis) return;
  for (const UnitProfile& profile : Shown().analysis->functions.profiles) {
    if (profile.Find(id) == nullptr) continue;
    state.stage = profile.stage;
    break;
  }
}

void Workspace::ShowEvidence(const analyzer::Finding& finding) {
  if (const auto function = FunctionOf(finding)) return ShowFunction(*function);
  view = ViewId::kTimeline;
  const auto ns = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9); };
  evidence = EvidenceWish{finding.id, {ns(finding.from), ns(finding.to)}};
  if (document.timeline) TimelineCame();
}

void Workspace::ShowCall(const Call& call) {
  if (!document.timeline) return;
  view = ViewId::kTimeline;
  if (const auto span = FindSpan(*document.timeline, call)) {
    timeline.Go(*document.timeline, *span);
    reveal = true;
  } else {
    const std::int64_t margin = std::max<std::int64_t>(call.length / 10, 1000);
    timeline.Jump({call.start - margin, call.start + call.length + margin});
  }
}

void Workspace::ShowMoment(double at) {
  view = ViewId::kTimeline;
  const std::int64_t middle = static_cast<std::int64_t>(at * 1e9);
  const std::int64_t half = std::max<std::int64_t>(timeline.view.trace_length() / 40, 1000);
  timeline.Jump({middle - half, middle + half});
}

void Workspace::CopyText(const std::string& text) {
  ImGui::SetClipboardText(text.c_str());
  copied = text;
  copied_at = ImGui::GetTime();
}

bool Workspace::TakesKeys() const {
  const ImGuiIO& io = ImGui::GetIO();
  const bool popup = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
  return !Typing() && !popup && !covered && !walking && !io.KeyCtrl && !io.KeyAlt;
}

bool Workspace::animating() const {
  // A value is shown only in the view that asked for it, so only the values of this view count.
  const bool making =
      (view == ViewId::kTimeline && (sums.busy() || own_times.busy() || groups.table.busy())) ||
      (view == ViewId::kOverview && (plan.plan.busy() || plan.settling)) ||
      (view == ViewId::kStages && (stages.lines.busy() || stages.tail.busy())) ||
      (view == ViewId::kWorkers && workers.model.busy()) ||
      (view == ViewId::kIo && reading.model.busy()) || (view == ViewId::kGpu && gpu.model.busy()) ||
      (view == ViewId::kSql && sql.reply.busy());
  return making || thumbnail.busy() || ImGui::GetTime() - copied_at < 2.2;
}

}  // namespace penstock::gui
