// SPDX-License-Identifier: Apache-2.0
//
// What the slowest batches do that the others do not, or that none is slow.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kSlowBatches{
    "slow-batches",
    "the slowest [one?batch|{slow:count}] of {batches:count} steady batches[ of {loader:text}]"
    "[ of rank {rank:count}][ {when:words}] took {times:.1} times as long "
    "to make as the median batch ({median:duration}): {share:%0} of the extra time is in "
    "[stage?{stage:name}|code of the dataset that is in no stage]"
    "[waits?; it is mostly waiting[crowded?, as where other programs use the cores|, for a core, a "
    "lock or storage]|"
    "[computes?; it is mostly computing]]"
    "[worker?; nearly all of them are of worker {worker:count}|"
    "[several?; several workers have them]]"
    "[from?; all between {from:.1} s and {to:.1} s of the recording|"
    "[spread?; they are spread over the run]]",
    "[{when:words}的 ][rank {rank:count} 的 ][加载器 {loader:text} 的 ]{batches:count} "
    "个稳定批次中最慢的 [one?一个|{slow:count} 个]，生成耗时为中位批次（"
    "{median:duration}）的 {times:.1} 倍：多出的时间有 {share:%0} 在"
    "[stage?{stage:name}|数据集中不属于任何阶段的代码]"
    "[waits?；其中大部分是等待[crowded?，例如其他程序占用核心|（等核心、锁或存储）]|[computes?"
    "；其中大部分是计算]]"
    "[worker?；几乎都来自工作进程 {worker:count}|[several?；出自多个工作进程]]"
    "[from?；都在录制的 {from:.1} s 至 {to:.1} s 之间|[spread?；分散在整个运行中]]"};

inline constexpr Message kNoSlowBatches{
    "slow-batches.none",
    "[even?no batch is much slower than the others|only few batches are much slower than the "
    "others]: the slowest of {batches:count} steady ones[ of {loader:text}][ of rank {rank:count}]"
    "[ {when:words}] took {slowest:duration} to make, the median {median:duration}",
    "[even?没有明显慢于其余的批次|仅有个别批次明显慢于其余]：[{when:words}的 ]"
    "[rank {rank:count} 的 ][加载器 {loader:text} 的 ]{batches:count} 个稳定批次中最慢的生成耗时 "
    "{slowest:duration}，中位数为 {median:duration}"};

inline constexpr Message kFewToCompare{
    "slow-batches.few",
    "what slow batches do that others do not is not told: it takes {least:count} steady batches, "
    "there are {batches:count}[ of {loader:text}][ of rank {rank:count}][ {when:words}]",
    "无法判断慢批次与其余批次的差别：需要 {least:count} 个稳定批次，[rank {rank:count} ][加载器 "
    "{loader:text} ][{when:words}]只有 {batches:count} 个"};

}  // namespace penstock::analyzer::words
