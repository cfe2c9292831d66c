// SPDX-License-Identifier: Apache-2.0
//
// What the slowest batches do that the others do not.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kSlowBatches{
    "slow-batches",
    "the slowest [one?batch|{slow:count}] of {batches:count} batches took {times:.1} times as long "
    "to make as the median batch ({median:duration}): {share:%0} of the extra time is in "
    "[stage?{stage:name}|code of the dataset that is in no stage]"
    "[waits?; it is mostly waiting[crowded?, as where other programs use the cores]|"
    "[computes?; it is mostly computing]]"
    "[worker?; nearly all of them are of worker {worker:count}|"
    "[several?; several workers have them]]"
    "[from?; all between {from:.1} s and {to:.1} s of the recording|"
    "[spread?; they are spread over the run]]",
    "{batches:count} 个批次中最慢的 [one?一个|{slow:count} 个]，制作耗时为中位批次（"
    "{median:duration}）的 {times:.1} 倍：多出的时间有 {share:%0} 在"
    "[stage?{stage:name}|数据集中不属于任何阶段的代码]"
    "[waits?；其中大部分是等待[crowded?，例如其他程序占用核心]|[computes?；其中大部分是计算]]"
    "[worker?；几乎都来自工作进程 {worker:count}|[several?；出自多个工作进程]]"
    "[from?；都在录制的 {from:.1} s 至 {to:.1} s 之间|[spread?；分散在整个运行中]]"};

}  // namespace penstock::analyzer::words
