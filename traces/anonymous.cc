// SPDX-License-Identifier: Apache-2.0
#include "traces/anonymous.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "traces/library_paths.h"
#include "traces/public_facts.h"
#include "traces/wire.h"
#include "traces/wire_records.h"

namespace penstock::traces {
namespace {

using Facts = std::map<std::string, std::string>;

// What a string of the trace is used for. If it has several uses, the last one of this list counts.
enum class Use : std::uint8_t { kNone, kName, kObject, kCounter };

std::string AnonymousFact(FactKind kind, const std::string& value, StandIns& names) {
  switch (kind) {
    case FactKind::kUnknown:
    case FactKind::kOwn:
      break;  // left out
    case FactKind::kPublic:
      return value;
    case FactKind::kHost:
      return names.Host(value);
    case FactKind::kId:
      return names.Id(value);
    case FactKind::kFolder:
      return names.Folder(value);
    case FactKind::kName:
      return names.Name(value);
    case FactKind::kSentence:
      return names.Sentence(value);
    case FactKind::kVersionAndPath:
      return names.VersionAndPath(value);
    case FactKind::kWords:
      return names.CommandLine(value);
  }
  return "";
}

// Leaves out facts that Penstock does not write, because their keys may be names too.
Facts AnonymousFacts(const Facts& facts, StandIns& names) {
  Facts out;
  for (const auto& [key, value] : facts) {
    const FactKind kind = KindOfFact(WithoutPart(key));
    if (kind == FactKind::kUnknown || kind == FactKind::kOwn) continue;
    out[key] = AnonymousFact(kind, value, names);
  }
  return out;
}

std::string_view LastPart(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool IsOfLibrary(std::string_view file) {
  return file.find("/penstock_hooks/") != std::string_view::npos ||
         std::any_of(std::begin(kLibraryPaths), std::end(kLibraryPaths), [file](const char* part) {
           return file.find(part) != std::string_view::npos;
         });
}

std::uint32_t HashOfName(std::string_view text) {
  return static_cast<std::uint32_t>(wire::HashOf(text.data(), text.size()));
}

class Anonymous final : public Trace {
 public:
  Anonymous(const Trace& whole, StandIns& names) : whole_(whole), names_(names) {
    FindUses();
    RenameStrings();
    RenameCalls();
    RenameDigests();
    facts_ = AnonymousFacts(whole.facts(), names);
    RenameProcesses();
  }

  const Facts& facts() const override { return facts_; }
  std::span<const ProcessInfo> processes() const override { return processes_; }
  std::span<const ThreadInfo> threads() const override { return threads_; }
  std::span<const Event> events() const override { return events_; }
  std::span<const CounterSample> counters() const override { return whole_.counters(); }
  std::span<const UnitRow> unit_rows() const override { return whole_.unit_rows(); }
  std::span<const CallRow> call_rows() const override { return calls_; }
  const Losses& losses() const override { return whole_.losses(); }
  std::string_view String(StringId id) const override {
    return id.value < strings_.size() ? std::string_view(strings_[id.value]) : std::string_view();
  }
  std::uint64_t span_count() const override { return whole_.span_count(); }
  TimeNs begin() const override { return whole_.begin(); }
  TimeNs end() const override { return whole_.end(); }
  TimeNs realtime_offset() const override { return whole_.realtime_offset(); }
  void ForEachBlock(ThreadId thread,
                    const std::function<void(std::span<const Span>)>& visit) const override {
    whole_.ForEachBlock(thread, visit);
  }

 private:
  void Note(StringId id, Use use) {
    if (id.value >= uses_.size()) {
      if (whole_.String(id).empty()) return;  // a damaged id must not cost memory
      uses_.resize(id.value + std::size_t{1});
    }
    uses_[id.value] = std::max(uses_[id.value], use);
  }

  void FindUses() {
    for (std::uint32_t i = 0; i < whole_.threads().size(); ++i) {
      whole_.ForEachBlock(ThreadId{i}, [this](std::span<const Span> spans) {
        for (const Span& span : spans) {
          Note(span.name, Use::kName);
          Note(span.object, Use::kObject);
        }
      });
    }
    for (const UnitRow& unit : whole_.unit_rows()) Note(unit.name, Use::kName);
    for (const CounterSample& sample : whole_.counters()) Note(sample.name, Use::kCounter);
  }

  void RenameStrings() {
    strings_.resize(std::max<std::size_t>(uses_.size(), 1));  // 0 is no text
    for (std::uint32_t i = 0; i < uses_.size(); ++i) {
      const std::string_view text = whole_.String(StringId{i});
      switch (uses_[i]) {
        case Use::kNone:
          break;
        case Use::kName:
          strings_[i] = names_.Name(text);
          break;
        case Use::kObject:
          strings_[i] = names_.Path(text);
          break;
        case Use::kCounter:
          strings_[i] = names_.Counter(text);
          break;
      }
    }
  }

  StringId Add(std::string text) {
    strings_.push_back(std::move(text));
    return StringId{static_cast<std::uint32_t>(strings_.size() - 1)};
  }

  // The file of a call in the new trace.
  struct File {
    StringId id{};
    bool is_public = false;  // of a public library: the last part of its path was kept
  };

  File Renamed(std::string_view file) {
    if (file.empty()) return {};
    const std::string renamed = names_.Path(file);
    return {Add(renamed), IsOfLibrary(file) && LastPart(renamed) == LastPart(file)};
  }

  // A function of a library keeps its name. A function of the program with the same name does not.
  void RenameCalls() {
    std::unordered_map<std::uint32_t, File> files;
    std::unordered_map<std::uint64_t, StringId> functions;
    calls_.assign(whole_.call_rows().begin(), whole_.call_rows().end());
    for (CallRow& call : calls_) {
      const bool builtin = whole_.String(call.file).empty();
      const auto [file, new_file] = files.try_emplace(call.file.value);
      if (new_file) file->second = Renamed(whole_.String(call.file));
      const bool is_public = file->second.is_public;
      call.file = file->second.id;
      const std::uint64_t kind = builtin ? 0 : is_public ? 1 : 2;
      const auto [name, new_name] = functions.try_emplace(kind << 32 | call.name.value);
      if (new_name) {
        const std::string_view text = whole_.String(call.name);
        name->second = Add(builtin     ? names_.Builtin(text)
                           : is_public ? std::string(text)
                                       : names_.Function(text));
      }
      call.name = name->second;
    }
  }

  // A digest names its transform by the hash of the name, so it gets the hash of the stand-in.
  void RenameDigests() {
    std::unordered_map<std::uint32_t, std::uint32_t> hashes;
    for (std::uint32_t i = 0; i < uses_.size(); ++i) {
      if (uses_[i] != Use::kName) continue;
      hashes[HashOfName(whole_.String(StringId{i}))] = HashOfName(strings_[i]);
    }
    events_.assign(whole_.events().begin(), whole_.events().end());
    for (Event& event : events_) {
      if (event.type != EventType::kDigest) continue;
      const std::uint32_t name = wire::NameOfDigest(event.value);
      if (name == 0) continue;
      // No span has a name with this hash. A number replaces the hash, the same for equal hashes.
      const auto [at, fresh] =
          hashes.try_emplace(name, static_cast<std::uint32_t>(hashes.size() + 1));
      event.value = wire::DigestValue(wire::DigestOf(event.value), at->second);
    }
  }

  void RenameProcesses() {
    processes_.assign(whole_.processes().begin(), whole_.processes().end());
    for (ProcessInfo& process : processes_) {
      process.comm = names_.Word(process.comm);
      for (std::string& word : process.command) word = names_.Word(word);
      for (std::string& library : process.libraries) library = names_.Path(library);
      process.facts = AnonymousFacts(process.facts, names_);
    }
    threads_.assign(whole_.threads().begin(), whole_.threads().end());
    for (ThreadInfo& thread : threads_) thread.name = names_.Name(thread.name);
  }

  const Trace& whole_;
  StandIns& names_;
  std::vector<Use> uses_;             // by id
  std::vector<std::string> strings_;  // by id; those of calls follow
  Facts facts_;
  std::vector<ProcessInfo> processes_;
  std::vector<ThreadInfo> threads_;
  std::vector<Event> events_;
  std::vector<CallRow> calls_;
};

}  // namespace

std::unique_ptr<Trace> WithoutNames(const Trace& trace, StandIns& names) {
  return std::make_unique<Anonymous>(trace, names);
}

}  // namespace penstock::traces
