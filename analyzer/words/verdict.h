// SPDX-License-Identifier: Apache-2.0
//
// Messages of the verdict. They name the bottleneck and the doubt about it, or give a hint if the
// recording is too short.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

// Names of parts of the data path, as the beginning of a sentence.
inline constexpr Message kRead{"part.read", "Reading", "读取"};
inline constexpr Message kDecode{"part.decode", "Decode", "解码"};
inline constexpr Message kAugment{"part.augment", "Augmentation", "增强"};
inline constexpr Message kTokenize{"part.tokenize", "Turning text into tokens", "分词"};
inline constexpr Message kOwnWaiting{
    "part.own-waiting",
    "Waiting in the dataset's own code (a lock, a thread, a "
    "server, a sleep: nothing that was seen)",
    "数据集自身代码中的等待（锁、线程、服务器或休眠，没有看到具体原因）"};
inline constexpr Message kOwnHelpers{
    "part.own-helpers", "Waiting for other processes that the dataset's own code starts or uses",
    "等待数据集自身代码所启动或使用的其他进程"};
inline constexpr Message kOwnCode{
    "part.own-code",
    "The dataset's own code (decoding, parsing or transforms that were not seen as such)",
    "数据集自身的代码（未被识别的解码、解析或变换）"};
inline constexpr Message kCollate{"part.collate", "Collating batches", "合批"};
inline constexpr Message kTransfer{"part.transfer", "The handover of batches to the training loop",
                                   "批次交接"};
inline constexpr Message kH2d{"part.h2d", "The host-to-device copy", "拷贝到 GPU"};
inline constexpr Message kCompute{"part.compute", "The run", "训练步"};
inline constexpr Message kStartup{"part.startup", "The run", "启动"};
inline constexpr Message kPrefetch{"part.prefetch", "The run", "预取"};
inline constexpr Message kNoPart{"part.none", "The run", "无"};

inline constexpr Message kSamplesPerSecond{"unit.samples", "samples/s", "样本/秒"};
inline constexpr Message kBatchesPerSecond{"unit.batches", "batches/s", "批/秒"};
inline constexpr Message kImagesPerSecond{"unit.images", "images/s", "图像/秒"};

inline constexpr Message kVerdict{
    "verdict", "{headline:words}[{rank:words}][{doubt:words}][{once:words}][{part:words}].",
    "{headline:words}[{rank:words}][{doubt:words}][{once:words}][{part:words}]。"};
inline constexpr Message kOneWait{
    "verdict.one-wait",
    "; a single wait for a batch lasts {longest:duration}, {share:%0} of the measured time: find "
    "out what waits there",
    "；仅一次等待批次就耗时 {longest:duration}，占测量时间的 {share:%0}：请先查明那里在等什么"};

inline constexpr Message kUnseen{"verdict.unseen",
                                 "[much?Data [unsure?seems to hold|holds] the run back: the loop "
                                 "waits for it|The loop waits for data] {wait:%0} of "
                                 "the time ({rate:rate} {unit:words})",
                                 "[much?瓶颈[unsure?似乎]是数据：]训练循环有 {wait:%0} "
                                 "的时间在等待数据（{rate:rate} {unit:words}）"};
inline constexpr Message kBusiest{
    "verdict.busiest",
    "{part:words} takes most of the data threads' time, and the loop waits for data {wait:%0} of "
    "the time ({rate:rate} {unit:words})",
    "{part:words}占用数据线程的大部分时间，训练循环有 {wait:%0} 的时间在等待数据（{rate:rate} "
    "{unit:words}）"};
inline constexpr Message kNothing{
    "verdict.nothing",
    "Nothing stands out: no single part would gain 5 % by costing nothing, and the loop waits for "
    "data {wait:%0} of the time ({rate:rate} {unit:words})",
    "没有突出的瓶颈：任一环节不耗时的收益都不足 5 %，训练循环有 {wait:%0} "
    "的时间在等待数据（{rate:rate} {unit:words}）"};
