// SPDX-License-Identifier: Apache-2.0
//
// Messages of the report as a page: its parts, labels and sentences. The messages of its plots are
// in page_plots.h.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kRecordedFor{
    "page.recorded-for", "{trace:text}, recorded for {duration:duration}[, from {date:text}]",
    "{trace:text}，录制时长 {duration:duration}[，开始于 {date:text}]"};

// Tiles and lines below the verdict.
inline constexpr Message kTileThroughput{"page.throughput",
                                         "throughput[steady?, steady][whole?, whole run]",
                                         "吞吐量[steady?（稳定）][whole?（全程）]"};
inline constexpr Message kTileWait{
    "page.wait",
    "of the loop's time [whole?over the whole run|[steady?in the steady part|after the queues have "
    "filled]] is waiting for data",
    "的[whole?全程|[steady?稳定阶段|队列填满后]]循环时间在等待数据"};
inline constexpr Message kTileConfidence{"page.confidence", "confidence in the verdict",
                                         "结论的置信度"};
inline constexpr Message kThroughputIs{"page.throughput-is", "Throughput: {what:words}",
                                       "吞吐量：{what:words}"};
inline constexpr Message kLoaderIs{"page.loader-is", "Loader: {what:words}",
                                   "加载器：{what:words}"};
inline constexpr Message kAndLoader{"page.and-loader", "And: {what:words}", "另有：{what:words}"};

// Losses and coverage.
inline constexpr Message kIncompleteLabel{"page.incomplete", "Incomplete:", "不完整："};
inline constexpr Message kOfTheRest{"page.of-the-rest",
                                    "{losses:words}; all figures are of the recorded part.",
                                    "{losses:words}；所有数值仅来自已录制的部分。"};
inline constexpr Message kPartlyBlindLabel{"page.partly-blind", "Partly blind:", "部分不可见："};
inline constexpr Message kNothingLost{"page.nothing-lost",
                                      "Nothing that was recorded is lost or damaged.",
                                      "录制的内容没有丢失或损坏。"};
inline constexpr Message kSeenIs{"page.seen", "Seen: {what:words}.", "读取覆盖率：{what:words}。"};
// A statement as a sentence of its own.
inline constexpr Message kSentence{"page.sentence", "{what:sentence}.", "{what:words}。"};
inline constexpr Message kClause{"page.clause", "{what:words}.", "{what:words}。"};

// Suggestion and other changes.
inline constexpr Message kPredictedSuggestion{
    "page.predicted-suggestion",
    "Predicted: {prediction:words} (90 % interval); memory [memory?{memory:bytes}|not known]. The "
    "next bottleneck would be: {factor:name}.",
    "预测：{prediction:words}（90 % 区间）；内存 [memory?{memory:bytes}|未知]。下一个瓶颈："
    "{factor:name}。"};
inline constexpr Message kPredictedIs{"page.predicted", "Predicted by itself: {prediction:words}.",
                                      "单独改动的预测：{prediction:words}。"};
inline constexpr Message kOtherChanges{
    "page.other-changes",
    "Other changes, as options of penstock whatif:", "其他改动（penstock whatif 的选项）："};
inline constexpr Message kColumnChange{"page.change", "change", "改动"};
inline constexpr Message kColumnPredicted{"page.predicted-column", "predicted", "预测"};
inline constexpr Message kColumnMemory{"page.memory-column", "memory", "内存"};
inline constexpr Message kNoteOfChange{"page.note-of-change", "{change:text}: {note:words}",
                                       "{change:text}：{note:words}"};

// Findings.
inline constexpr Message kInfo{"page.info", "info", "提示"};
inline constexpr Message kWarning{"page.warning", "warning", "警告"};
inline constexpr Message kCritical{"page.critical", "critical", "严重"};
inline constexpr Message kDo{"page.do", "Do:", "建议："};
inline constexpr Message kWhen{"page.when", "when", "时间"};
inline constexpr Message kFromTo{"page.from-to", "{from:.3} s to {to:.3} s of the recording",
                                 "录制的 {from:.3} s 至 {to:.3} s"};
