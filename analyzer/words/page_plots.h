// SPDX-License-Identifier: Apache-2.0
//
// Plots of a page: titles, axes, legends, tooltips, captions.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kNoPlot{"plot.none", "{plots:words}: no plot. {why:sentence}.",
                                 "{plots:words}：没有图。{why:words}。"};
inline constexpr Message kNothingPredicted{"plot.nothing-predicted", "nothing was predicted",
                                           "没有预测"};
inline constexpr Message kNoStage{"plot.no-stage", "no stage was recorded", "没有录制到任何阶段"};
inline constexpr Message kNoGain{"plot.no-gain",
                                 "no part of the run would gain half a percent if it cost nothing",
                                 "任一环节不耗时的收益都不足 0.5 %"};
inline constexpr Message kNoBatchSeen{"plot.no-batch-seen", "no batch was seen", "没有看到批次"};
inline constexpr Message kNoSizes{
    "plot.no-sizes", "neither the size of a batch nor the memory of a worker was recorded",
    "没有录制批次的大小，也没有录制工作进程的内存"};

// Stages.
inline constexpr Message kStagePlot{"plot.stages",
                                    "Share of each stage, wall time against CPU time",
                                    "各阶段占比，耗时与 CPU 时间"};
inline constexpr Message kStageAxis{"plot.stages.axis", "share of the time of its group (%)",
                                    "占所在组时间的比例（%）"};
inline constexpr Message kWallTime{"plot.stages.wall", "wall time", "耗时"};
inline constexpr Message kCpuTime{"plot.stages.cpu", "CPU time within it", "其中的 CPU 时间"};
inline constexpr Message kMakingBatches{"plot.stages.making", "Making batches", "生成批次"};
inline constexpr Message kTrainingLoop{"plot.stages.loop", "Training loop", "训练循环"};
inline constexpr Message kStageTip{
    "plot.stages.tip",
    "{stage:text}: {share:text} of the time; {wall:duration} wall, [cpu?{cpu:duration} CPU|CPU "
    "not recorded]",
    "{stage:text}：占 {share:text}；耗时 {wall:duration}，[cpu?CPU {cpu:duration}|未录制 CPU]"};
inline constexpr Message kStageFigures{
    "plot.stages.figures",
    "{share:text}: {wall:duration} wall, [cpu?{cpu:duration} CPU|CPU not recorded]",
    "{share:text}：耗时 {wall:duration}，[cpu?CPU {cpu:duration}|未录制 CPU]"};
inline constexpr Message kStageCaption{
    "plot.stages.caption",
    "Making batches: of the time spent in samples and batches, over all workers. Training loop: of "
    "the loop's time. A bar that is much longer than its CPU part waits: for storage, a lock, or a "
    "core.",
    "生成批次：占所有工作进程用于样本和批次的时间。训练循环：占循环的时间。条形远长于其 CPU "
    "部分，表示在等待存储、锁或核心。"};

// Gains.
inline constexpr Message kGainPlot{"plot.gains", "Speedup of the run if one part cost nothing",
                                   "某一环节不耗时情况下的加速比"};
inline constexpr Message kGainAxis{"plot.gains.axis",
                                   "speed of the run, as a multiple of the recorded one (1x)",
                                   "相对录制速度的倍数（1x）"};
inline constexpr Message kGainTip{"plot.gains.tip", "{part:name} free: {gain:times}x",
                                  "{part:name}不耗时：{gain:times}x"};
inline constexpr Message kGainCaption{
    "plot.gains.caption",
    "Each part is made free in a simulation of the run, one at a time: the most that work on it "
    "can gain. The parts are those of the stages; transfer is the handover of batches to the "
    "training loop, compute is the loop's own step, prefetch is uneven batches that wait for one "
    "another, startup is starting workers, and its gain is always of the whole run.",
    "在模拟中逐一让各环节不耗时：即优化该环节的最大收益。环节同各阶段；“交接”是把批次交给训练循环，"
    "“训练步”是循环自身的计算，“预取”是不均匀批次的互相等待，“启动”是启动工作进程，其收益总以全程计"
    "。"};

// Latencies.
inline constexpr Message kLatencyPlot{"plot.latency", "How long one call of each stage took",
                                      "各阶段单次调用的耗时"};
inline constexpr Message kLatencyAxis{"plot.latency.axis", "duration of one call (log scale)",
                                      "单次调用耗时（对数坐标）"};
inline constexpr Message kLatencyTip{
    "plot.latency.tip",
    "{stage:name} [one?call|calls]: {calls:count} of {all:count} ({share:percent}) in "
    "{from:duration}..{to:duration}",
    "{stage:name}：{all:count} 次调用中 {calls:count} 次（{share:percent}）为 {from:duration} 至 "
    "{to:duration}",
    "one"};
inline constexpr Message kLatencyCalls{"plot.latency.calls", "{calls:count} calls",
                                       "{calls:count} 次调用"};
inline constexpr Message kLatencyFigures{"plot.latency.figures",
                                         "[mixed?calls of several kinds|median {p50:duration}, "
                                         "99 % below {p99:duration}]",
                                         "[mixed?含多类调用|中位数 {p50:duration}，99 % 低于 "
                                         "{p99:duration}]"};