inline constexpr Message kStepBeforeAnyPart{
    "verdict.step-before-any-part",
    "The training step holds the run back more than any one part of the data path: without the "
    "step it would run {gain:times}x as fast ({rate:rate}[ -> {free:rate}] {unit:words}), with "
    "data that costs nothing [least?at least ]{headroom:times}x as fast; the loop waits for data "
    "{wait:%0} of the "
    "time",
    "训练步的限制大于数据通路中任一环节：若无训练步，速度可达原来的 {gain:times} 倍（{rate:rate}"
    "[ → {free:rate}] {unit:words}）；若数据不耗时，[least?至少]可达原来的 {headroom:times} "
    "倍；训练循环有 {wait:%0} "
    "的时间在等待数据"};
inline constexpr Message kInTurn{
    "verdict.in-turn",
    "Data and step take turns, because the training process makes its batches itself: the step "
    "takes more of the time, but the loop waits for data {wait:%0} of it, and with {workers:count "
    "worker} beside the step it would run {gain:times}x as fast ({rate:rate}[ -> {free:rate}] "
    "{unit:words})",
    "数据与训练步轮流进行，因为批次由训练进程自己生成：训练步占用更多时间，但训练循环有 {wait:%0} "
    "的时间在等待数据；若由 {workers:count} 个工作进程与训练步并行生成，速度可达原来的 "
    "{gain:times} "
    "倍（{rate:rate}[ → {free:rate}] {unit:words}）"};
inline constexpr Message kStepNotData{
    "verdict.step-not-data",
    "[few?In the batches that counted ({few:count}), the training step|The training step] holds "
    "the "
    "run back, not the data: at {rate:rate} {unit:words}, the loop waits for data {wait:%0} of the "
    "time[, and with data that costs nothing the run would be [least?at least|only] "
    "{headroom:times}x as fast]",
    "[few?在计入的 {few:count} 个批次中，]瓶颈是训练步而非数据：速率为 {rate:rate} "
    "{unit:words}，训练循环有 {wait:%0} "
    "的时间在等待数据[，即使数据不耗时，速度[least?至少为|也只有]原来的 "
    "{headroom:times} 倍]"};
inline constexpr Message kStartingUp{
    "verdict.starting-up",
    "Starting up holds the run back: {startup:%0} of the run passes before the first batches of "
    "its epochs; without that it would run {gain:times}x as fast ({rate:rate}[ -> {free:rate}] "
    "{unit:words} of the whole run)",
    "瓶颈是启动：各 epoch 首批到来之前占全程的 {startup:%0}；若无启动开销，速度可达原来的 "
    "{gain:times} "
    "倍（全程 {rate:rate}[ → {free:rate}] {unit:words}）"};
inline constexpr Message kJitter{
    "verdict.jitter",
    "Jitter holds the run back: the workers are fast enough on average, but batches come unevenly "
    "and the queue is too shallow to hide it; with even batches it would run {gain:times}x as fast "
    "({rate:rate}[ -> {free:rate}] {unit:words}); the loop waits for data {wait:%0} of the time",
    "瓶颈是抖动：工作进程平均够快，但批次到来不均匀，而队列太浅，不足以掩盖；若均匀到来，速度可达"
    "原来的 {gain:times} "
    "倍（{rate:rate}[ → {free:rate}] {unit:words}）；训练循环有 {wait:%0} 的时间在等待数据"};
inline constexpr Message kHoldsBack{
    "verdict.holds-back",
    "{part:words} holds the run back: if it cost nothing, the run would be {gain:times}x as fast "
    "({rate:rate}[ -> {free:rate}] {unit:words})[also?, and [own?the dataset's own "
    "code|{also:name}] "
    "would gain as much]; the loop waits for data {wait:%0} of the time",
    "瓶颈是{part:words}：若其不耗时，速度可达原来的 {gain:times} 倍（{rate:rate}[ → {free:rate}] "
    "{unit:words}）[also?，[own?数据集自身的代码|{also:name}]的收益同样大]；训练循环有 {wait:%0} "
    "的时间在等待数据"};

