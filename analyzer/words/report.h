// SPDX-License-Identifier: Apache-2.0
//
// Messages for the terminal and for the page: throughput, loaders, predictions, confidence.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

// Why a part is the bottleneck although another takes longer: that one waits for a core.
inline constexpr Message kMoreCoreTime{
    "bottleneck.core-time",
    "the cores are full, and it needs them longer than {other:name} ({mine:duration} against "
    "{others:duration})",
    "核心已占满，而它占用核心的时间比{other:name}更长（{mine:duration} 对 {others:duration}）"};

inline constexpr Message kNoBatchFollowed{
    "throughput.no-batches", "not known: no batch followed another", "未知：没有相继的批次"};
inline constexpr Message kNoBatchAndNoImage{
    "throughput.nothing", "not known: no batch and no image was seen", "未知：没有看到批次或图像"};
inline constexpr Message kThroughput{
    "throughput",
    "{rate:rate} {unit:words}[ ({low:rate}..{high:rate})[, {batch_rate:rate} batches/s]"
    "[steady?, steady over {steady:count}[ {when:words},] of {batches:count} batches|, NOT steady: "
    "{batches:count} "
    "batches]; whole run {whole:rate}"
    "[probed?, with experiments that slow it down][; {pauses:count} pauses of {paused:duration} "
    "left out]]",
    "{rate:rate} {unit:words}[（{low:rate} 至 {high:rate}）[，{batch_rate:rate} 批/秒]"
    "[steady?，{batches:count} 批中[{when:words}的] {steady:count} 批稳定|，未稳定：共 "
    "{batches:count} 批]；全程 "
    "{whole:rate}[probed?（含放慢运行的实验）][；略去 {pauses:count} 次停顿，共 "
    "{paused:duration}]]"};

inline constexpr Message kRateChanged{
    "throughput.changed",
    "the rate changed for good {at:duration} after the beginning: {before:rate} -> {after:rate} "
    "{unit:words}; steady figures and predictions are of what followed",
    "开始 {at:duration} 后速率变为另一水平并保持：{before:rate} → {after:rate} "
    "{unit:words}；稳定数值和预测只针对其后部分"};
inline constexpr Message kRateDrifts{
    "throughput.drifts",
    "the rate still [rises?rises|falls]: {first:rate} {unit:words} in the first third, "
    "{last:rate} in the last[cache?; reading and decoding take less and less of a batch, as while "
    "a cache fills (each worker may fill its own)]",
    "速率仍在[rises?上升|下降]：前三分之一为 {first:rate} {unit:words}，后三分之一为 {last:rate}"
    "[cache?；每批用于读取和解码的时间越来越少，就像缓存正在填充（每个工作进程可能各有一份）]"};
inline constexpr Message kLoader{
    "loader",
    "[{name:text}: ]{kind:text}, [workers?[threads?{workers:count thread}|{workers:count worker}]|"
    "number of [threads?threads|workers] not known][, prefetch {prefetch:count}]"
    "[, batch {batch:count}][pinned?, pinned][persistent?, persistent][, {epochs:count} epochs]"
    "[made_anew?, made anew for each epoch][inferred? (guessed from the spans)]"
    "[; [threads?threads|workers] busy {busy:percent}[steady? in the steady part|"
    "[filled? after the queues have filled]], idle {idle:percent} "
    "[lives?from the first batch of each to its last|over the whole run]]"
    "[; CPU [at_least?at least ]{cpu:3g} of {cores:3g} cores[, workers wait for a core "
    "{core_wait:percent} of the time "
    "of a batch]"
    "[crowded? (other programs compete for them)]]",
    "[{name:text}：]{kind:text}，[workers?{workers:count} 个[threads?线程|工作进程]|"
    "[threads?线程|工作进程]数未知][，预取 {prefetch:count}]"
    "[，批大小 {batch:count}][pinned?，锁页内存][persistent?，常驻][，{epochs:count} 个 epoch]"
    "[made_anew?，每个 epoch 重新创建][inferred?（由记录推断）]"
    "[；[threads?线程|工作进程][steady?在稳定阶段|[filled?在队列填满后|"
    "从各自首个批次到最后一个批次]]"
    "忙碌 {busy:percent}，[lives?|全程]空闲 {idle:percent}]"
    "[；CPU [at_least?至少 ]{cpu:3g} / {cores:3g} 核[，工作进程每批有 {core_wait:percent} "
    "的时间在等核心]"
    "[crowded?（其他程序争用核心）]]"};