inline constexpr Message kProcesses{"page.processes", "processes", "进程"};
inline constexpr Message kNone{"page.none", "None.", "无。"};

// What could not be checked.
inline constexpr Message kCountsUnknown{
    "page.unchecked.counts",
    "whether every read was seen: the kernel's byte counts were not recorded",
    "是否看到了全部读取：没有录制操作系统的字节计数"};
inline constexpr Message kKernelsUnknown{
    "page.unchecked.kernels",
    "what the GPU did: no kernels were recorded, so a step is the time between two batches in the "
    "training loop",
    "GPU 做了什么：没有录制 GPU 内核，因此训练步按训练循环中两个批次之间的时间计"};
inline constexpr Message kMappedUnknown{"page.unchecked.mapped",
                                        "reading of mapped files: it happens inside other stages",
                                        "内存映射文件的读取：发生在其他阶段之内"};
inline constexpr Message kMachineUnknown{
    "page.unchecked.machine", "limits of the machine: its cores and memory were not recorded",
    "机器的限制：没有录制核心数和内存"};
inline constexpr Message kLoaderUnchecked{"page.unchecked.loader", "the loader: {why:words}",
                                          "加载器：{why:words}"};
inline constexpr Message kCoresUnknown{"page.unchecked.cores",
                                       "whether cores are short: no CPU times were recorded",
                                       "核心是否不足：没有录制 CPU 时间"};
inline constexpr Message kSettingsUnchecked{"page.unchecked.settings",
                                            "other settings of the loader: {why:words}",
                                            "加载器的其他设置：{why:words}"};
inline constexpr Message kSamplesUnknown{
    "page.unchecked.samples", "samples: their number in a batch is not known, rates are of batches",
    "样本：每批的样本数未知，速率按批计"};
inline constexpr Message kAllChecked{"page.all-checked", "Nothing that Penstock knows of.",
                                     "没有 Penstock 已知的遗漏。"};

// Titles of parts, and their names in the row of links at the top.
inline constexpr Message kTitleSeen{"page.title.seen", "Losses and coverage", "丢失与覆盖"};
inline constexpr Message kTitleSuggestion{"page.title.suggestion", "Suggestion", "建议"};
inline constexpr Message kTitleStages{"page.title.stages", "Stages", "阶段"};
inline constexpr Message kTitleGains{"page.title.gains", "If one part cost nothing",
                                     "若某一环节不耗时"};
inline constexpr Message kTitleGpu{"page.title.gpu", "The GPU", "GPU"};
inline constexpr Message kTitleRanks{"page.title.ranks", "Ranks", "rank 一览"};
inline constexpr Message kTitleTimeline{"page.title.timeline", "A few batches in time",
                                        "若干批次的时间线"};
inline constexpr Message kTitleWorkers{"page.title.workers", "Throughput against workers",
                                       "吞吐量与工作进程数"};
inline constexpr Message kTitleMemory{"page.title.memory", "Memory against workers",
                                      "内存与工作进程数"};
inline constexpr Message kTitleLatency{"page.title.latency", "Latency of each stage",
                                       "各阶段的耗时分布"};
inline constexpr Message kTitleQueue{"page.title.queue", "Queue depth over time",
                                     "队列深度随时间变化"};
inline constexpr Message kTitleFindings{"page.title.findings", "Findings", "发现"};
inline constexpr Message kTitleUnchecked{"page.title.unchecked", "What could not be checked",
                                         "未能检查的内容"};
inline constexpr Message kLinkSeen{"page.link.seen", "losses and coverage", "丢失与覆盖"};
inline constexpr Message kLinkSuggestion{"page.link.suggestion", "suggestion", "建议"};
inline constexpr Message kTitleChanges{"page.title.changes", "Other changes, each by itself",
                                       "其他改动（逐项）"};