// The bottleneck of a run that the simulation does not repeat. No gain is given.
inline constexpr Message kHoldsBackUnsure{
    "verdict.holds-back-unsure",
    "{part:words} seems to hold the run back, but what it would gain cannot be told: the "
    "simulation "
    "is off by {error:%+0} on this run; the loop waits for data {wait:%0} of the time ({rate:rate} "
    "{unit:words})",
    "瓶颈似乎是{part:words}，但无法给出收益：模拟与此次运行相差 {error:%+0}；训练循环有 "
    "{wait:%0} "
    "的时间在等待数据（{rate:rate} {unit:words}）"};

inline constexpr Message kOutOfSight{
    "verdict.out-of-sight",
    "; it was not seen how [none?the|most] batches were made, so the parts of the data path are "
    "not known",
    "；[none?|多数]批次的生成过程未被录制，因此数据通路的各环节未知"};
inline constexpr Message kRough{
    "verdict.rough",
    "; the simulation is off by {error:%+0} on this run, so take the figures as rough",
    "；模拟与此次运行相差 {error:%+0}，数值仅供粗略参考"};

// Why no other setting of the loader is suggested.
inline constexpr Message kKeep{"keep", "keep the loader as it is: no other setting is sure to gain",
                               "保持当前设置：没有其他设置确定有收益"};
inline constexpr Message kKeepBeside{
    "keep.beside",
    "no other setting of the loader is sure to gain; the finding {finding:name} is ({gain:times}x)",
    "加载器的其他设置都没有确定的收益；确定有收益的是{finding:name}（{gain:times} 倍）"};
inline constexpr Message kKeepCrowded{
    "keep.crowded",
    "none: other programs were using the cores, and predictions assume that they go on; record "
    "again when the machine is quiet",
    "没有建议：其他程序占用核心，预测只在它们继续占用时成立；请在机器空闲时重新录制"};
inline constexpr Message kKeepNeeds{
    "keep.needs",
    "none. {needs:sentence}[advised?; the findings say what can be done without a prediction]",
    "没有建议。{needs:sentence}[advised?；无需预测即可做的改动见各项发现]"};

// The hint of a recording that is too short or incomplete. It states no gain.
inline constexpr Message kHint{
    "verdict.hint",
    "{needs:sentence}[part?. As a hint: {factor:text} seems to hold the run back, and the loop "
    "waited {wait:%0} of the time|[; the loop waited {wait:%0} of the time]].",
    "{needs:sentence}[part?。线索：瓶颈似乎是{part:words}，训练循环有 {wait:%0} "
    "的时间在等待|[；训练循环有 {wait:%0} 的时间在等待]]。",
    "factor"};

// A program that takes its batches on a thread that may not train.
inline constexpr Message kHandedOn{
    "verdict.handed-on",
    "A thread other than the program's first takes the batches, and nothing shows that it trains; "
    "if it hands them on, the training step was not seen, so how fast the run could be is not "
    "known. This thread waits for data {wait:%0} of its time ({rate:rate} {unit:words})[. As a "
    "hint: {part:words} takes most of the time to make batches].",
    "批次由程序第一个线程以外的线程取走，没有迹象表明该线程在训练；如果它把批次转交出去，"
    "就没有看到训练步，因此不知道速度能达到多少。该线程有 {wait:%0} "
    "的时间在等待数据（{rate:rate} {unit:words}）[。线索：生成批次的时间多用于{part:words}]。"};

// Without a loader.
inline constexpr Message kNoSpans{
    "verdict.no-spans",
    "Not enough: the trace is empty, so nothing was seen of the run; penstock doctor shows "
    "what can be seen of a program.",
    "数据不足：此跟踪中没有记录，未观测到此次运行的任何活动；penstock doctor 可说明能看到什么。"};