inline constexpr Message kLatencyShares{"plot.latency.shares", "share of the stage's calls (%)",
                                        "占该阶段调用的比例（%）"};
inline constexpr Message kLatencyCaption{
    "plot.latency.caption",
    "Each stage has its own row and scale: the number at the left is the percentage of its calls "
    "in its highest bar. Two humps mean two kinds of calls, such as cached and uncached "
    "files.",
    "每个阶段一行，各有自己的刻度：左侧的数字为最高柱占该阶段调用的百分比。双峰表示有两类调用，例如"
    "已缓存和未缓存的文件。"};

// Batches in time.
inline constexpr Message kTimelinePlot{
    "plot.timeline", "What each worker and the training loop did", "各工作进程与训练循环的活动"};
inline constexpr Message kTimelineAxis{"plot.timeline.axis",
                                       "time since {from:.3} s of the recording ({unit:text})",
                                       "自录制 {from:.3} s 起的时间（{unit:text}）"};
inline constexpr Message kRowOfWorker{"plot.timeline.worker", "worker {worker:count}",
                                      "工作进程 {worker:count}"};
inline constexpr Message kRowOfThread{"plot.timeline.thread", "thread {thread:count}",
                                      "线程 {thread:count}"};
inline constexpr Message kRowOfName{"plot.timeline.named", "{name:text}", "{name:text}"};
inline constexpr Message kRowOfLoading{"plot.timeline.loading", "loop: loading", "循环：加载"};
inline constexpr Message kRowOfLoop{"plot.timeline.loop", "training loop", "训练循环"};
inline constexpr Message kFetchLegend{"plot.timeline.fetch", "fetch (batch)", "生成批次"};
inline constexpr Message kSampleLegend{"plot.timeline.sample", "rest of a sample",
                                       "样本的其余部分"};
inline constexpr Message kSpanTip{"plot.timeline.tip",
                                  "{stage:name}[, batch {batch:count}]: {time:duration}",
                                  "{stage:name}[，批次 {batch:count}]：{time:duration}"};
inline constexpr Message kBatchNumber{"plot.timeline.batch", "batch {batch:count}",
                                      "批次 {batch:count}"};
inline constexpr Message kTimelineCaption{
    "plot.timeline.caption",
    "[one?1 batch|{batches:count} batches] from the middle of the run. Orange in the training loop "
    "is waiting for data; grey in a worker is waiting for something to do."
    "[ {left_out:count} more workers are not shown.]"
    "[thinned? A row has more details than can be drawn: its last ones are left out.]",
    "运行中段的 {batches:count} 批。训练循环中的橙色为等待数据，工作进程中的灰色为空闲。"
    "[另有 {left_out:count} 个工作进程未显示。][thinned?有的行细节过多，末尾部分未画出。]",
    "one"};

// The queue.
inline constexpr Message kQueuePlot{"plot.queue", "Finished batches waiting for the training loop",
                                    "已完成、等待训练循环的批次"};
inline constexpr Message kQueueAxis{"plot.queue.axis", "finished batches waiting",
                                    "等待中的已完成批次"};
inline constexpr Message kQueueTime{"plot.queue.time",
                                    "time since the first finished batch ({unit:text})",
                                    "自首个完成的批次起的时间（{unit:text}）"};
inline constexpr Message kMean{"plot.queue.mean", "mean", "平均"};
inline constexpr Message kLowestToHighest{"plot.queue.range", "lowest to highest", "最低至最高"};
inline constexpr Message kMostInFlight{"plot.queue.most", "most that can be in flight",
                                       "可同时在途的上限"};
inline constexpr Message kQueueCaption{
    "plot.queue.caption",
    "Each point covers {width:duration}. Empty most of the time: the workers are too slow. Full "
    "most of the time: the loop is. At most {most:count} batches are in flight.",
    "每点涵盖 {width:duration}。多数时间为空：工作进程太慢。多数时间为满：循环太慢。最多有 "
    "{most:count} 批在途。"};

// Other numbers of workers.
inline constexpr Message kRatePlot{"plot.rate", "Predicted throughput against workers",
                                   "预测的吞吐量与工作进程数"};
inline constexpr Message kRateAxis{"plot.rate.axis", "throughput ({unit:words})",
                                   "吞吐量（{unit:words}）"};
inline constexpr Message kWorkersAxis{"plot.workers.axis", "number of workers", "工作进程数"};
inline constexpr Message kRateTip{
    "plot.rate.tip",
    "{workers:count worker}[recorded? (as recorded)][suggested? (suggested)]"
    "[fits?| (more memory than there is room for)]: {rate:rate} {unit:words} ({low:rate}.."
    "{high:rate})",
    "{workers:count} 个工作进程[recorded?（录制时）][suggested?（建议）][fits?|（内存不足）]："
    "{rate:rate} {unit:words}（{low:rate} 至 {high:rate}）"};
