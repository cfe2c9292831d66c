// SPDX-License-Identifier: Apache-2.0
//
// Memory in a report: of the workers and its growth, of a setting, growth of the training process.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kMemoryOfWorkers{
    "memory.workers",
    "{workers:count worker} with [low_bytes?{low_bytes:bytes} to {high_bytes:bytes}|"
    "{private_bytes:bytes}] of [several?their own each|its own] at the end "
    "([attributed?anonymous memory; USS would add mapped files and batches|"
    "[mixed?anonymous memory of some; USS of the others, which includes mapped files and batches|"
    "USS, which includes mapped files and batches]])"
    "[, {shared_bytes:bytes} shared with [several?their|its] parent]"
    "[grows?; [all?[several?each|it] grows|some grow] by {grows:words}|"
    "[flat?; [several?none grows|it does not grow]]]",
    "{workers:count} 个工作进程，结束时[several?每个]自身占用 [low_bytes?{low_bytes:bytes} 至 "
    "{high_bytes:bytes}|{private_bytes:bytes}]（[attributed?匿名内存，不含映射的文件和批次，USS "
    "则包含二者|[mixed?部分进程为匿名内存，部分为 "
    "USS，后者包含映射的文件和批次|USS，包含映射的文件和批次]]）[，与父进程共享 "
    "{shared_bytes:bytes}]"
    "[grows?；[all?[several?每个的]|部分进程的]增长速度为{grows:words}|"
    "[flat?；[several?均]未增长]]"};
inline constexpr Message kMemoryGrowth{
    "memory.growth",
    "{rate_bytes:bytes} a minute ({low_bytes:bytes} to {high_bytes:bytes}) "
    "[copied?through copy on write of memory shared with the parent|"
    "[fresh?of memory that is allocated and kept|of private memory]][settles?, ever more slowly]",
    "每分钟 {rate_bytes:bytes}（{low_bytes:bytes} 至 {high_bytes:bytes}，"
    "[copied?与父进程共享内存的写时复制|[fresh?自行分配并保留|私有内存]][settles?，逐渐放缓]）"};
inline constexpr Message kMemoryOfSetting{
    "memory.setting",
    "[suggested?suggested, ]{workers:count worker}, prefetch {prefetch:count}: "
    "[read?about ]{total_bytes:bytes}[ ({low_bytes:bytes} to {high_bytes:bytes})] [whole?of "
    "private memory with [several?their|its] batches[read? (from {readings:count reading} of "
    "{read:count worker})]|for batches (the workers' private memory was "
    "not recorded)][, {loaders:count} loaders together][ {horizon:words}][unforeseen?; whether "
    "[several?they grow|it grows] is not known from so short a recording][; /dev/shm should have "
    "room for {shared_bytes:bytes} (a third of it in reserve[; [ranks?it gives each of "
    "{ranks:count} ranks|its size is] {size_bytes:bytes}])][; memory of the {limit_of:words} runs "
    "out {when:words}]",
    "[suggested?建议：]{workers:count} 个工作进程，预取 "
    "{prefetch:count}：[read?约 ]{total_bytes:bytes}[（{low_bytes:bytes} 至 "
    "{high_bytes:bytes}）][whole?的私有内存，含批次[read?（依据 {read:count} 个工作进程的 "
    "{readings:count} 次读数）]|，仅批次（未记录工作进程的私有内存）][，{loaders:count} "
    "个加载器合计][，{horizon:words}][unforeseen?；录制时间太短，"
    "无法判断是否增长][；/dev/shm 应有 "
    "{shared_bytes:bytes} 的空间（其中三分之一为余量[，[ranks?/dev/shm 为 {ranks:count} 个 rank "
    "各提供|其容量为] {size_bytes:bytes}]）][；{limit_of:words}的内存预计{when:words}耗尽]",
    "several"};
inline constexpr Message kMemoryOfTrainer{
    "memory.trainer",
    "the training process grows by {rate_bytes:bytes} a minute ({low_bytes:bytes} to "
    "{high_bytes:bytes})",
    "训练进程每分钟增长 {rate_bytes:bytes}（{low_bytes:bytes} 至 {high_bytes:bytes}）"};

}  // namespace penstock::analyzer::words