inline constexpr Message kNoDecoding{
    "verdict.no-decoding",
    "Not enough: no loader and no decoding was seen, so no bottleneck can be named.",
    "数据不足：没有看到加载器和解码，无法指出瓶颈。"};
inline constexpr Message kDeviceUse{
    "verdict.device-use",
    "device {device:count}: {kernels:%0} kernels / {copies:%0} copies / {launches:%0} gaps / "
    "{idle:%0} idle",
    "设备 {device:count}：GPU 内核 {kernels:%0} / 拷贝 {copies:%0} / 间隙 {launches:%0} / 空闲 "
    "{idle:%0}"};
inline constexpr Message kBoundByCopies{
    "verdict.bound-by-copies",
    "Copies between host and device hold the run back: they take {share:%0} of the devices' time "
    "while no kernel runs, and kernels {kernels:%0}; without them the recorded work would be done "
    "up to {gain:times} times as fast ({devices:words}). No loader was seen, so what the copies "
    "wait "
    "for is not known.",
    "瓶颈是主机与设备之间的拷贝：没有 GPU 内核运行时，拷贝占设备时间的 {share:%0}，GPU 内核占 "
    "{kernels:%0}；若无拷贝，完成所录制工作的速度最多为原来的 {gain:times} "
    "倍（{devices:words}）。没有看到加载器，无法判断拷贝在等待什么。"};
inline constexpr Message kBoundByKernels{
    "verdict.bound-by-kernels",
    "Kernels hold the run back: they run {share:%0} of the devices' time; if they cost nothing, "
    "the recorded work would be done up to {gain:times} times as fast ({devices:words}). No loader "
    "was "
    "seen.",
    "瓶颈是 GPU 内核：占设备时间的 {share:%0}；若其不耗时，完成所录制工作的速度最多为原来的 "
    "{gain:times} 倍（{devices:words}）。没有看到加载器。"};
inline constexpr Message kBoundByLaunches{
    "verdict.bound-by-launches",
    "Launching kernels holds the run back: the devices wait {share:%0} of their time in gaps under "
    "0.1 ms between kernels and copies; without the gaps the recorded work would be done up to "
    "{gain:times} times as fast ({devices:words}). No loader was seen.",
    "瓶颈是 GPU 内核的启动：设备有 {share:%0} 的时间处于内核与拷贝之间不到 0.1 "
    "ms 的间隙；若无间隙，完成所录制工作的速度最多为原来的 {gain:times} "
    "倍（{devices:words}）。没有看到加载器。"};
inline constexpr Message kDevicesIdle{
    "verdict.devices-idle",
    "The host holds the run back: the devices have nothing to do {share:%0} of the time; if they "
    "always had, the recorded work would be done up to {gain:times} times as fast "
    "({devices:words}). "
    "No loader was seen, so what the host does meanwhile is not known.",
    "瓶颈是主机：设备有 {share:%0} "
    "的时间无事可做；若始终有任务，完成所录制工作的速度最多为原来的 "
    "{gain:times} 倍（{devices:words}）。没有看到加载器，无法判断主机此时在做什么。"};
inline constexpr Message kUnderFivePercent{
    "verdict.under-five-percent",
    "Reading, decoding and augmenting take under 5 % of the time of their threads; no loader was "
    "seen, so whether they hold the run back is not known.",
    "读取、解码和增强占各自线程的时间不到 5 %；没有看到加载器，无法判断它们是否限制了运行。"};
inline constexpr Message kBusiestOfThreads{
    "verdict.busiest-of-threads",
    "{part:words} takes {share:%0} of the data threads' time[little?, more than anything else that "
    "was seen][, at {rate:rate} {unit:words}]; {why:words}, so whether it holds the run back is "
    "not known.",
    "{part:words}占用数据线程 {share:%0} 的时间[little?，多于看到的其他工作][，速率 {rate:rate} "
    "{unit:words}]；"
    "{why:words}，无法判断它是否限制了运行。"};

}  // namespace penstock::analyzer::words