inline constexpr Message kOtherLoader{
    "loader.other",
    "[{name:text}: ][workers?[threads?{workers:count thread}|{workers:count worker}]|number of "
    "[threads?threads|workers] not known][, batch {batch:count}], {batches:count} batches"
    "[ in {epochs:count} epochs][in_turn?, by turns with the first|, after the first]; the loop "
    "waited {waited:duration} of "
    "{lasted:duration} with it",
    "[{name:text}：][workers?{workers:count} "
    "个[threads?线程|工作进程]|[threads?线程|工作进程]数未知]"
    "[，批大小 {batch:count}]，{batches:count} 批[，{epochs:count} 个 epoch]"
    "[in_turn?，与第一个轮流使用|，在第一个之后]；循环等待它 {waited:duration} / "
    "{lasted:duration}"};
inline constexpr Message kMore{"more", "{more:count} more", "另有 {more:count} 个"};

inline constexpr Message kShareOfThreads{"share.threads", "{threads:.1} thr", "{threads:.1} 线程"};
inline constexpr Message kShareOfStreams{"share.streams", "{streams:.1} streams",
                                         "{streams:.1} 个流"};
// A stage whose times are sums over several GPUs.
inline constexpr Message kStageOfDevices{"stage.devices", "{stage:name}, {devices:count} GPUs",
                                         "{stage:name}，{devices:count} 个 GPU"};
// The time of augmenting outside of named transforms.
inline constexpr Message kOtherCodeOfSamples{"stage.other-code", "rest of samples",
                                             "样本的其他代码"};
inline constexpr Message kPrediction{
    "prediction",
    "[bound?at most ]{rate:rate} {unit:words}[ ({low:rate}..{high:rate})], {speedup:times}x "
    "[whole?the rate of the whole run|the steady rate]",
    "[bound?至多 ]{rate:rate} {unit:words}[（{low:rate} 至 {high:rate}）]，"
    "[whole?全程速率|稳定速率]的 {speedup:times} 倍"};
inline constexpr Message kConfidence{
    "confidence",
    "confidence {confidence:.0} of 100[replayed?; the simulation repeats the run [exact?within 0.1 "
    "%|with an error of {error:%+1}]]",
    "置信度 {confidence:.0} / 100[replayed?；模拟复现此次运行的误差[exact?在 0.1 % 以内|为 "
    "{error:%+1}]]"};
inline constexpr Message kSetting{"setting", "{workers:count worker}, prefetch {prefetch:count}",
                                  "{workers:count} 个工作进程，预取 {prefetch:count}"};
inline constexpr Message kNotKnown{"not-known", "not known", "未知"};

// Losses of the recording. A report shows them before its findings.
inline constexpr Message kIncomplete{"report.incomplete",
                                     "{losses:words}: all figures are of the recorded part",
                                     "{losses:words}：所有数值仅来自已录制的部分"};
inline constexpr Message kNotClosed{
    "report.not-closed", "the recording was not closed by a collector", "录制不是由收集进程结束的"};

// Lines of a terminal.
inline constexpr Message kAllData{
    "report.all-data",
    "; all data [least?at least ]{headroom:times}x[ ({rate:rate} -> {free:rate} {unit:words})]",
    "；全部数据[least?至少] {headroom:times} 倍[（{rate:rate} → {free:rate} {unit:words}）]"};
inline constexpr Message kStartupOfWhole{"report.startup-of-whole",
                                         "startup {gain:times}x of the "
                                         "whole run",
                                         "启动（全程）{gain:times} 倍"};
// `all`: over the whole run, in the loops of all loaders.
inline constexpr Message kLoopWaited{
    "report.loop-waited",
    "{wait:percent} of the loop [whole?over the whole run|[steady?in the steady part|after the "
    "queues have filled]][, {all:percent} over the whole run"
    "[loaders? with [both?both|all {loaders:count}] loaders]]",
    "[whole?全程|[steady?稳定阶段|队列填满后]]循环时间的 {wait:percent}[，[全部 {loaders:count} "
    "个加载器的]全程为 {all:percent}]",
    "both"};
inline constexpr Message kVerboseAdds{"report.verbose", "adds {more:words}",
                                      "另外显示{more:words}"};
inline constexpr Message kMoreFunctions{"verbose.functions", "more functions and lines",
                                        "更多函数与代码行"};
inline constexpr Message kSlowestBatches{"verbose.slow-batches", "the slowest batches",
                                         "最慢的批次"};
