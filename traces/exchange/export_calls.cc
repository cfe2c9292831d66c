// SPDX-License-Identifier: Apache-2.0
//
// The call trees of followed units for viewers of profiles: speedscope's file format and Brendan
// Gregg's collapsed stacks. In speedscope each stage is a profile; in stacks it is the outermost
// frame. Samples that were chosen because they were slow before are a stage of their own.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "traces/base/json_text.h"
#include "traces/call_trees.h"
#include "traces/exchange/formats.h"
#include "traces/export_text.h"

namespace penstock::traces {
namespace {

struct Profiled {
  StageId stage;
  bool chosen;
  std::string_view name;
};
constexpr Profiled kProfiled[] = {{StageId::kSample, false, "sample"},
                                  {StageId::kSample, true, "slow sample"},
                                  {StageId::kCollate, false, "collate"},
                                  {StageId::kStep, false, "step"}};

// A Frame is a function, or a line of a function. Stacks has the own time of each stack: the time
// that belongs to no deeper stack. The empty stack is the unit itself.
using Frame = std::tuple<std::string, std::string, std::uint32_t>;  // name, file, line
using Stack = std::vector<Frame>;                                   // outermost first
using Stacks = std::map<Stack, std::int64_t>;                       // nanoseconds

Frame FrameOf(const Trace& trace, const CallNode& node) {
  std::string name(trace.String(node.name));
  if (node.kind == CallKind::kLine) name += ":" + std::to_string(node.line);
  return {std::move(name), std::string(trace.String(node.file)), node.line};
}

Stacks StacksOf(const Trace& trace, const CallTrees& calls, const Profiled& profiled) {
  Stacks stacks;
  for (const CallTree& tree : calls.trees) {
    if ((tree.unit.flags & wire::kUnitStall) != 0) continue;  // a stack without times
    const bool chosen = (tree.unit.flags & wire::kUnitChosen) != 0;
    if (tree.unit.stage != profiled.stage || chosen != profiled.chosen) continue;
    std::vector<Stack> paths;
    for (const CallNode& node : tree.nodes) {
      Stack path = node.parent == kNoCall ? Stack() : paths[node.parent];
      path.push_back(FrameOf(trace, node));
      if (node.own.value > 0) stacks[path] += node.own.value;
      paths.push_back(std::move(path));
    }
    if (tree.own().value > 0) stacks[{}] += tree.own().value;
  }
  return stacks;
}

// In a collapsed stack, ';' separates frames and a line feed separates stacks, so neither may occur
// in a frame.
std::string CollapsedFrame(const Frame& frame) {
  const auto& [name, file, line] = frame;
  std::string text = file.empty() ? name : name + " (" + file.substr(file.rfind('/') + 1) + ")";
  text = VisibleText(text);
  std::replace(text.begin(), text.end(), ';', ':');
  return text;
}

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const Trace& trace, const TextSink& sink) : trace_(trace), out_(sink) {}

  bool Write() {
    const CallTrees calls = ReadCallTrees(trace_);
    for (const Profiled& profiled : kProfiled) {
      Stacks stacks = StacksOf(trace_, calls, profiled);
      if (!stacks.empty()) profiles_.emplace_back(profiled.name, std::move(stacks));
    }
    out_.text() += R"({"$schema":"https://www.speedscope.app/file-format-schema.json",)"
                   R"("exporter":"penstock","shared":{"frames":[)";
    WriteFrames();
    out_.text() += "]},\"profiles\":[";
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      if (i > 0) out_.text() += ',';
      WriteProfile(profiles_[i].first, profiles_[i].second);
    }
    out_.text() += "]}";
    out_.Line();
    return out_.Flush();
  }

 private:
  void WriteFrames() {
    for (const auto& [name_of_profile, stacks] : profiles_) {
      for (const auto& [stack, time] : stacks) {
        for (const Frame& frame : stack) {
          if (!places_.try_emplace(frame, places_.size()).second) continue;
          const auto& [name, file, line] = frame;
          out_.text() += places_.size() > 1 ? ",{\"name\":" : "{\"name\":";
          AppendJson(out_.text(), name);
          if (!file.empty()) {
            out_.text() += ",\"file\":";
            AppendJson(out_.text(), file);
          }
          if (line > 0) out_.Format(",\"line\":{}", line);
          out_.text() += '}';
        }
      }
    }
  }

  void WriteProfile(std::string_view name, const Stacks& stacks) {
    std::int64_t whole = 0;
    for (const auto& [stack, time] : stacks) whole += time;
    out_.Format(
        "{{\"type\":\"sampled\",\"name\":\"{}\",\"unit\":\"nanoseconds\",\"startValue\":0,"
        "\"endValue\":{},\"samples\":[",
        name, whole);
    bool first = true;
    for (const auto& [stack, time] : stacks) {
      out_.text() += first ? "[" : ",[";
      first = false;
      for (std::size_t i = 0; i < stack.size(); ++i) {
        out_.Format("{}{}", i > 0 ? "," : "", places_.at(stack[i]));
      }
      out_.text() += ']';
    }
    out_.text() += "],\"weights\":[";
    first = true;
    for (const auto& [stack, time] : stacks) {
      out_.Format("{}{}", first ? "" : ",", time);
      first = false;
    }
    out_.text() += "]}";
  }

  const Trace& trace_;
  TextBuffer out_;
  std::vector<std::pair<std::string_view, Stacks>> profiles_;
  std::map<Frame, std::size_t> places_;
};

}  // namespace

bool ExportSpeedscope(const Trace& trace, const TextSink& sink) {
  return SpeedscopeWriter(trace, sink).Write();
}

std::string_view LackOfCalls(const Trace& trace) {
  const CallTrees calls = ReadCallTrees(trace);
  for (const Profiled& profiled : kProfiled) {
    if (!StacksOf(trace, calls, profiled).empty()) return "";
  }
  return "no calls of Python were followed in it, so there are no functions to write; record a "
         "longer run, without PENSTOCK_FUNCTIONS=off";
}

bool ExportCollapsed(const Trace& trace, const TextSink& sink) {
  TextBuffer out(sink);
  const CallTrees calls = ReadCallTrees(trace);
  for (const Profiled& profiled : kProfiled) {
    for (const auto& [stack, time] : StacksOf(trace, calls, profiled)) {
      out.text() += profiled.name;
      for (const Frame& frame : stack) out.text() += ";" + CollapsedFrame(frame);
      out.Format(" {}", (time + 500) / 1000);
      out.Line();
    }
  }
  return out.Flush();
}

}  // namespace penstock::traces
