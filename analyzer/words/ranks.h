// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a distributed run in a report: which rank the others wait for, hosts, clocks.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kRanksRecorded{
    "ranks.recorded",
    "[world?{recorded:count} of {world:count} ranks|{recorded:count} ranks]"
    "[ ({launcher:text})][ on {hosts:count} hosts]"
    "[; the verdict is that of rank {rank:count}[several?[most?, which waits most for data]|, "
    "whose "
    "step includes its waiting for the other ranks]]",
    "[world?{world:count} 个 rank 中录制了 {recorded:count} 个|{recorded:count} 个 rank]"
    "[（{launcher:text}）][，分布在 {hosts:count} 台主机]"
    "[；结论取自 rank {rank:count}[several?[most?，它等待数据最久]|，其训练步包含等待其他 rank "
    "的时间]]"};
// After the headline of the verdict.
inline constexpr Message kVerdictOfRank{
    "ranks.verdict",
    "; all this is of rank {rank:count}[most?, which waits most for data]; [two?the other rank|the "
    "median rank] waits {median:%0} of the time",
    "；以上均为 rank {rank:count}[most?，它等待数据最久]；[two?另一个 rank 的等待占比为|各 rank "
    "等待占比的中位数为] {median:%0}"};
inline constexpr Message kNoCommonIterations{"ranks.none-in-common",
                                             "the ranks have no steady iterations in common",
                                             "各 rank 没有共同的稳定迭代"};
inline constexpr Message kFewCommonIterations{
    "ranks.few-in-common", "the ranks have too few steady iterations in common: {iterations:count}",
    "各 rank 共同的稳定迭代太少：{iterations:count} 次"};
inline constexpr Message kStepsEndApart{
    "ranks.apart", "their steps do not end together: no rank is seen to wait for another",
    "各 rank 的训练步不同时结束：没有看到互相等待"};
inline constexpr Message kRanksWait{
    "ranks.wait",
    "all of them wait {cost:duration} ({share:percent} of {iterations:count} iterations) for the "
    "one whose data comes last[of_slowest?; {of_slowest:percent} of that is rank {slowest:count}]"
    "[in_turn?; [stretch?another one is last about every {stretch:count} iterations|they take "
    "turns]]",
    "各 rank 都要等待 {cost:duration}（占 {iterations:count} 次迭代的 "
    "{share:percent}），直到最后一个"
    "得到数据[of_slowest?；其中 {of_slowest:percent} 在等 rank {slowest:count}]"
    "[in_turn?；[stretch?约每 {stretch:count} 次迭代换一个 rank 落后|各 rank 轮流落后]]"};
inline constexpr Message kHostOfRanks{
    "ranks.host",
    "{host:text}: {ranks:count rank} with {workers:count worker}[ for {cores:3g} cores]"
    "[, {memory:bytes} of memory (half of the host's is {memory_limit:bytes})]"
    "[, {shared:bytes} of {shared_size:bytes} /dev/shm][ ({recorded:count} recorded)]",
    "{host:text}：{ranks:count} 个 rank、{workers:count} 个工作进程[，{cores:3g} 个核心]"
    "[，内存 {memory:bytes}（主机内存的一半为 {memory_limit:bytes}）]"
    "[，/dev/shm {shared:bytes} / {shared_size:bytes}][（录制了 {recorded:count} 个）]"};
inline constexpr Message kClockOfTrace{
    "ranks.clock",
    "{trace:text}: {by:text}[, moved by {offset:.6} s, +-{uncertainty:duration}"
    "[, surely within {bound:duration}]]",
    "{trace:text}：{by:text}[，平移 {offset:.6} s，±{uncertainty:duration}"
    "[，误差上限 {bound:duration}]]"};
inline constexpr Message kMoreRanks{"ranks.more", "... and {ranks:count} that wait less",
                                    "……另有 {ranks:count} 个等待更少"};

}  // namespace penstock::analyzer::words
