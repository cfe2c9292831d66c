// SPDX-License-Identifier: Apache-2.0
//
// Messages about experiments inside the run: what they measured, or why they measured nothing.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

// Which batches a figure is of that is not one of experiments.
inline constexpr Message kOutsideExperiments{
    "probe.outside", "[both?before and after|[after?after|before]] the experiments",
    "实验[both?前后|[after?之后|之前]]"};
inline constexpr Message kRateOutside{"unit.outside", "{unit:words} {when:words}",
                                      "{unit:words}，{when:words}"};

inline constexpr Message kProbed{
    "probe.factor",
    "{factor:name} {speed:3g} times as fast: [predicted {predicted:.2}x ({from:.2}..{to:.2}), ]"
    "measured in this run {gain:.2}x ({low:.2}..{high:.2})[disagrees?; the two disagree: believe "
    "the measurement]",
    "“{factor:name}”的速度为原来的 {speed:3g} 倍时：[预计 {predicted:.2} 倍（{from:.2} 至 "
    "{to:.2}），]此次运行中实测 {gain:.2} 倍（{low:.2} 至 "
    "{high:.2}）[disagrees?；两者不符，以实测为准]"};
inline constexpr Message kProbeUnknown{
    "probe.unknown", "{factor:name} {speed:3g} times as fast: not known, because {why:words}",
    "“{factor:name}”的速度为原来的 {speed:3g} 倍时：未知，因为{why:words}"};
inline constexpr Message kProbeFewWindows{
    "probe.few-windows",
    "only {windows:count window} of it had enough batches, and {fewest:count} are needed",
    "批次数足够的窗口只有 {windows:count} 个，至少需要 {fewest:count} 个"};
inline constexpr Message kProbeNoise{"probe.noise",
                                     "its windows differ too much: {low:.2}x to {high:.2}x",
                                     "各窗口差异过大：{low:.2} 至 {high:.2} 倍"};
inline constexpr Message kProbeThreads{
    "probe.threads",
    "threads of the program's own do part of the work, where the experiments cannot spare it",
    "部分工作由程序自己的线程完成，实验无法让它们免于放慢"};
inline constexpr Message kProbeDevice{
    "probe.device",
    "the GPU computes beside the loop and was not slowed down[ (it was busy {busy:percent} of the "
    "time)]: it may be the next limit, below the {low:.2}x to {high:.2}x that were measured",
    "GPU 与循环并行计算，未被放慢[（其忙碌时间占 {busy:percent}）]：它可能先成为瓶颈，"
    "使收益低于实测的 {low:.2} 至 {high:.2} 倍"};
inline constexpr Message kProbeUnchecked{"probe.unchecked", "the check does not hold",
                                         "对照不成立"};
inline constexpr Message kProbeCheck{"probe.check",
                                     "check, with nothing faster: {gain:.2}x ({low:.2}..{high:.2})",
                                     "对照（没有环节变快）：{gain:.2} 倍（{low:.2} 至 {high:.2}）"};

// Why no gain is known at all.
inline constexpr Message kProbesNothing{"probe.missing",
                                        "the experiments tell no gain, because {why:words}",
                                        "实验未能得出收益，因为{why:words}"};
inline constexpr Message kNoProbeBegan{
    "probe.none-began",
    "no window began: it needs batches of PyTorch's DataLoader, and four windows of time before "
    "the first",
    "没有窗口开始：需要 PyTorch DataLoader 的批次，并且第一个窗口之前要有四个窗口的时间"};
inline constexpr Message kProbesEnded{
    "probe.ended",
    "they were given up: [timeout?the loader has a timeout, which slower batches might reach|"
    "[ahead?batches are asked for before the loop needs them|[long?delays would be longer than two "
    "seconds|{why:text}]]]",
    "实验已放弃：[timeout?加载器设有超时，放慢后的批次可能触发|"
    "[ahead?循环提前请求批次|[long?延迟会超过两秒|{why:text}]]]"};
inline constexpr Message kProbeOtherRanks{
    "probe.other-ranks",
    "ranks take part that this recording does not slow down at the same moments (other hosts, or "
    "recordings of their own)",
    "有些参与的 rank 不会由此录制在同一时刻放慢（位于其他主机，或另行录制）"};
inline constexpr Message kProbesCrowded{
    "probe.crowded",
    "other programs took cores that the loader computes on, and a delay does not compete for cores "
    "as work does. Record again without these programs",
    "其他程序占用了加载器计算所用的核心，而延迟不像实际工作那样争用核心。请在没有这些程序时重新录"
    "制"};
inline constexpr Message kTooFewProbes{
    "probe.too-few",
    "{fewest:count} windows with enough batches are needed in which all work is slowed down alike "
    "(the check), and [all?{windows:count} of {all:count} had them|there was no such window]. "
    "Record again with more batches, so that the run lasts longer",
    "需要至少 {fewest:count} 个批次数足够、且全部工作同等放慢的窗口（对照），而[all?共 "
    "{all:count} 个，批次数足够的有 {windows:count} 个|没有这样的窗口]。"
    "请运行更多批次重新录制，使运行时间更长"};
// `length`: as --probe-window takes it, such as "3s".
inline constexpr Message kShortProbes{
    "probe.short",
    "each window lasted {window:duration}, too short for these batches. Record again with "
    "--probe-window {length:text}",
    "每个窗口只有 {window:duration}，对这些批次太短。请用 --probe-window {length:text} 重新录制"};
inline constexpr Message kLongBatches{"probe.long-batches",
                                      "batches take so long that no window has enough of them",
                                      "批次耗时太长，任何窗口都容纳不了足够的批次"};
inline constexpr Message kNoisyProbes{
    "probe.noisy",
    "the speed of the run varies too much: the check, which should be 1, is {low:.2}x to "
    "{high:.2}x. Longer windows (--probe-window) or a machine without other programs help",
    "运行速度波动过大：应为 1 的对照在 {low:.2} 至 {high:.2} "
    "倍之间。延长窗口（--probe-window）或避免其他程序干扰会有帮助"};
inline constexpr Message kProbesUnsound{
    "probe.unsound",
    "the check measured {gain:.2}x ({low:.2}..{high:.2}) with nothing faster. It should be 1: not "
    "everything was slowed down alike (a device or other programs on the cores), so gains would "
    "not hold",
    "没有环节变快的对照测得 {gain:.2} 倍（{low:.2} 至 "
    "{high:.2}），应为 1：并非所有部分都同样放慢（设备，或占用核心的其他程序），收益不成立"};

}  // namespace penstock::analyzer::words