inline constexpr Message kLinkChanges{"page.link.changes", "other changes", "其他改动"};
inline constexpr Message kLinkStages{"page.link.stages", "stages", "阶段"};
inline constexpr Message kLinkGpu{"page.link.gpu", "GPU", "GPU"};
inline constexpr Message kLinkRanks{"page.link.ranks", "ranks", "rank"};
inline constexpr Message kLinkTimeline{"page.link.timeline", "timeline", "时间线"};
inline constexpr Message kLinkWorkers{"page.link.workers", "workers", "工作进程"};
inline constexpr Message kLinkLatency{"page.link.latency", "latency", "耗时"};
inline constexpr Message kLinkQueue{"page.link.queue", "queue", "队列"};
inline constexpr Message kLinkFindings{"page.link.findings", "findings ({findings:count})",
                                       "发现（{findings:count}）"};
inline constexpr Message kLinkUnchecked{"page.link.unchecked", "not checked", "未检查"};

// Tables: stages, devices, ranks.
inline constexpr Message kStageTable{"page.stage-table", "All stages as a table",
                                     "所有阶段（表格）"};
inline constexpr Message kColumnStage{"page.column.stage", "stage", "阶段"};
inline constexpr Message kColumnStageOfRanks{
    "page.column.stage-of-ranks", "stage, {ranks:count} ranks", "阶段，{ranks:count} 个 rank 合计"};
inline constexpr Message kColumnShare{"page.column.share", "share", "占比"};
inline constexpr Message kColumnWall{"page.column.wall", "wall", "耗时"};
inline constexpr Message kColumnCpu{"page.column.cpu", "CPU", "CPU"};
inline constexpr Message kColumnCount{"page.column.count", "count", "次数"};
inline constexpr Message kColumnMedian{"page.column.p50", "median (p50)", "中位数（p50）"};
inline constexpr Message kColumnP99{"page.column.p99", "99th percentile (p99)", "p99"};
inline constexpr Message kColumnBytes{"page.column.bytes", "bytes", "字节"};
inline constexpr Message kColumnBatchPart{"page.column.batch-part", "for one batch", "每批"};
inline constexpr Message kColumnTime{"page.column.time", "time", "耗时"};
inline constexpr Message kTheLoop{"page.the-loop", "the loop", "循环"};
inline constexpr Message kTheGpu{"page.the-gpu", "the GPU", "GPU"};
inline constexpr Message kCopiesToDevice{"page.copies", "Copies to the device: {copies:words}",
                                         "拷贝到设备：{copies:words}"};
inline constexpr Message kKernelTable{"page.kernels", "The most expensive kernels of the recording",
                                      "耗时最长的 GPU 内核"};
inline constexpr Message kColumnRank{"page.column.rank", "rank", "rank"};
inline constexpr Message kColumnHost{"page.column.host", "host", "主机"};
inline constexpr Message kColumnWorkers{"page.column.workers", "workers", "工作进程"};
inline constexpr Message kColumnCores{"page.column.cores", "cores", "核数"};
inline constexpr Message kColumnWaits{"page.column.waits", "waits", "等待占比"};
inline constexpr Message kColumnWaitMean{"page.column.wait", "wait, mean", "等待（平均）"};
inline constexpr Message kColumnStepMean{"page.column.step", "step, mean", "训练步（平均）"};
inline constexpr Message kColumnDataBound{"page.column.data-bound", "data-bound", "等数据的迭代"};
inline constexpr Message kColumnHeldUp{"page.column.held-up", "others held up", "拖慢其他 rank"};
inline constexpr Message kClockOf{"page.clock-of", "clock of {clock:words}", "时钟 {clock:words}"};

// The plan on the page.
inline constexpr Message kPlanLink{"plan.link", "plan", "计划"};
inline constexpr Message kPlanPlot{"plan.plot", "Rate after each step of the plan",
                                   "计划每一步之后的速率"};
inline constexpr Message kPlanCaption{
    "plan.caption",
    "Each bar is the predicted rate with all steps up to it; lines are 90 % intervals. The last "
    "bar is the rate if data cost nothing. All rates are of the [whole?whole run, start-up "
    "included|steady part].",
    "每条表示做到该步为止的预测速率，细线为 90 % 区间；最后一条为数据不耗时情况下的速率。速率均为"
    "[whole?全程（含启动）|稳定阶段]的速率。"};
inline constexpr Message kPlanTryTitle{"plan.try-title", "What the trace cannot tell",
                                       "跟踪无法回答的问题"};

}  // namespace penstock::analyzer::words
