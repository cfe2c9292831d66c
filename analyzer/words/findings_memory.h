// SPDX-License-Identifier: Apache-2.0
//
// Findings about memory, shared memory and descriptors: what was seen, and what to do.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kHorizon{
    "memory.horizon",
    "[of_epoch?at the end of an epoch of {batches:count} batches|after as many batches as were "
    "recorded, {batches:count}]",
    "[of_epoch?在 {batches:count} 个批次的 epoch 结束时|在与录制同样多的 {batches:count} "
    "个批次之后]"};
inline constexpr Message kRunsOut{
    "memory.runs-out",
    "[time?in {time:ahead} ({low:ahead} [high?to {high:ahead}|or later])|at once]",
    "[time?约 {time:ahead} 后（{low:ahead} [high?至 {high:ahead}|或更久]）|立即]"};
inline constexpr Message kForecast{
    "memory.forecast",
    "[ Each has {private_bytes:bytes} ({low_bytes:bytes} to {high_bytes:bytes}) {horizon:words}.]"
    "[ The memory of the {limit_of:text} ({room_bytes:bytes} left of {limit_bytes:bytes}[ for each "
    "of {ranks:count} ranks]) runs out {when:words}.]",
    "[{horizon:words}每个进程占用 {private_bytes:bytes}（{low_bytes:bytes} 至 "
    "{high_bytes:bytes}）。]"
    "[内存（{limit_bytes:bytes} 中剩余 {room_bytes:bytes}[，{ranks:count} 个 rank "
    "各自]）将{when:words}"
    "耗尽。]"};

inline constexpr Message kWorkerMemoryGrowth{
    "worker-memory-growth.seen",
    "Memory of {workers:count worker} grows by {bytes_per_minute:bytes} a minute in all[copied?, "
    "by "
    "copy on write of what is shared with the parent process]",
    "{workers:3g} 个工作进程合计每秒增长 {bytes_per_s:bytes}。"};
inline constexpr Message kGrowthKind{"worker-memory-growth.kind",
                                     "[copied?copy on write|not told apart from a leak]",
                                     "[copied?写时复制|无法与泄漏区分]"};
inline constexpr Message kArraysNotObjects{
    "worker-memory-growth.do",
    "Keep what the dataset holds in a numpy array, a torch.Tensor or a pyarrow table (strings: "
    "fixed-width bytes, or one buffer and an array of offsets) instead of lists and dictionaries "
    "of Python objects: such a container has a single reference count.[several? Fewer workers make "
    "fewer copies.] gc.freeze() before the loader is made stops the copies that the garbage "
    "collector makes, not those of reference counts.[ Start method spawn or forkserver: no growth, "
    "but each worker has a copy of the dataset from the start ({shared_bytes:bytes} are still "
    "shared).][persistent? persistent_workers=False frees the copies at the end of every epoch, "
    "but then all workers start anew each time.][{forecast:words}]",
    "用数组代替 Python 对象列表保存数据集。"};

inline constexpr Message kWorkerMemoryCopied{
    "worker-memory-copied.seen",
    "each of {workers:count worker} has copied {copied_bytes:bytes} of the {parent_bytes:bytes} "
    "that it shared with the training process, {all_bytes:bytes} in all",
    "{workers:count} 个工作进程各自复制了与训练进程共享的 {parent_bytes:bytes} 中的 "
    "{copied_bytes:bytes}，合计 {all_bytes:bytes}。"};
inline constexpr Message kCopyLess{
    "worker-memory-copied.do",
    "Keep what the dataset holds in a numpy array, a torch.Tensor or a pyarrow table instead of "
    "lists and dictionaries of Python objects, whose reference counts are written when they are "
    "only read.[fit? Memory bounds the number of workers: each may come to {whole_bytes:bytes}, "
    "and the memory of the {limit_of:text} has room for {fit:count worker}[exceeds?, fewer than "
    "there are].]",
    "用数组代替 Python 对象列表保存数据集。[fit?内存限制了工作进程数：每个最多可达 "
    "{whole_bytes:bytes}，{limit_of:text} 的内存只够 {fit:count} 个[exceeds?，少于现有数量]。]"};

