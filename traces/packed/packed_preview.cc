// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/packed_preview.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "traces/base/xxh64.h"
#include "traces/packed/block_merge.h"
#include "traces/packed/decode_budget.h"
#include "traces/packed/table_codec.h"

namespace penstock::traces::packed {
namespace {

// Hashes the sections before the first preview, and counts the spans of all sections.
PreviewBinding BindingOf(std::span<const SectionRef> sections) {
  PreviewBinding binding;
  std::vector<std::uint64_t> checks;
  bool before = true;
  for (const SectionRef& section : sections) {
    before = before && section.header.kind != kPreview;
    if (before) checks.push_back(section.header.header_check);
    if (section.header.kind == kSpans) binding.spans += section.header.items;
  }
  binding.sections = Xxh64(checks.data(), checks.size() * sizeof checks[0]);
  return binding;
}

std::map<std::uint32_t, std::vector<SectionRef>> BlocksByThread(
    std::span<const SectionRef> sections) {
  std::map<std::uint32_t, std::vector<SectionRef>> blocks;
  for (const SectionRef& section : sections) {
    if (section.header.kind == kSpans) blocks[section.header.thread].push_back(section);
  }
  return blocks;
}

bool ReadTable(SectionDecoder& decoder, const MappedFile& file, const SectionRef& section,
               Preview& preview) {
  std::span<const std::byte> payload;
  if (!decoder.Decode(file.bytes(), section, &payload)) return false;
  if (section.header.kind == kProcesses) return ReadProcesses(payload, preview.processes);
  if (section.header.kind == kThreads) return ReadThreads(payload, preview.thread_infos);
  return ReadFacts(payload, preview.facts);
}

// Whether each thread with spans has exactly one preview, made from as many spans, and no other
// thread has one. Sorts the previews by thread and sets ThreadInfo::spans.
bool Complete(Preview& preview, std::span<const SectionRef> sections) {
  for (ThreadInfo& thread : preview.thread_infos) {
    if (thread.process.value >= preview.processes.size()) return false;
    thread.spans = 0;
  }
  for (const SectionRef& section : sections) {
    const SectionHeader& header = section.header;
    if (header.kind != kSpans) continue;
    if (header.thread >= preview.thread_infos.size()) return false;
    preview.thread_infos[header.thread].spans += header.items;
  }
  std::sort(preview.threads.begin(), preview.threads.end(),
            [](const PreviewThread& a, const PreviewThread& b) { return a.thread < b.thread; });
  auto made = preview.threads.begin();
  for (std::uint32_t t = 0; t < preview.thread_infos.size(); ++t) {
    const std::uint64_t spans = preview.thread_infos[t].spans;
    if (spans == 0) continue;
    if (made == preview.threads.end() || made->thread.value != t || made->spans != spans) {
      return false;
    }
    ++made;
  }
  return made == preview.threads.end() && preview.end >= preview.begin;
}

}  // namespace

void MakePreviews(const MappedFile& file, const PreviewSource& source,
                  const std::function<void(const SectionMeta&, const ByteWriter&)>& write) {
  const PreviewBinding binding = BindingOf(source.sections);
  const auto blocks = BlocksByThread(source.sections);
  const std::size_t cells = PreviewCells(blocks.size());
  constexpr auto bit = [](StageId stage) { return 1u << StageIndex(stage); };
  ByteWriter payload;
  for (const auto& [thread, own] : blocks) {
    StepFinder finder;
    const std::uint32_t stages = thread < source.stages.size() ? source.stages[thread] : ~0u;
    // Steps are derived from waits, unless steps were recorded.
    if ((stages & bit(StageId::kWait)) != 0 && (stages & bit(StageId::kStep)) == 0) {
      MergeBlocks(file, own, [&finder](std::span<const Span> spans) {
        for (const Span& span : spans) {
          finder.Add(span.start.value, span.duration.value, span.stage, span.batch);
        }
      });
    }
    PreviewBuilder builder(ThreadId{thread}, source.begin, source.end, cells, finder.Take());
    MergeBlocks(file, own, [&builder](std::span<const Span> spans) {
      for (const Span& span : spans) {
        builder.Add(span.start.value, span.duration.value, span.stage);
      }
    });
    const PreviewThread made = builder.Take();
    payload.Clear();
    WritePreview(made, binding, payload);
    write({.kind = kPreview,
           .items = static_cast<std::uint32_t>(made.levels.size()),
           .thread = thread,
           .first = source.begin,
           .last = source.end},
          payload);
  }
}

std::optional<Preview> ReadPackedPreview(const MappedFile& file) {
  Losses losses;
  PackedHeader header{};
  if (file.bytes().size() < sizeof header) return std::nullopt;
  std::memcpy(&header, file.bytes().data(), sizeof header);
  if (header.major != kMajor || !HasContents(file.bytes())) return std::nullopt;
  const SectionList list = FindSections(file.bytes(), losses);
  const auto is = [](SectionKind kind) {
    return [kind](const SectionRef& section) { return section.header.kind == kind; };
  };
  if (!list.complete || std::none_of(list.sections.begin(), list.sections.end(), is(kPreview))) {
    return std::nullopt;
  }
  const PreviewBinding binding = BindingOf(list.sections);
  Preview preview;
  preview.spans = binding.spans;
  SectionDecoder decoder;
  DecodeBudget budget(file.bytes().size());
  for (const SectionRef& section : list.sections) {
    const SectionHeader& h = section.header;
    const bool is_table = h.kind == kProcesses || h.kind == kThreads || h.kind == kFacts;
    if ((is_table || h.kind == kPreview) && !budget.Take(h)) return std::nullopt;
    if (is_table) {
      if (!ReadTable(decoder, file, section, preview)) return std::nullopt;
    } else if (h.kind == kPreview) {
      std::span<const std::byte> payload;
      PreviewBinding own;
      PreviewThread thread;
      thread.thread = ThreadId{h.thread};
      if (!decoder.Decode(file.bytes(), section, &payload) ||
          !ReadPreviewThread(payload, own, thread) || own != binding ||
          thread.levels.size() != h.items || h.first < -kMaxTime || h.last > kMaxTime) {
        return std::nullopt;
      }
      if (!preview.threads.empty() &&
          (preview.begin.value != h.first || preview.end.value != h.last)) {
        return std::nullopt;
      }
      preview.begin.value = h.first;
      preview.end.value = h.last;
      preview.threads.push_back(std::move(thread));
    }
  }
  return Complete(preview, list.sections) ? std::optional(std::move(preview)) : std::nullopt;
}

}  // namespace penstock::traces::packed