inline constexpr Message kPredictedLegend{"plot.rate.predicted", "predicted", "预测"};
inline constexpr Message kIntervalLegend{"plot.rate.interval", "90 % interval", "90 % 区间"};
inline constexpr Message kMeasuredLegend{"plot.rate.measured", "measured in this run",
                                         "此次运行实测"};
inline constexpr Message kRecordedLegend{"plot.rate.recorded", "workers as recorded",
                                         "录制时的工作进程数"};
inline constexpr Message kSuggestedLegend{"plot.rate.suggested", "suggested", "建议"};
inline constexpr Message kRateCaption{
    "plot.rate.caption",
    "From a simulation of the loader on the recorded batches, at a prefetch depth of "
    "{prefetch:count}.",
    "由录制的批次模拟加载器得出，预取深度为 {prefetch:count}。"};
inline constexpr Message kRateNote{"plot.rate.note", " Note: {note:words}.", "注：{note:words}。"};
inline constexpr Message kMemoryPlot{"plot.memory", "Memory against workers", "内存与工作进程数"};
inline constexpr Message kMemoryAxis{"plot.memory.axis", "memory ({unit:text})",
                                     "内存（{unit:text}）"};
inline constexpr Message kMemoryTip{
    "plot.memory.tip",
    "{workers:count worker}[recorded? (as recorded)][suggested? (suggested)]"
    "[fits?| (more memory than there is room for)]: {all:bytes} in all, {batches:bytes} of it "
    "batches; {each:bytes} per worker",
    "{workers:count} 个工作进程[recorded?（录制时）][suggested?（建议）][fits?|（内存不足）]：共 "
    "{all:bytes}，其中批次 {batches:bytes}；每个工作进程 {each:bytes}"};
inline constexpr Message kEach{"plot.memory.each", "{bytes:bytes}[each? each]",
                               "[each?每个 ]{bytes:bytes}"};
inline constexpr Message kBatchesLegend{"plot.memory.batches", "batches in flight", "在途批次"};
inline constexpr Message kProcessesLegend{"plot.memory.processes", "the workers' own memory",
                                          "工作进程自身的内存"};
inline constexpr Message kMemoryCaption{
    "plot.memory.caption",
    "Predicted at a prefetch depth of {prefetch:count}. Above each bar: memory per worker. "
    "[own?Pages that workers share with the training process are not in it.|What the workers "
    "themselves take was not recorded and is not in it.]",
    "按预取深度 {prefetch:count} 预测。柱上方为每个工作进程的内存，"
    "[own?不含与训练进程共享的页。|工作进程自身的内存未录制，不计入。]"};

// Devices and ranks.
inline constexpr Message kStepPlot{"plot.step", "A step, as the loop and as the device spend it",
                                   "训练步的时间：循环与设备"};
inline constexpr Message kStepAxis{"plot.step.axis", "milliseconds from batch to batch",
                                   "批次间隔（ms）"};
inline constexpr Message kPartTip{"plot.step.tip", "{part:words}: {time:duration}",
                                  "{part:words}：{time:duration}"};
inline constexpr Message kCopiesLegend{"plot.step.copies", "copies", "拷贝"};
inline constexpr Message kSyncLegend{"plot.step.sync", "synchronisation", "同步"};
inline constexpr Message kLaunchLegend{"plot.step.launch", "host launches", "主机启动内核"};
inline constexpr Message kStepCaption{
    "plot.step.caption",
    "The same time twice. Above: what the training loop's thread did. Below: what the device did, "
    "and what the loop was doing while the device was idle. A wait for data costs nothing while "
    "kernels run below it.",
    "同一段时间绘制了两遍。上：训练循环的线程做了什么。下：设备做了什么，以及设备空闲时循环在做什么"
    "。只"
    "要下方有内核运行，等待数据就没有代价。"};
inline constexpr Message kRankPlot{"plot.ranks", "An iteration of each rank", "各 rank 的一次迭代"};
inline constexpr Message kRankAxis{"plot.ranks.axis", "milliseconds of an iteration, means",
                                   "一次迭代（ms，平均）"};
inline constexpr Message kRankNumber{"plot.ranks.rank", "rank {rank:count}", "rank {rank:count}"};
inline constexpr Message kRankWaits{"plot.ranks.waits",
                                    "rank {rank:count} waits for data: {time:duration}",
                                    "rank {rank:count} 等待数据：{time:duration}"};
inline constexpr Message kRankSteps{"plot.ranks.steps",
                                    "rank {rank:count}, its step: {time:duration}",
                                    "rank {rank:count} 训练步：{time:duration}"};
inline constexpr Message kRankStepLegend{
    "plot.ranks.step", "step, waiting for other ranks included", "训练步（含等待其他 rank）"};
inline constexpr Message kRankCaption{
    "plot.ranks.caption",
    "In a collective all ranks wait for the last one. A rank that waits little for data has a long "
    "step, and the rank that waits longest for data delays the others.",
    "集合通信中所有 rank 等待最后一个：等待数据少的 rank 训练步较长，等待数据最久的 rank 拖慢其他 "
    "rank。"};

}  // namespace penstock::analyzer::words