inline constexpr Message kWorkerMemoryLeak{
    "worker-memory-leak.seen",
    "Memory of {workers:count worker} grows by {bytes_per_minute:bytes} a minute in all and is not "
    "freed: a leak, or an unbounded cache",
    "{workers:3g} 个工作进程合计每秒新增 {bytes_per_s:bytes}，不再归还。"};
inline constexpr Message kFindLeak{
    "worker-memory-leak.do",
    "Look for objects that the dataset, its transforms or collate_fn keep from sample to sample: "
    "growing lists, unbounded caches (functools.lru_cache(maxsize=None)), open files, exceptions "
    "with their frames; tracemalloc in a worker names the line. Until it is found, "
    "[persistent?persistent_workers=False frees it at the end of every epoch.|shorter epochs free "
    "it sooner, since these workers end with their epoch.][{forecast:words}]",
    "查找数据集或变换中不断累积的对象与无上限的缓存。"};

inline constexpr Message kSharedMemoryTooSmall{
    "shared-memory-too-small.seen",
    "[of {ranks:count} ranks, ]batches in flight may need {needed_bytes:bytes} of /dev/shm, which "
    "has {shm_bytes:bytes}",
    "在途批次可能需要 {needed_bytes:bytes}，而 /dev/shm 只有 {shm_bytes:bytes}。"};
inline constexpr Message kMoreSharedMemory{
    "shared-memory-too-small.do",
    "Give the container more shared memory (docker run --shm-size={mebibytes:count}m, or "
    "--ipc=host)[depth?, or set prefetch_factor={depth:count}|, or lower num_workers].",
    "增大 /dev/shm，或减少在途批次。"};

inline constexpr Message kAllocatorPageFaults{
    "allocator-page-faults.seen",
    "each sample causes {avoidable_per_sample:count} avoidable page faults, {cpu_share:%0} of the "
    "CPU time of making it: its memory was returned to the system after the sample before",
    "每个样本多缺页 {avoidable_per_sample:3g} 次，占制作样本 CPU 时间的 {cpu_share:percent}。"};
inline constexpr Message kKeepMemory{
    "allocator-page-faults.do",
    "[pillow?Start the run with PILLOW_BLOCKS_MAX=16, or without jemalloc: Pillow then keeps the "
    "blocks of its pictures instead of giving each back.|[allocator?{allocator:text} is loaded: if "
    "it serves malloc (LD_PRELOAD), try the run without it, or let it keep memory that was freed "
    "for longer.|Start the run with MALLOC_MMAP_THRESHOLD_=33554432 "
    "MALLOC_TRIM_THRESHOLD_=268435456: glibc then keeps the memory of a picture for the next one."
    "[large? It still maps what is larger than 32 MB anew: keep such arrays and write into them.] "
    "Each worker keeps what its largest sample took.]]",
    "设置 MALLOC_MMAP_THRESHOLD_ 与 MALLOC_TRIM_THRESHOLD_，或更换内存分配器。"};

inline constexpr Message kTooManyDescriptors{
    "too-many-descriptors.seen",
    "{descriptors:count} tensors in flight take a file descriptor each, and {limit:count} may be "
    "open",
    "在途张量需要 {descriptors:3g} 个文件描述符，上限为 {limit:3g} 个。"};
inline constexpr Message kFewerDescriptors{
    "too-many-descriptors.do",
    "Raise the limit (ulimit -n 65536), call "
    "torch.multiprocessing.set_sharing_strategy('file_system'), or stack the tensors of a batch "
    "into a few; keep no batches in lists.",
    "提高 ulimit -n，或把一批中的张量合并。"};

}  // namespace penstock::analyzer::words