inline constexpr Message kEachWorker{"verbose.workers", "each worker", "各工作进程"};
inline constexpr Message kTheirMemory{"verbose.memory", "memory", "内存"};
inline constexpr Message kChangesTried{"verbose.changes", "other changes that were tried",
                                       "试过的其他改动"};
inline constexpr Message kRulesUnchecked{"verbose.unchecked", "rules that could not be checked",
                                         "无法检查的规则"};
inline constexpr Message kNoChange{"report.no-change", "no change suggested", "没有建议"};
inline constexpr Message kRateInBrief{
    "report.brief-rate",
    "[rate?{rate:rate} {unit:words}|not known][, waiting {wait:percent} of the time]"
    "[ (the slowest of {ranks:count} ranks)]",
    "[rate?{rate:rate} {unit:words}|未知][，{wait:percent} 的时间在等待]"
    "[（{ranks:count} 个 rank 中最慢的）]"};
inline constexpr Message kBlindSpots{"report.blind-spots", "{spots:count blind spot}",
                                     "{spots:count} 处不可见"};

// Changes from outside by --override and --stage.
inline constexpr Message kOverrides{
    "report.overrides",
    "[held?{held:text}|none in effect][; not in effect, something else was found: {lost:text}]"
    "[; not used by anything in the run: {unused:text}]",
    "[held?{held:text}|均未生效][；未生效，实际情况见括号：{lost:text}]"
    "[；运行中无处使用：{unused:text}]"};
inline constexpr Message kOverridesAre{"page.overrides", "Changed from outside: {what:words}",
                                       "从外部更改：{what:words}"};

// Lines about predicted settings and about the comparison of two traces.
inline constexpr Message kNoRoom{"grid.no-room", "more memory or /dev/shm than there is room for",
                                 "内存或 /dev/shm 不足"};
inline constexpr Message kGridBase{
    "grid.base",
    "rates are of the [whole?whole run, start-up included|steady part], which was recorded at "
    "{rate:rate} {unit:words}",
    "速率均为[whole?全程（含启动）|稳定阶段]的速率，录制值为 {rate:rate} {unit:words}"};
inline constexpr Message kRepeats{
    "grid.repeats",
    "the simulation repeats the recorded run [exact?within 0.1 %|with an error of {error:%+1}]",
    "模拟复现录制的运行，误差[exact?在 0.1 % 以内|为 {error:%+1}]"};
inline constexpr Message kTooFewToCompare{
    "compare.too-few",
    "Too few batches to tell: {before:rate} -> {after:rate} {unit:words}; 16 in the steady part of "
    "both are needed",
    "批次太少，无法判断：{before:rate} → {after:rate} {unit:words}；双方的稳定阶段各需 16 批"};
inline constexpr Message kCompared{
    "compare.ratio",
    "[significant?|No difference beyond noise: ]B runs at {ratio:.2}x of A ({low:.2}..{high:.2}), "
    "{before:rate} -> {after:rate} {unit:words} in the steady part",
    "[significant?|差异不超过噪声：]B 的速度为 A 的 {ratio:.2} 倍（{low:.2} 至 {high:.2}），"
    "稳定阶段 {before:rate} → {after:rate} {unit:words}"};
inline constexpr Message kTwoPrograms{
    "compare.two-programs",
    "Different programs ({program:text}, {other:text}), so their ratio is no gain or loss: "
    "{before:rate} -> {after:rate} {unit:words} in the steady part",
    "A 与 B 是不同的程序（{program:text}、{other:text}），两者之比不代表收益或损失：稳定阶段 "
    "{before:rate} → {after:rate} {unit:words}"};
inline constexpr Message kTwoDataSets{
    "compare.two-datasets",
    "another data set ({after:count} samples instead of {before:count}): the runs may not do the "
    "same work",
    "数据集不同（{after:count} 个样本，原为 {before:count} 个）：两次运行的工作可能不同"};
inline constexpr Message kWaitCompared{
    "compare.wait",
    "wait {before:percent} -> {after:percent} of the loop[enough? ({points:+.0} points, "
    "{low:+.0}..{high:+.0}[significant?|: not beyond noise])]",
    "等待占循环的 {before:percent} → {after:percent}[enough?（{points:+.0} 个百分点，{low:+.0} 至 "
    "{high:+.0}[significant?|：不超过噪声]）]"};
inline constexpr Message kMoreOrLess{
    "compare.more-or-less",
    "more, less: the difference is larger than between two runs of one program",
    "more、less：差异大于同一程序两次运行之间的差异"};

}  // namespace penstock::analyzer::words
