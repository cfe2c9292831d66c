// SPDX-License-Identifier: Apache-2.0
//
// Findings about the ranks of a distributed run.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kRankImbalance{
    "rank-imbalance.seen",
    "[waits?rank {rank:count} waits for data {wait_fraction:%0} of the time, the median rank "
    "{median_wait_fraction:%0}|[fixed?the ranks wait for the data of rank "
    "{rank:count}|[stretch?the ranks wait for the one whose data comes last, which is another one "
    "only about every "
    "{stretch:count} iterations|the ranks wait for each other's data in turn]]][; that costs all "
    "of them {cost_share:%0} of the loop]",
    "[waits?rank {rank:count} 有 {wait_fraction:%0} 的时间在等待数据，各 rank 的中位数为 "
    "{median_wait_fraction:%0}|[fixed?各 rank 都在等待 rank {rank:count} 的数据|[stretch?"
    "各 rank 都在等待数据最后到达的一个，而落后的 rank 平均约 {stretch:count} "
    "次迭代才更换一次|各 rank 轮流等待彼此的数据]]][；这使所有 rank 损失 {cost_share:%0} "
    "的循环时间]。"};
inline constexpr Message kEqualRanks{
    "rank-imbalance.do",
    "[fixed?Every rank waits for the slowest. Give all the same work (equal shards, lengths in "
    "buckets that the ranks share, which makes batches less random) and this rank its own cores; "
    "with accelerate, dispatch_batches=False.[ It runs on {host:text}: compare that host's storage "
    "and other load.]|[stretch?No single rank is always the last: each "
    "stays it for about {stretch:count} iterations. Find out what slows the last one down in such "
    "a time: other load on its cores, its files (a shard that is not shuffled may have large ones "
    "in a row) or its storage.|The last rank changes often: the cost of a batch varies. "
    "[deeper?Raise prefetch_factor on all ranks, and give|Give] them the same work (lengths in "
    "buckets that the ranks share, which makes batches less random).]]",
    "[fixed?每个 rank 都在等待最慢的一个。让所有 rank 的工作量相同（大小相同的分片；各 rank "
    "共用的长度分桶，这会降低批次的随机性），并给此 rank 独占的核心；使用 accelerate 时设置 "
    "dispatch_batches=False。[它运行在 {host:text} "
    "上：请比较该主机的存储和其他负载。]|[stretch?没有哪个 rank 始终落后：每个 rank "
    "连续落后约 {stretch:count} 次迭代。请查明这段时间内是什么拖慢了落后者："
    "其核心上的其他负载、它的文件（未打乱的分片可能连续出现大文件）或其存储。|"
    "落后的 rank 频繁更换：批次的成本不一。[deeper?在所有 rank "
    "上提高 prefetch_factor，并|请]让它们的工作量相同（各 rank "
    "共用的长度分桶，这会降低批次的随机性）。]]"};

inline constexpr Message kRanksExceedHost{
    "ranks-exceed-host.seen",
    "{ranks:count} ranks with {workers_per_rank:3g} workers each[ on {host:text}][: "
    "{workers:count} workers for {usable_cores:3g} cores][memory?[usable_cores?,|:] "
    "{ram_bytes:bytes} of memory, where half of the host's memory is {ram_limit_bytes:bytes}]",
    "[{host:text} 上]{ranks:count} 个 rank 各有 {workers_per_rank:3g} "
    "个工作进程[：{usable_cores:3g} 个核心上有 {workers:count} "
    "个工作进程][memory?[usable_cores?，|：]内存 {ram_bytes:bytes}，而主机内存的一半为 "
    "{ram_limit_bytes:bytes}]。"};
inline constexpr Message kCountForHost{
    "ranks-exceed-host.do",
    "Choose the number for the whole host, not for one rank: set num_workers={fit:count} on each "
    "of its {ranks:count} ranks[shows?; if the loop still waits then, it needs cheaper samples, "
    "the GPU for decoding, or more cores|[cores?; more would only wait for a core and use "
    "memory|; more would take over half of its memory]].",
    "按整台主机而不是按单个 rank 选择数量：在其 {ranks:count} 个 rank 上各设置 "
    "num_workers={fit:count}[shows?；若循环仍要等待，则需要成本更低的样本、在 GPU "
    "上解码或更多核心|[cores?；再多只会等待核心并占用内存|；再多会占用超过一半的内存]]。"};

}  // namespace penstock::analyzer::words
