// SPDX-License-Identifier: Apache-2.0
//
// The Chinese says what analyzer/report/phrases.cc, coverage.cc and advice/not_checked.cc say in
// English, with the same figures. A sentence that is not known here stays English.
#include "gui/model/report_texts.h"

#include <array>
#include <utility>

#include <fmt/core.h>

#include "analyzer/report/phrases.h"
#include "analyzer/words/format.h"
#include "gui/model/overview.h"
#include "gui/model/phrase_texts.h"

namespace penstock::gui {
namespace {

using analyzer::BytesText;
using analyzer::PercentText;

using Translation = std::pair<std::string_view, std::string_view>;

// Ends of sentences about libraries.
constexpr std::array kSights = {
    Translation{": loaded; what it does counts to the stage around it",
                "：已加载，其耗时计入所在的阶段"},
    Translation{": seen from Python only, and this is not Python",
                "：只有经 Python 调用才能看到，而此程序不是 Python"},
    Translation{" calls whose library could not be found again", " 次调用找不到所属的库"},
};

constexpr std::array kWays = {
    Translation{"reads through io_uring: they pass every hook, so `read` is short of them",
                "经 io_uring 的读取：不经过任何钩子，“读取”中不含这些"},
    Translation{"asynchronous reads (libaio): `read` is short of them",
                "异步读取（libaio）：“读取”中不含这些"},
    Translation{"mapped files: their bytes come in as page faults, inside the decode or transform "
                "that touches them",
                "内存映射的文件：经缺页读入，计入访问它们的解码或变换"},
    Translation{"an isolated Python (-I or -E): loader, transforms and OpenCV were not hooked",
                "隔离模式的 Python（-I 或 -E）：加载器、变换和 OpenCV 未被跟踪"},
    Translation{
        "a process that locked itself in (seccomp): nothing of it was recorded from then on",
        "有进程启用了 seccomp 隔离：此后没有录制到它的任何内容"},
    Translation{
        "a process whose limits of memory (ulimit -v, -d, -l) leave no room for the recording: "
        "what it did is counted as lost",
        "有进程的内存限制（ulimit -v、-d、-l）容不下录制缓冲：它的活动计为丢失"},
};

constexpr std::array kNeeds = {
    Translation{"almost every rule: needs a loader whose batches were recorded",
                "几乎所有规则：需要录制到加载器的批次"},
    Translation{"GPU kernels in the recording", "录制中包含 GPU 内核"},
    Translation{"host-to-device copies in the recording", "录制中包含到 GPU 的拷贝"},
    Translation{"a run with a GPU", "使用 GPU 的运行"},
    Translation{"the data types of a batch", "批次的数据类型"},
    Translation{"the traces of the other ranks (penstock report takes several)",
                "其他 rank 的跟踪文件（penstock report 可同时接受多个）"},
    Translation{"two epochs", "两个 epoch"},
    Translation{"CPU time and threads of the workers (a recording with collector)",
                "工作进程的 CPU 时间和线程数（使用 penstock record 录制）"},
    Translation{"memory of the workers (a recording with collector)",
                "工作进程的内存（使用 penstock record 录制）"},
    Translation{"each worker's memory four times after its start (a longer recording, or record "
                "--memory 500ms)",
                "每个工作进程启动后至少四次内存记录（更长的录制，或 record --memory 500ms）"},
    Translation{"anonymous memory of the workers (a recording of this version)",
                "工作进程的匿名内存（用此版本录制）"},
    Translation{"page faults of the workers and what one costs (a recording of this version with "
                "collector)",
                "工作进程的缺页次数与单次缺页的代价（使用此版本的 penstock record 录制）"},
    Translation{"files that are read (what maps them faults in their pages)",
                "以读取方式访问的文件（内存映射会引起缺页）"},
    Translation{"eight batches of a worker (a longer recording)",
                "每个工作进程八个批次（更长的录制）"},
    Translation{"a quiet machine", "空闲的机器"},
    Translation{"a longer recording", "更长的录制"},
};

template <std::size_t N>
std::string Translated(const std::array<Translation, N>& table, std::string_view text) {
  for (const auto& [english, chinese] : table) {
    if (english == text) return std::string(chinese);
  }
  return std::string(text);
}

}  // namespace

std::string LossText(const traces::Losses& losses, Language language) {
  if (language == Language::kEnglish) return analyzer::LossText(losses);
  std::string line;
  const auto add = [&](const std::string& part) { line += (line.empty() ? "" : "，") + part; };
  if (losses.dropped_events > 0) add(fmt::format("丢弃 {} 个事件", losses.dropped_events));
  if (losses.damaged_bytes > 0) {
    add(fmt::format("损坏 {}", BytesText(losses.damaged_bytes)));
  } else if (losses.damaged_records > 0) {
    add(fmt::format("损坏 {} 条记录", losses.damaged_records));
  }
  if (losses.lost_threads > 0) add(fmt::format("{} 个线程没有空间", losses.lost_threads));
  if (losses.truncated) add("文件提前结束");
  return line;
}

std::string BlindText(const analyzer::Coverage& coverage, Language language) {
  std::string english = analyzer::BlindText(coverage);
  if (english.empty() || language == Language::kEnglish) return english;
  return fmt::format("只看到所读字节的 {}", PercentText(coverage.fraction()));
}

std::string SeenText(const analyzer::Coverage& coverage, Language language) {
  if (language == Language::kEnglish) return analyzer::SeenText(coverage);
  if (!coverage.known) return "未知，没有录制操作系统的字节计数";
  if (coverage.mapped > 0 && coverage.bytes_total < 1'000'000) {
    return fmt::format("几乎没有经调用读取（{}），文件是内存映射的",
                       BytesText(coverage.bytes_total));
  }
  return fmt::format("所读字节的 {}（{} / {}）", PercentText(coverage.fraction()),
                     BytesText(coverage.bytes_seen), BytesText(coverage.bytes_total));
}

std::string NotSeenText(std::string_view blind, Language language) {
  if (language == Language::kEnglish) return std::string(blind);
  for (const auto& [english, chinese] : kSights) {
    if (!blind.ends_with(english)) continue;
    blind.remove_suffix(english.size());
    return LibraryText(blind, language) + std::string(chinese);
  }
  return Translated(kWays, blind);
}

std::string NotCheckedText(const analyzer::NotChecked& missing, Language language) {
  if (language == Language::kEnglish) return analyzer::NotCheckedText(missing);
  const std::string needs = Translated(kNeeds, missing.needs);
  if (missing.ids.empty()) return needs;
  std::string ids;
  for (const std::string_view id : missing.ids) {
    ids += (ids.empty() ? "" : "、") + std::string(TitleOfRule(id, language));
  }
  return fmt::format("{}：需要{}", ids, needs);
}

}  // namespace penstock::gui
